//! Ladder network (Rasmus et al. 2015): an encoder that is run twice, clean and with noise, and a
//! decoder that removes the noise at every layer.
//!
//! $$J = -\frac1B\sum_i \ln \tilde p_i(y_i) + \sum_{l=0}^{L} \frac{\lambda_l}{B\,m_l}
//! \sum_i \lVert \hat z^{(l)}_{i,\mathrm{BN}} - z^{(l)}_i\rVert^2$$
//!
//! $z^{(l)} = \mathrm{BN}(W_l h^{(l-1)})$ on the clean path, $\tilde z^{(l)} = z^{(l)} + $ noise on the
//! other, $h^{(l)} = \mathrm{ReLU}(z^{(l)} + \beta_l)$, and on top
//! $p = \mathrm{softmax}(\gamma(z^{(L)} + \beta_L))$. Cost of a step: three passes of the encoder and one of the
//! decoder, and twice that for the derivatives.

use burn_tensor::{Tensor, activation};
use serde::{Deserialize, Serialize};
use ssdl::random::Purpose;

use crate::draws;
use crate::layers::{
    Labelled, Normalised, cross_entropy, normalise, normalise_by, parts, pick, row, statistics,
};
use crate::optimiser::Descent;
use crate::train::{Schedule, Trainable};
use crate::weights::{Begin, Leaves, Planned, Rows, Weight, numbers};

ssdl::choice! {
    /// What the decoder is compared with.
    pub enum Matching {
        /// Reconstructions scaled by the statistics of the clean path (Rasmus et al.).
        Normalised = "normalised",
        /// Reconstructions as they are.
        Plain = "plain",
    }
}

ssdl::choice! {
    /// Whose statistics normalise new samples.
    pub enum Whose {
        /// Those of the training samples: a prediction does not depend on the other samples.
        Training = "training",
        /// Those of the samples that are predicted together: transductive.
        Predicted = "predicted",
    }
}

ssdl::knobs! {
    /// Knobs of the Ladder network.
    pub struct Ladder {
        /// Units of the first hidden layer.
        first_width "": usize = 1000, WholeFrom(1);
        /// Units of the second hidden layer; 0 for none.
        second_width "": usize = 500, WholeFrom(0);
        /// Units of the third hidden layer; 0 for none.
        third_width "": usize = 250, WholeFrom(0);
        /// Units of the fourth hidden layer; 0 for none.
        fourth_width "": usize = 0, WholeFrom(0);
        /// Units of the fifth hidden layer; 0 for none.
        fifth_width "": usize = 0, WholeFrom(0);
        /// Standard deviation of the noise at every layer.
        noise "σ sigma": f64 = 0.3, From(0.0);
        /// How much the reconstruction of the samples counts.
        denoise_samples "": f64 = 1000.0, From(0.0);
        /// How much the reconstruction of the first hidden layer counts.
        denoise_first "": f64 = 10.0, From(0.0);
        /// How much the reconstruction of each further layer counts.
        denoise_rest "": f64 = 0.1, From(0.0);
        /// What the decoder is compared with.
        matching "": Matching = Matching::Normalised, OneOf(Matching::WORDS);
        /// Whether the outputs have a factor before the softmax.
        gain "": bool = true, Switch;
        /// Whether labelled samples are also denoised.
        denoise_labelled "": bool = true, Switch;
        /// Whose statistics normalise new samples.
        statistics "": Whose = Whose::Training, OneOf(Whose::WORDS);
        /// How weights follow the derivatives.
        descent "": Descent = Descent::Adam, OneOf(Descent::WORDS);
        /// Length of a step.
        learning_rate "": f64 = 0.002, Above(0.0);
        /// Share of the steps, at the end, in which the rate falls to zero.
        decay "": f64 = 0.33, Within(0.0, 1.0);
        /// Longest derivative; 0 for any length.
        clip "": f64 = 5.0, From(0.0);
        /// Samples of a step, labelled and unlabelled ones each.
        batch "": usize = 100, WholeFrom(2);
        /// Passes over the unlabelled samples.
        epochs "": usize = 60, WholeFrom(1);
    }
}

