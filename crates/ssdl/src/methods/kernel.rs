//! Least squares with a Gaussian kernel on the labelled samples: the member of the choice among methods for classes
//! that distances tell apart.

use super::{Description, Learner, Ridge};
use crate::classifier::{Decision, KernelClassifier};
use crate::fit::{Given, Learnt, Objective, Sizes, Stop, Turns, array};
use crate::{Real, Result};

crate::knobs! {
    /// The knobs of kernel least squares.
    pub struct KernelRidge {
        /// Labelled samples that are kept, about, at most.
        n_support "": usize = 2000, WholeFrom(2);
    }
}

impl Learner for KernelRidge {
    const DESCRIPTION: Description = Description {
        name: "kernel",
        class: "KernelRidge",
        title: "Least squares with a Gaussian kernel on the labelled samples",
        reference: "Suykens, Vandewalle (1999)",
        link: "https://doi.org/10.1023/A:1018628609742",
        objective: r"\min_{\alpha,b}\ \sum_{i\text{ labelled}}\frac{N_l}{CN_{y_i}}\lVert s(x_i)-y_i\rVert^2
+\lambda\operatorname{tr}(\alpha^\top K\alpha)",
        objective_text: "sum_labelled |scores - targets|^2 / size of its class + ridge tr(a'Ka)",
        summary: "A bump around each labelled sample; width and ridge by leaving out one label at a time.",
        ..Ridge::DESCRIPTION
    };

    fn uses_weights(&self) -> bool {
        true
    }

    fn bytes(&self, sizes: &Sizes) -> u64 {
        let side = sizes.n_samples.min(self.n_support.saturating_add(sizes.n_classes));
        let systems = array(side, side, 8).saturating_mul(6);
        let copies = array(sizes.n_features, sizes.n_samples, 8).saturating_mul(2);
        let own = sizes.bytes(2 * sizes.n_classes).saturating_mul(2);
        own.saturating_add(systems).saturating_add(copies)
    }

    /// Cost: $S^3+nS^2$ for $S$ labelled samples, $nSN$ for the scores of all.
    fn learn<T: Real>(&self, given: &Given<'_, T>, turns: &mut Turns<'_>) -> Result<Learnt<T>> {
        let (known, _) = given.labelled();
        let of_samples = (&*given.label_weights(), given.lengths.as_deref());
        let found = KernelClassifier::train((&known, &given.labels), of_samples, self.n_support)?;
        turns.end(1, Objective::default());
        Ok(Learnt::without_atoms(Decision::kernel(found), Stop::Converged))
    }
}
