//! The framing of a file of arrays: safetensors, with a header of ours in its own, and a checksum. The header
//! is read and checked before the arrays, so hostile bytes stay cheap; arrays are read one by one into the
//! memory that they stay in.

use std::collections::HashMap;
use std::fs::File;
use std::io::{Read, Write};
use std::path::Path;

use safetensors::tensor::Metadata;
use serde_json::json;

use super::checksum::{self, Sum};
use super::header::{in_memory, refuse};
use super::tensor::Tensor;
use crate::threads::both;
use crate::{Error, Result};

/// Maximum number of bytes of a header; class names and a trace need far fewer.
const MAX_HEADER: u64 = 64 << 20;

/// A file of which the header has been read.
pub(super) struct Framed<'a> {
    pub path: &'a Path,
    /// The text of our header.
    pub text: String,
    /// The checksum beside it; files of earlier versions have none.
    pub checksum: Option<String>,
    /// The bytes before the arrays.
    head: Vec<u8>,
    layout: Metadata,
    rest: Box<dyn Read + Send + 'a>,
}

impl<'a> Framed<'a> {
    /// Opens a file.
    pub fn of_file(path: &'a Path) -> Result<Self> {
        let io = |source| Error::Io { path: path.to_owned(), source };
        let file = File::open(path).map_err(io)?;
        // A device or a pipe has no end that could be waited for.
        let about = file.metadata().map_err(io)?;
        if !about.is_file() {
            return Err(refuse(path, &"it is not a file"));
        }
        Self::new(path, file, about.len())
    }

    /// From the bytes of a file.
    pub fn of_bytes(bytes: &'a [u8]) -> Result<Self> {
        Self::new(in_memory(), bytes, bytes.len() as u64)
    }

    fn new(path: &'a Path, mut file: impl Read + Send + 'a, size: u64) -> Result<Self> {
        let io = |source| Error::Io { path: path.to_owned(), source };
        let mut length = [0u8; 8];
        if size < 8 || file.read_exact(&mut length).is_err() {
            return Err(refuse(path, &"it is empty or cut off before its header"));
        }
        let announced = u64::from_le_bytes(length);
        if announced > MAX_HEADER || announced > size - 8 {
            return Err(refuse(
                path,
                &format!(
                    "its header claims {announced} bytes, the file has {size}: cut off or another format"
                ),
            ));
        }
        let mut head = length.to_vec();
        (&mut file).take(announced).read_to_end(&mut head).map_err(io)?;
        let layout: Metadata = serde_json::from_slice(&head[8..]).map_err(|e| {
            refuse(path, &format!("its header is not that of a safetensors file: {e}"))
        })?;
        let mut metadata = layout.metadata().clone().unwrap_or_default();
        let checksum = metadata.remove("checksum");
        let text = metadata
            .remove("ssdl")
            .ok_or_else(|| refuse(path, &"it is a safetensors file without an `ssdl` header"))?;
        // A checksum under a name that was damaged must not pass for a file that has none.
        if let Some(stranger) = metadata.keys().next() {
            return Err(refuse(path, &format!("its header has a strange entry `{stranger}`")));
        }
        let (announced, found) = (layout.data_len() as u64, size - 8 - announced);
        if announced != found {
            let what = format!("its arrays have {announced} bytes, the file has {found} for them");
            return Err(refuse(path, &format!("{what}: cut off or changed")));
        }
        Ok(Self { path, text, checksum, head, layout, rest: Box::new(file) })
    }

    /// Reads the arrays, and refuses a file that is not what its checksum was taken of.
    pub fn arrays(mut self) -> Result<HashMap<String, Tensor<'static>>> {
        let io = |source| Error::Io { path: self.path.to_owned(), source };
        let mut sum = Sum::of_head(&self.head);
        let mut arrays: Vec<(String, Tensor<'static>)> = Vec::new();
        for name in self.layout.offset_keys() {
            let Some(info) = self.layout.info(&name) else { continue };
            let mut array = Tensor::room(info).ok_or_else(|| {
                refuse(self.path, &format!("`{name}` is {}, which no model has", info.dtype))
            })?;
            // One array is added to the sum while the next one is read.
            let last = arrays.last();
            let add = || last.into_iter().for_each(|(_, array)| sum.add(array));
            let ((), read) = both(add, || array.read(&mut self.rest));
            read.map_err(io)?;
            arrays.push((name, array));
        }
        arrays.last().into_iter().for_each(|(_, array)| sum.add(array));
        if let Some(claimed) = &self.checksum {
            sum.verify(self.path, &self.head, claimed)?;
        }
        Ok(arrays.into_iter().collect())
    }
}

/// Writes a header, a checksum and arrays.
pub(super) fn write(
    header: &str,
    mut arrays: Vec<(String, Tensor<'_>)>,
    out: &mut dyn Write,
) -> std::io::Result<()> {
    // The format wants wide elements first, for alignment; the names make the order the same.
    let width = |array: &Tensor<'_>| array.numbers.width();
    arrays.sort_by(|(a, x), (b, y)| width(y).cmp(&width(x)).then(a.cmp(b)));
    let mut json = checksum::unsigned(header);
    let mut at = 0;
    for (name, Tensor { shape, numbers }) in &arrays {
        let offsets = [at, at + numbers.len() * numbers.width()];
        at = offsets[1];
        let entry = json!({"dtype": numbers.dtype(), "shape": shape, "data_offsets": offsets});
        json.insert(name.clone(), entry);
    }
    let mut head = serde_json::to_string(&json)?;
    head.push_str(&" ".repeat(head.len().next_multiple_of(8) - head.len()));
    let mut head = [&(head.len() as u64).to_le_bytes(), head.as_bytes()].concat();
    let mut sum = Sum::of_head(&head);
    arrays.iter().for_each(|(_, array)| sum.add(array));
    sum.sign(&mut head);
    out.write_all(&head)?;
    arrays.iter().try_for_each(|(_, array)| out.write_all(&array.numbers.little_endian()))
}
