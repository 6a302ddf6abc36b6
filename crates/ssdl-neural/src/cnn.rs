//! Convolutional network: the paper's two architectures by image size, on labelled images alone.
//!
//! $$J = -\frac1B\sum_i \ln p_i(y_i), \quad p = \mathrm{softmax}(\text{net}(x))$$
//!
//! Blocks of two 3×3 convolutions and a halving of the image, then one hidden layer; every activation is
//! followed by a normalisation of the batch, the hidden layer by dropout. Cost of a step with images of
//! 28×28: three times ten million multiplications for each image.

use burn_tensor::module::{batch_norm_train, conv2d, max_pool2d};
use burn_tensor::ops::{ConvOptions, MaxPoolOptions};
use burn_tensor::{Tensor, activation};
use serde::{Deserialize, Serialize};

use crate::draws;
use crate::layers::{Labelled, SMALL, cross_entropy, parts, statistics};
use crate::optimiser::Descent;
use crate::train::{Schedule, Trainable};
use crate::weights::{Begin, Leaves, Planned, Rows, Weight, numbers, rows};
use crate::{Error, Result};

/// Least height and width: two convolutions and a halving leave one pixel.
const LEAST: usize = 6;
/// Least height and width of an image for the larger architecture.
const LARGE: usize = 20;
/// Blocks are added until the image is at most this high and wide.
const FEW_PIXELS: usize = 12;

ssdl::choice! {
    /// Which architecture.
    pub enum Architecture {
        /// The larger one for images of 20×20 and more.
        Auto = "auto",
        /// The paper's for USPS: one block of 16 and 32 maps, 128 hidden units.
        Small = "small",
        /// The paper's for MNIST: blocks of 32 and 64 maps, 512 hidden units; more for larger images.
        Large = "large",
    }
}

ssdl::knobs! {
    /// Knobs of the convolutional network.
    pub struct Cnn {
        /// Which architecture.
        architecture "": Architecture = Architecture::Auto, OneOf(Architecture::WORDS);
        /// Whether batches are normalised after every activation.
        normalise "": bool = true, Switch;
        /// Share of the hidden units that is left out of each step.
        dropout "": f64 = 0.5, Within(0.0, 0.95);
        /// How weights follow the derivatives.
        descent "": Descent = Descent::Adam, OneOf(Descent::WORDS);
        /// Length of a step.
        learning_rate "": f64 = 0.001, Above(0.0);
        /// Share of the steps, at the end, in which the rate falls to zero.
        decay "": f64 = 0.5, Within(0.0, 1.0);
        /// Longest derivative; 0 for any length.
        clip "": f64 = 5.0, From(0.0);
        /// Labelled samples of a step.
        batch "": usize = 20, WholeFrom(2);
        /// Passes over the labelled samples.
        epochs "": usize = 40, WholeFrom(1);
    }
}

impl Cnn {
    /// The authors' scripts: no normalisation, Adadelta, 40 epochs in large batches.
    #[must_use]
    pub fn authors(image: [usize; 2]) -> Self {
        let is_large = image.iter().all(|side| *side >= LARGE);
        Self {
            normalise: false,
            dropout: if is_large { 0.2 } else { 0.25 },
            descent: Descent::Adadelta,
            learning_rate: 1.0,
            decay: 0.0,
            clip: 0.0,
            batch: if is_large { 200 } else { 50 },
            epochs: 40,
            ..Self::default()
        }
    }

    pub(crate) fn schedule(&self, seed: u64) -> Schedule {
        let Self { descent, epochs, learning_rate, decay, clip, .. } = *self;
        Schedule { descent, epochs, learning_rate, decay, clip, seed }
    }

