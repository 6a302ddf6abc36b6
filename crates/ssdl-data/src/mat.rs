//! MATLAB files of version 5 to 7: numeric arrays, compressed or not.
//!
//! A file is a 128-byte header and a sequence of elements, each with a tag (type and length). A
//! variable is an element that holds elements: flags, sizes, name, values. Cells, structures,
//! text and sparse matrices are skipped.

use std::io::Read;
use std::ops::Range;
use std::path::Path;

use flate2::read::ZlibDecoder;

use crate::array::{Array, Kind, Order};
use crate::bytes::fixed;
use crate::container::Container;
use crate::{Error, Result};

const MATRIX: u32 = 14;
const COMPRESSED: u32 = 15;

/// More than the flags, sizes and name of any variable need.
const HEAD: u64 = 4096;

/// A MATLAB file.
pub(crate) struct Mat<'a> {
    path: &'a Path,
    big_endian: bool,
    variables: Vec<Variable<'a>>,
    limit: u64,
    unpacked: Vec<u8>,
}

struct Variable<'a> {
    name: String,
    body: Body<'a>,
}

#[derive(Clone, Copy)]
enum Body<'a> {
    Plain(&'a [u8]),
    Packed(&'a [u8]),
}

/// What precedes the values of a variable.
struct Head {
    is_complex: bool,
    shape: Vec<usize>,
    name: String,
    values_at: usize,
}

/// An element: its type, where its data are, where the next element starts.
struct Element {
    kind: u32,
    data: Range<usize>,
    next: usize,
}

impl<'a> Mat<'a> {
    pub(crate) fn open(path: &'a Path, bytes: &'a [u8], limit: u64) -> Result<Self> {
        let big_endian = byte_order(path, bytes)?;
        let mut file =
            Self { path, big_endian, variables: Vec::new(), limit, unpacked: Vec::new() };
        let mut at = 128;
        while at < bytes.len() {
            let short = || file.corrupt(format!("it ends inside the element at byte {at}"));
            let element = element(bytes, at, big_endian).ok_or_else(short)?;
            let data = &bytes[element.data.clone()];
            let body = match element.kind {
                MATRIX => Some(Body::Plain(data)),
                COMPRESSED => Some(Body::Packed(data)),
                _ => None,
            };
            if let Some(body) = body {
                file.add(body)?;
            }
            // Only compressed elements are not padded to a multiple of eight bytes.
            at = if element.kind == COMPRESSED { element.data.end } else { element.next };
        }
        Ok(file)
    }

    fn add(&mut self, body: Body<'a>) -> Result<()> {
        let unpacked;
        let start = match body {
            Body::Plain(data) => data,
            Body::Packed(data) => {
                unpacked = self.unpack(data, HEAD)?;
                unpacked.get(8..).unwrap_or_default()
            }
        };
        // Empty elements and anything but numbers, whose layout may differ, are skipped.
        let class = class(start, self.big_endian);
        if start.is_empty() || class.is_some_and(|class| !(6..=15).contains(&class)) {
            return Ok(());
        }
        let head = head(start, self.big_endian)
            .ok_or_else(|| self.corrupt("a variable's flags, sizes or name are damaged".into()))?;
        // Variables without a name are MATLAB's own.
        if !head.name.is_empty() {
            self.variables.push(Variable { name: head.name, body });
        }
        Ok(())
    }

    /// At most `limit` bytes of a compressed variable, including its tag. The buffer grows with the
    /// actual data, whatever the tag declares.
    fn unpack(&self, data: &[u8], limit: u64) -> Result<Vec<u8>> {
        let mut unpacked = Vec::new();
        ZlibDecoder::new(data)
            .take(limit)
            .read_to_end(&mut unpacked)
            .map_err(|error| self.corrupt(format!("a compressed variable: {error}")))?;
        match number(&unpacked, 0, self.big_endian) {
            Some(MATRIX) => Ok(unpacked),
            _ => Err(self.corrupt("a compressed variable holds no matrix".into())),
        }
    }

    fn corrupt(&self, reason: String) -> Error {
        Error::corrupt(self.path, "MATLAB", reason)
    }
}

impl Container for Mat<'_> {
    fn names(&self) -> Vec<String> {
        self.variables.iter().map(|variable| variable.name.clone()).collect()
    }

    fn array(&mut self, name: &str) -> Result<Array<'_>> {
        let found = self.variables.iter().find(|variable| variable.name == name);
        let body = found.map(|variable| variable.body);
        let body = match body {
            Some(Body::Plain(data)) => data,
            Some(Body::Packed(data)) => {
                self.unpacked = self.unpack(data, self.limit.saturating_add(1))?;
                if self.unpacked.len() as u64 > self.limit {
                    return Err(Error::TooLarge { path: self.path.into(), limit: self.limit });
                }
                self.unpacked.get(8..).unwrap_or_default()
            }
            None => return Err(self.corrupt(format!("there is no variable `{name}`"))),
        };
        let damaged = || self.corrupt(format!("the values of `{name}` are cut off or damaged"));
        let head = head(body, self.big_endian).ok_or_else(damaged)?;
        if head.is_complex {
            let reason = format!("`{name}` is complex; save its real part or its magnitude");
            return Err(Error::unsupported(self.path, reason));
        }
        let values = element(body, head.values_at, self.big_endian).ok_or_else(damaged)?;
        let kind = kind(values.kind).ok_or_else(damaged)?;
        let bytes = &body[values.data];
        Array::new(head.shape, kind, Order::FirstFastest, self.big_endian, bytes.into())
            .map_err(|reason| self.corrupt(format!("`{name}`: {reason}")))
    }
}

