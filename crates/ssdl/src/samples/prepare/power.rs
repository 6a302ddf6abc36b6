//! `power=EXPONENT`: large values damped, small ones raised.

use rand::Rng;

use super::{Description, Layout, PreparationStep, StepChoice, Tensors};
use crate::threads::Loops;
use crate::{Matrix, Real, Result};

pub(super) const DESCRIPTION: Description = Description {
    name: "power",
    usage: "power=EXPONENT",
    sentence: "each value to a power, with its sign kept; power=0.5 after gradients compares histograms \
               as shares rather than by their peaks",
    check: |plan| plan.positive().map(drop),
};

/// $x' = \operatorname{sign}(x)\lvert x\rvert^e$, feature by feature.
///
/// With $e=\tfrac12$ the inner product of two histograms of unit sum is their Hellinger affinity.
/// Nothing is learnt from the training samples.
#[derive(Debug)]
pub(super) struct Power {
    plan: StepChoice,
    layout: Layout,
    exponent: f64,
}

impl Power {
    fn new(plan: &StepChoice, layout: Layout) -> Result<Self> {
        Ok(Self { plan: plan.clone(), layout, exponent: plan.positive()? })
    }
}

impl<T: Real> PreparationStep<T> for Power {
    fn fit(plan: &StepChoice, _: &Matrix<T>, layout: Layout, _: &mut dyn Rng) -> Result<Self> {
        Self::new(plan, layout)
    }

    fn restore(plan: &StepChoice, layout: Layout, _: &mut Tensors<'_, T>) -> Result<Self> {
        Self::new(plan, layout)
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
        features.columns_mut().each(|x| {
            for x in x {
                let value = x.wide();
                // The square root is the common case, and exact.
                let size = if self.exponent == 0.5 {
                    value.abs().sqrt()
                } else {
                    value.abs().powf(self.exponent)
                };
                *x = T::of(size.copysign(value));
            }
        });
        features
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn powers(text: &str, values: Vec<f64>) -> Result<Vec<f64>> {
        let n = values.len();
        let step = Power::new(&text.parse()?, Layout::flat(n))?;
        let features = Matrix::from_columns(n, 1, values).expect("length");
        step.apply(features).map(Matrix::into_vec)
    }

    #[test]
    fn powers_by_hand() -> Result<()> {
        assert_eq!(powers("power=0.5", vec![9.0, -4.0, 0.0, 1.0])?, [3.0, -2.0, 0.0, 1.0]);
        assert_eq!(powers("power=2", vec![3.0, -3.0])?, [9.0, -9.0]);
        assert_eq!(powers("power=1", vec![0.3, -7.5])?, [0.3, -7.5]);
        Ok(())
    }

    #[test]
    fn what_leaves_the_range_is_refused() {
        assert!(powers("power=4", vec![1e200]).is_err());
        assert!("power=0".parse::<StepChoice>().is_err() && "power".parse::<StepChoice>().is_err());
    }
}
