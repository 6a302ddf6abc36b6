//! Watching a fit: progress after every step, a trace, a way to stop it.

use serde::{Deserialize, Serialize};

use super::Objective;
use crate::Signal;

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
pub struct Progress<'a> {
    /// Outer iteration, from 1; 0 before the first.
    pub iteration: usize,
    /// The maximum number of iterations.
    pub max_iterations: usize,
    /// The step just done.
    pub step: Step,
    /// The objective after it, once there is one.
    pub objective: Option<&'a Objective>,
}

/// Whether to go on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Flow {
    /// Go on.
    Continue,
    /// Stop here and return the result so far.
    Stop,
}

/// An observer of a fit: shows progress, collects notices, cancels.
pub trait Watch: Send {
    /// Called after every step.
    fn step(&mut self, progress: &Progress<'_>) -> Flow;

    /// Called after every step of a fit on the side, with some labels hidden; there is nothing to show.
    fn aside(&mut self) -> Flow {
        Flow::Continue
    }

    /// What is set when the observer will stop the fit at its next step: until there is a first model,
    /// long steps then end early. Without it they are completed.
    fn signal(&self) -> Option<Signal> {
        None
    }

    /// Called once the samples are prepared, with the bytes that the fit will need at most.
    fn needs(&mut self, bytes: u64) {
        let _ = bytes;
    }

    /// Called with a sentence for the user when the fit deviates from what was requested.
    fn notice(&mut self, sentence: &str) {
        let _ = sentence;
    }
}

/// An observer that does nothing.
#[derive(Clone, Copy, Debug, Default)]
pub struct Silent;

impl Watch for Silent {
    fn step(&mut self, _: &Progress<'_>) -> Flow {
        Flow::Continue
    }
}

/// The observer of a fit on the side: it can stop it, and hears nothing else of it.
pub(super) struct Aside<'a>(pub &'a mut dyn Watch);

impl Watch for Aside<'_> {
    fn step(&mut self, _: &Progress<'_>) -> Flow {
        self.0.aside()
    }

    fn aside(&mut self) -> Flow {
        self.0.aside()
    }

    fn signal(&self) -> Option<Signal> {
        self.0.signal()
    }
}

/// Why a fit stopped.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Stop {
    /// The objective has converged and (almost) no unlabelled sample changed its class.
    Converged,
    /// The limit of iterations was reached.
    Limit,
    /// The observer stopped it.
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

/// The terms that occur in a trace, in the order of their first appearance.
#[must_use]
pub fn term_names(trace: &[TraceRow]) -> Vec<&str> {
    let mut names: Vec<&str> = Vec::new();
    for (name, _) in trace.iter().flat_map(|row| row.objective.terms()) {
        if !names.contains(&name) {
            names.push(name);
        }
    }
    names
}

/// One line of the trace.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct TraceRow {
    /// Outer iteration, from 1; 0 for the start.
    pub iteration: usize,
    /// The step just done.
    pub step: Step,
    /// The true objective after it.
    pub objective: Objective,
    /// The total with the loss replaced by the quadratic that the steps of this iteration minimise
    /// (frozen or majorised active points); the same as the total in methods without one.
    pub surrogate: f64,
    /// Unlabelled samples whose class differs from the end of the iteration before.
    pub flips: usize,
    /// Seconds the step took; 0 in a model that was loaded.
    #[serde(skip)]
    pub seconds: f64,
}
