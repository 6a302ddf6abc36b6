//! How the model learns while people label: which samples take part, what a refit begins with, and
//! which samples it asks for next. The page and the simulation go the same way.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Instant;

use ssdl::fit::{Silent, Watch};
use ssdl::methods::{self, FitOptions};
use ssdl::model::{Naming, representatives};
use ssdl::random::{self, Purpose};
use ssdl::samples::prepare::{Pipeline, StepChoice};
use ssdl::{Labels, Matrix, Model, Samples, threads};

use crate::Result;

/// Maximum number of samples that take part in a fit: so many are fitted in a moment. Of more
/// samples, as many are drawn at random.
pub const POOL: usize = 3000;
/// Every so many samples, one is drawn at random: queried ones are harder than the rest.
pub const ONE_AT_RANDOM: usize = 10;
/// Labels between two refits.
pub const BATCH: usize = 10;
/// Samples that a fit asks for.
const QUERIED: usize = 40;
/// Once there are so many times more labels, the preparation is chosen again.
const CHOOSE_AGAIN: f64 = 2.0;
/// The method of all fits, which is that of `ssdl fit`.
const METHOD: &str = "ssdl-ga";

/// All samples in a random order.
#[must_use]
pub fn drawn(n_samples: usize, seed: u64) -> Vec<usize> {
    let mut order: Vec<usize> = (0..n_samples).collect();
    random::shuffle(&mut order, &mut random::substream(seed, Purpose::Split, 1));
    order
}

/// Samples that take part, and the model that was learnt from them last.
pub struct Learner {
    /// The samples that take part, by number, in the order of the columns.
    pub pool: Vec<usize>,
    /// Their features.
    pub raw: Matrix<f32>,
    image: Option<[usize; 2]>,
    naming: Naming,
    seed: u64,
    threads: usize,
    model: Option<Arc<Model<f32>>>,
    /// Labels there were when the preparation was chosen.
    chosen_with: usize,
}

/// What a fit found.
pub struct Found {
    /// The model.
    pub model: Arc<Model<f32>>,
    /// Class and its probability, for each sample of the pool.
    pub guesses: Vec<(String, f64)>,
    /// Samples whose labels would help most, best first.
    pub order: Vec<usize>,
    /// Seconds that the fit took.
    pub seconds: f64,
}

impl Learner {
    /// A learner on these samples.
    #[must_use]
    pub fn new(
        pool: Vec<usize>,
        raw: Matrix<f32>,
        image: Option<[usize; 2]>,
        naming: Naming,
        seed: u64,
        threads: usize,
    ) -> Self {
        Self { pool, raw, image, naming, seed, threads, model: None, chosen_with: 0 }
    }

    /// Prepared samples, before there is a model to prepare them.
    ///
    /// # Errors
    /// If a value is not finite.
    pub fn prepared(&self) -> Result<Matrix<f32>> {
        let steps: &[&str] =
            if self.image.is_some() { &["scale=5"] } else { &["standardise", "scale=5"] };
        let steps: ssdl::Result<Vec<StepChoice>> = steps.iter().map(|step| step.parse()).collect();
        Ok(threads::run(self.threads, || {
            Ok::<_, ssdl::Error>(Pipeline::fit(&steps?, self.raw.clone(), self.image, self.seed)?.1)
        })?)
    }

    /// Where to begin without any label: the samples that represent all others best.
    ///
    /// # Errors
    /// If a value is not finite.
    pub fn first(&self, prepared: &Matrix<f32>) -> Result<Vec<usize>> {
        let equal = vec![1.0; prepared.columns()];
        let chosen = threads::run(self.threads, || representatives(prepared, &equal, QUERIED))?;
        Ok(chosen.into_iter().map(|column| self.pool[column]).collect())
    }

    /// Adds samples to the pool.
    pub fn extend(&mut self, samples: &[usize], features: Vec<f32>) {
        let rows = self.raw.rows();
        let mut values = std::mem::replace(&mut self.raw, Matrix::zeros(0, 0)).into_vec();
        values.extend(features);
        self.pool.extend(samples);
        self.raw = Matrix::from_columns(rows, self.pool.len(), values)
            .unwrap_or_else(|| Matrix::zeros(rows, 0));
    }

    /// Takes samples out of the pool; the next fit begins from nothing.
    pub fn leave_out(&mut self, is_out: impl Fn(usize) -> bool) {
        let kept: Vec<usize> = (0..self.pool.len()).filter(|&at| !is_out(self.pool[at])).collect();
        if kept.len() < self.pool.len() {
            self.raw = self.raw.select_columns(&kept);
            self.pool = kept.into_iter().map(|at| self.pool[at]).collect();
            self.model = None;
        }
    }

