//! `logarithm=STRENGTH`: shadows brightened by a logarithm.

use rand::Rng;

use super::{Description, Layout, PreparationStep, StepChoice, Tensors};
use crate::threads::Loops;
use crate::{Error, Matrix, Real, Result};

pub(super) const DESCRIPTION: Description = Description {
    name: "logarithm",
    usage: "logarithm[=STRENGTH]",
    sentence: "ln(1 + STRENGTH v / brightest), for pixels from 0 under uneven light; STRENGTH is 255 \
               by default",
    check: |plan| strength(plan).map(drop),
};

/// For bytes from 0 to 255 this is the usual ln(1 + v), and the same for pixels from 0 to 1.
const STRENGTH: f64 = 255.0;

fn strength(plan: &StepChoice) -> Result<f64> {
    if plan.argument().is_none() { Ok(STRENGTH) } else { plan.positive() }
}

/// $x' = \ln(1 + c\,\max(x, 0) / m)$ with the strength $c$ and the largest training value $m$.
///
/// Features need not be pixels; values below 0 count as 0. If no training value is above 0, $m$ is 1.
#[derive(Debug)]
pub(super) struct Logarithm<T> {
    plan: StepChoice,
    layout: Layout,
    strength: f64,
    brightest: T,
}

impl<T: Real> PreparationStep<T> for Logarithm<T> {
    fn fit(
        plan: &StepChoice,
        features: &Matrix<T>,
        layout: Layout,
        _: &mut dyn Rng,
    ) -> Result<Self> {
        let brightest =
            features.as_slice().iter().fold(T::zero(), |b, &x| if x > b { x } else { b });
        let brightest = if brightest > T::zero() { brightest } else { T::one() };
        Ok(Self { plan: plan.clone(), layout, strength: strength(plan)?, brightest })
    }

    fn restore(plan: &StepChoice, layout: Layout, tensors: &mut Tensors<'_, T>) -> Result<Self> {
        let brightest = tensors.take("brightest", 1, 1)?.as_slice()[0];
        if brightest <= T::zero() {
            let text = format!("the brightest value of the step `{plan}` is not above 0");
            return Err(Error::Samples(text));
        }
        Ok(Self { plan: plan.clone(), layout, strength: strength(plan)?, brightest })
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

    fn tensors(&self) -> Vec<(String, Matrix<T>)> {
        vec![("brightest".into(), Matrix::from_fn(1, 1, |_, _| self.brightest))]
    }

    fn map(&self, mut features: Matrix<T>) -> Matrix<T> {
        let brightest = self.brightest.wide();
        features.columns_mut().each(|x| {
            for x in x {
                *x = T::of((self.strength * (x.wide().max(0.0) / brightest)).ln_1p());
            }
        });
        features
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::{Purpose, stream};

    fn fitted<T: Real>(text: &str, features: &Matrix<T>) -> Logarithm<T> {
        let (plan, layout) = (text.parse().expect("plan"), Layout::flat(features.rows()));
        Logarithm::fit(&plan, features, layout, &mut stream(0, Purpose::Projection)).expect("fit")
    }

    #[test]
    fn bytes_and_shares_come_out_alike() {
        let bytes = Matrix::from_fn(2, 2, |i, j| [[0.0, 255.0], [51.0, -3.0]][j][i]);
        let mut shares = bytes.clone();
        shares.as_mut_slice().iter_mut().for_each(|v| *v /= 255.0);
        let out = fitted("logarithm", &bytes).map(bytes.clone());
        let by_hand = [0.0, 256f64.ln(), 52f64.ln(), 0.0];
        for (a, b) in out.as_slice().iter().zip(by_hand) {
            assert!((a - b).abs() < 1e-14);
        }
        let again = fitted("logarithm", &shares).map(shares.clone());
        for (a, b) in again.as_slice().iter().zip(by_hand) {
            assert!((a - b).abs() < 1e-13);
        }
        assert!(
            (fitted("logarithm=1", &shares).map(shares).column(0)[1] - 2f64.ln()).abs() < 1e-14
        );
    }

    #[test]
    fn dark_training_samples_and_bright_new_ones_stay_finite() {
        let step = fitted("logarithm", &Matrix::<f32>::zeros(2, 3));
        assert_eq!(step.map(Matrix::zeros(2, 1)), Matrix::zeros(2, 1));
        let bright = step.map(Matrix::from_fn(2, 1, |_, _| f32::MAX));
        assert!(bright.as_slice().iter().all(|v| v.is_finite()));
    }

    #[test]
    fn a_brightest_value_that_no_fit_gives_is_refused() {
        let plan = "logarithm".parse().expect("plan");
        for value in [0.0, -1.0] {
            let mut find = |_: &str| Some(Matrix::from_fn(1, 1, |_, _| value));
            let mut tensors = Tensors { prefix: String::new(), find: &mut find };
            assert!(Logarithm::<f64>::restore(&plan, Layout::flat(2), &mut tensors).is_err());
        }
    }
}
