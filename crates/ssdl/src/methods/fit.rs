//! The way from raw samples to a model, the same for every method.

use std::borrow::Cow;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Instant;

use super::any::AnyLearner;
use super::hidden;
use crate::classifier::Calibration;
use crate::device::Device;
use crate::fit::parts::Crew;
use crate::fit::{
    GRAPH_NOT_USED, Given, Learnt, Sizes, Start, Stop, Turns, Watch, array, contradictions,
    preparation, scale_of_features, swallowed,
};
use crate::graph::Graph;
use crate::model::{Model, Origin};
use crate::samples::prepare::{Measured, Pipeline, StepChoice};
use crate::samples::weights::{self, ClassWeight, Weights};
use crate::{Error, Labels, Matrix, Real, Result, Samples, device, stop};

/// How to run a fit; none of it is part of the method.
#[derive(Clone)]
pub struct FitOptions<T> {
    /// Seed of everything random.
    pub seed: u64,
    /// Threads; 0 means one per core. The result does not depend on it.
    pub threads: usize,
    /// Bytes that the fit may use.
    pub memory_limit: Option<u64>,
    /// Preparation steps, fitted on the training samples and saved in the model.
    pub prepare: Vec<StepChoice>,
    /// Preparation learnt by an earlier fit, used unchanged instead of `prepare`.
    pub preparation: Option<Pipeline<T>>,
    /// A graph to use instead of the method's own.
    pub graph: Option<Arc<dyn Graph<T> + Send>>,
    /// Atoms and codes to begin with, from an earlier fit of the same samples; ignored where their
    /// sizes do not fit.
    pub start: Option<Start<T>>,
    /// Whether probabilities are calibrated: by three more fits with labels hidden in turn, on at most
    /// 3,000 samples each.
    pub calibrate: bool,
    /// Height and width, where samples are images (pixels row by row): for preparation steps that
    /// work on images, and kept in the model for pictures.
    pub image: Option<[usize; 2]>,
    /// A folder for a file of the prepared samples: once the graph is built they are read from there, a
    /// block at a time, and take no memory. Methods that need them in memory say so and keep them there.
    pub scratch: Option<PathBuf>,
    /// Who carries the samples, if they lie in several parts: the samples of the fit are then only those that the
    /// model keeps, with all labels among them. Few methods can.
    pub crew: Option<Arc<dyn Crew>>,
    /// How much each sample counts in the classifier's loss, 0 or more; only ratios matter. Samples of
    /// weight zero are left out altogether: the model knows only the others, in their order.
    pub sample_weight: Option<Vec<f64>>,
    /// How much the labels of each class count.
    pub class_weight: Option<ClassWeight>,
    /// A device for the heavy steps; `None` computes on the processor.
    pub device: Option<Arc<dyn Device>>,
}

impl<T: Real> Default for FitOptions<T> {
    /// Seed 0, all cores, no limit, and a preparation that suits the samples.
    fn default() -> Self {
        Self {
            seed: 0,
            threads: 0,
            memory_limit: None,
            prepare: "auto".parse().into_iter().collect(),
            preparation: None,
            graph: None,
            start: None,
            calibrate: true,
            image: None,
            scratch: None,
            crew: None,
            sample_weight: None,
            class_weight: None,
            device: None,
        }
    }
}

/// Fits a method: checks, prepares, reduces, learns, and puts the model together.
pub(super) fn fit<T: Real>(
    knobs: &dyn AnyLearner<T>,
    samples: Samples<T>,
    options: &FitOptions<T>,
    watch: &mut dyn Watch,
) -> Result<Model<T>> {
    knobs.check()?;
    let signal = watch.signal();
    crate::threads::run(options.threads, || {
        device::lend(options.device.clone(), || {
            let learnt = stop::arm(signal, || learn(knobs, samples, options, watch));
            device::check().and(learnt)
        })
    })
}

