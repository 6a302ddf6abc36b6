//! A linear SVM on the prepared samples themselves: the baseline that every dictionary must beat.

use super::{Description, Learner, SHARPNESS};
use crate::classifier::Decision;
use crate::classifier::svm::{SvmKnobs, SvmTrainer};
use crate::fit::{Given, Learnt, Sizes, Step, Stop, Turns, array, fit_svm, svm_objective};
use crate::{Real, Result};

crate::knobs! {
    /// The knobs of the linear SVM, and the way to fit it from code.
    ///
    /// ```
    /// use ssdl::{methods::LinearSvm, prelude::*};
    /// let method = LinearSvm::new().folds(3);
    /// ```
    pub struct LinearSvm {
        /// How the SVM is chosen.
        svm: SvmKnobs = SvmKnobs::new();
        /// Difference of the dual's projected gradients at which training stops.
        tolerance "": f64 = 1e-3, Above(0.0);
        /// Maximum number of passes over the samples.
        max_epochs "": usize = 1000, WholeFrom(1);
    }
}

const DESCRIPTION: Description = Description {
    name: "linear-svm",
    class: "LinearSVM",
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

impl Learner for LinearSvm {
    const DESCRIPTION: Description = DESCRIPTION;

    fn uses_weights(&self) -> bool {
        true
    }

    fn bytes(&self, sizes: &Sizes) -> u64 {
        // The samples, and as many sparse rows (with an index each) for all and for the folds.
        let Sizes { n_features, n_samples, n_classes, scalar, .. } = *sizes;
        let rows = array(n_features, n_samples, 2 * (scalar + 4));
        let classes = array(n_features + n_samples, n_classes, 8);
        sizes.bytes(0).saturating_add(rows).saturating_add(classes)
    }

    fn learn<T: Real>(&self, given: &Given<'_, T>, turns: &mut Turns<'_>) -> Result<Learnt<T>> {
        turns.announce(Step::Start, 1)?;
        let trainer = SvmTrainer {
            loss: self.svm.loss,
            tolerance: self.tolerance,
            max_epochs: self.max_epochs,
            seed: given.seed,
        };
        let Given { samples, labels, .. } = given;
        let targets = (labels, &given.label_weights()[..]);
        let (trained, selection) = fit_svm(&trainer, &self.svm, samples, targets, turns)?;
        turns.end(trained.epochs, svm_objective(&trained));
        let stop = if trained.converged { Stop::Converged } else { Stop::Limit };
        let decision = Decision::linear(trained.classifier, SHARPNESS);
        Ok(Learnt { selection: Some(selection), ..Learnt::without_atoms(decision, stop) })
    }
}
