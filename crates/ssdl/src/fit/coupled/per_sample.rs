//! The two kinds of arrays that the loop keeps: small ones shared by all samples, and large ones with
//! a column for each sample.
//!
//! A step sends the small arrays to where the samples are, works there, and gets sums back. So only
//! [`PerSample`] has to know where samples are stored.

use super::accelerate::extrapolate;
use crate::classifier::{
    Active, ActivePoints, Ballot, LinearClassifier, MarginKnobs, Shares, best, margin,
};
use crate::codes::{Coding, Descent, Margin};
use crate::dictionary::{Statistics, revive_from};
use crate::graph::Laplacian;
use crate::matrix::absolute_sum;
use crate::samples::{Held, Labels};
use crate::sparse::Csr;
use crate::{Matrix, Real, Result};

/// Small: $n\times p$, $p\times p$, $p\times C$.
pub(crate) struct Global<T> {
    /// $D$.
    pub atoms: Matrix<T>,
    /// $D^\top D$.
    pub gram: Matrix<T>,
    /// $W$, $b$.
    pub classifier: LinearClassifier<T>,
}

/// Large: everything with a column for each of the $N$ samples.
pub(crate) struct PerSample<'a, T> {
    /// $X$, $n\times N$.
    pub samples: Held<'a, T>,
    /// The classes of labelled samples.
    pub labels: &'a Labels,
    /// The graph; `None` leaves the codes uncoupled.
    pub laplacian: Option<&'a Laplacian<T>>,
    /// $A$, $p\times N$.
    pub codes: Matrix<T>,
    /// Codes at the start of the last iteration, without their zeros.
    previous: Option<Csr<T>>,
    /// $W^\top A+b$, $C\times N$.
    scores: Matrix<T>,
    /// How the samples vote.
    pub ballot: Ballot<T>,
    /// $u_jP^r$.
    shares: Shares<T>,
    /// The loss as a quadratic, while the classes act on the codes.
    active: Option<Active<T>>,
    /// The class of the highest score at the end of the last iteration.
    classes: Vec<usize>,
    /// $\lVert X\rVert^2$.
    pub energy: f64,
}

/// The weights of the terms that the codes depend on.
#[derive(Clone, Copy)]
pub(crate) struct Weights {
    /// λ.
    pub sparsity: f64,
    /// β.
    pub manifold: f64,
    /// γ.
    pub discrimination: f64,
}

impl<'a, T: Real> PerSample<'a, T> {
    pub fn new(
        (samples, labels, energy): (Held<'a, T>, &'a Labels, f64),
        laplacian: Option<&'a Laplacian<T>>,
        codes: Matrix<T>,
        global: &Global<T>,
        ballot: Ballot<T>,
    ) -> Self {
        let scores = global.classifier.scores(&codes);
        Self {
            samples,
            labels,
            laplacian,
            previous: None,
            shares: ballot.shares(&scores, labels.assigned()),
            ballot,
            active: None,
            classes: scores.iter_columns().map(best).collect(),
            codes,
            scores,
            energy,
        }
    }

    /// Class memberships and active points at the current scores.
    pub fn vote(&mut self, knobs: &MarginKnobs) {
        self.shares = self.ballot.shares(&self.scores, self.labels.assigned());
        self.active = Some(Active::new(knobs.active_points, &self.scores, &self.shares));
    }

    /// Minimises over the codes from their present values; returns the graph's energy, if known.
    pub fn code(
        &mut self,
        global: &Global<T>,
        weights: Weights,
        solver: &dyn Descent<T>,
        passes: usize,
    ) -> Option<f64> {
        let LinearClassifier { weights: w, bias } = &global.classifier;
        let cross = match self.active {
            Some(_) => Matrix::of_product(w.view(), w.transposed()),
            None => Matrix::zeros(0, 0),
        };
        let problem = Coding {
            samples: self.samples,
            atoms: &global.atoms,
            gram: &global.gram,
            graph: self.laplacian.map(|laplacian| (T::of(weights.manifold), laplacian)),
            margin: self.active.as_ref().map(|active| Margin {
                discrimination: T::of(weights.discrimination),
                weights: w,
                bias,
                cross: &cross,
                weight: &active.weight,
                target: &active.target,
            }),
            sparsity: T::of(weights.sparsity),
        };
        let mut energy = None;
        for _ in 0..passes {
            energy = solver.code(&problem, &mut self.codes).graph_energy;
        }
        if self.active.is_some() {
            self.scores = global.classifier.scores(&self.codes);
        }
        energy
    }

    /// Continues the last change of the codes; returns the codes before, without their zeros, and whether
    /// they moved.
    pub fn extrapolate(&mut self, is_last: bool) -> (Csr<T>, bool) {
        let start = Csr::of_columns(&self.codes);
        let previous = self.previous.take().filter(|_| !is_last);
        if let Some(previous) = &previous {
            extrapolate(&mut self.codes, previous);
        }
        (start, previous.is_some())
    }

    /// Goes back to the codes from the start of this iteration.
    pub fn go_back(&mut self, start: &Csr<T>) {
        start.write_columns(&mut self.codes);
    }

    /// Keeps the codes from the start of this iteration.
    pub fn remember(&mut self, start: Csr<T>) {
        self.previous = Some(start);
    }

    /// The sums that the atoms are learnt from.
    pub fn statistics(&self) -> Statistics<T> {
        Statistics::of_held(self.samples, &self.codes, self.energy)
    }

    /// Unused atoms become badly reconstructed samples; returns how many were unused, and how many
    /// were replaced.
    pub fn revive(&self, atoms: &mut Matrix<T>, moments: &Matrix<T>, radius: T) -> (usize, usize) {
        revive_from(atoms, (self.samples, self.energy), &self.codes, moments, radius)
    }

    /// Updates the classifier on the active points of this iteration, and the scores with it.
    ///
    /// # Errors
    /// If its system is singular.
    pub fn learn_classifier(
        &mut self,
        global: &mut Global<T>,
        kind: ActivePoints,
        rho: T,
    ) -> Result<()> {
        if let Some(active) = &self.active {
            let points = (kind, active, &self.shares);
            margin::update(&mut global.classifier, &self.codes, points, rho, margin::ROUNDS)?;
            self.scores = global.classifier.scores(&self.codes);
        }
        Ok(())
    }

    /// Unlabelled samples whose class has changed since the last call.
    pub fn count_flips(&mut self) -> usize {
        let now: Vec<usize> = self.scores.iter_columns().map(best).collect();
        let unlabelled = self.labels.assigned().iter().map(Option::is_none);
        let pairs = now.iter().zip(&self.classes).zip(unlabelled);
        let flips = pairs.filter(|((new, old), free)| *free && new != old).count();
        self.classes = now;
        flips
    }

    /// $\lVert A\rVert_1$.
    pub fn size(&self) -> f64 {
        absolute_sum(self.codes.as_slice())
    }

    /// $\operatorname{tr}(ALA^\top)$.
    pub fn graph_energy(&self) -> f64 {
        self.laplacian.map_or(0.0, |laplacian| laplacian.energy(&self.codes))
    }

    /// The true loss at the current scores.
    pub fn loss(&self) -> f64 {
        self.shares.loss(&self.scores)
    }

    /// The quadratic that replaces the loss in this iteration; zero while the classes do not act.
    pub fn quadratic(&self) -> f64 {
        self.active.as_ref().map_or(0.0, |active| active.value(&self.scores))
    }
}
