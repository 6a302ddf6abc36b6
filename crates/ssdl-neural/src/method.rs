//! The two methods by name: knobs from text, and the way from samples to a net.

use std::time::Instant;

use burn_tensor::Device;
use ssdl::fit::{Objective, Watch};
use ssdl::knobs::{Knob, Knobbed};
use ssdl::samples::prepare::{Pipeline, StepChoice};
use ssdl::{Labels, Samples};

use crate::cnn::{Cnn, CnnFit};
use crate::ladder::{Ladder, LadderFit};
use crate::layers::{Labelled, parts, pick};
use crate::net::{Net, Report, Scaling, Shape};
use crate::place::Place;
use crate::train::{Schedule, Trainable, Trained, train};
use crate::weights::{Leaves, rows};
use crate::{Error, Result};

/// Samples whose statistics normalise new ones; more change nothing that can be measured.
const MOST_FOR_STATISTICS: usize = 4000;

/// A net that can be fitted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Method {
    /// The convolutional network.
    Cnn,
    /// The Ladder network.
    Ladder,
}

/// How to run a fit.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// Seed of everything random.
    pub seed: u64,
    /// Threads; 0 means one per core.
    pub threads: usize,
    /// Preparation steps, fitted on the training samples and saved with the net.
    pub prepare: Vec<StepChoice>,
    /// Height and width, where samples are images.
    pub image: Option<[usize; 2]>,
    /// Bytes that the fit may use.
    pub memory_limit: Option<u64>,
    /// Where the steps are computed.
    pub place: Place,
}

/// The knobs of a method.
enum Knobs {
    Cnn(Cnn),
    Ladder(Ladder),
}

impl Method {
    /// Both, in the order of the help.
    pub const ALL: [Self; 2] = [Self::Cnn, Self::Ladder];

