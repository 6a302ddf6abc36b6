//! A linear SVM on the prepared samples themselves: the baseline that every dictionary must beat.

use super::compose::{fit_svm, svm_objective};
use super::request::{Found, announce, fit_without_atoms};
use super::{Description, Options, register};
use crate::classifier::Decision;
use crate::classifier::svm::{self, Loss};
use crate::fit::{Step, Stop, Watch};
use crate::knobs::{Grid, knobs};
use crate::model::Model;
use crate::{Real, Result, Samples};

knobs! {
    /// The knobs of the linear SVM, and the way to fit it from code.
    ///
    /// ```
    /// use ssdl::methods::LinearSvm;
    /// let method = LinearSvm::new().folds(3);
    /// ```
    pub struct LinearSvm {
        /// Box constraints, of which cross-validation takes the best.
        box_constraints "C": Grid = Grid::ascending([0.1, 1.0, 10.0]), SeveralAbove(0.0);
        /// Folds of the cross-validation; cut to the labelled samples of the smallest class.
        folds "": usize = 5, WholeFrom(2);
        /// Loss of a sample inside its margin.
        loss "": Loss = Loss::Hinge, OneOf(Loss::WORDS);
        /// Difference of the dual's projected gradients at which training stops.
        tolerance "": f64 = 1e-3, Above(0.0);
        /// Passes over the samples, at the most.
        max_epochs "": usize = 1000, WholeFrom(1);
    }
}

const DESCRIPTION: Description = Description {
    name: "linear-svm",
    title: "Linear support vector machine on the prepared samples",
    reference: "Cortes, Vapnik (1995); trained as by Hsieh et al. (2008)",
    link: "https://doi.org/10.1145/1390156.1390208",
    objective: r"\min_{w_c,b_c}\ \tfrac12(\lVert w_c\rVert^2+b_c^2)
+C\sum_{i\text{ labelled}}\max\bigl(0,1-y_{ci}(w_c^\top x_i+b_c)\bigr)\quad\text{for each class }c",
    objective_text: "for each class: (|w|^2 + b^2) / 2 + C sum_labelled max(0, 1 - y (w'x + b))",
    summary: "One class against all others, on the labelled samples only, without a dictionary. A \
baseline: fast, and hard to beat where labels are many.",
    semi_supervised: false,
    inductive: true,
    uses_graph: false,
    coding: "none",
    published: &[],
};

register!(LinearSvm);

impl LinearSvm {
    /// Fits raw samples, watched, with preparation, seed and threads of your own.
    ///
    /// # Errors
    /// If a knob, the labels or the samples do not allow it.
    pub fn fit_with<T: Real>(
        &self,
        samples: Samples<T>,
        options: &Options<T>,
        watch: &mut dyn Watch,
    ) -> Result<Model<T>> {
        self.check()?;
        fit_without_atoms(self, samples, options, watch, |admitted, watch| {
            announce(Step::Start, 1, watch)?;
            let trainer = svm::LinearSvm {
                loss: self.loss,
                tolerance: self.tolerance,
                max_epochs: self.max_epochs,
                seed: options.seed,
            };
            let grid = (self.box_constraints, self.folds);
            let trained = fit_svm(&trainer, &admitted.features, &admitted.labels, grid, watch)?;
            let found = Found {
                objective: svm_objective(&trained),
                decision: Decision::Linear(trained.classifier),
                iterations: trained.epochs,
                stop: if trained.converged { Stop::Converged } else { Stop::Limit },
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
        let count = |a: usize, b: usize| (a as u64).saturating_mul(b as u64);
        // The samples, and as many sparse rows (with an index each) for all and for the folds.
        let samples = count(n_features, n_samples);
        let scalar = size_of::<T>() as u64;
        let rows = samples.saturating_mul(2 * (scalar + 4));
        let classes = count(n_features + n_samples, n_classes).saturating_mul(8);
        samples.saturating_mul(scalar).saturating_add(rows).saturating_add(classes)
    }
}