impl Ladder {
    /// The authors' scripts: no normalisation of reconstructions, no factor before the softmax, a rate
    /// ten times as long, statistics of the samples that are predicted together.
    #[must_use]
    pub fn authors(n_features: usize) -> Self {
        let widths = if n_features <= 256 { [500, 250, 0] } else { [1000, 500, 250] };
        Self {
            first_width: widths[0],
            second_width: widths[1],
            third_width: widths[2],
            matching: Matching::Plain,
            gain: false,
            denoise_labelled: false,
            statistics: Whose::Predicted,
            learning_rate: 0.02,
            decay: 0.0,
            batch: 32,
            epochs: 150,
            ..Self::default()
        }
    }

    pub(crate) fn schedule(&self, seed: u64) -> Schedule {
        let Self { descent, epochs, learning_rate, decay, clip, .. } = *self;
        Schedule { descent, epochs, learning_rate, decay, clip, seed }
    }

    pub(crate) fn shape(&self, n_features: usize, n_classes: usize) -> LadderShape {
        let first = [self.first_width, self.second_width, self.third_width];
        let hidden = first.into_iter().chain([self.fourth_width, self.fifth_width]);
        let hidden = hidden.filter(|width| *width > 0);
        let widths = [n_features].into_iter().chain(hidden).chain([n_classes]).collect();
        let transductive = self.statistics == Whose::Predicted;
        LadderShape { widths, gain: self.gain, transductive }
    }

    /// How much the reconstruction of a layer counts.
    fn weight(&self, layer: usize) -> f64 {
        match layer {
            0 => self.denoise_samples,
            1 => self.denoise_first,
            _ => self.denoise_rest,
        }
    }
}

/// What is needed to run a Ladder network once it is trained.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct LadderShape {
    /// Units of every layer, from the samples to the classes.
    pub widths: Vec<usize>,
    /// Whether the outputs have a factor before the softmax.
    pub gain: bool,
    /// Whether samples are normalised by the statistics of those predicted together.
    pub transductive: bool,
}

impl LadderShape {
    fn top(&self) -> usize {
        self.widths.len() - 1
    }

    pub(crate) fn planned(&self) -> Vec<Planned> {
        let mut planned = Vec::new();
        for layer in 1..=self.top() {
            let (from, to) = (self.widths[layer - 1], self.widths[layer]);
            let deviation = |count: usize| Begin::Normal((1.0 / count as f64).sqrt());
            planned.push(Planned::new(format!("encode.{layer}"), &[from, to], deviation(from)));
            planned.push(Planned::new(format!("decode.{layer}"), &[to, from], deviation(to)));
            planned.push(Planned::new(format!("shift.{layer}"), &[to], Begin::Constant(0.0)));
        }
        if self.gain {
            planned.push(Planned::new("gain", &[self.widths[self.top()]], Begin::Constant(1.0)));
        }
        for (layer, &width) in self.widths.iter().enumerate() {
            for number in 1..=10 {
                // The identity of a noisy unit: μ = v = a sigmoid of what comes from above, times zero.
                let begin = if number == 2 || number == 7 { 1.0 } else { 0.0 };
                let name = format!("combine.{layer}.{number}");
                planned.push(Planned::new(name, &[width], Begin::Constant(begin)));
            }
        }
        planned
    }

    /// The clean path: class scores, and the statistics of every layer where those of the batch are
    /// used.
    pub(crate) fn forward(
        &self,
        leaves: &Leaves<'_>,
        samples: Tensor<2>,
        known: Option<&[Weight]>,
    ) -> (Tensor<2>, Vec<Weight>) {
        let mut found = Vec::new();
        let mut h = samples;
        for layer in 1..=self.top() {
            let z = h.matmul(leaves.of::<2>(&format!("encode.{layer}")));
            let z = match known {
                Some(known) => {
                    let of = |what| known.iter().find(|w| w.name == format!("{what}.{layer}"));
                    let row = |what| of(what).map(|w| row(&w.values, &z.device()));
                    match row("mean").zip(row("deviation")) {
                        Some((mean, deviation)) => normalise_by(z, mean, deviation),
                        None => z,
                    }
                }
                None => {
                    let Normalised { values, mean, deviation } = normalise(z);
                    found.extend(statistics(layer, numbers(mean), numbers(deviation)));
                    values
                }
            };
            h = self.activate(leaves, z, layer);
        }
        (h, found)
    }

