//! `auto`: preparations that may suit the samples, the likeliest first.
//!
//! What the samples alone say decides the order; labels may then prefer another one
//! (`fit/preparation.rs`).

use super::StepChoice;
use super::unskew::{is_skewed, long_tail};
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
/// Cells of gradients to a side, about.
const CELLS: usize = 8;
/// Pixels of a cell, at least.
const MIN_CELL: usize = 4;
/// Samples for each direction whose length is to be known: with fewer, noise is stretched as much as what tells
/// classes apart.
const SAMPLES_PER_DIRECTION: usize = 5;
/// Directions, at most; and fewer than these leave too little of an image.
const MAX_DIRECTIONS: usize = 150;
const MIN_DIRECTIONS: usize = 20;

/// Preparations for these samples (`n_features × n_samples`): each a list of steps.
#[must_use]
pub fn candidates<T: Real>(
    features: &Matrix<T>,
    image: Option<[usize; 2]>,
) -> Vec<Vec<StepChoice>> {
    let texts = match image {
        Some(image) => of_image(image, features.columns()),
        None => of_table(features).into_iter().map(owned).collect(),
    };
    let read = |texts: Vec<String>| texts.iter().filter_map(|text| text.parse().ok()).collect();
    texts.into_iter().map(read).collect()
}

fn owned(steps: &[&str]) -> Vec<String> {
    steps.iter().map(|&step| step.to_owned()).collect()
}

/// Pixels; strokes and edges, upright or as they are; light that varies, taken out of each pixel, and out of
/// the directions that the light makes the longest.
fn of_image([height, width]: [usize; 2], n_samples: usize) -> Vec<Vec<String>> {
    let side = height.min(width);
    let pixels = owned(&["scale=5"]);
    if side < MIN_SIDE {
        return vec![pixels];
    }
    let gradients = gradients([height, width]);
    let upright = [owned(&["deskew"]), gradients.clone()].concat();
    let mut found = vec![pixels, gradients, upright, owned(&["logarithm", "scale=5"])];
    let count = (n_samples / SAMPLES_PER_DIRECTION).min(height * width / 2).min(MAX_DIRECTIONS);
    if count >= MIN_DIRECTIONS {
        let directions = format!("pca={count}");
        found.push(owned(&["logarithm", &directions, "standardise", "scale=5"]));
    }
    found
}

/// Histograms of gradients in about eight cells to a side, of at least four pixels: small images are enlarged.
fn gradients([height, width]: [usize; 2]) -> Vec<String> {
    let side = height.min(width);
    let (larger, side) = match side < 2 * MIN_SIDE {
        true => (Some(format!("resize={}x{}", 2 * height, 2 * width)), 2 * side),
        false => (None, side),
    };
    let cell = (side / CELLS).max(MIN_CELL);
    let histograms = format!("gradients=12/{cell}/3/signed");
    larger.into_iter().chain([histograms]).chain(owned(&["power=0.5", "scale=5"])).collect()
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
        let first = most_are_skewed(features);
        let unskewed: &[&str] = match (features.rows(), first) {
            (..FEW, _) => &["unskew", "standardise", "lift=5"],
            (..SEVERAL, true) => &["unskew", "standardise", "lift=5", "scale=5"],
            _ => &["unskew", "standardise", "scale=5"],
        };
        // A few labels hardly show what it is worth to see amounts and counts by their order of magnitude.
        found.insert(if first { 0 } else { found.len() }, unskewed);
    }
    found
}

/// Whether more than half of the features have a tail on one side. Where as many end at the same value, that
/// is the end of a scale, as for pixels and marks: what is rare there is no order of magnitude away.
fn most_are_skewed<T: Real>(features: &Matrix<T>) -> bool {
    let ends: Vec<(f64, f64)> = ends(features).collect();
    let varying = || (0..ends.len()).filter(|&i| ends[i].1 > ends[i].0);
    let n_varying = varying().count();
    let n_skewed = varying().filter(|&i| is_skewed(features, i)).count();
    let mut tops: Vec<f64> = varying().map(|i| ends[i].1).collect();
    order::ascending(&mut tops);
    let most = n_varying / 2;
    let have_one_end = tops.windows(most + 1).any(|some| some[0] == some[most]);
    n_skewed > most && !have_one_end
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
    ends(features).map(|(low, high)| high - low).filter(|range| *range > 0.0).collect()
}

/// The smallest and the largest value of each feature.
fn ends<T: Real>(features: &Matrix<T>) -> impl Iterator<Item = (f64, f64)> {
    (0..features.rows()).map(|i| {
        let values = features.iter_columns().map(|column| column[i].wide());
        values.fold((f64::INFINITY, f64::NEG_INFINITY), |(l, h), v| (l.min(v), h.max(v)))
    })
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
