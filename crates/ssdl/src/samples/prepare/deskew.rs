//! `deskew`: slanted images upright, by their moments.

use rand::Rng;

use super::layout::map_images;
use super::{Description, Layout, PreparationStep, StepChoice, Tensors};
use crate::{Matrix, Real, Result};

pub(super) const DESCRIPTION: Description = Description {
    name: "deskew",
    usage: "deskew",
    sentence: "images sheared upright and centred, by their moments; strokes are bright on a dark \
               border, with pixels from 0, or dark on a bright one",
    check: StepChoice::nothing,
};

/// Shears each image until its principal stroke is upright, and moves its centre of mass
/// $(\bar x, \bar y)$ to the middle $(x_0, y_0)$:
/// $v'(x, y) = v(\bar x + (x - x_0) + s\,(y - y_0),\; \bar y + (y - y_0))$ with
/// $s = \mu_{11} / \mu_{02}$, linear between pixels and 0 outside.
///
/// Moments weigh pixels by their value, below 0 as 0; where the border of an image is bright, by the
/// difference to its brightest pixel, so that ink on paper is sheared like light on black. An image
/// without mass stays as it is. Without the move to the middle, gradients of digits that are not
/// centred gain little from the shear. Nothing is learnt from the training samples.
#[derive(Debug)]
pub(super) struct Deskew {
    plan: StepChoice,
    image: [usize; 2],
}

/// Largest shear: 45 degrees. A stroke that leans more is horizontal, and no shear makes it upright.
const MAX_SHEAR: f64 = 1.0;

impl<T: Real> PreparationStep<T> for Deskew {
    fn fit(plan: &StepChoice, _: &Matrix<T>, layout: Layout, _: &mut dyn Rng) -> Result<Self> {
        Ok(Self { plan: plan.clone(), image: layout.pixels(plan)? })
    }

    fn restore(plan: &StepChoice, layout: Layout, _: &mut Tensors<'_, T>) -> Result<Self> {
        Ok(Self { plan: plan.clone(), image: layout.pixels(plan)? })
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
        let (width, n) = (self.image[1], features.rows());
        let buffers = || (vec![0.0; width], vec![0.0; n]);
        map_images(&features, n, buffers, |(row, turned), image, out| {
            let Some(paper) = paper(image, width) else { return upright(image, width, row, out) };
            turned.iter_mut().zip(image).for_each(|(turned, v)| *turned = paper - v);
            upright(turned, width, row, out);
            out.iter_mut().for_each(|v| *v = paper - *v);
        })
    }
}

/// The brightest pixel, where the border is nearer to it than to the darkest.
fn paper(image: &[f32], width: usize) -> Option<f32> {
    let (low, high) = image
        .iter()
        .fold((f32::INFINITY, f32::NEG_INFINITY), |(low, high), &v| (low.min(v), high.max(v)));
    let (mut sum, mut count) = (0.0, 0.0);
    let last = image.len() / width - 1;
    for (y, row) in image.chunks_exact(width).enumerate() {
        let step = if y == 0 || y == last { 1 } else { (width - 1).max(1) };
        for v in row.iter().step_by(step) {
            (sum, count) = (sum + f64::from(*v), count + 1.0);
        }
    }
    (high > low && sum / count > 0.5 * (f64::from(low) + f64::from(high))).then_some(high)
}

/// `blended` holds one row.
fn upright(image: &[f32], width: usize, blended: &mut [f32], out: &mut [f32]) {
    let Some(Posture { centre: [centre_x, centre_y], skew }) = posture(image, width) else {
        out.copy_from_slice(image);
        return;
    };
    let middle = |side: usize| (side as f64 - 1.0) / 2.0;
    let (middle_x, middle_y) = (middle(width), middle(image.len() / width));
    // How far up or down is the same for all rows, how far left or right for all pixels of a row.
    let (down, part_down) = whole_and_part(centre_y - middle_y);
    for (y, out) in out.chunks_exact_mut(width).enumerate() {
        let row = |y: isize| {
            let start = usize::try_from(y).ok()?.checked_mul(width)?;
            image.get(start..start + width)
        };
        let above = down.saturating_add(y as isize);
        blended.fill(0.0);
        for (row, weight) in
            [(row(above), 1.0 - part_down), (row(above.saturating_add(1)), part_down)]
        {
            let row = row.unwrap_or_default();
            blended.iter_mut().zip(row).for_each(|(sum, v)| *sum += weight * v);
        }
        let (along, part) = whole_and_part(centre_x - middle_x + skew * (y as f64 - middle_y));
        let at = |x: isize| usize::try_from(x).ok().and_then(|x| blended.get(x)).copied();
        for (x, out) in out.iter_mut().enumerate() {
            let left = along.saturating_add(x as isize);
            let (a, b) = (at(left).unwrap_or(0.0), at(left.saturating_add(1)).unwrap_or(0.0));
            *out = (1.0 - part) * a + part * b;
        }
    }
}

fn whole_and_part(shift: f64) -> (isize, f32) {
    let whole = shift.floor();
    (whole as isize, (shift - whole) as f32)
}

struct Posture {
    centre: [f64; 2],
    skew: f64,
}

