//! Files that appear whole or not at all, how long a file is, and whether two paths lead to one file.

use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};
use std::time::Duration;

/// How the names of unfinished files begin and end.
const UNFINISHED: (&str, &str) = (".ssdl-", ".part");
/// Age from which an unfinished file that nobody writes to is a leftover of a program that was killed.
const LEFTOVER_AGE: Duration = Duration::from_secs(60);

/// Writes a file under another name, flushes it to the disk and gives it its name: at every moment
/// there is the old file or the new one, whole. The mode of a file that is replaced is kept, a new one
/// follows the umask; a link stays, and the file that it leads to is replaced. Leftovers of earlier
/// calls that were killed are removed from the folder.
///
/// # Errors
/// If the folder or the disk does not allow it, or the path is no plain file; the old file then stays
/// as it was.
pub fn replace(
    path: &Path,
    write: impl FnOnce(&mut dyn Write) -> io::Result<()>,
) -> io::Result<()> {
    let file = target(path)?;
    let existing = replaceable(&file)?;
    let folder = folder_of(&file);
    remove_leftovers(folder);
    let fresh = unfinished_in(folder).map_err(plain)?;
    // Whoever finds the file can tell by the lock that it is still being written. A file system
    // without locks keeps leftovers; nothing else depends on them.
    let _ = fresh.as_file().try_lock();
    let mut buffered = BufWriter::with_capacity(1 << 18, fresh.as_file());
    write(&mut buffered).and_then(|()| buffered.flush()).map_err(plain)?;
    drop(buffered);
    if let Some(existing) = existing {
        fresh.as_file().set_permissions(existing.permissions()).map_err(plain)?;
    }
    fresh.as_file().sync_all().map_err(plain)?;
    fresh.persist(&file).map_err(|error| plain(error.error))?;
    sync_folder(folder);
    Ok(())
}

/// The file that a path leads to, existing or not: all links are followed, and its folder is spelt in
/// the one way that the system has for it.
///
/// # Errors
/// If its folder does not exist, or links lead in a circle.
pub fn target(path: &Path) -> io::Result<PathBuf> {
    let mut at = path.to_owned();
    // As many links as systems follow.
    for _ in 0..40 {
        match fs::read_link(&at) {
            Ok(next) => at = folder_of(&at).join(next),
            Err(_) => {
                return match at.file_name() {
                    Some(name) => Ok(fs::canonicalize(folder_of(&at))?.join(name)),
                    None => fs::canonicalize(&at),
                };
            }
        }
    }
    Err(io::Error::other("too many symbolic links"))
}

/// Whether two paths lead to the same file, however they are spelt or linked; the files need not exist.
#[must_use]
pub fn same(one: &Path, other: &Path) -> bool {
    match (identity(one), identity(other)) {
        (Some(one), Some(other)) => one == other,
        (None, None) => match (target(one), target(other)) {
            (Ok(one), Ok(other)) => one == other,
            _ => one == other,
        },
        _ => false,
    }
}

/// The length of a plain file, which is read to its end in so many bytes; a device or a pipe may have no
/// end.
///
/// # Errors
/// If there is no such file, or the path leads to something else.
pub fn length(path: &Path) -> io::Result<u64> {
    let found = fs::metadata(path)?;
    if !found.is_file() {
        return Err(io::Error::other("not a plain file"));
    }
    Ok(found.len())
}

/// What tells an existing file from all others, hard links included.
#[cfg(unix)]
fn identity(path: &Path) -> Option<(u64, u64)> {
    use std::os::unix::fs::MetadataExt;
    fs::metadata(path).ok().map(|found| (found.dev(), found.ino()))
}

#[cfg(not(unix))]
fn identity(path: &Path) -> Option<PathBuf> {
    fs::canonicalize(path).ok()
}

/// The folder of a file; the present one for a bare name.
#[must_use]
pub fn folder_of(file: &Path) -> &Path {
    file.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

fn replaceable(file: &Path) -> io::Result<Option<fs::Metadata>> {
    match fs::metadata(file) {
        Ok(found) if found.is_dir() => Err(io::ErrorKind::IsADirectory.into()),
        Ok(found) if !found.is_file() => {
            Err(io::Error::other("not a plain file: it would be replaced"))
        }
        Ok(found) if found.permissions().readonly() => Err(io::ErrorKind::PermissionDenied.into()),
        Ok(found) => Ok(Some(found)),
        Err(missing) if missing.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(other) => Err(other),
    }
}

fn unfinished_in(folder: &Path) -> io::Result<tempfile::NamedTempFile> {
    let mut builder = tempfile::Builder::new();
    builder.prefix(UNFINISHED.0).suffix(UNFINISHED.1);
    // Temporary files are private by default; a result is as readable as any new file.
    #[cfg(unix)]
    builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o666));
    builder.tempfile_in(folder)
}

/// Removes unfinished files that are old and that no program writes to any more.
fn remove_leftovers(folder: &Path) {
    let Ok(entries) = fs::read_dir(folder) else { return };
    for entry in entries.flatten() {
        let name = entry.file_name();
        let name = name.to_string_lossy();
        if name.starts_with(UNFINISHED.0) && name.ends_with(UNFINISHED.1) {
            remove_leftover(&entry.path());
        }
    }
}

