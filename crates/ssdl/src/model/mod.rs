//! 6. What comes out: a model that codes and classifies new samples.

mod attach;
mod explain;
mod file;
mod header;
mod query;
mod tensor;

pub use attach::{Pull, code_new};
pub use explain::{Explanation, Neighbour, Part};
pub use header::{Precision, precision_of, precision_of_bytes};
pub use query::representatives;

use serde::{Deserialize, Serialize};

use crate::classifier::{Decision, LinearClassifier, best, memberships};
use crate::fit::{Fitted, Objective, Start, Stop, TraceRow};
use crate::graph::Attachment;
use crate::samples::prepare::Pipeline;
use crate::{Error, Labels, Matrix, Real, Result};

/// How new samples are coded and judged.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct OutOfSample {
    /// λ.
    pub sparsity: f64,
    /// β; 0 codes without the training samples.
    pub manifold: f64,
    /// $r$, which turns scores into probabilities.
    pub sharpness: f64,
    /// Whether the graph is between reconstructions instead of the samples themselves.
    pub denoise: bool,
}

/// What new samples are tied to.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Tied<T> {
    /// The training samples, or their reconstructions, as the graph saw them.
    pub training: Matrix<T>,
    /// How.
    pub attachment: Attachment<T>,
}

/// How the fit went.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Report {
    /// Version of this library.
    pub version: String,
    /// Seed of the fit.
    pub seed: u64,
    /// Outer iterations.
    pub iterations: usize,
    /// Why it stopped.
    pub stop: Stop,
    /// The objective at the end, by term.
    pub objective: Objective,
    /// The objective after every step.
    pub trace: Vec<TraceRow>,
    /// Atoms nobody uses.
    pub dead_atoms: usize,
    /// Atoms revived during the fit.
    pub revived_atoms: usize,
    /// Seconds for the graph.
    pub graph_seconds: f64,
    /// Seconds in all.
    pub seconds: f64,
}

/// A fitted model: everything needed to judge raw samples, and what was learnt about the training
/// samples.
#[derive(Clone, Debug)]
pub struct Model<T> {
    method: String,
    knobs: Vec<(String, String)>,
    labels: Labels,
    preparation: Pipeline<T>,
    tied: Option<Tied<T>>,
    atoms: Option<Matrix<T>>,
    codes: Matrix<T>,
    decision: Decision<T>,
    rule: OutOfSample,
    image: Option<[usize; 2]>,
    report: Report,
}

/// What is said of a set of samples.
#[derive(Clone, Debug)]
pub struct Prediction<T> {
    /// The class of each sample, by name.
    pub labels: Vec<String>,
    /// The class of each sample, by index into [`Model::classes`].
    pub classes: Vec<usize>,
    /// $C\times N$: linear scores, or shares of the vote where training samples decide.
    pub scores: Matrix<T>,
    /// $C\times N$; every column sums to one.
    pub probabilities: Matrix<T>,
    /// $p\times N$ sparse codes; the prepared samples where the method has no atoms.
    pub codes: Matrix<T>,
}

impl<T: Real> Prediction<T> {
    /// How far the likeliest class of a sample is ahead of the second, from 0 (a tie) to 1.
    #[must_use]
    pub fn lead(&self, sample: usize) -> f64 {
        let shares = self.probabilities.column(sample).iter().map(|share| share.wide());
        let (first, second) = shares.fold((0.0, 0.0), |(first, second), share| {
            if share > first { (share, first) } else { (first, f64::max(second, share)) }
        });
        first - second
    }
}

/// What the fit itself brings forth.
pub(crate) struct Learnt<T> {
    pub atoms: Option<Matrix<T>>,
    pub codes: Matrix<T>,
    pub decision: Decision<T>,
    pub trace: Vec<TraceRow>,
    pub stop: Stop,
    pub iterations: usize,
    pub dead_atoms: usize,
    pub revived_atoms: usize,
}

