//! Arrays as binary files store them, and how they become samples and labels.
//!
//! Every binary format ends here, with a shape, an element type and the bytes.

use std::borrow::Cow;
use std::num::NonZeroUsize;

/// The type of an array's elements.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Bool,
    I8,
    I16,
    I32,
    I64,
    U8,
    U16,
    U32,
    U64,
    F16,
    /// The upper half of an `f32`.
    Bf16,
    F32,
    F64,
    /// Strings of this many bytes, padded with zeros.
    Bytes(NonZeroUsize),
    /// Strings of this many four-byte characters, padded with zeros.
    Unicode(NonZeroUsize),
}

impl Kind {
    /// Bytes of one element; `None` if that overflows.
    pub(crate) fn width(self) -> Option<usize> {
        match self {
            Self::Bool | Self::I8 | Self::U8 => Some(1),
            Self::I16 | Self::U16 | Self::F16 | Self::Bf16 => Some(2),
            Self::I32 | Self::U32 | Self::F32 => Some(4),
            Self::I64 | Self::U64 | Self::F64 => Some(8),
            Self::Bytes(length) => Some(length.get()),
            Self::Unicode(length) => length.get().checked_mul(4),
        }
    }
}

/// Which axis runs fastest in the bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Order {
    LastFastest,
    FirstFastest,
}

/// An array of any number of axes; the number of bytes is known to fit the shape.
#[derive(Clone, Debug)]
pub(crate) struct Array<'a> {
    shape: Vec<usize>,
    kind: Kind,
    order: Order,
    big_endian: bool,
    bytes: Cow<'a, [u8]>,
}

/// Bytes of an array of `shape` with elements of `kind`; `None` if that overflows.
pub(crate) fn byte_len(shape: &[usize], kind: Kind) -> Option<usize> {
    // An axis of length zero must not hide an overflow of the others.
    let product = shape.iter().try_fold(1usize, |product, &n| product.checked_mul(n.max(1)))?;
    let bytes = product.checked_mul(kind.width()?)?;
    Some(if shape.contains(&0) { 0 } else { bytes })
}

impl<'a> Array<'a> {
    /// Puts the parts together.
    ///
    /// # Errors
    /// A reason, if the number of bytes does not fit the shape.
    pub(crate) fn new(
        shape: Vec<usize>,
        kind: Kind,
        order: Order,
        big_endian: bool,
        bytes: Cow<'a, [u8]>,
    ) -> Result<Self, String> {
        let found = bytes.len();
        match byte_len(&shape, kind) {
            Some(expected) if expected == found => {
                Ok(Self { shape, kind, order, big_endian, bytes })
            }
            Some(expected) => Err(format!(
                "shape {} needs {expected} bytes, but there are {found}",
                shape_text(&shape)
            )),
            None => Err(format!("shape {} is impossibly large", shape_text(&shape))),
        }
    }

    pub(crate) fn shape(&self) -> &[usize] {
        &self.shape
    }

    /// The elements in the order they are stored; `None` if they are strings.
    fn numbers(&self) -> Option<Vec<f64>> {
        let all = match self.kind {
            Kind::Bool => self.each(|[b]| f64::from(b != 0)),
            Kind::I8 => self.each(|b| f64::from(i8::from_le_bytes(b))),
            Kind::I16 => self.each(|b| f64::from(i16::from_le_bytes(b))),
            Kind::I32 => self.each(|b| f64::from(i32::from_le_bytes(b))),
            Kind::I64 => self.each(|b| i64::from_le_bytes(b) as f64),
            Kind::U8 => self.each(|[b]| f64::from(b)),
            Kind::U16 => self.each(|b| f64::from(u16::from_le_bytes(b))),
            Kind::U32 => self.each(|b| f64::from(u32::from_le_bytes(b))),
            Kind::U64 => self.each(|b| u64::from_le_bytes(b) as f64),
            Kind::F16 => self.each(|b| half(u16::from_le_bytes(b))),
            Kind::Bf16 => self.each(|b| f64::from(bfloat16(u16::from_le_bytes(b)))),
            Kind::F32 => self.each(|b| f64::from(f32::from_le_bytes(b))),
            Kind::F64 => self.each(f64::from_le_bytes),
            Kind::Bytes(_) | Kind::Unicode(_) => return None,
        };
        Some(all)
    }

