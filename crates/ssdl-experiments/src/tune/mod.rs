//! Searches knobs with few labels, by cross-validation on the labels.
//!
//! A setting is scored by the labels hidden from it: those samples stay in the fit, unlabelled, and the
//! fit itself classifies them. Test labels are never used. Every fit starts cold, so that settings are
//! compared and not the order in which they were tried. Preparation and sparsity come first, then the
//! other knobs one at a time; of the settings of a stage, all see a few folds and the best of those see
//! all of them. Settings drawn at random, all knobs at once, may follow. A setting is taken only if it beats the initial one by more than chance: the labels are
//! few, and the best of many settings is always a little better on them.

mod search;
mod shared;
mod space;
mod trial;

use std::path::Path;

use serde::{Deserialize, Serialize};
use ssdl::methods::{FitOptions, Method};
use ssdl::samples::prepare::StepChoice;
use ssdl::{Real, Samples};

use self::search::Search;
use self::trial::{Setting, Trial};
use crate::{Error, Monitor, Result};

/// A method with knobs, as `ssdl tune` writes it and `ssdl fit` reads it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Configuration {
    /// Name of the method.
    pub method: String,
    /// Preparation steps.
    pub prepare: Vec<String>,
    /// Knobs by name.
    pub knobs: toml::Table,
}

impl Configuration {
    /// Creates a configuration.
    #[must_use]
    pub fn new(method: &str, prepare: Vec<String>, knobs: &[(String, String)]) -> Self {
        let typed = |text: &String| {
            let number = text.parse::<i64>().map(toml::Value::Integer).ok();
            let number = number.or_else(|| text.parse::<f64>().map(toml::Value::Float).ok());
            number
                .or_else(|| text.parse::<bool>().map(toml::Value::Boolean).ok())
                .unwrap_or_else(|| toml::Value::String(text.clone()))
        };
        let knobs = knobs.iter().map(|(name, value)| (name.clone(), typed(value))).collect();
        Self { method: method.to_owned(), prepare, knobs }
    }

    /// Reads a configuration from a file.
    ///
    /// # Errors
    /// If it cannot be read or is something else.
    pub fn read(path: &Path) -> Result<Self> {
        let text = std::fs::read_to_string(path).map_err(Error::io(path))?;
        toml::from_str(&text).map_err(|error| Error::Plan {
            path: path.to_owned(),
            reason: format!(
                "not a file of `ssdl tune`: {}",
                crate::plan::with_nearest(error.message())
            ),
        })
    }

    /// The configuration as TOML.
    ///
    /// # Errors
    /// If a value cannot be written; this does not happen with knobs of a method.
    pub fn text(&self) -> Result<String> {
        toml::to_string(self)
            .map_err(|error| Error::Plan { path: "knobs".into(), reason: error.to_string() })
    }

    /// The knobs as text.
    #[must_use]
    pub fn pairs(&self) -> Vec<(String, String)> {
        pairs(&self.knobs)
    }
}

/// Knobs of a TOML table as (name, value) text.
pub(crate) fn pairs(table: &toml::Table) -> Vec<(String, String)> {
    let text = |value: &toml::Value| match value {
        toml::Value::String(text) => text.clone(),
        other => other.to_string(),
    };
    table.iter().map(|(name, value)| (name.clone(), text(value))).collect()
}

/// When to stop the search.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Budget {
    /// Maximum number of fits; the initial knobs always take one fit per fold.
    pub fits: usize,
    /// Maximum number of seconds.
    pub seconds: f64,
}

impl Default for Budget {
    fn default() -> Self {
        Self { fits: 300, seconds: f64::INFINITY }
    }
}

/// What makes a setting better.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Criterion {
    /// The share of hidden labels predicted correctly.
    #[default]
    Accuracy,
    /// The mean of $-\ln p$, with $p$ the probability of a hidden label.
    LogLoss,
}

/// What is searched, and what for.
#[derive(Clone, Debug, Default)]
pub struct Aim {
    /// What makes a setting better.
    pub by: Criterion,
    /// Preparations to try besides that of the options.
    pub preparations: Vec<Vec<StepChoice>>,
    /// Settings to try at least: those that the stages do not have are drawn at random, all knobs at once.
    pub settings: usize,
}

/// A setting that was tried.
#[derive(Clone, Debug, PartialEq)]
pub struct Tried {
    /// The knobs that differ from the defaults.
    pub knobs: Vec<(String, String)>,
    /// Its preparation steps.
    pub prepare: Vec<String>,
    /// Share of the hidden labels predicted correctly; `None` if the trial was abandoned early.
    pub accuracy: Option<f64>,
    /// Mean log-loss of the hidden labels; `None` likewise.
    pub log_loss: Option<f64>,
}

