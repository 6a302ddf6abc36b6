//! Large arrays, read a block at a time and converted at once: neither the file nor its numbers in double
//! precision are ever in memory as a whole.

use std::fs::File;
use std::io::{Read, Seek};
use std::path::Path;

use flate2::read::MultiGzDecoder;
use ssdl::{Matrix, Real};

use crate::array::{Array, Kind, Order, byte_len, image};
use crate::{Format, ReadOptions, idx, npy, tensors};

/// Enough of a file to read its header.
const HEAD: usize = 4096;
/// Bytes that are converted at once.
const BLOCK: usize = 1 << 22;

/// Samples in the precision of a fit.
#[derive(Clone, Debug)]
pub struct Block<T> {
    /// The samples, one per column.
    pub features: Matrix<T>,
    /// Height and width of a sample, if the file tells.
    pub image: Option<[usize; 2]>,
}

/// What the header of a file says.
pub(crate) struct Head {
    pub kind: Kind,
    pub big_endian: bool,
    pub order: Order,
    pub shape: Vec<usize>,
    pub len: usize,
}

/// The samples of an NPY or IDX file, or of a safetensors file with one tensor, packed or not, in this
/// precision; the numbers are those of [`read`](crate::read), the memory that of the result.
///
/// `None` for every other file, and for one in which something is wrong or unusual: damaged, text,
/// not finite, the first axis fastest, a column of labels. [`read`](crate::read) reads those, or says
/// what is wrong.
#[must_use]
pub fn read_blocks<T: Real>(path: impl AsRef<Path>, options: &ReadOptions) -> Option<Block<T>> {
    let path = path.as_ref();
    if options.label_column.is_some() || options.features_array.is_some() {
        return None;
    }
    let mut file = File::open(path).ok()?;
    let found = file.metadata().ok().filter(|found| found.is_file())?;
    let mut magic = Vec::new();
    file.by_ref().take(2).read_to_end(&mut magic).ok()?;
    file.rewind().ok()?;
    let packed = magic == [0x1f, 0x8b];
    let mut bytes: Box<dyn Read> = if packed {
        Box::new(MultiGzDecoder::new(std::io::BufReader::new(file)))
    } else {
        Box::new(file)
    };
    let mut head = Vec::new();
    bytes.by_ref().take(HEAD as u64).read_to_end(&mut head).ok()?;
    let named = options.format.or_else(|| Format::from_path(path));
    let header = match named.or_else(|| Format::from_magic(&head))? {
        Format::Npy => npy::head(&head)?,
        Format::Idx => idx::head(&head)?,
        Format::Safetensors => tensors::head(&head)?,
        _ => return None,
    };
    let declared = byte_len(&header.shape, header.kind)?.checked_add(header.len)? as u64;
    let is_whole = match packed {
        true => declared <= options.unpacked_limit(usize::try_from(found.len()).ok()?),
        false => declared == found.len(),
    };
    if !is_whole || header.order != Order::LastFastest || header.shape.contains(&0) {
        return None;
    }
    let rest = head.get(header.len..)?.to_vec();
    samples(&header, &mut std::io::Cursor::new(rest).chain(bytes))
}

/// All samples; `None` if there are too few or too many bytes, or a number is not finite.
fn samples<T: Real>(header: &Head, bytes: &mut dyn Read) -> Option<Block<T>> {
    let (&n_samples, axes) = header.shape.split_first()?;
    let n: usize = axes.iter().product();
    let width = n.checked_mul(header.kind.width()?)?;
    let mut features = Matrix::zeros(n, n_samples);
    let at_once = (BLOCK / width).max(1);
    let mut buffer = vec![0; width * at_once];
    for out in features.as_mut_slice().chunks_mut(n * at_once) {
        let count = out.len() / n;
        let part = &mut buffer[..width * count];
        bytes.read_exact(part).ok()?;
        let shape = vec![count, n];
        let part = Array::new(shape, header.kind, header.order, header.big_endian, (&*part).into())
            .ok()?;
        for (out, value) in out.iter_mut().zip(part.by_sample(0)?) {
            if !value.is_finite() {
                return None;
            }
            *out = T::of(value);
        }
    }
    let ends = bytes.read(&mut [0]).ok()? == 0;
    // What double precision holds may be too large for single precision.
    let is_finite = features.as_slice().iter().all(|value| value.is_finite());
    (ends && is_finite).then(|| Block { features, image: image(&header.shape, 0) })
}