fn learn<T: Real>(
    knobs: &dyn AnyLearner<T>,
    samples: Samples<T>,
    options: &FitOptions<T>,
    watch: &mut dyn Watch,
) -> Result<Model<T>> {
    let started = Instant::now();
    let (samples, start, weights) = weigh(samples, options)?;
    check_labels(samples.labels(), watch)?;
    let (features, labels) = samples.into_shared();
    let n_raw = features.rows();
    let (preparation, (samples, lengths)) = prepared(features, &labels, options, watch)?;
    if stop::armed().is_set() {
        return Err(Error::Cancelled);
    }
    check_scale(&samples, watch);
    let graph = options.graph.as_deref().map(|graph| graph as &dyn Graph<T>);
    let start = start.as_deref();
    let crew = options.crew.as_deref();
    let seed = options.seed;
    let mut given =
        Given { samples, parked: None, lengths, labels, weights, graph, start, crew, seed };
    let knobs = &*knobs.cut(&given.sizes(), &mut |sentence| watch.notice(sentence));
    let sizes = given.sizes();
    if crew.is_some() && !knobs.can_be_in_parts() {
        return Err(Error::Samples(format!(
            "`{}` cannot learn from samples in several parts; `ssdl-ga`, `ussdl` and `label-spreading` \
             can",
            knobs.description().name
        )));
    }
    let scratch = options.scratch.as_deref().filter(|_| crew.is_none());
    let folder = scratch.filter(|_| knobs.can_park(&sizes));
    let sizes = Sizes { are_parked: folder.is_some(), ..sizes };
    // Steps that change the number of features have the raw samples beside the prepared ones.
    let both = if sizes.n_features == n_raw { 0 } else { sizes.n_features.saturating_add(n_raw) };
    let needed = knobs.bytes(&sizes).max(array(both, sizes.n_samples, sizes.scalar));
    watch.needs(needed);
    check_memory(needed, options.memory_limit)?;
    // The fits aside come on top; without room for them the model is still worth having.
    let aside = needed.saturating_add(hidden::bytes(knobs, &sizes));
    let has_room = options.memory_limit.is_none_or(|limit| aside <= limit);
    let mut turns = Turns::new(watch);
    if graph.is_some() && !knobs.description().uses_graph {
        turns.notice(GRAPH_NOT_USED);
    }
    if given.weights.given && !knobs.uses_weights() {
        turns.notice(WEIGHTS_NOT_USED);
    }
    if let Some(folder) = folder {
        let connected = turns.graph_ahead(|| knobs.connect(&given))?;
        given.park(folder, connected)?;
    } else if scratch.is_some() {
        turns.notice(NOT_PARKED);
    }
    let learnt = knobs.learn(&given, &mut turns)?;
    // Without a first model, loops may have been cut short; from here on there is one.
    if stop::armed().is_set() {
        return Err(Error::Cancelled);
    }
    stop::disarm();
    let calibration = match options.calibrate && learnt.stop != Stop::Cancelled {
        true => Some(calibration(knobs, (&given, &learnt), has_room, &mut turns)),
        false => None,
    };
    let origin = Origin {
        calibration,
        method: knobs.description().name,
        knobs: knobs.values(),
        preparation,
        image: options.image,
        started,
    };
    let has_prior = origin.knobs.iter().any(|(name, _)| *name == "prior");
    let model = Model::new(origin, given, learnt, turns.into_record());
    model.check()?;
    let doubt = swallowed(&model.found_classes(), model.training_labels(), has_prior);
    doubt.iter().for_each(|sentence| watch.notice(sentence));
    Ok(model)
}

/// Prepared samples, and the lengths that the preparation took from them.
type Prepared<T> = (Arc<Matrix<T>>, Option<Vec<T>>);

/// The preparation, known or fitted, and what it makes of the samples.
fn prepared<T: Real>(
    features: Arc<Matrix<T>>,
    labels: &Labels,
    options: &FitOptions<T>,
    watch: &mut dyn Watch,
) -> Result<(Pipeline<T>, Prepared<T>)> {
    let shared = |(samples, lengths): Measured<T>| (Arc::new(samples), lengths);
    if let Some(known) = &options.preparation {
        let measured = known.apply_measured(Arc::unwrap_or_clone(features))?;
        return Ok((known.clone(), shared(measured)));
    }
    let (image, seed) = (options.image, options.seed);
    let doubts = [
        scale_of_features(&features, &options.prepare, image.is_some()),
        contradictions(&features, labels),
    ];
    doubts.iter().flatten().for_each(|sentence| watch.notice(sentence));
    let chosen = preparation::is_auto(&options.prepare)
        .then(|| preparation::choose(&features, labels, image, seed));
    let steps = chosen.as_deref().unwrap_or(&options.prepare);
    if steps.is_empty() {
        // Samples that other fits share are not copied.
        return Ok((Pipeline::empty(features.rows(), image)?, (features, None)));
    }
    let features = Arc::unwrap_or_clone(features);
    let (fitted, measured) = Pipeline::fit_measured(steps, features, image, seed)?;
    Ok((fitted, shared(measured)))
}

