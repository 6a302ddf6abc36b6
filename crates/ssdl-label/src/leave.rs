//! What people take away: labels as CSV, as a NumPy array or as folders, the model, the report, and
//! the command that makes the model again.

use std::path::{Path, PathBuf};

use ssdl::{Labels, Matrix, Model, Samples};

use crate::material::{Material, digest};
use crate::{Error, Result};

/// Maximum number of bytes of the name of a file or folder.
const MOST_BYTES: usize = 120;
/// Maximum number of bytes of an ending, such as `.png`.
const MOST_OF_ENDING: usize = 16;

/// Makes the report page of a fit: the model, its samples, and the names of the samples.
pub type Report = Box<
    dyn Fn(&Model<f32>, &Samples<f32>, Option<Vec<String>>) -> std::result::Result<String, String>
        + Send
        + Sync,
>;

/// The path beside the labels with another ending, such as `labels-report.html`.
#[must_use]
pub fn beside(labels: &Path, ending: &str) -> PathBuf {
    let stem = labels.file_stem().unwrap_or_default().to_string_lossy();
    labels.with_file_name(format!("{stem}{ending}"))
}

/// Writes one label for each sample, empty where there is none, as `ssdl fit --labels` reads them.
///
/// # Errors
/// If the file cannot be written.
pub fn csv(path: &Path, labels: &[Option<String>]) -> Result<()> {
    let names: Vec<&str> =
        labels.iter().map(|label| label.as_deref().unwrap_or_default()).collect();
    Ok(ssdl_data::write_predictions::<_, &str, f32>(path, None, &names, None)?)
}

/// Writes the labels as an array of text, empty where there is none.
///
/// # Errors
/// If the file cannot be written.
pub fn npy(path: &Path, labels: &[Option<String>]) -> Result<()> {
    let texts: Vec<Vec<char>> =
        labels.iter().map(|label| label.iter().flat_map(|text| text.chars()).collect()).collect();
    let width = texts.iter().map(Vec::len).max().unwrap_or(0).max(1);
    let mut header =
        format!("{{'descr': '<U{width}', 'fortran_order': False, 'shape': ({},), }}", labels.len());
    while (10 + header.len() + 1) % 64 != 0 {
        header.push(' ');
    }
    header.push('\n');
    let mut bytes = b"\x93NUMPY\x01\x00".to_vec();
    bytes.extend((header.len() as u16).to_le_bytes());
    bytes.extend(header.as_bytes());
    for text in &texts {
        let padded = text.iter().map(|&c| c as u32).chain(std::iter::repeat(0)).take(width);
        bytes.extend(padded.flat_map(u32::to_le_bytes));
    }
    Ok(ssdl_data::write_bytes(path, &bytes)?)
}

/// Makes a folder with a folder for each class, in it links to the images, or pictures of samples
/// that are not files. A folder that is there already is refused unless it is empty.
///
/// # Errors
/// If the samples are not images, or something cannot be written.
pub fn folders(path: &Path, material: &Material, labels: &[Option<String>]) -> Result<usize> {
    if !material.has_pictures() {
        return Err(Error::Refused(
            "folders by class are for images; these samples are rows".into(),
        ));
    }
    let refuse = |path: &Path| {
        let path = path.to_owned();
        move |source| Error::Io { path, source }
    };
    if std::fs::read_dir(path).is_ok_and(|mut entries| entries.next().is_some()) {
        return Err(Error::Refused(format!(
            "{}: exists and is not empty; move it away first",
            path.display()
        )));
    }
    let mut count = 0;
    for (sample, label) in labels.iter().enumerate() {
        let Some(label) = label else { continue };
        let folder = path.join(file_name(label));
        std::fs::create_dir_all(&folder).map_err(refuse(&folder))?;
        match material.file(sample) {
            Some(file) => {
                let file = std::fs::canonicalize(file).map_err(refuse(file))?;
                let name = file_name(material.name(sample).unwrap_or_default());
                let place = folder.join(name);
                link(&file, &place).map_err(refuse(&place))?;
            }
            None => {
                let place = folder.join(format!("{sample}.png"));
                let (_, bytes) = material.picture(sample)?;
                std::fs::write(&place, bytes).map_err(refuse(&place))?;
            }
        }
        count += 1;
    }
    Ok(count)
}

