//! What a model keeps of its training samples, and how it is written small: half precision, landmarks,
//! codes without their zeros.

use std::borrow::Cow;
use std::sync::Arc;

use super::tensor::{Numbers, Tensor};
use crate::fit::KeptSamples;
use crate::graph::Rule;
use crate::matrix::Matrix;
use crate::packed::Packed;
use crate::samples::OnDisk;
use crate::sparse::Csr;
use crate::threads::Loops;
use crate::{Real, Result, half};

/// Values that half precision holds to three digits: none is larger, and the largest is no smaller.
const HALF_RANGE: std::ops::RangeInclusive<f64> = 0.01..=65_000.0;
/// A file may stand for this many times its codes' bytes, not for more.
const MOST_ZEROS: usize = 256;
/// Numbers that a thread looks at, at least.
const PART: usize = 1 << 14;

/// The training samples that new samples are tied to.
#[derive(Clone, Debug)]
pub(super) struct Kept<T> {
    pub samples: Packed<T>,
    /// Which training samples they are; `None`: all.
    pub landmarks: Option<Vec<u32>>,
    /// Whether every value is one of half precision.
    pub is_half: bool,
}

impl<T: Real> Kept<T> {
    /// Keeps what is chosen. Only neighbours' mixtures can do with landmarks: what other graphs weigh
    /// depends on how densely the samples lie.
    pub fn new(samples: Arc<Matrix<T>>, chosen: KeptSamples, rule: Option<Rule>) -> Self {
        let (landmarks, half) = Self::places(samples.columns(), chosen, rule);
        let samples = match &landmarks {
            Some(places) => {
                let places: Vec<usize> = places.iter().map(|&place| place as usize).collect();
                samples.select_columns(&places)
            }
            None => Arc::unwrap_or_clone(samples),
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
            half::round(samples.as_mut_slice());
        }
        Self { samples: samples.into(), landmarks, is_half }
    }

    /// The tensor of the samples in half precision.
    pub fn halves(&self) -> Tensor<'_> {
        let halves = match self.samples.halves() {
            Some(halves) => Cow::Borrowed(halves),
            None => Cow::Owned(half::to_halves(self.samples.whole().as_slice())),
        };
        let shape = vec![self.samples.columns(), self.samples.rows()];
        Tensor { shape, numbers: Numbers::Half(halves) }
    }
}

/// Codes as tensors: how many entries of each sample are not zero, their atoms, their values.
pub(super) fn sparse_codes<T: Real>(codes: &Packed<T>) -> [(String, Tensor<'_>); 3] {
    let (starts, atoms, values) = match codes.entries() {
        Some(entries) => {
            let (starts, atoms, values) = entries.parts();
            (Cow::Borrowed(starts), Cow::Borrowed(atoms), Cow::Borrowed(values))
        }
        None => {
            let (starts, atoms, values) = Csr::of_columns(codes.whole()).into_parts();
            (Cow::Owned(starts), Cow::Owned(atoms), Cow::Owned(values))
        }
    };
    let counts = starts.windows(2).map(|pair| (pair[1] - pair[0]) as u32).collect();
    let values = Tensor { shape: vec![values.len(), 1], numbers: Numbers::real(values) };
    [
        ("codes_counts".to_owned(), Tensor::list(Numbers::Whole(Cow::Owned(counts)))),
        ("codes_atoms".to_owned(), Tensor::list(Numbers::Whole(atoms))),
        ("codes_values".to_owned(), values),
    ]
}

/// Whether codes take less room without their zeros: not where hardly any is zero, or hardly any is not.
pub(super) fn has_many_zeros<T: Real>(codes: &Matrix<T>) -> bool {
    let all = codes.as_slice().len();
    let of_part = |part: &[T]| part.iter().filter(|code| **code != T::zero()).count();
    let entries: usize = codes.as_slice().chunks(PART).gather(of_part).into_iter().sum();
    entries * 2 <= all && (entries + codes.columns()) * MOST_ZEROS >= all
}

/// Whether lists from a file, which may hold anything, are codes of $p$ coefficients.
///
/// # Errors
/// If they do not fit each other, or stand for far more numbers than they have.
pub(super) fn check_codes<T: Real>(
    n_atoms: usize,
    counts: &[u32],
    atoms: &[u32],
    values: &[T],
) -> Result<(), String> {
    let all = n_atoms.checked_mul(counts.len());
    if all.is_none_or(|all| all / MOST_ZEROS > atoms.len() + counts.len()) {
        return Err("its codes are larger than its entries can be".into());
    }
    Csr::check(n_atoms, &starts(counts), atoms, values).map_err(|e| format!("its codes: {e}"))
}

/// Codes from lists that have been checked.
pub(super) fn joined_codes<T: Real>(
    n_atoms: usize,
    counts: &[u32],
    atoms: Vec<u32>,
    values: Vec<T>,
) -> Csr<T> {
    Csr::trusted(n_atoms, starts(counts), atoms, values)
}

/// Where the entries of each sample begin, and the last end.
fn starts(counts: &[u32]) -> Vec<usize> {
    let sums = counts.iter().scan(0usize, |sum, &count| {
        *sum = sum.saturating_add(count as usize);
        Some(*sum)
    });
    std::iter::once(0).chain(sums).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_come_back_without_their_zeros_and_lists_that_do_not_fit_are_refused() {
        let codes =
            Matrix::from_fn(9, 40, |k, j| if (k + j) % 4 == 0 { (k + j) as f32 } else { 0.0 });
        assert!(has_many_zeros(&codes));
        let (starts, atoms, values) = Csr::of_columns(&codes).into_parts();
        let counts: Vec<u32> = starts.windows(2).map(|pair| (pair[1] - pair[0]) as u32).collect();
        let check = |p, counts: &[u32]| check_codes(p, counts, &atoms, &values);
        assert_eq!(check(9, &counts), Ok(()));
        assert!(check(8, &counts).is_err());
        assert!(check(9, &counts[1..]).is_err());
        assert!(check(1_000_000_000, &counts).is_err());
        assert_eq!(joined_codes(9, &counts, atoms, values).to_columns(), codes);
        assert!(!has_many_zeros(&Matrix::from_fn(3, 3, |_, _| 1.0f64)));
    }
}
