//! The fits of a search: cold, scored by hidden labels, in rounds that fewer and fewer settings reach.

use std::sync::Arc;
use std::time::Instant;

use ssdl::device;
use ssdl::fit::{Silent, preparation};
use ssdl::graph::{Connected, GraphKnobs};
use ssdl::knobs::Knobbed;
use ssdl::methods::{self, FitOptions, Method};
use ssdl::samples::prepare::{Pipeline, StepChoice};
use ssdl::{Labels, Real, Samples};

use super::shared::{Shared, bytes_of_graph};
use super::trial::{Outcome, Setting, Trial};
use super::{Budget, Criterion, Tried};
use crate::folds::Folds;
use crate::numbers::paired;
use crate::{Error, Monitor, Result};

/// Hidden labels that the first round of a stage looks at, if there are as many.
const FIRST_LOOK: usize = 40;
/// Of so many settings in the first round, one goes on.
const HALVING: usize = 4;
/// A probability below this counts as this: one label must not decide alone.
const FLOOR: f64 = 1e-4;

pub(super) struct Search<'a, T> {
    method: &'a dyn Method<T>,
    samples: &'a Samples<T>,
    options: &'a FitOptions<T>,
    by: Criterion,
    budget: Budget,
    monitor: &'a dyn Monitor,
    started: Instant,
    folds: Folds,
    /// What `prepare=auto` chooses, fold by fold.
    chosen: Vec<Option<Vec<StepChoice>>>,
    /// Samples by the steps that prepared them.
    prepared: Shared<Vec<StepChoice>, Samples<T>>,
    /// Graphs by the preparation of their samples and their knobs.
    graphs: Shared<(Vec<StepChoice>, GraphKnobs), Arc<Connected<T>>>,
    pub tried: Vec<Tried>,
    pub fits: usize,
    pub cut_short: bool,
}

impl<'a, T: Real> Search<'a, T> {
    pub fn new(
        method: &'a dyn Method<T>,
        samples: &'a Samples<T>,
        options: &'a FitOptions<T>,
        by: Criterion,
        budget: Budget,
        monitor: &'a dyn Monitor,
    ) -> Result<Self> {
        let has_single = samples.labels().counts().into_iter().any(|count| count == 1);
        let folds = Folds::new(samples.labels(), options.seed).filter(|_| !has_single);
        let folds = folds.ok_or_else(|| {
            Error::Fit(ssdl::Error::Labels(
                "a class has a single label: hiding it leaves nothing to learn the class from; \
                 tuning needs at least two labels per class"
                    .into(),
            ))
        })?;
        let chosen = vec![None; folds.hidden.len()];
        Ok(Self {
            method,
            samples,
            options,
            by,
            budget,
            monitor,
            started: Instant::now(),
            folds,
            chosen,
            prepared: Shared::new(),
            graphs: Shared::new(),
            tried: Vec::new(),
            fits: 0,
            cut_short: false,
        })
    }

    pub fn n_folds(&self) -> usize {
        self.folds.hidden.len()
    }

    /// Whether two settings are the same fit, one of them perhaps with a default written out.
    pub fn is_same(&self, a: &Setting, b: &Setting) -> bool {
        a.prepare == b.prepare && self.are_same(&a.knobs, &b.knobs)
    }

    /// Whether a setting was tried already.
    pub fn has_tried(&self, setting: &Setting) -> bool {
        let steps: Vec<String> = setting.prepare.iter().map(ToString::to_string).collect();
        let mut tried = self.tried.iter().filter(|one| one.prepare == steps);
        tried.any(|one| self.are_same(&one.knobs, &setting.knobs))
    }

    fn are_same(&self, a: &[(String, String)], b: &[(String, String)]) -> bool {
        let mut names = a.iter().chain(b).map(|(name, _)| name);
        names.all(|name| self.value(a, name) == self.value(b, name))
    }

    /// A knob as it is set, or its default.
    fn value(&self, knobs: &[(String, String)], name: &str) -> Option<String> {
        let own = knobs.iter().find(|(knob, _)| knob == name).map(|(_, value)| value.clone());
        own.or_else(|| {
            let mut all = self.method.knobs().into_iter();
            all.find(|knob| knob.name == name).map(|knob| knob.default.to_string())
        })
    }

    /// A setting on all folds, whatever the budget.
    pub fn complete(&mut self, setting: Setting) -> Result<Trial> {
        let mut trial = Trial::new(setting);
        for _ in 0..self.n_folds() {
            self.next_fold(&mut trial)?;
        }
        self.note(&trial);
        Ok(trial)
    }

