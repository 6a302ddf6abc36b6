//! One fit of a plan, to be shown in detail.

use ssdl::{Matrix, Model};

/// A model with its training samples and its test samples.
pub struct Example {
    /// Which fit of the plan it is.
    pub name: String,
    /// The model.
    pub model: Model<f32>,
    /// Its raw training samples.
    pub training: Matrix<f32>,
    /// Raw test samples.
    pub test: Matrix<f32>,
    /// Their labels.
    pub truth: Vec<Option<String>>,
}
