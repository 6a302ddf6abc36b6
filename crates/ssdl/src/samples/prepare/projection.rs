//! `projection=COUNT`: random directions that keep distances roughly as they are.

use rand::Rng;

use super::{Description, Layout, PreparationStep, StepChoice, Tensors};
use crate::random::normal;
use crate::{Matrix, Real, Result};

pub(super) const DESCRIPTION: Description = Description {
    name: "projection",
    usage: "projection=COUNT",
    sentence: "COUNT random directions that roughly keep distances",
    check: |plan| plan.count().map(drop),
};

/// A random projection on $K$ directions: $x' = R^\top x$ with $R \in \mathbb{R}^{n \times K}$,
/// $R_{ik} \sim \mathcal{N}(0, 1/K)$, so that $\mathbb{E}\lVert x'\rVert^2 = \lVert x\rVert^2$.
#[derive(Debug)]
pub(super) struct Projection<T> {
    plan: StepChoice,
    matrix: Matrix<T>,
}

impl<T: Real> PreparationStep<T> for Projection<T> {
    fn fit(
        plan: &StepChoice,
        features: &Matrix<T>,
        _: Layout,
        mut rng: &mut dyn Rng,
    ) -> Result<Self> {
        let (n, count) = (features.rows(), plan.count()?);
        if count > n {
            return Err(plan.refuse(format!("1 to {n} (the number of features)")));
        }
        let shrink = 1.0 / (count as f64).sqrt();
        let matrix = Matrix::from_fn(n, count, |_, _| T::of(shrink * normal(&mut rng)));
        Ok(Self { plan: plan.clone(), matrix })
    }

    fn restore(plan: &StepChoice, layout: Layout, tensors: &mut Tensors<'_, T>) -> Result<Self> {
        let matrix = tensors.take("matrix", layout.n_features(), plan.count()?)?;
        Ok(Self { plan: plan.clone(), matrix })
    }

    fn plan(&self) -> &StepChoice {
        &self.plan
    }

    fn n_in(&self) -> usize {
        self.matrix.rows()
    }

    fn n_out(&self) -> usize {
        self.matrix.columns()
    }

    fn tensors(&self) -> Vec<(String, Matrix<T>)> {
        vec![("matrix".into(), self.matrix.clone())]
    }

    fn map(&self, features: Matrix<T>) -> Matrix<T> {
        Matrix::of_each(self.matrix.transposed(), &features, None)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Error;
    use crate::matrix::squared_norm;
    use crate::random::{Purpose, stream};
    use crate::samples::prepare::fixed_cases;
    use proptest::prelude::*;

    fn fitted<T: Real>(plan: &str, features: &Matrix<T>, seed: u64) -> Result<Projection<T>> {
        let layout = Layout::flat(features.rows());
        Projection::fit(&plan.parse()?, features, layout, &mut stream(seed, Purpose::Projection))
    }

    #[test]
    fn products_by_hand() {
        let matrix = Matrix::from_fn(2, 3, |i, k| (i + k) as f64);
        let features = Matrix::from_fn(2, 70, |i, j| (i + 2 * j) as f64);
        let out = Matrix::of_each(matrix.transposed(), &features, Some(&[1.0, 2.0]));
        for j in 0..70 {
            let (a, b) = (2.0 * j as f64 - 1.0, 2.0 * j as f64 - 1.0);
            assert_eq!(out.column(j), [b, a + 2.0 * b, 2.0 * a + 3.0 * b]);
        }
    }

    #[test]
    fn the_entries_are_the_first_draws_of_the_stream() -> Result<()> {
        let step = fitted("projection=2", &Matrix::<f64>::zeros(3, 1), 7)?;
        let mut rng = stream(7, Purpose::Projection);
        for entry in step.matrix.as_slice() {
            assert!((entry - normal(&mut rng) / 2f64.sqrt()).abs() < 1e-15);
        }
        Ok(())
    }

    #[test]
    fn more_directions_than_features_are_refused() {
        let error = fitted("projection=4", &Matrix::<f32>::zeros(3, 9), 0).expect_err("4 of 3");
        assert_eq!(
            error.to_string(),
            "knob `projection` is 4; allowed: 1 to 3 (the number of features)"
        );
        assert!(matches!(error, Error::Knob { .. }));
    }

    #[test]
    fn squared_lengths_are_kept_on_average() -> Result<()> {
        let x = Matrix::from_fn(200, 1, |i, _| (i as f64).sin());
        let mean = (0..50).try_fold(0.0, |sum, seed| {
            let out = fitted("projection=100", &x, seed)?.map(x.clone());
            Ok::<f64, Error>(sum + out.squared_norm() / x.squared_norm() / 50.0)
        })?;
        assert!((mean - 1.0).abs() < 0.06, "{mean}");
        Ok(())
    }

    proptest! {
        #![proptest_config(fixed_cases(32))]

        #[test]
        fn the_map_is_linear(n in 2usize..20, by in -4.0f64..4.0, seed: u64) {
            let x = Matrix::from_fn(n, 3, |i, j| ((i * 3 + j) as f64).sin());
            let step = fitted("projection=2", &x, seed)?;
            let mut sum = Matrix::zeros(n, 1);
            for i in 0..n {
                sum.column_mut(0)[i] = by * x.column(0)[i] + x.column(1)[i];
            }
            let (out, of_sum) = (step.map(x), step.map(sum));
            let gap: Vec<f64> = (0..2)
                .map(|k| by * out.column(0)[k] + out.column(1)[k] - of_sum.column(0)[k])
                .collect();
            prop_assert!(squared_norm(&gap) < 1e-24 * (1.0 + out.squared_norm()) * 100.0);
        }

        #[test]
        fn single_precision_agrees_with_double(n in 2usize..40, seed: u64) {
            let x = Matrix::from_fn(n, 5, |i, j| ((i * 5 + j) as f64).cos());
            let double = fitted("projection=2", &x, seed)?.map(x.clone());
            let single = fitted("projection=2", &x.cast::<f32>(), seed)?.map(x.cast());
            for (a, b) in single.as_slice().iter().zip(double.as_slice()) {
                prop_assert!((f64::from(*a) - b).abs() < 1e-4);
            }
        }
    }
}
