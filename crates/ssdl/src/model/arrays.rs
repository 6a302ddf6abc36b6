//! Files of named arrays with a header of someone else's: in the framing of a model file, and with its
//! checksum.

use std::borrow::Cow;
use std::path::Path;

use safetensors::{Dtype, SafeTensors};

use super::header::{self, refuse};
use super::tensor::{Tensor, from_little_endian, little_endian};
use super::{checksum, file};
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
        let bytes: Cow<'_, [u8]> = little_endian(&array.values);
        (array.name.clone(), Tensor { dtype: Dtype::F32, shape: array.shape.clone(), bytes })
    });
    let tensors = tensors.collect();
    files::replace(path, |out| file::frame(header, tensors, out))
        .map_err(|source| Error::Io { path: path.to_owned(), source })
}

/// Reads a file of arrays: its header as text, and its arrays by name.
///
/// # Errors
/// If it cannot be read, is no such file, was changed after it was written, or has numbers of another
/// type or that are not finite.
pub fn load_arrays(path: &Path) -> Result<(String, Vec<Array>)> {
    // A device or a pipe has no end that could be waited for.
    if std::fs::metadata(path).is_ok_and(|found| !found.is_file()) {
        return Err(refuse(path, &"it is not a file"));
    }
    let bytes =
        std::fs::read(path).map_err(|source| Error::Io { path: path.to_owned(), source })?;
    let (header, claimed) = header::envelope(path, bytes.as_slice(), bytes.len() as u64)?;
    let claimed = claimed.ok_or_else(|| refuse(path, &"it has no checksum"))?;
    checksum::verify(path, &claimed, &bytes)?;
    let tensors = SafeTensors::deserialize(&bytes).map_err(|error| refuse(path, &error))?;
    let mut arrays = Vec::new();
    for (name, view) in tensors.tensors() {
        if view.dtype() != Dtype::F32 {
            return Err(refuse(path, &format!("`{name}` is not of single precision")));
        }
        let values: Vec<f32> = from_little_endian(view.data());
        if values.iter().any(|value| !value.is_finite()) {
            return Err(refuse(path, &format!("`{name}` has a number that is not finite")));
        }
        arrays.push(Array { name, shape: view.shape().to_vec(), values });
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