    /// Its name in text.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Cnn => "cnn",
            Self::Ladder => "ladder",
        }
    }

    /// One sentence for the help.
    #[must_use]
    pub fn summary(self) -> &'static str {
        match self {
            Self::Cnn => "Convolutional network on the labelled images alone.",
            Self::Ladder => "Ladder network: denoises unlabelled samples at every layer.",
        }
    }

    /// The method of this name.
    ///
    /// # Errors
    /// If there is none; the error lists those there are.
    pub fn find(name: &str) -> Result<Self> {
        let found = Self::ALL.into_iter().find(|method| method.name() == name);
        found.ok_or_else(|| {
            let (what, got) = ("net", name.to_owned());
            let known = Self::ALL.map(Self::name).join(", ");
            ssdl::Error::Unknown { what, got, known }.into()
        })
    }

    /// Its knobs with their defaults. Beside them there is `profile=authors`, which begins with the
    /// knobs of the authors' scripts.
    #[must_use]
    pub fn knobs(self) -> Vec<Knob> {
        match self {
            Self::Cnn => Cnn::knobs(),
            Self::Ladder => Ladder::knobs(),
        }
    }

    /// Refuses knobs that are unknown or out of range.
    ///
    /// # Errors
    /// Names the first such knob.
    pub fn check(self, knobs: &[(String, String)]) -> Result<()> {
        self.read(knobs, 1, None).map(drop)
    }

    fn read(
        self,
        pairs: &[(String, String)],
        n_features: usize,
        image: Option<[usize; 2]>,
    ) -> Result<Knobs> {
        let is_profile = |(name, _): &&(String, String)| name == "profile";
        let mut authors = false;
        for (_, value) in pairs.iter().filter(is_profile) {
            authors = match value.as_str() {
                "authors" => true,
                "default" => false,
                other => {
                    return Err(Error::Core(ssdl::Error::Knob {
                        name: "profile".into(),
                        got: other.to_owned(),
                        allowed: "default, authors".into(),
                    }));
                }
            };
        }
        let image = image.unwrap_or_default();
        let mut knobs = match (self, authors) {
            (Self::Cnn, false) => Knobs::Cnn(Cnn::new()),
            (Self::Cnn, true) => Knobs::Cnn(Cnn::authors(image)),
            (Self::Ladder, false) => Knobs::Ladder(Ladder::new()),
            (Self::Ladder, true) => Knobs::Ladder(Ladder::authors(n_features)),
        };
        for (name, value) in pairs.iter().filter(|pair| !is_profile(pair)) {
            match &mut knobs {
                Knobs::Cnn(knobs) => knobs.set(name, value)?,
                Knobs::Ladder(knobs) => knobs.set(name, value)?,
            }
        }
        Ok(knobs)
    }

    /// Learns a net from samples, of which some are labelled.
    ///
    /// Cost: as many passes over the samples as there are epochs. The same seed gives the same net on
    /// the same machine and place. An observer may stop it: the best net so far is returned.
    ///
    /// # Errors
    /// If knobs, labels, samples or preparation are not usable, samples are no images where a net needs
    /// them, the memory is not allowed, there is no card where one is asked for, or the loss is not finite in
    /// the first epoch.
    pub fn fit(
        self,
        knobs: &[(String, String)],
        samples: Samples<f32>,
        options: &Options,
        watch: &mut (dyn Watch + Send),
    ) -> Result<Net> {
        ssdl::threads::run(options.threads, || self.fit_here(knobs, samples, options, watch))
    }

    fn fit_here(
        self,
        pairs: &[(String, String)],
        samples: Samples<f32>,
        options: &Options,
        watch: &mut dyn Watch,
    ) -> Result<Net> {
        let started = Instant::now();
        check_labels(samples.labels(), watch)?;
        let (features, labels) = samples.into_parts();
        let (preparation, prepared) =
            Pipeline::fit(&options.prepare, features, options.image, options.seed)?;
        let image = preparation.image_prepared();
        let scaling = Scaling::fit(prepared.as_slice(), self == Self::Cnn, image.is_some());
        let n_features = prepared.rows();
        let mut values = prepared.as_slice().to_vec();
        drop(prepared);
        scaling.apply(&mut values);
        let knobs = self.read(pairs, n_features, image)?;
        let made = match knobs {
            Knobs::Cnn(knobs) => {
                let image = image.ok_or_else(|| Error::NoImages { reason: no_image(options) })?;
                made_cnn(knobs, values, &labels, image, options.seed)?
            }
            Knobs::Ladder(knobs) => made_ladder(knobs, values, &labels, options.seed),
        };
        let Made { shape, schedule, net, used, knobs } = made;
        check_memory(&*net, &shape, used.len(), options.memory_limit)?;
        let Trained { weights, trace, stop } = train(&*net, &schedule, options.place, watch)?;
        let statistics = statistics(&shape, &weights, &used, n_features);
        let objectives: Vec<f64> = trace.iter().map(Objective::total).collect();
        let report = Report {
            epochs: trace.len(),
            objective: objectives.last().copied().unwrap_or(f64::NAN),
            objectives,
            stop: stop.to_string(),
            n_samples: labels.len(),
            n_labelled: labels.n_labelled(),
            seconds: started.elapsed().as_secs_f64(),
        };
        let net = Net {
            method: self.name().to_owned(),
            knobs: knobs.into_iter().map(|(name, value)| (name.to_owned(), value)).collect(),
            classes: labels.classes().to_vec(),
            preparation,
            image: options.image,
            scaling,
            shape,
            weights,
            statistics,
            seed: options.seed,
            features: None,
            report,
            stop,
        };
        net.check()?;
        Ok(net)
    }
}

