//! Output paths: checked before the work starts, never an input file.

use std::path::Path;

use crate::failure::{Failure, Outcome};

/// Refuses a path that cannot be written, or that is one of the files being read.
pub fn check(path: &Path, inputs: &[&Path]) -> Outcome {
    ssdl_data::check_writable(path)?;
    // A model or picture replaces the file of its name; a device must not be replaced.
    if std::fs::metadata(path).is_ok_and(|existing| !existing.is_file()) {
        let path = path.display();
        return Err(Failure::Failed(format!("{path}: not a file; give the name of a file")));
    }
    let Ok(own) = std::fs::canonicalize(path) else { return Ok(()) };
    if inputs.iter().any(|input| std::fs::canonicalize(input).is_ok_and(|input| input == own)) {
        let path = path.display();
        return Err(Failure::Misuse(format!(
            "{path}: is an input file and would be replaced; choose another name"
        )));
    }
    Ok(())
}

/// Refuses two outputs with the same path.
pub fn check_different(paths: &[Option<&Path>]) -> Outcome {
    let mut given: Vec<&Path> = paths.iter().copied().flatten().collect();
    given.sort_unstable();
    match given.windows(2).find(|pair| pair[0] == pair[1]) {
        Some(pair) => Err(Failure::Misuse(format!(
            "{}: two results cannot go to the same file; choose another name",
            pair[0].display()
        ))),
        None => Ok(()),
    }
}

/// Writes a small file, completely or not at all.
pub fn write(path: &Path, bytes: &[u8]) -> Outcome {
    Ok(ssdl_data::write_bytes(path, bytes)?)
}