impl<T> From<Fitted<T>> for Learnt<T> {
    fn from(fitted: Fitted<T>) -> Self {
        Self {
            atoms: Some(fitted.atoms),
            codes: fitted.codes,
            decision: Decision::Linear(fitted.classifier),
            trace: fitted.trace,
            stop: fitted.stop,
            iterations: fitted.iterations,
            dead_atoms: fitted.dead_atoms,
            revived_atoms: fitted.revived_atoms,
        }
    }
}

/// The parts a method hands over.
pub(crate) struct Assembly<T> {
    pub method: &'static str,
    pub knobs: Vec<(&'static str, String)>,
    pub labels: Labels,
    pub preparation: Pipeline<T>,
    pub tied: Option<Tied<T>>,
    pub learnt: Learnt<T>,
    pub rule: OutOfSample,
    pub image: Option<[usize; 2]>,
    pub seed: u64,
    pub graph_seconds: f64,
    pub seconds: f64,
}

impl<T: Real> Model<T> {
    pub(crate) fn assemble(parts: Assembly<T>) -> Self {
        let Assembly { learnt: fitted, rule, .. } = parts;
        Self {
            method: parts.method.to_owned(),
            knobs: parts.knobs.into_iter().map(|(name, value)| (name.to_owned(), value)).collect(),
            labels: parts.labels,
            preparation: parts.preparation,
            tied: parts.tied,
            atoms: fitted.atoms,
            codes: fitted.codes,
            decision: fitted.decision,
            rule,
            image: parts.image,
            report: Report {
                version: env!("CARGO_PKG_VERSION").to_owned(),
                seed: parts.seed,
                iterations: fitted.iterations,
                stop: fitted.stop,
                objective: fitted.trace.last().map(|row| row.objective).unwrap_or_default(),
                trace: fitted.trace,
                dead_atoms: fitted.dead_atoms,
                revived_atoms: fitted.revived_atoms,
                graph_seconds: parts.graph_seconds,
                seconds: parts.seconds,
            },
        }
    }

    /// Name of the method.
    #[must_use]
    pub fn method(&self) -> &str {
        &self.method
    }

    /// Knobs the model was fitted with, after cuts.
    #[must_use]
    pub fn knobs(&self) -> &[(String, String)] {
        &self.knobs
    }

    /// Class names, in the order of scores and probabilities.
    #[must_use]
    pub fn classes(&self) -> &[String] {
        self.labels.classes()
    }

    /// The labels it was fitted with.
    #[must_use]
    pub fn training_labels(&self) -> &Labels {
        &self.labels
    }

    /// The preparation that raw samples go through.
    #[must_use]
    pub fn preparation(&self) -> &Pipeline<T> {
        &self.preparation
    }

    /// Features of a raw sample.
    #[must_use]
    pub fn n_features(&self) -> usize {
        self.preparation.n_features()
    }

    /// $D$: one atom a column, in the space of prepared samples; `None` if the method has no atoms
    /// and classifies the prepared samples as they are.
    #[must_use]
    pub fn atoms(&self) -> Option<&Matrix<T>> {
        self.atoms.as_ref()
    }

    /// How new samples are tied to the training samples: by a graph, or by votes; `None` without.
    #[must_use]
    pub fn attachment(&self) -> Option<&Attachment<T>> {
        match &self.decision {
            Decision::Linear(_) => self.tied.as_ref().map(|tied| &tied.attachment),
            Decision::Vote(vote) => Some(&vote.attachment),
        }
    }

    /// Codes of the training samples, $p\times N$: what the classifier sees. Without atoms these are
    /// the prepared samples themselves.
    #[must_use]
    pub fn codes(&self) -> &Matrix<T> {
        &self.codes
    }

    /// The training samples as the model keeps them, prepared (or as the graph saw them, where it
    /// saw reconstructions); `None` where it needs none for new samples.
    #[must_use]
    pub fn training(&self) -> Option<&Matrix<T>> {
        match (&self.tied, &self.atoms) {
            (Some(tied), _) => Some(&tied.training),
            (None, None) => Some(&self.codes),
            (None, Some(_)) => None,
        }
    }

