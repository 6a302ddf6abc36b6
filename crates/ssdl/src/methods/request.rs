//! What every fit is asked with, and the checks that every fit begins with.

use std::sync::Arc;

use crate::fit::{Flow, Progress, Start, Step, Watch};
use crate::graph::Graph;
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
    match watch.step(&Progress { iteration: 0, max_iterations, step, objective: None }) {
        Flow::Continue => Ok(()),
        Flow::Stop => Err(Error::Cancelled),
    }
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
    let Options { prepare, image, seed, .. } = options;
    let (pipeline, features) = Pipeline::fit(prepare, features, *image, *seed)?;
    warn_of_scale(&features, watch);
    Ok(Admitted { features, labels, pipeline })
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
