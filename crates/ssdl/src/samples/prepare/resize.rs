//! `resize=HEIGHTxWIDTH`: images of another size.

use rand::Rng;

use super::layout::map_images;
use super::{Description, Layout, PreparationStep, StepChoice, Tensors};
use crate::{Matrix, Real, Result};

pub(super) const DESCRIPTION: Description = Description {
    name: "resize",
    usage: "resize=HEIGHTxWIDTH",
    sentence: "images of HEIGHT by WIDTH pixels: interpolated linearly, averaged where they shrink",
    check: |plan| sides(plan).map(drop),
};

fn sides(plan: &StepChoice) -> Result<[usize; 2]> {
    let number = |text: &str| text.trim().parse().ok().filter(|side| (1..=65_536).contains(side));
    let sides = plan.argument().and_then(|text| text.split_once(['x', '×']));
    sides
        .and_then(|(height, width)| Some([number(height)?, number(width)?]))
        .ok_or_else(|| plan.refuse("HEIGHTxWIDTH in pixels such as 16x16, sides of 1 to 65536"))
}

/// Images of another size: linear interpolation between the centres of pixels, with a triangle as
/// wide as the new pixels where the image shrinks, so that every old pixel counts.
///
/// Nothing is learnt from the training samples.
#[derive(Debug)]
pub(super) struct Resize {
    plan: StepChoice,
    from: [usize; 2],
    rows: Vec<Mixture>,
    columns: Vec<Mixture>,
}

/// A new pixel along one side: weights of old pixels from `start` on, summing to 1.
#[derive(Debug)]
struct Mixture {
    start: usize,
    weights: Vec<f32>,
}

impl Resize {
    fn new(plan: &StepChoice, layout: Layout) -> Result<Self> {
        let (to, from) = (sides(plan)?, layout.pixels(plan)?);
        let [rows, columns] = [0, 1].map(|side| mixtures(from[side], to[side]));
        Ok(Self { plan: plan.clone(), from, rows, columns })
    }
}

/// Rows first into `half` (new rows of old width), then columns.
fn resize(rows: &[Mixture], columns: &[Mixture], half: &mut [f32], image: &[f32], out: &mut [f32]) {
    let width = half.len() / rows.len();
    for (mixture, half) in rows.iter().zip(half.chunks_exact_mut(width)) {
        half.fill(0.0);
        let rows = image.chunks_exact(width).skip(mixture.start);
        for (weight, row) in mixture.weights.iter().zip(rows) {
            half.iter_mut().zip(row).for_each(|(half, v)| *half += weight * v);
        }
    }
    for (half, out) in half.chunks_exact(width).zip(out.chunks_exact_mut(columns.len())) {
        for (mixture, out) in columns.iter().zip(out) {
            let old = mixture.weights.iter().zip(&half[mixture.start..]);
            *out = old.fold(0.0, |sum, (weight, v)| sum + weight * v);
        }
    }
}

/// An image of another size, row by row, as the step `resize` makes it.
#[must_use]
pub fn resized(image: &[f32], from: [usize; 2], to: [usize; 2]) -> Vec<f32> {
    let [rows, columns] = [0, 1].map(|side| mixtures(from[side], to[side]));
    let (mut half, mut out) = (vec![0.0; to[0] * from[1]], vec![0.0; to[0] * to[1]]);
    resize(&rows, &columns, &mut half, image, &mut out);
    out
}

fn mixtures(from: usize, to: usize) -> Vec<Mixture> {
    let ratio = from as f64 / to as f64;
    let reach = ratio.max(1.0);
    let one = |new: usize| {
        let centre = (new as f64 + 0.5) * ratio - 0.5;
        let start = (centre - reach).ceil().max(0.0) as usize;
        let end = ((centre + reach).floor() as usize).min(from - 1);
        let raw = (start..=end).map(|old| (1.0 - (old as f64 - centre).abs() / reach).max(0.0));
        let raw: Vec<f64> = raw.collect();
        // There are no pixels beyond the border: those inside take over their weight.
        let sum: f64 = raw.iter().sum();
        Mixture { start, weights: raw.iter().map(|weight| (weight / sum) as f32).collect() }
    };
    (0..to).map(one).collect()
}

impl<T: Real> PreparationStep<T> for Resize {
    fn fit(plan: &StepChoice, _: &Matrix<T>, layout: Layout, _: &mut dyn Rng) -> Result<Self> {
        Self::new(plan, layout)
    }

    fn restore(plan: &StepChoice, layout: Layout, _: &mut Tensors<'_, T>) -> Result<Self> {
        Self::new(plan, layout)
    }

    fn plan(&self) -> &StepChoice {
        &self.plan
    }

    fn n_in(&self) -> usize {
        self.from[0] * self.from[1]
    }

    fn n_out(&self) -> usize {
        self.rows.len() * self.columns.len()
    }

    fn image(&self) -> Option<[usize; 2]> {
        Some([self.rows.len(), self.columns.len()])
    }

    fn map(&self, features: Matrix<T>) -> Matrix<T> {
        let half = || vec![0.0; self.rows.len() * self.from[1]];
        let n_out = PreparationStep::<T>::n_out(self);
        map_images(&features, n_out, half, |half, image, out| {
            resize(&self.rows, &self.columns, half, image, out);
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::samples::prepare::fixed_cases;
    use proptest::prelude::*;

    fn resized(text: &str, from: [usize; 2], pixels: Vec<f32>) -> Vec<f32> {
        let layout = Layout::new(pixels.len(), Some(from)).expect("one pixel per feature");
        let step = Resize::new(&text.parse().expect("plan"), layout).expect("fits");
        let features = Matrix::from_columns(pixels.len(), 1, pixels).expect("length");
        step.map(features).into_vec()
    }

    #[test]
    fn sizes_by_hand() {
        let image = vec![1.0, 2.0, 3.0, 4.0, 5.0, 6.0];
        assert_eq!(resized("resize=2x3", [2, 3], image.clone()), image);
        assert_eq!(resized("resize=2x3", [1, 1], vec![7.0]), [7.0; 6]);
        // New centres at -1/4, 1/4, 3/4 and 5/4 of the old ones.
        assert_eq!(resized("resize=1x4", [1, 2], vec![0.0, 4.0]), [0.0, 1.0, 3.0, 4.0]);
        // A triangle of three pixels' reach around the middle of three.
        let out = resized("resize=1x1", [1, 3], vec![1.0, 2.0, 6.0]);
        let weights = [2.0 / 3.0, 1.0, 2.0 / 3.0];
        let by_hand = (weights[0] + 2.0 * weights[1] + 6.0 * weights[2]) / (7.0 / 3.0);
        assert!((out[0] - by_hand).abs() < 1e-6);
    }

    proptest! {
        #![proptest_config(fixed_cases(64))]

        #[test]
        fn even_images_stay_even_and_values_stay_in_range(
            from in [1usize..12, 1usize..12], to in [1usize..30, 1usize..30], seed in 0u8..9
        ) {
            let text = format!("resize={}x{}", to[0], to[1]);
            let n = from[0] * from[1];
            for v in resized(&text, from, vec![3.0; n]) {
                prop_assert!((v - 3.0).abs() < 1e-5);
            }
            let mixed = (0..n).map(|i| ((i * 7 + usize::from(seed)) % 11) as f32).collect();
            let out = resized(&text, from, mixed);
            prop_assert_eq!(out.len(), to[0] * to[1]);
            prop_assert!(out.iter().all(|v| (-1e-5..=10.00001).contains(v)));
        }
    }
}
