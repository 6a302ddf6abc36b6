//! The two kinds of things that the loop keeps: small ones that are the same for all samples, and
//! large ones with a column for each sample.
//!
//! A step sends the small things to where the samples are, works there, and gets sums back. So only
//! [`PerSample`] has to know where samples live.

use super::accelerate::carry_on;
use crate::classifier::{Active, LinearClassifier, MarginKnobs, Shares, best, margin};
use crate::codes::{Coding, Descent, Margin};
use crate::dictionary::{Statistics, revive};
use crate::graph::Laplacian;
use crate::matrix::absolute_sum;
use crate::samples::Labels;
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
    pub samples: &'a Matrix<T>,
    /// The classes of labelled samples.
    pub labels: &'a Labels,
    /// The graph; `None` leaves the codes uncoupled.
    pub laplacian: Option<&'a Laplacian<T>>,
    /// $A$, $p\times N$.
    pub codes: Matrix<T>,
    /// Codes at the start of the last turn.
    previous: Option<Matrix<T>>,
    /// $W^\top A+b$, $C\times N$.
    scores: Matrix<T>,
    /// $P^r$.
    shares: Shares<T>,
    /// The loss as a quadratic, while the classes take part in the codes.
    active: Option<Active<T>>,
    /// The class of the highest score at the end of the last turn.
    classes: Vec<usize>,
    /// $\lVert X\rVert^2$.
    pub energy: f64,
}

/// The weights of the terms that codes answer to.
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
        (samples, labels): (&'a Matrix<T>, &'a Labels),
        laplacian: Option<&'a Laplacian<T>>,
        codes: Matrix<T>,
        global: &Global<T>,
        sharpness: f64,
    ) -> Self {
        let scores = global.classifier.scores(&codes);
        Self {
            samples,
            labels,
            laplacian,
            previous: None,
            shares: Shares::new(&scores, labels.assigned(), sharpness),
            active: None,
            classes: scores.iter_columns().map(best).collect(),
            codes,
            scores,
            energy: samples.squared_norm(),
        }
    }

    /// Class memberships and active points at the current scores.
    pub fn vote(&mut self, knobs: &MarginKnobs) {
        self.shares = Shares::new(&self.scores, self.labels.assigned(), knobs.sharpness);
        self.active = Some(Active::new(knobs.active_points, &self.scores, &self.shares));
    }

    /// Minimises the codes from where they stand; returns the graph's energy, if the solver knows it.
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

    /// Moves the codes on the way they went in the last turn; gives back where they stood, and
    /// whether they moved.
    pub fn carry_on(&mut self, is_last: bool) -> (Matrix<T>, bool) {
        let start = self.codes.clone();
        let previous = self.previous.take().filter(|_| !is_last);
        if let Some(previous) = &previous {
            carry_on(&mut self.codes, previous);
        }
        (start, previous.is_some())
    }

    /// Where the codes stood when this turn began.
    pub fn remember(&mut self, start: Matrix<T>) {
        self.previous = Some(start);
    }

    /// The sums that the atoms are learnt from.
    pub fn statistics(&self) -> Statistics<T> {
        Statistics::of(self.samples, &self.codes, self.energy)
    }

    /// Unused atoms become badly reconstructed samples; how many were unused, and how many were
    /// replaced.
    pub fn revive(&self, atoms: &mut Matrix<T>, moments: &Matrix<T>, radius: T) -> (usize, usize) {
        revive(atoms, self.samples, &self.codes, moments, radius)
    }

    /// Updates the classifier on the active points of this turn, and the scores with it.
    ///
    /// # Errors
    /// If its system is singular.
    pub fn learn_classifier(&mut self, global: &mut Global<T>, knobs: &MarginKnobs) -> Result<()> {
        if let Some(active) = &self.active {
            let points = (knobs.active_points, active, &self.shares);
            let rho = T::of(knobs.rho());
            margin::update(&mut global.classifier, &self.codes, points, rho, margin::ROUNDS)?;
            self.scores = global.classifier.scores(&self.codes);
        }
        Ok(())
    }

    /// Unlabelled samples whose class is another than when this was last asked.
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

    /// The quadratic that stands for the loss in this turn; zero while the classes take no part.
    pub fn quadratic(&self) -> f64 {
        self.active.as_ref().map_or(0.0, |active| active.value(&self.scores))
    }
}
