//! Watching a fit: progress after every step, a trace, a way to stop it.

use serde::{Deserialize, Serialize};

use super::Objective;

/// The steps of a fit, in order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Step {
    /// The graph is built.
    Graph,
    /// First atoms, codes and classifier.
    Start,
    /// Class memberships and active points.
    Membership,
    /// Sparse codes.
    Codes,
    /// Atoms.
    Dictionary,
    /// Classifier.
    Classifier,
}

impl Step {
    /// The step's name.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Graph => "graph",
            Self::Start => "start",
            Self::Membership => "membership",
            Self::Codes => "codes",
            Self::Dictionary => "dictionary",
            Self::Classifier => "classifier",
        }
    }
}

/// What is known after a step.
#[derive(Clone, Copy, Debug)]
pub struct Progress {
    /// Outer iteration, from 1; 0 before the first.
    pub iteration: usize,
    /// Iterations at the most.
    pub max_iterations: usize,
    /// The step just done.
    pub step: Step,
    /// The objective after it, once there is one.
    pub objective: Option<Objective>,
}

/// Whether to go on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Flow {
    /// Go on.
    Continue,
    /// Stop here and give back what there is.
    Stop,
}

/// Something that looks on while a model is fitted.
pub trait Watch: Send {
    /// Called after every step.
    fn step(&mut self, progress: &Progress) -> Flow;

    /// Called when the fit had to deviate from what was asked, with a sentence for the user.
    fn notice(&mut self, sentence: &str) {
        let _ = sentence;
    }
}

/// Nobody looks on.
#[derive(Clone, Copy, Debug, Default)]
pub struct Silent;

impl Watch for Silent {
    fn step(&mut self, _: &Progress) -> Flow {
        Flow::Continue
    }
}

/// Why a fit stopped.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Stop {
    /// The objective has settled and no (or hardly any) unlabelled sample changed its class.
    Converged,
    /// The limit of iterations was reached.
    Limit,
    /// The watcher stopped it.
    Cancelled,
}

impl std::fmt::Display for Stop {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::Converged => "converged",
            Self::Limit => "limit of iterations",
            Self::Cancelled => "cancelled",
        })
    }
}

/// One line of the trace.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct TraceRow {
    /// Outer iteration, from 1; 0 for the start.
    pub iteration: usize,
    /// The step just done.
    pub step: Step,
    /// The true objective after it.
    pub objective: Objective,
    /// The total with the loss replaced by the quadratic that the steps of this iteration bring
    /// down (frozen or majorised active points).
    pub surrogate: f64,
    /// Unlabelled samples whose class differs from the end of the iteration before.
    pub flips: usize,
    /// Seconds the step took.
    pub seconds: f64,
}
