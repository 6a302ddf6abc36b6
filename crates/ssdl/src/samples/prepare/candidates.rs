//! `auto`: preparations that may suit the samples, the likeliest first.
//!
//! What the samples alone say decides the order; labels may then prefer another one
//! (`fit/preparation.rs`).

use super::StepChoice;
use super::unskew::long_tail;
use crate::{Matrix, Real, order};

/// Features whose ranges differ by more than this are not of one kind.
const MAX_RATIO: f64 = 10.0;
/// With fewer features, the length of a sample is part of what it says, and a class may lie between
/// others: a constant beside the features keeps both.
const FEW: usize = 10;
/// With fewer features of different kinds the constant still helps, though not the length itself.
const SEVERAL: usize = 16;
/// Smallest side of an image with gradients worth looking at.
const MIN_SIDE: usize = 8;

/// Preparations for these samples (`n_features × n_samples`): each a list of steps.
#[must_use]
pub fn candidates<T: Real>(
    features: &Matrix<T>,
    image: Option<[usize; 2]>,
) -> Vec<Vec<StepChoice>> {
    let texts: Vec<&[&str]> = match image {
        Some([height, width]) if height.min(width) >= MIN_SIDE => vec![
            &["scale=5"],
            &["gradients=9/4/2", "scale=5"],
            &["deskew", "gradients=9/4/2", "scale=5"],
            &["logarithm", "scale=5"],
        ],
        Some(_) => vec![&["scale=5"]],
        None => of_table(features),
    };
    let read = |texts: &[&str]| texts.iter().filter_map(|text| text.parse().ok()).collect();
    texts.into_iter().map(read).collect()
}

fn of_table<T: Real>(features: &Matrix<T>) -> Vec<&'static [&'static str]> {
    // Of samples that are all alike, standardised features would leave nothing.
    if ranges(features).is_empty() {
        return vec![&["scale=5"]];
    }
    let tails = (0..features.rows()).any(|i| long_tail(features, i).is_some());
    let mut found: Vec<&[&str]> = match (are_alike(features), features.rows()) {
        (true, ..FEW) if have_a_zero(features) => {
            vec![&["standardise", "lift=5"], &["scale=5"]]
        }
        (_, ..FEW) => vec![&["standardise", "lift=5"]],
        (true, _) => vec![&["scale=5"], &["standardise", "scale=5"]],
        (false, ..SEVERAL) => {
            vec![&["standardise", "lift=5", "scale=5"], &["standardise", "scale=5"]]
        }
        (false, _) => vec![&["standardise", "scale=5"]],
    };
    if tails {
        found.push(if features.rows() < FEW {
            &["unskew", "standardise", "lift=5"]
        } else {
            &["unskew", "standardise", "scale=5"]
        });
    }
    found
}

/// Whether zero means the same for all, as for lengths and counts: then the direction of a raw sample says
/// something, though it has few features.
fn have_a_zero<T: Real>(features: &Matrix<T>) -> bool {
    features.as_slice().iter().all(|value| *value >= T::zero())
}

/// Whether the features are of one kind, such as pixels: their ranges are much the same.
#[must_use]
pub fn are_alike<T: Real>(features: &Matrix<T>) -> bool {
    let mut ranges = ranges(features);
    order::ascending(&mut ranges);
    let at = |share: f64| ranges.get(((ranges.len() as f64 - 1.0) * share).round() as usize);
    match (at(0.1), at(0.9)) {
        (Some(low), Some(high)) => *high <= MAX_RATIO * low,
        _ => true,
    }
}

/// The range of each feature that is not constant.
fn ranges<T: Real>(features: &Matrix<T>) -> Vec<f64> {
    (0..features.rows())
        .map(|i| {
            let values = features.iter_columns().map(|column| column[i].wide());
            let (low, high) =
                values.fold((f64::INFINITY, f64::NEG_INFINITY), |(l, h), v| (l.min(v), h.max(v)));
            high - low
        })
        .filter(|range| *range > 0.0)
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::samples::prepare::Kind;

    fn first(features: &Matrix<f64>, image: Option<[usize; 2]>) -> String {
        let found = candidates(features, image);
        let words: Vec<String> = found[0].iter().map(ToString::to_string).collect();
        words.join(",")
    }

    #[test]
    fn features_of_different_kinds_are_standardised_and_pixels_are_not() {
        let pixels = Matrix::from_fn(64, 50, |i, j| ((i * 31 + j * 17) % 16) as f64);
        assert_eq!(first(&pixels, None), "scale=5");
        assert_eq!(first(&pixels, Some([8, 8])), "scale=5");
        let table = Matrix::from_fn(20, 50, |i, j| {
            10f64.powi(i as i32 % 5) * ((i * 7 + j * 13) % 11) as f64
        });
        assert_eq!(first(&table, None), "standardise,scale=5");
        let few = Matrix::from_fn(2, 50, |i, j| ((i * 7 + j * 13) % 11) as f64);
        assert_eq!(first(&few, None), "standardise,lift=5");
        assert_eq!(candidates(&few, None).len(), 2, "lengths may be taken as they are");
        let around = Matrix::from_fn(2, 50, |i, j| ((i * 7 + j * 13) % 11) as f64 - 5.0);
        assert_eq!(candidates(&around, None).len(), 1, "the direction from nowhere says nothing");
        let unlike = Matrix::from_fn(12, 50, |i, j| {
            10f64.powi(i as i32 % 5) * ((i * 7 + j * 13) % 11) as f64
        });
        assert_eq!(first(&unlike, None), "standardise,lift=5,scale=5");
    }

    #[test]
    fn every_candidate_is_a_list_of_known_steps() {
        let long = Matrix::from_fn(12, 300, |i, j| ((j * (i + 3)) as f64 / 100.0).exp().min(1e9));
        for image in [None, Some([3, 4])] {
            for steps in candidates(&long, image) {
                assert!(!steps.is_empty());
                assert!(steps.iter().all(|step| Kind::<f64>::named(step.name()).is_ok()));
            }
        }
        assert_eq!(candidates(&long, None).len(), 3, "tails have a candidate of their own");
    }
}
