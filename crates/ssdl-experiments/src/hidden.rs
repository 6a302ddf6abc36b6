//! Cross-validation on the labels: how well a method predicts labels hidden from it, compared with
//! other methods. A fair estimate when no labels can be spared for a test set.

use std::time::Instant;

use ssdl::fit::Silent;
use ssdl::methods::{self, FitOptions, Method};
use ssdl::{Labels, Matrix, Real, Samples};

use crate::folds::Folds;
use crate::measures::Measures;
use crate::numbers::{mean, paired};
use crate::table::{Cell, Table};
use crate::{Monitor, Result};

/// Methods to compare with: one that uses the nearest label, a linear one, and one that uses only
/// the graph.
pub const BESIDE: [&str; 3] = ["nearest", "linear-svm", "label-spreading"];

/// The predictions of a method for labels hidden from it.
#[derive(Clone, Debug, PartialEq)]
pub struct Hidden {
    /// The name of the method.
    pub method: String,
    /// The predicted class of each sample whose label was hidden.
    pub predicted: Vec<Option<usize>>,
    /// What these predictions and their probabilities are worth.
    pub measures: Measures,
    /// Mean seconds per fit.
    pub seconds: f64,
}

impl Hidden {
    /// Share of the hidden labels that were predicted correctly.
    #[must_use]
    pub fn accuracy(&self, labels: &Labels) -> f64 {
        let hidden = self
            .predicted
            .iter()
            .zip(labels.assigned())
            .filter(|(predicted, _)| predicted.is_some());
        let (mut right, mut all) = (0usize, 0usize);
        hidden.for_each(|(predicted, truth)| {
            all += 1;
            right += usize::from(predicted == truth);
        });
        right as f64 / all.max(1) as f64
    }
}

/// A method with its knobs and the options of its fits.
pub struct Trial<'a, T> {
    /// The method.
    pub method: &'a dyn Method<T>,
    /// Its knobs.
    pub knobs: &'a [(String, String)],
    /// Preparation, seed, threads, and the user's graph, if any.
    pub options: &'a FitOptions<T>,
}

/// Hides the labels of one fold at a time, fits a method to the rest, and predicts the hidden ones;
/// then does the same with the methods of [`BESIDE`] and their default knobs. The first result is
/// that of the method itself; the list is empty if no label can be hidden or the monitor stops it
/// before the method is done.
///
/// # Errors
/// If a fit of the method itself fails; other methods that fail are omitted.
pub fn cross_validate<T: Real>(
    trial: &Trial<'_, T>,
    samples: &Samples<T>,
    monitor: &dyn Monitor,
) -> Result<Vec<Hidden>> {
    let Some(folds) = Folds::new(samples.labels(), trial.options.seed) else {
        return Ok(Vec::new());
    };
    let own = trial.method.describe().name;
    let others: Vec<&str> = BESIDE.into_iter().filter(|name| *name != own).collect();
    let total = folds.hidden.len() * (1 + others.len());
    let mut found = Vec::new();
    match predict_hidden(trial, &folds, samples, (0, total), monitor)? {
        Some(first) => found.push(first),
        None => return Ok(found),
    }
    for name in others {
        let method = methods::find::<T>(name)?;
        let graph = trial.options.graph.clone().filter(|_| method.describe().uses_graph);
        let options = FitOptions { graph, ..trial.options.clone() };
        let other = Trial { method, knobs: &[], options: &options };
        let before = found.len() * folds.hidden.len();
        match predict_hidden(&other, &folds, samples, (before, total), monitor) {
            Ok(Some(other)) => found.push(other),
            Ok(None) => break,
            Err(_) => {}
        }
    }
    Ok(found)
}

