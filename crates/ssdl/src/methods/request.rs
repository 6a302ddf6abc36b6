//! What every fit is asked with, the checks that every fit begins with, and how a fit without atoms
//! ends.

use std::sync::Arc;
use std::time::Instant;

use super::Register;
use super::compose::SVM_SHARPNESS;
use crate::classifier::{Decision, labelled};
use crate::fit::{Flow, Objective, Progress, Start, Step, Stop, TraceRow, Watch};
use crate::graph::Graph;
use crate::model::{Assembly, Learnt, Model, OutOfSample};
use crate::samples::prepare::{Pipeline, Plan};
use crate::{Error, Labels, Matrix, Real, Result, Samples};

/// How to run a fit; none of it is part of the method.
#[derive(Clone)]
pub struct Options<T> {
    /// Seed of everything random.
    pub seed: u64,
    /// Threads; 0 means one per core. The result does not depend on it.
    pub threads: usize,
    /// Bytes that the fit may use.
    pub memory_limit: Option<u64>,
    /// Preparation steps, fitted on the training samples and saved in the model.
    pub prepare: Vec<Plan>,
    /// Preparation that an earlier fit learnt, used as it is instead of `prepare`.
    pub preparation: Option<Pipeline<T>>,
    /// A graph to use instead of the method's own.
    pub graph: Option<Arc<dyn Graph<T> + Send>>,
    /// Atoms and codes to begin with, from an earlier fit of the same samples; left aside where their
    /// sizes do not fit.
    pub start: Option<Start<T>>,
    /// Height and width, where samples are images (pixels row by row): for preparation steps that
    /// work on images, and kept in the model for pictures.
    pub image: Option<[usize; 2]>,
}

impl<T: Real> Default for Options<T> {
    /// Seed 0, all cores, no limit, and the paper's preparation: unit norm times 5.
    fn default() -> Self {
        Self {
            seed: 0,
            threads: 0,
            memory_limit: None,
            prepare: "scale=5".parse().into_iter().collect(),
            preparation: None,
            graph: None,
            start: None,
            image: None,
        }
    }
}

/// Samples that passed the checks, prepared.
pub(super) struct Admitted<T> {
    pub features: Matrix<T>,
    pub labels: Labels,
    pub pipeline: Pipeline<T>,
}

impl<T: Real> Admitted<T> {
    /// Features, samples and classes.
    pub fn sizes(&self) -> (usize, usize, usize) {
        (self.features.rows(), self.features.columns(), self.labels.classes().len())
    }
}

/// Refuses a fit that needs more bytes than it may use.
pub(super) fn within_memory<T>(needed: u64, options: &Options<T>) -> Result<()> {
    match options.memory_limit {
        Some(allowed) if needed > allowed => Err(Error::Memory { needed, allowed }),
        _ => Ok(()),
    }
}

/// Tells the watcher of a step before there is anything to give back; if it stops the fit, there is
/// no model.
pub(super) fn announce(step: Step, max_iterations: usize, watch: &mut dyn Watch) -> Result<()> {
    if goes_on(watch, step, (0, max_iterations), None) { Ok(()) } else { Err(Error::Cancelled) }
}

/// Refuses what no method can learn from, and prepares the rest.
pub(super) fn admit<T: Real>(
    samples: Samples<T>,
    options: &Options<T>,
    watch: &mut dyn Watch,
) -> Result<Admitted<T>> {
    let labels = samples.labels();
    let counts = labels.counts();
    if labels.n_labelled() == 0 {
        return Err(Error::Labels("no sample is labelled; at least two classes are needed".into()));
    }
    if labels.classes().len() < 2 {
        let only = &labels.classes()[0];
        return Err(Error::Labels(format!(
            "all labelled samples are of one class, `{only}`; at least two classes are needed"
        )));
    }
    for (class, _) in labels.classes().iter().zip(&counts).filter(|(_, count)| **count == 0) {
        watch.notice(&format!("class `{class}` has no labelled sample and can hardly be learnt"));
    }
    let (features, labels) = samples.into_parts();
    let (pipeline, features) = match &options.preparation {
        Some(known) => (known.clone(), known.apply(features)?),
        None => Pipeline::fit(&options.prepare, features, options.image, options.seed)?,
    };
    warn_of_scale(&features, watch);
    Ok(Admitted { features, labels, pipeline })
}

/// What a method without atoms finds.
pub(super) struct Found<T> {
    pub decision: Decision<T>,
    pub objective: Objective,
    pub iterations: usize,
    pub stop: Stop,
    pub graph_seconds: f64,
}

impl<T: Real> Admitted<T> {
    /// The labelled samples, and the class of each.
    pub fn known(&self) -> (Matrix<T>, Vec<usize>) {
        let classes = self.labels.assigned().iter().flatten().copied().collect();
        (self.features.select_columns(&labelled(&self.labels)), classes)
    }

