//! Logistic regression of the labels on the prepared samples, all classes counting alike: the linear
//! member of the choice among methods.
//!
//! Unlike ridge regression it sees a class that lies between two others.

use super::{Description, Learner, Ridge, SHARPNESS};
use crate::classifier::softmax::{fit_softmax, softmax_loss};
use crate::classifier::{Decision, LinearClassifier};
use crate::fit::{Given, Learnt, Objective, Sizes, Stop, Turns, array};
use crate::matrix::symmetric_eigen;
use crate::{Matrix, Real, Result};

crate::knobs! {
    /// The knobs of logistic regression.
    pub struct Logistic {
        /// Weight of the classifier's squared norm. Scales with squared sample lengths.
        ridge "μ mu": f64 = 1.0, Above(0.0);
    }
}

/// The constant below each sample: with it, a bias costs next to nothing.
const ONE: f64 = 5.0;
/// Steps on the quadratic bound, at most.
const STEPS: usize = 300;
/// Directions with less than this share of the largest eigenvalue are rounding.
const TINY: f64 = 1e-12;

impl Learner for Logistic {
    const DESCRIPTION: Description = Description {
        name: "logistic",
        class: "Logistic",
        title: "Logistic regression of the labels on the prepared samples",
        reference: "Böhning (1992)",
        link: "https://doi.org/10.1007/BF00048682",
        objective: r"\min_{W,b}\ -\sum_{i\text{ labelled}}\frac{N_l}{CN_{y_i}}\log p_{y_i}(x_i)
+\tfrac\mu2\lVert W\rVert^2",
        objective_text: "- sum_labelled log p(label) / size of its class + ridge/2 |W|^2",
        summary: "A linear score for each class, whose softmax is the probability of the labels.",
        ..Ridge::DESCRIPTION
    };

    fn uses_weights(&self) -> bool {
        true
    }

    fn bytes(&self, sizes: &Sizes) -> u64 {
        let side = (sizes.n_features + 1).min(sizes.n_samples);
        let known = array(sizes.n_features + 1, sizes.n_samples, 8).saturating_mul(2);
        let system = array(side, side, 8).saturating_mul(4);
        sizes.bytes(2 * sizes.n_classes).saturating_add(known).saturating_add(system)
    }

    /// Cost: $\min(n,N_l)^3$ once, $\min(n,N_l)CN_l$ per step.
    fn learn<T: Real>(&self, given: &Given<'_, T>, turns: &mut Turns<'_>) -> Result<Learnt<T>> {
        let (known, classes) = given.labelled();
        let counts = given.labels.counts();
        let n = known.rows();
        let samples = Matrix::from_fn(n + 1, known.columns(), |i, j| {
            known.column(j).get(i).map_or(ONE, |x| x.wide())
        });
        let n_present = counts.iter().filter(|&&count| count > 0).count();
        let even = classes.len() as f64 / n_present.max(1) as f64;
        let weights: Vec<f64> = given
            .label_weights()
            .iter()
            .zip(&classes)
            .map(|(weight, &class)| weight.wide() * even / counts[class] as f64)
            .collect();
        let basis = Basis::new(&samples);
        let places = basis.places(&samples);
        let mut found = Matrix::zeros(places.rows(), counts.len());
        fit_softmax(&places, (&classes, &weights), self.ridge, STEPS, &mut found)?;
        let scores = Matrix::of_product(found.transposed(), places.view());
        let misfit = softmax_loss(&scores, &classes);
        let size = self.ridge / 2.0 * found.squared_norm();
        let all = basis.back(&found);
        let mut classifier = LinearClassifier {
            weights: Matrix::from_fn(n, counts.len(), |i, c| T::of(all.column(c)[i])),
            bias: (0..counts.len()).map(|c| T::of(ONE * all.column(c)[n])).collect(),
        };
        classifier.silence_absent(&counts);
        turns.end(1, Objective::new([("discrimination", misfit), ("ridge", size)]));
        Ok(Learnt::without_atoms(Decision::linear(classifier, SHARPNESS), Stop::Converged))
    }
}

/// The span of samples that are fewer than their features: weights outside of it would only cost.
enum Basis {
    /// All of space.
    Whole,
    /// Orthonormal columns.
    Span(Matrix<f64>),
}

impl Basis {
    /// From $A=U\Sigma V^\top$, by the eigenvectors of $A^\top A$: $U=AV\Sigma^{-1}$.
    fn new(samples: &Matrix<f64>) -> Self {
        if samples.rows() <= samples.columns() {
            return Self::Whole;
        }
        let Some((values, vectors)) = symmetric_eigen(&samples.gram()) else { return Self::Whole };
        let least = TINY * values.last().copied().unwrap_or(0.0);
        let kept: Vec<usize> = (0..values.len()).filter(|&k| values[k] > least).collect();
        let scaled = Matrix::from_fn(values.len(), kept.len(), |i, k| {
            vectors.column(kept[k])[i] / values[kept[k]].sqrt()
        });
        Self::Span(Matrix::of_product(samples.view(), scaled.view()))
    }

    /// Where samples are within it.
    fn places(&self, samples: &Matrix<f64>) -> Matrix<f64> {
        match self {
            Self::Whole => samples.clone(),
            Self::Span(columns) => Matrix::of_product(columns.transposed(), samples.view()),
        }
    }

    /// Weights for whole samples.
    fn back(&self, weights: &Matrix<f64>) -> Matrix<f64> {
        match self {
            Self::Whole => weights.clone(),
            Self::Span(columns) => Matrix::of_product(columns.view(), weights.view()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_span_of_few_samples_gives_the_weights_of_all_of_space() {
        let samples = Matrix::from_fn(9, 6, |i, j| ((i * 7 + j * 5 + i * j) % 13) as f64 / 4.0);
        let (classes, weights) = ([0usize, 1, 2, 0, 1, 2], [1.0, 0.5, 2.0, 1.0, 1.0, 0.7]);
        let fitted = |basis: &Basis| {
            let places = basis.places(&samples);
            let mut found = Matrix::zeros(places.rows(), 3);
            fit_softmax(&places, (&classes, &weights), 0.7, 2000, &mut found).expect("definite");
            basis.back(&found)
        };
        let (span, whole) = (Basis::new(&samples), Basis::Whole);
        assert!(matches!(span, Basis::Span(_)));
        let (one, other) = (fitted(&span), fitted(&whole));
        for (a, b) in one.as_slice().iter().zip(other.as_slice()) {
            assert!((a - b).abs() < 1e-4, "{a} {b}");
        }
    }
}