    /// What a layer hands on; the scores before the softmax on top.
    fn activate(&self, leaves: &Leaves<'_>, z: Tensor<2>, layer: usize) -> Tensor<2> {
        let shifted = z + as_row(leaves.of::<1>(&format!("shift.{layer}")));
        if layer < self.top() {
            activation::relu(shifted)
        } else if self.gain {
            shifted * as_row(leaves.of::<1>("gain"))
        } else {
            shifted
        }
    }
}

fn as_row(vector: Tensor<1>) -> Tensor<2> {
    let width = vector.dims()[0];
    vector.reshape([1, width])
}

/// The Gaussian combinator: the denoised value of a unit from its noisy value and what comes from above.
///
/// $$\hat z = (\tilde z - \mu(u))\,v(u) + \mu(u), \quad
/// \mu(u) = a_1\,\sigma(a_2 u + a_3) + a_4 u + a_5, \quad v(u) = a_6\,\sigma(a_7 u + a_8) + a_9 u + a_{10}$$
fn combine(leaves: &Leaves<'_>, layer: usize, noisy: Tensor<2>, above: Tensor<2>) -> Tensor<2> {
    let a = |number: usize| as_row(leaves.of::<1>(&format!("combine.{layer}.{number}")));
    let curve = |first: usize| {
        let inner = above.clone() * a(first + 1) + a(first + 2);
        activation::sigmoid(inner) * a(first) + above.clone() * a(first + 3) + a(first + 4)
    };
    let mean = curve(1);
    (noisy - mean.clone()) * curve(6) + mean
}

/// A Ladder network in training.
pub(crate) struct LadderFit {
    pub knobs: Ladder,
    pub shape: LadderShape,
    pub labelled: Labelled,
    /// Samples to denoise, row by row.
    pub unlabelled: Vec<f32>,
    pub seed: u64,
}

/// What the encoder gives at one layer for the samples to denoise.
struct Layer {
    noisy: Tensor<2>,
    clean: Tensor<2>,
    /// Mean and deviation of the clean path; none for the samples themselves.
    scale: Option<(Tensor<2>, Tensor<2>)>,
}

/// The sizes of the three parts of a stacked batch: labelled noisy, unlabelled noisy, unlabelled clean.
#[derive(Clone, Copy)]
struct Parts {
    labelled: usize,
    unlabelled: usize,
}

impl Parts {
    fn split(self, stacked: &Tensor<2>) -> [Tensor<2>; 3] {
        let (l, u) = (self.labelled, self.unlabelled);
        [(0, l), (l, u), (l + u, u)].map(|(from, count)| stacked.clone().narrow(0, from, count))
    }

    /// Normalises each part by statistics of its own; mean and deviation are those of the clean part.
    fn normalise(self, stacked: Tensor<2>) -> Normalised<2> {
        if self.labelled != self.unlabelled {
            let [labelled, unlabelled, clean] = self.split(&stacked).map(normalise);
            let values = Tensor::cat(vec![labelled.values, unlabelled.values, clean.values], 0);
            return Normalised { values, ..clean };
        }
        // Parts of one size are normalised together, by a third of the operations.
        let [count, width] = stacked.dims();
        let all = normalise(stacked.reshape([3, self.unlabelled, width]));
        let clean = |of: Tensor<3>| of.narrow(0, 2, 1).reshape([1, width]);
        Normalised {
            values: all.values.reshape([count, width]),
            mean: clean(all.mean),
            deviation: clean(all.deviation),
        }
    }
}

