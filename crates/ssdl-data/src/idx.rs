//! IDX, the format of MNIST: four magic bytes, the sizes of the axes, the elements, all big-endian.

use std::path::Path;

use crate::array::{Array, Kind, Order, byte_len};
use crate::blocks::Head;
use crate::bytes::fixed;
use crate::{Error, Result};

struct Header {
    kind: Kind,
    shape: Vec<usize>,
    len: usize,
}

/// The one array of an IDX file.
pub(crate) fn parse<'a>(path: &Path, bytes: &'a [u8]) -> Result<Array<'a>> {
    let corrupt = |reason: &str| Error::corrupt(path, "IDX", reason);
    let header = header(bytes).map_err(corrupt)?;
    let values = &bytes[header.len..];
    Array::new(header.shape, header.kind, Order::LastFastest, true, values.into())
        .map_err(|reason| corrupt(&reason))
}

/// What the header says, if it is all there.
pub(crate) fn head(bytes: &[u8]) -> Option<Head> {
    let Header { kind, shape, len } = header(bytes).ok()?;
    Some(Head { kind, big_endian: true, order: Order::LastFastest, shape, len })
}

/// Length of the whole file as its header declares it.
pub(crate) fn declared_len(head: &[u8]) -> Option<u64> {
    let header = header(head).ok()?;
    byte_len(&header.shape, header.kind)?.checked_add(header.len).map(|len| len as u64)
}

fn header(bytes: &[u8]) -> std::result::Result<Header, &'static str> {
    let [0, 0, kind, n_axes] = fixed(bytes, 0).ok_or("the four magic bytes are missing")? else {
        return Err("it does not start with two zero bytes");
    };
    let kind = match kind {
        0x08 => Kind::U8,
        0x09 => Kind::I8,
        0x0b => Kind::I16,
        0x0c => Kind::I32,
        0x0d => Kind::F32,
        0x0e => Kind::F64,
        _ => return Err("the third byte names no known element type"),
    };
    if n_axes == 0 {
        return Err("it declares no axes");
    }
    let len = 4 + 4 * usize::from(n_axes);
    let sizes = bytes.get(4..len).ok_or("it ends inside the sizes of the axes")?;
    let (sizes, _) = sizes.as_chunks::<4>();
    let shape = sizes.iter().map(|size| u32::from_be_bytes(*size) as usize).collect();
    Ok(Header { kind, shape, len })
}
