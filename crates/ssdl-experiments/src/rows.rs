//! One CSV row per fit, appended when the fit is done; a fit whose row exists is not run again.
//!
//! A row is on the disk, whole, before the next fit begins. One experiment at a time writes to a file.

use std::collections::HashMap;
use std::fs::{self, File, OpenOptions};
use std::io::{BufRead, BufReader, Read, Write};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::{Error, Result};

/// One row of a file: the settings of a fit, and its results.
pub trait Record: Clone + Default + Serialize + DeserializeOwned {
    /// The settings; two rows with the same key are the same fit.
    fn key(&self) -> String;

    /// The version of the program that made it.
    fn version(&self) -> &str;
}

/// A file of rows.
pub struct RowFile<R> {
    path: PathBuf,
    known: Mutex<HashMap<String, R>>,
    /// Open and locked against other writers; `None` where rows are only read.
    file: Option<Mutex<File>>,
    /// What did not exist before: it goes again if no row is added.
    made: Made,
    note: Option<String>,
}

impl<R: Record> RowFile<R> {
    /// Opens a file of rows to add to; it need not exist yet. A last row that was cut off is moved to
    /// a file beside it, with a [note](Self::note), and counts as not measured.
    ///
    /// # Errors
    /// If the file is something else or another experiment writes to it, or its folder cannot be
    /// created.
    pub fn open(path: &Path) -> Result<Self> {
        refuse_special(path)?;
        let made = Made::folders_of(path)?;
        let (made, mut file) = open_alone(path, made)?;
        let mut bytes = Vec::new();
        file.read_to_end(&mut bytes).map_err(Error::io(path))?;
        let (rows, torn) = parse(path, &bytes)?;
        let note = match torn {
            None => None,
            Some(torn) => Some(set_aside(path, &file, bytes.len(), torn)?),
        };
        let (path, known) = (path.to_owned(), Mutex::new(by_key(rows)));
        Ok(Self { path, known, file: Some(Mutex::new(file)), made, note })
    }

    /// Reads a file of rows without touching anything; without the file there are none.
    ///
    /// # Errors
    /// If the file is something else.
    pub fn read(path: &Path) -> Result<Self> {
        refuse_special(path)?;
        let bytes = match fs::read(path) {
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Vec::new(),
            found => found.map_err(Error::io(path))?,
        };
        let (rows, torn) = parse(path, &bytes)?;
        let note = torn.map(|_| "its last row was cut off and is left out".to_owned());
        let (path, known) = (path.to_owned(), Mutex::new(by_key(rows)));
        Ok(Self { path, known, file: None, made: Made::default(), note })
    }

    /// What the user should know about the file, in a sentence.
    #[must_use]
    pub fn note(&self) -> Option<&str> {
        self.note.as_deref()
    }

    /// Refuses rows of another version of the program, which must not be mixed in one table.
    ///
    /// # Errors
    /// If there is one.
    pub fn check_version(&self) -> Result<()> {
        let own = env!("CARGO_PKG_VERSION");
        match self.lock().values().find(|row| row.version() != own) {
            None => Ok(()),
            Some(row) => Err(refuse(
                &self.path,
                format!("has rows of version {}, this is version {own}", row.version()),
            )),
        }
    }

    /// The path of the file.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// All rows, in an order independent of when they were done.
    #[must_use]
    pub fn all(&self) -> Vec<R> {
        let mut rows: Vec<R> = self.lock().values().cloned().collect();
        rows.sort_by_cached_key(R::key);
        rows
    }

    /// Whether all these rows exist (compared by settings, not by results).
    pub(crate) fn has_all(&self, wanted: &[R]) -> bool {
        let known = self.lock();
        wanted.iter().all(|row| known.contains_key(&row.key()))
    }

