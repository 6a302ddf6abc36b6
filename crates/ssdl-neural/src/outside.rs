//! The nets in the experiments of `ssdl`: the same plans, splits, rows and tables.

use std::time::Instant;

use ssdl::fit::{Flow, Progress, Watch};
use ssdl::{Matrix, Signal};
use ssdl_experiments::comparison::{Known, Outside, Question};

use crate::{Method, Options, Place};

/// The nets, as an experiment asks for them.
#[derive(Clone, Debug, Default)]
pub struct Nets {
    /// What stops a fit that runs.
    pub signal: Option<Signal>,
    /// Where they are trained.
    pub place: Place,
}

struct Stoppable(Option<Signal>);

impl Watch for Stoppable {
    fn step(&mut self, _: &Progress<'_>) -> Flow {
        let is_set = |signal: &Signal| signal.load(std::sync::atomic::Ordering::SeqCst);
        if self.0.as_ref().is_some_and(is_set) { Flow::Stop } else { Flow::Continue }
    }

    fn signal(&self) -> Option<Signal> {
        self.0.clone()
    }
}

impl Outside for Nets {
    fn check(&self, method: &str, knobs: &[(String, String)]) -> Result<(), String> {
        let checked = Method::find(method).and_then(|method| method.check(knobs));
        checked.map_err(|error| error.to_string())
    }

    fn answer(&self, question: Question<'_>) -> Result<Known, String> {
        let Question { method, knobs, samples, options, test, unlabelled, .. } = question;
        let own = Options {
            seed: options.seed,
            threads: options.threads,
            prepare: options.prepare.clone(),
            image: options.image,
            memory_limit: options.memory_limit,
            place: self.place,
        };
        let text = |error: crate::Error| error.to_string();
        let method = Method::find(method).map_err(text)?;
        let started = Instant::now();
        let mut watch = Stoppable(self.signal.clone());
        let net = method.fit(knobs, samples, &own, &mut watch).map_err(text)?;
        let fit_seconds = started.elapsed().as_secs_f64();
        if net.stop() == crate::Stop::Cancelled {
            // Half a fit is no row.
            return Err("interrupted; rows before it are kept".into());
        }
        let started = Instant::now();
        let predict = |raw: Matrix<f32>| ssdl::threads::run(own.threads, || net.predict(raw));
        let found = predict(test).map_err(text)?;
        let predict_seconds = started.elapsed().as_secs_f64();
        let unlabelled = match unlabelled {
            Some(raw) => predict(raw).map_err(text)?.classes,
            None => Vec::new(),
        };
        Ok(Known {
            classes: found.classes,
            probabilities: found.probabilities,
            unlabelled,
            fit_seconds,
            predict_seconds,
            objective: net.report().objective,
            iterations: net.report().epochs,
            stop: net.report().stop.clone(),
        })
    }
}