fn remove_leftover(path: &Path) {
    let Ok(file) = File::open(path) else { return };
    let age = file.metadata().and_then(|found| found.modified());
    let is_old = age.is_ok_and(|at| at.elapsed().is_ok_and(|age| age >= LEFTOVER_AGE));
    if is_old && file.try_lock().is_ok() {
        // It may be another user's, or gone by now.
        let _ = fs::remove_file(path);
    }
}

/// The system's message without the name of the unfinished file, which tells users nothing.
fn plain(error: io::Error) -> io::Error {
    match error.raw_os_error() {
        Some(number) => io::Error::from_raw_os_error(number),
        None => match error.get_ref().and_then(|inner| inner.downcast_ref::<io::Error>()) {
            Some(inner) => inner.raw_os_error().map_or(error, io::Error::from_raw_os_error),
            None => io::Error::new(error.kind(), without_path(&error.to_string())),
        },
    }
}

/// A message cut before the path that the library of temporary files adds.
fn without_path(message: &str) -> String {
    message.split(" at path ").next().unwrap_or_default().to_owned()
}

/// Makes the new name last; systems without folders that can be opened need nothing.
fn sync_folder(folder: &Path) {
    if let Ok(folder) = File::open(folder) {
        let _ = folder.sync_all();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(folder: &Path) -> Vec<String> {
        let entries = fs::read_dir(folder).expect("a folder").flatten();
        let mut names: Vec<String> =
            entries.map(|entry| entry.file_name().to_string_lossy().into_owned()).collect();
        names.sort();
        names
    }

    #[test]
    fn a_failed_write_leaves_the_old_file_and_nothing_else() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("result");
        replace(&path, |file| file.write_all(b"old")).expect("written");
        let failed = replace(&path, |file| {
            file.write_all(b"half")?;
            Err(io::ErrorKind::StorageFull.into())
        });
        let message = failed.expect_err("refused").to_string();
        assert!(!message.contains(".ssdl-"), "{message}");
        assert_eq!(fs::read(&path).expect("still there"), b"old");
        assert_eq!(names(folder.path()), ["result"]);
    }

    #[test]
    fn leftovers_are_removed_unless_they_are_fresh_or_in_use() {
        let folder = tempfile::tempdir().expect("a folder");
        let make = |name: &str, age: u64| {
            let file = File::create(folder.path().join(name)).expect("made");
            let then = std::time::SystemTime::now() - Duration::from_secs(age);
            file.set_modified(then).expect("dated");
            file
        };
        make(".ssdl-old.part", 100);
        make(".ssdl-new.part", 1);
        make(".other.part", 100);
        let used = make(".ssdl-used.part", 100);
        used.try_lock().expect("free");
        replace(&folder.path().join("result"), |file| file.write_all(b"new")).expect("written");
        let expected = [".other.part", ".ssdl-new.part", ".ssdl-used.part", "result"];
        assert_eq!(names(folder.path()), expected);
    }

    #[cfg(unix)]
    #[test]
    fn modes_are_kept_and_links_followed() {
        use std::os::unix::fs::{PermissionsExt, symlink};
        let folder = tempfile::tempdir().expect("a folder");
        let (file, link) = (folder.path().join("file"), folder.path().join("link"));
        symlink("file", &link).expect("linked");
        replace(&link, |file| file.write_all(b"one")).expect("written");
        assert!(fs::symlink_metadata(&link).expect("there").is_symlink());
        assert_eq!(fs::read(&file).expect("followed"), b"one");
        fs::set_permissions(&file, fs::Permissions::from_mode(0o600)).expect("allowed");
        replace(&link, |file| file.write_all(b"two")).expect("written");
        assert_eq!(fs::metadata(&file).expect("there").permissions().mode() & 0o777, 0o600);
        // A new file has the mode that any new file has here.
        let any = folder.path().join("any");
        File::create(&any).expect("made");
        let mode = |path: &Path| fs::metadata(path).expect("there").permissions().mode();
        let new = folder.path().join("new");
        replace(&new, |file| file.write_all(b"three")).expect("written");
        assert_eq!(mode(&new), mode(&any));
    }

    #[cfg(unix)]
    #[test]
    fn one_file_is_recognised_under_every_name() {
        use std::os::unix::fs::symlink;
        let folder = tempfile::tempdir().expect("a folder");
        let at = |name: &str| folder.path().join(name);
        fs::create_dir(at("in")).expect("made");
        symlink(at("in"), at("linked")).expect("linked");
        symlink("in/x", at("to-x")).expect("linked");
        for exists in [false, true] {
            if exists {
                fs::write(at("in/x"), "x").expect("written");
                fs::hard_link(at("in/x"), at("hard")).expect("linked");
                assert!(same(&at("hard"), &at("in/x")));
            }
            for other in ["in/../in/x", "./in/./x", "linked/x", "to-x"] {
                assert!(same(&at("in/x"), &at(other)), "{other}, {exists}");
            }
            assert!(!same(&at("in/x"), &at("in/y")) && !same(&at("in/x"), &at("x")));
        }
        symlink("round", at("round")).expect("linked");
        assert!(target(&at("round")).is_err());
    }
}
