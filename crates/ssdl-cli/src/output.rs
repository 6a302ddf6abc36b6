//! Output paths: checked before the work starts, never an input file, never one file for two results.

use std::path::{Path, PathBuf};

use ssdl::files;

use crate::failure::{Failure, Outcome};

/// Refuses outputs that cannot be written, that are the same file as another one, or that are one of
/// the files being read. An input that is a folder stands for all files in it.
pub fn check(outputs: &[Option<&Path>], inputs: &[&Path]) -> Outcome {
    let outputs: Vec<&Path> = outputs.iter().copied().flatten().collect();
    for (at, path) in outputs.iter().enumerate() {
        if outputs[..at].iter().any(|other| files::same(path, other)) {
            return Err(Failure::Misuse(format!(
                "{}: two results cannot go to the same file; choose another name",
                path.display()
            )));
        }
    }
    for path in outputs {
        check_file(path)?;
        for input in inputs {
            check_beside(path, input)?;
        }
    }
    Ok(())
}

/// Refuses a path at which no file can be written.
fn check_file(path: &Path) -> Outcome {
    ssdl_data::check_writable(path)?;
    // A result replaces the file of its name; a device must not be replaced.
    if std::fs::metadata(path).is_ok_and(|existing| !existing.is_file()) {
        let path = path.display();
        return Err(Failure::Failed(format!("{path}: not a file; give the name of a file")));
    }
    Ok(())
}

/// Refuses an output that is the input, or a file in it.
fn check_beside(path: &Path, input: &Path) -> Outcome {
    let refuse = |what: &str| {
        let path = path.display();
        Err(Failure::Misuse(format!("{path}: {what} and would be replaced; choose another name")))
    };
    if files::same(path, input) {
        return refuse("is an input file");
    }
    if !input.is_dir() {
        return Ok(());
    }
    check_outside(path, input)?;
    // Links in the folder may lead out of it, but not to a file that is not there.
    if path.exists() && files_of(input).iter().any(|file| files::same(path, file)) {
        return refuse("is an input file");
    }
    Ok(())
}

/// Refuses an output in the folder of the samples.
pub fn check_outside(path: &Path, folder: &Path) -> Outcome {
    let inside = files::target(path).ok().zip(std::fs::canonicalize(folder).ok());
    if inside.is_some_and(|(path, folder)| path.starts_with(folder)) {
        return Err(Failure::Misuse(format!(
            "{}: is in the folder of the samples; choose a name outside {}",
            path.display(),
            folder.display()
        )));
    }
    Ok(())
}

/// The files of a folder and of the folders in it.
fn files_of(folder: &Path) -> Vec<PathBuf> {
    let entries = |folder: &Path| -> Vec<PathBuf> {
        let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
        entries.map(|entry| entry.path()).collect()
    };
    let (folders, mut found): (Vec<_>, Vec<_>) =
        entries(folder).into_iter().partition(|path| path.is_dir());
    found.extend(folders.iter().flat_map(|folder| entries(folder)));
    found
}

/// Writes a small file, completely or not at all.
pub fn write(path: &Path, bytes: &[u8]) -> Outcome {
    Ok(ssdl_data::write_bytes(path, bytes)?)
}