    pub(crate) fn shape(&self, image: [usize; 2], n_classes: usize) -> Result<CnnShape> {
        let least = image[0].min(image[1]);
        let is_large = match self.architecture {
            Architecture::Auto => least >= LARGE,
            Architecture::Small => false,
            Architecture::Large => true,
        };
        let mut blocks = if is_large { vec![[32, 32], [64, 64]] } else { vec![[16, 32]] };
        let side = |blocks: usize, side: usize| (0..blocks).try_fold(side, |s, _| halved(s));
        let after = |blocks: usize| Some([side(blocks, image[0])?, side(blocks, image[1])?]);
        if after(blocks.len()).is_none() {
            let [height, width] = image;
            return Err(Error::NoImages {
                reason: format!(
                    "{height}x{width} pixels are too few for {} blocks of two 3x3 convolutions, which \
                     need {LEAST}x{LEAST} or more each (prepare with resize=…, or architecture=small)",
                    blocks.len()
                ),
            });
        }
        while after(blocks.len()).is_some_and(|[h, w]| h.max(w) > FEW_PIXELS)
            && after(blocks.len() + 1).is_some()
            && is_large
        {
            blocks.push([128.min(32 << blocks.len()); 2]);
        }
        let hidden = if is_large { 512 } else { 128 };
        Ok(CnnShape { image, blocks, hidden, n_classes, normalise: self.normalise, is_large })
    }
}

/// The side of an image after two 3×3 convolutions and a halving.
fn halved(side: usize) -> Option<usize> {
    side.checked_sub(4).map(|side| side / 2).filter(|side| *side > 0)
}

/// What is needed to run a convolutional network once it is trained.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct CnnShape {
    /// Height and width of the images.
    pub image: [usize; 2],
    /// Maps of the two convolutions of each block.
    pub blocks: Vec<[usize; 2]>,
    /// Units of the hidden layer.
    pub hidden: usize,
    /// Classes.
    pub n_classes: usize,
    /// Whether batches are normalised after every activation.
    pub normalise: bool,
    /// Whether all activations are ReLU; the small one has tanh in its later layers.
    pub is_large: bool,
}

/// How batches are normalised.
enum Scale<'a> {
    /// By their own statistics.
    Own,
    /// By their own statistics, which are collected.
    Collected(Vec<Weight>),
    /// By those of the training samples.
    Known(&'a [Weight]),
}

impl CnnShape {
    /// Numbers that the last block hands to the hidden layer; 0 if the image does not survive the blocks.
    fn n_flat(&self) -> usize {
        let side = |side: usize| self.blocks.iter().try_fold(side, |s, _| halved(s)).unwrap_or(0);
        self.blocks.last().map_or(0, |maps| maps[1]) * side(self.image[0]) * side(self.image[1])
    }

    pub(crate) fn planned(&self) -> Vec<Planned> {
        let mut planned = Vec::new();
        let mut from = 1;
        let mut scaled = Vec::new();
        for (layer, &to) in self.blocks.iter().flatten().enumerate() {
            let begin = Begin::Uniform { from: 9 * from, to: 9 * to };
            planned.push(Planned::new(format!("convolve.{layer}"), &[to, from, 3, 3], begin));
            planned.push(Planned::new(format!("bias.{layer}"), &[to], Begin::Constant(0.0)));
            scaled.push(to);
            from = to;
        }
        scaled.push(self.hidden);
        let layers =
            [("hidden", self.n_flat(), self.hidden), ("output", self.hidden, self.n_classes)];
        for (name, from, to) in layers {
            let begin = Begin::Uniform { from, to };
            planned.push(Planned::new(name, &[from, to], begin));
            planned.push(Planned::new(format!("{name}.bias"), &[to], Begin::Constant(0.0)));
        }
        for (layer, width) in scaled.into_iter().enumerate().filter(|_| self.normalise) {
            planned.push(Planned::new(format!("gain.{layer}"), &[width], Begin::Constant(1.0)));
            planned.push(Planned::new(format!("shift.{layer}"), &[width], Begin::Constant(0.0)));
        }
        planned
    }

    /// Class scores, and the statistics of every layer where those of the batch are used.
    pub(crate) fn forward(
        &self,
        leaves: &Leaves<'_>,
        samples: Tensor<2>,
        known: Option<&[Weight]>,
    ) -> (Tensor<2>, Vec<Weight>) {
        let mut scale = known.map_or(Scale::Collected(Vec::new()), Scale::Known);
        let scores = self.scores(leaves, samples, &mut scale, None);
        match scale {
            Scale::Collected(found) => (scores, found),
            Scale::Own | Scale::Known(_) => (scores, Vec::new()),
        }
    }