impl LadderFit {
    fn n_unlabelled(&self) -> usize {
        self.unlabelled.len() / self.labelled.n_features
    }

    /// Noise for the noisy parts of a layer, zeros for the clean one.
    fn noise(&self, turn: usize, layer: usize, parts: Parts) -> Rows {
        let width = self.shape.widths[layer];
        let turn = turn * self.shape.widths.len() + layer;
        let noisy = (parts.labelled + parts.unlabelled) * width;
        let mut values =
            draws::normals(self.seed, Purpose::Noise, turn as u32, noisy, self.knobs.noise);
        values.resize(noisy + parts.unlabelled * width, 0.0);
        Rows { values, count: parts.labelled + 2 * parts.unlabelled }
    }

    /// Both paths at once: the scores of the labelled samples, those of the noisy unlabelled ones, and
    /// every layer of the latter. `stacked` has its noise already; `noise` is that of the other layers.
    fn encode(
        &self,
        leaves: &Leaves<'_>,
        stacked: Tensor<2>,
        sizes: Parts,
        noise: impl Iterator<Item = Tensor<2>>,
    ) -> (Tensor<2>, Tensor<2>, Vec<Layer>) {
        let mut h = stacked;
        let [_, noisy, clean] = sizes.split(&h);
        let mut layers = vec![Layer { noisy, clean, scale: None }];
        for (layer, noise) in (1..=self.shape.top()).zip(noise) {
            let z = h.matmul(leaves.of::<2>(&format!("encode.{layer}")));
            let Normalised { values, mean, deviation } = sizes.normalise(z);
            let z = values + noise;
            let [_, noisy, quiet] = sizes.split(&z);
            layers.push(Layer { noisy, clean: quiet, scale: Some((mean, deviation)) });
            h = self.shape.activate(leaves, z, layer);
        }
        let [labelled, unlabelled, _] = sizes.split(&h);
        (labelled, unlabelled, layers)
    }

    /// The costs of what the decoder makes of the noisy layers, from the top down.
    fn decode(&self, leaves: &Leaves<'_>, scores: Tensor<2>, layers: Vec<Layer>) -> Tensor<1> {
        let top = self.shape.top();
        let mut above = normalise(activation::softmax(scores, 1)).values;
        let mut cost: Option<Tensor<1>> = None;
        for (layer, Layer { noisy, clean, scale }) in layers.into_iter().enumerate().rev() {
            let found = combine(leaves, layer, noisy, above.clone());
            if layer > 0 {
                let down = leaves.of::<2>(&format!("decode.{layer}"));
                above = normalise(found.clone().matmul(down)).values;
            }
            let scale = scale.filter(|_| self.knobs.matching == Matching::Normalised);
            let found = match scale {
                Some((mean, deviation)) => normalise_by(found, mean, deviation),
                None => found,
            };
            let own = (found - clean).square().mean() * self.knobs.weight(layer);
            cost = Some(match cost {
                Some(cost) => cost + own,
                None => own,
            });
        }
        cost.unwrap_or_else(|| unreachable!("{top} layers and the samples"))
    }
}

impl Trainable for LadderFit {
    fn planned(&self) -> Vec<Planned> {
        self.shape.planned()
    }

    fn n_steps(&self) -> usize {
        parts(self.n_unlabelled(), self.knobs.batch).len()
    }

    fn draw(&self, turn: usize) -> Vec<Rows> {
        let n_steps = self.n_steps();
        let count = self.knobs.batch.min(self.labelled.classes.len());
        let chosen = self.labelled.cycle(self.seed, turn, count);
        let [labelled, truth] = self.labelled.batch(&chosen);
        // Orders of the unlabelled samples are those of another seed than the labelled ones'.
        let order =
            draws::order(self.seed ^ 0x5bd1_e995, (turn / n_steps) as u32, self.n_unlabelled());
        let part = parts(order.len(), self.knobs.batch)[turn % n_steps].clone();
        let sizes = Parts { labelled: count, unlabelled: part.len() };
        let unlabelled = pick(&self.unlabelled, self.labelled.n_features, &order[part]);
        let mut stacked = self.noise(turn, 0, sizes);
        let samples = labelled.values.iter().chain(&unlabelled).chain(&unlabelled);
        stacked.values.iter_mut().zip(samples).for_each(|(noise, sample)| *noise += sample);
        let noise = (1..=self.shape.top()).map(|layer| self.noise(turn, layer, sizes));
        [stacked, truth].into_iter().chain(noise).collect()
    }