/// How scores become probabilities.
fn calibration<T: Real>(
    knobs: &dyn AnyLearner<T>,
    (given, learnt): (&Given<'_, T>, &Learnt<T>),
    has_room: bool,
    turns: &mut Turns<'_>,
) -> Calibration {
    if let Some(known) = learnt.calibration {
        return known;
    }
    if !has_room {
        turns.notice(
            "probabilities are not calibrated: the fits for it need more memory than allowed",
        );
        return Calibration::unknown();
    }
    // Stopped after the fit itself: the model is whole.
    hidden::calibrate(knobs, (given, learnt), turns).unwrap_or_else(|_| Calibration::unknown())
}

/// The notice where weights are given to a method that cannot use them.
const WEIGHTS_NOT_USED: &str = "the weights are not used: with these knobs the method cannot weigh \
                                samples; those of weight zero are left out";

/// The notice where samples should be on disk and the method cannot read them from there.
const NOT_PARKED: &str = "the samples stay in memory: with these knobs the method cannot read them \
                          from disk";

/// The samples that take part, the start with their codes, and their weights.
type Weighed<'a, T> = (Samples<T>, Option<Cow<'a, Start<T>>>, Weights<T>);

/// Leaves out what has no weight.
fn weigh<'a, T: Real>(samples: Samples<T>, options: &'a FitOptions<T>) -> Result<Weighed<'a, T>> {
    let of_samples = options.sample_weight.as_deref();
    let start = options.start.as_ref().map(Cow::Borrowed);
    let n_samples = samples.n_samples();
    let Some(kept) = weights::kept(of_samples, n_samples)? else {
        let weights = Weights::new(samples.labels(), of_samples, options.class_weight.as_ref())?;
        return Ok((samples, start, weights));
    };
    if options.graph.is_some() {
        return Err(Error::Graph(
            "samples of weight zero are left out of a fit, but the given graph has them: leave them \
             out of the samples and of the graph"
                .into(),
        ));
    }
    if kept.is_empty() {
        return Err(Error::Samples("all have weight zero".into()));
    }
    let some =
        Samples::new(samples.features().select_columns(&kept), samples.labels().select(&kept))?;
    let numbers: Option<Vec<f64>> =
        of_samples.map(|numbers| kept.iter().map(|&place| numbers[place]).collect());
    let weights = Weights::new(some.labels(), numbers.as_deref(), options.class_weight.as_ref())?;
    // An earlier fit may have seen all samples, or already without these.
    let start = start.map(|start| match start.codes.columns() == n_samples {
        true => Cow::Owned(Start {
            atoms: start.atoms.clone(),
            codes: start.codes.select_columns(&kept),
        }),
        false => start,
    });
    Ok((some, start, weights))
}

/// Refuses labels that no method can learn from.
fn check_labels(labels: &Labels, watch: &mut dyn Watch) -> Result<()> {
    if labels.n_labelled() == 0 {
        return Err(Error::Labels("no sample is labelled; at least two classes are needed".into()));
    }
    if let [only] = labels.classes() {
        // Two classes are often written -1 and 1.
        let hint = match only.as_str() {
            "1" => {
                " (-1 means unlabelled: where it is a class, give another marker for unlabelled)"
            }
            _ => "",
        };
        return Err(Error::Labels(format!(
            "all labelled samples are of one class, `{only}`; at least two classes are needed{hint}"
        )));
    }
    for (class, count) in labels.classes().iter().zip(labels.counts()) {
        if count == 0 {
            watch.notice(&format!(
                "class `{class}` has no labelled sample, so it can hardly be learnt"
            ));
        }
    }
    Ok(())
}

/// Refuses a fit that needs more bytes than it may use.
fn check_memory(needed: u64, allowed: Option<u64>) -> Result<()> {
    match allowed {
        Some(allowed) if needed > allowed => Err(Error::Memory { needed, allowed }),
        _ => Ok(()),
    }
}

/// The weights of the objective depend on the length of the samples: far from the paper's 2 to 5
/// their defaults do not fit.
fn check_scale<T: Real>(features: &Matrix<T>, watch: &mut dyn Watch) {
    let length = (features.squared_norm() / features.columns() as f64).sqrt();
    if length > 25.0 || (length > 0.0 && length < 0.4) {
        watch.notice(&format!(
            "prepared samples have a typical length of {length:.3}; the default knobs are meant \
             for 2 to 5: prepare with scale=5, or multiply sparsity, manifold, discrimination and \
             ridge by the square of the factor"
        ));
    }
}