    fn scores(
        &self,
        leaves: &Leaves<'_>,
        samples: Tensor<2>,
        scale: &mut Scale<'_>,
        dropout: Option<Tensor<2>>,
    ) -> Tensor<2> {
        let [height, width] = self.image;
        let count = samples.dims()[0];
        let mut h = samples.reshape([count, 1, height, width]);
        let mut layer = 0;
        for maps in &self.blocks {
            for place in 0..maps.len() {
                let kernel = leaves.of::<4>(&format!("convolve.{layer}"));
                let bias = leaves.of::<1>(&format!("bias.{layer}"));
                let options = ConvOptions::new([1, 1], [0, 0], [1, 1], 1);
                h = conv2d(h, kernel, Some(bias), options);
                h = if place == 0 || self.is_large { activation::relu(h) } else { h.tanh() };
                if place == 1 {
                    h = max_pool2d(h, MaxPoolOptions::new([2, 2]));
                }
                h = self.normalised(leaves, h, layer, scale);
                layer += 1;
            }
        }
        let n_flat = self.n_flat();
        let dense = |h: Tensor<2>, name: &str| {
            let bias = leaves.of::<1>(&format!("{name}.bias"));
            let width = bias.dims()[0];
            h.matmul(leaves.of::<2>(name)) + bias.reshape([1, width])
        };
        let h = dense(h.reshape([count, n_flat]), "hidden");
        let h = if self.is_large { activation::relu(h) } else { h.tanh() };
        let h = self.normalised(leaves, h, layer, scale);
        let h = dropout.map_or(h.clone(), |factors| h * factors);
        dense(h, "output")
    }

    fn normalised<const D: usize>(
        &self,
        leaves: &Leaves<'_>,
        h: Tensor<D>,
        layer: usize,
        scale: &mut Scale<'_>,
    ) -> Tensor<D> {
        if !self.normalise {
            return h;
        }
        let gain = leaves.of::<1>(&format!("gain.{layer}"));
        let shift = leaves.of::<1>(&format!("shift.{layer}"));
        match scale {
            Scale::Own => batch_norm_train(h, gain, shift, SMALL).output,
            Scale::Collected(found) => {
                let result = batch_norm_train(h, gain, shift, SMALL);
                let deviation = (result.variance + SMALL).sqrt();
                let [mean, deviation] = [result.mean, deviation].map(|of| numbers(of.inner()));
                found.extend(statistics(layer, mean, deviation));
                result.output
            }
            Scale::Known(known) => {
                let mut shape = [1; D];
                shape[1] = gain.dims()[0];
                let of = |what: &str| {
                    let name = format!("{what}.{layer}");
                    let values = known.iter().find(|weight| weight.name == name);
                    let values = values.map_or(&[][..], |weight| weight.values.as_slice());
                    rows(values.to_vec(), 1, &h.device()).reshape(shape)
                };
                (h.clone() - of("mean")) / of("deviation") * gain.reshape(shape)
                    + shift.reshape(shape)
            }
        }
    }
}

/// A convolutional network in training.
pub(crate) struct CnnFit {
    pub knobs: Cnn,
    pub shape: CnnShape,
    pub labelled: Labelled,
    pub seed: u64,
}

impl Trainable for CnnFit {
    fn planned(&self) -> Vec<Planned> {
        self.shape.planned()
    }

    fn n_steps(&self) -> usize {
        parts(self.labelled.classes.len(), self.knobs.batch).len()
    }