    fn terms(&self, leaves: &Leaves<'_>, drawn: Vec<Rows>) -> Vec<(&'static str, Tensor<1>)> {
        let mut drawn = drawn.into_iter().map(|rows| rows.on(leaves.device()));
        let (Some(stacked), Some(truth)) = (drawn.next(), drawn.next()) else { return Vec::new() };
        let labelled = truth.dims()[0];
        let sizes = Parts { labelled, unlabelled: (stacked.dims()[0] - labelled) / 2 };
        let (scores, noisy, layers) = self.encode(leaves, stacked, sizes, drawn);
        let cost = cross_entropy(scores, truth);
        vec![("labels", cost), ("denoising", self.decode(leaves, noisy, layers))]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::gradients::agree;
    use burn_tensor::Device;

    #[test]
    fn derivatives_of_the_combinator_agree_with_differences() {
        let names: Vec<String> = (1..=10).map(|number| format!("combine.0.{number}")).collect();
        let mut arrays: Vec<(&str, &[usize])> = vec![("noisy", &[4, 3]), ("above", &[4, 3])];
        arrays.extend(names.iter().map(|name| (name.as_str(), &[3_usize][..])));
        agree(&arrays, |leaves| {
            combine(leaves, 0, leaves.of("noisy"), leaves.of("above")).square().mean()
        });
    }

    #[test]
    fn the_combinator_is_as_by_hand() {
        let weight =
            |name: String, value: f32| Weight { name, shape: vec![1], values: vec![value] };
        let a = [0.5, 1.0, 0.2, 0.3, -0.1, 0.4, 1.0, -0.2, 0.1, 0.6];
        let weights: Vec<Weight> =
            a.iter().enumerate().map(|(k, v)| weight(format!("combine.0.{}", k + 1), *v)).collect();
        let device = Device::flex();
        let leaves = Leaves::new(&weights, &device);
        let found = combine(&leaves, 0, row(&[1.5], &device), row(&[0.8], &device));
        let sigmoid = |x: f32| 1.0 / (1.0 + (-x).exp());
        let mean = 0.5 * sigmoid(1.0) + 0.3 * 0.8 - 0.1;
        let share = 0.4 * sigmoid(0.8 - 0.2) + 0.1 * 0.8 + 0.6;
        assert!((numbers(found)[0] - ((1.5 - mean) * share + mean)).abs() < 1e-5);
    }

    #[test]
    fn derivatives_of_the_whole_objective_agree_with_differences() {
        let knobs = Ladder::new().first_width(4).second_width(3).third_width(0).noise(0.2);
        let knobs = knobs.denoise_samples(3.0).batch(4);
        let shape = knobs.shape(3, 2);
        let samples: Vec<f32> = (0..18).map(|k| (k as f32 * 1.3).sin()).collect();
        let (classes, n_features, n_classes) = (vec![0, 1, 0, 1, 1, 0], 3, 2);
        let labelled = Labelled { samples: samples.clone(), classes, n_features, n_classes };
        let fit = LadderFit { knobs, shape, labelled, unlabelled: samples, seed: 1 };
        let planned = fit.planned();
        let arrays: Vec<(&str, &[usize])> =
            planned.iter().map(|p| (p.name.as_str(), p.shape.as_slice())).collect();
        agree(&arrays, |leaves| {
            let terms = fit.terms(leaves, fit.draw(0)).into_iter().map(|(_, term)| term);
            terms.reduce(|a, b| a + b).expect("two terms") * 0.1
        });
    }
}
