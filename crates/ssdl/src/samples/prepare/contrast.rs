//! `contrast=INNER/OUTER`: uneven light removed from faces, after Tan and Triggs.

use rand::Rng;

use super::layout::map_images;
use super::{Description, Layout, PreparationStep, StepChoice, Tensors};
use crate::{Matrix, Real, Result};

pub(super) const DESCRIPTION: Description = Description {
    name: "contrast",
    usage: "contrast[=INNER/OUTER]",
    sentence: "faces under even light (Tan and Triggs): gamma, difference of Gaussians of INNER and \
               OUTER pixels, equalised contrast; 1/2 by default",
    check: |plan| widths(plan).map(drop),
};

const GAMMA: f32 = 0.2;
/// The exponent of the two means, small so that a few strong edges do not set the scale.
const SOFTNESS: f32 = 0.1;
/// Strong contrasts are cut off here.
const CEILING: f32 = 10.0;
/// Widest Gaussian, in pixels.
const WIDEST: f32 = 64.0;

fn widths(plan: &StepChoice) -> Result<[f32; 2]> {
    let Some(text) = plan.argument() else { return Ok([1.0, 2.0]) };
    let numbers: Option<Vec<f32>> =
        text.split('/').map(|number| number.trim().parse().ok()).collect();
    match numbers.as_deref() {
        Some(&[inner, outer]) if inner >= 0.1 && inner < outer && outer <= WIDEST => {
            Ok([inner, outer])
        }
        _ => Err(plan.refuse("two widths INNER/OUTER in pixels such as 1/2, from 0.1 up to 64")),
    }
}

/// Illumination normalisation after Tan and Triggs (IEEE Transactions on Image Processing, 2010):
/// $v^{0.2}$; difference of two Gaussians; division by the mean of $\lvert v\rvert^{0.1}$ to the
/// power of 10, first plain, then with $\lvert v\rvert$ cut off at 10; $10\tanh(v / 10)$.
///
/// Pixels below 0 count as 0; beyond the border the last pixel is repeated. An even image becomes 0.
/// Nothing is learnt from the training samples; the brightness of an image does not matter.
#[derive(Debug)]
pub(super) struct Contrast {
    plan: StepChoice,
    image: [usize; 2],
    /// Halves of the two Gaussians, from the centre outwards.
    kernels: [Vec<f32>; 2],
}

impl Contrast {
    fn new(plan: &StepChoice, layout: Layout) -> Result<Self> {
        let kernels = widths(plan)?.map(gaussian);
        Ok(Self { plan: plan.clone(), image: layout.pixels(plan)?, kernels })
    }

    fn normalise(&self, buffers: &mut Buffers, image: &[f32], out: &mut [f32]) {
        let Buffers { light, half, blurred } = buffers;
        for (light, &v) in light.iter_mut().zip(image) {
            *light = v.max(0.0).powf(GAMMA);
        }
        let [inner, outer] = &self.kernels;
        blur(light, self.image, inner, half, out);
        blur(light, self.image, outer, half, blurred);
        out.iter_mut().zip(blurred.iter()).for_each(|(v, wide)| *v -= wide);
        let peak = |values: &[f32]| values.iter().fold(0.0, |peak: f32, v| peak.max(v.abs()));
        // Where the image is even the blurs leave rounding errors, which must not be amplified.
        let rounding = 1e-5 * peak(light);
        out.iter_mut().filter(|v| v.abs() <= rounding).for_each(|v| *v = 0.0);
        for ceiling in [f32::INFINITY, CEILING] {
            let size = typical(out, ceiling);
            out.iter_mut().for_each(|v| *v /= size);
        }
        out.iter_mut().for_each(|v| *v = CEILING * (*v / CEILING).tanh());
    }
}

/// $\bigl(\tfrac1n\sum \min(\lvert v\rvert, \text{ceiling})^{0.1}\bigr)^{10}$.
fn typical(values: &[f32], ceiling: f32) -> f32 {
    let sum: f64 = values.iter().map(|v| f64::from(v.abs().min(ceiling).powf(SOFTNESS))).sum();
    let mean = sum / values.len() as f64;
    // Where nearly all pixels are even the mean may vanish in single precision; the others are then
    // as large as possible.
    (mean.powf(f64::from(SOFTNESS).recip()) as f32).max(f32::MIN_POSITIVE)
}

/// One half of a Gaussian, centre first, out to three widths; both halves sum to 1.
fn gaussian(width: f32) -> Vec<f32> {
    let reach = (3.0 * width).ceil() as usize;
    let raw: Vec<f32> = (0..=reach).map(|i| (-0.5 * (i as f32 / width).powi(2)).exp()).collect();
    let sum = raw[0] + 2.0 * raw[1..].iter().sum::<f32>();
    raw.iter().map(|v| v / sum).collect()
}