    fn draw(&self, turn: usize) -> Vec<Rows> {
        let n_steps = self.n_steps();
        let order = draws::order(self.seed, (turn / n_steps) as u32, self.labelled.classes.len());
        let part = parts(order.len(), self.knobs.batch)[turn % n_steps].clone();
        let count = part.len();
        let mut drawn = Vec::from(self.labelled.batch(&order[part]));
        let share = self.knobs.dropout;
        if share > 0.0 {
            let factors = draws::dropout(self.seed, turn as u32, count * self.shape.hidden, share);
            drawn.push(Rows { values: factors, count });
        }
        drawn
    }

    fn terms(&self, leaves: &Leaves<'_>, drawn: Vec<Rows>) -> Vec<(&'static str, Tensor<1>)> {
        let mut drawn = drawn.into_iter().map(|rows| rows.on(leaves.device()));
        let (Some(samples), Some(truth)) = (drawn.next(), drawn.next()) else { return Vec::new() };
        let scores = self.shape.scores(leaves, samples, &mut Scale::Own, drawn.next());
        vec![("labels", cross_entropy(scores, truth))]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::gradients::agree;
    use burn_tensor::Device;

    fn shape(image: [usize; 2]) -> CnnShape {
        Cnn::new().shape(image, 10).expect("large enough")
    }

    fn count(shape: &CnnShape) -> usize {
        shape.planned().iter().map(Planned::count).sum()
    }

    #[test]
    fn the_papers_nets_have_as_many_weights_as_it_says() {
        let bare = |image| CnnShape { normalise: false, ..shape(image) };
        assert_eq!(count(&bare([28, 28])), 594_922);
        assert_eq!(count(&bare([16, 16])), 153_674);
    }

    #[test]
    fn larger_images_have_more_blocks_and_odd_ones_work() {
        assert_eq!(shape([28, 28]).blocks.len(), 2);
        assert_eq!(shape([64, 64]).blocks.len(), 3);
        assert!(shape([200, 180]).blocks.len() > 3);
        for image in [[6, 6], [7, 11], [19, 33], [21, 20], [23, 57]] {
            let shape = shape(image);
            assert!(shape.n_flat() > 0, "{image:?}");
            let weights = crate::weights::begin(&shape.planned(), 1);
            let device = Device::flex();
            let samples = rows(vec![0.5; 2 * image[0] * image[1]], 2, &device);
            let (scores, _) = shape.forward(&Leaves::new(&weights, &device), samples, None);
            assert_eq!(scores.dims(), [2, 10], "{image:?}");
        }
        let error = Cnn::new().shape([5, 28], 10).expect_err("too small").to_string();
        assert!(error.contains("5x28") && error.contains("resize"), "{error}");
    }

    #[test]
    fn known_statistics_of_a_batch_give_what_its_own_do() {
        let shape = shape([8, 8]);
        let weights = crate::weights::begin(&shape.planned(), 2);
        let device = Device::flex();
        let leaves = Leaves::new(&weights, &device);
        let samples = rows((0..4 * 64).map(|k| (k as f32 * 0.37).sin()).collect(), 4, &device);
        let (own, found) = shape.forward(&leaves, samples.clone(), None);
        let (known, _) = shape.forward(&leaves, samples, Some(&found));
        for (a, b) in numbers(own).iter().zip(numbers(known)) {
            assert!((a - b).abs() < 1e-3, "{a} {b}");
        }
    }

    #[test]
    fn derivatives_of_the_whole_objective_agree_with_differences() {
        let tiny = CnnShape { blocks: vec![[2, 2]], hidden: 3, n_classes: 2, ..shape([6, 6]) };
        let planned = tiny.planned();
        let arrays: Vec<(&str, &[usize])> =
            planned.iter().map(|p| (p.name.as_str(), p.shape.as_slice())).collect();
        let samples: Vec<f32> = (0..4 * 36).map(|k| (k as f32 * 0.91).sin()).collect();
        let labelled =
            Labelled { samples, classes: vec![0, 1, 1, 0], n_features: 36, n_classes: 2 };
        let knobs = Cnn::new().batch(4);
        let fit = CnnFit { knobs, shape: tiny, labelled, seed: 3 };
        agree(&arrays, |leaves| fit.terms(leaves, fit.draw(0)).swap_remove(0).1);
    }
}