    /// How the next fit runs: from where the last one ended, unless there are many more labels.
    fn options(&self, n_labelled: usize, calibrate: bool) -> ssdl::Result<FitOptions<f32>> {
        let mut options = FitOptions {
            seed: self.seed,
            threads: self.threads,
            image: self.image,
            calibrate,
            ..FitOptions::default()
        };
        let is_near = (n_labelled as f64) < CHOOSE_AGAIN * self.chosen_with as f64;
        if let Some(model) = self.model.as_deref().filter(|_| is_near) {
            options.preparation = Some(model.preparation().clone());
            options.start = model.start(&self.raw)?;
        }
        Ok(options)
    }

    /// Learns from these labels, one for each sample of the pool.
    ///
    /// # Errors
    /// If there are fewer than two classes, or the watch stops the fit.
    pub fn fit(&mut self, labels: &[Option<String>], watch: &mut dyn Watch) -> Result<Found> {
        let started = Instant::now();
        let labels = Labels::from_names(labels);
        let n_labelled = labels.n_labelled();
        let options = self.options(n_labelled, true)?;
        if options.preparation.is_none() {
            self.chosen_with = n_labelled;
        }
        let samples = Samples::new(self.raw.clone(), labels)?;
        let method = methods::find::<f32>(METHOD)?;
        let model = method.fit(&[], samples, &options, watch)?.named(self.naming.clone())?;
        let (guesses, order) = threads::run(self.threads, || {
            let guesses = guesses(&model);
            let order = model.query(QUERIED)?;
            Ok::<_, ssdl::Error>((guesses, order))
        })?;
        let order = order.into_iter().map(|column| self.pool[column]).collect();
        let model = Arc::new(model);
        self.model = Some(Arc::clone(&model));
        Ok(Found { model, guesses, order, seconds: started.elapsed().as_secs_f64() })
    }

    /// The probabilities of labels that were hidden, one fold after another: for each labelled
    /// sample of the pool the probability of its own label, and the class predicted instead.
    ///
    /// # Errors
    /// If a fit fails, or there is no more time for the next.
    pub fn held_out(
        &self,
        labels: &[Option<String>],
        n_folds: usize,
        has_time: &dyn Fn() -> bool,
    ) -> Result<Vec<(usize, f64, String)>> {
        let all = Labels::from_names(labels);
        let mut places = all.labelled();
        random::shuffle(&mut places, &mut random::stream(self.seed, Purpose::Folds));
        let options = self.options(places.len(), false)?;
        let method = methods::find::<f32>(METHOD)?;
        let mut found = Vec::new();
        for fold in 0..n_folds {
            let is_hidden = |at: usize| at % n_folds == fold;
            let pick = |hidden: bool| -> Vec<usize> {
                let chosen = places.iter().enumerate().filter(|(at, _)| is_hidden(*at) == hidden);
                chosen.map(|(_, &place)| place).collect()
            };
            let rest = all.keep_only(&pick(false));
            if rest.known_classes().len() < 2 {
                continue;
            }
            if !has_time() {
                return Err(ssdl::Error::Cancelled.into());
            }
            let samples = Samples::new(self.raw.clone(), rest)?;
            let model = method.fit(&[], samples, &options, &mut Silent)?;
            let prediction = model.transduction();
            for place in pick(true) {
                let Some(class) = all.assigned()[place] else { continue };
                let own = &all.classes()[class];
                let at = model.classes().iter().position(|name| name == own);
                let share = at.map_or(0.0, |at| prediction.probabilities.column(place)[at]);
                let predicted = prediction.labels[place].clone();
                found.push((self.pool[place], f64::from(share), predicted));
            }
        }
        Ok(found)
    }
}

/// Class and probability for every training sample.
fn guesses(model: &Model<f32>) -> Vec<(String, f64)> {
    let prediction = model.transduction();
    let share = |at: usize| prediction.probabilities.column(at)[prediction.classes[at]];
    (0..prediction.labels.len())
        .map(|at| (prediction.labels[at].clone(), f64::from(share(at))))
        .collect()
}

/// What is known after a fit, for everybody to read.
#[derive(Clone, Default)]
pub struct Snapshot {
    /// Counts the fits; 0 before the first.
    pub number: usize,
    /// Labels that it was fitted with.
    pub labels: usize,
    /// Share of predictions that changed since the fit before.
    pub changed: Option<f64>,
    /// Seconds that it took.
    pub seconds: f64,
    /// The samples that took part.
    pub pool: Vec<usize>,
    /// Where each of them is.
    pub place: HashMap<usize, usize>,
    /// The predicted class of each, and its probability; empty before the first fit.
    pub guesses: Vec<(String, f64)>,
    /// What to label next.
    pub order: Vec<usize>,
    /// The prepared samples.
    pub prepared: Option<Arc<Matrix<f32>>>,
    /// Features, the most telling first; empty for images.
    pub telling: Vec<usize>,
    /// The model.
    pub model: Option<Arc<Model<f32>>>,
    /// Labelled samples with the probability of their label while it was hidden, and the class that
    /// was predicted.
    pub held_out: Arc<Vec<(usize, f64, String)>>,
    /// Labelled samples that look alike and have different labels.
    pub twins: Vec<(usize, usize)>,
}

