//! `scale=FACTOR`: every sample to the same length.

use rand::Rng;

use super::{Description, Layout, PreparationStep, StepChoice, Tensors, binary_unit};
use crate::matrix::squared_norm;
use crate::threads::Loops;
use crate::{Matrix, Real, Result};

pub(super) const DESCRIPTION: Description = Description {
    name: "scale",
    usage: "scale=FACTOR",
    sentence: "every sample to length FACTOR; a sample of zeros stays zero",
    check: |plan| plan.positive().map(drop),
};

/// Every sample to length $c$: $x' = c\,x / \lVert x\rVert_2$, and $0$ stays $0$. Nothing is
/// learnt from the training samples.
#[derive(Debug)]
pub(super) struct Scale {
    plan: StepChoice,
    factor: f64,
    layout: Layout,
}

impl<T: Real> PreparationStep<T> for Scale {
    fn fit(plan: &StepChoice, _: &Matrix<T>, layout: Layout, _: &mut dyn Rng) -> Result<Self> {
        Ok(Self { plan: plan.clone(), factor: plan.positive()?, layout })
    }

    fn restore(plan: &StepChoice, layout: Layout, _: &mut Tensors<'_, T>) -> Result<Self> {
        Ok(Self { plan: plan.clone(), factor: plan.positive()?, layout })
    }

    fn plan(&self) -> &StepChoice {
        &self.plan
    }

    fn n_in(&self) -> usize {
        self.layout.n_features()
    }

    fn n_out(&self) -> usize {
        self.layout.n_features()
    }

    fn image(&self) -> Option<[usize; 2]> {
        self.layout.image()
    }

    fn map(&self, mut features: Matrix<T>) -> Matrix<T> {
        features.columns_mut().each(|x| set_length(x, self.factor));
        features
    }
}

/// Scales to this length; zeros stay zero.
pub(super) fn set_length<T: Real>(x: &mut [T], length: f64) {
    let (unit, squared) = in_units(x);
    if squared > 0.0 {
        let factor = length / squared.sqrt();
        x.iter_mut().for_each(|value| *value = T::of(value.wide() / unit * factor));
    }
}

/// The length of a sample; the largest number where that is larger.
pub(super) fn length_of<T: Real>(x: &[T]) -> T {
    let (unit, squared) = in_units(x);
    T::of(unit * squared.sqrt()).min(T::max_value())
}

/// Multiplies a sample by the length that the step has taken from it; within what its type can hold.
pub(crate) fn lengthen<T: Real>(x: &mut [T], length: T) {
    let long = |value: T| T::of(value.wide() * length.wide());
    x.iter_mut().for_each(|value| *value = long(*value).max(T::min_value()).min(T::max_value()));
}

/// A unit, and the squared length in squares of it.
fn in_units<T: Real>(x: &[T]) -> (f64, f64) {
    let squared = squared_norm(x);
    // Outside these bounds squares of f64 values may have overflowed or vanished.
    if (1e-200..1e200).contains(&squared) {
        return (1.0, squared);
    }
    let peak = x.iter().fold(0.0, |peak: f64, value| peak.max(value.wide().abs()));
    let unit = binary_unit(peak);
    let in_units: Vec<f64> = x.iter().map(|value| value.wide() / unit).collect();
    (unit, squared_norm(&in_units))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::samples::prepare::fixed_cases;
    use proptest::prelude::*;

    fn scaled<T: Real>(mut x: Vec<T>, length: f64) -> Vec<T> {
        set_length(&mut x, length);
        x
    }

    fn length(x: &[f64]) -> f64 {
        squared_norm(x).sqrt()
    }

    #[test]
    fn lengths_by_hand() {
        assert_eq!(scaled(vec![3.0, -4.0], 5.0), [3.0, -4.0]);
        assert_eq!(scaled(vec![3.0f32, -4.0], 10.0), [6.0, -8.0]);
        assert_eq!(scaled(vec![0.0, 0.0], 5.0), [0.0, 0.0]);
        assert_eq!((length_of(&[3.0, -4.0]), length_of(&[0.0f32])), (5.0, 0.0));
        assert_eq!(length_of(&[f32::MAX, f32::MAX]), f32::MAX);
    }

    #[test]
    fn huge_and_tiny_samples_come_out_like_ordinary_ones() {
        let plain = scaled(vec![3.0, 1.0, -0.5], 2.0);
        for exponent in [-1070, -1022, -700, 700, 1021] {
            // In two factors, as 2^-1070 is below the range of `powi`.
            let half = 2f64.powi(exponent / 2);
            let by = half * 2f64.powi(exponent - exponent / 2);
            assert_eq!(scaled(vec![3.0 * by, by, -0.5 * by], 2.0), plain, "2^{exponent}");
        }
        assert_eq!(scaled(vec![f64::MAX, f64::MAX], 2f64.sqrt()), [1.0, 1.0]);
        assert_eq!(scaled(vec![f32::MAX, 0.0], 1.0), [1.0, 0.0]);
        assert_eq!(scaled(vec![f32::from_bits(1), 0.0], 1.0), [1.0, 0.0]);
    }

    proptest! {
        #![proptest_config(fixed_cases(128))]

        #[test]
        fn every_sample_that_is_not_zero_gets_the_length(
            x in prop::collection::vec(-9.0f64..9.0, 1..40), to in 0.01f64..100.0
        ) {
            prop_assume!(length(&x) > 0.0);
            prop_assert!((length(&scaled(x, to)) / to - 1.0).abs() < 1e-14);
        }

        #[test]
        fn multiples_of_a_sample_come_out_alike(
            x in prop::collection::vec(-9.0f64..9.0, 1..40), by in 1e-3f64..1e3, power in -900i32..900
        ) {
            let once = scaled(x.clone(), 5.0);
            let exact = x.iter().map(|v| v * 2f64.powi(power)).collect();
            prop_assume!(length(&x) > 1e-3);
            prop_assert_eq!(scaled(exact, 5.0), once.clone());
            let multiple = scaled(x.iter().map(|v| v * by).collect(), 5.0);
            for (a, b) in multiple.iter().zip(&once) {
                prop_assert!((a - b).abs() < 1e-13);
            }
        }

        #[test]
        fn scaling_again_changes_nothing(x in prop::collection::vec(-9.0f64..9.0, 1..40)) {
            let once = scaled(x, 5.0);
            for (a, b) in scaled(once.clone(), 5.0).iter().zip(&once) {
                prop_assert!((a - b).abs() < 1e-14);
            }
        }

        #[test]
        fn single_precision_agrees_with_double(x in prop::collection::vec(-9.0f32..9.0, 1..40)) {
            let wide = scaled(x.iter().map(|&v| f64::from(v)).collect(), 5.0);
            for (a, b) in scaled(x, 5.0).iter().zip(wide) {
                prop_assert_eq!(*a, b as f32);
            }
        }
    }
}
