//! Which preparation: the one with which labels predict each other best.
//!
//! Each candidate is fitted to some of the samples; then every label is predicted from the other
//! labels, by a ridge classifier and by the nearest sample, whichever does better. The first candidate
//! stays unless another gains more labels than chance would give it.

use crate::classifier::{LeftOut, left_out, nearest_left_out};
use crate::samples::prepare::{Pipeline, StepChoice, candidates};
use crate::samples::split::excerpt;
use crate::{Labels, Matrix, Real};

/// Samples that a candidate is fitted to.
const MAX_SAMPLES: usize = 1000;
/// Strengths of the ridge that are tried, for samples of length 5.
const STRENGTHS: [f64; 4] = [2.0, 10.0, 50.0, 250.0];

/// Whether the preparation is left to the samples.
#[must_use]
pub fn is_auto(steps: &[StepChoice]) -> bool {
    matches!(steps, [only] if only.name() == "auto")
}

/// The preparation for these samples (`n_features × n_samples`).
#[must_use]
#[inline(never)]
pub fn choose<T: Real>(
    features: &Matrix<T>,
    labels: &Labels,
    image: Option<[usize; 2]>,
    seed: u64,
) -> Vec<StepChoice> {
    let (some, labels) = some_samples(features, labels, seed);
    let candidates = candidates(&some, image);
    let predicted = |steps: &Vec<StepChoice>| {
        let (_, prepared) = Pipeline::fit(steps, some.clone(), image, seed).ok()?;
        rightly_predicted(&prepared, &labels)
    };
    let mut all = candidates.iter().map(|steps| (steps, predicted(steps)));
    let Some((mut best, mut right)) = all.next() else { return Vec::new() };
    for (steps, found) in all {
        let Some(found) = found else { continue };
        let is_better = match &right {
            Some(right) => gains(right, &found),
            // The first could not be fitted at all.
            None => true,
        };
        if is_better {
            (best, right) = (steps, Some(found));
        }
    }
    best.clone()
}

/// Whether the second predicts more labels than the first beyond chance: labels gained and lost are
/// like throws of a coin.
fn gains(first: &[bool], second: &[bool]) -> bool {
    let pairs = || first.iter().zip(second);
    let gained = pairs().filter(|(a, b)| !**a && **b).count() as f64;
    let lost = pairs().filter(|(a, b)| **a && !**b).count() as f64;
    gained - lost > (gained + lost).sqrt()
}

/// Whether each label is predicted by the others, by whichever of two simple rules does better.
fn rightly_predicted<T: Real>(samples: &Matrix<T>, labels: &Labels) -> Option<Vec<bool>> {
    let known = samples.select_columns(&labels.labelled());
    let (classes, n_classes) = (labels.known_classes(), labels.classes().len());
    let seen = left_out(&known, &classes, n_classes, &STRENGTHS);
    let ridge = LeftOut::least(seen)?;
    let near = nearest_left_out(&known, &classes, n_classes)?;
    Some(if near.skill > ridge.skill { near.right } else { ridge.right })
}

/// The labelled samples, up to a limit, and others by lot.
fn some_samples<T: Real>(features: &Matrix<T>, labels: &Labels, seed: u64) -> (Matrix<T>, Labels) {
    let Some(chosen) = excerpt(labels, MAX_SAMPLES, seed) else {
        return (features.clone(), labels.clone());
    };
    (features.select_columns(&chosen), labels.select(&chosen))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_gain_within_chance_is_none() {
        let right = |n: usize| -> Vec<bool> { (0..20).map(|i| i < n).collect() };
        assert!(!gains(&right(10), &right(10)));
        assert!(!gains(&right(10), &right(11)), "one label may be luck");
        assert!(gains(&right(10), &right(14)));
        assert!(!gains(&right(14), &right(10)));
    }
}
