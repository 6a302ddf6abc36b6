//! Ridge regression of the labels on the prepared samples, one class against all others.

use super::request::{Found, bytes_of, fit_without_atoms};
use super::{Description, Options, register};
use crate::classifier::{Decision, LinearClassifier, ridge};
use crate::fit::{Objective, Stop, Watch};
use crate::knobs::knobs;
use crate::model::Model;
use crate::{Matrix, Real, Result, Samples};

knobs! {
    /// The knobs of ridge regression, and the way to fit it from code.
    ///
    /// ```
    /// use ssdl::methods::Ridge;
    /// let method = Ridge::new().ridge(0.1);
    /// ```
    pub struct Ridge {
        /// Weight of the classifier's own size; tied to the squared length of the samples.
        ridge "μ": f64 = 1.0, Above(0.0);
    }
}

const DESCRIPTION: Description = Description {
    name: "ridge",
    title: "Ridge regression of the labels on the prepared samples",
    reference: "Hoerl, Kennard (1970)",
    link: "https://doi.org/10.1080/00401706.1970.10488634",
    objective: r"\min_{W,b}\ \sum_{i\text{ labelled}}\lVert W^\top x_i+b-y_i\rVert^2
+\mu(\lVert W\rVert^2+\lVert b\rVert^2),\qquad y_{ci}=\pm1",
    objective_text: "sum_labelled |W'x + b - y|^2 + ridge (|W|^2 + |b|^2), y = +1 or -1",
    summary: "A linear score for each class, fitted to +1 on its own labelled samples and -1 on all \
others; the highest score wins. A baseline in closed form; unlabelled samples have no say.",
    semi_supervised: false,
    inductive: true,
    uses_graph: false,
    coding: "none",
    published: &[],
};

register!(Ridge);

impl Ridge {
    /// Fits raw samples, watched, with preparation, seed and threads of your own.
    ///
    /// # Errors
    /// If a knob, the labels or the samples do not allow it, or the memory limit is too low.
    pub fn fit_with<T: Real>(
        &self,
        samples: Samples<T>,
        options: &Options<T>,
        watch: &mut dyn Watch,
    ) -> Result<Model<T>> {
        self.check()?;
        fit_without_atoms(self, samples, options, watch, |admitted, _| {
            let (known, classes) = admitted.known();
            let counts = admitted.labels.counts();
            let (classifier, objective) = fit_ridge(&known, &classes, &counts, self.ridge)?;
            let found = Found {
                decision: Decision::Linear(classifier),
                objective,
                iterations: 1,
                stop: Stop::Converged,
                graph_seconds: 0.0,
            };
            Ok((self.values(), found))
        })
    }

    /// Bytes that a fit of this size will need at its peak, samples included.
    #[must_use]
    pub fn memory_needed<T: Real>(
        &self,
        n_features: usize,
        n_samples: usize,
        n_classes: usize,
    ) -> u64 {
        // The labelled samples with a one below, and the system of the smaller side with its factor.
        let side = (n_features + 1).min(n_samples);
        let system = bytes_of::<f64>(side, side, 0).saturating_mul(3);
        let samples = bytes_of::<T>(n_features + 1, n_samples, 2 * n_classes);
        samples.saturating_mul(3).saturating_add(system)
    }
}

/// The classifier of labelled samples, and the objective of the classes that have any; `counts` says
/// how many each has.
pub(super) fn fit_ridge<T: Real>(
    known: &Matrix<T>,
    classes: &[usize],
    counts: &[usize],
    weight: f64,
) -> Result<(LinearClassifier<T>, Objective)> {
    let mut classifier = ridge(known, classes, counts.len(), T::of(weight))?;
    let scores = classifier.scores(known);
    let mut objective = Objective::default();
    for class in (0..counts.len()).filter(|&class| counts[class] > 0) {
        for (column, &own) in scores.iter_columns().zip(classes) {
            let target = if own == class { 1.0 } else { -1.0 };
            objective.discrimination += (column[class].wide() - target).powi(2);
        }
        let weights = crate::matrix::squared_norm(classifier.weights.column(class));
        objective.ridge += weight * (weights + classifier.bias[class].wide().powi(2));
    }
    classifier.silence_absent(counts);
    Ok((classifier, objective))
}
