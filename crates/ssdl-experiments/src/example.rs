//! One fit of a plan, kept whole to be looked at from near.

use ssdl::{Matrix, Model};

/// A model with the samples it was fitted to and those it is judged on.
pub struct Example {
    /// Which fit of the plan it is.
    pub name: String,
    /// The model.
    pub model: Model<f32>,
    /// Its training samples, raw.
    pub training: Matrix<f32>,
    /// Test samples, raw.
    pub test: Matrix<f32>,
    /// Their labels.
    pub truth: Vec<Option<String>>,
}
