//! What a model keeps of its training samples, and how it is written small: half precision, landmarks,
//! codes without their zeros.

use std::borrow::Cow;

use safetensors::Dtype;

use super::tensor::Tensor;
use crate::fit::KeptSamples;
use crate::graph::Rule;
use crate::matrix::Matrix;
use crate::samples::OnDisk;
use crate::sparse::Csr;
use crate::threads::Loops;
use crate::{Real, Result};

/// Values that half precision holds to three digits: none is larger, and the largest is no smaller.
const HALF_RANGE: std::ops::RangeInclusive<f64> = 0.01..=65_000.0;
/// A file may stand for this many times its codes' bytes, not for more.
const MOST_ZEROS: usize = 256;
/// Numbers that a thread looks at, at least.
const PART: usize = 1 << 14;

/// The training samples that new samples are tied to.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Kept<T> {
    pub samples: Matrix<T>,
    /// Which training samples they are; `None`: all.
    pub landmarks: Option<Vec<u32>>,
    /// Whether every value is one of half precision.
    pub is_half: bool,
}

impl<T: Real> Kept<T> {
    /// Keeps what is chosen. Only neighbours' mixtures can do with landmarks: what other graphs weigh
    /// depends on how densely the samples lie.
    pub fn new(samples: Matrix<T>, chosen: KeptSamples, rule: Option<Rule>) -> Self {
        let (landmarks, half) = Self::places(samples.columns(), chosen, rule);
        let samples = match &landmarks {
            Some(places) => {
                let places: Vec<usize> = places.iter().map(|&place| place as usize).collect();
                samples.select_columns(&places)
            }
            None => samples,
        };
        Self::rounded(samples, landmarks, half)
    }

    /// The same from samples in a file.
    pub fn of_disk(samples: &OnDisk<T>, chosen: KeptSamples, rule: Option<Rule>) -> Self {
        let (landmarks, half) = Self::places(samples.columns(), chosen, rule);
        let places: Vec<usize> = match &landmarks {
            Some(places) => places.iter().map(|&place| place as usize).collect(),
            None => (0..samples.columns()).collect(),
        };
        Self::rounded(samples.select(&places), landmarks, half)
    }

    fn places(n: usize, chosen: KeptSamples, rule: Option<Rule>) -> (Option<Vec<u32>>, bool) {
        let (landmarks, half) = chosen.of(n);
        (landmarks.filter(|_| matches!(rule, Some(Rule::Lle { .. }))), half)
    }

    fn rounded(mut samples: Matrix<T>, landmarks: Option<Vec<u32>>, half: bool) -> Self {
        let largest = || {
            let of_part = |part: &[T]| part.iter().fold(0.0, |top: f64, v| top.max(v.wide().abs()));
            let parts = samples.as_slice().chunks(PART).gather(of_part);
            parts.into_iter().fold(0.0, f64::max)
        };
        let is_half = half && HALF_RANGE.contains(&largest());
        if is_half {
            // In memory as in the file: a model predicts the same before and after it is saved.
            let round = |v: &mut T| *v = T::of(f64::from(from_half(to_half(v.wide() as f32))));
            let parts = samples.as_mut_slice().chunks_mut(PART);
            parts.each(|part| part.iter_mut().for_each(round));
        }
        Self { samples, landmarks, is_half }
    }

    /// The tensor of the samples in half precision.
    pub fn halves(&self) -> Tensor<'_> {
        let values = self.samples.as_slice();
        let mut bytes = vec![0; 2 * values.len()];
        bytes.chunks_mut(2 * PART).zip(values.chunks(PART)).each(|(bytes, values)| {
            let (places, _) = bytes.as_chunks_mut::<2>();
            let pairs = places.iter_mut().zip(values);
            pairs.for_each(|(place, v)| *place = to_half(v.wide() as f32).to_le_bytes());
        });
        let shape = vec![self.samples.columns(), self.samples.rows()];
        Tensor { dtype: Dtype::F16, shape, bytes: Cow::Owned(bytes) }
    }
}

/// The numbers of a tensor in half precision.
pub(super) fn from_halves<T: Real>(bytes: &[u8]) -> Vec<T> {
    let (pairs, _) = bytes.as_chunks::<2>();
    let mut values = vec![T::zero(); pairs.len()];
    values.chunks_mut(PART).zip(pairs.chunks(PART)).each(|(values, pairs)| {
        for (value, pair) in values.iter_mut().zip(pairs) {
            *value = T::of(f64::from(from_half(u16::from_le_bytes(*pair))));
        }
    });
    values
}

/// Whether all numbers of a tensor in half precision are finite.
pub(super) fn are_finite_halves(bytes: &[u8]) -> bool {
    let (pairs, _) = bytes.as_chunks::<2>();
    // Without an early end within a part these are a few vector instructions.
    let is_bad = |part: &[[u8; 2]]| part.iter().fold(false, |bad, p| bad | (p[1] & 0x7c == 0x7c));
    !pairs.chunks(PART).gather(is_bad).contains(&true)
}

/// A list of whole numbers as a tensor.
pub(super) fn whole(values: &[u32]) -> Tensor<'static> {
    let bytes = values.iter().flat_map(|v| v.to_le_bytes()).collect();
    Tensor { dtype: Dtype::U32, shape: vec![values.len()], bytes: Cow::Owned(bytes) }
}

/// The numbers of such a tensor.
pub(super) fn from_whole(bytes: &[u8]) -> Vec<u32> {
    let (fours, _) = bytes.as_chunks::<4>();
    fours.iter().map(|four| u32::from_le_bytes(*four)).collect()
}

