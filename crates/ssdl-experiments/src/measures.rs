//! How good predictions are: which of them are right, and what their probabilities are worth.

use ssdl::{Matrix, Real};

use crate::numbers::mean;

/// Smallest probability that the log-loss takes into account.
const SMALLEST: f64 = 1e-15;
/// Bins of the calibration error.
const BINS: usize = 15;
/// Predictions of a bin from which on the normal limit does.
const MANY: usize = 2000;

/// Measures of predictions; NaN where there are none.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Measures {
    /// Share of correct predictions in per cent.
    pub accuracy: f64,
    /// Mean over the classes of the share of their samples that are predicted correctly, in per
    /// cent; classes without samples are omitted.
    pub balanced_accuracy: f64,
    /// Mean of $-\ln p$ for the probability $p$ of the true class, which counts as at least
    /// $10^{-15}$.
    pub log_loss: f64,
    /// Expected calibration error: how far the probability of the predicted class is from the share
    /// of correct predictions, in 15 bins of that probability, each weighted by its samples.
    pub calibration_error: f64,
    /// The calibration error that perfect probabilities of the same sizes would have on average, by the
    /// chance of so few samples.
    pub calibration_floor: f64,
}

impl Measures {
    /// Measures predicted classes and their probabilities ($C\times N$) by the true classes.
    #[must_use]
    pub fn of<T: Real>(predicted: &[usize], probabilities: &Matrix<T>, truth: &[usize]) -> Self {
        let share = |class: usize, sample: usize| probabilities.column(sample)[class].wide();
        let losses: Vec<f64> = truth
            .iter()
            .enumerate()
            .map(|(sample, &class)| share(class, sample).clamp(SMALLEST, 1.0).recip().ln())
            .collect();
        let confident: Vec<f64> =
            predicted.iter().enumerate().map(|(sample, &class)| share(class, sample)).collect();
        let right: Vec<bool> = predicted.iter().zip(truth).map(|(a, b)| a == b).collect();
        let recalls: Vec<f64> =
            recalls(predicted, truth, probabilities.rows()).into_iter().flatten().collect();
        let or_nan = |value: f64| if truth.is_empty() { f64::NAN } else { value };
        Self {
            accuracy: accuracy(predicted, truth),
            balanced_accuracy: or_nan(mean(&recalls)),
            log_loss: or_nan(mean(&losses)),
            calibration_error: or_nan(calibration_error(&confident, &right)),
            calibration_floor: or_nan(calibration_floor(&confident)),
        }
    }
}

/// Share of correct predictions in per cent; NaN if there are none.
pub(crate) fn accuracy(predicted: &[usize], truth: &[usize]) -> f64 {
    let right = predicted.iter().zip(truth).filter(|(predicted, truth)| predicted == truth).count();
    100.0 * right as f64 / truth.len() as f64
}

/// Share of the samples of each class that are predicted correctly, in per cent; `None` for classes
/// without samples.
pub(crate) fn recalls(predicted: &[usize], truth: &[usize], n_classes: usize) -> Vec<Option<f64>> {
    let mut counts = vec![(0usize, 0usize); n_classes];
    for (predicted, &truth) in predicted.iter().zip(truth) {
        counts[truth].0 += usize::from(*predicted == truth);
        counts[truth].1 += 1;
    }
    let share = |(right, all): (usize, usize)| (all > 0).then(|| 100.0 * right as f64 / all as f64);
    counts.into_iter().map(share).collect()
}

fn bin_of(probability: f64) -> usize {
    ((probability * BINS as f64) as usize).min(BINS - 1)
}

fn calibration_error(confident: &[f64], right: &[bool]) -> f64 {
    let mut gaps = [0.0; BINS];
    for (&probability, &right) in confident.iter().zip(right) {
        gaps[bin_of(probability)] += f64::from(u8::from(right)) - probability;
    }
    gaps.iter().map(|gap| gap.abs()).sum::<f64>() / confident.len() as f64
}

/// The mean of [`calibration_error`] if each prediction is right with its own probability.
fn calibration_floor(confident: &[f64]) -> f64 {
    let mut bins: [Vec<f64>; BINS] = Default::default();
    confident.iter().for_each(|&p| bins[bin_of(p)].push(p.clamp(0.0, 1.0)));
    bins.iter().map(|bin| mean_gap(bin)).sum::<f64>() / confident.len() as f64
}