/// Centre of mass and $\mu_{11}/\mu_{02}$; `None` for an image without mass.
fn posture(image: &[f32], width: usize) -> Option<Posture> {
    let [mut mass, mut along_x, mut along_y, mut mixed, mut square] = [0.0; 5];
    for (y, row) in image.chunks_exact(width).enumerate() {
        let [mut sum, mut by_x] = [0.0; 2];
        for (x, &value) in row.iter().enumerate() {
            let value = f64::from(value.max(0.0));
            sum += value;
            by_x += x as f64 * value;
        }
        let y = y as f64;
        mass += sum;
        along_x += by_x;
        along_y += y * sum;
        mixed += y * by_x;
        square += y * y * sum;
    }
    if mass <= 0.0 {
        return None;
    }
    let centre = [along_x / mass, along_y / mass];
    let (mixed, square) = (mixed - centre[1] * along_x, square - centre[1] * along_y);
    // Less than a hundredth of a row of spread is rounding, or the dust around a horizontal line.
    let skew = if square <= 1e-4 * mass { 0.0 } else { mixed / square };
    Some(Posture { centre, skew: skew.clamp(-MAX_SHEAR, MAX_SHEAR) })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::samples::prepare::fixed_cases;
    use proptest::prelude::*;

    fn deskewed(image: &[f32], width: usize) -> Vec<f32> {
        let mut out = vec![f32::NAN; image.len()];
        upright(image, width, &mut vec![f32::NAN; width], &mut out);
        out
    }

    #[test]
    fn a_diagonal_becomes_a_column() {
        let diagonal: Vec<f32> = (0..25).map(|i| f32::from(i / 5 == i % 5)).collect();
        let column: Vec<f32> = (0..25).map(|i| f32::from(i % 5 == 2)).collect();
        assert_eq!(deskewed(&diagonal, 5), column);
        let falling: Vec<f32> = (0..25).map(|i| f32::from(i / 5 == 4 - i % 5)).collect();
        assert_eq!(deskewed(&falling, 5), column);
        assert_eq!(deskewed(&column, 5), column);
    }

    #[test]
    fn ink_on_paper_is_sheared_like_light_on_black() {
        let light: Vec<f32> = (0..49).map(|i| f32::from(matches!(i, 8 | 16 | 24))).collect();
        let ink: Vec<f32> = light.iter().map(|v| 0.9 - 0.8 * v).collect();
        assert_eq!((paper(&light, 7), paper(&ink, 7)), (None, Some(0.9)));
        assert_eq!((paper(&[0.5; 9], 3), paper(&[1.0], 1)), (None, None));
        let step = Deskew { plan: "deskew".parse().expect("plan"), image: [7, 7] };
        let both = Matrix::from_columns(49, 2, [light, ink].concat()).expect("length");
        let out = step.map(both);
        for (v, ink) in out.column(0).iter().zip(out.column(1)) {
            assert!((0.9 - 0.8 * v - ink).abs() < 1e-6, "{v} {ink}");
        }
    }

    #[test]
    fn half_a_pixel_is_shared_out() {
        // Centre of mass in row 1, shear 1/2: the outer rows move by half a pixel.
        let image =
            [0.0, 2.0, 0.0, 0.0, /**/ 0.0, 2.0, 2.0, 0.0, /**/ 0.0, 0.0, 2.0, 0.0];
        let out = [0.0, 1.0, 1.0, 0.0, /**/ 0.0, 2.0, 2.0, 0.0, /**/ 0.0, 1.0, 1.0, 0.0];
        assert_eq!(deskewed(&image, 4), out);
    }

    #[test]
    fn the_centre_of_mass_moves_to_the_middle() {
        let corner = [4.0, 0.0, 0.0, /**/ 0.0, 0.0, 0.0, /**/ 0.0, 0.0, 0.0];
        let middle = [0.0, 0.0, 0.0, /**/ 0.0, 4.0, 0.0, /**/ 0.0, 0.0, 0.0];
        assert_eq!(deskewed(&corner, 3), middle);
        // Between two rows and two columns, a quarter for each.
        assert_eq!(deskewed(&[4.0, 0.0, 0.0, 0.0], 2), [1.0; 4]);
    }

    #[test]
    fn upright_images_stay_as_they_are() {
        let line = [0.0, 0.0, 0.0, /**/ 1.0, 2.0, 1.0, /**/ 0.0, 0.0, 0.0];
        for image in [[0.0; 9], [-1.0; 9], [3.0; 9], line] {
            assert_eq!(deskewed(&image, 3), image);
        }
        for width in [1, 2] {
            assert_eq!(deskewed(&[4.0, 4.0], width), [4.0, 4.0]);
        }
    }

    proptest! {
        #![proptest_config(fixed_cases(64))]

        #[test]
        fn a_blot_sheared_by_hand_comes_back_upright(slant in -0.6f64..0.6) {
            let sheared: Vec<f32> = (0..41 * 41).map(|i| {
                let (y, x) = ((i / 41) as f64 - 20.0, (i % 41) as f64 - 20.0);
                (-((x - slant * y) / 2.0).powi(2) - (y / 6.0).powi(2)).exp() as f32
            }).collect();
            let before = posture(&sheared, 41).expect("mass").skew;
            let after = posture(&deskewed(&sheared, 41), 41).expect("mass").skew;
            prop_assert!((before - slant).abs() < 0.01, "{}", before);
            prop_assert!(after.abs() < 0.01, "{}", after);
        }

        #[test]
        fn brightness_does_not_matter(values in prop::collection::vec(0f32..9.0, 42)) {
            let twice: Vec<f32> = values.iter().map(|v| 2.0 * v).collect();
            let out: Vec<f32> = deskewed(&values, 6).iter().map(|v| 2.0 * v).collect();
            prop_assert_eq!(deskewed(&twice, 6), out);
        }
    }
}