    /// Appends rows, whole and flushed to the disk, or none of them.
    pub(crate) fn add(&self, rows: &[R]) -> Result<()> {
        let io = Error::io(&self.path);
        let Some(file) = &self.file else {
            return Err(refuse(&self.path, "was opened to be read".into()));
        };
        let mut file = file.lock().unwrap_or_else(PoisonError::into_inner);
        if has_other_columns::<R>(&self.path)? {
            *file = self.with_all_columns()?;
        }
        let before = file.metadata().map_err(&io)?.len();
        let bytes = lines(rows, before == 0).map_err(&io)?;
        let written = file.write_all(&bytes).and_then(|()| file.sync_data());
        if let Err(error) = written {
            // Half a row would be in the way; a disk that is full still lets a file become shorter.
            let _ = file.set_len(before);
            return Err(io(error));
        }
        self.lock().extend(rows.iter().map(|row| (row.key(), row.clone())));
        Ok(())
    }

    /// Writes a file of a version with fewer columns again, with all of them; opens and locks it.
    fn with_all_columns(&self) -> Result<File> {
        let io = Error::io(&self.path);
        let text = lines(&read::<R>(&self.path)?, true).map_err(&io)?;
        ssdl::files::replace(&self.path, |file| file.write_all(&text)).map_err(&io)?;
        open_alone(&self.path, Made::default()).map(|(_, file)| file)
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<String, R>> {
        // The map is never left half-changed under the lock, so a panic elsewhere is harmless.
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<R> Drop for RowFile<R> {
    fn drop(&mut self) {
        if fs::metadata(&self.path).is_ok_and(|found| found.is_file() && found.len() == 0) {
            self.made.remove();
        }
    }
}

/// What was made for a file of rows.
#[derive(Default)]
struct Made {
    file: Option<PathBuf>,
    /// Outer folders first.
    folders: Vec<PathBuf>,
}

impl Made {
    /// Makes the folders that are missing.
    fn folders_of(path: &Path) -> Result<Self> {
        let folder = ssdl::files::folder_of(path);
        let missing = folder.ancestors().take_while(|folder| {
            !folder.as_os_str().is_empty() && fs::symlink_metadata(folder).is_err()
        });
        let mut folders: Vec<PathBuf> = missing.map(Path::to_owned).collect();
        folders.reverse();
        let made = Self { file: None, folders };
        if let Err(error) = fs::create_dir_all(folder) {
            made.remove();
            return Err(Error::io(folder)(error));
        }
        Ok(made)
    }

    /// Removes it, as far as it is empty.
    fn remove(&self) {
        if let Some(file) = &self.file {
            let _ = fs::remove_file(file);
        }
        for folder in self.folders.iter().rev() {
            let _ = fs::remove_dir(folder);
        }
    }
}

fn refuse(path: &Path, reason: String) -> Error {
    Error::RowFile { path: path.to_owned(), reason }
}

/// Devices have no end, and no rows.
fn refuse_special(path: &Path) -> Result<()> {
    match fs::metadata(path) {
        Ok(found) if !found.is_file() => Err(refuse(path, "not a plain file".into())),
        _ => Ok(()),
    }
}

/// Opens the file, made if it is missing, and locks it.
fn open_alone(path: &Path, mut made: Made) -> Result<(Made, File)> {
    let give_up = |made: &Made, error: Error| {
        made.remove();
        Err(error)
    };
    // Another experiment that failed may remove its empty file between the two steps.
    for _ in 0..100 {
        let is_new = !path.exists();
        let opened = OpenOptions::new().create(true).read(true).append(true).open(path);
        let file = match opened {
            Ok(file) => file,
            Err(error) => return give_up(&made, Error::io(path)(error)),
        };
        if file.try_lock().is_err() {
            let reason = "another experiment writes to it: wait until it has finished";
            return Err(refuse(path, reason.into()));
        }
        if is_same(&file, path) {
            made.file = is_new.then(|| path.to_owned());
            return Ok((made, file));
        }
    }
    give_up(&made, refuse(path, "is made and removed again and again".into()))
}

/// Whether the open file is still the one of this name.
fn is_same(file: &File, path: &Path) -> bool {
    #[cfg(unix)]
    {
        use std::os::unix::fs::MetadataExt;
        let identity = |found: fs::Metadata| (found.dev(), found.ino());
        let (open, named) = (file.metadata().map(identity), fs::metadata(path).map(identity));
        open.ok().zip(named.ok()).is_some_and(|(open, named)| open == named)
    }
    #[cfg(not(unix))]
    {
        let _ = file;
        path.exists()
    }
}

/// Rows as text, with the names of the columns before them or not.
fn lines<R: Record>(rows: &[R], with_header: bool) -> std::io::Result<Vec<u8>> {
    let mut writer =
        csv::WriterBuilder::new().has_headers(with_header).from_writer(Vec::<u8>::new());
    for row in rows {
        writer.serialize(row)?;
    }
    writer.into_inner().map_err(csv::IntoInnerError::into_error)
}

/// The line with the names of the columns.
fn header<R: Record>() -> Vec<u8> {
    let mut text = lines(&[R::default()], true).unwrap_or_default();
    text.truncate(text.iter().position(|&byte| byte == b'\n').map_or(0, |end| end + 1));
    text
}

/// Whether the file has a header that is not that of these rows.
fn has_other_columns<R: Record>(path: &Path) -> Result<bool> {
    let mut first = Vec::new();
    let file = File::open(path).map_err(Error::io(path))?;
    BufReader::new(file).read_until(b'\n', &mut first).map_err(Error::io(path))?;
    Ok(!first.is_empty() && first.trim_ascii_end() != header::<R>().trim_ascii_end())
}

fn by_key<R: Record>(rows: Vec<R>) -> HashMap<String, R> {
    rows.into_iter().map(|row| (row.key(), row)).collect()
}

/// The rows of a file, in its order.
pub(crate) fn read<R: Record>(path: &Path) -> Result<Vec<R>> {
    refuse_special(path)?;
    let bytes = fs::read(path).map_err(Error::io(path))?;
    parse(path, &bytes).map(|(rows, _)| rows)
}

/// The rows, and the bytes of a last row that was cut off: it does not end in a newline.
fn parse<'a, R: Record>(path: &Path, bytes: &'a [u8]) -> Result<(Vec<R>, Option<&'a [u8]>)> {
    let whole = bytes.iter().rposition(|&byte| byte == b'\n').map_or(0, |last| last + 1);
    let torn = (whole < bytes.len()).then(|| &bytes[whole..]);
    let other = |error: String| refuse(path, format!("not rows of this experiment: {error}"));
    if whole == 0 {
        // Only the start of our own header may be set aside: anything else belongs to somebody.
        return match torn {
            Some(start) if !header::<R>().starts_with(start) => {
                Err(other("it has no line of column names".into()))
            }
            _ => Ok((Vec::new(), torn)),
        };
    }
    let mut reader = csv::Reader::from_reader(&bytes[..whole]);
    let rows = reader.deserialize::<R>().map(|row| row.map_err(|error| other(error.to_string())));
    let rows: Vec<R> = rows.collect::<Result<_>>()?;
    if rows.is_empty() && bytes[..whole].trim_ascii_end() != header::<R>().trim_ascii_end() {
        return Err(other("its column names are others".into()));
    }
    Ok((rows, torn))
}

/// Moves a row that was cut off to a file beside the rows; returns the note about it.
fn set_aside(path: &Path, file: &File, length: usize, torn: &[u8]) -> Result<String> {
    let mut name = path.as_os_str().to_owned();
    name.push(".torn");
    let aside = PathBuf::from(name);
    let kept = OpenOptions::new().create(true).append(true).open(&aside).and_then(|mut aside| {
        aside.write_all(torn)?;
        aside.write_all(b"\n")
    });
    file.set_len((length - torn.len()) as u64).map_err(Error::io(path))?;
    let place = match kept {
        Ok(()) => format!("moved to {}", aside.display()),
        // Without room for it: the fit is run again anyway.
        Err(_) => "removed".to_owned(),
    };
    Ok(format!("the last row was cut off; it is {place}, and its fit is run again"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::comparison::Row;

    fn row(seed: u64) -> Row {
        Row { data: "a, \"b\"".into(), seed, version: "0".into(), ..Row::default() }
    }

    fn folder() -> tempfile::TempDir {
        tempfile::tempdir().expect("a folder")
    }

    fn message(found: Result<RowFile<Row>>) -> String {
        found.err().map(|error| error.to_string()).unwrap_or_default()
    }

    #[test]
    fn a_row_cut_off_anywhere_is_set_aside_and_the_others_are_kept() {
        let folder = folder();
        let path = folder.path().join("rows.csv");
        let rows = RowFile::open(&path).expect("new");
        rows.add(&[row(1), row(2)]).expect("added");
        let whole = fs::read(&path).expect("there").len();
        rows.add(&[row(3)]).expect("added");
        drop(rows);
        let all = fs::read(&path).expect("there");
        for cut in whole..all.len() {
            fs::write(&path, &all[..cut]).expect("written");
            let read_only = RowFile::<Row>::read(&path).expect("two rows");
            assert_eq!(read_only.all().len(), 2);
            assert_eq!(fs::read(&path).expect("there").len(), cut, "reading changes nothing");
            let rows = RowFile::<Row>::open(&path).expect("two rows");
            assert_eq!((rows.all().len(), rows.note().is_some()), (2, cut > whole), "{cut}");
            rows.add(&[row(3)]).expect("added");
            drop(rows);
            assert_eq!(fs::read(&path).expect("there"), all, "{cut}");
        }
        let aside = fs::read_to_string(folder.path().join("rows.csv.torn")).expect("kept");
        assert_eq!(aside.lines().count(), all.len() - whole - 1);
    }

    #[test]
    fn a_header_cut_off_is_written_again_and_a_strange_file_is_kept() {
        let folder = folder();
        let path = folder.path().join("rows.csv");
        let header = header::<Row>();
        for cut in 0..header.len() {
            fs::write(&path, &header[..cut]).expect("written");
            let rows = RowFile::<Row>::open(&path).expect("ours");
            rows.add(&[row(1)]).expect("added");
            drop(rows);
            assert_eq!(RowFile::<Row>::read(&path).expect("ours").all(), [row(1)]);
        }
        for strange in ["hello", "hello\n", "a,b\n1,2\n", "\0\0\0"] {
            fs::write(&path, strange).expect("written");
            let message = message(RowFile::open(&path));
            assert!(message.contains("not rows of this experiment"), "{strange:?}: {message}");
            assert_eq!(fs::read_to_string(&path).expect("there"), strange);
        }
    }

    #[test]
    fn two_experiments_do_not_write_to_one_file() {
        let folder = folder();
        let path = folder.path().join("rows.csv");
        let first = RowFile::<Row>::open(&path).expect("free");
        assert!(message(RowFile::open(&path)).contains("another experiment writes to it"));
        assert!(RowFile::<Row>::read(&path).is_ok(), "tables may be made meanwhile");
        first.add(&[row(1)]).expect("added");
        drop(first);
        assert_eq!(RowFile::<Row>::open(&path).expect("free again").all().len(), 1);
    }

    #[test]
    fn what_was_made_for_nothing_goes_again() {
        let folder = folder();
        let path = folder.path().join("x/y/z.csv");
        drop(RowFile::<Row>::open(&path).expect("made"));
        assert!(!folder.path().join("x").exists());
        let rows = RowFile::<Row>::open(&path).expect("made");
        rows.add(&[row(1)]).expect("added");
        drop(rows);
        assert!(path.exists());
        fs::write(folder.path().join("empty.csv"), "").expect("written");
        drop(RowFile::<Row>::open(&folder.path().join("empty.csv")).expect("empty"));
        assert!(folder.path().join("empty.csv").exists(), "it was there before");
    }

    #[cfg(unix)]
    #[test]
    fn a_device_is_refused_and_a_full_disk_leaves_no_half_row() {
        for device in ["/dev/full", "/dev/zero", "/dev/null"] {
            assert!(message(RowFile::open(Path::new(device))).contains("not a plain file"));
            assert!(message(RowFile::read(Path::new(device))).contains("not a plain file"));
        }
    }
}