/// The mean distance between the number of successes and its expectation, for trials with these
/// probabilities: by the distribution of that number, or its normal limit where there are many.
fn mean_gap(probabilities: &[f64]) -> f64 {
    let variance: f64 = probabilities.iter().map(|p| p * (1.0 - p)).sum();
    if probabilities.len() > MANY {
        return (variance * std::f64::consts::FRAC_2_PI).sqrt();
    }
    // The chance of each number of successes, trial after trial.
    let mut chances = vec![1.0];
    for p in probabilities {
        chances.push(0.0);
        for count in (0..chances.len()).rev() {
            let one_more = if count > 0 { chances[count - 1] * p } else { 0.0 };
            chances[count] = chances[count] * (1.0 - p) + one_more;
        }
    }
    let expected: f64 = probabilities.iter().sum();
    chances.iter().enumerate().map(|(count, chance)| chance * (count as f64 - expected).abs()).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Two classes by the probability of the first.
    fn of(first: &[f64], truth: &[usize]) -> Measures {
        let columns = first.iter().flat_map(|p| [*p, 1.0 - p]).collect();
        let shares = Matrix::from_columns(2, first.len(), columns).expect("two each");
        let predicted: Vec<usize> = first.iter().map(|p| usize::from(*p < 0.5)).collect();
        Measures::of(&predicted, &shares, truth)
    }

    fn close(a: f64, b: f64) -> bool {
        (a - b).abs() < 1e-9
    }

    #[test]
    fn small_numbers_are_as_by_hand() {
        // Three of four right; the first class two of three, the second one of one.
        let found = of(&[0.9, 0.8, 0.3, 0.3], &[0, 0, 0, 1]);
        assert!(close(found.accuracy, 75.0), "{found:?}");
        assert!(close(found.balanced_accuracy, 100.0 * (2.0 / 3.0 + 1.0) / 2.0), "{found:?}");
        let loss = -(0.9f64.ln() + 0.8f64.ln() + 0.3f64.ln() + 0.7f64.ln()) / 4.0;
        assert!(close(found.log_loss, loss), "{found:?}");
        // The two predictions of 0.7 share a bin: one of them is right.
        let error = (0.1 + 0.2 + (1.0 - 1.4f64).abs()) / 4.0;
        assert!(close(found.calibration_error, error), "{found:?}");
    }

    #[test]
    fn honest_probabilities_have_no_calibration_error_and_boasts_have() {
        let truth: Vec<usize> = (0..100).map(|at| usize::from(at % 4 == 0)).collect();
        let honest = of(&[0.75; 100], &truth);
        assert!(honest.calibration_error < 1e-9, "{honest:?}");
        let boast = of(&[1.0; 100], &truth);
        assert!(close(boast.calibration_error, 0.25), "{boast:?}");
        assert!(boast.log_loss > honest.log_loss && close(boast.accuracy, honest.accuracy));
    }

    #[test]
    fn the_floor_is_the_mean_error_of_perfect_probabilities() {
        // One prediction of 0.9: right in nine of ten cases, then 0.1 off, else 0.9.
        assert!(close(of(&[0.9], &[0]).calibration_floor, 2.0 * 0.9 * 0.1));
        assert!(close(of(&[1.0; 20], &[0; 20]).calibration_floor, 0.0));
        // Two of 0.6 in one bin: all four outcomes.
        let two = (0.36 * 0.8 + 0.48 * 0.2 + 0.16 * 1.2) / 2.0;
        assert!(close(of(&[0.6; 2], &[0; 2]).calibration_floor, two));
        // The exact numbers go over into the limit, and fall with the root of the samples.
        let (few, many) = (mean_gap(&[0.7; MANY]), mean_gap(&[0.7; MANY + 1]));
        assert!((few / many - 1.0).abs() < 1e-3, "{few} {many}");
        let of_all = |n: usize| of(&vec![0.8; n], &vec![0; n]).calibration_floor;
        assert!((of_all(100) / of_all(400) - 2.0).abs() < 0.05);
    }

    #[test]
    fn a_class_held_for_impossible_costs_a_finite_loss() {
        assert!(close(of(&[1.0], &[1]).log_loss, -SMALLEST.ln()));
        assert!(of(&[1.0], &[0]).log_loss.abs() < 1e-12);
    }

    #[test]
    fn classes_without_samples_do_not_count_and_no_samples_give_nothing() {
        assert!(close(of(&[0.9, 0.9], &[0, 0]).balanced_accuracy, 100.0));
        let none = of(&[], &[]);
        let all = [none.accuracy, none.balanced_accuracy, none.log_loss, none.calibration_error];
        assert!(none.calibration_floor.is_nan());
        assert!(all.iter().all(|value| value.is_nan()), "{none:?}");
    }
}
