//! One fit of a comparison: from a split to a row, or to a model to show.

use std::time::Instant;

use ssdl::fit::Silent;
use ssdl::methods::{self, FitOptions};
use ssdl::samples::split::Split as Parts;
use ssdl::{Labels, Model, Samples};

use super::Choice;
use super::data::Loaded;
use super::outside::{Outside, Question};
use super::plan::{Data, Run, Split};
use super::row::Row;
use crate::measures::{Measures, accuracy, recalls};
use crate::memory::{peak, reset_peak};
use crate::numbers::round;
use crate::tune::{Aim, Budget, tune};
use crate::{Error, Example, Monitor, Result};

/// One fit to run.
pub(super) struct Task<'a> {
    pub data: &'a Data,
    pub split: &'a Split,
    pub run: &'a Run,
    pub seed: u64,
    pub parts: &'a Parts,
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
    pub fn blank(&self) -> Row {
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
            balanced_accuracy: None,
            log_loss: None,
            calibration_error: None,
            calibration_floor: None,
        }
    }

    /// The samples of the fit, labelled ones first.
    fn samples(&self, loaded: &Loaded) -> Result<Samples<f32>> {
        let Parts { labelled, unlabelled, .. } = self.parts;
        let train: Vec<usize> = labelled.iter().chain(unlabelled).copied().collect();
        let classes = loaded.labels.assigned();
        let given = train
            .iter()
            .enumerate()
            .map(|(at, &j)| if at < labelled.len() { classes[j] } else { None });
        let labels = Labels::new(loaded.labels.classes().to_vec(), given.collect())?;
        Ok(Samples::new(loaded.features.select_columns(&train), labels)?)
    }

    fn options(&self, loaded: &Loaded, choice: &Choice) -> Result<FitOptions<f32>> {
        let steps: ssdl::Result<Vec<_>> = self.run.prepare.iter().map(|s| s.parse()).collect();
        Ok(FitOptions {
            seed: self.seed,
            threads: choice.threads,
            prepare: steps?,
            image: loaded.image,
            calibrate: self.run.calibrate,
            ..FitOptions::default()
        })
    }

    /// The model, the knobs found by a search if the run has one, and the seconds it took.
    fn model(
        &self,
        samples: Samples<f32>,
        options: &FitOptions<f32>,
    ) -> Result<(Model<f32>, String, f64)> {
        let method = methods::find::<f32>(&self.run.method)?;
        let started = Instant::now();
        let mut knobs = self.knobs();
        let mut found = String::new();
        if self.run.tune > 0 {
            let budget = Budget { fits: self.run.tune, ..Budget::default() };
            let aim = Aim::default();
            knobs = tune(method, &knobs, &samples, options, &aim, budget, &Unmonitored)?.knobs;
            let pairs: Vec<String> = knobs.iter().map(|(k, v)| format!("{k}={v}")).collect();
            found = pairs.join(" ");
        }
        let model = method.fit(&knobs, samples, options, &mut Silent)?;
        Ok((model, found, started.elapsed().as_secs_f64()))
    }

    /// The row with its results.
    pub fn fit(&self, blank: Row, loaded: &Loaded, choice: &Choice) -> Result<Row> {
        let Parts { labelled, unlabelled, test } = self.parts;
        let (samples, options) = (self.samples(loaded)?, self.options(loaded, choice)?);
        reset_peak();
        let (model, found, fit_seconds) = self.model(samples, &options)?;
        let peak_bytes = peak();
        let started = Instant::now();
        let raw = loaded.features.select_columns(test);
        let predicted = ssdl::threads::run(choice.threads, || model.predict(raw))?;
        let predict_seconds = started.elapsed().as_secs_f64();
        let transduction = model.transduction();
        let (truth, hidden) = (loaded.classes_of(test), loaded.classes_of(unlabelled));
        let found_hidden = &transduction.classes[labelled.len()..];
        let measures = Measures::of(&predicted.classes, &predicted.probabilities, &truth);
        let known = |value: f64| (!value.is_nan()).then(|| round(value, 6));
        Ok(Row {
            test_accuracy: round(measures.accuracy, 4),
            unlabelled_accuracy: round(accuracy(found_hidden, &hidden), 4),
            recall: recall_text(&recalls(&predicted.classes, &truth, model.classes().len())),
            balanced_accuracy: known(measures.balanced_accuracy),
            log_loss: known(measures.log_loss),
            calibration_error: known(measures.calibration_error),
            calibration_floor: known(measures.calibration_floor),
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

    /// The row with the results of another program's method.
    pub fn ask(
        &self,
        outside: &dyn Outside,
        blank: Row,
        loaded: &Loaded,
        choice: &Choice,
    ) -> Result<Row> {
        let Parts { unlabelled, test, .. } = self.parts;
        let options = self.options(loaded, choice)?;
        let (samples, knobs) = (self.samples(loaded)?, self.knobs());
        let hidden = loaded.features.select_columns(unlabelled);
        let question = Question {
            method: &self.run.method,
            knobs: &knobs,
            n_classes: samples.labels().classes().len(),
            samples,
            options: &options,
            test: loaded.features.select_columns(test),
            unlabelled: (hidden.columns() > 0).then_some(hidden),
        };
        let n_classes = question.n_classes;
        reset_peak();
        let known = outside
            .answer(question)
            .map_err(|reason| Error::Outside { name: self.run.name.clone(), reason })?;
        let (truth, hidden) = (loaded.classes_of(test), loaded.classes_of(unlabelled));
        let measures = Measures::of(&known.classes, &known.probabilities, &truth);
        let some = |value: f64| (!value.is_nan()).then(|| round(value, 6));
        Ok(Row {
            test_accuracy: round(measures.accuracy, 4),
            unlabelled_accuracy: round(accuracy(&known.unlabelled, &hidden), 4),
            recall: recall_text(&recalls(&known.classes, &truth, n_classes)),
            balanced_accuracy: some(measures.balanced_accuracy),
            log_loss: some(measures.log_loss),
            calibration_error: some(measures.calibration_error),
            calibration_floor: some(measures.calibration_floor),
            fit_seconds: round(known.fit_seconds, 4),
            predict_seconds: round(known.predict_seconds, 4),
            peak_bytes: peak(),
            objective: round(known.objective, 3),
            iterations: known.iterations,
            stop: known.stop,
            ..blank
        })
    }

    /// The same fit, to be shown in detail.
    pub fn example(&self, loaded: &Loaded, choice: &Choice) -> Result<Example> {
        let samples = self.samples(loaded)?;
        let training = samples.features().clone();
        let (model, ..) = self.model(samples, &self.options(loaded, choice)?)?;
        let (classes, assigned) = (loaded.labels.classes(), loaded.labels.assigned());
        let test = &self.parts.test;
        let name = |&j: &usize| assigned[j].map(|class| classes[class].clone());
        Ok(Example {
            name: format!(
                "{} on {}, {}, seed {}",
                self.run.name, self.data.name, self.split.name, self.seed
            ),
            model,
            training,
            test: loaded.features.select_columns(test),
            truth: test.iter().map(name).collect(),
        })
    }
}

/// A monitor that shows nothing and never stops.
struct Unmonitored;

impl Monitor for Unmonitored {
    fn done(&self, _: usize, _: usize, _: &str) {}

    fn stop(&self) -> bool {
        false
    }
}

fn recall_text(recalls: &[Option<f64>]) -> String {
    let all: Vec<String> =
        recalls.iter().map(|share| format!("{:.1}", share.unwrap_or(0.0))).collect();
    all.join(" ")
}
