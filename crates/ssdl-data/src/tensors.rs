//! Safetensors: named little-endian tensors behind a checked header.

use std::path::Path;

use safetensors::{Dtype, SafeTensors};

use crate::array::{Array, Kind, Order, byte_len};
use crate::blocks::Head;
use crate::container::{Container, is_label};
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
        let kind = kind_of(tensor.dtype()).ok_or_else(|| {
            let reason = format!("tensor `{name}` holds {:?}; save it as float32", tensor.dtype());
            Error::unsupported(self.path, reason)
        })?;
        let shape = tensor.shape().to_vec();
        Array::new(shape, kind, Order::LastFastest, false, tensor.data().into()).map_err(corrupt)
    }
}

fn kind_of(kind: Dtype) -> Option<Kind> {
    Some(match kind {
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
        _ => return None,
    })
}

/// What the header of a file says that has one tensor; the crate reads no header without what follows it.
pub(crate) fn head(bytes: &[u8]) -> Option<Head> {
    let (len, rest) = bytes.split_first_chunk::<8>()?;
    let len = usize::try_from(u64::from_le_bytes(*len)).ok()?;
    let text: serde_json::Value = serde_json::from_slice(rest.get(..len)?).ok()?;
    let mut tensors = text.as_object()?.iter().filter(|(name, _)| *name != "__metadata__");
    let (name, tensor) = tensors.next()?;
    let kind = kind_of(serde_json::from_value(tensor["dtype"].clone()).ok()?)?;
    let shape: Vec<usize> = serde_json::from_value(tensor["shape"].clone()).ok()?;
    let is_whole = tensor["data_offsets"] == serde_json::json!([0, byte_len(&shape, kind)?]);
    if !is_whole || tensors.next().is_some() || is_label(name) {
        return None;
    }
    let len = len.checked_add(8)?;
    Some(Head { kind, big_endian: false, order: Order::LastFastest, shape, len })
}
