//! The common body of the methods that learn a dictionary: what they compose, and in which order.

use std::time::Instant;

use super::connect::{GraphKnobs, connect};
use super::request::{Admitted, admit, announce, say_that_a_graph_is_not_used, within_memory};
use super::{Description, Options};
use crate::classifier::svm::{LinearSvm, Loss, Trained};
use crate::classifier::{ActivePoints, best, labelled, margin};
use crate::codes::{Batches, Coordinate, Descent, Fista};
use crate::dictionary::{AtomCount, Block, Dual, ProjectedFista, Update};
use crate::fit::{
    CoderMemory, Fitted, Objective, Recipe, Sizes, Start, Step, Stop, TraceRow, Watch, Weights,
    alternate, memory_needed,
};
use crate::graph::Laplacian;
use crate::knobs::{Grid, choice};
use crate::matrix::squared_norm;
use crate::model::{Assembly, Model, OutOfSample, Tied, code_new};
use crate::{Error, Labels, Matrix, Real, Result, Samples};

/// How undecided the probabilities of an SVM's scores are: the default of SSDL-GA.
pub(super) const SVM_SHARPNESS: f64 = 1.7;

/// Labelled samples that are coded as new ones to see whether the classifier still knows them.
const ASKED: usize = 500;
/// Share of them that may be taken for another class.
const MISJUDGED: f64 = 0.1;
const FITTED_ANEW: &str = "labelled samples coded as new ones were often taken for others, so \
the classifier was fitted anew on codes that know no labels; a smaller `discrimination` may do better";

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

/// Everything that a method decides.
#[derive(Clone, Debug)]
pub(super) struct Composition {
    pub method: &'static Description,
    pub n_atoms: AtomCount,
    pub atom_norm: f64,
    /// Whether mixtures of samples stand in where the samples give too few atoms.
    pub fill_atoms: bool,
    pub weights: Weights,
    pub graph: GraphKnobs,
    /// Whether new samples are tied half as strongly as training samples on graphs of affinities.
    pub halve_new: bool,
    /// Iterations without the graph, after which it is built from the reconstructions.
    pub denoise: usize,
    pub classifier: Ending,
    pub max_iterations: usize,
    pub tolerance: f64,
    pub coder: Coder,
    pub coder_steps: usize,
    pub coder_tolerance: f64,
    pub batch_size: usize,
    pub dictionary_update: DictionaryUpdate,
    pub revive: bool,
}

/// Where the classifier comes from.
#[derive(Clone, Copy, Debug)]
pub(super) enum Ending {
    /// Learnt with the codes, or after them where γ = 0.
    Margin { sharpness: f64, active_points: ActivePoints },
    /// A linear SVM on the labelled codes.
    Svm { loss: Loss, box_constraints: Grid, folds: usize },
}

