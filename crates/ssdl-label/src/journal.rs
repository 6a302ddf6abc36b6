//! The journal: a file to which answers are appended, and from which everything else follows.
//!
//! An entry is written and synced before anybody hears that it is saved. Nothing is ever changed: what
//! is undone is undone by a further entry. A last line that is not whole was not acknowledged, so it is
//! left out; whoever sent it sends it again under the same id.

use std::fs::{File, OpenOptions, TryLockError};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use crate::entry::{Act, Entry, VERSION};
use crate::{Error, Result};

/// A journal that this program alone may write to.
#[derive(Debug)]
pub struct Journal {
    path: PathBuf,
    file: File,
    /// Bytes of whole entries.
    length: u64,
    /// Whether others may write now.
    closed: bool,
}

impl Journal {
    /// Opens or begins a journal, and gives the entries that are in it.
    ///
    /// # Errors
    /// If the file cannot be written, another program has it open, or a line other than the last is
    /// damaged.
    pub fn open(path: &Path) -> Result<(Self, Vec<Entry>)> {
        let refuse = |source: io::Error| Error::io(path, source);
        let mut options = OpenOptions::new();
        let options = options.read(true).write(true).create(true).truncate(false);
        let mut file = options.open(path).map_err(refuse)?;
        match file.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => return Err(Error::Locked { path: path.to_owned() }),
            Err(TryLockError::Error(source)) => return Err(refuse(source)),
        }
        let mut bytes = Vec::new();
        file.read_to_end(&mut bytes).map_err(refuse)?;
        let (entries, length) = parse(path, &bytes)?;
        let length = length as u64;
        file.set_len(length).map_err(refuse)?;
        file.seek(SeekFrom::Start(length)).map_err(refuse)?;
        // The name of a new file must survive, too; not every system can sync a folder.
        if length == 0
            && let Ok(folder) = File::open(ssdl::files::folder_of(path))
        {
            let _ = folder.sync_all();
        }
        Ok((Self { path: path.to_owned(), file, length, closed: false }, entries))
    }

    /// Where it is.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Lets others write; from here on nothing is appended.
    pub fn close(&mut self) {
        self.closed = true;
        let _ = self.file.unlock();
    }

    /// Appends entries; when this returns, they are on the disk.
    ///
    /// # Errors
    /// If they cannot be written; then none of them counts.
    pub fn append(&mut self, entries: &[Entry]) -> Result<()> {
        if self.closed {
            return Err(Error::io(&self.path, io::Error::other("the server has stopped")));
        }
        let mut text = String::new();
        for entry in entries {
            let line = serde_json::to_string(entry)
                .map_err(|error| Error::io(&self.path, io::Error::other(error)))?;
            text += &line;
            text.push('\n');
        }
        let written = self.file.write_all(text.as_bytes()).and_then(|()| self.file.sync_data());
        if let Err(source) = written {
            // What may be there of it must not stand before the next entry.
            let _ = self.file.set_len(self.length);
            let _ = self.file.seek(SeekFrom::Start(self.length));
            return Err(Error::io(&self.path, source));
        }
        self.length += text.len() as u64;
        Ok(())
    }
}

/// Reads a journal without writing to it.
///
/// # Errors
/// If it cannot be read, or a line other than the last is damaged.
pub fn read(path: &Path) -> Result<Vec<Entry>> {
    let bytes = std::fs::read(path).map_err(|source| Error::io(path, source))?;
    Ok(parse(path, &bytes)?.0)
}

/// Whole entries, and the number of bytes that they take.
fn parse(path: &Path, bytes: &[u8]) -> Result<(Vec<Entry>, usize)> {
    let (mut entries, mut length) = (Vec::new(), 0);
    for (at, line) in bytes.split_inclusive(|&byte| byte == b'\n').enumerate() {
        let is_last = length + line.len() == bytes.len();
        let parsed = match line.ends_with(b"\n") {
            true => serde_json::from_slice::<Entry>(line).map_err(|error| error.to_string()),
            false => Err("it is not whole".into()),
        };
        match parsed {
            Ok(entry) => {
                check_version(path, at + 1, &entry)?;
                entries.push(entry);
                length += line.len();
            }
            // The file may just not be a journal: then its content is not thrown away.
            Err(_) if is_last && (at > 0 || begins_an_entry(line)) => break,
            Err(reason) => {
                let reason = format!("not an entry of a journal: {reason}; restore the file");
                return Err(Error::Journal { path: path.to_owned(), line: at + 1, reason });
            }
        }
    }
    Ok((entries, length))
}

