//! 1. What comes in: samples with a few labels, prepared by fitted steps.

mod labels;
mod on_disk;
pub mod prepare;
pub mod split;
pub mod weights;

pub use labels::Labels;
pub use on_disk::{Held, OnDisk};

use std::sync::Arc;

use crate::matrix::first_not_finite;
use crate::{Error, Matrix, Real, Result};

/// Samples (columns of `features`) and their labels, checked once. Copies share the features.
#[derive(Clone, Debug)]
pub struct Samples<T> {
    features: Arc<Matrix<T>>,
    labels: Labels,
}

impl<T: Real> Samples<T> {
    /// Joins features (`n_features × n_samples`) and labels.
    ///
    /// # Errors
    /// If the counts differ, there is nothing to learn from, or a value is not finite (its row and
    /// column are named, counted from 1).
    #[inline(never)]
    pub fn new(features: Matrix<T>, labels: Labels) -> Result<Self> {
        check_features(&features)?;
        Self { features: Arc::new(features), labels: Labels::none(0) }.with_labels(labels)
    }

    /// The same samples with other labels; features are neither copied nor checked again.
    ///
    /// # Errors
    /// If the counts differ.
    pub fn with_labels(&self, labels: Labels) -> Result<Self> {
        if labels.len() != self.features.columns() {
            return Err(Error::Shape {
                what: "number of labels (one per sample)".into(),
                expected: self.features.columns(),
                got: labels.len(),
            });
        }
        Ok(Self { features: self.features.clone(), labels })
    }

    /// The samples, one per column.
    #[must_use]
    pub fn features(&self) -> &Matrix<T> {
        &self.features
    }

    /// The labels, where known.
    #[must_use]
    pub fn labels(&self) -> &Labels {
        &self.labels
    }

    /// Number of samples.
    #[must_use]
    pub fn n_samples(&self) -> usize {
        self.features.columns()
    }

    /// Number of features.
    #[must_use]
    pub fn n_features(&self) -> usize {
        self.features.rows()
    }

    /// Features and labels.
    #[must_use]
    pub fn into_parts(self) -> (Matrix<T>, Labels) {
        (Arc::unwrap_or_clone(self.features), self.labels)
    }

    /// Features, which other samples may share, and labels.
    pub(crate) fn into_shared(self) -> (Arc<Matrix<T>>, Labels) {
        (self.features, self.labels)
    }
}

/// Refuses empty matrices and values that are not finite.
///
/// # Errors
/// Names the first offending row (sample) and column (feature), counted from 1.
pub fn check_features<T: Real>(features: &Matrix<T>) -> Result<()> {
    if features.columns() == 0 {
        return Err(Error::Samples("there are no rows".into()));
    }
    if features.rows() == 0 {
        return Err(Error::Samples("there are no feature columns".into()));
    }
    if let Some(at) = first_not_finite(features.as_slice()) {
        return Err(Error::NotFinite {
            row: at / features.rows() + 1,
            column: at % features.rows() + 1,
            value: features.as_slice()[at].wide(),
        });
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_nan_is_named_by_row_and_column() {
        let mut features = Matrix::<f64>::zeros(3, 4);
        features.column_mut(2)[1] = f64::NAN;
        let error = Samples::new(features, Labels::none(4)).expect_err("NaN");
        assert!(matches!(error, Error::NotFinite { row: 3, column: 2, .. }), "{error}");
    }

    #[test]
    fn counts_must_agree_and_empty_samples_are_refused() {
        assert!(Samples::new(Matrix::<f32>::zeros(3, 4), Labels::none(5)).is_err());
        assert!(Samples::new(Matrix::<f32>::zeros(3, 0), Labels::none(0)).is_err());
        assert!(Samples::new(Matrix::<f32>::zeros(0, 3), Labels::none(3)).is_err());
    }
}
