//! The classifier of a finished alternation, where it was not learnt with the codes or must be
//! fitted again.

use std::time::Instant;

use super::{Alternated, Coupled};
use crate::classifier::{Decision, MarginKnobs, best, margin};
use crate::codes::Coder;
use crate::fit::{Given, Learnt, Selection, Stop, Turns};
use crate::{Real, Result};

/// About how many labelled samples are coded as new ones to check the classifier on them.
const N_CHECKED: usize = 500;
/// Share of them that may be misclassified.
const MAX_MISCLASSIFIED: f64 = 0.1;
const REFITTED: &str = "labelled samples coded as new ones were often misclassified, so the classifier \
was fitted again on codes found without labels; a smaller `discrimination` may do better";

impl Coupled<'_> {
    /// The whole fit of a method whose classes act on the codes.
    ///
    /// # Errors
    /// As [`Coupled::learn`].
    pub fn learn_with_classes<T: Real>(
        &self,
        given: &Given<'_, T>,
        turns: &mut Turns<'_>,
    ) -> Result<Learnt<T>> {
        self.learn(given, turns, |run, turns| Ok((run.decide(given, turns)?, None)))
    }

    /// The whole fit: the graph, the alternation, and the decision that `decide` makes at its end, with
    /// what cross-validation chose for it.
    ///
    /// # Errors
    /// If the graph cannot be built, a value stops being finite, or the observer cancels before there
    /// is a result.
    pub fn learn<T: Real>(
        &self,
        given: &Given<'_, T>,
        turns: &mut Turns<'_>,
        decide: impl FnOnce(
            &mut Alternated<'_, T>,
            &mut Turns<'_>,
        ) -> Result<(Decision<T>, Option<Selection>)>,
    ) -> Result<Learnt<T>> {
        let mut beginning = self.connect(given, turns)?;
        let (start, graph) = (beginning.start.take(), beginning.connected.as_ref());
        let laplacian = graph.map(|connected| &connected.laplacian);
        let mut run = self.alternate(given, laplacian, start, turns)?;
        let (decision, selection) = decide(&mut run, turns)?;
        let (dictionary, stop) = run.into_parts();
        let tie = beginning.tie(self);
        Ok(Learnt { dictionary: Some(dictionary), tie, selection, ..Learnt::new(decision, stop) })
    }
}

impl<T: Real> Alternated<'_, T> {
    /// The linear decision. A classifier that was not learnt with the codes is fitted to them now.
    fn decide(&mut self, given: &Given<'_, T>, turns: &mut Turns<'_>) -> Result<Decision<T>> {
        let fallback = MarginKnobs::new();
        let knobs = self.coupled.classes.unwrap_or(&fallback);
        let is_learnt = knobs.discrimination > 0.0;
        let refit = is_learnt && self.stop != Stop::Cancelled && self.misclassifies_as_new(given);
        if self.stop != Stop::Cancelled && (refit || !is_learnt) {
            let started = Instant::now();
            if refit {
                turns.notice(REFITTED);
                let coder = Coder::Lasso { sparsity: self.coupled.sparsity };
                let (codes, atoms) = (&mut self.codes, &self.global.atoms);
                given.held().each_block(|first, block| {
                    let found = coder.code(block, atoms, None);
                    let place = first * found.rows();
                    codes.as_mut_slice()[place..place + found.as_slice().len()]
                        .copy_from_slice(found.as_slice());
                });
            }
            let (rho, codes) = (T::of(self.strength), &self.codes);
            let voters = (&self.ballot, given.labels.assigned());
            margin::fit_apart(
                &mut self.global.classifier,
                codes,
                voters,
                knobs.active_points,
                rho,
            )?;
            turns.classified(started);
        }
        Ok(Decision::linear(self.global.classifier.clone(), knobs.sharpness))
    }

    /// Whether the labelled samples, coded as new ones will be, are too often misclassified.
    ///
    /// Paper: without a graph the loss moves the codes of training samples, but nothing moves those
    /// of new ones. In many dimensions with few labels that does little harm; with few features the
    /// classifier may misclassify even the samples it was fitted to.
    fn misclassifies_as_new(&self, given: &Given<'_, T>) -> bool {
        if self.coupled.graph().is_some() {
            return false;
        }
        let known = given.labels.labelled();
        let checked: Vec<usize> =
            known.iter().copied().step_by(known.len() / N_CHECKED + 1).collect();
        let samples = given.held().select(&checked);
        let coder = Coder::Lasso { sparsity: self.coupled.sparsity };
        let codes = coder.code(&samples, &self.global.atoms, None);
        let scores = self.global.classifier.scores(&codes);
        let found = scores.iter_columns().map(best).zip(&checked);
        let assigned = given.labels.assigned();
        let wrong = found.filter(|(class, j)| assigned[**j] != Some(*class)).count();
        wrong as f64 > MAX_MISCLASSIFIED * checked.len() as f64
    }
}