    /// How codes become classes.
    #[must_use]
    pub fn decision(&self) -> &Decision<T> {
        &self.decision
    }

    /// The linear classifier on codes; `None` where training samples vote.
    #[must_use]
    pub fn classifier(&self) -> Option<&LinearClassifier<T>> {
        match &self.decision {
            Decision::Linear(classifier) => Some(classifier),
            Decision::Vote(_) => None,
        }
    }

    /// Height and width of a sample, if samples are images.
    #[must_use]
    pub fn image(&self) -> Option<[usize; 2]> {
        self.image
    }

    /// How new samples are coded.
    #[must_use]
    pub fn out_of_sample(&self) -> OutOfSample {
        self.rule
    }

    /// How the fit went.
    #[must_use]
    pub fn report(&self) -> &Report {
        &self.report
    }

    /// Where another fit of the same samples, with other labels or with more samples after them, may
    /// begin: these atoms, the codes of the training samples, and codes of the further ones as new
    /// samples. `None` without atoms. The fit should be given this model's
    /// [`preparation`](Model::preparation), too: the atoms live in its space.
    ///
    /// # Errors
    /// If there are fewer samples than the model was fitted to, or the further ones cannot be coded.
    pub fn start(&self, raw: &Matrix<T>) -> Result<Option<Start<T>>> {
        let (known, all) = (self.codes.columns(), raw.columns());
        if all < known {
            return Err(Error::Shape {
                what: "samples, those of the earlier fit first".into(),
                expected: known,
                got: all,
            });
        }
        let Some(atoms) = &self.atoms else { return Ok(None) };
        let further: Vec<usize> = (known..all).collect();
        let mut codes = self.codes.clone().into_vec();
        if !further.is_empty() {
            codes.extend(self.code(raw.select_columns(&further))?.into_vec());
        }
        let codes = Matrix::from_columns(atoms.columns(), all, codes);
        Ok(codes.map(|codes| Start { atoms: atoms.clone(), codes }))
    }

    /// What the fit itself says of the training samples (labelled ones included): their own codes,
    /// judged by the classifier, or the shares of the classes that were found for them where samples
    /// vote. For other samples see [`Model::predict`].
    #[must_use]
    pub fn transduction(&self) -> Prediction<T> {
        match &self.decision {
            Decision::Linear(classifier) => self.judge(classifier, self.codes.clone()),
            Decision::Vote(vote) => self.said(vote.shares.clone(), self.codes.clone()),
        }
    }

    /// Classifies raw samples ($n\times N$), each independently of the others.
    ///
    /// # Errors
    /// If the number of features is wrong or a value is not finite.
    pub fn predict(&self, raw: Matrix<T>) -> Result<Prediction<T>> {
        let codes = self.code(raw)?;
        match &self.decision {
            Decision::Linear(classifier) => Ok(self.judge(classifier, codes)),
            Decision::Vote(vote) => {
                Ok(self.said(vote.on(&self.codes, &self.labels, &codes)?, codes))
            }
        }
    }

    fn judge(&self, classifier: &LinearClassifier<T>, codes: Matrix<T>) -> Prediction<T> {
        let mut scores = Matrix::of_each(classifier.weights.transposed(), &codes, None);
        for j in 0..scores.columns() {
            let column = scores.column_mut(j).iter_mut();
            column.zip(&classifier.bias).for_each(|(s, &b)| *s += b);
        }
        let probabilities = memberships(&scores, self.rule.sharpness);
        Prediction { probabilities, ..self.said(scores, codes) }
    }

    /// The classes of the highest scores; these are the probabilities, too.
    fn said(&self, scores: Matrix<T>, codes: Matrix<T>) -> Prediction<T> {
        let classes: Vec<usize> = scores.iter_columns().map(best).collect();
        Prediction {
            labels: classes.iter().map(|&class| self.classes()[class].clone()).collect(),
            classes,
            probabilities: scores.clone(),
            scores,
            codes,
        }
    }
}
