//! SSDL-GA: semi-supervised dictionary learning with graph regularisation and active points.
//!
//! Tran, Ngolè Mboula, Starck, Prost. This file composes; the mathematics is in the stages.

use std::time::Instant;

use super::request::{Admitted, admit};
use super::{Description, Method, Options};
use crate::classifier::ActivePoints;
use crate::codes::{Batches, Coordinate, Descent, Fista};
use crate::dictionary::{Block, Dual, ProjectedFista, Update};
use crate::fit::{
    CoderMemory, Fitted, Flow, Progress, Recipe, Sizes, Step, Watch, Weights, alternate,
    memory_needed,
};
use crate::graph::{Graph, Laplacian, Lle};
use crate::knobs::{Knob, choice, knobs};
use crate::model::{Assembly, Model, OutOfSample};
use crate::{Error, Real, Result, Samples};

choice! {
    /// How the codes are brought down.
    pub enum Coder {
        /// Block coordinate descent on supports.
        Coordinate = "coordinate",
        /// The paper's FISTA.
        Fista = "fista",
        /// The paper's batches and epochs, for little memory.
        Batches = "batches",
    }
}

choice! {
    /// How the atoms are brought down.
    pub enum DictionaryUpdate {
        /// Block coordinate descent.
        Block = "block",
        /// The paper's projected FISTA.
        Fista = "fista",
        /// The Lagrange dual of Lee et al.
        Dual = "dual",
    }
}

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
        /// Number of atoms; cut to the number of samples that are not zero.
        n_atoms "p": usize = 200, WholeFrom(1);
        /// Weight of the l1 norm of the codes; twice scikit-learn's `alpha`.
        sparsity "λ": f64 = 0.3, From(0.0);
        /// Weight of the graph term.
        manifold "β": f64 = 0.5, From(0.0);
        /// Weight of the classifier's loss on the codes.
        discrimination "γ": f64 = 0.5, From(0.0);
        /// Weight of the classifier's own size; only its ratio to `discrimination` matters to it.
        ridge "μ": f64 = 1.0, Above(0.0);
        /// Neighbours of a sample in the graph; cut to one less than the number of samples.
        n_neighbors "k": usize = 8, WholeFrom(1);
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

/// The register's view of SSDL-GA.
pub(super) struct Entry;

impl<T: Real> Method<T> for Entry {
    fn describe(&self) -> &'static Description {
        &DESCRIPTION
    }

    fn knobs(&self) -> Vec<Knob> {
        SsdlGa::knobs()
    }

    fn check(&self, knobs: &[(String, String)]) -> Result<()> {
        SsdlGa::from_pairs(knobs).map(drop)
    }

    fn memory_needed(
        &self,
        knobs: &[(String, String)],
        n_features: usize,
        n_samples: usize,
        n_classes: usize,
    ) -> Result<u64> {
        Ok(SsdlGa::from_pairs(knobs)?.memory_needed::<T>(n_features, n_samples, n_classes))
    }

    fn fit(
        &self,
        knobs: &[(String, String)],
        samples: Samples<T>,
        options: &Options<T>,
        watch: &mut dyn Watch,
    ) -> Result<Model<T>> {
        SsdlGa::from_pairs(knobs)?.fit_with(samples, options, watch)
    }
}

