//! USSDL: adaptively unified semi-supervised dictionary learning, SSDL-GA without its graph.
//!
//! Wang, Guo, Li (2015). Without the graph every sample is coded on its own.

use super::{Description, Learner, cut_atoms, ssdl_ga};
use crate::classifier::MarginKnobs;
use crate::dictionary::AtomCount;
use crate::fit::{Coupled, Given, Learnt, Sizes, SolverKnobs, Turns};
use crate::graph::Connected;
use crate::{Real, Result};

crate::knobs! {
    /// The knobs of USSDL, and the way to fit it from code.
    ///
    /// ```
    /// use ssdl::{methods::Ussdl, prelude::*};
    /// let method = Ussdl::new().n_atoms(50).sparsity(0.2).discrimination(1.0);
    /// ```
    pub struct Ussdl {
        /// Number of atoms, at most one per sample; `auto`: one per feature or, if more, 10 per class, up to 200.
        n_atoms "p": AtomCount = AtomCount::Auto, AutoOrFrom(1);
        /// Weight of the l1 norm of the codes; twice scikit-learn's `alpha`.
        sparsity "λ lambda": f64 = 0.3, From(0.0);
        /// How the classes act on the codes.
        classes: MarginKnobs = MarginKnobs::new();
        /// The solvers.
        solver: SolverKnobs = SolverKnobs::new();
    }
}

const DESCRIPTION: Description = Description {
    name: "ussdl",
    class: "USSDL",
    title: "Adaptively unified semi-supervised dictionary learning with active points",
    reference: "Wang, Guo, Li (ICCV 2015), as the graph-free case of SSDL-GA",
    link: "https://arxiv.org/abs/2009.05964",
    objective: r"\min_{D\in\mathcal C,A,W,b,P}\ \lVert X-DA\rVert_F^2+\lambda\lVert A\rVert_1
+\gamma\sum_j\sum_kP_{kj}^r\,e_k(W^\top a_j+b)+\mu(\lVert W\rVert^2+\lVert b\rVert^2)",
    objective_text: "|X - DA|^2 + sparsity |A|_1\n\
+ discrimination sum_j sum_k P_kj^sharpness e_k(W'a_j + b) + ridge (|W|^2 + |b|^2)",
    summary: "SSDL-GA with the graph weight at zero: samples are coded one by one, so it is faster \
and keeps no training samples in the model, but it does not use the shape of the data.",
    coding: "individual",
    uses_graph: false,
    published: &[],
    ..ssdl_ga::DESCRIPTION
};

impl Ussdl {
    fn coupled(&self, sizes: &Sizes) -> Coupled<'_> {
        Coupled {
            n_atoms: self.n_atoms.resolve(sizes.n_features, sizes.n_classes),
            fill_atoms: false,
            sparsity: self.sparsity,
            graph: None,
            classes: Some(&self.classes),
            solver: &self.solver,
        }
    }
}

impl Learner for Ussdl {
    const DESCRIPTION: Description = DESCRIPTION;

    fn reduce(&mut self, sizes: &Sizes, notice: &mut dyn FnMut(&str)) {
        cut_atoms(&mut self.n_atoms, sizes, notice);
    }

    fn uses_weights(&self) -> bool {
        true
    }

    fn can_be_in_parts(&self) -> bool {
        true
    }

    fn can_park(&self, sizes: &Sizes) -> bool {
        self.coupled(sizes).can_park()
    }

    fn connect<T: Real>(&self, given: &Given<'_, T>) -> Result<Option<Connected<T>>> {
        self.coupled(&given.sizes()).connect_ahead(given)
    }

    fn bytes(&self, sizes: &Sizes) -> u64 {
        self.coupled(sizes).bytes(sizes)
    }

    fn learn<T: Real>(&self, given: &Given<'_, T>, turns: &mut Turns<'_>) -> Result<Learnt<T>> {
        self.coupled(&given.sizes()).learn_with_classes(given, turns)
    }
}
