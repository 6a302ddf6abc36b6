//! How parts of a model go into its file and come back: named arrays of numbers.

use std::borrow::Cow;

use crate::{Error, Matrix, Real, Result};

/// An array on its way to the file.
pub(crate) enum Stored<'a, T: Real> {
    /// Written with samples, atoms or classes as rows.
    Matrix(Cow<'a, Matrix<T>>),
    List(&'a [T]),
}

/// Where arrays come from; they are checked to be finite and of the requested size.
pub(crate) trait Source<T: Real> {
    fn matrix(&self, name: &str, rows: usize, columns: usize) -> Result<Matrix<T>>;
    fn list(&self, name: &str, len: usize) -> Result<Vec<T>>;
    /// The error that refuses the whole file.
    fn refuse(&self, reason: &str) -> Error;
}