    /// Refuses a fit that would take more memory than the options allow.
    fn within_memory<K: Register>(&self, knobs: &K, options: &Options<T>) -> Result<()> {
        let (n_features, n_samples, n_classes) = self.sizes();
        within_memory(knobs.bytes::<T>(n_features, n_samples, n_classes), options)
    }

    /// The model of a method that classifies the prepared samples as they are.
    fn into_model(
        self,
        (method, knobs): (&'static str, Values),
        options: &Options<T>,
        started: Instant,
        found: Found<T>,
    ) -> Model<T> {
        let seconds = started.elapsed().as_secs_f64();
        let end = TraceRow {
            iteration: found.iterations,
            step: Step::Classifier,
            objective: found.objective,
            surrogate: found.objective.total(),
            flips: 0,
            seconds: (seconds - found.graph_seconds).max(0.0),
        };
        Model::assemble(Assembly {
            method,
            knobs,
            labels: self.labels,
            preparation: self.pipeline,
            tied: None,
            learnt: Learnt {
                atoms: None,
                codes: self.features,
                decision: found.decision,
                trace: vec![end],
                stop: found.stop,
                iterations: found.iterations,
                dead_atoms: 0,
                revived_atoms: 0,
            },
            rule: OutOfSample {
                sparsity: 0.0,
                manifold: 0.0,
                sharpness: SVM_SHARPNESS,
                denoise: false,
            },
            image: options.image,
            seed: options.seed,
            graph_seconds: found.graph_seconds,
            seconds,
        })
    }
}

/// Knobs by name, as text.
type Values = Vec<(&'static str, String)>;

/// A fit without atoms from beginning to end: `find` sees the prepared samples and gives back what
/// it found, with the knobs as it used them.
pub(super) fn fit_without_atoms<T: Real, K: Register + Sync>(
    knobs: &K,
    samples: Samples<T>,
    options: &Options<T>,
    watch: &mut dyn Watch,
    find: impl FnOnce(&Admitted<T>, &mut dyn Watch) -> Result<(Values, Found<T>)> + Send,
) -> Result<Model<T>> {
    crate::threads::run(options.threads, || {
        let started = Instant::now();
        let admitted = admit(samples, options, watch)?;
        admitted.within_memory(knobs, options)?;
        if !K::DESCRIPTION.uses_graph {
            say_that_a_graph_is_not_used(options, watch);
        }
        let (used, found) = find(&admitted, watch)?;
        Ok(admitted.into_model((K::DESCRIPTION.name, used), options, started, found))
    })
}

/// A graph that was brought but has no part in the fit deserves a word.
pub(super) fn say_that_a_graph_is_not_used<T>(options: &Options<T>, watch: &mut dyn Watch) {
    if options.graph.is_some() {
        watch.notice("the graph that was given is not used: this fit has no graph term");
    }
}

/// Tells the watcher that a step is done; false if it wants no more.
pub(super) fn goes_on(
    watch: &mut dyn Watch,
    step: Step,
    (iteration, max_iterations): (usize, usize),
    objective: Option<Objective>,
) -> bool {
    watch.step(&Progress { iteration, max_iterations, step, objective }) == Flow::Continue
}

/// A number of neighbours cut to what there is, with a word about it.
pub(super) fn cut_neighbours(asked: usize, most: usize, watch: &mut dyn Watch) -> usize {
    if asked > most {
        watch.notice(&format!("n_neighbors cut from {asked} to {most}: there are no more"));
    }
    asked.min(most)
}

/// Bytes of the samples and of this many $C\times N$ arrays in double precision: what every method
/// without atoms needs.
pub(super) fn bytes_of<T: Real>(n_features: usize, n_samples: usize, arrays: usize) -> u64 {
    let [n, count, arrays] = [n_features, n_samples, arrays].map(|size| size as u64);
    let samples = n.saturating_mul(count).saturating_mul(size_of::<T>() as u64);
    samples.saturating_add(arrays.saturating_mul(count).saturating_mul(8))
}

/// The weights of the objective are tied to the length of the samples: far from the paper's 2 to 5
/// they do not mean what their defaults say.
fn warn_of_scale<T: Real>(features: &Matrix<T>, watch: &mut dyn Watch) {
    let length = (features.squared_norm() / features.columns() as f64).sqrt();
    if length > 25.0 || (length > 0.0 && length < 0.4) {
        watch.notice(&format!(
            "prepared samples have a typical length of {length:.3}; the default knobs are meant \
             for 2 to 5: prepare with scale=5, or multiply sparsity, manifold, discrimination and \
             ridge by the square of the factor"
        ));
    }
}
