//! SSDL-GA: semi-supervised dictionary learning with graph regularisation and active points.
//!
//! Tran, Ngolè Mboula, Starck, Prost. This file composes; the mathematics is in the stages.

use super::compose::{Coder, Composition, DictionaryUpdate, Ending};
use super::connect::{GraphChoice, GraphKnobs};
use super::{Description, Options, register};
use crate::classifier::ActivePoints;
use crate::dictionary::AtomCount;
use crate::fit::{Watch, Weights};
use crate::graph::Width;
use crate::knobs::knobs;
use crate::model::Model;
use crate::{Real, Result, Samples};

knobs! {
    /// The knobs of SSDL-GA, and the way to fit it from code.
    ///
    /// ```
    /// use ssdl::{Labels, Matrix, Samples, methods::SsdlGa};
    ///
    /// # fn main() -> ssdl::Result<()> {
    /// // Two clouds in the plane, one labelled sample each.
    /// let side = |j: usize| if j % 2 == 0 { 1.0 } else { -1.0 };
    /// let features = Matrix::from_fn(2, 20, |i, j| if i == 0 { side(j) } else { 0.1 * j as f64 });
    /// let mut names = vec![None; 20];
    /// (names[0], names[1]) = (Some("right"), Some("left"));
    /// let samples = Samples::new(features.clone(), Labels::from_names(&names))?;
    /// let model = SsdlGa::new().n_atoms(8).n_neighbors(3).fit(samples)?;
    /// assert_eq!(model.predict(features)?.labels[2], "right");
    /// # Ok(())
    /// # }
    /// ```
    pub struct SsdlGa {
        /// Number of atoms, cut to the samples; `auto`: a feature each, or 10 a class if more, 200 at most.
        n_atoms "p": AtomCount = AtomCount::Auto, AutoOrFrom(1);
        /// Weight of the l1 norm of the codes; twice scikit-learn's `alpha`.
        sparsity "λ": f64 = 0.3, From(0.0);
        /// Weight of the graph term.
        manifold "β": f64 = 0.5, From(0.0);
        /// Weight of the classifier's loss on the codes.
        discrimination "γ": f64 = 0.5, From(0.0);
        /// Weight of the classifier's own size; only its ratio to `discrimination` matters to it.
        ridge "μ": f64 = 1.0, Above(0.0);
        /// Graph between the samples.
        graph "": GraphChoice = GraphChoice::Lle, OneOf(GraphChoice::WORDS);
        /// Neighbours of a sample in an `lle` or `heat` graph; cut to one less than the samples.
        n_neighbors "k": usize = 8, WholeFrom(1);
        /// Width of the kernel of a `heat` or `threshold` graph; `0.5x` is half the mean distance.
        width "σ": Width = Width::Relative(1.0), Above(0.0);
        /// Share of all pairs of samples that a `threshold` graph joins.
        percentile "ζ": f64 = 0.02, Between(0.0, 1.0);
        /// How evenly a `learnt` graph spreads its weights; tied to squared distances.
        smoothness "β_L": f64 = 5.0, Above(0.0);
        /// Whether the graph is scaled so that its trace is the number of samples.
        normalise_trace "": bool = false, Switch;
        /// Whether new samples lean half as much on a `heat` or `threshold` graph, as printed.
        halve_new "": bool = false, Switch;
        /// Iterations without the graph, which is then built from the reconstructions.
        denoise "": usize = 0, WholeFrom(0);
        /// How undecided memberships may be: 1 votes for one class only, larger spreads the vote.
        sharpness "r": f64 = 1.7, From(1.0);
        /// Largest length of an atom.
        atom_norm "α": f64 = 1.0, Above(0.0);
        /// Outer iterations at the most.
        max_iterations "": usize = 15, WholeFrom(1);
        /// Relative change of the objective that counts as settled, once hardly a label changes.
        tolerance "": f64 = 1.5e-3, From(0.0);
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
        /// Whether the loss is majorised (never rises) or frozen as in the paper.
        active_points "": ActivePoints = ActivePoints::Majorised, OneOf(ActivePoints::WORDS);
        /// Whether atoms that nobody uses are replaced by badly reconstructed samples.
        revive "": bool = true, Switch;
    }
}