    /// `convert` sees the bytes of each element in little-endian order.
    fn each<const W: usize, R>(&self, convert: impl Fn([u8; W]) -> R) -> Vec<R> {
        let (elements, _) = self.bytes.as_chunks::<W>();
        if self.big_endian {
            let swapped = |element: &[u8; W]| {
                let mut element = *element;
                element.reverse();
                convert(element)
            };
            elements.iter().map(swapped).collect()
        } else {
            elements.iter().map(|element| convert(*element)).collect()
        }
    }

    /// The samples one after another, where `axis` counts the samples; inside a sample the other
    /// axes keep their order, the last fastest. `None` if the elements are strings.
    pub(crate) fn by_sample(&self, axis: usize) -> Option<Vec<f64>> {
        let stored = self.numbers()?;
        if self.order == Order::LastFastest && axis == 0 || stored.is_empty() {
            return Some(stored);
        }
        let strides = strides(&self.shape, self.order);
        let mut offsets = vec![0];
        for (other, (&n, &stride)) in self.shape.iter().zip(&strides).enumerate() {
            if other != axis {
                offsets = offsets
                    .iter()
                    .flat_map(|&start| (0..n).map(move |i| start + i * stride))
                    .collect();
            }
        }
        let (n_samples, step) = (self.shape[axis], strides[axis]);
        let n_features = offsets.len();
        let mut samples = vec![0.0; stored.len()];
        // Sixteen samples at a time, so that each cache line that is read serves them all when
        // the samples' axis runs fastest.
        for (block, out) in samples.chunks_mut(16 * n_features).enumerate() {
            let first = block * 16;
            let last = n_samples.min(first + 16);
            for (feature, &offset) in offsets.iter().enumerate() {
                for sample in first..last {
                    out[(sample - first) * n_features + feature] = stored[offset + sample * step];
                }
            }
        }
        Some(samples)
    }

    /// The elements as strings: whole numbers without a decimal point, `None` for NaN.
    pub(crate) fn strings(&self) -> Vec<Option<String>> {
        match self.kind {
            Kind::I64 => self.each(|b| Some(i64::from_le_bytes(b).to_string())),
            Kind::U64 => self.each(|b| Some(u64::from_le_bytes(b).to_string())),
            // By way of `f64`, 0.1 as `f32` would show seventeen digits.
            Kind::F32 => self.each(|b| {
                let value = f32::from_le_bytes(b);
                (!value.is_nan()).then(|| (value + 0.0).to_string())
            }),
            Kind::Bytes(length) => {
                let text = |bytes: &[u8]| String::from_utf8_lossy(unpadded(bytes)).into_owned();
                self.bytes.chunks_exact(length.get()).map(|bytes| Some(text(bytes))).collect()
            }
            Kind::Unicode(length) => {
                let letters: Vec<u32> = self.each(u32::from_le_bytes);
                letters.chunks_exact(length.get()).map(|letters| Some(string(letters))).collect()
            }
            _ => {
                let plain = |value: f64| (!value.is_nan()).then(|| (value + 0.0).to_string());
                self.numbers().unwrap_or_default().into_iter().map(plain).collect()
            }
        }
    }
}

/// A shape for messages, such as `60×43`.
pub(crate) fn shape_text(shape: &[usize]) -> String {
    let axes: Vec<String> = shape.iter().take(8).map(ToString::to_string).collect();
    if axes.is_empty() { "()".into() } else { axes.join("×") }
}

/// Height and width of the samples, if all axes but `axis` are those of an image. Axes of length 1
/// (the single channel of a grey image) do not count, unless there would be fewer than two axes.
pub(crate) fn image(shape: &[usize], axis: usize) -> Option<[usize; 2]> {
    let mut others: Vec<usize> = shape.to_vec();
    others.remove(axis);
    if others.len() > 2 {
        others.retain(|&n| n != 1);
    }
    others.try_into().ok()
}

fn strides(shape: &[usize], order: Order) -> Vec<usize> {
    let mut strides = vec![1; shape.len()];
    let mut step = 1;
    let mut set = |axis: usize| {
        strides[axis] = step;
        step *= shape[axis];
    };
    match order {
        Order::FirstFastest => (0..shape.len()).for_each(&mut set),
        Order::LastFastest => (0..shape.len()).rev().for_each(&mut set),
    }
    strides
}

