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
/// Pixels whose directions are looked for, at most.
const MAX_PIXELS: usize = 3000;

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
    let mut found = vec![
        pixels,
        gradients([height, width], false),
        gradients([height, width], true),
        owned(&["logarithm", "scale=5"]),
    ];
    let count = (n_samples / SAMPLES_PER_DIRECTION).min(height * width / 2).min(MAX_DIRECTIONS);
    if count >= MIN_DIRECTIONS {
        let directions = format!("pca={count}");
        let steps = owned(&["logarithm", &directions, "standardise", "scale=5"]);
        found.push(smaller([height, width]).into_iter().chain(steps).collect());
    }
    found
}

/// Large images shrunk: the cost of directions grows with the cube of the pixels, and few of them need all.
fn smaller([height, width]: [usize; 2]) -> Option<String> {
    let share = MAX_PIXELS as f64 / (height * width) as f64;
    let shrunk = |side: usize| ((side as f64 * share.sqrt()) as usize).max(1);
    (share < 1.0).then(|| format!("resize={}x{}", shrunk(height), shrunk(width)))
}

/// Histograms of gradients in about eight cells to a side, of at least four pixels: small images are enlarged.
fn gradients([height, width]: [usize; 2], upright: bool) -> Vec<String> {
    let factor = if height.min(width) < 2 * MIN_SIDE { 2 } else { 1 };
    let [height, width] = [height * factor, width * factor];
    let cell = (height.min(width) / CELLS).max(MIN_CELL);
    let larger = (factor > 1).then(|| format!("resize={height}x{width}"));
    let deskew = upright.then(|| "deskew".to_owned());
    let histograms = format!("gradients=12/{cell}/3/signed");
    let steps = larger.into_iter().chain(deskew).chain([histograms]);
    steps.chain(owned(&["power=0.5", "scale=5"])).collect()
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
    use crate::samples::prepare::Pipeline;

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
    fn amounts_are_seen_by_their_order_of_magnitude_first_and_pixels_are_not() {
        let tail = |i: usize, j: usize| (3.0 * ((j * (2 * i + 3)) % 200) as f64 / 200.0).exp2();
        let amounts = Matrix::from_fn(20, 200, |i, j| (i + 1) as f64 * tail(i, j).powi(3));
        assert_eq!(first(&amounts, None), "unskew,standardise,scale=5");
        let few = Matrix::from_fn(6, 200, |i, j| amounts.column(j)[i]);
        assert_eq!(first(&few, None), "unskew,standardise,lift=5");
        let to_both_sides = Matrix::from_fn(20, 200, |i, j| {
            amounts.column(j)[i] * if (i + j) % 2 == 0 { 1.0 } else { -1.0 }
        });
        assert!(!first(&to_both_sides, None).starts_with("unskew"));
        // The same with an end that most features reach.
        let marks = Matrix::from_fn(20, 200, |i, j| tail(i, j).powi(3).min(100.0));
        assert!(!first(&marks, None).starts_with("unskew"));
    }

    #[test]
    fn directions_are_as_many_as_the_samples_tell() {
        let last = |image: [usize; 2], n: usize| {
            let found = candidates(&Matrix::<f64>::zeros(image[0] * image[1], n), Some(image));
            let words: Vec<String> =
                found.last().expect("some").iter().map(ToString::to_string).collect();
            words.join(",")
        };
        assert_eq!(last([32, 32], 760), "logarithm,pca=150,standardise,scale=5");
        assert_eq!(last([32, 32], 200), "logarithm,pca=40,standardise,scale=5");
        assert_eq!(last([32, 32], 90), "logarithm,scale=5");
        assert_eq!(last([8, 8], 760), "logarithm,pca=32,standardise,scale=5");
        let large = "resize=38x77,logarithm,pca=150,standardise,scale=5";
        assert_eq!(last([60, 120], 5000), large, "not more than 3,000 pixels");
    }

    #[test]
    fn every_candidate_can_be_fitted() {
        let long = Matrix::from_fn(12, 300, |i, j| ((j * (i + 3)) as f64 / 100.0).exp().min(1e9));
        assert_eq!(candidates(&long, None).len(), 3, "tails have a candidate of their own");
        let sizes = [[3, 4], [8, 8], [9, 40], [16, 16], [23, 17], [28, 28], [90, 70]];
        for image in std::iter::once(None).chain(sizes.map(Some)) {
            let pixel = |i: usize, j: usize| ((i * 7 + j * j * 3 + i * j) % 17) as f64;
            let some = match image {
                Some([height, width]) => Matrix::from_fn(height * width, 120, pixel),
                None => long.clone(),
            };
            for steps in candidates(&some, image) {
                assert!(!steps.is_empty());
                let found = Pipeline::fit(&steps, some.clone(), image, 0);
                let (_, prepared) = found.unwrap_or_else(|error| panic!("{image:?}: {error}"));
                assert!(prepared.as_slice().iter().all(|value| value.is_finite()));
            }
        }
    }
}