/// The entries of the codes that are not zero: how many of each sample, their atoms, their values.
pub(super) fn sparse_codes<T: Real>(codes: &Matrix<T>) -> (Vec<u32>, Vec<u32>, Vec<T>) {
    let (starts, atoms, values) = Csr::of_columns(codes).into_parts();
    let counts = starts.windows(2).map(|pair| (pair[1] - pair[0]) as u32).collect();
    (counts, atoms, values)
}

/// Whether codes take less room without their zeros: not where hardly any is zero, or hardly any is not.
pub(super) fn has_many_zeros<T: Real>(codes: &Matrix<T>) -> bool {
    let all = codes.as_slice().len();
    let of_part = |part: &[T]| part.iter().filter(|code| **code != T::zero()).count();
    let entries: usize = codes.as_slice().chunks(PART).gather(of_part).into_iter().sum();
    entries * 2 <= all && (entries + codes.columns()) * MOST_ZEROS >= all
}

/// Codes of $p$ coefficients from what [`sparse_codes`] gave, or from a file that may hold anything.
///
/// # Errors
/// If the lists do not fit each other, or stand for far more numbers than they have.
pub(super) fn joined_codes<T: Real>(
    n_atoms: usize,
    counts: &[u32],
    atoms: Vec<u32>,
    values: Vec<T>,
) -> Result<Csr<T>, String> {
    let all = n_atoms.checked_mul(counts.len());
    if all.is_none_or(|all| all / MOST_ZEROS > atoms.len() + counts.len()) {
        return Err("its codes are larger than its entries can be".into());
    }
    let mut starts = Vec::with_capacity(counts.len() + 1);
    let mut sum = 0usize;
    starts.push(0);
    for &count in counts {
        sum = sum.saturating_add(count as usize);
        starts.push(sum);
    }
    Csr::new(n_atoms, starts, atoms, values).map_err(|e| format!("its codes: {e}"))
}

/// The nearest number of half precision, ties to even; the largest where it would be infinite.
fn to_half(value: f32) -> u16 {
    let bits = value.to_bits();
    let sign = ((bits >> 16) & 0x8000) as u16;
    let size = value.abs();
    if size.is_nan() {
        return sign | 0x7e00;
    }
    if size >= 65_504.0 {
        return sign | 0x7bff;
    }
    // Below the normal range numbers are multiples of 2⁻²⁴, which rounds by itself.
    if size < 6.103_515_6e-5 {
        return sign | (size * 16_777_216.0).round_ties_even() as u16;
    }
    let bits = size.to_bits();
    let odd = (bits >> 13) & 1;
    sign | (((bits + 0xfff + odd) >> 13) - (112 << 10)) as u16
}

#[inline(always)]
fn from_half(half: u16) -> f32 {
    /// $2^{112}$, between the exponents of the two formats.
    const SHIFT: f32 = f32::from_bits((127 + 112) << 23);
    let bits = u32::from(half);
    // Below the normal range, too, the product is exact.
    let size = f32::from_bits((bits & 0x7fff) << 13) * SHIFT;
    let size = if bits & 0x7c00 == 0x7c00 {
        f32::from_bits(0x7f80_0000 | (bits & 0x3ff) << 13)
    } else {
        size
    };
    f32::from_bits(size.to_bits() | (bits & 0x8000) << 16)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn halves_come_back_and_the_nearest_is_taken() {
        for half in 0..=u16::MAX {
            let value = from_half(half);
            if value.is_finite() {
                assert_eq!(from_half(to_half(value)).to_bits(), value.to_bits(), "{half:04x}");
            }
        }
        assert_eq!(from_half(to_half(1.0 + 1.0 / 2048.0)), 1.0);
        assert_eq!(from_half(to_half(1.0 + 3.0 / 2048.0)), 1.0 + 2.0 / 1024.0);
        assert_eq!(from_half(to_half(0.1)), 0.099_975_586);
        assert_eq!(from_half(to_half(-7e4)), -65_504.0);
        assert_eq!(from_half(to_half(3e-8)), 1.0 / 16_777_216.0);
        assert!(from_half(to_half(f32::NAN)).is_nan());
        assert_eq!(from_half(0xfc00), f32::NEG_INFINITY);
        let bytes = |half: u16| [0x3c00u16, half].map(u16::to_le_bytes).concat();
        for half in 0..=u16::MAX {
            assert_eq!(are_finite_halves(&bytes(half)), from_half(half).is_finite(), "{half:04x}");
        }
    }

    #[test]
    fn codes_come_back_without_their_zeros_and_lists_that_do_not_fit_are_refused() {
        let codes =
            Matrix::from_fn(9, 40, |k, j| if (k + j) % 4 == 0 { (k + j) as f32 } else { 0.0 });
        assert!(has_many_zeros(&codes));
        let (counts, atoms, values) = sparse_codes(&codes);
        let back = joined_codes(9, &counts, atoms.clone(), values.clone());
        assert_eq!(back.map(|back| back.to_columns()).as_ref(), Ok(&codes));
        assert!(joined_codes(8, &counts, atoms.clone(), values.clone()).is_err());
        assert!(joined_codes(9, &counts[1..], atoms.clone(), values.clone()).is_err());
        assert!(joined_codes(1_000_000_000, &counts, atoms, values).is_err());
        assert!(!has_many_zeros(&Matrix::from_fn(3, 3, |_, _| 1.0f64)));
    }
}
