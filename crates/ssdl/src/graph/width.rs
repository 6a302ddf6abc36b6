//! The width σ of a heat kernel: absolute, or in mean distances.

use super::distances::of_pairs;
use crate::knobs::KnobValue;
use crate::{Matrix, Real};

/// σ of $e^{-d^2/2\sigma^2}$: a length, or a multiple of the mean distance between samples.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Width {
    /// In the units of the prepared samples; written `12.5`.
    Absolute(f64),
    /// In mean distances; written `0.5x`.
    Relative(f64),
}

impl Width {
    /// The length on these samples, from the mean over all pairs, or over the pairs among 4,096
    /// evenly spaced samples where there are more. Where all samples are equal, any width gives the
    /// same weights, and the length is 1.
    #[must_use]
    pub fn resolve<T: Real>(self, samples: &Matrix<T>) -> f64 {
        match self {
            Self::Absolute(width) => width,
            Self::Relative(times) => {
                let all = of_pairs(samples);
                let mean = all.iter().sum::<f64>() / all.len().max(1) as f64;
                if mean > 0.0 { times * mean } else { 1.0 }
            }
        }
    }
}

impl KnobValue for Width {
    type Given = Self;
    fn given(value: Self) -> Self {
        value
    }
    fn read(text: &str) -> Option<Self> {
        match text.strip_suffix('x') {
            Some(times) => times.trim().parse().ok().map(Self::Relative),
            None => text.parse().ok().map(Self::Absolute),
        }
    }
    fn text(self) -> String {
        match self {
            Self::Absolute(width) => width.to_string(),
            Self::Relative(times) => format!("{times}x"),
        }
    }
    fn number(self) -> Option<f64> {
        let (Self::Absolute(value) | Self::Relative(value)) = self;
        Some(value)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn widths_are_read_and_written_and_follow_the_samples() {
        assert_eq!(Width::read("0.5x"), Some(Width::Relative(0.5)));
        assert_eq!(Width::read("12"), Some(Width::Absolute(12.0)));
        assert_eq!(Width::read("x"), None);
        for width in [Width::Absolute(3.5), Width::Relative(0.25)] {
            assert_eq!(Width::read(&width.text()), Some(width));
        }
        let line = Matrix::from_fn(1, 3, |_, j| j as f64);
        assert!((Width::Relative(3.0).resolve(&line) - 4.0).abs() < 1e-12);
        assert_eq!(Width::Relative(3.0).resolve(&Matrix::<f64>::zeros(2, 4)), 1.0);
        assert_eq!(Width::Relative(3.0).resolve(&Matrix::<f64>::zeros(2, 1)), 1.0);
    }
}
