//! Searches knobs with few labels, by cross-validation on the labels.
//!
//! The search of the paper runs in stages: sparsity and atoms together, then the weight of the
//! graph, of the classes, the neighbours, the sharpness. A setting is scored by the labels hidden
//! from it: those samples stay in the fit, unlabelled, and the fit itself classifies them. Test
//! labels are never used. Fits of one fold start from the best fit of the same fold, which had the
//! same labels hidden: nothing leaks.

use std::path::Path;
use std::time::Instant;

use serde::{Deserialize, Serialize};
use ssdl::fit::{Silent, Start};
use ssdl::methods::{FitOptions, Method};
use ssdl::{Model, Real, Samples};

use crate::folds::Folds;
use crate::{Error, Monitor, Result};

/// From this number of features on, the numbers of atoms to try do not depend on it.
const MANY: usize = 100;

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

/// A setting that was tried.
#[derive(Clone, Debug, PartialEq)]
pub struct Tried {
    /// The knobs that differ from the defaults.
    pub knobs: Vec<(String, String)>,
    /// Share of the hidden labels predicted correctly; `None` if the trial was abandoned early.
    pub accuracy: Option<f64>,
}

/// The result of a search.
#[derive(Clone, Debug, PartialEq)]
pub struct Found {
    /// The best knobs, including the fixed ones.
    pub knobs: Vec<(String, String)>,
    /// Share of the hidden labels that they predict correctly.
    pub accuracy: f64,
    /// The same share for the initial knobs.
    pub before: f64,
    /// Everything that was tried, in order.
    pub tried: Vec<Tried>,
    /// Number of fits.
    pub fits: usize,
    /// Number of folds.
    pub folds: usize,
    /// Whether the budget ended the search before its last stage.
    pub cut_short: bool,
}

/// Searches knobs of a method on partly labelled samples; `fixed` knobs are not changed.
///
/// # Errors
/// If there is nothing to search, a class has fewer than two labels, or a fit fails.
pub fn tune<T: Real>(
    method: &dyn Method<T>,
    fixed: &[(String, String)],
    samples: &Samples<T>,
    options: &FitOptions<T>,
    budget: Budget,
    monitor: &dyn Monitor,
) -> Result<Found> {
    method.check(fixed)?;
    let stages = stages(method, fixed, samples.n_features());
    if stages.is_empty() {
        return Err(Error::Fit(ssdl::Error::Unknown {
            what: "search for the method",
            got: method.describe().name.to_owned(),
            known: searchable::<T>(),
        }));
    }
    let mut search = Search::new(method, samples, options, budget, monitor)?;
    search.total = stages.iter().map(Vec::len).sum::<usize>() * search.folds.hidden.len();
    let mut best = fixed.to_vec();
    let mut right = search.score(&best, 0)?.unwrap_or(0);
    let before = search.share(right);
    let mut cut_short = false;
    for stage in &stages {
        let start = best.clone();
        for changes in stage {
            let candidate = override_knobs(&start, changes);
            if is_same(&candidate, &best) {
                continue;
            }
            if search.is_spent() {
                cut_short = true;
                break;
            }
            // Only a gain beyond chance counts: with 20 labels per class of USPS, accepting every
            // setting that predicts one label more ended below the initial knobs.
            if let Some(better) = search.score(&candidate, right + search.margin())? {
                (best, right) = (candidate, better);
            }
        }
    }
    Ok(Found {
        knobs: best,
        accuracy: search.share(right),
        before,
        folds: search.folds.hidden.len(),
        fits: search.fits,
        tried: search.tried,
        cut_short,
    })
}

/// Names of the methods that have knobs to search.
fn searchable<T: Real>() -> String {
    let all = ssdl::methods::all::<T>();
    let some = all.into_iter().filter(|method| !stages(*method, &[], MANY).is_empty());
    some.map(|method| method.describe().name).collect::<Vec<_>>().join(", ")
}

/// Overrides some knobs.
fn override_knobs(base: &[(String, String)], changes: &[(&str, String)]) -> Vec<(String, String)> {
    let mut knobs: Vec<(String, String)> = base
        .iter()
        .filter(|(name, _)| changes.iter().all(|(own, _)| own != name))
        .cloned()
        .collect();
    knobs.extend(changes.iter().map(|(name, value)| ((*name).to_owned(), value.clone())));
    knobs
}

fn is_same(a: &[(String, String)], b: &[(String, String)]) -> bool {
    a.len() == b.len() && a.iter().all(|knob| b.contains(knob))
}