/// Whether the file is big-endian, after checking its version.
fn byte_order(path: &Path, bytes: &[u8]) -> Result<bool> {
    let hdf5 = b"\x89HDF\r\n\x1a\n";
    if bytes.starts_with(b"MATLAB 7.3")
        || bytes.starts_with(hdf5)
        || bytes.get(512..).is_some_and(|rest| rest.starts_with(hdf5))
    {
        let reason = "MATLAB version 7.3 (HDF5) is not supported; save it again with -v7";
        return Err(Error::unsupported(path, reason));
    }
    match bytes.get(126..128) {
        Some(b"IM") => Ok(false),
        Some(b"MI") => Ok(true),
        Some(_) if bytes.starts_with(b"MATLAB") => {
            Err(Error::corrupt(path, "MATLAB", "the header does not tell the byte order"))
        }
        Some(_) => {
            let reason = "not a MATLAB file of version 5 to 7; save it again with -v7";
            Err(Error::unsupported(path, reason))
        }
        None => Err(Error::corrupt(path, "MATLAB", "the header of 128 bytes is cut off")),
    }
}

fn number(bytes: &[u8], at: usize, big_endian: bool) -> Option<u32> {
    let four = fixed(bytes, at)?;
    Some(if big_endian { u32::from_be_bytes(four) } else { u32::from_le_bytes(four) })
}

fn element(bytes: &[u8], at: usize, big_endian: bool) -> Option<Element> {
    let first = number(bytes, at, big_endian)?;
    let small = first >> 16;
    let (kind, start, len, next) = if small > 0 {
        // Up to four bytes are stored in the tag itself.
        if small > 4 {
            return None;
        }
        (first & 0xffff, at + 4, small as usize, at + 8)
    } else {
        let len = number(bytes, at + 4, big_endian)? as usize;
        (first, at + 8, len, (at + 8).checked_add(len)?.checked_next_multiple_of(8)?)
    };
    let data = start..start.checked_add(len)?;
    (data.end <= bytes.len()).then_some(Element { kind, data, next })
}

fn class(body: &[u8], big_endian: bool) -> Option<u32> {
    let flags = element(body, 0, big_endian)?;
    Some(number(body, flags.data.start, big_endian)? & 0xff)
}

fn head(body: &[u8], big_endian: bool) -> Option<Head> {
    let flags = element(body, 0, big_endian)?;
    let sizes = element(body, flags.next, big_endian)?;
    let name = element(body, sizes.next, big_endian)?;
    let flag = number(body, flags.data.start, big_endian)?;
    let n_axes = sizes.data.len() / 4;
    if n_axes > 32 {
        return None;
    }
    let size = |axis| number(body, sizes.data.start + 4 * axis, big_endian);
    let shape = (0..n_axes).map(|axis| size(axis).map(|n| n as usize)).collect::<Option<_>>()?;
    Some(Head {
        is_complex: flag & 0x800 != 0,
        shape,
        name: String::from_utf8_lossy(&body[name.data]).into_owned(),
        values_at: name.next,
    })
}

/// The type in which values are stored, often smaller than that of the variable.
fn kind(stored: u32) -> Option<Kind> {
    match stored {
        1 => Some(Kind::I8),
        2 => Some(Kind::U8),
        3 => Some(Kind::I16),
        4 => Some(Kind::U16),
        5 => Some(Kind::I32),
        6 => Some(Kind::U32),
        7 => Some(Kind::F32),
        9 => Some(Kind::F64),
        12 => Some(Kind::I64),
        13 => Some(Kind::U64),
        _ => None,
    }
}
