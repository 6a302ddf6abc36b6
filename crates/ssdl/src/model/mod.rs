//! 6. What comes out: a model that codes and classifies new samples.

mod any;
mod arrays;
mod checksum;
mod columns;
mod explain;
mod file;
mod framing;
mod header;
mod kept;
mod naming;
mod query;
mod read;
mod report;
mod seen;
mod tensor;

pub use any::AnyModel;
pub use arrays::{Array, load_arrays, save_arrays};
pub use columns::{Cells, SourceColumn};
pub use explain::{Explanation, Neighbour, Part};
pub use naming::Naming;
pub use query::representatives;
pub use report::FitReport;
pub use seen::{OutOfSample, Seen};

use std::sync::Arc;
use std::time::Instant;

use kept::Kept;

use crate::classifier::{Calibration, Decision, Known, LinearClassifier, Verdict, best};
use crate::codes::Coder;
use crate::fit::{Given, KeptSamples, Learnt, Record, Start, Tie};
use crate::graph::Attachment;
use crate::packed::Packed;
use crate::samples::prepare::Pipeline;
use crate::threads::Loops;
use crate::{Error, Labels, Matrix, Real, Result};

/// A fitted model: everything needed to classify raw samples, and what was learnt about the training
/// samples.
#[derive(Clone, Debug)]
pub struct Model<T> {
    method: String,
    knobs: Vec<(String, String)>,
    labels: Labels,
    preparation: Pipeline<T>,
    dictionary: Option<CodingRule<T>>,
    tie: Option<TieRule<T>>,
    codes: Packed<T>,
    /// The prepared training samples, or what the graph saw in their place, where they are needed
    /// again.
    training: Option<Kept<T>>,
    /// Whether the file has codes without their zeros.
    is_sparse: bool,
    decision: Decision<T>,
    /// How scores become probabilities; `None` leaves that to the decision.
    calibration: Option<Calibration>,
    image: Option<[usize; 2]>,
    naming: Naming,
    report: FitReport,
}

/// Atoms, and how samples are coded with them.
#[derive(Clone, Debug, PartialEq)]
struct CodingRule<T> {
    atoms: Matrix<T>,
    coder: Coder,
}

/// The graph's pull on new samples.
#[derive(Clone, Debug, PartialEq)]
struct TieRule<T> {
    /// β.
    manifold: f64,
    /// Whether the graph is between reconstructions instead of the samples themselves.
    denoise: bool,
    attachment: Attachment<T>,
}

/// The predictions for a set of samples.
#[derive(Clone, Debug)]
pub struct Prediction<T> {
    /// The class of each sample, by name.
    pub labels: Vec<String>,
    /// The class of each sample, by index into [`Model::classes`].
    pub classes: Vec<usize>,
    /// $C\times N$: linear scores, shares of the vote, or what the atoms of each class explain.
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

/// Where a model comes from.
pub(crate) struct Origin<T> {
    pub method: &'static str,
    pub knobs: Vec<(&'static str, String)>,
    pub preparation: Pipeline<T>,
    pub image: Option<[usize; 2]>,
    pub calibration: Option<Calibration>,
    pub started: Instant,
}

impl<T: Real> Model<T> {
    /// From what a method learnt.
    pub(crate) fn new(
        origin: Origin<T>,
        given: Given<'_, T>,
        learnt: Learnt<T>,
        record: Record,
    ) -> Self {
        let report = FitReport::new(&origin, &given, &learnt, record);
        let Given { samples, parked, labels, .. } = given;
        let keeps_samples = learnt.tie.is_some() || learnt.decision.needs_samples();
        let (tie, reconstructions) = learnt
            .tie
            .map(|Tie { manifold, attachment, reconstructions, kept }| {
                let denoise = reconstructions.is_some();
                (TieRule { manifold, denoise, attachment }, (reconstructions, kept))
            })
            .unzip();
        let (reconstructions, chosen) = reconstructions.unwrap_or((None, KeptSamples::All));
        let codes = learnt.dictionary.as_ref().map(|found| &found.codes);
        let codes = codes.filter(|_| chosen.are_codes_sparse(labels.len()));
        let is_sparse = codes.is_some_and(kept::has_many_zeros);
        // A decision that looks at the samples again needs all of them.
        let rule = tie.as_ref().map(|tie: &TieRule<T>| tie.attachment.rule);
        let rule = rule.filter(|_| !learnt.decision.needs_samples());
        let (dictionary, codes, training) = match learnt.dictionary {
            Some(found) => {
                let training = keeps_samples.then(|| match parked {
                    Some(parked) => Kept::of_disk(&parked.samples, chosen, rule),
                    None => Kept::new(reconstructions.map_or(samples, Arc::new), chosen, rule),
                });
                let rule = CodingRule { atoms: found.atoms, coder: found.coder };
                (Some(rule), found.codes, training)
            }
            None => (None, Arc::unwrap_or_clone(samples), None),
        };
        Self {
            method: origin.method.to_owned(),
            knobs: origin.knobs.into_iter().map(|(name, value)| (name.to_owned(), value)).collect(),
            labels,
            preparation: origin.preparation,
            dictionary,
            tie,
            codes: codes.into(),
            training,
            is_sparse,
            decision: learnt.decision,
            calibration: origin.calibration,
            image: origin.image,
            naming: Naming::default(),
            report,
        }
    }

    /// How scores become probabilities; `None` leaves that to the decision.
    #[must_use]
    pub fn calibration(&self) -> Option<&Calibration> {
        self.calibration.as_ref()
    }

    /// Name of the method.
    #[must_use]
    pub fn method(&self) -> &str {
        &self.method
    }