impl Snapshot {
    /// The same with labels that were hidden since.
    #[must_use]
    pub fn with_held_out(&self, held_out: Arc<Vec<(usize, f64, String)>>) -> Self {
        Self { held_out, ..self.clone() }
    }

    /// The guess for a sample.
    #[must_use]
    pub fn guess(&self, sample: usize) -> Option<&(String, f64)> {
        self.guesses.get(*self.place.get(&sample)?)
    }

    /// The nearest of these samples, the nearest first.
    #[must_use]
    pub fn nearest(&self, sample: usize, among: &[usize], n: usize) -> Vec<usize> {
        let (Some(prepared), Some(&own)) = (&self.prepared, self.place.get(&sample)) else {
            return Vec::new();
        };
        let distance = |place: usize| -> f32 {
            let pairs = prepared.column(own).iter().zip(prepared.column(place));
            pairs.map(|(a, b)| (a - b) * (a - b)).sum()
        };
        let known = among.iter().filter(|&&other| other != sample);
        let mut found: Vec<(f32, usize)> = known
            .filter_map(|&other| self.place.get(&other).map(|&place| (distance(place), other)))
            .collect();
        found.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
        found.into_iter().take(n).map(|(_, other)| other).collect()
    }
}

/// Features by how well they tell the classes apart, the best first: the variance between the means
/// of the classes over the variance within them.
#[must_use]
pub fn telling(raw: &Matrix<f32>, labels: &[Option<String>]) -> Vec<usize> {
    let mut groups: HashMap<&str, Vec<usize>> = HashMap::new();
    for (at, label) in labels.iter().enumerate() {
        if let Some(label) = label {
            groups.entry(label).or_default().push(at);
        }
    }
    let known: Vec<usize> = groups.values().flatten().copied().collect();
    let mean = |row: usize, places: &[usize]| {
        let sum: f64 = places.iter().map(|&at| f64::from(raw.column(at)[row])).sum();
        sum / places.len().max(1) as f64
    };
    let ratio = |row: usize| {
        let all = mean(row, &known);
        let (mut between, mut within) = (0.0, 0.0);
        for places in groups.values() {
            let own = mean(row, places);
            between += places.len() as f64 * (own - all).powi(2);
            within += places
                .iter()
                .map(|&at| (f64::from(raw.column(at)[row]) - own).powi(2))
                .sum::<f64>();
        }
        if between > 0.0 { between / (within + 1e-12 * between) } else { 0.0 }
    };
    let ratios: Vec<f64> = (0..raw.rows()).map(ratio).collect();
    let mut order: Vec<usize> = (0..raw.rows()).collect();
    order.sort_by(|&a, &b| ratios[b].total_cmp(&ratios[a]).then(a.cmp(&b)));
    order
}

/// Labelled samples that are as good as the same and have different labels: a tenth of the usual
/// distance from one labelled sample to the nearest.
#[must_use]
pub fn twins(prepared: &Matrix<f32>, labels: &[Option<String>]) -> Vec<(usize, usize)> {
    /// More pairs than this would take longer than the fit.
    const MOST: usize = 1500;
    let known: Vec<usize> = (0..labels.len()).filter(|&at| labels[at].is_some()).collect();
    let known = &known[known.len().saturating_sub(MOST)..];
    let distance = |a: usize, b: usize| -> f64 {
        let pairs = prepared.column(a).iter().zip(prepared.column(b));
        pairs.map(|(x, y)| f64::from(x - y).powi(2)).sum::<f64>().sqrt()
    };
    let mut nearest: Vec<(f64, usize, usize)> = Vec::new();
    for &a in known {
        let others = known.iter().filter(|&&b| b != a).map(|&b| (distance(a, b), a, b));
        nearest.extend(others.min_by(|x, y| x.0.total_cmp(&y.0)));
    }
    let mut usual: Vec<f64> = nearest.iter().map(|pair| pair.0).collect();
    usual.sort_by(f64::total_cmp);
    let limit = 0.1 * usual.get(usual.len() / 2).copied().unwrap_or(0.0);
    let mut found: Vec<(usize, usize)> = nearest
        .into_iter()
        .filter(|&(far, a, b)| far <= limit && labels[a] != labels[b])
        .map(|(_, a, b)| (a.min(b), a.max(b)))
        .collect();
    found.sort_unstable();
    found.dedup();
    found
}