/// Blurs along rows into `half`, then along columns into `out`.
fn blur(
    image: &[f32],
    [height, width]: [usize; 2],
    kernel: &[f32],
    half: &mut [f32],
    out: &mut [f32],
) {
    for (row, half) in image.chunks_exact(width).zip(half.chunks_exact_mut(width)) {
        for (x, half) in half.iter_mut().enumerate() {
            let pairs = kernel.iter().enumerate().skip(1);
            *half = pairs.fold(kernel[0] * row[x], |sum, (i, weight)| {
                sum + weight * (row[x.saturating_sub(i)] + row[(x + i).min(width - 1)])
            });
        }
    }
    let half = &*half;
    let row = |y: usize| &half[y * width..][..width];
    for (y, out) in out.chunks_exact_mut(width).enumerate() {
        out.iter_mut().zip(row(y)).for_each(|(out, v)| *out = kernel[0] * v);
        for (i, weight) in kernel.iter().enumerate().skip(1) {
            let ends = row(y.saturating_sub(i)).iter().zip(row((y + i).min(height - 1)));
            out.iter_mut().zip(ends).for_each(|(out, (a, b))| *out += weight * (a + b));
        }
    }
}

struct Buffers {
    light: Vec<f32>,
    half: Vec<f32>,
    blurred: Vec<f32>,
}

impl<T: Real> PreparationStep<T> for Contrast {
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
        self.image[0] * self.image[1]
    }

    fn n_out(&self) -> usize {
        self.image[0] * self.image[1]
    }

    fn image(&self) -> Option<[usize; 2]> {
        Some(self.image)
    }

    fn map(&self, features: Matrix<T>) -> Matrix<T> {
        let n = features.rows();
        let buffers = || {
            let [light, half, blurred] = std::array::from_fn(|_| vec![0.0; n]);
            Buffers { light, half, blurred }
        };
        map_images(&features, n, buffers, |buffers, image, out| self.normalise(buffers, image, out))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::samples::prepare::fixed_cases;
    use proptest::prelude::*;

    fn normalised(image: [usize; 2], pixels: Vec<f32>) -> Vec<f32> {
        let layout = Layout::new(pixels.len(), Some(image)).expect("one pixel per feature");
        let step = Contrast::new(&"contrast".parse().expect("plan"), layout).expect("fits");
        let features = Matrix::from_columns(pixels.len(), 1, pixels).expect("length");
        step.map(features).into_vec()
    }

    #[test]
    fn gaussians_sum_to_one_and_blur_a_point_into_themselves() {
        for width in [0.1, 1.0, 2.0, 64.0] {
            let kernel = gaussian(width);
            let sum = kernel[0] + 2.0 * kernel[1..].iter().sum::<f32>();
            assert!((sum - 1.0).abs() < 1e-5, "{width}: {sum}");
        }
        let kernel = gaussian(1.0);
        let (mut point, mut half, mut out) = ([0.0; 81], [0.0; 81], [0.0; 81]);
        point[40] = 1.0;
        blur(&point, [9, 9], &kernel, &mut half, &mut out);
        for (at, v) in out.iter().enumerate() {
            let by_hand =
                [at / 9, at % 9].map(|i| kernel.get(i.abs_diff(4)).copied().unwrap_or(0.0));
            assert!((v - by_hand[0] * by_hand[1]).abs() < 1e-7);
        }
    }

    #[test]
    fn even_images_become_zero() {
        for value in [0.0, 0.7, 255.0, 1e30, -4.0] {
            assert_eq!(normalised([5, 7], vec![value; 35]), vec![0.0; 35], "{value}");
        }
        assert_eq!(normalised([1, 1], vec![3.0]), [0.0]);
    }

    #[test]
    fn a_step_of_light_across_the_face_nearly_vanishes_away_from_its_edge() {
        let lit: Vec<f32> = (0..32 * 32).map(|i| if i % 32 < 16 { 20.0 } else { 200.0 }).collect();
        let out = normalised([32, 32], lit);
        assert!(out[15].abs() > 1.0, "the edge itself stays: {}", out[15]);
        assert!(out[2].abs() < 1e-2 && out[29].abs() < 1e-2, "{} {}", out[2], out[29]);
    }

    proptest! {
        #![proptest_config(fixed_cases(32))]

        #[test]
        fn brightness_does_not_matter_and_values_are_bounded(
            pixels in prop::collection::vec(1u8..=255, 12 * 9), by in 1e-3f32..1e3
        ) {
            let plain: Vec<f32> = pixels.iter().map(|&v| f32::from(v)).collect();
            let brighter = plain.iter().map(|v| v * by).collect();
            let (a, b) = (normalised([12, 9], plain), normalised([12, 9], brighter));
            for (a, b) in a.iter().zip(&b) {
                prop_assert!(a.abs() <= CEILING && (a - b).abs() < 1e-2, "{} {}", a, b);
            }
        }
    }
}
