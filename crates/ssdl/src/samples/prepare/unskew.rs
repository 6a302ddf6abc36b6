//! `unskew`: features with long tails are pulled together, the others stay as they are.

use rand::Rng;

use super::{Description, Layout, PreparationStep, StepChoice, Tensors};
use crate::threads::Loops;
use crate::{Error, Matrix, Real, Result, order};

pub(super) const DESCRIPTION: Description = Description {
    name: "unskew",
    usage: "unskew",
    sentence: "features with long tails pass through an inverse hyperbolic sine around their median: \
               a line in the middle, a logarithm far out; the others stay as they are",
    check: StepChoice::nothing,
};

/// Samples that quantiles are taken from.
const MAX_SAMPLES: usize = 4096;
/// How many times as far as the middle half reaches the outermost hundredth must lie.
const LONG: f64 = 4.0;

/// $x_i'=\operatorname{asinh}\frac{x_i-m_i}{s_i}$ for features with a long tail, with the median $m_i$
/// and half the distance $s_i$ between the quartiles (or the nearest quantiles that differ); a tail is
/// long where the first or last hundredth lies more than four times as far out as the quartiles.
/// $s_i=0$ marks a feature that stays as it is.
#[derive(Debug)]
pub(super) struct Unskew<T> {
    plan: StepChoice,
    image: Option<[usize; 2]>,
    median: Matrix<T>,
    scale: Matrix<T>,
}

impl<T: Real> PreparationStep<T> for Unskew<T> {
    fn fit(
        plan: &StepChoice,
        features: &Matrix<T>,
        layout: Layout,
        _: &mut dyn Rng,
    ) -> Result<Self> {
        let found: Vec<Option<(f64, f64)>> =
            (0..features.rows()).map(|i| long_tail(features, i)).collect();
        let column = |pick: fn((f64, f64)) -> f64| {
            Matrix::from_fn(found.len(), 1, |i, _| T::of(found[i].map_or(0.0, pick)))
        };
        let (median, scale) = (column(|found| found.0), column(|found| found.1));
        Ok(Self { plan: plan.clone(), image: layout.image(), median, scale })
    }

    fn restore(plan: &StepChoice, layout: Layout, tensors: &mut Tensors<'_, T>) -> Result<Self> {
        let n_in = layout.n_features();
        let median = tensors.take("median", n_in, 1)?;
        let scale = tensors.take("scale", n_in, 1)?;
        if scale.as_slice().iter().any(|&s| s < T::zero()) {
            return Err(Error::Samples(format!("a scale of the step `{plan}` is negative")));
        }
        Ok(Self { plan: plan.clone(), image: layout.image(), median, scale })
    }

    fn plan(&self) -> &StepChoice {
        &self.plan
    }

    fn n_in(&self) -> usize {
        self.median.rows()
    }

    fn n_out(&self) -> usize {
        self.median.rows()
    }

    fn image(&self) -> Option<[usize; 2]> {
        self.image
    }

    fn tensors(&self) -> Vec<(String, Matrix<T>)> {
        vec![("median".into(), self.median.clone()), ("scale".into(), self.scale.clone())]
    }

    fn map(&self, mut features: Matrix<T>) -> Matrix<T> {
        let (median, scale) = (self.median.as_slice(), self.scale.as_slice());
        features.columns_mut().each(|x| {
            for ((x, &m), &s) in x.iter_mut().zip(median).zip(scale) {
                if s > T::zero() {
                    *x = T::of(((x.wide() - m.wide()) / s.wide()).asinh());
                }
            }
        });
        features
    }
}

/// Median and scale of a feature with a long tail.
pub(super) fn long_tail<T: Real>(features: &Matrix<T>, feature: usize) -> Option<(f64, f64)> {
    let reach = Reach::of(features, feature)?;
    let far = reach.below.max(reach.above);
    (far.is_finite() && far > LONG * reach.scale).then_some((reach.median, reach.scale))
}

/// Whether a feature has a long tail on one side alone, as amounts and counts have.
pub(super) fn is_skewed<T: Real>(features: &Matrix<T>, feature: usize) -> bool {
    Reach::of(features, feature).is_some_and(|Reach { scale, below, above, .. }| {
        let (short, far) = (below.min(above), below.max(above));
        far.is_finite() && far > LONG * scale && short <= LONG * scale && 2.0 * short < far
    })
}

/// How far a feature reaches.
struct Reach {
    median: f64,
    /// Half the distance between the quartiles, or the nearest quantiles that differ.
    scale: f64,
    /// From the first hundredth to the median, and from there to the last.
    below: f64,
    above: f64,
}

impl Reach {
    /// `None` for a feature that is nearly always the same.
    fn of<T: Real>(features: &Matrix<T>, feature: usize) -> Option<Self> {
        let step = features.columns().div_ceil(MAX_SAMPLES).max(1);
        let places = (0..features.columns()).step_by(step);
        let mut values: Vec<f64> = places.map(|j| features.column(j)[feature].wide()).collect();
        order::ascending(&mut values);
        let at = |share: f64| values[((values.len() - 1) as f64 * share).round() as usize];
        let median = at(0.5);
        // A feature that is mostly one value has no spread between its quartiles: look further out.
        let reach = |share: f64| (at(1.0 - share) - at(share)) / 2.0;
        let scale = [0.25, 0.1, 0.05, 0.02].into_iter().map(reach).find(|&reach| reach > 0.0)?;
        let found = Self { median, scale, below: median - at(0.01), above: at(0.99) - median };
        scale.is_finite().then_some(found)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::{Purpose, stream};

    fn step(features: &Matrix<f64>) -> Unskew<f64> {
        let plan = "unskew".parse().expect("plan");
        let layout = Layout::flat(features.rows());
        Unskew::fit(&plan, features, layout, &mut stream(0, Purpose::Projection)).expect("fit")
    }

    #[test]
    fn long_tails_are_pulled_together_and_the_rest_keeps_its_bits() {
        let raw = Matrix::from_fn(3, 200, |i, j| match i {
            0 => (j as f64 / 20.0).exp(),
            1 => j as f64,
            _ => 7.0,
        });
        let out = step(&raw).map(raw.clone());
        let of =
            |m: &Matrix<f64>, i: usize| -> Vec<f64> { m.iter_columns().map(|c| c[i]).collect() };
        assert_eq!((of(&out, 1), of(&out, 2)), (of(&raw, 1), of(&raw, 2)));
        let tail = of(&out, 0);
        assert!(tail.windows(2).all(|pair| pair[0] < pair[1]), "order stays");
        assert!(tail[199] < 6.0 && tail[0] > -2.0, "{} {}", tail[0], tail[199]);
    }

    #[test]
    fn mostly_zero_features_and_single_samples_are_taken() {
        let sparse =
            Matrix::from_fn(1, 100, |_, j| if j % 9 == 0 { 1000.0 * j as f64 } else { 0.0 });
        assert!(step(&sparse).map(sparse).as_slice().iter().all(|v| v.is_finite()));
        let single = Matrix::from_fn(2, 1, |i, _| i as f64);
        assert_eq!(step(&single).map(single.clone()), single);
    }
}
