//! A file's bytes, unpacked if they are gzip, and never more than allowed.

use std::io::{self, Read};
use std::path::Path;

use flate2::read::MultiGzDecoder;

use crate::{Error, Format, ReadOptions, Result, idx, npy};

/// Enough of a file to read its header, which declares its length.
const HEAD: u64 = 4096;

/// A file in memory.
pub(crate) struct Loaded {
    pub format: Format,
    /// Unpacked, if the whole file was packed.
    pub bytes: Vec<u8>,
    /// Bytes that parts of the file may unpack to.
    pub limit: u64,
}

/// Reads the file and finds its format.
pub(crate) fn load(path: &Path, options: &ReadOptions) -> Result<Loaded> {
    refuse_device(path)?;
    let raw = std::fs::read(path).map_err(|source| Error::read(path, source))?;
    unpacked(path, raw, options)
}

/// The content of a file, unpacked, and its format; `path` is for the format and for messages.
pub(crate) fn unpacked(path: &Path, raw: Vec<u8>, options: &ReadOptions) -> Result<Loaded> {
    let limit = options.unpacked_limit(raw.len());
    if raw.is_empty() {
        return Err(Error::empty(path, "the file is empty"));
    }
    let named = options.format.or_else(|| Format::from_path(path));
    if !raw.starts_with(&[0x1f, 0x8b]) {
        return Ok(Loaded { format: format_of(path, named, &raw)?, bytes: raw, limit });
    }
    let broken = |source: io::Error| Error::corrupt(path, "gzip", source.to_string());
    let mut unpacking = MultiGzDecoder::new(raw.as_slice());
    let mut bytes = Vec::new();
    unpacking.by_ref().take(HEAD).read_to_end(&mut bytes).map_err(broken)?;
    if bytes.is_empty() {
        return Err(Error::empty(path, "the file is empty"));
    }
    let format = format_of(path, named, &bytes)?;
    // One byte more than declared is enough to detect that there is too much.
    let declared = match format {
        Format::Idx => idx::declared_len(&bytes),
        Format::Npy => npy::declared_len(&bytes),
        _ => None,
    };
    let allowed = declared.map_or(limit, |len| len.min(limit)).saturating_add(1);
    let more = allowed.saturating_sub(bytes.len() as u64);
    unpacking.take(more).read_to_end(&mut bytes).map_err(broken)?;
    if bytes.len() as u64 > limit {
        return Err(Error::TooLarge { path: path.into(), limit });
    }
    Ok(Loaded { format, bytes, limit })
}

/// Refuses a device, which may have no end; a pipe is read to its end.
fn refuse_device(path: &Path) -> Result<()> {
    #[cfg(unix)]
    {
        use std::os::unix::fs::FileTypeExt;
        let kind = std::fs::metadata(path).map(|found| found.file_type());
        if kind.is_ok_and(|kind| kind.is_char_device() || kind.is_block_device()) {
            return Err(Error::unsupported(path, "a device, not a file; give a file"));
        }
    }
    #[cfg(not(unix))]
    let _ = path;
    Ok(())
}

fn format_of(path: &Path, named: Option<Format>, bytes: &[u8]) -> Result<Format> {
    named.or_else(|| Format::from_magic(bytes)).ok_or_else(|| Error::UnknownFormat {
        path: path.into(),
        known: Format::ALL.map(Format::name).join(", "),
    })
}

/// `N` bytes of `bytes` from index `at`; `None` if there are fewer.
pub(crate) fn fixed<const N: usize>(bytes: &[u8], at: usize) -> Option<[u8; N]> {
    bytes.get(at..)?.first_chunk().copied()
}