    /// The best of some settings on all folds. All of them see the first folds; one in four, those that do
    /// best there, sees the rest. `None` if none got that far.
    pub fn halve(&mut self, candidates: Vec<Setting>, base: &Trial) -> Result<Option<Trial>> {
        let survivors = candidates.len().div_ceil(HALVING);
        let first = self.first_folds();
        let mut trials = Vec::with_capacity(candidates.len());
        for setting in candidates {
            let mut trial = Trial::new(setting);
            while trial.folds < first && !self.is_spent() {
                self.next_fold(&mut trial)?;
            }
            if trial.folds < first {
                self.cut_short = true;
                break;
            }
            trials.push(trial);
        }
        let gains: Vec<f64> = trials.iter().map(|trial| self.gain(trial, base).0).collect();
        let mut order: Vec<usize> = (0..trials.len()).collect();
        // Stable: of equal ones the first, which is nearest to what the user has.
        order.sort_by(|&a, &b| gains[b].total_cmp(&gains[a]));
        let mut best: Option<Trial> = None;
        for (rank, &at) in order.iter().enumerate() {
            let trial = &mut trials[at];
            let goes_on = rank < survivors && gains[at] > 0.0;
            while goes_on && trial.folds < self.n_folds() && !self.is_spent() {
                self.next_fold(trial)?;
            }
            self.note(trial);
            if trial.folds < self.n_folds() {
                self.cut_short |= goes_on;
                continue;
            }
            if best.as_ref().is_none_or(|best| self.gain(trial, best).0 > 0.0) {
                best = Some(trial.clone());
            }
        }
        Ok(best)
    }

    /// The mean by which a setting is better than another over the hidden labels that both have seen,
    /// and its standard error, paired.
    pub fn gain(&self, trial: &Trial, other: &Trial) -> (f64, f64) {
        let value = |outcome: &Outcome| match self.by {
            Criterion::Accuracy => f64::from(u8::from(outcome.is_right)),
            Criterion::LogLoss => -outcome.log_loss,
        };
        let pairs = trial.outcomes.iter().zip(&other.outcomes);
        paired(&pairs.map(|(own, other)| value(own) - value(other)).collect::<Vec<f64>>())
    }

    /// The accuracy of the nearest labelled sample with the preparation of a setting, and whether the
    /// setting is better by more than chance; `None` where the search is for that method.
    pub fn beside_nearest(&mut self, chosen: &Trial) -> Result<Option<(f64, bool)>> {
        let nearest = methods::find::<T>("nearest")?;
        if self.method.describe().name == nearest.describe().name {
            return Ok(None);
        }
        let mut other = Trial::new(Setting { knobs: Vec::new(), ..chosen.setting.clone() });
        for fold in 0..self.n_folds() {
            let labels = self.folds.without(fold, self.samples.labels())?;
            let steps = self.steps(fold, &chosen.setting.prepare, &labels);
            let (samples, options) = self.ready(&steps, labels)?;
            let options = FitOptions { graph: None, ..options };
            let model = nearest.fit(&[], samples, &options, &mut Silent)?;
            self.judge(&model, fold, &mut other);
        }
        let right = |trial: &Trial| -> Vec<f64> {
            trial.outcomes.iter().map(|outcome| f64::from(u8::from(outcome.is_right))).collect()
        };
        let apart = right(chosen).into_iter().zip(right(&other)).map(|(own, other)| own - other);
        let (gain, error) = paired(&apart.collect::<Vec<f64>>());
        Ok(Some((other.accuracy(), gain > error)))
    }

    /// Folds of the first round: enough for 40 hidden labels, but never all.
    fn first_folds(&self) -> usize {
        let mut seen = 0;
        let enough = self.folds.hidden.iter().position(|fold| {
            seen += fold.len();
            seen >= FIRST_LOOK
        });
        enough.map_or(self.n_folds(), |at| at + 1).clamp(1, self.n_folds().max(2) - 1)
    }

    /// Whether another fit would exceed the budget.
    fn is_spent(&self) -> bool {
        self.fits >= self.budget.fits
            || self.started.elapsed().as_secs_f64() >= self.budget.seconds
            || self.monitor.stop()
    }

    fn note(&mut self, trial: &Trial) {
        let is_done = trial.folds == self.n_folds();
        self.tried.push(Tried {
            knobs: trial.setting.knobs.clone(),
            prepare: trial.setting.prepare.iter().map(ToString::to_string).collect(),
            accuracy: is_done.then(|| trial.accuracy()),
            log_loss: is_done.then(|| trial.log_loss()),
        });
    }

