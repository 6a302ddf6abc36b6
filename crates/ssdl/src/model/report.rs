//! How the fit of a model went.

use serde::{Deserialize, Serialize};

use super::Origin;
use crate::fit::{Compared, Given, Learnt, Objective, Record, Selection, Stop, TraceRow};

/// How the fit went.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct FitReport {
    /// Version of this library.
    pub version: String,
    /// Seed of the fit.
    pub seed: u64,
    /// Outer iterations.
    pub iterations: usize,
    /// Why it stopped.
    pub stop: Stop,
    /// The objective at the end, by term.
    pub objective: Objective,
    /// The objective after every step.
    pub trace: Vec<TraceRow>,
    /// Atoms that no sample uses.
    pub dead_atoms: usize,
    /// Atoms revived during the fit.
    pub revived_atoms: usize,
    /// What cross-validation chose, where there was one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub selection: Option<Selection>,
    /// The methods that were compared, where there was a choice.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub compared: Vec<Compared>,
    /// Seconds for the graph. Files do not keep times, so that the same seed gives the same bytes:
    /// all are 0 in a model that was loaded.
    #[serde(skip)]
    pub graph_seconds: f64,
    /// Seconds in all.
    #[serde(skip)]
    pub seconds: f64,
}

impl FitReport {
    pub(super) fn new<T>(
        origin: &Origin<T>,
        given: &Given<'_, T>,
        learnt: &Learnt<T>,
        record: Record,
    ) -> Self {
        let Record { trace, iterations, graph_seconds } = record;
        let dictionary = learnt.dictionary.as_ref();
        Self {
            version: env!("CARGO_PKG_VERSION").to_owned(),
            seed: given.seed,
            iterations,
            stop: learnt.stop,
            objective: trace.last().map(|row| row.objective.clone()).unwrap_or_default(),
            trace,
            dead_atoms: dictionary.map_or(0, |found| found.dead),
            revived_atoms: dictionary.map_or(0, |found| found.revived),
            selection: learnt.selection,
            compared: learnt.compared.clone(),
            graph_seconds,
            seconds: origin.started.elapsed().as_secs_f64(),
        }
    }
}