#[cfg(unix)]
fn link(file: &Path, place: &Path) -> std::io::Result<()> {
    std::os::unix::fs::symlink(file, place)
}

/// Links need rights that few have there.
#[cfg(not(unix))]
fn link(file: &Path, place: &Path) -> std::io::Result<()> {
    std::fs::hard_link(file, place).or_else(|_| std::fs::copy(file, place).map(drop))
}

/// A text as the name of one file: nothing in it leads elsewhere. What is too long is cut before its
/// ending, and a digest tells it from others that begin alike.
#[must_use]
pub fn file_name(text: &str) -> String {
    let mut name = String::new();
    for (at, c) in text.chars().enumerate() {
        let leads_elsewhere = "/\\:*?\"<>|%".contains(c) || (at == 0 && c == '.');
        match leads_elsewhere || c.is_control() {
            true => name += &format!("%{:02X}", c as u32),
            false => name.push(c),
        }
    }
    if name.is_empty() {
        return "%".into();
    }
    if name.len() <= MOST_BYTES {
        return name;
    }
    let ending = name.rfind('.').map_or("", |at| &name[at..]);
    let ending = if ending.len() <= MOST_OF_ENDING { ending } else { "" };
    let tail = format!("-{}{ending}", &digest(text.as_bytes())[..8]);
    let end = name.floor_char_boundary(MOST_BYTES - tail.len());
    name[..end].to_owned() + &tail
}

/// The samples that a model was fitted to, again.
///
/// # Errors
/// If a file has gone since.
pub fn samples_of(material: &Material, pool: &[usize], labels: &Labels) -> Result<Samples<f32>> {
    let mut values = Vec::new();
    for &sample in pool {
        values.extend(material.features(sample)?);
    }
    let rows = values.len() / pool.len().max(1);
    let features = Matrix::from_columns(rows, pool.len(), values)
        .ok_or_else(|| Error::Refused("the samples have changed since the fit".into()))?;
    Ok(Samples::new(features, labels.clone())?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_classes_cannot_leave_their_folder() {
        assert_eq!(file_name("../../etc"), "%2E.%2F..%2Fetc");
        assert_eq!(file_name(".."), "%2E.");
        assert_eq!(file_name(""), "%");
        assert_eq!(file_name("cat 1"), "cat 1");
        assert_eq!(file_name("a\0b"), "a%00b");
        assert_eq!(file_name("<script>"), "%3Cscript%3E");
    }

    #[test]
    fn long_names_stay_apart_and_keep_their_ending() {
        for letter in ["x", "é", "日", "/"] {
            let same = letter.repeat(200);
            let names = ["1.png", "2.png", "1.jpeg", "", ".and no ending"]
                .map(|end| (end, file_name(&format!("{same}{end}"))));
            let apart: std::collections::HashSet<_> = names.iter().map(|(_, name)| name).collect();
            assert_eq!(apart.len(), names.len(), "{names:?}");
            for (end, name) in &names {
                assert!(name.len() <= MOST_BYTES, "{name}");
                let ending = end.split_once('.').map_or("", |(_, ending)| ending);
                assert!(name.ends_with(ending) || ending.contains(' '), "{name}");
            }
        }
        assert_eq!(file_name(&"x".repeat(MOST_BYTES)), "x".repeat(MOST_BYTES));
    }

    #[test]
    fn arrays_of_labels_are_read_back() {
        let folder = tempfile::tempdir().expect("a folder");
        let labels: Vec<Option<String>> = vec![Some("katze".into()), None, Some("日本".into())];
        let path = folder.path().join("labels.npy");
        npy(&path, &labels).expect("written");
        let read = ssdl_data::read_labels(&path, &ssdl_data::ReadOptions::default()).expect("read");
        assert_eq!(read, labels);
        let path = folder.path().join("labels.csv");
        csv(&path, &labels).expect("written");
        let read = ssdl_data::read_labels(&path, &ssdl_data::ReadOptions::default()).expect("read");
        assert_eq!(read, labels);
    }
}
