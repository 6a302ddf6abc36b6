//! Methods on splits of data sets: one row a fit, a table beside the paper's.

mod data;
mod plan;
mod row;
mod table;

pub use plan::{Data, Paper, Plan, Run, Split};
pub use row::Row;
pub use table::{overview, report};

use std::path::Path;
use std::time::Instant;

use data::Loaded;
use ssdl::fit::Silent;
use ssdl::methods::{self, Options};
use ssdl::samples::split::Split as Parts;
use ssdl::{Labels, Model, Prediction, Samples};

use crate::memory::{forget_peak, peak};
use crate::numbers::round;
use crate::rows::Rows;
use crate::tune::{Budget, tune};
use crate::{Error, Result, Watch};

/// What of a plan is run, and how.
#[derive(Clone, Debug, Default)]
pub struct Choice {
    /// Seeds; all, if empty.
    pub seeds: Vec<u64>,
    /// Runs or methods by name; all, if empty.
    pub methods: Vec<String>,
    /// Threads of a fit; 0 is one per core.
    pub threads: usize,
    /// Whether rows that exist are run again.
    pub again: bool,
}

/// One fit that is wanted.
struct Task<'a> {
    data: &'a Data,
    split: &'a Split,
    run: &'a Run,
    seed: u64,
    parts: &'a Parts,
}

/// Runs what is missing of a plan on the data in a folder.
///
/// # Errors
/// If the data cannot be read, a fit fails, or the watcher stops it.
pub fn run(
    plan: &Plan,
    choice: &Choice,
    folder: &Path,
    rows: &Rows<Row>,
    watch: &dyn Watch,
) -> Result<()> {
    choice.check(plan)?;
    rows.check_version()?;
    let total = count(plan, choice)?;
    let mut done = 0;
    for data in &plan.data {
        if plan.runs_of(data).all(|run| !wanted(choice, run)) {
            continue;
        }
        let loaded = Loaded::read(data, folder)?;
        let splits: Vec<(&Split, Vec<(u64, Parts)>)> = plan
            .splits_of(data)
            .map(|split| Ok((split, loaded.parts(split)?)))
            .collect::<Result<_>>()?;
        let mut tasks = Vec::new();
        for (split, drawn) in &splits {
            let seeds = drawn.iter().filter(|(seed, _)| is_chosen(&choice.seeds, seed));
            for (seed, parts) in seeds {
                let runs = plan.runs_of(data).filter(|run| wanted(choice, run));
                tasks.extend(runs.map(|run| Task { data, split, run, seed: *seed, parts }));
            }
        }
        for task in tasks {
            done += 1;
            let Task { data, split, run, seed, .. } = &task;
            let now = format!("{}, {}, {}, seed {seed}", data.name, split.name, run.name);
            watch.done(done, total, &now);
            let blank = task.blank();
            if !choice.again && rows.has_all(std::slice::from_ref(&blank)) {
                continue;
            }
            if watch.stop() {
                return Err(Error::Interrupted { path: rows.path().to_owned() });
            }
            rows.add(&[task.fit(blank, &loaded, choice)?])?;
        }
    }
    Ok(())
}

/// Fits of the whole plan, those included that are done already.
fn count(plan: &Plan, choice: &Choice) -> Result<usize> {
    let mut total = 0;
    for data in &plan.data {
        let runs = plan.runs_of(data).filter(|run| wanted(choice, run)).count();
        for split in plan.splits_of(data) {
            let seeds = data::seeds(split)?;
            total += runs * seeds.iter().filter(|seed| is_chosen(&choice.seeds, seed)).count();
        }
    }
    Ok(total)
}

fn is_chosen(chosen: &[u64], seed: &u64) -> bool {
    chosen.is_empty() || chosen.contains(seed)
}

fn wanted(choice: &Choice, run: &Run) -> bool {
    choice.wants(&run.name, &run.method)
}

impl Choice {
    /// Refuses names that the plan does not have.
    ///
    /// # Errors
    /// If there is one; the error lists the runs.
    pub fn check(&self, plan: &Plan) -> Result<()> {
        let is_known =
            |name: &str| plan.run.iter().any(|run| run.name == name || run.method == name);
        match self.methods.iter().find(|name| !is_known(name)) {
            None => Ok(()),
            Some(got) => {
                let known: Vec<&str> = plan.run.iter().map(|run| run.name.as_str()).collect();
                let (what, got) = ("run or method of this plan", got.clone());
                Err(Error::Fit(ssdl::Error::Unknown { what, got, known: known.join(", ") }))
            }
        }
    }

    /// Whether a run of this name and method is chosen.
    #[must_use]
    pub fn wants(&self, run: &str, method: &str) -> bool {
        self.methods.is_empty() || self.methods.iter().any(|name| name == run || name == method)
    }
}

