//! Files of named arrays with a header of someone else's: in the framing of a model file, and with its
//! checksum.

use std::borrow::Cow;
use std::path::Path;

use super::framing::{self, Framed};
use super::header::refuse;
use super::tensor::{Numbers, Tensor};
use crate::{Error, Result, files};

/// An array of any shape; its last dimension runs fastest.
#[derive(Clone, Debug, PartialEq)]
pub struct Array {
    /// Its name.
    pub name: String,
    /// Its sizes.
    pub shape: Vec<usize>,
    /// Its numbers.
    pub values: Vec<f32>,
}

/// Writes a file of arrays; an existing file is replaced only once the new one is complete. See
/// [`files::replace`].
///
/// # Errors
/// If the folder or the disk does not allow it; the old file is then still there.
pub fn save_arrays(path: &Path, header: &str, arrays: &[&Array]) -> Result<()> {
    let tensors = arrays.iter().map(|array| {
        let numbers = Numbers::Single(Cow::Borrowed(&array.values));
        (array.name.clone(), Tensor { shape: array.shape.clone(), numbers })
    });
    let tensors = tensors.collect();
    files::replace(path, |out| framing::write(header, tensors, out))
        .map_err(|source| Error::Io { path: path.to_owned(), source })
}

/// Reads a file of arrays: its header as text, and its arrays by name.
///
/// # Errors
/// If it cannot be read, is no such file, was changed after it was written, or has numbers of another
/// type or that are not finite.
pub fn load_arrays(path: &Path) -> Result<(String, Vec<Array>)> {
    let mut file = Framed::of_file(path)?;
    if file.checksum.is_none() {
        return Err(refuse(path, &"it has no checksum"));
    }
    let header = std::mem::take(&mut file.text);
    let mut arrays = Vec::new();
    for (name, Tensor { shape, numbers }) in file.arrays()? {
        if !numbers.are_finite() {
            return Err(refuse(path, &format!("`{name}` has a number that is not finite")));
        }
        let Some(values) = numbers.into_real() else {
            return Err(refuse(path, &format!("`{name}` is not of single precision")));
        };
        arrays.push(Array { name, shape, values });
    }
    arrays.sort_by(|a, b| a.name.cmp(&b.name));
    Ok((header, arrays))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn array(name: &str, values: &[f32]) -> Array {
        Array { name: name.into(), shape: vec![1, values.len()], values: values.to_vec() }
    }

    #[test]
    fn arrays_come_back_and_damage_is_refused() -> Result<()> {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("net");
        let arrays = [array("a", &[1.5, -2.0]), array("b", &[f32::MIN_POSITIVE])];
        save_arrays(&path, "{\"any\": \"thing\"}", &arrays.each_ref())?;
        assert_eq!(load_arrays(&path)?, ("{\"any\": \"thing\"}".to_owned(), arrays.to_vec()));
        let whole = std::fs::read(&path).expect("there");
        for at in (0..whole.len()).step_by(7) {
            let mut damaged = whole.clone();
            damaged[at] ^= 4;
            std::fs::write(&path, damaged).expect("written");
            assert!(matches!(load_arrays(&path), Err(Error::Format { .. })), "byte {at}");
        }
        std::fs::write(&path, &whole[..whole.len() - 1]).expect("written");
        assert!(load_arrays(&path).is_err());
        save_arrays(&path, "", &[&array("a", &[f32::NAN])])?;
        let error = load_arrays(&path).expect_err("NaN").to_string();
        assert!(error.contains("not finite"), "{error}");
        Ok(())
    }
}
