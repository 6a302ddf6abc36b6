//! A finished classifier that leans on a linear classifier of the samples.
//!
//! $$\min_{W,b}\sum_j\sum_kP_{kj}^re_k(W^\top a_j+b)+\rho'(\lVert W-D^\top V\rVert^2+\lVert b-v\rVert^2).$$
//!
//! Samples are $x\approx Da$, so a classifier $V^\top x+v$ of samples is $(D^\top V)^\top a+v$ of codes. There are more
//! atoms than features where features are few, and a few noisy labels then say more about $V$ than about $W$.
//!
//! Paper: the last term of the objective (μ) draws the classifier to zero. So it does here, too, until the codes are
//! finished, and to the end where neighbours predict labels better than a linear classifier, where `ridge` is given,
//! and with `voting=paper`.

use super::{Alternation, Coupled};
use crate::classifier::margin::{Pull, ROUNDS};
use crate::classifier::{Ballot, LinearClassifier, MarginKnobs, Outlook, ridge};
use crate::fit::Given;
use crate::{Matrix, Real, Result};

/// ρ'/ρ of a classifier that leans as far as it can.
const MOST: f64 = 10.0;

/// What a classifier of codes leans on.
pub(super) struct Lean<T> {
    /// $V$ and $v$.
    classifier: LinearClassifier<T>,
    /// ρ'.
    rho: f64,
}

impl Coupled<'_> {
    /// A ridge classifier of the labelled samples, which count as in the fit; `None` where nothing leans. Without a
    /// graph, codes of new samples differ from those that the classifier is fitted to, and it is fitted again anyway.
    ///
    /// # Errors
    /// If values are not finite.
    pub(super) fn lean<T: Real>(
        &self,
        given: &Given<'_, T>,
        outlook: &Outlook,
        sharpness: f64,
    ) -> Result<Option<Lean<T>>> {
        if outlook.lean <= 0.0 || self.graph().is_none() {
            return Ok(None);
        }
        let known = given.labels.labelled();
        // Samples in several parts vote with weights that are not here; those of the labels are.
        let ballot = Ballot::new(outlook.clone(), sharpness, &given.labels, &given.weights);
        let weights: Vec<T> = known.iter().map(|&j| ballot.weights()[j]).collect();
        let classes = given.labels.known_classes();
        let n_classes = given.labels.classes().len();
        let strength = T::of(outlook.linear_strength);
        let samples = given.held().select(&known);
        let mut classifier = ridge(&samples, &classes, &weights, n_classes, strength)?;
        classifier.silence_absent(&given.labels.counts());
        Ok(Some(Lean { classifier, rho: outlook.strength * MOST.powf(outlook.lean) }))
    }
}

impl<T: Real> Alternation<'_, T> {
    /// Fits the classifier once more to the finished codes: memberships and classifier in turn.
    ///
    /// # Errors
    /// If a system is singular or a value is not finite.
    pub(super) fn lean_on_samples(&mut self, knobs: &MarginKnobs) -> Result<()> {
        let Some(Lean { classifier, rho }) = self.lean.take() else { return Ok(()) };
        let centre = LinearClassifier {
            weights: Matrix::of_product(self.global.atoms.transposed(), classifier.weights.view()),
            bias: classifier.bias,
        };
        let pull = Pull { rho: T::of(rho), centre: Some(&centre) };
        for _ in 0..ROUNDS {
            self.holder.vote(knobs.active_points);
            let own = &mut self.global.classifier;
            self.holder.learn_classifier(own, knobs.active_points, pull)?;
        }
        Ok(())
    }
}