pub(super) const DESCRIPTION: Description = Description {
    name: "ssdl-ga",
    title: "Semi-supervised dictionary learning with graph regularisation and active points",
    reference: "Tran, Ngolè Mboula, Starck, Prost (2020)",
    link: "https://arxiv.org/abs/2009.05964",
    objective: r"\min_{D\in\mathcal C,A,W,b,P}\ \lVert X-DA\rVert_F^2+\lambda\lVert A\rVert_1
+\beta\sum_i\Bigl\lVert a_i-\sum_{j\in\mathrm{knn}(i)}\hat\lambda_{ij}a_j\Bigr\rVert^2
+\gamma\sum_j\sum_kP_{kj}^r\,e_k(W^\top a_j+b)+\mu(\lVert W\rVert^2+\lVert b\rVert^2)",
    objective_text: "|X - DA|^2 + sparsity |A|_1 + manifold sum_i |a_i - sum_j v_ij a_j|^2\n\
+ discrimination sum_j sum_k P_kj^sharpness e_k(W'a_j + b) + ridge (|W|^2 + |b|^2)",
    summary: "Atoms, sparse codes and a linear classifier are learnt together from labelled and \
unlabelled samples. An LLE graph keeps the shape of the data in the codes, unlabelled samples vote \
with class memberships, and the classifier is fitted on active points only. New samples are coded \
with the same graph.",
    semi_supervised: true,
    inductive: true,
    uses_graph: true,
    coding: "group",
    published: &[
        (
            "USPS",
            &[
                ("n_atoms", "200"),
                ("sparsity", "0.3"),
                ("manifold", "0.5"),
                ("discrimination", "0.5"),
                ("ridge", "1"),
                ("n_neighbors", "8"),
                ("sharpness", "1.7"),
            ],
        ),
        (
            "MNIST",
            &[
                ("n_atoms", "200"),
                ("sparsity", "0.5"),
                ("manifold", "1"),
                ("discrimination", "1"),
                ("ridge", "2"),
                ("n_neighbors", "8"),
                ("sharpness", "2"),
            ],
        ),
        (
            "Extended YaleB",
            &[
                ("n_atoms", "380"),
                ("sparsity", "0.005"),
                ("manifold", "2"),
                ("discrimination", "0.5"),
                ("ridge", "1"),
                ("n_neighbors", "4"),
                ("sharpness", "1.5"),
            ],
        ),
        (
            "AR",
            &[
                ("n_atoms", "300"),
                ("sparsity", "0.0015"),
                ("manifold", "0.3"),
                ("discrimination", "0.08"),
                ("ridge", "0.16"),
                ("n_neighbors", "8"),
                ("sharpness", "1.5"),
            ],
        ),
    ],
};

register!(SsdlGa);

impl SsdlGa {
    /// Fits raw samples with the paper's preparation (unit norm times 5), seed 0 and all cores.
    ///
    /// # Errors
    /// If a knob, the labels or the samples do not allow it.
    pub fn fit<T: Real>(&self, samples: Samples<T>) -> Result<Model<T>> {
        self.fit_with(samples, &Options::default(), &mut crate::fit::Silent)
    }

    /// Fits raw samples, watched, with preparation, seed, threads and graph of your own.
    ///
    /// Cost per outer iteration $O(npN+np^2+p\,\mathrm{nnz}(A)+p^3)$, once $nN^2$ for neighbours;
    /// memory $O(N(n+p))$.
    ///
    /// # Errors
    /// If a knob, the labels or the samples do not allow it, or the memory limit is too low.
    pub fn fit_with<T: Real>(
        &self,
        samples: Samples<T>,
        options: &Options<T>,
        watch: &mut dyn Watch,
    ) -> Result<Model<T>> {
        self.fit_as(samples, options, watch, &DESCRIPTION)
    }

    /// The body of SSDL-GA, and of USSDL, which has no graph.
    pub(super) fn fit_as<T: Real>(
        &self,
        samples: Samples<T>,
        options: &Options<T>,
        watch: &mut dyn Watch,
        method: &'static Description,
    ) -> Result<Model<T>> {
        self.check()?;
        self.composition(method).run(self.values(), samples, options, watch)
    }

    /// Bytes that a fit of this size will need at its peak, samples included.
    #[must_use]
    pub fn memory_needed<T: Real>(
        &self,
        n_features: usize,
        n_samples: usize,
        n_classes: usize,
    ) -> u64 {
        self.composition(&DESCRIPTION).memory_needed::<T>(n_features, n_samples, n_classes)
    }

    fn composition(&self, method: &'static Description) -> Composition {
        Composition {
            method,
            n_atoms: self.n_atoms,
            atom_norm: self.atom_norm,
            fill_atoms: false,
            weights: Weights {
                sparsity: self.sparsity,
                manifold: self.manifold,
                discrimination: self.discrimination,
                ridge: self.ridge,
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
            classifier: Ending::Margin {
                sharpness: self.sharpness,
                active_points: self.active_points,
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
