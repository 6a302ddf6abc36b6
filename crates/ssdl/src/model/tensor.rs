//! The tensors of the model file: matrices as little-endian bytes and back.

use std::borrow::Cow;

use safetensors::Dtype;

use crate::Real;
use crate::stored::Stored;
use crate::threads::Loops;

/// A tensor on its way to the file.
pub(super) struct Tensor<'a> {
    pub dtype: Dtype,
    pub shape: Vec<usize>,
    pub bytes: Cow<'a, [u8]>,
}

impl<'a, T: Real> From<Stored<'a, T>> for Tensor<'a> {
    fn from(stored: Stored<'a, T>) -> Self {
        let (shape, bytes) = match stored {
            Stored::Matrix(Cow::Borrowed(matrix)) => {
                (vec![matrix.columns(), matrix.rows()], little_endian(matrix.as_slice()))
            }
            Stored::Matrix(Cow::Owned(matrix)) => {
                let bytes = little_endian(matrix.as_slice()).into_owned();
                (vec![matrix.columns(), matrix.rows()], Cow::Owned(bytes))
            }
            Stored::List(values) => (vec![values.len()], little_endian(values)),
        };
        Self { dtype: dtype::<T>(), shape, bytes }
    }
}

impl Tensor<'_> {
    /// Bits of one element.
    pub fn width(&self) -> usize {
        self.dtype.bitsize()
    }
}

pub(super) fn dtype<T: Real>() -> Dtype {
    if size_of::<T>() == 4 { Dtype::F32 } else { Dtype::F64 }
}

/// The file is little-endian, like almost every machine; there nothing is copied.
pub(super) fn little_endian<T: Real>(values: &[T]) -> Cow<'_, [u8]> {
    let bytes: &[u8] = bytemuck::cast_slice(values);
    if cfg!(target_endian = "little") {
        Cow::Borrowed(bytes)
    } else {
        Cow::Owned(
            bytes.chunks_exact(size_of::<T>()).flat_map(|b| b.iter().rev()).copied().collect(),
        )
    }
}

/// Whether all numbers are finite, without a copy of them.
pub(super) fn all_finite<T: Real>(bytes: &[u8]) -> bool {
    // Parts of a page or so: the copy of each stays in cache.
    let is_finite = |part: &[u8]| from_little_endian::<T>(part).iter().all(|v| v.is_finite());
    let parts = bytes.chunks(1 << 16).gather(|part| part.chunks(4096).all(is_finite));
    parts.into_iter().all(|is| is)
}

pub(super) fn from_little_endian<T: Real>(bytes: &[u8]) -> Vec<T> {
    if cfg!(target_endian = "little") {
        bytemuck::pod_collect_to_vec(bytes)
    } else {
        let swapped: Vec<u8> =
            bytes.chunks_exact(size_of::<T>()).flat_map(|b| b.iter().rev()).copied().collect();
        bytemuck::pod_collect_to_vec(&swapped)
    }
}