    /// Fits the next fold of a setting, from a cold start.
    fn next_fold(&mut self, trial: &mut Trial) -> Result<()> {
        let fold = trial.folds;
        let labels = self.folds.without(fold, self.samples.labels())?;
        let steps = self.steps(fold, &trial.setting.prepare, &labels);
        let graph = self.graph(&steps, &trial.setting)?;
        let (samples, mut options) = self.ready(&steps, labels)?;
        if let Some(graph) = graph {
            options.graph = Some(graph);
        }
        let model = self.method.fit(&trial.setting.knobs, samples, &options, &mut Silent)?;
        self.fits += 1;
        self.monitor.done(self.fits, self.budget.fits.max(self.fits), "fits of the search");
        self.judge(&model, fold, trial);
        Ok(())
    }

    /// The steps of a preparation; one that is left to the samples is chosen by those labels that are not hidden.
    fn steps(&mut self, fold: usize, prepare: &[StepChoice], labels: &Labels) -> Vec<StepChoice> {
        if !preparation::is_auto(prepare) {
            return prepare.to_vec();
        }
        let FitOptions { image, seed, .. } = *self.options;
        let features = self.samples.features();
        let choose = || preparation::choose(features, labels, image, seed);
        self.chosen[fold].get_or_insert_with(choose).clone()
    }

    /// Samples and options of a fit from a cold start. Probabilities are calibrated only where they count.
    fn ready(
        &mut self,
        steps: &[StepChoice],
        labels: Labels,
    ) -> Result<(Samples<T>, FitOptions<T>)> {
        let calibrate = self.options.calibrate && self.by == Criterion::LogLoss;
        let options = FitOptions { start: None, calibrate, ..self.options.clone() };
        if !self.can_share() {
            let samples = self.samples.with_labels(labels)?;
            return Ok((samples, FitOptions { prepare: steps.to_vec(), ..options }));
        }
        let samples = self.prepared(steps)?.with_labels(labels)?;
        // They have the shape of images no more.
        Ok((samples, FitOptions { prepare: Vec::new(), image: None, ..options }))
    }

    /// Whether all fits prepare the same samples in the same way.
    fn can_share(&self) -> bool {
        let all_take_part = self.options.sample_weight.iter().flatten().all(|weight| *weight > 0.0);
        all_take_part && self.options.preparation.is_none()
    }

    /// The samples prepared by these steps.
    fn prepared(&mut self, steps: &[StepChoice]) -> Result<Samples<T>> {
        let steps = steps.to_vec();
        if let Some(known) = self.prepared.get(&steps) {
            return Ok(known);
        }
        let Self { samples, options, .. } = *self;
        let prepared = ssdl::threads::run(options.threads, || -> ssdl::Result<Samples<T>> {
            let features = samples.features().clone();
            let (_, prepared) = Pipeline::fit(&steps, features, options.image, options.seed)?;
            Samples::new(prepared, samples.labels().clone())
        })?;
        let bytes = size_of_val(prepared.features().as_slice());
        self.prepared.keep(steps, prepared.clone(), bytes);
        Ok(prepared)
    }

    /// Adds how the labels hidden in a fold fared.
    fn judge(&self, model: &ssdl::Model<T>, fold: usize, trial: &mut Trial) {
        let predicted = model.transduction();
        for &place in &self.folds.hidden[fold] {
            let Some(truth) = self.samples.labels().assigned()[place] else { continue };
            let probability = predicted.probabilities.column(place)[truth].wide();
            trial.outcomes.push(Outcome {
                is_right: predicted.classes[place] == truth,
                log_loss: -probability.max(FLOOR).ln(),
            });
        }
        trial.folds += 1;
    }

    /// The graph of a setting, built once for all settings and folds with this preparation and the same
    /// knobs of the graph. `None` where the method builds its own.
    fn graph(
        &mut self,
        prepare: &[StepChoice],
        setting: &Setting,
    ) -> Result<Option<Arc<Connected<T>>>> {
        let Some(knobs) = self.graph_knobs(setting) else { return Ok(None) };
        let key = (prepare.to_vec(), knobs);
        if let Some(known) = self.graphs.get(&key) {
            return Ok(Some(known));
        }
        let prepared = self.prepared(prepare)?;
        let options = self.options;
        let built = ssdl::threads::run(options.threads, || {
            device::lend(options.device.clone(), || {
                let built = key.1.choose().build(prepared.features());
                device::check().and(built)
            })
        });
        let graph = Arc::new(built?);
        self.graphs.keep(key, graph.clone(), bytes_of_graph(&graph));
        Ok(Some(graph))
    }

