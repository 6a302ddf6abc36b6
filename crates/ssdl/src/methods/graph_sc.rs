//! Graph-regularised sparse coding, and a linear SVM on the codes.
//!
//! Zheng et al. (2011) and the paper's comparison of graphs. Labels have no say in the codes.

use super::compose::{Coder, Composition, DictionaryUpdate, Ending};
use super::connect::{GraphChoice, GraphKnobs};
use super::{Description, Options, register};
use crate::classifier::svm::Loss;
use crate::fit::{Watch, Weights};
use crate::graph::Width;
use crate::knobs::{Grid, knobs};
use crate::model::Model;
use crate::{Real, Result, Samples};

knobs! {
    /// The knobs of graph-regularised sparse coding, and the way to fit it from code.
    ///
    /// ```
    /// use ssdl::methods::{GraphChoice, GraphSc};
    /// let method = GraphSc::new().graph(GraphChoice::Heat).n_neighbors(5).manifold(0.1);
    /// ```
    pub struct GraphSc {
        /// Number of atoms; mixtures of samples fill up where there are too few samples.
        n_atoms "p": usize = 128, WholeFrom(1);
        /// Weight of the l1 norm of the codes; twice scikit-learn's `alpha`.
        sparsity "λ": f64 = 0.5, From(0.0);
        /// Weight of the graph term.
        manifold "β": f64 = 1.0, From(0.0);
        /// Graph between the samples.
        graph "": GraphChoice = GraphChoice::Lle, OneOf(GraphChoice::WORDS);
        /// Neighbours of a sample in an `lle` or `heat` graph; cut to one less than the samples.
        n_neighbors "k": usize = 8, WholeFrom(1);
        /// Width of the kernel of a `heat` or `threshold` graph; `0.5x` is half the mean distance.
        width "σ": Width = Width::Relative(1.0), Above(0.0);
        /// Share of all pairs of samples that a `threshold` graph joins.
        percentile "ζ": f64 = 0.05, Between(0.0, 1.0);
        /// How evenly a `learnt` graph spreads its weights; tied to squared distances.
        smoothness "β_L": f64 = 5.0, Above(0.0);
        /// Whether the graph is scaled so that its trace is the number of samples.
        normalise_trace "": bool = true, Switch;
        /// Whether new samples lean half as much on a `heat` or `threshold` graph, as printed.
        halve_new "": bool = false, Switch;
        /// Iterations without the graph, which is then built from the reconstructions.
        denoise "": usize = 0, WholeFrom(0);
        /// Box constraints of the SVM, of which cross-validation takes the best.
        box_constraints "C": Grid = Grid::ascending([0.1, 1.0, 10.0]), SeveralAbove(0.0);
        /// Folds of the cross-validation; cut to the labelled samples of the smallest class.
        folds "": usize = 5, WholeFrom(2);
        /// Loss of the SVM.
        loss "": Loss = Loss::Hinge, OneOf(Loss::WORDS);
        /// Largest length of an atom.
        atom_norm "α": f64 = 1.0, Above(0.0);
        /// Outer iterations at the most.
        max_iterations "": usize = 20, WholeFrom(1);
        /// Relative change of the objective that counts as settled.
        tolerance "": f64 = 1e-3, From(0.0);
        /// Solver of the coding step.
        coder "": Coder = Coder::Coordinate, OneOf(Coder::WORDS);
        /// Sweeps, iterations or epochs of the coder in one outer iteration; 0 takes its own default.
        coder_steps "": usize = 0, WholeFrom(0);
        /// Optimality gap, relative to `sparsity`, at which the coder stops.
        coder_tolerance "": f64 = 0.01, From(0.0);
        /// Samples in a batch, where the coder is `batches`.
        batch_size "": usize = 256, WholeFrom(1);
        /// Solver of the dictionary step.
        dictionary_update "": DictionaryUpdate = DictionaryUpdate::Block,
            OneOf(DictionaryUpdate::WORDS);
        /// Whether atoms that nobody uses are replaced by badly reconstructed samples.
        revive "": bool = true, Switch;
    }
}

const DESCRIPTION: Description = Description {
    name: "graph-sc",
    title: "Graph-regularised sparse coding with a linear SVM on the codes",
    reference: "Zheng et al. (2011); graphs as compared by Tran et al. (2020)",
    link: "https://arxiv.org/abs/2009.05964",
    objective: r"\min_{D\in\mathcal C,A}\ \lVert X-DA\rVert_F^2+\beta\operatorname{tr}(ALA^\top)
+\lambda\lVert A\rVert_1",
    objective_text: "|X - DA|^2 + manifold tr(A L A') + sparsity |A|_1",
    summary: "Atoms and codes are learnt without the labels, with a graph of choice between the \
samples; then a linear SVM, one class against all others, is trained on the codes of the labelled \
samples. New samples are coded with the same graph. Unlabelled samples shape atoms and codes.",
    semi_supervised: true,
    inductive: true,
    uses_graph: true,
    coding: "group",
    published: &[("USPS", &[("n_atoms", "128"), ("sparsity", "0.5")])],
};

register!(GraphSc);

impl GraphSc {
    /// Fits raw samples, watched, with preparation, seed, threads and graph of your own.
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
        self.composition().run(self.values(), samples, options, watch)
    }

    /// Bytes that a fit of this size will need at its peak, samples included.
    #[must_use]
    pub fn memory_needed<T: Real>(
        &self,
        n_features: usize,
        n_samples: usize,
        n_classes: usize,
    ) -> u64 {
        self.composition().memory_needed::<T>(n_features, n_samples, n_classes)
    }

    fn composition(&self) -> Composition {
        Composition {
            method: &DESCRIPTION,
            n_atoms: self.n_atoms.into(),
            atom_norm: self.atom_norm,
            fill_atoms: true,
            weights: Weights {
                sparsity: self.sparsity,
                manifold: self.manifold,
                discrimination: 0.0,
                ridge: 0.0,
            },
            graph: GraphKnobs {
                graph: self.graph,
                n_neighbors: self.n_neighbors,
                width: self.width,
                percentile: self.percentile,
                smoothness: self.smoothness,
                normalise_trace: self.normalise_trace,
            },
            halve_new: self.halve_new,
            denoise: self.denoise,
            classifier: Ending::Svm {
                loss: self.loss,
                box_constraints: self.box_constraints,
                folds: self.folds,
            },
            max_iterations: self.max_iterations,
            tolerance: self.tolerance,
            coder: self.coder,
            coder_steps: self.coder_steps,
            coder_tolerance: self.coder_tolerance,
            batch_size: self.batch_size,
            dictionary_update: self.dictionary_update,
            revive: self.revive,
        }
    }
}
