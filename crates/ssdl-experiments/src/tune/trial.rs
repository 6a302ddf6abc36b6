//! A setting of a search, and how the labels hidden from it fared.

use ssdl::samples::prepare::StepChoice;

use super::space::Changes;

/// A preparation and knobs.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Setting {
    pub prepare: Vec<StepChoice>,
    pub knobs: Vec<(String, String)>,
}

impl Setting {
    /// With some knobs changed.
    pub fn changed(&self, changes: &Changes) -> Self {
        let kept = self.knobs.iter().filter(|(name, _)| changes.iter().all(|(own, _)| own != name));
        let mut knobs: Vec<(String, String)> = kept.cloned().collect();
        knobs.extend(changes.iter().map(|(name, value)| ((*name).to_owned(), value.clone())));
        Self { knobs, prepare: self.prepare.clone() }
    }

    /// With another preparation.
    pub fn prepared(self, prepare: &[StepChoice]) -> Self {
        Self { prepare: prepare.to_vec(), ..self }
    }
}

/// How a hidden label fared.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Outcome {
    pub is_right: bool,
    /// $-\ln p$ of the true class.
    pub log_loss: f64,
}

/// A setting and how the hidden labels fared, fold by fold; not all folds need to be done.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Trial {
    pub setting: Setting,
    pub outcomes: Vec<Outcome>,
    /// Folds that are done: always the first ones.
    pub folds: usize,
}

impl Trial {
    pub fn new(setting: Setting) -> Self {
        Self { setting, outcomes: Vec::new(), folds: 0 }
    }

    /// Share of hidden labels predicted correctly.
    pub fn accuracy(&self) -> f64 {
        let right = self.outcomes.iter().filter(|outcome| outcome.is_right).count();
        right as f64 / self.outcomes.len().max(1) as f64
    }

    /// Mean log-loss of hidden labels.
    pub fn log_loss(&self) -> f64 {
        let sum: f64 = self.outcomes.iter().map(|outcome| outcome.log_loss).sum();
        sum / self.outcomes.len().max(1) as f64
    }
}