    /// The knobs of the graph, where it depends on nothing else.
    fn graph_knobs(&self, setting: &Setting) -> Option<GraphKnobs> {
        let value = |name: &str| self.value(&setting.knobs, name);
        let pairs: Option<Vec<(String, String)>> = GraphKnobs::knobs()
            .iter()
            .map(|knob| Some((knob.name.to_owned(), value(knob.name)?)))
            .collect();
        let knobs = GraphKnobs::from_pairs(&pairs?).ok()?;
        let n_samples = self.samples.n_samples();
        let from_samples = value("denoise").is_none_or(|count| count == "0");
        let has_graph = value("manifold").and_then(|weight| weight.parse().ok()) != Some(0.0);
        let fits = from_samples && has_graph && self.can_share() && self.options.graph.is_none();
        (fits && knobs.n_neighbors < n_samples).then_some(knobs)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ssdl::{Labels, Matrix};

    struct Unwatched;

    impl Monitor for Unwatched {
        fn done(&self, _: usize, _: usize, _: &str) {}

        fn stop(&self) -> bool {
            false
        }
    }

    fn samples() -> Samples<f64> {
        let features = Matrix::from_fn(4, 60, |i, j| {
            ((i * 13 + j * 29 + j / 7) % 17) as f64 / 8.0 + if i % 3 == j % 3 { 1.5 } else { 0.0 }
        });
        let names: Vec<Option<&str>> =
            (0..60).map(|j| (j < 18).then_some(["a", "b", "c"][j % 3])).collect();
        Samples::new(features, Labels::from_names(&names)).expect("sound")
    }

    fn plain() -> FitOptions<f64> {
        let prepare = vec!["scale=5".parse().expect("a step")];
        FitOptions { threads: 1, prepare, calibrate: false, ..FitOptions::default() }
    }

    fn pairs(knobs: &[(&str, &str)]) -> Vec<(String, String)> {
        knobs.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect()
    }

    #[test]
    fn a_setting_equal_to_the_initial_one_scores_the_same_whenever_it_comes() {
        let method = methods::find::<f64>("ssdl-ga").expect("known");
        let (samples, options) = (samples(), plain());
        let mut search = Search::new(
            method,
            &samples,
            &options,
            Criterion::LogLoss,
            Budget::default(),
            &Unwatched,
        )
        .expect("labels suffice");
        let small = [("n_atoms", "8"), ("max_iterations", "3"), ("n_neighbors", "4")];
        let setting = |more: &[(&str, &str)]| Setting {
            prepare: options.prepare.clone(),
            knobs: pairs(&[&small, more].concat()),
        };
        let initial = search.complete(setting(&[])).expect("fits");
        let other = search.complete(setting(&[("sparsity", "0.8")])).expect("fits");
        let again = search.complete(setting(&[("sparsity", "0.3"), ("sharpness", "1.7")]));
        let again = again.expect("fits");
        assert_ne!(initial.outcomes, other.outcomes);
        assert_eq!(initial.outcomes, again.outcomes);
        assert_eq!(search.gain(&again, &initial), (0.0, 0.0));
        assert!(search.is_same(&again.setting, &initial.setting));
        assert!(!search.is_same(&other.setting, &initial.setting));
    }

    #[test]
    fn a_shared_graph_gives_the_bits_of_a_fit_that_builds_its_own() {
        let method = methods::find::<f64>("ssdl-ga").expect("known");
        let (samples, options) = (samples(), plain());
        let by = Criterion::Accuracy;
        let mut search = Search::new(method, &samples, &options, by, Budget::default(), &Unwatched)
            .expect("labels suffice");
        for graph in ["lle", "heat"] {
            let knobs = [("n_atoms", "8"), ("max_iterations", "2"), ("graph", graph)];
            let setting = Setting { prepare: options.prepare.clone(), knobs: pairs(&knobs) };
            let shared = search.graph(&options.prepare, &setting).expect("built").expect("shared");
            let given = FitOptions { graph: Some(shared), ..options.clone() };
            let own = method.fit(&setting.knobs, samples.clone(), &options, &mut Silent);
            let same = method.fit(&setting.knobs, samples.clone(), &given, &mut Silent);
            assert_eq!(own.expect("fits").codes(), same.expect("fits").codes(), "{graph}");
        }
        assert_eq!(search.graphs.len(), 2);
        let again = Setting {
            prepare: options.prepare.clone(),
            knobs: pairs(&[("sparsity", "0.1"), ("graph", "heat")]),
        };
        search.graph(&options.prepare, &again).expect("there").expect("shared");
        assert_eq!(search.graphs.len(), 2, "the graph does not depend on sparsity");
        let denoised = Setting { knobs: pairs(&[("denoise", "2")]), ..again };
        assert!(search.graph(&options.prepare, &denoised).expect("none").is_none());
    }

    #[test]
    fn a_difference_within_the_noise_is_less_than_two_standard_errors() {
        let (mean, error) = paired(&[1.0, 1.0, -1.0, 0.0, 0.0, 0.0]);
        assert!((mean - 1.0 / 6.0).abs() < 1e-12 && mean < 2.0 * error);
        assert_eq!(paired(&[0.25; 4]), (0.25, 0.0));
    }
}
