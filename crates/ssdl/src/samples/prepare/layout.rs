//! How the numbers of a sample are arranged, and the loop that maps images one by one.

use super::StepChoice;
use crate::threads::Loops;
use crate::{Error, Matrix, Real, Result};

/// Longest side of an image: tables that grow with a side stay small, whatever a file claims.
const LONGEST_SIDE: usize = 65_536;

/// How many features a sample has and, where they are the pixels of an image, its shape.
///
/// Pixels run row by row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Layout {
    n_features: usize,
    image: Option<[usize; 2]>,
}

impl Layout {
    /// Samples of `n_features` that are images of this height and width, if any.
    ///
    /// # Errors
    /// If the image has another number of pixels, or a side of more than 65,536.
    pub fn new(n_features: usize, image: Option<[usize; 2]>) -> Result<Self> {
        if let Some([height, width]) = image {
            let pixels = height.saturating_mul(width);
            if pixels != n_features {
                let what = format!("pixels of an image of {height}x{width}, one per feature");
                return Err(Error::Shape { what, expected: n_features, got: pixels });
            }
            if height.max(width) > LONGEST_SIDE {
                let text = format!(
                    "an image of {height}x{width}; a side has at most {LONGEST_SIDE} pixels"
                );
                return Err(Error::Samples(text));
            }
        }
        Ok(Self { n_features, image })
    }

    /// The layout that a step makes; the step guarantees the sizes.
    pub(super) fn made(n_features: usize, image: Option<[usize; 2]>) -> Self {
        Self { n_features, image }
    }

    /// Samples that are not images.
    #[must_use]
    pub fn flat(n_features: usize) -> Self {
        Self { n_features, image: None }
    }

    /// Features per sample.
    #[must_use]
    pub fn n_features(&self) -> usize {
        self.n_features
    }

    /// Height and width, where samples are images.
    #[must_use]
    pub fn image(&self) -> Option<[usize; 2]> {
        self.image
    }

    /// Height and width, for a step that needs them.
    pub(super) fn pixels(&self, plan: &StepChoice) -> Result<[usize; 2]> {
        self.image.ok_or_else(|| {
            Error::Samples(format!(
                "the preparation step `{plan}` works on images, but these samples are none: give the \
                 shape with --image HEIGHTxWIDTH, and put the step before those \
                 that no longer give pixels, such as pca, projection, gradients and join"
            ))
        })
    }
}

/// Maps every image on its own, in single precision: `work` gets a sample and fills its `n_out`
/// numbers, with its own buffers from `buffers`.
///
/// A sample outside the range of single precision comes out as NaN, which the caller refuses.
pub(super) fn map_images<T: Real, B>(
    features: &Matrix<T>,
    n_out: usize,
    buffers: impl Fn() -> B + Sync + Send,
    work: impl Fn(&mut B, &[f32], &mut [f32]) + Sync + Send,
) -> Matrix<T> {
    /// Minimum number of samples per thread, so that buffers are seldom made.
    const MIN_SAMPLES: usize = 16;
    let mut out = Matrix::zeros(n_out, features.columns());
    let make = || (vec![0f32; features.rows()], vec![0f32; n_out], buffers());
    let columns = out.columns_mut().enumerate().runs_of(MIN_SAMPLES);
    columns.each_with(make, |(image, mapped, buffers), (j, out)| {
        for (pixel, x) in image.iter_mut().zip(features.column(j)) {
            *pixel = x.wide() as f32;
        }
        if image.iter().all(|pixel| pixel.is_finite()) {
            work(buffers, image, mapped);
        } else {
            mapped.fill(f32::NAN);
        }
        for (out, &value) in out.iter_mut().zip(mapped.iter()) {
            *out = T::of(f64::from(value));
        }
    });
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_image_must_have_a_pixel_per_feature() {
        let layout = Layout::new(6, Some([2, 3])).expect("2x3");
        assert_eq!((layout.n_features(), layout.image()), (6, Some([2, 3])));
        let error = Layout::new(6, Some([2, 2])).expect_err("2x2").to_string();
        assert_eq!(error, "pixels of an image of 2x2, one per feature: expected 6, got 4");
        assert!(Layout::new(0, Some([usize::MAX, 2])).is_err());
        assert!(Layout::new(1 << 20, Some([1, 1 << 20])).is_err());
    }

    #[test]
    fn a_step_without_an_image_names_itself_and_the_remedy() {
        let plan = "deskew".parse().expect("plan");
        let error = Layout::flat(4).pixels(&plan).expect_err("no image").to_string();
        assert!(error.contains("`deskew`") && error.contains("--image HEIGHTxWIDTH"), "{error}");
    }

    #[test]
    fn images_out_of_range_become_nan() {
        let features = Matrix::from_fn(2, 2, |i, j| if i + j == 0 { 1e300f64 } else { 2.0 });
        let out = map_images(&features, 1, || (), |(), image, out| out[0] = image[0] - image[1]);
        assert!(out.column(0)[0].is_nan());
        assert_eq!(out.column(1), [0.0]);
    }
}
