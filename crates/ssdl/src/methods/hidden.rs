//! Labels hidden in turn: what a method makes of samples whose labels it has not seen.
//!
//! Hidden samples stay in the fit, unlabelled, as the practitioner's other samples do. All fits
//! begin cold.

use std::sync::Arc;

use super::any::AnyLearner;
use crate::classifier::svm::stratified_folds;
use crate::classifier::{Calibration, Expected};
use crate::fit::{Given, Learnt, Sizes, Stop, Turns, guessing};
use crate::samples::split;
use crate::{Error, Labels, Matrix, Real, Result};

/// Samples that the fits with hidden labels take at most: all labelled ones, and some of the others.
const MAX_SAMPLES: usize = 3000;

/// Fits with labels hidden, for probabilities.
const FOLDS: usize = 3;

/// Unlabelled samples that are looked at beside the hidden ones, at most.
const MAX_OPEN: usize = 1000;

/// Which labels are hidden together.
pub(super) struct Hidden {
    /// Samples whose labels are hidden in turn.
    pub places: Vec<usize>,
    /// Some samples that nobody labelled.
    open: Vec<usize>,
    fold_of: Vec<usize>,
    folds: usize,
}

impl Hidden {
    /// The labels of each class are spread over the folds; the only label of a class is never hidden.
    /// `None` if that leaves nothing to hide.
    pub fn new(labels: &Labels, folds: usize, seed: u64) -> Option<Self> {
        let counts = labels.counts();
        let folds = counts.iter().copied().filter(|&count| count > 1).min()?.min(folds);
        let class_of = |place: usize| labels.assigned()[place].filter(|&class| counts[class] > 1);
        let places: Vec<usize> = (0..labels.len()).filter(|&at| class_of(at).is_some()).collect();
        let classes: Vec<usize> = places.iter().filter_map(|&place| class_of(place)).collect();
        // By first appearance, so that the folds do not depend on the names of classes.
        let mut seen: Vec<usize> = Vec::new();
        let mut order = |class: usize| {
            seen.iter().position(|&known| known == class).unwrap_or_else(|| {
                seen.push(class);
                seen.len() - 1
            })
        };
        let classes: Vec<usize> = classes.into_iter().map(&mut order).collect();
        let fold_of = stratified_folds(&classes, folds, seed);
        Some(Self { places, open: some_open(labels), fold_of, folds })
    }

    /// The classes of the hidden samples.
    pub fn truth(&self, labels: &Labels) -> Vec<usize> {
        self.places.iter().filter_map(|&place| labels.assigned()[place]).collect()
    }

    /// The logits that a method gives to samples whose labels it does not see, as multiples of the spread
    /// of all logits of the fit.
    ///
    /// # Errors
    /// If a fit fails, or the observer cancels.
    pub fn logits<T: Real>(
        &self,
        method: &dyn AnyLearner<T>,
        given: &Given<'_, T>,
        turns: &mut Turns<'_>,
    ) -> Result<Predicted> {
        let mut all = Matrix::zeros(given.labels.classes().len(), self.places.len());
        let mut open = Vec::with_capacity(self.folds);
        for fold in 0..self.folds {
            let mut assigned = given.labels.assigned().to_vec();
            let own = (0..self.places.len()).filter(|&at| self.fold_of[at] == fold);
            let own: Vec<usize> = own.collect();
            let out: Vec<usize> = own.iter().map(|&at| self.places[at]).collect();
            out.iter().for_each(|&place| assigned[place] = None);
            let part = Given {
                samples: given.samples.clone(),
                parked: None,
                lengths: given.lengths.clone(),
                labels: Labels::new(given.labels.classes().to_vec(), assigned)?,
                weights: given.weights.without_classes(&out, &given.labels),
                graph: given.graph,
                start: None,
                crew: None,
                seed: given.seed,
            };
            let learnt =
                turns.aside(|turns| method.cut(&part.sizes(), &mut |_| {}).learn(&part, turns))?;
            if learnt.stop == Stop::Cancelled {
                return Err(Error::Cancelled);
            }
            let logits = Calibration::logits(&learnt.decision, &learnt.verdict(&part));
            let spread = Calibration::spread(&logits);
            let mut others = logits.select_columns(&self.open);
            others.as_mut_slice().iter_mut().for_each(|z| *z /= spread);
            open.push(others);
            for at in own {
                let found = logits.column(self.places[at]).iter().map(|z| z / spread);
                all.column_mut(at).iter_mut().zip(found).for_each(|(out, z)| *out = z);
            }
        }
        Ok(Predicted { hidden: all, open })
    }
}

