//! K-SVD: atoms learnt without labels, at most T of them in a code, and a ridge classifier on the codes.
//!
//! Aharon, Elad, Bruckstein (2006). The control of its label-consistent forms: what do labels in the atoms gain?

use super::{Description, Learner, cut_few_atoms};
use crate::dictionary::by_class::first_atoms_by_class;
use crate::fit::few_atoms::{Ending, Unused};
use crate::fit::{
    AtomsUpdate, DictionaryLearner, FewAtomsKnobs, Given, Learnt, LearntAtoms, Objective, Sizes,
    Turns,
};
use crate::{Real, Result};

crate::knobs! {
    /// The knobs of K-SVD, and the way to fit it from code.
    ///
    /// ```
    /// use ssdl::{fit::AtomsUpdate, methods::Ksvd, prelude::*};
    /// let method = Ksvd::new().n_nonzero(5).update(AtomsUpdate::ExactKsvd);
    /// ```
    pub struct Ksvd {
        /// Atoms, codes and iterations.
        codes: FewAtomsKnobs = FewAtomsKnobs::new().max_iterations(10);
        /// How atoms are updated.
        update "": AtomsUpdate = AtomsUpdate::Ksvd, OneOf(AtomsUpdate::WORDS);
        /// Weight of the classifier's squared norm beside its squared errors.
        ridge "μ mu": f64 = 2.5, Above(0.0);
    }
}

const DESCRIPTION: Description = Description {
    name: "ksvd",
    class: "KSVD",
    title: "K-SVD without labels, and a ridge classifier on the codes",
    reference: "Aharon, Elad, Bruckstein (2006)",
    link: "https://doi.org/10.1109/TSP.2006.881199",
    objective: r"\min_{\lVert d_k\rVert=1,A}\ \lVert X-DA\rVert^2,\qquad\lVert a_i\rVert_0\le T",
    objective_text: "|X - DA|^2, at most n_nonzero atoms a sample",
    summary: "Atoms start at labelled samples and are learnt from all, without their labels, each together with its \
coefficients; then a linear classifier is fitted to the codes of the labelled samples. The control of LC-KSVD, whose atoms \
know the labels.",
    semi_supervised: true,
    inductive: true,
    uses_graph: false,
    coding: "individual",
    published: &[],
};

impl Learner for Ksvd {
    const DESCRIPTION: Description = DESCRIPTION;
    const IGNORES_BLANK: bool = true;

    fn reduce(&mut self, sizes: &Sizes, notice: &mut dyn FnMut(&str)) {
        cut_few_atoms(&mut self.codes, sizes, notice);
    }

    fn bytes(&self, sizes: &Sizes) -> u64 {
        self.codes.bytes(sizes)
    }

    /// Cost per iteration $O(npN+pT^2N+nTN)$; memory $O(N(n+p))$.
    fn learn<T: Real>(&self, given: &Given<'_, T>, turns: &mut Turns<'_>) -> Result<Learnt<T>> {
        let limits = self.codes.limits();
        let n_atoms = self.codes.count(&given.sizes());
        let Given { samples, labels, seed, .. } = given;
        let first = first_atoms_by_class(samples, labels, n_atoms, true, T::one(), *seed).atoms;
        let learner = DictionaryLearner::new()
            .n_atoms(n_atoms)
            .n_nonzero(self.codes.pursuit().n_nonzero)
            .update(self.update)
            .max_iterations(limits.max_iterations)
            .tolerance(limits.tolerance);
        // Before the first codes nothing is explained.
        let energy = samples.squared_norm();
        turns.begin(limits, Objective::new([("reconstruction", energy), ("sparsity", 0.0)]))?;
        let learnt = learner.learn(samples, first, *seed, turns)?;
        let dead = learnt.n_unused();
        let LearntAtoms { atoms, revived_atoms: revived, stop, .. } = learnt;
        let (coder, unused) = (self.codes.coder(), Unused { dead, revived });
        Ending { atoms, coder, weights: None, ridge: self.ridge, unused, stop }.learnt(given)
    }
}
