//! Safetensors: named little-endian tensors behind a checked header.

use std::path::Path;

use safetensors::{Dtype, SafeTensors};

use crate::array::{Array, Kind, Order};
use crate::container::Container;
use crate::{Error, Result};

/// A safetensors file.
pub(crate) struct Tensors<'a> {
    path: &'a Path,
    tensors: SafeTensors<'a>,
}

impl<'a> Tensors<'a> {
    pub(crate) fn open(path: &'a Path, bytes: &'a [u8]) -> Result<Self> {
        let tensors = SafeTensors::deserialize(bytes)
            .map_err(|error| Error::corrupt(path, "safetensors", error.to_string()))?;
        Ok(Self { path, tensors })
    }
}

impl Container for Tensors<'_> {
    fn names(&self) -> Vec<String> {
        let mut names: Vec<String> = self.tensors.names().into_iter().map(str::to_owned).collect();
        names.sort_unstable();
        names
    }

    fn array(&mut self, name: &str) -> Result<Array<'_>> {
        let corrupt = |reason: String| Error::corrupt(self.path, "safetensors", reason);
        let tensor = self.tensors.tensor(name).map_err(|error| corrupt(error.to_string()))?;
        let kind = match tensor.dtype() {
            Dtype::BOOL => Kind::Bool,
            Dtype::U8 => Kind::U8,
            Dtype::I8 => Kind::I8,
            Dtype::U16 => Kind::U16,
            Dtype::I16 => Kind::I16,
            Dtype::U32 => Kind::U32,
            Dtype::I32 => Kind::I32,
            Dtype::U64 => Kind::U64,
            Dtype::I64 => Kind::I64,
            Dtype::F16 => Kind::F16,
            Dtype::BF16 => Kind::Bf16,
            Dtype::F32 => Kind::F32,
            Dtype::F64 => Kind::F64,
            other => {
                let reason = format!("tensor `{name}` holds {other:?}; save it as float32");
                return Err(Error::unsupported(self.path, reason));
            }
        };
        let shape = tensor.shape().to_vec();
        Array::new(shape, kind, Order::LastFastest, false, tensor.data().into()).map_err(corrupt)
    }
}