/// Whether a torn line may be the first of a journal.
fn begins_an_entry(line: &[u8]) -> bool {
    let start = b"{\"id\":";
    line.starts_with(start) || start.starts_with(line)
}

fn check_version(path: &Path, line: usize, entry: &Entry) -> Result<()> {
    match &entry.act {
        Act::Begin { version, .. } if *version > VERSION => Err(Error::Journal {
            path: path.to_owned(),
            line,
            reason: format!("version {version} of the journal; use a newer ssdl"),
        }),
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::entry::now;
    use proptest::prelude::*;

    fn entry(id: usize, name: &str) -> Entry {
        let act = match id {
            0 => Act::Begin { version: VERSION, data: name.into(), samples: 5 },
            _ => Act::Class { name: name.into() },
        };
        Entry { id: id.to_string(), time: now(), person: "me".into(), act }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(24))]

        /// Whatever is left of a last line, no entry before it is lost, and the next follows it.
        #[test]
        fn a_crash_between_any_two_bytes_loses_no_acknowledged_entry(
            names in prop::collection::vec("\\PC{0,12}", 1..5),
            junk in prop::collection::vec(any::<u8>(), 0..3),
        ) {
            let folder = tempfile::tempdir().expect("a folder");
            let path = folder.path().join("a.journal.jsonl");
            let written: Vec<Entry> =
                names.iter().enumerate().map(|(id, name)| entry(id, name)).collect();
            let (mut journal, _) = Journal::open(&path).expect("begun");
            let mut ends = vec![0];
            for entry in &written {
                journal.append(std::slice::from_ref(entry)).expect("written");
                ends.push(journal.length as usize);
            }
            drop(journal);
            let whole = std::fs::read(&path).expect("read");
            for cut in 0..=whole.len() {
                let mut left = whole[..cut].to_vec();
                let acknowledged = ends.iter().filter(|&&end| end <= cut).count() - 1;
                // Blocks that were never written read as anything, here only after a torn line.
                if cut > ends[acknowledged] + 6 {
                    left.extend(junk.iter().filter(|&&byte| byte != b'\n'));
                }
                let (read, length) = parse(&path, &left).expect("read");
                prop_assert_eq!((&read[..], length), (&written[..acknowledged], ends[acknowledged]));
                // Syncing takes its time: a few of the cuts on the disk.
                if cut % 97 == 5 {
                    std::fs::write(&path, &left).expect("cut");
                    let (mut journal, _) = Journal::open(&path).expect("opened");
                    journal.append(&[entry(99, "next")]).expect("appended");
                    drop(journal);
                    prop_assert_eq!(super::read(&path).expect("read").len(), acknowledged + 1);
                }
            }
        }
    }

    #[test]
    fn two_programs_do_not_write_to_one_journal() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("a.jsonl");
        let first = Journal::open(&path).expect("first");
        let second = Journal::open(&path).expect_err("locked");
        assert!(matches!(second, Error::Locked { .. }), "{second}");
        drop(first);
        Journal::open(&path).expect("free again");
    }

    #[test]
    fn damage_in_the_middle_is_refused_with_its_line_and_other_files_stay() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("a.jsonl");
        let lines: Vec<String> =
            (0..3).map(|id| serde_json::to_string(&entry(id, "x")).expect("written")).collect();
        std::fs::write(&path, format!("{}\n{{\"id\n{}\n", lines[0], lines[1])).expect("written");
        let error = Journal::open(&path).expect_err("damaged").to_string();
        assert!(error.contains("line 2"), "{error}");
        for other in ["label\n1\n2\n", "my only notes"] {
            std::fs::write(&path, other).expect("written");
            Journal::open(&path).expect_err("not a journal");
            assert_eq!(std::fs::read_to_string(&path).expect("there"), other);
        }
        let newer = lines[0].replace("\"version\":1", "\"version\":9");
        std::fs::write(&path, newer + "\n").expect("written");
        assert!(Journal::open(&path).expect_err("newer").to_string().contains("newer ssdl"));
    }
}