fn unpadded(bytes: &[u8]) -> &[u8] {
    let end = bytes.iter().rposition(|&b| b != 0).map_or(0, |last| last + 1);
    &bytes[..end]
}

fn string(letters: &[u32]) -> String {
    let end = letters.iter().rposition(|&c| c != 0).map_or(0, |last| last + 1);
    letters[..end].iter().map(|&c| char::from_u32(c).unwrap_or('\u{fffd}')).collect()
}

fn bfloat16(bits: u16) -> f32 {
    f32::from_bits(u32::from(bits) << 16)
}

/// IEEE half precision: 1 sign, 5 exponent and 10 fraction bits.
fn half(bits: u16) -> f64 {
    let sign = if bits >> 15 == 1 { -1.0 } else { 1.0 };
    let fraction = f64::from(bits & 0x3ff);
    let exponent = i32::from(bits >> 10 & 0x1f);
    let size = match exponent {
        0 => fraction * 2f64.powi(-24),
        31 if fraction == 0.0 => f64::INFINITY,
        31 => f64::NAN,
        _ => (1024.0 + fraction) * 2f64.powi(exponent - 25),
    };
    sign * size
}

#[cfg(test)]
mod tests {
    use super::*;

    fn counted(shape: &[usize], order: Order) -> Array<'static> {
        let n: usize = shape.iter().product();
        let bytes: Vec<u8> = (0..n as u8).collect();
        Array::new(shape.to_vec(), Kind::U8, order, false, bytes.into()).expect("fits")
    }

    #[test]
    fn samples_are_read_along_any_axis_and_in_any_order() {
        let array = counted(&[2, 3], Order::FirstFastest);
        assert_eq!(array.by_sample(0), Some(vec![0.0, 2.0, 4.0, 1.0, 3.0, 5.0]));
        assert_eq!(array.by_sample(1), Some(vec![0.0, 1.0, 2.0, 3.0, 4.0, 5.0]));
        let array = counted(&[2, 3], Order::LastFastest);
        assert_eq!(array.by_sample(0), Some(vec![0.0, 1.0, 2.0, 3.0, 4.0, 5.0]));
        assert_eq!(array.by_sample(1), Some(vec![0.0, 3.0, 1.0, 4.0, 2.0, 5.0]));
    }

    #[test]
    fn images_run_row_by_row() {
        // Height 2, width 3, two samples; element (r, c, s) is r + 2c + 6s.
        let array = counted(&[2, 3, 2], Order::FirstFastest);
        let first = [0.0, 2.0, 4.0, 1.0, 3.0, 5.0];
        let both: Vec<f64> = first.iter().chain(&first.map(|v| v + 6.0)).copied().collect();
        assert_eq!(array.by_sample(2), Some(both));
        assert_eq!(image(&[2, 3, 2], 2), Some([2, 3]));
        assert_eq!(image(&[5, 1, 28, 28], 0), Some([28, 28]));
        assert_eq!(image(&[5, 7], 0), None);
    }

    #[test]
    fn absurd_shapes_are_refused_without_allocating() {
        for shape in [vec![usize::MAX, 2], vec![0, usize::MAX, 3], vec![1 << 40]] {
            let made =
                Array::new(shape, Kind::F64, Order::LastFastest, false, Cow::Borrowed(&[][..]));
            assert!(made.is_err());
        }
    }

    #[test]
    fn halves_match_known_values() {
        assert_eq!(half(0x3c00), 1.0);
        assert_eq!(half(0xc000), -2.0);
        assert_eq!(half(0x3555), 0.333_251_953_125);
        assert_eq!(half(0x0001), 2f64.powi(-24));
        assert!(half(0x7e00).is_nan() && half(0xfc00) == f64::NEG_INFINITY);
    }

    #[test]
    fn numbers_become_short_strings() {
        let bytes: Vec<u8> =
            [3.0f32, 0.1, f32::NAN, -0.0].iter().flat_map(|v| v.to_be_bytes()).collect();
        let array = Array::new(vec![4], Kind::F32, Order::LastFastest, true, bytes.into());
        let strings = array.expect("fits").strings();
        assert_eq!(strings, [Some("3".into()), Some("0.1".into()), None, Some("0".into())]);
    }
}