/// A net that is ready to be trained.
struct Made {
    shape: Shape,
    schedule: Schedule,
    net: Box<dyn Trainable>,
    /// The samples whose statistics normalise new ones, row by row.
    used: Vec<f32>,
    knobs: Vec<(&'static str, String)>,
}

fn labelled(values: &[f32], labels: &Labels) -> Labelled {
    let n_features = values.len() / labels.len().max(1);
    Labelled {
        samples: pick(values, n_features, &labels.labelled()),
        classes: labels.known_classes(),
        n_features,
        n_classes: labels.classes().len(),
    }
}

fn made_cnn(
    knobs: Cnn,
    values: Vec<f32>,
    labels: &Labels,
    image: [usize; 2],
    seed: u64,
) -> Result<Made> {
    let labelled = labelled(&values, labels);
    let shape = knobs.shape(image, labels.classes().len())?;
    let used = labelled.samples.clone();
    let net = Box::new(CnnFit { knobs, shape: shape.clone(), labelled, seed });
    let (schedule, knobs) = (knobs.schedule(seed), knobs.values());
    Ok(Made { shape: Shape::Cnn(shape), schedule, net, used, knobs })
}

fn made_ladder(knobs: Ladder, values: Vec<f32>, labels: &Labels, seed: u64) -> Made {
    let labelled = labelled(&values, labels);
    let n_features = labelled.n_features;
    let shape = knobs.shape(n_features, labels.classes().len());
    let unlabelled = if knobs.denoise_labelled || labels.n_labelled() == labels.len() {
        values.clone()
    } else {
        let all = labels.assigned().iter().enumerate();
        let others: Vec<usize> =
            all.filter(|(_, class)| class.is_none()).map(|(place, _)| place).collect();
        pick(&values, n_features, &others)
    };
    let net = Box::new(LadderFit { knobs, shape: shape.clone(), labelled, unlabelled, seed });
    let (schedule, knobs) = (knobs.schedule(seed), knobs.values());
    Made { shape: Shape::Ladder(shape), schedule, net, used: values, knobs }
}

fn no_image(options: &Options) -> String {
    match options.image {
        None => "these samples have no height and width".into(),
        Some(_) => {
            let steps: Vec<String> = options.prepare.iter().map(ToString::to_string).collect();
            format!("after the preparation `{}` they are none any more", steps.join("; "))
        }
    }
}

/// The statistics of the training samples under the weights that were found.
///
/// Paper: the scripts keep moving averages with a momentum of 0.99, which are stale after the few steps
/// that small data takes; one more pass gives them exactly.
fn statistics(
    shape: &Shape,
    weights: &[crate::weights::Weight],
    samples: &[f32],
    n_features: usize,
) -> Vec<crate::weights::Weight> {
    let count = samples.len() / n_features;
    // Evenly from all of them, where there are very many.
    let chosen: Vec<usize> =
        parts(count, count.div_ceil(MOST_FOR_STATISTICS)).iter().map(|part| part.start).collect();
    let device = Device::flex();
    let samples = rows(pick(samples, n_features, &chosen), chosen.len(), &device);
    shape.forward(&Leaves::new(weights, &device), samples, None).1
}

/// Refuses labels that no net can learn from.
fn check_labels(labels: &Labels, watch: &mut dyn Watch) -> Result<()> {
    if labels.n_labelled() == 0 || labels.classes().len() < 2 {
        return Err(Error::Core(ssdl::Error::Labels(format!(
            "{} labelled samples of {} classes; at least two classes are needed",
            labels.n_labelled(),
            labels.classes().len()
        ))));
    }
    for (class, count) in labels.classes().iter().zip(labels.counts()) {
        if count == 0 {
            watch.notice(&format!("class `{class}` has no labelled sample, so it is never learnt"));
        }
    }
    Ok(())
}

/// Refuses a fit that needs more bytes than it may use.
fn check_memory(
    net: &dyn Trainable,
    shape: &Shape,
    n_values: usize,
    allowed: Option<u64>,
) -> Result<()> {
    let weights: usize = net.planned().iter().map(crate::weights::Planned::count).sum();
    // Weights, derivatives, the two numbers of the descent, the tensors, the best net; samples twice.
    let numbers = 7 * weights + 2 * n_values + shape.activations();
    let needed = 4 * numbers as u64;
    match allowed {
        Some(allowed) if needed > allowed => Err(Error::Memory { needed, allowed }),
        _ => Ok(()),
    }
}
