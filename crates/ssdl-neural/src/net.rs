//! A fitted net: everything needed to classify raw samples.

use burn_tensor::{Device, Tensor, activation};
use serde::{Deserialize, Serialize};
use ssdl::Matrix;
use ssdl::samples::prepare::Pipeline;

use crate::cnn::CnnShape;
use crate::ladder::LadderShape;
use crate::train::Stop;
use crate::weights::{Leaves, Weight, numbers, rows};
use crate::{Error, Result};

/// Samples that are predicted at once. Shorter parts are filled up, so that a sample gets the same bits
/// alone and in any company.
const WIDTH: usize = 64;

/// Which net, and its sizes.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "net", rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Shape {
    /// A convolutional network.
    Cnn(CnnShape),
    /// A Ladder network.
    Ladder(LadderShape),
}

impl Shape {
    /// Class scores of samples (rows), and the statistics of the layers where none are given.
    pub(crate) fn forward(
        &self,
        leaves: &Leaves<'_>,
        samples: Tensor<2>,
        known: Option<&[Weight]>,
    ) -> (Tensor<2>, Vec<Weight>) {
        match self {
            Self::Cnn(shape) => shape.forward(leaves, samples, known),
            Self::Ladder(shape) => shape.forward(leaves, samples, known),
        }
    }

    pub(crate) fn planned(&self) -> Vec<crate::weights::Planned> {
        match self {
            Self::Cnn(shape) => shape.planned(),
            Self::Ladder(shape) => shape.planned(),
        }
    }

    /// The names and widths of the statistics of its layers.
    pub(crate) fn normalised(&self) -> Vec<(String, usize)> {
        let widths: Vec<(usize, usize)> = match self {
            Self::Cnn(shape) if !shape.normalise => Vec::new(),
            Self::Cnn(shape) => {
                shape.blocks.iter().flatten().copied().chain([shape.hidden]).enumerate().collect()
            }
            Self::Ladder(shape) => shape.widths.iter().copied().enumerate().skip(1).collect(),
        };
        let both =
            |(layer, width)| ["mean", "deviation"].map(|what| (format!("{what}.{layer}"), width));
        widths.into_iter().flat_map(both).collect()
    }

    /// Numbers that a step keeps beside the weights, for about a hundred samples.
    pub(crate) fn activations(&self) -> usize {
        100 * match self {
            Self::Cnn(shape) => {
                let maps: usize = shape.blocks.iter().flatten().sum();
                8 * maps * shape.image[0] * shape.image[1]
            }
            Self::Ladder(shape) => 60 * shape.widths.iter().sum::<usize>(),
        }
    }

    /// Whether samples are normalised by those they are predicted with.
    fn is_transductive(&self) -> bool {
        matches!(self, Self::Ladder(shape) if shape.transductive)
    }

    /// Whether the sizes are those of a net for so many features and classes; read from a file, they
    /// are not trusted.
    pub(crate) fn fits(
        &self,
        n_features: usize,
        image: Option<[usize; 2]>,
        n_classes: usize,
    ) -> bool {
        match self {
            Self::Cnn(shape) => {
                let small = |maps: &[usize; 2]| maps.iter().all(|count| (1..=4096).contains(count));
                image == Some(shape.image)
                    && shape.image.iter().all(|side| (1..=1 << 14).contains(side))
                    && shape.n_classes == n_classes
                    && (1..=1 << 16).contains(&shape.hidden)
                    && (1..=16).contains(&shape.blocks.len())
                    && shape.blocks.iter().all(small)
            }
            Self::Ladder(shape) => {
                (2..=16).contains(&shape.widths.len())
                    && shape.widths.iter().all(|width| (1..=1 << 24).contains(width))
                    && shape.widths.first() == Some(&n_features)
                    && shape.widths.last() == Some(&n_classes)
            }
        }
    }
}

/// A shift and a factor for all numbers of the prepared samples.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Scaling {
    shift: f32,
    factor: f32,
}

impl Scaling {
    /// Mean zero and variance one for convolutions and for samples that are no images; images of a Ladder
    /// network go from 0 to 1, to which its noise belongs.
    pub fn fit(values: &[f32], is_cnn: bool, is_image: bool) -> Self {
        let (shift, width) = if is_image && !is_cnn {
            let least = values.iter().copied().fold(f32::INFINITY, f32::min);
            let most = values.iter().copied().fold(f32::NEG_INFINITY, f32::max);
            (least, most - least)
        } else {
            let count = values.len().max(1) as f64;
            let mean = values.iter().map(|v| f64::from(*v)).sum::<f64>() / count;
            let square = values.iter().map(|v| (f64::from(*v) - mean).powi(2)).sum::<f64>() / count;
            (mean as f32, square.sqrt() as f32)
        };
        let factor = if width > 0.0 && width.is_finite() { 1.0 / width } else { 1.0 };
        Self { shift, factor: if factor.is_finite() { factor } else { 1.0 } }
    }

    pub fn apply(self, values: &mut [f32]) {
        values.iter_mut().for_each(|value| *value = (*value - self.shift) * self.factor);
    }

    pub fn is_sound(self) -> bool {
        self.shift.is_finite() && self.factor.is_finite()
    }
}

