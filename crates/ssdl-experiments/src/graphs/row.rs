//! The row of one fit of a comparison of graphs.

use serde::{Deserialize, Serialize};

use super::plan::Column;
use crate::rows::Record;

/// Settings and results of one fit.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Row {
    /// `sc` (no graph), `lle`, `heat`, `threshold` or `learnt`.
    pub graph: String,
    /// Labelled samples.
    pub n_labelled: usize,
    /// Noise, in mean squared pixels.
    pub noise: f64,
    /// Seed of the first atoms.
    pub seed: u64,
    /// Knobs of the graph, as in the plan.
    pub knobs: String,
    /// β; 0 without a graph.
    pub manifold: f64,
    /// The box constraint that cross-validation chose.
    pub box_constraint: f64,
    /// Error of that cross-validation on the labelled samples, in per cent.
    pub validation_error: f64,
    /// Error on the test samples, in per cent.
    pub test_error: f64,
    /// The objective at the end.
    pub objective: f64,
    /// Outer iterations.
    pub iterations: usize,
    /// Mean number of non-zero entries in a code.
    pub non_zeros: f64,
    /// Seconds for this fit, its test codes and its SVM.
    pub seconds: f64,
    /// Version of the program.
    pub version: String,
}

impl Record for Row {
    fn key(&self) -> String {
        let Self { graph, n_labelled, noise, seed, knobs, manifold, .. } = self;
        format!("{graph}|{n_labelled}|{noise}|{seed}|{knobs}|{manifold}")
    }

    fn version(&self) -> &str {
        &self.version
    }
}

impl Row {
    /// Whether it belongs to this column.
    #[must_use]
    pub fn is_of(&self, column: Column) -> bool {
        self.n_labelled == column.labelled && (self.noise - column.noise).abs() < 1e-12
    }
}
