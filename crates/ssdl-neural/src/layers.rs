//! Parts that both nets have: normalisation of a batch, the loss of labels, batches of samples.

use burn_tensor::{Device, Tensor, TensorData, activation};

use crate::draws;
use crate::weights::{Rows, Weight};

/// Added to variances: units that are constant in a batch stay finite.
pub(crate) const SMALL: f64 = 1e-5;

/// Batches, centred and scaled by their own statistics.
pub(crate) struct Normalised<const D: usize> {
    pub values: Tensor<D>,
    /// One for each unit.
    pub mean: Tensor<D>,
    /// $\sqrt{\text{variance} + \varepsilon}$ of each unit.
    pub deviation: Tensor<D>,
}

/// Centres and scales each unit over the samples of a batch: samples by units, or batches of it.
///
/// $$\hat z = \frac{z - \mu}{\sqrt{\sigma^2 + \varepsilon}}$$
pub(crate) fn normalise<const D: usize>(batch: Tensor<D>) -> Normalised<D> {
    let samples = D - 2;
    let mean = batch.clone().mean_dim(samples);
    let centred = batch - mean.clone();
    let deviation = (centred.clone().square().mean_dim(samples) + SMALL).sqrt();
    Normalised { values: centred / deviation.clone(), mean, deviation }
}

/// Centres and scales by statistics that are known.
pub(crate) fn normalise_by(batch: Tensor<2>, mean: Tensor<2>, deviation: Tensor<2>) -> Tensor<2> {
    (batch - mean) / deviation
}

/// Mean of $-\ln p$ for the probability of the true class; `truth` has a one in each row.
pub(crate) fn cross_entropy(logits: Tensor<2>, truth: Tensor<2>) -> Tensor<1> {
    let count = logits.dims()[0] as f64;
    (activation::log_softmax(logits, 1) * truth).sum().div_scalar(-count)
}

/// Labelled samples, row by row.
pub(crate) struct Labelled {
    pub samples: Vec<f32>,
    pub classes: Vec<usize>,
    pub n_features: usize,
    pub n_classes: usize,
}

impl Labelled {
    /// Some of the samples and their classes, as ones in rows of zeros.
    pub fn batch(&self, chosen: &[usize]) -> [Rows; 2] {
        let count = chosen.len();
        let samples = pick(&self.samples, self.n_features, chosen);
        let mut truth = vec![0.0; chosen.len() * self.n_classes];
        for (row, &sample) in chosen.iter().enumerate() {
            truth[row * self.n_classes + self.classes[sample]] = 1.0;
        }
        [Rows { values: samples, count }, Rows { values: truth, count }]
    }

    /// The samples of a turn, where `count` are taken at a time, all of them in a random order before
    /// any comes again.
    pub fn cycle(&self, seed: u64, turn: usize, count: usize) -> Vec<usize> {
        let all = self.classes.len();
        let mut chosen = Vec::with_capacity(count);
        let mut at = turn * count;
        while chosen.len() < count {
            let order = draws::order(seed, (at / all) as u32, all);
            let from = at % all;
            let to = all.min(from + count - chosen.len());
            chosen.extend_from_slice(&order[from..to]);
            at += to - from;
        }
        chosen
    }
}

/// Some rows of samples.
pub(crate) fn pick(samples: &[f32], n_features: usize, chosen: &[usize]) -> Vec<f32> {
    chosen.iter().flat_map(|&j| &samples[j * n_features..(j + 1) * n_features]).copied().collect()
}

/// Cuts a count into parts that are as equal as can be, each of at least `size` if there are so many:
/// the last one is never a lone sample, which has no variance.
pub(crate) fn parts(count: usize, size: usize) -> Vec<std::ops::Range<usize>> {
    let n_parts = (count / size.max(1)).max(1);
    (0..n_parts).map(|part| part * count / n_parts..(part + 1) * count / n_parts).collect()
}

/// The statistics of a layer, named by it.
pub(crate) fn statistics(layer: usize, mean: Vec<f32>, deviation: Vec<f32>) -> [Weight; 2] {
    let named = |what: &str, values: Vec<f32>| Weight {
        name: format!("{what}.{layer}"),
        shape: vec![values.len()],
        values,
    };
    [named("mean", mean), named("deviation", deviation)]
}

/// A row of numbers as a tensor.
pub(crate) fn row(values: &[f32], device: &Device) -> Tensor<2> {
    Tensor::from_data(TensorData::new(values.to_vec(), [1, values.len()]), device)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::gradients::agree;
    use crate::weights::rows;

    #[test]
    fn parts_cover_everything_and_none_is_small() {
        for (count, size) in [(10, 3), (7, 7), (1, 5), (65, 64), (100, 1)] {
            let parts = parts(count, size);
            assert_eq!(parts.iter().map(|part| part.len()).sum::<usize>(), count);
            assert!(parts.iter().all(|part| part.len() >= size.min(count)));
        }
    }

    #[test]
    fn every_labelled_sample_comes_once_before_any_comes_again() {
        let labelled =
            Labelled { samples: vec![0.0; 7], classes: vec![0; 7], n_features: 1, n_classes: 2 };
        let mut seen: Vec<usize> = (0..7).flat_map(|turn| labelled.cycle(3, turn, 3)).collect();
        assert_eq!(seen.len(), 21);
        for cycle in seen.chunks_mut(7) {
            cycle.sort_unstable();
            assert_eq!(cycle, [0, 1, 2, 3, 4, 5, 6]);
        }
        assert_eq!(labelled.cycle(3, 0, 20).len(), 20);
    }

    #[test]
    fn derivatives_of_the_normalisation_agree_with_differences() {
        agree(&[("z", &[5, 3])], |leaves| {
            let found = normalise(leaves.of::<2>("z"));
            let weights: Vec<f32> = (0..15).map(|k| (k as f32 * 0.7).sin()).collect();
            let weights = rows(weights, 5, &found.values.device());
            (found.values.square() * weights).sum() + found.mean.sum() + found.deviation.sum()
        });
    }

    #[test]
    fn derivatives_of_the_loss_agree_with_differences() {
        agree(&[("z", &[4, 3])], |leaves| {
            let logits = leaves.of::<2>("z");
            let truth =
                rows(vec![1., 0., 0., 0., 0., 1., 0., 1., 0., 1., 0., 0.], 4, &logits.device());
            cross_entropy(logits, truth)
        });
    }

    #[test]
    fn a_lone_sample_and_a_constant_unit_stay_finite() {
        let device = Device::flex();
        for (values, n_rows) in [(vec![3.0, -2.0], 1), (vec![3.0, 1.0, 3.0, 2.0], 2)] {
            let found = crate::weights::numbers(normalise(rows(values, n_rows, &device)).values);
            assert!(found.iter().all(|value| value.is_finite()), "{found:?}");
            assert!(found[0].abs() < 1e-6, "{found:?}");
        }
    }
}
