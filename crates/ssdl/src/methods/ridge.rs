//! Ridge regression of the labels on the prepared samples, one class against all others.

use super::{Description, Learner, SHARPNESS};
use crate::classifier::{Decision, LinearClassifier, left_out, ridge};
use crate::fit::{Given, Learnt, Objective, Sizes, Stop, Turns, array};
use crate::knobs::{AutoOr, KnobValue};
use crate::{Matrix, Real, Result};

/// What `auto` chooses among, for samples of length 5.
const STRENGTHS: [f64; 7] = [0.3, 1.0, 3.0, 10.0, 30.0, 100.0, 300.0];

crate::knobs! {
    /// The knobs of ridge regression, and the way to fit it from code.
    ///
    /// ```
    /// use ssdl::methods::Ridge;
    /// let method = Ridge::new().ridge(0.1);
    /// ```
    pub struct Ridge {
        /// Weight of the classifier's squared norm; `auto`: by leaving labels out. Scales with squared sample lengths.
        ridge "μ mu": AutoOr = AutoOr::Exactly(1.0), AutoOrAbove(0.0);
    }
}

const DESCRIPTION: Description = Description {
    name: "ridge",
    class: "Ridge",
    title: "Ridge regression of the labels on the prepared samples",
    reference: "Hoerl, Kennard (1970)",
    link: "https://doi.org/10.1080/00401706.1970.10488634",
    objective: r"\min_{W,b}\ \sum_{i\text{ labelled}}\lVert W^\top x_i+b-y_i\rVert^2
+\mu(\lVert W\rVert^2+\lVert b\rVert^2),\qquad y_{ci}=\pm1",
    objective_text: "sum_labelled |W'x + b - y|^2 + ridge (|W|^2 + |b|^2), y = +1 or -1",
    summary: "A linear score for each class, fitted to +1 on its own labelled samples and -1 on all \
others; the highest score wins. A baseline in closed form; unlabelled samples are not used.",
    semi_supervised: false,
    inductive: true,
    uses_graph: false,
    coding: "none",
    published: &[],
};

impl Learner for Ridge {
    const DESCRIPTION: Description = DESCRIPTION;

    fn uses_weights(&self) -> bool {
        true
    }

    fn bytes(&self, sizes: &Sizes) -> u64 {
        // The labelled samples with a one below, and the system of the smaller side with its factor.
        let side = (sizes.n_features + 1).min(sizes.n_samples);
        let system = array(side, side, 8).saturating_mul(3);
        let samples = Sizes { n_features: sizes.n_features + 1, ..*sizes };
        samples.bytes(2 * sizes.n_classes).saturating_mul(3).saturating_add(system)
    }

    fn learn<T: Real>(&self, given: &Given<'_, T>, turns: &mut Turns<'_>) -> Result<Learnt<T>> {
        let (known, classes) = given.labelled();
        let counts = given.labels.counts();
        let strength = self.ridge.number().unwrap_or_else(|| {
            let seen = left_out(&known, &classes, counts.len(), &STRENGTHS);
            let least = seen.into_iter().reduce(|a, b| if b.error < a.error { b } else { a });
            least.map_or(1.0, |one| one.strength)
        });
        let (classifier, objective) =
            fit_ridge(&known, (&classes, &given.label_weights()), &counts, strength)?;
        turns.end(1, objective);
        Ok(Learnt::without_atoms(Decision::linear(classifier, SHARPNESS), Stop::Converged))
    }
}

/// The classifier of labelled samples, and the objective over the classes that have any; `counts` is
/// the number of labelled samples per class.
pub(super) fn fit_ridge<T: Real>(
    known: &Matrix<T>,
    (classes, weights): (&[usize], &[T]),
    counts: &[usize],
    strength: f64,
) -> Result<(LinearClassifier<T>, Objective)> {
    let mut classifier = ridge(known, classes, weights, counts.len(), T::of(strength))?;
    let scores = classifier.scores(known);
    let (mut misfit, mut size) = (0.0, 0.0);
    for class in (0..counts.len()).filter(|&class| counts[class] > 0) {
        for ((column, &own), weight) in scores.iter_columns().zip(classes).zip(weights) {
            let target = if own == class { 1.0 } else { -1.0 };
            misfit += weight.wide() * (column[class].wide() - target).powi(2);
        }
        let norm = crate::matrix::squared_norm(classifier.weights.column(class));
        size += strength * (norm + classifier.bias[class].wide().powi(2));
    }
    classifier.silence_absent(counts);
    Ok((classifier, Objective::new([("discrimination", misfit), ("ridge", size)])))
}