/// What fits with hidden labels make of samples.
pub(super) struct Predicted {
    /// Logits of the hidden samples ($C\times M$), in the order of [`Hidden::places`], each from the fit
    /// that did not see its label.
    pub hidden: Matrix<f64>,
    /// For each fit, logits of the same unlabelled samples.
    pub open: Vec<Matrix<f64>>,
}

/// At most 1,000 unlabelled samples, evenly spread.
pub(super) fn some_open(labels: &Labels) -> Vec<usize> {
    let all = labels.unlabelled();
    let step = all.len().div_ceil(MAX_OPEN).max(1);
    all.into_iter().step_by(step).collect()
}

/// At most 3,000 of the samples, in their order: the labelled ones first, then others by lot. `None` if
/// that is all of them, or if a given graph ties them to each other.
pub(super) fn fewer<'a, T: Real>(given: &Given<'a, T>) -> Option<Given<'a, T>> {
    let chosen = split::excerpt(&given.labels, MAX_SAMPLES, given.seed);
    let chosen = match chosen.filter(|_| given.graph.is_none()) {
        Some(chosen) => chosen,
        // Fits with hidden labels have their samples in memory.
        None if given.parked.is_some() => (0..given.labels.len()).collect(),
        None => return None,
    };
    let all = chosen.len() == given.labels.len();
    Some(Given {
        samples: Arc::new(given.held().select(&chosen)),
        parked: None,
        lengths: given.lengths.as_ref().map(|all| chosen.iter().map(|&j| all[j]).collect()),
        labels: given.labels.select(&chosen),
        weights: given.weights.select(&chosen),
        graph: given.graph.filter(|_| all),
        start: None,
        crew: None,
        seed: given.seed,
    })
}

/// How the scores of a method become probabilities: three fits with labels hidden in turn.
///
/// # Errors
/// If the observer cancels.
pub(super) fn calibrate<T: Real>(
    method: &dyn AnyLearner<T>,
    (given, learnt): (&Given<'_, T>, &Learnt<T>),
    turns: &mut Turns<'_>,
) -> Result<Calibration> {
    let spread =
        Calibration::spread(&Calibration::logits(&learnt.decision, &learnt.verdict(given)));
    let smaller = fewer(given);
    let given = smaller.as_ref().unwrap_or(given);
    let Some(hidden) = Hidden::new(&given.labels, FOLDS, given.seed) else {
        return Ok(Calibration::unknown());
    };
    match hidden.logits(method, given, turns) {
        Ok(Predicted { hidden: logits, .. }) => {
            let expected = Expected::of_scores(logits.rows());
            let truth = hidden.truth(&given.labels);
            guessing(&logits, &truth).iter().for_each(|sentence| turns.notice(sentence));
            Ok(Calibration::fit(&logits, &truth, expected).stretched(spread))
        }
        Err(Error::Cancelled) => Err(Error::Cancelled),
        // The fit with all labels is there: only what it can promise is less.
        Err(_) => Ok(Calibration::unknown()),
    }
}

/// Peak bytes of a fit with hidden labels, beside those of the fit itself.
pub(super) fn bytes<T: Real>(method: &dyn AnyLearner<T>, sizes: &Sizes) -> u64 {
    let n_samples = sizes.n_samples.min(MAX_SAMPLES);
    let n_labelled = sizes.n_labelled.min(n_samples);
    method.bytes(&Sizes { n_samples, n_labelled, are_parked: false, ..*sizes })
}