    /// Knobs the model was fitted with, after reductions.
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

    /// $D$: one atom per column, in the space of prepared samples; `None` if the method has no atoms
    /// and classifies the prepared samples as they are.
    #[must_use]
    pub fn atoms(&self) -> Option<&Matrix<T>> {
        self.dictionary.as_ref().map(|rule| &rule.atoms)
    }

    /// How new samples are tied to the training samples, by a graph or by votes; `None` if not at all.
    #[must_use]
    pub fn attachment(&self) -> Option<&Attachment<T>> {
        let voting = self.decision.voting().map(|vote| &vote.attachment);
        voting.or_else(|| self.tie.as_ref().map(|tie| &tie.attachment))
    }

    /// Codes of the training samples, $p\times N$: what the classifier sees. Without atoms these are
    /// the prepared samples themselves.
    #[must_use]
    pub fn codes(&self) -> &Matrix<T> {
        self.codes.whole()
    }

    /// $p$, the length of a code: the atoms, or the prepared features without atoms.
    #[must_use]
    pub fn n_codes(&self) -> usize {
        self.codes.rows()
    }

    /// How many training samples have a coefficient for each atom that is not zero. Unlike
    /// [`Model::codes`] it needs no more memory than the codes have in the file.
    #[must_use]
    #[inline(never)]
    pub fn uses_of_atoms(&self) -> Vec<usize> {
        match self.atoms() {
            Some(_) => self.codes.count_nonzeros(),
            None => Vec::new(),
        }
    }

    /// The training samples as the model keeps them, prepared (or their reconstructions, where the
    /// graph was built from those); `None` where it needs none for new samples, or keeps only some of
    /// them ([`Model::landmarks`]).
    #[must_use]
    pub fn training(&self) -> Option<&Matrix<T>> {
        self.packed_training().map(Packed::whole)
    }

    /// The same, not yet asked for.
    fn packed_training(&self) -> Option<&Packed<T>> {
        if self.dictionary.is_none() {
            return Some(&self.codes);
        }
        let all = self.training.as_ref().filter(|kept| kept.landmarks.is_none());
        all.map(|kept| &kept.samples)
    }

    /// The training samples that stand for all of them when new ones are tied to the graph; `None`
    /// where the model keeps all, or needs none.
    #[must_use]
    pub fn landmarks(&self) -> Option<&[u32]> {
        self.training.as_ref().and_then(|kept| kept.landmarks.as_deref())
    }

    /// How codes become classes.
    #[must_use]
    pub fn decision(&self) -> &Decision<T> {
        &self.decision
    }

    /// The linear classifier on codes; `None` where something else decides.
    #[must_use]
    pub fn classifier(&self) -> Option<&LinearClassifier<T>> {
        self.decision.classifier()
    }

    /// Height and width of a sample, if samples are images.
    #[must_use]
    pub fn image(&self) -> Option<[usize; 2]> {
        self.image
    }

    /// How the fit went.
    #[must_use]
    pub fn report(&self) -> &FitReport {
        &self.report
    }

    /// Where another fit of the same samples, with other labels or with more samples after them, may
    /// begin: these atoms, the codes of the training samples, and codes of the further ones as new
    /// samples. `None` without atoms. The fit should be given this model's
    /// [`preparation`](Model::preparation), too: the atoms live in its space.
    ///
    /// # Errors
    /// If there are fewer samples than the model was fitted to, or the further ones cannot be coded.
    #[inline(never)]
    pub fn start(&self, raw: &Matrix<T>) -> Result<Option<Start<T>>> {
        let (known, all) = (self.codes.columns(), raw.columns());
        if all < known {
            return Err(Error::Shape {
                what: "samples, those of the earlier fit first".into(),
                expected: known,
                got: all,
            });
        }
        let Some(atoms) = self.atoms() else { return Ok(None) };
        let further: Vec<usize> = (known..all).collect();
        let mut codes = self.codes().clone().into_vec();
        if !further.is_empty() {
            codes.extend(self.code(raw.select_columns(&further))?.into_vec());
        }
        let codes = Matrix::from_columns(atoms.columns(), all, codes);
        Ok(codes.map(|codes| Start { atoms: atoms.clone(), codes }))
    }

    /// The predictions of the fit itself for the training samples (labelled ones included): their own
    /// codes, classified, or the shares of the classes found for them where samples vote. For other
    /// samples see [`Model::predict`].
    #[must_use]
    #[inline(never)]
    pub fn transduction(&self) -> Prediction<T> {
        self.prediction(self.decision.of_training(&self.known()), self.codes().clone())
    }

    /// The classes that the fit found for its samples, without a copy of their codes.
    pub(crate) fn found_classes(&self) -> Vec<usize> {
        let verdict = self.decision.of_training(&self.known());
        verdict.scores.iter_columns().map(best).collect()
    }

    fn known(&self) -> Known<'_, T> {
        Known {
            atoms: self.atoms(),
            codes: &self.codes,
            samples: self.packed_training().map(|kept| kept as _),
            labels: &self.labels,
        }
    }

    fn prediction(&self, mut verdict: Verdict<T>, codes: Matrix<T>) -> Prediction<T> {
        if let Some(calibration) = &self.calibration {
            calibration.apply(&self.decision, &mut verdict);
        }
        let Verdict { scores, probabilities } = verdict;
        let samples = (0..scores.columns()).runs_of(1024);
        let classes: Vec<usize> = samples.gather(|j| best(scores.column(j)));
        let names = classes.iter().runs_of(1024);
        let labels = names.gather(|&class| self.classes()[class].clone());
        Prediction { labels, classes, scores, probabilities, codes }
    }
}
