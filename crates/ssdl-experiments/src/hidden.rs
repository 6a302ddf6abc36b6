//! How well a method finds labels that were hidden from it, beside others: an honest number where
//! all the labels there are are needed to learn from.

use std::time::Instant;

use ssdl::fit::Silent;
use ssdl::methods::{self, FitOptions, Method};
use ssdl::{Labels, Real, Samples};

use crate::folds::Folds;
use crate::numbers::mean;
use crate::table::{Cell, Table};
use crate::{Monitor, Result};

/// Methods that another is compared with: one that looks at the nearest label, one that draws
/// straight lines, one that follows the graph alone.
pub const BESIDE: [&str; 3] = ["nearest", "linear-svm", "label-spreading"];

/// What a method said of labels that were hidden from it.
#[derive(Clone, Debug, PartialEq)]
pub struct Hidden {
    /// The name of the method.
    pub method: String,
    /// The class that was said of each sample whose label was hidden.
    pub said: Vec<Option<usize>>,
    /// Seconds of a fit, on average.
    pub seconds: f64,
}

impl Hidden {
    /// Share of the hidden labels that were found.
    #[must_use]
    pub fn accuracy(&self, labels: &Labels) -> f64 {
        let asked = self.said.iter().zip(labels.assigned()).filter(|(said, _)| said.is_some());
        let (mut right, mut all) = (0usize, 0usize);
        asked.for_each(|(said, truth)| {
            all += 1;
            right += usize::from(said == truth);
        });
        right as f64 / all.max(1) as f64
    }
}

/// A method with its knobs, and what it is fitted with.
pub struct Trial<'a, T> {
    /// The method.
    pub method: &'a dyn Method<T>,
    /// Its knobs.
    pub knobs: &'a [(String, String)],
    /// Preparation, seed, threads, a graph of the user's.
    pub options: &'a FitOptions<T>,
}

/// Hides part of the labels in turn, fits a method to the rest, and asks it for those that were
/// hidden; then the methods of [`BESIDE`] with their own knobs. The first is the method itself;
/// nothing, if no label can be hidden or the watcher stops it before the method is done.
///
/// # Errors
/// If a fit of the method itself fails; another that fails is left out.
pub fn in_turn<T: Real>(
    trial: &Trial<'_, T>,
    samples: &Samples<T>,
    watch: &dyn Monitor,
) -> Result<Vec<Hidden>> {
    let Some(folds) = Folds::new(samples.labels(), trial.options.seed) else {
        return Ok(Vec::new());
    };
    let own = trial.method.describe().name;
    let others: Vec<&str> = BESIDE.into_iter().filter(|name| *name != own).collect();
    let total = folds.hidden.len() * (1 + others.len());
    let mut found = Vec::new();
    match ask(trial, &folds, samples, (0, total), watch)? {
        Some(first) => found.push(first),
        None => return Ok(found),
    }
    for name in others {
        let method = methods::find::<T>(name)?;
        let graph = trial.options.graph.clone().filter(|_| method.describe().uses_graph);
        let options = FitOptions { graph, ..trial.options.clone() };
        let other = Trial { method, knobs: &[], options: &options };
        let before = found.len() * folds.hidden.len();
        match ask(&other, &folds, samples, (before, total), watch) {
            Ok(Some(other)) => found.push(other),
            Ok(None) => break,
            Err(_) => {}
        }
    }
    Ok(found)
}

fn ask<T: Real>(
    trial: &Trial<'_, T>,
    folds: &Folds,
    samples: &Samples<T>,
    (before, total): (usize, usize),
    watch: &dyn Monitor,
) -> Result<Option<Hidden>> {
    let name = trial.method.describe().name;
    let mut said = vec![None; samples.n_samples()];
    let mut seconds = Vec::new();
    for (fold, places) in folds.hidden.iter().enumerate() {
        if watch.stop() {
            return Ok(None);
        }
        watch.done(before + fold + 1, total, &format!("{name} with labels hidden"));
        let rest = folds.without(fold, samples)?;
        let started = Instant::now();
        let model = trial.method.fit(trial.knobs, rest, trial.options, &mut Silent)?;
        seconds.push(started.elapsed().as_secs_f64());
        let classes = model.transduction().classes;
        places.iter().for_each(|&place| said[place] = Some(classes[place]));
    }
    Ok(Some(Hidden { method: name.to_owned(), said, seconds: mean(&seconds) }))
}

/// The methods, one a line, the best marked.
#[must_use]
pub fn table(found: &[Hidden], labels: &Labels) -> Table {
    let shares: Vec<f64> = found.iter().map(|one| one.accuracy(labels)).collect();
    let best = shares.iter().copied().fold(0.0, f64::max);
    let lines = found.iter().zip(&shares).map(|(one, &share)| {
        let cells = vec![
            Cell::marked(format!("{:.1} %", 100.0 * share), share == best),
            Cell::plain(format!("{:.3}", one.seconds)),
        ];
        (one.method.clone(), cells)
    });
    let count = found.first().map_or(0, |one| one.said.iter().flatten().count());
    Table {
        heading: format!("{count} labels, hidden in turn"),
        names: "method".into(),
        columns: vec!["hidden labels found".into(), "seconds a fit".into()],
        lines: lines.collect(),
    }
}
