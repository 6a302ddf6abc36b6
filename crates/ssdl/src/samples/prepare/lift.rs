//! `lift=LENGTH`: a constant beside the features, so that how long a sample is becomes a direction.

use rand::Rng;

use super::{Description, Layout, PreparationStep, StepChoice, Tensors, binary_unit};
use crate::threads::Loops;
use crate::{Error, Matrix, Real, Result};

pub(super) const DESCRIPTION: Description = Description {
    name: "lift",
    usage: "lift=LENGTH",
    sentence: "a constant beside the features, twice as long as a typical sample, then all to a typical \
               length of LENGTH: for few features, where a class may lie between two others",
    check: |plan| plan.positive().map(drop),
};

/// The constant, as a multiple of the typical length.
const HEIGHT: f64 = 2.0;

/// $x'=\frac{\ell}{r\sqrt{1+h^2}}\,(x,\,hr)$ with $h=2$, the length ℓ, and the root mean square $r$ of
/// the lengths of the training samples (1 if they are all zero). All distances grow alike.
///
/// With a few centred features, $x$ and $-x$ have codes that differ only in sign, and a class around
/// zero has hardly any: linear scores cannot tell it from both others. Seen from the new origin every
/// sample has its own direction, and the atoms near it are its own.
#[derive(Debug)]
pub(super) struct Lift<T> {
    plan: StepChoice,
    n_in: usize,
    length: f64,
    /// $r$.
    typical: T,
}

impl<T: Real> PreparationStep<T> for Lift<T> {
    fn fit(
        plan: &StepChoice,
        features: &Matrix<T>,
        layout: Layout,
        _: &mut dyn Rng,
    ) -> Result<Self> {
        let typical = T::of(typical_length(features));
        if !typical.is_finite() {
            return Err(Error::Samples(format!(
                "samples are too long for the preparation step `{plan}`; rescale them"
            )));
        }
        let typical = if typical > T::zero() { typical } else { T::one() };
        Ok(Self {
            plan: plan.clone(),
            n_in: layout.n_features(),
            length: plan.positive()?,
            typical,
        })
    }

    fn restore(plan: &StepChoice, layout: Layout, tensors: &mut Tensors<'_, T>) -> Result<Self> {
        let typical = tensors.take("typical", 1, 1)?.as_slice()[0];
        if typical <= T::zero() {
            return Err(Error::Samples(format!("the length of the step `{plan}` is not positive")));
        }
        Ok(Self {
            plan: plan.clone(),
            n_in: layout.n_features(),
            length: plan.positive()?,
            typical,
        })
    }

    fn plan(&self) -> &StepChoice {
        &self.plan
    }

    fn n_in(&self) -> usize {
        self.n_in
    }

    fn n_out(&self) -> usize {
        self.n_in + 1
    }

    fn tensors(&self) -> Vec<(String, Matrix<T>)> {
        vec![("typical".into(), Matrix::from_fn(1, 1, |_, _| self.typical))]
    }

    fn map(&self, features: Matrix<T>) -> Matrix<T> {
        let unit = self.length / (1.0 + HEIGHT * HEIGHT).sqrt();
        let typical = self.typical.wide();
        let mut lifted = Matrix::zeros(self.n_in + 1, features.columns());
        lifted.columns_mut().enumerate().each(|(j, out)| {
            let all = features.column(j).iter();
            out.iter_mut().zip(all).for_each(|(out, x)| *out = T::of(unit * (x.wide() / typical)));
            out[self.n_in] = T::of(unit * HEIGHT);
        });
        lifted
    }
}

/// The root mean square of the lengths of samples.
fn typical_length<T: Real>(features: &Matrix<T>) -> f64 {
    let peak = features.as_slice().iter().fold(0.0, |peak: f64, x| peak.max(x.wide().abs()));
    // In units of the peak, squares can neither overflow nor vanish.
    let unit = binary_unit(peak);
    let squares: f64 = features.as_slice().iter().map(|x| (x.wide() / unit).powi(2)).sum();
    (squares / features.columns().max(1) as f64).sqrt() * unit
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::{Purpose, stream};

    fn lifted(text: &str, features: &Matrix<f64>) -> Matrix<f64> {
        let plan = text.parse().expect("plan");
        let layout = Layout::flat(features.rows());
        let step = Lift::fit(&plan, features, layout, &mut stream(0, Purpose::Projection));
        step.and_then(|step| step.apply(features.clone())).expect("lifted")
    }

    #[test]
    fn typical_samples_get_the_length_and_distances_grow_alike() {
        let samples = Matrix::from_fn(3, 40, |i, j| ((i * 7 + j * 13) % 11) as f64 - 5.0);
        for factor in [1.0, 2f64.powi(600), 2f64.powi(-600)] {
            let out =
                lifted("lift=5", &Matrix::from_fn(3, 40, |i, j| factor * samples.column(j)[i]));
            assert_eq!((out.rows(), out.columns()), (4, 40));
            assert!((out.squared_norm() / 40.0 - 25.0).abs() < 1e-9);
            assert!(out.iter_columns().all(|x| x[3] == out.column(0)[3]));
            let ratio = |a: usize, b: usize, i: usize| {
                (out.column(a)[i] - out.column(b)[i])
                    / (samples.column(a)[i] - samples.column(b)[i])
            };
            assert!((ratio(0, 1, 0) / ratio(5, 3, 2) - 1.0).abs() < 1e-9);
        }
    }

    #[test]
    fn samples_of_zeros_are_their_constant_and_files_are_not_trusted() {
        let out = lifted("lift=3", &Matrix::zeros(2, 4));
        assert!(out.iter_columns().all(|x| x[..2] == [0.0, 0.0] && x[2] > 2.0));
        let plan = "lift=3".parse().expect("plan");
        for wrong in [0.0, -1.0] {
            let mut find = |_: &str| Some(Matrix::from_fn(1, 1, |_, _| wrong));
            let mut tensors = Tensors { prefix: String::new(), find: &mut find };
            assert!(Lift::<f64>::restore(&plan, Layout::flat(2), &mut tensors).is_err());
        }
        assert!("lift".parse::<StepChoice>().is_err() && "lift=0".parse::<StepChoice>().is_err());
    }
}