/// How a fit went.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Report {
    /// Epochs that were run whole.
    pub epochs: usize,
    /// The mean objective of the last epoch.
    pub objective: f64,
    /// The mean objective of every epoch.
    pub objectives: Vec<f64>,
    /// Why it stopped.
    pub stop: String,
    /// Training samples.
    pub n_samples: usize,
    /// Labelled ones among them.
    pub n_labelled: usize,
    /// Seconds it took; 0 in a net that was loaded, so that the same seed gives the same file.
    #[serde(skip)]
    pub seconds: f64,
}

/// A fitted net.
#[derive(Clone, Debug)]
pub struct Net {
    pub(crate) method: String,
    pub(crate) knobs: Vec<(String, String)>,
    pub(crate) classes: Vec<String>,
    pub(crate) preparation: Pipeline<f32>,
    pub(crate) image: Option<[usize; 2]>,
    pub(crate) scaling: Scaling,
    pub(crate) shape: Shape,
    pub(crate) weights: Vec<Weight>,
    pub(crate) statistics: Vec<Weight>,
    pub(crate) seed: u64,
    pub(crate) features: Option<Vec<String>>,
    pub(crate) report: Report,
    pub(crate) stop: Stop,
}

/// What a net finds for samples.
#[derive(Clone, Debug)]
pub struct Judged {
    /// The class of each sample, by its place among the class names.
    pub classes: Vec<usize>,
    /// Its name.
    pub labels: Vec<String>,
    /// Probabilities, classes by samples.
    pub probabilities: Matrix<f32>,
}

impl Net {
    /// Name of the method.
    #[must_use]
    pub fn method(&self) -> &str {
        &self.method
    }

    /// All knobs it was fitted with.
    #[must_use]
    pub fn knobs(&self) -> &[(String, String)] {
        &self.knobs
    }

    /// The class names.
    #[must_use]
    pub fn classes(&self) -> &[String] {
        &self.classes
    }

    /// Features of a raw sample.
    #[must_use]
    pub fn n_features(&self) -> usize {
        self.preparation.n_features()
    }

    /// Height and width of a raw sample that is an image.
    #[must_use]
    pub fn image(&self) -> Option<[usize; 2]> {
        self.image
    }

    /// The net and its sizes.
    #[must_use]
    pub fn shape(&self) -> &Shape {
        &self.shape
    }

    /// Number of its weights.
    #[must_use]
    pub fn n_weights(&self) -> usize {
        self.weights.iter().map(|weight| weight.values.len()).sum()
    }

    /// The seed it was fitted with.
    #[must_use]
    pub fn seed(&self) -> u64 {
        self.seed
    }

    /// How the fit went.
    #[must_use]
    pub fn report(&self) -> &Report {
        &self.report
    }

    /// Whether the fit was cut short.
    #[must_use]
    pub fn stop(&self) -> Stop {
        self.stop
    }

    /// Classifies raw samples, `n_features × n_samples`.
    ///
    /// # Errors
    /// If the number of features is wrong, there are no samples, or a value is not finite.
    pub fn predict(&self, raw: Matrix<f32>) -> Result<Judged> {
        let prepared = self.preparation.apply(raw)?;
        let mut values = prepared.as_slice().to_vec();
        self.scaling.apply(&mut values);
        let device = Device::flex();
        let leaves = Leaves::new(&self.weights, &device);
        let (n_features, count) = (prepared.rows(), prepared.columns());
        let probabilities = if self.shape.is_transductive() {
            let samples = rows(values, count, &device);
            numbers(activation::softmax(self.shape.forward(&leaves, samples, None).0, 1))
        } else {
            let mut all = Vec::with_capacity(count * self.classes.len());
            for part in values.chunks(WIDTH * n_features) {
                let mut filled = part.to_vec();
                filled.resize(WIDTH * n_features, 0.0);
                let samples = rows(filled, WIDTH, &device);
                let scores = self.shape.forward(&leaves, samples, Some(&self.statistics)).0;
                let found = numbers(activation::softmax(scores, 1));
                all.extend_from_slice(&found[..part.len() / n_features * self.classes.len()]);
            }
            all
        };
        self.judged(probabilities, count)
    }

    fn judged(&self, probabilities: Vec<f32>, count: usize) -> Result<Judged> {
        let best = |shares: &[f32]| {
            let mut best = 0;
            for (class, share) in shares.iter().enumerate() {
                if *share > shares[best] {
                    best = class;
                }
            }
            best
        };
        let classes: Vec<usize> = probabilities.chunks(self.classes.len()).map(best).collect();
        let labels = classes.iter().map(|&class| self.classes[class].clone()).collect();
        let probabilities = Matrix::from_columns(self.classes.len(), count, probabilities)
            .ok_or_else(|| ssdl::Error::Samples("there are no rows".into()))?;
        Ok(Judged { classes, labels, probabilities })
    }

    /// Refuses a net with numbers that are not finite: it could not be loaded again.
    pub(crate) fn check(&self) -> Result<()> {
        let all = self.weights.iter().chain(&self.statistics);
        match all.flat_map(|weight| &weight.values).find(|value| !value.is_finite()) {
            None => Ok(()),
            Some(value) => {
                Err(Error::Diverged { epoch: self.report.epochs, value: f64::from(*value) })
            }
        }
    }
}