impl Task<'_> {
    fn knobs(&self) -> Vec<(String, String)> {
        let mut knobs = Vec::new();
        let name = self.data.published.as_ref().filter(|_| self.run.published);
        if let (Some(name), Ok(method)) = (name, methods::find::<f32>(&self.run.method)) {
            let published = method.describe().published.iter();
            let of_data = published.filter(|(data, _)| data == name).flat_map(|(_, knobs)| *knobs);
            knobs.extend(of_data.map(|(knob, value)| ((*knob).to_owned(), (*value).to_owned())));
        }
        let own = self.run.knobs();
        knobs.retain(|(knob, _)| own.iter().all(|(name, _)| name != knob));
        knobs.extend(own);
        knobs
    }

    /// The row without its results.
    fn blank(&self) -> Row {
        let knobs: Vec<String> =
            self.knobs().iter().map(|(knob, value)| format!("{knob}={value}")).collect();
        Row {
            data: self.data.name.clone(),
            split: self.split.name.clone(),
            seed: self.seed,
            run: self.run.name.clone(),
            method: self.run.method.clone(),
            prepare: self.run.prepare.join("; "),
            knobs: knobs.join(" "),
            n_labelled: self.parts.labelled.len(),
            n_unlabelled: self.parts.unlabelled.len(),
            n_test: self.parts.test.len(),
            test_accuracy: f64::NAN,
            unlabelled_accuracy: f64::NAN,
            recall: String::new(),
            fit_seconds: 0.0,
            predict_seconds: 0.0,
            peak_bytes: None,
            objective: 0.0,
            iterations: 0,
            stop: String::new(),
            found: String::new(),
            version: env!("CARGO_PKG_VERSION").to_owned(),
        }
    }

    fn fit(&self, blank: Row, loaded: &Loaded, choice: &Choice) -> Result<Row> {
        let Parts { labelled, unlabelled, test } = self.parts;
        let train: Vec<usize> = labelled.iter().chain(unlabelled).copied().collect();
        let classes = loaded.labels.assigned();
        let given = train
            .iter()
            .enumerate()
            .map(|(at, &j)| if at < labelled.len() { classes[j] } else { None });
        let labels = Labels::new(loaded.labels.classes().to_vec(), given.collect())?;
        let samples = Samples::new(loaded.features.select_columns(&train), labels)?;
        let steps: ssdl::Result<Vec<_>> = self.run.prepare.iter().map(|s| s.parse()).collect();
        let options = Options {
            seed: self.seed,
            threads: choice.threads,
            prepare: steps?,
            image: loaded.image,
            ..Options::default()
        };
        let method = methods::find::<f32>(&self.run.method)?;
        forget_peak();
        let started = Instant::now();
        let mut knobs = self.knobs();
        let mut found = String::new();
        if self.run.tune > 0 {
            let budget = Budget { fits: self.run.tune, ..Budget::default() };
            knobs = tune(method, &knobs, &samples, &options, budget, &Unseen)?.knobs;
            let words: Vec<String> = knobs.iter().map(|(k, v)| format!("{k}={v}")).collect();
            found = words.join(" ");
        }
        let model = method.fit(&knobs, samples, &options, &mut Silent)?;
        let fit_seconds = started.elapsed().as_secs_f64();
        let peak_bytes = peak();
        let started = Instant::now();
        let raw = loaded.features.select_columns(test);
        let said = ssdl::threads::run(choice.threads, || model.predict(raw))?;
        let predict_seconds = started.elapsed().as_secs_f64();
        let truth: Vec<Option<usize>> = test.iter().map(|&j| classes[j]).collect();
        let hidden: Vec<Option<usize>> = unlabelled.iter().map(|&j| classes[j]).collect();
        let transduction = model.transduction();
        Ok(Row {
            test_accuracy: accuracy(&said.classes, &truth),
            unlabelled_accuracy: accuracy(&transduction.classes[labelled.len()..], &hidden),
            recall: recall(&said, &truth, &model),
            fit_seconds: round(fit_seconds, 4),
            predict_seconds: round(predict_seconds, 4),
            peak_bytes,
            objective: round(model.report().objective.total(), 3),
            iterations: model.report().iterations,
            stop: model.report().stop.to_string(),
            found,
            ..blank
        })
    }
}

/// Nobody looks on within a fit of the plan.
struct Unseen;

impl Watch for Unseen {
    fn done(&self, _: usize, _: usize, _: &str) {}

    fn stop(&self) -> bool {
        false
    }
}

/// Per cent that agree; NaN of nothing.
fn accuracy(found: &[usize], truth: &[Option<usize>]) -> f64 {
    let right = found.iter().zip(truth).filter(|(found, truth)| Some(**found) == **truth).count();
    round(100.0 * right as f64 / truth.len() as f64, 4)
}

fn recall(said: &Prediction<f32>, truth: &[Option<usize>], model: &Model<f32>) -> String {
    let of_class = |class: usize| {
        let members = truth.iter().zip(&said.classes).filter(|(truth, _)| **truth == Some(class));
        let (mut all, mut right) = (0usize, 0usize);
        members.for_each(|(_, found)| {
            all += 1;
            right += usize::from(*found == class);
        });
        format!("{:.1}", 100.0 * right as f64 / all.max(1) as f64)
    };
    let all: Vec<String> = (0..model.classes().len()).map(of_class).collect();
    all.join(" ")
}
