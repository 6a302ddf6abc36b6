//! NumPy files: `.npy` is a Python dictionary as header and the raw elements, `.npz` a zip of them.

use std::io::{Cursor, Read};
use std::path::Path;

use zip::ZipArchive;

use crate::array::{Array, Kind, Order, byte_len};
use crate::blocks::Head;
use crate::bytes::fixed;
use crate::container::Container;
use crate::{Error, Result};

struct Header {
    kind: Kind,
    big_endian: bool,
    order: Order,
    shape: Vec<usize>,
    len: usize,
}

/// The array of an NPY file.
pub(crate) fn parse<'a>(path: &Path, bytes: &'a [u8]) -> Result<Array<'a>> {
    let header = header(bytes).map_err(|fault| fault.into_error(path))?;
    Array::new(
        header.shape,
        header.kind,
        header.order,
        header.big_endian,
        bytes[header.len..].into(),
    )
    .map_err(|reason| Fault::Broken(reason).into_error(path))
}

/// What the header says, if it is all there.
pub(crate) fn head(bytes: &[u8]) -> Option<Head> {
    let Header { kind, big_endian, order, shape, len } = header(bytes).ok()?;
    Some(Head { kind, big_endian, order, shape, len })
}

/// Length of the whole file as its header declares it.
pub(crate) fn declared_len(head: &[u8]) -> Option<u64> {
    let header = header(head).ok()?;
    byte_len(&header.shape, header.kind)?.checked_add(header.len).map(|len| len as u64)
}

enum Fault {
    Broken(String),
    Unsupported(String),
}

impl Fault {
    fn into_error(self, path: &Path) -> Error {
        match self {
            Self::Broken(reason) => Error::corrupt(path, "NPY", reason),
            Self::Unsupported(reason) => Error::unsupported(path, reason),
        }
    }
}

impl From<&str> for Fault {
    fn from(reason: &str) -> Self {
        Self::Broken(reason.into())
    }
}

fn header(bytes: &[u8]) -> std::result::Result<Header, Fault> {
    if !bytes.starts_with(b"\x93NUMPY") {
        return Err("it does not start with \\x93NUMPY".into());
    }
    let short = "it ends inside the header";
    let (start, text_len) = match bytes.get(6) {
        Some(1) => (10, fixed(bytes, 8).map(|b| usize::from(u16::from_le_bytes(b)))),
        Some(2 | 3) => (12, fixed(bytes, 8).map(|b| u32::from_le_bytes(b) as usize)),
        Some(version) => {
            let reason = format!("unknown NPY version {version}; save it as version 1");
            return Err(Fault::Unsupported(reason));
        }
        None => return Err(short.into()),
    };
    let len = text_len.and_then(|text_len| text_len.checked_add(start)).ok_or(short)?;
    let text = bytes.get(start..len).ok_or(short)?;
    let text = str::from_utf8(text).map_err(|_| "the header is not text")?;
    let [descr, order, shape] = dictionary(text).ok_or("the header is not a dictionary")?;
    let order = match order {
        "True" => Order::FirstFastest,
        "False" => Order::LastFastest,
        _ => return Err("`fortran_order` is neither True nor False".into()),
    };
    let shape = tuple(shape).ok_or("`shape` is not a tuple of counts")?;
    let (kind, big_endian) = element(descr)?;
    Ok(Header { kind, big_endian, order, shape, len })
}

/// The values of `descr`, `fortran_order` and `shape` as text.
fn dictionary(text: &str) -> Option<[&str; 3]> {
    let mut rest = text.trim().strip_prefix('{')?.strip_suffix('}')?.trim();
    let mut found = [None; 3];
    while !rest.is_empty() {
        let quote = rest.chars().next().filter(|c| "'\"".contains(*c))?;
        let (key, after) = rest[1..].split_once(quote)?;
        let value = after.trim_start().strip_prefix(':')?.trim_start();
        let (value, after) = value.split_at(value_len(value)?);
        let place = ["descr", "fortran_order", "shape"].iter().position(|k| *k == key)?;
        found[place] = Some(value.trim());
        rest = after.trim_start();
        rest = rest.strip_prefix(',').unwrap_or(rest).trim_start();
    }
    let [Some(descr), Some(order), Some(shape)] = found else { return None };
    Some([descr, order, shape])
}

/// Where the value at the start of `text` ends: at the first comma outside brackets and quotes.
fn value_len(text: &str) -> Option<usize> {
    let mut depth = 0usize;
    let mut quote = None;
    for (at, c) in text.char_indices() {
        match (quote, c) {
            (Some(open), _) if open == c => quote = None,
            (Some(_), _) => {}
            (None, '\'' | '"') => quote = Some(c),
            (None, '(' | '[' | '{') => depth += 1,
            (None, ')' | ']' | '}') => depth = depth.checked_sub(1)?,
            (None, ',') if depth == 0 => return Some(at),
            (None, _) => {}
        }
    }
    (depth == 0 && quote.is_none()).then_some(text.len())
}