impl Composition {
    /// Fits raw samples; `knobs` is what the model will say it was fitted with.
    pub fn run<T: Real>(
        mut self,
        mut knobs: Vec<(&'static str, String)>,
        samples: Samples<T>,
        options: &Options<T>,
        watch: &mut dyn Watch,
    ) -> Result<Model<T>> {
        crate::threads::run(options.threads, || {
            let started = Instant::now();
            let admitted = admit(samples, options, watch)?;
            self.cut_to(&admitted, &mut knobs, watch);
            let sizes = admitted.sizes();
            within_memory(self.memory_needed::<T>(sizes.0, sizes.1, sizes.2), options)?;
            let denoised = self.denoise(&admitted, options, watch)?;
            let reconstructed = denoised
                .as_ref()
                .map(|fitted| Matrix::of_product(fitted.atoms.view(), fitted.codes.view()));
            let seen = reconstructed.as_ref().unwrap_or(&admitted.features);
            let connected = match self.uses_graph() {
                true => Some(connect(seen, &self.graph, options, watch)?),
                false => None,
            };
            if connected.is_none() {
                say_that_a_graph_is_not_used(options, watch);
            }
            announce(Step::Graph, self.max_iterations, watch)?;
            let (connected, graph_seconds) = connected.unzip();
            let laplacian = connected.as_ref().map(|c| &c.laplacian);
            let begin = denoised
                .map(|fitted| Start { atoms: fitted.atoms, codes: fitted.codes })
                .or_else(|| self.begin(&admitted, options));
            let mut fitted = self.alternate(&admitted, laplacian, begin, options.seed, watch)?;
            self.classify(&mut fitted, &admitted, options.seed, watch)?;
            let rule = OutOfSample {
                sparsity: self.weights.sparsity,
                manifold: if connected.is_some() { self.weights.manifold } else { 0.0 },
                sharpness: self.sharpness(),
                denoise: reconstructed.is_some(),
            };
            // Without a graph new samples are coded by the atoms alone.
            let tied = connected.map(|connected| Tied {
                training: reconstructed.unwrap_or(admitted.features),
                attachment: connected.attachment.for_new_samples(self.halve_new),
            });
            Ok(Model::assemble(Assembly {
                method: self.method.name,
                knobs,
                labels: admitted.labels,
                preparation: admitted.pipeline,
                tied,
                learnt: fitted.into(),
                rule,
                image: options.image,
                seed: options.seed,
                graph_seconds: graph_seconds.unwrap_or(0.0),
                seconds: started.elapsed().as_secs_f64(),
            }))
        })
    }

    fn uses_graph(&self) -> bool {
        self.weights.manifold > 0.0
    }

    fn sharpness(&self) -> f64 {
        match self.classifier {
            Ending::Margin { sharpness, .. } => sharpness,
            Ending::Svm { .. } => SVM_SHARPNESS,
        }
    }

    /// Cuts sizes to what these samples can give, with a word about each cut.
    fn cut_to<T: Real>(
        &mut self,
        admitted: &Admitted<T>,
        knobs: &mut [(&'static str, String)],
        watch: &mut dyn Watch,
    ) {
        let n = admitted.features.columns();
        let mut n_atoms = self.n_atoms(admitted);
        let known = knobs.iter_mut().filter(|(knob, _)| *knob == "n_atoms");
        known.for_each(|(_, text)| *text = n_atoms.to_string());
        let mut cut = |name: &str, value: &mut usize, most: usize, why: &str| {
            if *value > most {
                watch.notice(&format!("{name} cut from {value} to {most}{why}"));
                *value = most;
                for (_, text) in knobs.iter_mut().filter(|(knob, _)| *knob == name) {
                    *text = most.to_string();
                }
            }
        };
        if !self.fill_atoms {
            cut("n_atoms", &mut n_atoms, n, ", the number of samples");
        }
        self.n_atoms = AtomCount::Exactly(n_atoms);
        if self.uses_graph() {
            let most = (n - 1).max(1);
            let why = ": a sample has no more neighbours";
            cut("n_neighbors", &mut self.graph.n_neighbors, most, why);
        }
    }

    fn n_atoms<T: Real>(&self, admitted: &Admitted<T>) -> usize {
        let (n_features, _, n_classes) = admitted.sizes();
        self.n_atoms.on(n_features, n_classes)
    }

    /// Bytes that a fit of this size will need at its peak, samples included.
    pub fn memory_needed<T: Real>(
        &self,
        n_features: usize,
        n_samples: usize,
        n_classes: usize,
    ) -> u64 {
        let most = if self.fill_atoms { usize::MAX } else { n_samples };
        let row = if self.uses_graph() { self.graph.widest(n_samples) } else { 0 };
        memory_needed(&Sizes {
            n_features,
            n_samples,
            n_atoms: self.n_atoms.on(n_features, n_classes).min(most),
            n_classes,
            n_neighbors: row,
            scalar: size_of::<T>(),
            coder: match self.coder {
                Coder::Coordinate => CoderMemory::Whole(if self.uses_graph() { 2 } else { 1 }),
                Coder::Fista => CoderMemory::Whole(if self.uses_graph() { 9 } else { 7 }),
                Coder::Batches => CoderMemory::Batch(self.batch_size),
            },
        })
    }

    /// The user's start, if it is of the right size.
    fn begin<T: Real>(&self, admitted: &Admitted<T>, options: &Options<T>) -> Option<Start<T>> {
        let (n, count) = (admitted.features.rows(), admitted.features.columns());
        let n_atoms = self.n_atoms(admitted);
        let sizes = (n, n_atoms, n_atoms, count);
        options.start.clone().filter(|Start { atoms, codes }| {
            (atoms.rows(), atoms.columns(), codes.rows(), codes.columns()) == sizes
        })
    }

    /// The first iterations without the graph, if asked for: noise is less in what they reconstruct.
    fn denoise<T: Real>(
        &self,
        admitted: &Admitted<T>,
        options: &Options<T>,
        watch: &mut dyn Watch,
    ) -> Result<Option<Fitted<T>>> {
        if self.denoise == 0 || !self.uses_graph() {
            return Ok(None);
        }
        let first = Self { max_iterations: self.denoise, ..self.clone() };
        let begin = self.begin(admitted, options);
        let fitted = first.alternate(admitted, None, begin, options.seed, watch)?;
        match fitted.stop {
            Stop::Cancelled => Err(Error::Cancelled),
            _ => Ok(Some(fitted)),
        }
    }

    fn alternate<T: Real>(
        &self,
        admitted: &Admitted<T>,
        laplacian: Option<&Laplacian<T>>,
        start: Option<Start<T>>,
        seed: u64,
        watch: &mut dyn Watch,
    ) -> Result<Fitted<T>> {
        let steps = |default| if self.coder_steps == 0 { default } else { self.coder_steps };
        let tolerance = self.coder_tolerance;
        let coordinate = Coordinate { sweeps: steps(1), inner_sweeps: 4, tolerance, direct: false };
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
            DictionaryUpdate::Block => &Block { sweeps: 2, tolerance: 1e-3, nonnegative: false },
            DictionaryUpdate::Fista => &ProjectedFista { iterations: 50, tolerance: 1e-3 },
            DictionaryUpdate::Dual => &Dual { iterations: 50, tolerance: 1e-6 },
        };
        let active_points = match self.classifier {
            Ending::Margin { active_points, .. } => active_points,
            Ending::Svm { .. } => ActivePoints::Majorised,
        };
        let recipe = Recipe {
            laplacian,
            coder,
            update,
            active_points,
            weights: self.weights,
            sharpness: self.sharpness(),
            n_atoms: self.n_atoms(admitted),
            fill_atoms: self.fill_atoms,
            atom_norm: self.atom_norm,
            revive: self.revive,
            max_iterations: self.max_iterations,
            tolerance: self.tolerance,
            seed,
            start,
        };
        alternate(&admitted.features, &admitted.labels, &recipe, watch)
    }

    /// Fits the classifier on the finished codes, where it was not learnt with them.
    fn classify<T: Real>(
        &self,
        fitted: &mut Fitted<T>,
        admitted: &Admitted<T>,
        seed: u64,
        watch: &mut dyn Watch,
    ) -> Result<()> {
        let labels = &admitted.labels;
        let started = Instant::now();
        match self.classifier {
            Ending::Margin { sharpness, active_points } => {
                if fitted.stop == Stop::Cancelled {
                    return Ok(());
                }
                let learnt_already = self.weights.discrimination > 0.0;
                let anew = learnt_already && self.misjudges_as_new(fitted, admitted);
                if learnt_already && !anew {
                    return Ok(());
                }
                if anew {
                    watch.notice(FITTED_ANEW);
                    let Fitted { atoms, codes, .. } = fitted;
                    *codes = code_new(&admitted.features, atoms, self.weights.sparsity, None);
                }
                let (rho, points) = (T::of(self.weights.rho()), (active_points, sharpness));
                margin::fit_apart(&mut fitted.classifier, &fitted.codes, labels, points, rho)?;
            }
            Ending::Svm { loss, box_constraints, folds } => {
                let svm = LinearSvm { loss, seed, ..LinearSvm::default() };
                let grid = (box_constraints, folds);
                fitted.classifier = fit_svm(&svm, &fitted.codes, labels, grid, watch)?.classifier;
            }
        }
        // The objective has no classifier in it; the row is there for its seconds.
        let last = fitted.trace.last().map(|row| TraceRow {
            step: Step::Classifier,
            seconds: started.elapsed().as_secs_f64(),
            ..*row
        });
        fitted.trace.extend(last);
        Ok(())
    }

    /// Whether the labelled samples, coded as new ones will be, are too often taken for others.
    ///
    /// Paper: without a graph the loss bends the codes of training samples, but nothing bends those
    /// of new ones. In many dimensions with few labels that does little harm; with few features the
    /// classifier may not even recognise the samples it was taught.
    fn misjudges_as_new<T: Real>(&self, fitted: &Fitted<T>, admitted: &Admitted<T>) -> bool {
        if self.uses_graph() {
            return false;
        }
        let known = labelled(&admitted.labels);
        let asked: Vec<usize> = known.iter().copied().step_by(known.len() / ASKED + 1).collect();
        let samples = admitted.features.select_columns(&asked);
        let codes = code_new(&samples, &fitted.atoms, self.weights.sparsity, None);
        let scores = fitted.classifier.scores(&codes);
        let said = scores.iter_columns().map(best).zip(&asked);
        let assigned = admitted.labels.assigned();
        let wrong = said.filter(|(class, j)| assigned[**j] != Some(*class)).count();
        wrong as f64 > MISJUDGED * asked.len() as f64
    }
}

/// The terms of an SVM's objective, all classes together. What a class without samples got is not a
/// solution of anything and does not count.
pub(super) fn svm_objective<T: Real>(trained: &Trained<T>) -> Objective {
    let classifier = &trained.classifier;
    let classes = classifier.weights.iter_columns().zip(&classifier.bias).zip(&trained.objective);
    let solved = classes.filter(|(_, objective)| **objective > 0.0);
    let ridge: f64 = solved.map(|((w, b), _)| 0.5 * (squared_norm(w) + b.wide() * b.wide())).sum();
    let discrimination = (trained.objective.iter().sum::<f64>() - ridge).max(0.0);
    Objective { ridge, discrimination, ..Objective::default() }
}

/// Chooses the box constraint by cross-validation where several are given, and trains on all
/// labelled samples.
pub(super) fn fit_svm<T: Real>(
    svm: &LinearSvm,
    features: &Matrix<T>,
    labels: &Labels,
    (grid, folds): (Grid, usize),
    watch: &mut dyn Watch,
) -> Result<Trained<T>> {
    let classes: Vec<usize> = labels.assigned().iter().flatten().copied().collect();
    let (known, n_classes) = (features.select_columns(&labelled(labels)), labels.classes().len());
    let chosen = match grid.values() {
        [only] => *only,
        several => {
            let chosen = svm.choose_box(&known, &classes, n_classes, several, folds)?;
            if chosen.folds_used < folds {
                watch.notice(&match chosen.folds_used {
                    0 => format!(
                        "a class has a single labelled sample, so nothing can be left out: \
                         box constraint {} taken without cross-validation",
                        chosen.box_constraint
                    ),
                    used => format!(
                        "folds cut from {folds} to {used}, the labelled samples of the smallest \
                         class"
                    ),
                });
            }
            chosen.box_constraint
        }
    };
    let trained = svm.fit(&known, &classes, n_classes, chosen)?;
    if !trained.converged {
        watch.notice(&format!("the SVM stopped after {} epochs, unfinished", trained.epochs));
    }
    Ok(trained)
}
