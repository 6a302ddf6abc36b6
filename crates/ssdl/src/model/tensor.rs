//! The tensors of the model file: arrays in the type that they have there.

use std::borrow::Cow;
use std::io::Read;

use safetensors::Dtype;
use safetensors::tensor::TensorInfo;

use crate::stored::Stored;
use crate::threads::Loops;
use crate::{Real, half};

/// An array on its way to the file, or from it; its last dimension runs fastest.
pub(super) struct Tensor<'a> {
    pub shape: Vec<usize>,
    pub numbers: Numbers<'a>,
}

/// Numbers of one of the types that a model file has.
pub(super) enum Numbers<'a> {
    Half(Cow<'a, [u16]>),
    Single(Cow<'a, [f32]>),
    Double(Cow<'a, [f64]>),
    Signed(Cow<'a, [i32]>),
    Whole(Cow<'a, [u32]>),
}

impl<'a, T: Real> From<Stored<'a, T>> for Tensor<'a> {
    fn from(stored: Stored<'a, T>) -> Self {
        let (shape, values) = match stored {
            Stored::Whole(values) => return Self::list(Numbers::Whole(values)),
            Stored::Matrix(Cow::Borrowed(matrix)) => {
                (vec![matrix.columns(), matrix.rows()], Cow::Borrowed(matrix.as_slice()))
            }
            Stored::Matrix(Cow::Owned(matrix)) => {
                (vec![matrix.columns(), matrix.rows()], Cow::Owned(matrix.into_vec()))
            }
            Stored::List(values) => (vec![values.len()], Cow::Borrowed(values)),
        };
        Self { shape, numbers: Numbers::real(values) }
    }
}

impl<'a> Tensor<'a> {
    /// A list of numbers.
    pub fn list(numbers: Numbers<'a>) -> Self {
        Self { shape: vec![numbers.len()], numbers }
    }

    /// Room for one that a file's header describes; `None` if no model has such numbers. No more is
    /// allocated than the header says, which the caller has compared with the size of the file.
    pub fn room(info: &TensorInfo) -> Option<Self> {
        let numbers = Numbers::zeros(info.dtype, info.shape.iter().product())?;
        Some(Self { shape: info.shape.clone(), numbers })
    }

    /// Fills it with the next bytes of the file.
    pub fn read(&mut self, file: &mut dyn Read) -> std::io::Result<()> {
        file.read_exact(self.numbers.bytes_mut())?;
        if cfg!(target_endian = "big") {
            let width = self.numbers.width();
            swap(self.numbers.bytes_mut(), width);
        }
        Ok(())
    }
}

impl<'a> Numbers<'a> {
    /// Numbers of the model's own precision.
    pub fn real<T: Real>(values: Cow<'a, [T]>) -> Self {
        match (values, size_of::<T>()) {
            (Cow::Borrowed(values), 4) => Self::Single(bytemuck::cast_slice(values).into()),
            (Cow::Borrowed(values), _) => Self::Double(bytemuck::cast_slice(values).into()),
            (Cow::Owned(values), 4) => Self::Single(Cow::Owned(bytemuck::cast_vec(values))),
            (Cow::Owned(values), _) => Self::Double(Cow::Owned(bytemuck::cast_vec(values))),
        }
    }

    /// The numbers, if they are of this precision.
    pub fn as_real<T: Real>(&self) -> Option<&[T]> {
        match self {
            Self::Single(values) if size_of::<T>() == 4 => Some(bytemuck::cast_slice(values)),
            Self::Double(values) if size_of::<T>() == 8 => Some(bytemuck::cast_slice(values)),
            _ => None,
        }
    }

    /// The same without a copy of what was read.
    pub fn into_real<T: Real>(self) -> Option<Vec<T>> {
        match self {
            Self::Single(values) if size_of::<T>() == 4 => {
                Some(bytemuck::cast_vec(values.into_owned()))
            }
            Self::Double(values) if size_of::<T>() == 8 => {
                Some(bytemuck::cast_vec(values.into_owned()))
            }
            _ => None,
        }
    }

    pub fn are_finite(&self) -> bool {
        match self {
            Self::Half(values) => half::all_finite(values),
            Self::Single(values) => all_finite(values),
            Self::Double(values) => all_finite(values),
            Self::Signed(_) | Self::Whole(_) => true,
        }
    }

    pub fn dtype(&self) -> Dtype {
        match self {
            Self::Half(_) => Dtype::F16,
            Self::Single(_) => Dtype::F32,
            Self::Double(_) => Dtype::F64,
            Self::Signed(_) => Dtype::I32,
            Self::Whole(_) => Dtype::U32,
        }
    }

    /// Bytes of one number.
    pub fn width(&self) -> usize {
        self.dtype().bitsize() / 8
    }

    pub fn len(&self) -> usize {
        self.bytes().len() / self.width()
    }

    /// The bytes of the file, which is little-endian, like almost every machine; there nothing is copied.
    pub fn little_endian(&self) -> Cow<'_, [u8]> {
        if cfg!(target_endian = "little") {
            return self.bytes().into();
        }
        let mut bytes = self.bytes().to_vec();
        swap(&mut bytes, self.width());
        bytes.into()
    }

    fn zeros(dtype: Dtype, count: usize) -> Option<Self> {
        Some(match dtype {
            Dtype::F16 => Self::Half(vec![0; count].into()),
            Dtype::F32 => Self::Single(vec![0.0; count].into()),
            Dtype::F64 => Self::Double(vec![0.0; count].into()),
            Dtype::I32 => Self::Signed(vec![0; count].into()),
            Dtype::U32 => Self::Whole(vec![0; count].into()),
            _ => return None,
        })
    }

    fn bytes(&self) -> &[u8] {
        match self {
            Self::Half(values) => bytemuck::cast_slice(values),
            Self::Single(values) => bytemuck::cast_slice(values),
            Self::Double(values) => bytemuck::cast_slice(values),
            Self::Signed(values) => bytemuck::cast_slice(values),
            Self::Whole(values) => bytemuck::cast_slice(values),
        }
    }

    fn bytes_mut(&mut self) -> &mut [u8] {
        match self {
            Self::Half(values) => bytemuck::cast_slice_mut(values.to_mut()),
            Self::Single(values) => bytemuck::cast_slice_mut(values.to_mut()),
            Self::Double(values) => bytemuck::cast_slice_mut(values.to_mut()),
            Self::Signed(values) => bytemuck::cast_slice_mut(values.to_mut()),
            Self::Whole(values) => bytemuck::cast_slice_mut(values.to_mut()),
        }
    }
}

fn all_finite<T: Real>(values: &[T]) -> bool {
    let parts = values.chunks(1 << 14).gather(|part| part.iter().all(|v| v.is_finite()));
    !parts.contains(&false)
}

/// Turns the bytes of each number round.
fn swap(bytes: &mut [u8], width: usize) {
    bytes.chunks_exact_mut(width).for_each(<[u8]>::reverse);
}
