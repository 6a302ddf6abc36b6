//! How parts of a model go into its file and come back: named arrays of numbers.

use std::borrow::Cow;

use crate::{Error, Matrix, Real, Result};

/// An array on its way to the file.
pub(crate) enum Stored<'a, T: Real> {
    /// Written with samples, atoms or classes as rows.
    Matrix(Cow<'a, Matrix<T>>),
    List(&'a [T]),
    /// Numbers without a fraction.
    Whole(Cow<'a, [u32]>),
}

/// Where arrays come from; they are checked to be finite and of the requested size.
pub(crate) trait Source<T: Real> {
    fn matrix(&self, name: &str, rows: usize, columns: usize) -> Result<Matrix<T>>;
    fn list(&self, name: &str, len: usize) -> Result<Vec<T>>;
    /// A list of any length.
    fn whole(&self, name: &str) -> Result<Vec<u32>>;
    /// The error that refuses the whole file.
    fn refuse(&self, reason: &str) -> Error;
}
