//! The row of one fit of a comparison.

use serde::{Deserialize, Serialize};

use crate::rows::Record;

/// One fit of one method on one split.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Row {
    /// Data set.
    pub data: String,
    /// Split.
    pub split: String,
    /// Seed of the split, and of the fit.
    pub seed: u64,
    /// The run of the plan.
    pub run: String,
    /// Its method.
    pub method: String,
    /// Its preparation, steps separated by `; `.
    pub prepare: String,
    /// The knobs that were set.
    pub knobs: String,
    /// Labelled samples.
    pub n_labelled: usize,
    /// Unlabelled samples.
    pub n_unlabelled: usize,
    /// Test samples.
    pub n_test: usize,
    /// Accuracy on the test samples, in per cent.
    pub test_accuracy: f64,
    /// Accuracy on the unlabelled samples, in per cent; NaN if there are none.
    pub unlabelled_accuracy: f64,
    /// Recall of each class on the test samples, in per cent, in the order of the class names.
    pub recall: String,
    /// Seconds to fit.
    pub fit_seconds: f64,
    /// Seconds to predict the test samples.
    pub predict_seconds: f64,
    /// Peak memory of the process during the fit, if the system reports it.
    pub peak_bytes: Option<u64>,
    /// The objective at the end.
    pub objective: f64,
    /// Outer iterations.
    pub iterations: usize,
    /// Why it stopped.
    pub stop: String,
    /// The knobs that a search found, if there was one.
    pub found: String,
    /// Version of the program.
    pub version: String,
    /// Mean recall of the classes on the test samples, in per cent. This and what follows is missing
    /// in rows of older versions.
    #[serde(default)]
    pub balanced_accuracy: Option<f64>,
    /// Log-loss on the test samples.
    #[serde(default)]
    pub log_loss: Option<f64>,
    /// Expected calibration error on the test samples, from 0 to 1.
    #[serde(default)]
    pub calibration_error: Option<f64>,
    /// That of perfect probabilities on as many samples.
    #[serde(default)]
    pub calibration_floor: Option<f64>,
}

impl Record for Row {
    fn key(&self) -> String {
        let Self { data, split, seed, run, method, prepare, knobs, .. } = self;
        format!("{data}|{split}|{seed:06}|{run}|{method}|{prepare}|{knobs}")
    }

    fn version(&self) -> &str {
        &self.version
    }
}