/// The result of a search.
#[derive(Clone, Debug, PartialEq)]
pub struct Found {
    /// The knobs to use, including the fixed ones.
    pub knobs: Vec<(String, String)>,
    /// The preparation to use.
    pub prepare: Vec<StepChoice>,
    /// Whether they beat the initial ones by more than chance; if not, they are the initial ones.
    pub is_better: bool,
    /// Share of the hidden labels that they predict correctly.
    pub accuracy: f64,
    /// The same share for the initial knobs.
    pub before: f64,
    /// Their mean log-loss on hidden labels.
    pub log_loss: f64,
    /// That of the initial knobs.
    pub log_loss_before: f64,
    /// The standard error of the difference between the best setting and the initial one, by the
    /// criterion; zero if none was better.
    pub standard_error: f64,
    /// Share of the hidden labels that the nearest labelled sample predicts correctly, and whether the
    /// knobs beat it by more than chance; `None` for that method itself.
    pub nearest: Option<(f64, bool)>,
    /// Everything that was tried, in order.
    pub tried: Vec<Tried>,
    /// Number of fits, without those of the nearest labelled sample.
    pub fits: usize,
    /// Number of folds.
    pub folds: usize,
    /// Whether the budget ended the search before its last stage.
    pub cut_short: bool,
}

/// Standard errors by which a setting must beat the initial one to be taken.
const BEYOND_CHANCE: f64 = 2.0;
/// Standard errors by which a setting must beat that of the last stage for the next stage to go on from it.
const PROMISING: f64 = 1.0;

/// Searches knobs of a method on partly labelled samples; `fixed` knobs are not changed.
///
/// # Errors
/// If there is nothing to search, a class has fewer than two labels, or a fit fails.
pub fn tune<T: Real>(
    method: &dyn Method<T>,
    fixed: &[(String, String)],
    samples: &Samples<T>,
    options: &FitOptions<T>,
    aim: &Aim,
    budget: Budget,
    monitor: &dyn Monitor,
) -> Result<Found> {
    method.check(fixed)?;
    let stages = space::stages(method, fixed, samples.n_features());
    if stages.is_empty() {
        return Err(Error::Fit(ssdl::Error::Unknown {
            what: "search for the method",
            got: method.describe().name.to_owned(),
            known: space::searchable::<T>(),
        }));
    }
    let mut search = Search::new(method, samples, options, aim.by, budget, monitor)?;
    let first = Setting { prepare: options.prepare.clone(), knobs: fixed.to_vec() };
    let initial = search.complete(first)?;
    let mut best = initial.clone();
    for (number, stage) in stages.iter().enumerate() {
        let mut candidates = Vec::new();
        if number == 0 {
            let others = aim.preparations.iter().filter(|steps| **steps != options.prepare);
            for prepare in others {
                candidates.push(Setting { prepare: prepare.clone(), ..best.setting.clone() });
                candidates.extend(
                    stage.iter().map(|changes| best.setting.changed(changes).prepared(prepare)),
                );
            }
        }
        candidates.extend(stage.iter().map(|changes| best.setting.changed(changes)));
        candidates.retain(|candidate| !search.is_same(candidate, &best.setting));
        if let Some(found) = search.halve(candidates, &best)?
            && search.gain(&found, &best).0 > PROMISING * search.gain(&found, &best).1
        {
            best = found;
        }
    }
    let count = aim.settings.saturating_sub(search.tried.len());
    let drawn = space::drawn(method, fixed, (samples.n_features(), count, options.seed));
    let drawn = drawn.iter().map(|changes| best.setting.changed(changes));
    let drawn = drawn.filter(|setting| !search.has_tried(setting)).collect();
    if let Some(found) = search.halve(drawn, &best)?
        && search.gain(&found, &best).0 > PROMISING * search.gain(&found, &best).1
    {
        best = found;
    }
    search.end(initial, best)
}

impl<T: Real> Search<'_, T> {
    /// The best setting, if it beats the initial one by more than chance; else that.
    fn end(mut self, initial: Trial, best: Trial) -> Result<Found> {
        let (gain, standard_error) = self.gain(&best, &initial);
        let is_better = gain > BEYOND_CHANCE * standard_error && gain > 0.0;
        let chosen = if is_better { &best } else { &initial };
        let nearest = self.beside_nearest(chosen)?;
        Ok(Found {
            knobs: chosen.setting.knobs.clone(),
            prepare: chosen.setting.prepare.clone(),
            is_better,
            accuracy: chosen.accuracy(),
            before: initial.accuracy(),
            log_loss: chosen.log_loss(),
            log_loss_before: initial.log_loss(),
            standard_error,
            nearest,
            folds: self.n_folds(),
            fits: self.fits,
            cut_short: self.cut_short,
            tried: self.tried,
        })
    }
}