impl SsdlGa {
    /// From (name, value) text on top of the defaults.
    ///
    /// # Errors
    /// If a name is unknown or a value out of range.
    pub fn from_pairs(knobs: &[(String, String)]) -> Result<Self> {
        let mut own = Self::new();
        for (name, value) in knobs {
            own.set(name, value)?;
        }
        Ok(own)
    }

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
        self.run(samples, options, watch, &DESCRIPTION)
    }

    /// The common body of SSDL-GA and of USSDL, which has no graph.
    pub(super) fn run<T: Real>(
        &self,
        samples: Samples<T>,
        options: &Options<T>,
        watch: &mut dyn Watch,
        method: &'static Description,
    ) -> Result<Model<T>> {
        self.check()?;
        crate::threads::run(options.threads, || {
            let started = Instant::now();
            let admitted = admit(samples, options, watch)?;
            let knobs = self.cut_to(&admitted, watch);
            knobs.within_memory(&admitted, options)?;
            let graph_started = Instant::now();
            let laplacian = knobs.graph(&admitted, options)?;
            let graph_seconds = graph_started.elapsed().as_secs_f64();
            let first = Progress {
                iteration: 0,
                max_iterations: knobs.max_iterations,
                step: Step::Graph,
                objective: None,
            };
            if watch.step(&first) == Flow::Stop {
                return Err(Error::Cancelled);
            }
            let fitted = knobs.alternate(&admitted, laplacian.as_ref(), options.seed, watch)?;
            let rule = OutOfSample {
                sparsity: knobs.sparsity,
                manifold: if laplacian.is_some() { knobs.manifold } else { 0.0 },
                n_neighbors: match &options.graph {
                    Some(graph) => graph.n_neighbors(),
                    None => knobs.n_neighbors,
                },
                sharpness: knobs.sharpness,
            };
            Ok(Model::assemble(Assembly {
                method: method.name,
                knobs: knobs.values(),
                labels: admitted.labels,
                preparation: admitted.pipeline,
                training: admitted.features,
                fitted,
                rule,
                image: options.image,
                seed: options.seed,
                graph_seconds,
                seconds: started.elapsed().as_secs_f64(),
            }))
        })
    }

    /// The knobs cut to what these samples can give, with a word about each cut.
    fn cut_to<T: Real>(&self, admitted: &Admitted<T>, watch: &mut dyn Watch) -> Self {
        let n = admitted.features.columns();
        let mut knobs = *self;
        if knobs.n_atoms > n {
            watch.notice(&format!(
                "n_atoms cut from {} to {n}, the number of samples",
                self.n_atoms
            ));
            knobs.n_atoms = n;
        }
        if knobs.uses_graph() && knobs.n_neighbors > n - 1 {
            let most = (n - 1).max(1);
            if knobs.n_neighbors > most {
                watch.notice(&format!(
                    "n_neighbors cut from {} to {most}: a sample has no more neighbours",
                    self.n_neighbors
                ));
            }
            knobs.n_neighbors = most;
        }
        knobs
    }

    fn uses_graph(&self) -> bool {
        self.manifold > 0.0
    }

    /// Bytes that a fit of this size will need at its peak, samples included.
    #[must_use]
    pub fn memory_needed<T: Real>(
        &self,
        n_features: usize,
        n_samples: usize,
        n_classes: usize,
    ) -> u64 {
        memory_needed(&Sizes {
            n_features,
            n_samples,
            n_atoms: self.n_atoms.min(n_samples),
            n_classes,
            n_neighbors: if self.uses_graph() { self.n_neighbors } else { 0 },
            scalar: size_of::<T>(),
            coder: match self.coder {
                Coder::Coordinate => CoderMemory::Whole(if self.uses_graph() { 2 } else { 1 }),
                Coder::Fista => CoderMemory::Whole(if self.uses_graph() { 9 } else { 7 }),
                Coder::Batches => CoderMemory::Batch(self.batch_size),
            },
        })
    }

    fn within_memory<T: Real>(&self, admitted: &Admitted<T>, options: &Options<T>) -> Result<()> {
        let (n, count) = (admitted.features.rows(), admitted.features.columns());
        let needed = self.memory_needed::<T>(n, count, admitted.labels.classes().len());
        match options.memory_limit {
            Some(allowed) if needed > allowed => Err(Error::Memory { needed, allowed }),
            _ => Ok(()),
        }
    }

    fn graph<T: Real>(
        &self,
        admitted: &Admitted<T>,
        options: &Options<T>,
    ) -> Result<Option<Laplacian<T>>> {
        if !self.uses_graph() {
            return Ok(None);
        }
        match &options.graph {
            Some(graph) => graph.build(&admitted.features).map(Some),
            None => Lle { n_neighbors: self.n_neighbors }.build(&admitted.features).map(Some),
        }
    }

    fn alternate<T: Real>(
        &self,
        admitted: &Admitted<T>,
        laplacian: Option<&Laplacian<T>>,
        seed: u64,
        watch: &mut dyn Watch,
    ) -> Result<Fitted<T>> {
        let steps = |default| if self.coder_steps == 0 { default } else { self.coder_steps };
        let tolerance = self.coder_tolerance;
        let coordinate = Coordinate { sweeps: steps(1), inner_sweeps: 4, tolerance };
        let fista = Fista { iterations: steps(50), tolerance };
        let batches = Batches {
            size: self.batch_size,
            epochs: steps(3),
            inner: Fista { iterations: 50, tolerance },
            seed,
        };
        let coder: &dyn Descent<T> = match self.coder {
            Coder::Coordinate => &coordinate,
            Coder::Fista => &fista,
            Coder::Batches => &batches,
        };
        let update: &dyn Update<T> = match self.dictionary_update {
            DictionaryUpdate::Block => &Block { sweeps: 2, tolerance: 1e-3 },
            DictionaryUpdate::Fista => &ProjectedFista { iterations: 50, tolerance: 1e-3 },
            DictionaryUpdate::Dual => &Dual { iterations: 50, tolerance: 1e-6 },
        };
        let recipe = Recipe {
            laplacian,
            coder,
            update,
            active_points: self.active_points,
            weights: Weights {
                sparsity: self.sparsity,
                manifold: self.manifold,
                discrimination: self.discrimination,
                ridge: self.ridge,
            },
            sharpness: self.sharpness,
            n_atoms: self.n_atoms,
            atom_norm: self.atom_norm,
            revive: self.revive,
            max_iterations: self.max_iterations,
            tolerance: self.tolerance,
            seed,
        };
        alternate(&admitted.features, &admitted.labels, &recipe, watch)
    }
}
