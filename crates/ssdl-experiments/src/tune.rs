//! Looking for knobs with few labels: folds that hide some labels and keep every sample.
//!
//! The search of the paper, one stage after another: sparsity and atoms together, then the weight of
//! the graph, of the classes, the neighbours, the sharpness. A setting is judged by the labels that
//! were hidden from it: those samples stay in the fit, unlabelled, and the fit itself classifies them.
//! Test labels are never seen. Fits of one fold start from the best fit of the same fold, which had the
//! same labels hidden: nothing leaks.

use std::path::Path;
use std::time::Instant;

use serde::{Deserialize, Serialize};
use ssdl::fit::{Silent, Start};
use ssdl::methods::{FitOptions, Method};
use ssdl::{Model, Real, Samples};

use crate::folds::Folds;
use crate::{Error, Monitor, Result};

/// Features from which on the numbers of atoms that are tried do not depend on them.
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
    /// From what was found.
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

    /// Reads a file of them.
    ///
    /// # Errors
    /// If it cannot be read or is something else.
    pub fn read(path: &Path) -> Result<Self> {
        let text = std::fs::read_to_string(path).map_err(Error::io(path))?;
        toml::from_str(&text).map_err(|error| Error::Plan {
            path: path.to_owned(),
            reason: format!(
                "not knobs of `ssdl tune`: {}",
                crate::plan::with_nearest(error.message())
            ),
        })
    }

    /// As TOML.
    ///
    /// # Errors
    /// If a value cannot be written, which no knob of a method can be.
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

/// When to stop looking.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Budget {
    /// Fits at the most; the knobs it begins with take a fit of every fold in any case.
    pub fits: usize,
    /// Seconds at the most.
    pub seconds: f64,
}

impl Default for Budget {
    fn default() -> Self {
        Self { fits: 300, seconds: f64::INFINITY }
    }
}

/// What was tried.
#[derive(Clone, Debug, PartialEq)]
pub struct Tried {
    /// The knobs that differ from the defaults.
    pub knobs: Vec<(String, String)>,
    /// Share of the hidden labels that were found; `None` if it was given up halfway.
    pub accuracy: Option<f64>,
}

/// What was found.
#[derive(Clone, Debug, PartialEq)]
pub struct Found {
    /// The best knobs, those that were held fixed included.
    pub knobs: Vec<(String, String)>,
    /// Share of the hidden labels that they found.
    pub accuracy: f64,
    /// Share that the knobs it began with found.
    pub before: f64,
    /// Everything that was tried, in order.
    pub tried: Vec<Tried>,
    /// Fits that were made.
    pub fits: usize,
    /// Folds.
    pub folds: usize,
    /// Whether the budget ended the search before its last stage.
    pub cut_short: bool,
}

/// Searches knobs of a method on samples of which some are labelled; `fixed` stay as they are.
///
/// # Errors
/// If there is nothing to search, a class has fewer than two labels, or a fit fails.
pub fn tune<T: Real>(
    method: &dyn Method<T>,
    fixed: &[(String, String)],
    samples: &Samples<T>,
    options: &FitOptions<T>,
    budget: Budget,
    watch: &dyn Monitor,
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
    let mut search = Search::new(method, samples, options, budget, watch)?;
    search.total = stages.iter().map(Vec::len).sum::<usize>() * search.folds.hidden.len();
    let mut best = fixed.to_vec();
    let mut right = search.judge(&best, 0)?.unwrap_or(0);
    let before = search.share(right);
    let mut cut_short = false;
    for stage in &stages {
        let start = best.clone();
        for changes in stage {
            let candidate = with(&start, changes);
            if same(&candidate, &best) {
                continue;
            }
            if search.is_spent() {
                cut_short = true;
                break;
            }
            // Better by more than luck, or the knobs stay: with 20 labels a class of USPS, taking
            // every setting that finds one label more ended below the knobs it began with.
            if let Some(better) = search.judge(&candidate, right + search.margin())? {
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

/// Sets knobs on top of others.
fn with(base: &[(String, String)], changes: &[(&str, String)]) -> Vec<(String, String)> {
    let mut knobs: Vec<(String, String)> = base
        .iter()
        .filter(|(name, _)| changes.iter().all(|(own, _)| own != name))
        .cloned()
        .collect();
    knobs.extend(changes.iter().map(|(name, value)| ((*name).to_owned(), value.clone())));
    knobs
}

fn same(a: &[(String, String)], b: &[(String, String)]) -> bool {
    a.len() == b.len() && a.iter().all(|knob| b.contains(knob))
}

type Changes = Vec<(&'static str, String)>;

/// The stages of the search: candidates that take turns, best kept. Knobs that the method lacks or
/// the user fixed are left out.
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
    // Of few features, too, and several times as many.
    let few = n_features.max(2) as f64;
    let atoms = match n_features >= MANY {
        true => each("n_atoms", &[100.0, 200.0, 300.0]),
        false => each("n_atoms", &[few, 2.0 * few, 4.0 * few]),
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
    watch: &'a dyn Monitor,
    started: Instant,
    folds: Folds,
    n_labelled: usize,
    /// Where fits of each fold start: the best of that fold so far.
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
        watch: &'a dyn Monitor,
    ) -> Result<Self> {
        let counts = samples.labels().counts();
        let alone = counts.into_iter().any(|count| count == 1);
        let folds =
            Folds::new(samples.labels(), options.seed).filter(|_| !alone).ok_or_else(|| {
                Error::Fit(ssdl::Error::Labels(
                "a class has a single label: hiding it leaves nothing to learn the class from; \
                 tuning needs two labels a class at least"
                    .into(),
            ))
            })?;
        Ok(Self {
            method,
            samples,
            options,
            budget,
            watch,
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

    /// Hidden labels that a setting must find beyond the best so far: one, and one in a hundred.
    fn margin(&self) -> usize {
        1 + self.n_labelled / 100
    }

    /// Whether another setting would go beyond the budget: it takes a fit of every fold.
    fn is_spent(&self) -> bool {
        self.fits + self.folds.hidden.len() > self.budget.fits
            || self.started.elapsed().as_secs_f64() >= self.budget.seconds
            || self.watch.stop()
    }

    /// Hidden labels that these knobs find; `None` as soon as they cannot find `needed` any more.
    fn judge(&mut self, knobs: &[(String, String)], needed: usize) -> Result<Option<usize>> {
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
        self.watch.done(self.fits, self.total.max(self.fits), "fits of the search");
        let said = model.transduction().classes;
        let truth = self.samples.labels().assigned();
        let hidden = &self.folds.hidden[fold];
        let right = hidden.iter().filter(|&&j| Some(said[j]) == truth[j]).count();
        Ok((right, end(&model)))
    }
}

fn end<T: Real>(model: &Model<T>) -> Option<Start<T>> {
    let atoms = model.atoms()?.clone();
    Some(Start { atoms, codes: model.codes().clone() })
}