type Changes = Vec<(&'static str, String)>;

/// The stages of the search, each a list of candidates. Knobs that the method lacks or the user
/// fixed are omitted.
fn stages<T: Real>(
    method: &dyn Method<T>,
    fixed: &[(String, String)],
    n_features: usize,
) -> Vec<Vec<Changes>> {
    let own = method.knobs();
    let free = |name: &str| {
        own.iter().any(|knob| knob.name == name) && fixed.iter().all(|(fixed, _)| fixed != name)
    };
    let each = |name: &'static str, values: &[f64]| -> Vec<Changes> {
        values.iter().map(|value| vec![(name, value.to_string())]).collect()
    };
    let mut stages = Vec::new();
    let sparsities = each("sparsity", &[0.1, 0.2, 0.3, 0.5, 0.8]);
    let atoms = if n_features >= MANY {
        each("n_atoms", &[100.0, 200.0, 300.0])
    } else {
        let few = n_features.max(2) as f64;
        each("n_atoms", &[few, 2.0 * few, 4.0 * few])
    };
    match (free("sparsity"), free("n_atoms")) {
        (true, true) => {
            let pairs = atoms.iter().flat_map(|p| {
                sparsities.iter().map(move |s| [s.as_slice(), p.as_slice()].concat())
            });
            stages.push(pairs.collect());
        }
        (true, false) => stages.push(sparsities),
        (false, true) => stages.push(atoms),
        (false, false) => {}
    }
    if free("manifold") {
        stages.push(each("manifold", &[0.1, 0.25, 0.5, 1.0, 2.0]));
    }
    if free("discrimination") && free("ridge") {
        // The paper's ratio of the two.
        let pair =
            |g: &f64| vec![("discrimination", g.to_string()), ("ridge", (2.0 * g).to_string())];
        stages.push([0.1, 0.25, 0.5, 1.0, 2.0].iter().map(pair).collect());
    }
    if free("n_neighbors") {
        stages.push(each("n_neighbors", &[4.0, 6.0, 8.0, 12.0]));
    }
    if free("sharpness") {
        stages.push(each("sharpness", &[1.3, 1.5, 1.7, 2.0, 2.5]));
    }
    stages
}

struct Search<'a, T> {
    method: &'a dyn Method<T>,
    samples: &'a Samples<T>,
    options: &'a FitOptions<T>,
    budget: Budget,
    monitor: &'a dyn Monitor,
    started: Instant,
    folds: Folds,
    n_labelled: usize,
    /// The start of the next fit of each fold: the best fit of that fold so far.
    starts: Vec<Option<Start<T>>>,
    tried: Vec<Tried>,
    fits: usize,
    total: usize,
}

impl<'a, T: Real> Search<'a, T> {
    fn new(
        method: &'a dyn Method<T>,
        samples: &'a Samples<T>,
        options: &'a FitOptions<T>,
        budget: Budget,
        monitor: &'a dyn Monitor,
    ) -> Result<Self> {
        let counts = samples.labels().counts();
        let has_single = counts.into_iter().any(|count| count == 1);
        let folds = Folds::new(samples.labels(), options.seed).filter(|_| !has_single).ok_or_else(
            || {
                Error::Fit(ssdl::Error::Labels(
                "a class has a single label: hiding it leaves nothing to learn the class from; \
                 tuning needs at least two labels per class"
                    .into(),
            ))
            },
        )?;
        Ok(Self {
            method,
            samples,
            options,
            budget,
            monitor,
            started: Instant::now(),
            starts: vec![None; folds.hidden.len()],
            n_labelled: folds.n_hidden(),
            folds,
            tried: Vec::new(),
            fits: 0,
            total: 0,
        })
    }

    fn share(&self, right: usize) -> f64 {
        right as f64 / self.n_labelled as f64
    }

    /// Hidden labels by which a setting must beat the best so far: one, plus one per hundred.
    fn margin(&self) -> usize {
        1 + self.n_labelled / 100
    }

    /// Whether another setting, which takes a fit per fold, would exceed the budget.
    fn is_spent(&self) -> bool {
        self.fits + self.folds.hidden.len() > self.budget.fits
            || self.started.elapsed().as_secs_f64() >= self.budget.seconds
            || self.monitor.stop()
    }

    /// Hidden labels that these knobs predict correctly; `None` as soon as `needed` is out of reach.
    fn score(&mut self, knobs: &[(String, String)], needed: usize) -> Result<Option<usize>> {
        let (mut right, mut left) = (0, self.n_labelled);
        let count = self.folds.hidden.len();
        let mut ends = Vec::with_capacity(count);
        for fold in 0..count {
            let (found, end) = self.fit(knobs, fold)?;
            right += found;
            left -= self.folds.hidden[fold].len();
            ends.push(end);
            if right + left < needed {
                self.tried.push(Tried { knobs: knobs.to_vec(), accuracy: None });
                return Ok(None);
            }
        }
        self.tried.push(Tried { knobs: knobs.to_vec(), accuracy: Some(self.share(right)) });
        self.starts = ends;
        Ok(Some(right))
    }

    fn fit(
        &mut self,
        knobs: &[(String, String)],
        fold: usize,
    ) -> Result<(usize, Option<Start<T>>)> {
        let samples = self.folds.without(fold, self.samples)?;
        let options = FitOptions { start: self.starts[fold].clone(), ..self.options.clone() };
        let model = self.method.fit(knobs, samples, &options, &mut Silent)?;
        self.fits += 1;
        self.monitor.done(self.fits, self.total.max(self.fits), "fits of the search");
        let predicted = model.transduction().classes;
        let truth = self.samples.labels().assigned();
        let hidden = &self.folds.hidden[fold];
        let right = hidden.iter().filter(|&&j| Some(predicted[j]) == truth[j]).count();
        Ok((right, as_start(&model)))
    }
}

fn as_start<T: Real>(model: &Model<T>) -> Option<Start<T>> {
    let atoms = model.atoms()?.clone();
    Some(Start { atoms, codes: model.codes().clone() })
}