fn tuple(text: &str) -> Option<Vec<usize>> {
    let inside = text.strip_prefix('(')?.strip_suffix(')')?.trim();
    let inside = inside.strip_suffix(',').unwrap_or(inside);
    if inside.is_empty() {
        return Some(Vec::new());
    }
    inside.split(',').map(|n| n.trim().trim_end_matches('L').parse().ok()).collect()
}

/// The element type and whether it is big-endian, from a text such as `'<f8'`.
fn element(descr: &str) -> std::result::Result<(Kind, bool), Fault> {
    let unsupported = || {
        let what = crate::error::shortened(descr);
        let reason =
            format!("arrays of type {what} are not supported; save numbers, or labels as text");
        Fault::Unsupported(reason)
    };
    let code = descr
        .strip_prefix('\'')
        .and_then(|inner| inner.strip_suffix('\''))
        .filter(|code| code.is_ascii() && code.len() >= 3)
        .ok_or_else(unsupported)?;
    let big_endian = match code.as_bytes()[0] {
        b'<' | b'|' => false,
        b'>' => true,
        b'=' => cfg!(target_endian = "big"),
        _ => return Err(unsupported()),
    };
    let kind = match (&code[1..2], &code[2..]) {
        ("b", "1") => Kind::Bool,
        ("i", "1") => Kind::I8,
        ("i", "2") => Kind::I16,
        ("i", "4") => Kind::I32,
        ("i", "8") => Kind::I64,
        ("u", "1") => Kind::U8,
        ("u", "2") => Kind::U16,
        ("u", "4") => Kind::U32,
        ("u", "8") => Kind::U64,
        ("f", "2") => Kind::F16,
        ("f", "4") => Kind::F32,
        ("f", "8") => Kind::F64,
        ("S", length) => Kind::Bytes(length.parse().map_err(|_| unsupported())?),
        ("U", length) => Kind::Unicode(length.parse().map_err(|_| unsupported())?),
        _ => return Err(unsupported()),
    };
    Ok((kind, big_endian))
}

/// An NPZ file.
pub(crate) struct Npz<'a> {
    path: &'a Path,
    archive: ZipArchive<Cursor<&'a [u8]>>,
    limit: u64,
    unpacked: Vec<u8>,
}

impl<'a> Npz<'a> {
    pub(crate) fn open(path: &'a Path, bytes: &'a [u8], limit: u64) -> Result<Self> {
        let archive = ZipArchive::new(Cursor::new(bytes))
            .map_err(|error| Error::corrupt(path, "NPZ", error.to_string()))?;
        Ok(Self { path, archive, limit, unpacked: Vec::new() })
    }
}

impl Container for Npz<'_> {
    fn names(&self) -> Vec<String> {
        self.archive
            .file_names()
            .filter_map(|name| name.ok()?.strip_suffix(".npy").map(str::to_owned))
            .collect()
    }

    fn array(&mut self, name: &str) -> Result<Array<'_>> {
        let corrupt = |reason: String| Error::corrupt(self.path, "NPZ", reason);
        let member = self
            .archive
            .by_name(&format!("{name}.npy"))
            .map_err(|error| corrupt(format!("array `{name}`: {error}")))?;
        // The size in the zip header need not be true, so the buffer grows with the actual data.
        self.unpacked.clear();
        member
            .take(self.limit.saturating_add(1))
            .read_to_end(&mut self.unpacked)
            .map_err(|error| corrupt(format!("array `{name}`: {error}")))?;
        if self.unpacked.len() as u64 > self.limit {
            return Err(Error::TooLarge { path: self.path.into(), limit: self.limit });
        }
        parse(self.path, &self.unpacked)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn headers_are_read_as_numpy_writes_them() {
        let text = "{'descr': '<f8', 'fortran_order': False, 'shape': (3, 4), }      \n";
        assert_eq!(dictionary(text), Some(["'<f8'", "False", "(3, 4)"]));
        let text = "{'shape': (5,), \"fortran_order\": True, 'descr': [('a', '<i4')]}";
        assert_eq!(dictionary(text), Some(["[('a', '<i4')]", "True", "(5,)"]));
        for broken in ["", "{", "{'descr'}", "{'descr': '<f8'}", "{'other': 1}", "{'shape': (1))}"]
        {
            assert_eq!(dictionary(broken), None, "{broken}");
        }
        assert_eq!(tuple("(5,)"), Some(vec![5]));
        assert_eq!(tuple("()"), Some(vec![]));
        assert_eq!(tuple("(-1, 2)"), None);
    }

    #[test]
    fn a_declared_length_beyond_memory_is_only_a_number() {
        let text = "{'descr': '<f8', 'fortran_order': False, 'shape': (1000000000000, 8), }";
        let mut bytes = b"\x93NUMPY\x01\x00".to_vec();
        bytes.extend((text.len() as u16).to_le_bytes());
        bytes.extend(text.as_bytes());
        assert_eq!(declared_len(&bytes), Some(64_000_000_000_000 + bytes.len() as u64));
        let message = parse(Path::new("x.npy"), &bytes).expect_err("too short").to_string();
        assert!(message.contains("needs 64000000000000 bytes, but there are 0"), "{message}");
    }
}