fn predict_hidden<T: Real>(
    trial: &Trial<'_, T>,
    folds: &Folds,
    samples: &Samples<T>,
    (before, total): (usize, usize),
    monitor: &dyn Monitor,
) -> Result<Option<Hidden>> {
    let name = trial.method.describe().name;
    let mut predicted = vec![None; samples.n_samples()];
    let (mut seconds, mut found) = (Vec::new(), Found::default());
    for (fold, places) in folds.hidden.iter().enumerate() {
        if monitor.stop() {
            return Ok(None);
        }
        monitor.done(before + fold + 1, total, &format!("{name} with labels hidden"));
        let rest = samples.with_labels(folds.without(fold, samples.labels())?)?;
        let started = Instant::now();
        let model = trial.method.fit(trial.knobs, rest, trial.options, &mut Silent)?;
        seconds.push(started.elapsed().as_secs_f64());
        let transduction = model.transduction();
        for &place in places {
            predicted[place] = Some(transduction.classes[place]);
            let Some(truth) = samples.labels().assigned()[place] else { continue };
            let shares = transduction.probabilities.column(place);
            found.add(transduction.classes[place], shares, truth);
        }
    }
    let measures = found.measures(samples.labels().classes().len());
    Ok(Some(Hidden { method: name.to_owned(), predicted, measures, seconds: mean(&seconds) }))
}

/// Predictions of hidden labels, one after the other.
#[derive(Default)]
struct Found {
    predicted: Vec<usize>,
    probabilities: Vec<f64>,
    truth: Vec<usize>,
}

impl Found {
    fn add<T: Real>(&mut self, predicted: usize, probabilities: &[T], truth: usize) {
        self.predicted.push(predicted);
        self.probabilities.extend(probabilities.iter().map(|share| share.wide()));
        self.truth.push(truth);
    }

    fn measures(&self, n_classes: usize) -> Measures {
        let probabilities = Matrix::from_fn(n_classes, self.truth.len(), |class, at| {
            self.probabilities[at * n_classes + class]
        });
        Measures::of(&self.predicted, &probabilities, &self.truth)
    }
}

/// The doubt whether a method is worth it: a sentence where it predicts hidden labels no better than the
/// nearest labelled sample does, by a standard error of the paired difference. `found` begins with the
/// method itself.
#[must_use]
pub fn doubt(found: &[Hidden], labels: &Labels) -> Option<String> {
    let [own, others @ ..] = found else { return None };
    let nearest = others.iter().find(|one| one.method == "nearest")?;
    let right = |one: &Hidden, at: usize| {
        one.predicted[at].map(|class| f64::from(u8::from(Some(class) == labels.assigned()[at])))
    };
    let pairs = (0..labels.len()).filter_map(|at| Some(right(own, at)? - right(nearest, at)?));
    let (gain, error) = paired(&pairs.collect::<Vec<f64>>());
    (gain <= error).then(|| {
        format!(
            "No gain over the nearest labelled sample beyond chance: {} predicts {:.1} % of the hidden \
             labels, the nearest {:.1} %. Label more samples, prepare otherwise, or take the nearest.",
            own.method,
            100.0 * own.accuracy(labels),
            100.0 * nearest.accuracy(labels)
        )
    })
}

/// A table with one line per method, the best marked.
#[must_use]
pub fn table(found: &[Hidden], labels: &Labels) -> Table {
    let shares: Vec<f64> = found.iter().map(|one| one.accuracy(labels)).collect();
    let best = shares.iter().copied().fold(0.0, f64::max);
    let lines = found.iter().zip(&shares).map(|(one, &share)| {
        let cells = vec![
            Cell::marked(format!("{:.1} %", 100.0 * share), share == best),
            Cell::plain(format!("{:.3}", one.measures.log_loss)),
            Cell::plain(format!("{:.3}", one.measures.calibration_error)),
            Cell::plain(format!("{:.3}", one.seconds)),
        ];
        (one.method.clone(), cells)
    });
    let count = found.first().map_or(0, |one| one.predicted.iter().flatten().count());
    Table {
        heading: format!("Cross-validation on {count} labels"),
        names: "method".into(),
        columns: ["hidden labels correct", "log-loss", "calibration error", "seconds per fit"]
            .map(String::from)
            .into(),
        lines: lines.collect(),
    }
}
