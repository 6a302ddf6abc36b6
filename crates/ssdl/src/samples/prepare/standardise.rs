//! `standardise`: every feature to mean 0 and variance 1 over the training samples; the words of a column together.

use std::ops::Range;

use rand::Rng;

use super::exclusive::exclusive;
use super::{Description, Layout, PreparationStep, StepChoice, Tensors, binary_unit};
use crate::threads::Loops;
use crate::{Error, Matrix, Real, Result};

pub(super) const DESCRIPTION: Description = Description {
    name: "standardise",
    usage: "standardise",
    sentence: "every feature to mean 0 and variance 1, all words of a column together; constant features become 0",
    check: StepChoice::nothing,
};

/// Every feature to mean 0 and variance 1 over the $N$ training samples:
/// $x_i' = (x_i - m_i) / s_i$ with $s_i^2 = \frac1N \sum_j (x_{ij} - m_i)^2$, and $x_i' = 0$ where
/// $s_i = 0$. Neighbouring features of 0 and 1 that exclude each other, as the words of a column do, share
/// $s^2 = \sum_i s_i^2$: a column with many words weighs no more than one of numbers.
#[derive(Debug)]
pub(super) struct Standardise<T> {
    plan: StepChoice,
    image: Option<[usize; 2]>,
    mean: Matrix<T>,
    deviation: Matrix<T>,
}

impl<T: Real> PreparationStep<T> for Standardise<T> {
    fn fit(
        plan: &StepChoice,
        features: &Matrix<T>,
        layout: Layout,
        _: &mut dyn Rng,
    ) -> Result<Self> {
        let n = features.rows();
        let (mean, mut deviation) = moments(features);
        share_deviations(&exclusive(features), &mut deviation);
        Ok(Self {
            plan: plan.clone(),
            image: layout.image(),
            mean: Matrix::from_fn(n, 1, |i, _| T::of(mean[i])),
            deviation: Matrix::from_fn(n, 1, |i, _| T::of(deviation[i])),
        })
    }

    fn restore(plan: &StepChoice, layout: Layout, tensors: &mut Tensors<'_, T>) -> Result<Self> {
        let n_in = layout.n_features();
        let mean = tensors.take("mean", n_in, 1)?;
        let deviation = tensors.take("deviation", n_in, 1)?;
        if deviation.as_slice().iter().any(|&s| s < T::zero()) {
            return Err(Error::Samples(format!("a deviation of the step `{plan}` is negative")));
        }
        Ok(Self { plan: plan.clone(), image: layout.image(), mean, deviation })
    }

    fn plan(&self) -> &StepChoice {
        &self.plan
    }

    fn n_in(&self) -> usize {
        self.mean.rows()
    }

    fn n_out(&self) -> usize {
        self.mean.rows()
    }

    fn image(&self) -> Option<[usize; 2]> {
        self.image
    }

    fn tensors(&self) -> Vec<(String, Matrix<T>)> {
        vec![("mean".into(), self.mean.clone()), ("deviation".into(), self.deviation.clone())]
    }

    fn map(&self, mut features: Matrix<T>) -> Matrix<T> {
        let (mean, deviation) = (self.mean.as_slice(), self.deviation.as_slice());
        features.columns_mut().each(|x| {
            for ((x, &m), &s) in x.iter_mut().zip(mean).zip(deviation) {
                *x = if s == T::zero() { T::zero() } else { (*x - m) / s };
            }
        });
        features
    }
}

/// Mean and deviation of each feature; the deviation of a constant feature is exactly 0.
fn moments<T: Real>(features: &Matrix<T>) -> (Vec<f64>, Vec<f64>) {
    let n = features.rows();
    let (mut low, mut high) = (vec![f64::INFINITY; n], vec![f64::NEG_INFINITY; n]);
    for sample in features.iter_columns() {
        for ((low, high), x) in low.iter_mut().zip(&mut high).zip(sample) {
            *low = low.min(x.wide());
            *high = high.max(x.wide());
        }
    }
    let units: Vec<f64> =
        low.iter().zip(&high).map(|(low, high)| binary_unit(low.abs().max(high.abs()))).collect();
    let mean = means_in_units(features, &units);
    let mut squares = vec![0.0; n];
    for sample in features.iter_columns() {
        for (((sum, x), unit), mean) in squares.iter_mut().zip(sample).zip(&units).zip(&mean) {
            *sum += (x.wide() / unit - mean).powi(2);
        }
    }
    let deviation = (0..n).map(|i| {
        let deviation = (squares[i] / features.columns() as f64).sqrt();
        // A spread below one unit in the last place is rounding noise; dividing by it would blow
        // the noise up to the size of the other features.
        let is_constant = low[i] == high[i] || deviation <= mean[i].abs() * T::epsilon().wide();
        if is_constant { 0.0 } else { deviation * units[i] }
    });
    let deviation = deviation.collect();
    (mean.iter().zip(&units).map(|(mean, unit)| mean * unit).collect(), deviation)
}

