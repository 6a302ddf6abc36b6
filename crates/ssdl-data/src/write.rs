//! Output files: predictions and arrays, written completely or not at all.

use std::fs::{self, File};
use std::io::{self, Write};
use std::path::Path;

use ssdl::{Matrix, Real, files};

use crate::{Error, Result};

/// Writes predicted labels as CSV: a column `sample` if the samples have names, a column `label`,
/// then one column per class with its probability (`probabilities` is `n_classes × n_samples`).
///
/// The file appears only when it is complete; an existing file is replaced.
///
/// # Errors
/// If the counts do not match or the file cannot be written.
pub fn write_predictions<S: AsRef<str>, C: AsRef<str>, T: Real>(
    path: impl AsRef<Path>,
    names: Option<&[String]>,
    labels: &[S],
    probabilities: Option<(&[C], &Matrix<T>)>,
) -> Result<()> {
    check_counts(names, labels.len(), probabilities)?;
    replace(path.as_ref(), |file| predictions(file, names, labels, probabilities))
}

/// Like [`write_predictions`], to any writer, such as a pipe.
///
/// # Errors
/// If the counts do not match or the writer fails.
pub fn write_predictions_to<S: AsRef<str>, C: AsRef<str>, T: Real>(
    writer: impl Write,
    names: Option<&[String]>,
    labels: &[S],
    probabilities: Option<(&[C], &Matrix<T>)>,
) -> Result<()> {
    check_counts(names, labels.len(), probabilities)?;
    predictions(writer, names, labels, probabilities)
        .map_err(|source| Error::write(Path::new("output"), source))
}

/// Writes a matrix as a NumPy array of shape `(columns, rows)` in C order: one row per sample.
///
/// The file appears only when it is complete; an existing file is replaced.
///
/// # Errors
/// If the file cannot be written.
pub fn write_npy<T: Real>(path: impl AsRef<Path>, matrix: &Matrix<T>) -> Result<()> {
    replace(path.as_ref(), |file| {
        file.write_all(&npy_header::<T>(matrix.columns(), matrix.rows()))?;
        file.write_all(bytemuck::cast_slice(matrix.as_slice()))
    })
}

/// Writes bytes.
///
/// The file appears only when it is complete; an existing file is replaced.
///
/// # Errors
/// If the file cannot be written; an existing file then stays as it was.
pub fn write_bytes(path: impl AsRef<Path>, bytes: &[u8]) -> Result<()> {
    replace(path.as_ref(), |file| file.write_all(bytes))
}

/// Checks, before long work, whether a file can be written. Leaves nothing behind and does not
/// touch an existing file.
///
/// # Errors
/// If the path is a folder, its folder is missing or not writable, or the file is read-only.
pub fn check_writable(path: impl AsRef<Path>) -> Result<()> {
    let path = path.as_ref();
    let refuse = |source: io::Error| Error::write(path, source);
    if is_stream(path) {
        return Ok(());
    }
    let file = files::target(path).map_err(refuse)?;
    match fs::metadata(&file) {
        Ok(found) if found.is_dir() => return Err(refuse(io::ErrorKind::IsADirectory.into())),
        Ok(found) if found.permissions().readonly() => {
            return Err(refuse(io::ErrorKind::PermissionDenied.into()));
        }
        _ => {}
    }
    // The system's message names the file that was tried in its place.
    let plain = |error: io::Error| match error.raw_os_error() {
        Some(number) => io::Error::from_raw_os_error(number),
        None => error.kind().into(),
    };
    tempfile::tempfile_in(files::folder_of(&file)).map(drop).map_err(|error| refuse(plain(error)))
}

fn check_counts<C, T: Real>(
    names: Option<&[String]>,
    n_labels: usize,
    probabilities: Option<(&[C], &Matrix<T>)>,
) -> Result<()> {
    let n_names = names.map_or(n_labels, <[String]>::len);
    let mut pairs = vec![("names of samples (one per label)", n_labels, n_names)];
    pairs.extend(probabilities.into_iter().flat_map(|(classes, probabilities)| {
        [
            ("columns of the probabilities (one per label)", n_labels, probabilities.columns()),
            ("rows of the probabilities (one per class)", classes.len(), probabilities.rows()),
        ]
    }));
    for (what, expected, got) in pairs {
        if expected != got {
            return Err(ssdl::Error::Shape { what: what.into(), expected, got }.into());
        }
    }
    Ok(())
}

fn predictions<S: AsRef<str>, C: AsRef<str>, T: Real>(
    writer: impl Write,
    names: Option<&[String]>,
    labels: &[S],
    probabilities: Option<(&[C], &Matrix<T>)>,
) -> io::Result<()> {
    let mut csv = csv::Writer::from_writer(writer);
    if names.is_some() {
        csv.write_field("sample")?;
    }
    csv.write_field("label")?;
    for class in probabilities.map_or(&[][..], |(classes, _)| classes) {
        csv.write_field(class.as_ref())?;
    }
    csv.write_record(None::<&[u8]>)?;
    for (sample, label) in labels.iter().enumerate() {
        if let Some(names) = names {
            csv.write_field(&names[sample])?;
        }
        csv.write_field(label.as_ref())?;
        if let Some((_, probabilities)) = probabilities {
            for value in probabilities.column(sample) {
                // The debug form is the shortest that reads back as the same number, with an
                // exponent where that is shorter.
                csv.write_field(format!("{value:?}"))?;
            }
        }
        csv.write_record(None::<&[u8]>)?;
    }
    csv.flush()
}

fn npy_header<T: Real>(n_rows: usize, n_columns: usize) -> Vec<u8> {
    let endian = if cfg!(target_endian = "big") { '>' } else { '<' };
    let width = size_of::<T>();
    let mut text = format!(
        "{{'descr': '{endian}f{width}', 'fortran_order': False, 'shape': ({n_rows}, {n_columns}), }}"
    );
    // The format requires the data to start at a multiple of 64 bytes, after a newline.
    let len = (10 + text.len() + 1).next_multiple_of(64) - 10;
    text.push_str(&" ".repeat(len - text.len() - 1));
    text.push('\n');
    let mut header = b"\x93NUMPY\x01\x00".to_vec();
    // With two numbers of at most twenty digits, the text stays far below 64 KiB.
    header.extend((text.len() as u16).to_le_bytes());
    header.extend(text.as_bytes());
    header
}

/// Whether a path leads to a device or a pipe, which must not be replaced by a file.
fn is_stream(path: &Path) -> bool {
    fs::metadata(path).is_ok_and(|found| !found.is_dir() && !found.is_file())
}

fn replace(path: &Path, write: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> Result<()> {
    let refuse = |source: io::Error| Error::write(path, source);
    if is_stream(path) {
        let mut stream = File::options().write(true).open(path).map_err(refuse)?;
        return write(&mut stream).map_err(refuse);
    }
    files::replace(path, write).map_err(refuse)
}
