//! Graph-regularised sparse coding, and a linear SVM on the codes.
//!
//! Zheng et al. (2011) and the paper's comparison of graphs. Labels are not used in the codes.

use std::time::Instant;

use super::{Description, Learner, SHARPNESS};
use crate::classifier::Decision;
use crate::classifier::svm::{SvmKnobs, SvmTrainer};
use crate::fit::{Coupled, CouplingKnobs, Given, Learnt, Sizes, SolverKnobs, Turns, fit_svm};
use crate::graph::{Connected, GraphKnobs};
use crate::{Real, Result};

crate::knobs! {
    /// The knobs of graph-regularised sparse coding, and the way to fit it from code.
    ///
    /// ```
    /// use ssdl::{graph::GraphChoice, methods::GraphSc, prelude::*};
    /// let method = GraphSc::new().graph(GraphChoice::Heat).n_neighbors(5).manifold(0.1);
    /// ```
    pub struct GraphSc {
        /// Number of atoms; mixtures of samples make up for missing samples.
        n_atoms "p": usize = 128, WholeFrom(1);
        /// Weight of the l1 norm of the codes; twice scikit-learn's `alpha`.
        sparsity "λ lambda": f64 = 0.5, From(0.0);
        /// How the graph acts on the codes.
        coupling: CouplingKnobs = CouplingKnobs::new().manifold(1.0);
        /// The graph.
        graph: GraphKnobs = GraphKnobs::new().percentile(0.05).normalise_trace(true);
        /// The SVM on the codes.
        svm: SvmKnobs = SvmKnobs::new();
        /// The solvers.
        solver: SolverKnobs = SolverKnobs::new().max_iterations(20).tolerance(1e-3);
    }
}

const DESCRIPTION: Description = Description {
    name: "graph-sc",
    class: "GraphSC",
    title: "Graph-regularised sparse coding with a linear SVM on the codes",
    reference: "Zheng et al. (2011); graphs as compared by Tran et al. (2020)",
    link: "https://arxiv.org/abs/2009.05964",
    objective: r"\min_{D\in\mathcal C,A}\ \lVert X-DA\rVert_F^2+\beta\operatorname{tr}(ALA^\top)
+\lambda\lVert A\rVert_1",
    objective_text: "|X - DA|^2 + manifold tr(A L A') + sparsity |A|_1",
    summary: "Atoms and codes are learnt without the labels, with a graph of your choice between the \
samples; then a linear SVM, one class against all others, is trained on the codes of the labelled \
samples. New samples are coded with the same graph. Unlabelled samples shape atoms and codes.",
    semi_supervised: true,
    inductive: true,
    uses_graph: true,
    coding: "group",
    published: &[("USPS", &[("n_atoms", "128"), ("sparsity", "0.5")])],
};

impl GraphSc {
    fn coupled(&self) -> Coupled<'_> {
        Coupled {
            n_atoms: self.n_atoms,
            fill_atoms: true,
            sparsity: self.sparsity,
            graph: Some((&self.coupling, &self.graph)),
            classes: None,
            solver: &self.solver,
        }
    }
}

impl Learner for GraphSc {
    const DESCRIPTION: Description = DESCRIPTION;

    fn reduce(&mut self, sizes: &Sizes, notice: &mut dyn FnMut(&str)) {
        if self.coupling.manifold > 0.0 {
            self.graph.reduce(sizes.n_samples, notice);
        }
    }

    fn uses_weights(&self) -> bool {
        true
    }

    fn can_park(&self, _: &Sizes) -> bool {
        self.coupled().can_park()
    }

    fn connect<T: Real>(&self, given: &Given<'_, T>) -> Result<Option<Connected<T>>> {
        self.coupled().connect_ahead(given)
    }

    fn bytes(&self, sizes: &Sizes) -> u64 {
        self.coupled().bytes(sizes)
    }

    fn learn<T: Real>(&self, given: &Given<'_, T>, turns: &mut Turns<'_>) -> Result<Learnt<T>> {
        let trainer = SvmTrainer { loss: self.svm.loss, seed: given.seed, ..Default::default() };
        self.coupled().learn(given, turns, |run, turns| {
            let started = Instant::now();
            let codes = &run.codes;
            let targets = (&given.labels, &given.label_weights()[..]);
            let (trained, selection) = fit_svm(&trainer, &self.svm, codes, targets, turns)?;
            turns.classified(started);
            Ok((Decision::linear(trained.classifier, SHARPNESS), Some(selection)))
        })
    }
}