/// Gives all features of a run the deviation of the run, $\sqrt{\sum_i s_i^2}$: however many words a column has, it
/// weighs as much as a column of numbers.
fn share_deviations(runs: &[Range<usize>], deviation: &mut [f64]) {
    for run in runs {
        let together = deviation[run.clone()].iter().map(|s| s * s).sum::<f64>().sqrt();
        let varied = deviation[run.clone()].iter_mut().filter(|s| **s > 0.0);
        varied.for_each(|s| *s = together);
    }
}

/// The mean of each feature, divided by the feature's unit (a power of two near its peak, so that
/// the sum cannot overflow).
pub(super) fn means_in_units<T: Real>(features: &Matrix<T>, units: &[f64]) -> Vec<f64> {
    let mut mean = vec![0.0; features.rows()];
    // The second pass takes away what rounding left in the first.
    for _ in 0..2 {
        let mut sum = vec![0.0; features.rows()];
        for sample in features.iter_columns() {
            for (((sum, x), unit), mean) in sum.iter_mut().zip(sample).zip(units).zip(&mean) {
                *sum += x.wide() / unit - mean;
            }
        }
        let n_samples = features.columns() as f64;
        mean.iter_mut().zip(sum).for_each(|(mean, sum)| *mean += sum / n_samples);
    }
    mean
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::{Purpose, stream};
    use crate::samples::prepare::fixed_cases;
    use proptest::prelude::*;

    fn fitted<T: Real>(features: &Matrix<T>) -> Standardise<T> {
        let plan = "standardise".parse().expect("plan");
        let layout = Layout::flat(features.rows());
        Standardise::fit(&plan, features, layout, &mut stream(0, Purpose::Projection)).expect("fit")
    }

    fn standardised<T: Real>(features: Matrix<T>) -> Matrix<T> {
        fitted(&features).map(features)
    }

    fn rows<T: Real, const N: usize>(rows: &[[T; N]]) -> Matrix<T> {
        Matrix::from_fn(rows.len(), N, |i, j| rows[i][j])
    }

    #[test]
    fn values_by_hand() {
        let out = standardised(rows(&[[1.0, 3.0], [-2.0, -2.0], [0.0, 0.5]]));
        assert_eq!(out, rows(&[[-1.0, 1.0], [0.0, 0.0], [-1.0, 1.0]]));
    }

    #[test]
    fn the_words_of_a_column_together_have_variance_one() {
        // Two columns of three and two words, the second with a gap, and marks that do not exclude each other.
        let words = [0, 1, 2, 2, 1, 2, 0, 2];
        let other = [0, 1, 1, 0, 0, 1, 2, 1];
        let marks = [[1, 1, 0, 0, 1, 0, 1, 1], [1, 0, 1, 0, 1, 1, 0, 0]];
        let features = Matrix::<f64>::from_fn(7, 8, |i, j| {
            f64::from(u8::from(match i {
                0..3 => words[j] == i,
                3..5 => other[j] == i - 3,
                _ => marks[i - 5][j] == 1,
            }))
        });
        assert_eq!(exclusive(&features), [0..3, 3..5]);
        let out = standardised(features);
        let variance = |i: usize| out.iter_columns().map(|x| x[i] * x[i]).sum::<f64>() / 8.0;
        for run in [0..3, 3..5, 5..6, 6..7] {
            let sum: f64 = run.clone().map(variance).sum();
            assert!((sum - 1.0).abs() < 1e-12, "{run:?}: {sum}");
        }
        // Marks that exclude each other by chance stay what they are, in front of words, too.
        let marks = Matrix::<f64>::from_fn(4, 8, |i, j| {
            f64::from(u8::from([j == 3, j == 5, j % 2 == 0, j % 2 == 1][i]))
        });
        assert_eq!(exclusive(&marks), vec![Range { start: 2, end: 4 }]);
        let alone = standardised(marks);
        let variance = alone.iter_columns().map(|x| x[0] * x[0]).sum::<f64>() / 8.0;
        assert!((variance - 1.0).abs() < 1e-12);
        // Rare words are not blown up beyond the others: 0 and 1 are as far apart in all of them.
        let width = |i: usize| {
            let all = || out.iter_columns().map(|x| x[i]);
            all().fold(f64::MIN, f64::max) - all().fold(f64::MAX, f64::min)
        };
        assert!((width(0) - width(2)).abs() < 1e-12);
    }

    #[test]
    fn constant_features_are_zero_for_new_values_too() {
        let step = fitted(&rows(&[[0.1; 7], [-1e300; 7], [0.0; 7]]));
        let fresh = rows(&[[5.0, 0.1], [f64::MAX, -1e300], [1.0, 0.0]]);
        assert_eq!(step.map(fresh), Matrix::zeros(3, 2));
        assert_eq!(standardised(rows(&[[0.7f32], [3.0]])), Matrix::zeros(2, 1));
    }

    #[test]
    fn rounding_noise_counts_as_constant() {
        let noisy = rows(&[[0.3, 0.1 + 0.2, 0.3, 0.3]]);
        assert_eq!(standardised(noisy), Matrix::zeros(1, 4));
    }

    #[test]
    fn huge_and_tiny_features_come_out_like_ordinary_ones() {
        let plain = [1.0, -2.0, 0.5, 7.0];
        let out = standardised(rows(&[
            plain,
            plain.map(|v| v * 2f64.powi(1020)),
            plain.map(|v| v * 2f64.powi(-1000)),
        ]));
        for sample in out.iter_columns() {
            assert_eq!(sample, [sample[0]; 3]);
        }
    }

    #[test]
    fn a_mean_far_from_zero_leaves_the_spread_alone() {
        let out = standardised(rows(&[[1e9 - 1.0, 1e9 + 1.0, 1e9 - 1.0, 1e9 + 1.0]]));
        assert_eq!(out, rows(&[[-1.0, 1.0, -1.0, 1.0]]));
    }

    #[test]
    fn negative_deviations_are_refused() {
        let plan = "standardise".parse().expect("plan");
        let mut find = |_: &str| Some(rows(&[[1.0f64], [-1.0]]));
        let mut tensors = Tensors { prefix: String::new(), find: &mut find };
        assert!(Standardise::restore(&plan, Layout::flat(2), &mut tensors).is_err());
    }

    fn data() -> impl Strategy<Value = Matrix<f64>> {
        (1usize..6, 6usize..30).prop_flat_map(|(n, count)| {
            prop::collection::vec(-9.0f64..9.0, n * count)
                .prop_map(move |data| Matrix::from_columns(n, count, data).expect("length"))
        })
    }

    proptest! {
        #![proptest_config(fixed_cases(128))]

        #[test]
        fn features_get_mean_zero_and_variance_one(features in data()) {
            let out = standardised(features.clone());
            let count = out.columns() as f64;
            for i in 0..out.rows() {
                let sum: f64 = out.iter_columns().map(|x| x[i]).sum();
                let squares: f64 = out.iter_columns().map(|x| x[i] * x[i]).sum();
                prop_assert!((sum / count).abs() < 1e-12);
                prop_assert!((squares / count - 1.0).abs() < 1e-12);
            }
        }

        #[test]
        fn shift_and_stretch_of_a_feature_do_not_matter(
            features in data(), stretch in 0.01f64..100.0, shift in -50.0f64..50.0
        ) {
            let mut moved = features.clone();
            moved.as_mut_slice().iter_mut().for_each(|x| *x = *x * stretch + shift);
            let (a, b) = (standardised(features), standardised(moved));
            for (a, b) in a.as_slice().iter().zip(b.as_slice()) {
                prop_assert!((a - b).abs() < 1e-5, "{} {}", a, b);
            }
        }

        #[test]
        fn standardising_again_changes_nothing(features in data()) {
            let once = standardised(features);
            for (a, b) in standardised(once.clone()).as_slice().iter().zip(once.as_slice()) {
                prop_assert!((a - b).abs() < 1e-12);
            }
        }

        #[test]
        fn single_precision_agrees_with_double(features in data()) {
            let single = standardised(features.cast::<f32>());
            let double = standardised(features.cast::<f32>().cast::<f64>());
            for (a, b) in single.as_slice().iter().zip(double.as_slice()) {
                prop_assert!((f64::from(*a) - b).abs() < 1e-3, "{} {}", a, b);
            }
        }
    }
}
