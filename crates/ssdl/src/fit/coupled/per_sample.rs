//! Samples in memory (or on disk, read block by block), with all that the loop keeps for each of them.

use super::accelerate::extrapolate;
use super::holder::{FIRST_CODES, FirstCodes, Global, Holder, Holding, Weights};
use crate::classifier::margin::Pull;
use crate::classifier::{Active, ActivePoints, Ballot, LinearClassifier, Shares, best, margin};
use crate::codes::{Coding, Descent, Lasso, Margin, Pulled, Pursuit};
use crate::dictionary::{Statistics, revive_from};
use crate::graph::Laplacian;
use crate::matrix::absolute_sum;
use crate::samples::{Held, Labels};
use crate::sparse::Csr;
use crate::{Matrix, Real, Result};

/// Everything with a column for each of the $N$ samples.
pub(super) struct PerSample<'a, T> {
    samples: Held<'a, T>,
    labels: &'a Labels,
    laplacian: Option<&'a Laplacian<T>>,
    coder: Box<dyn Descent<T>>,
    /// $A$, $p\times N$.
    codes: Matrix<T>,
    /// Codes at the start of this iteration, without their zeros.
    start: Option<Csr<T>>,
    /// $W^\top A+b$, $C\times N$.
    scores: Matrix<T>,
    ballot: Ballot<T>,
    /// $u_jP^r$.
    shares: Shares<T>,
    /// The loss as a quadratic, while the classes act on the codes.
    active: Option<Active<T>>,
    /// The class of the highest score at the end of the last iteration.
    classes: Vec<usize>,
    /// $\lVert X\rVert^2$.
    energy: f64,
}

impl<'a, T: Real> PerSample<'a, T> {
    pub fn new(holding: Holding<'a, T>, codes: FirstCodes<'_, T>) -> Self {
        let Holding { samples, energy, labels, laplacian, ballot, .. } = holding;
        let codes = match codes {
            FirstCodes::Given(codes) => codes,
            FirstCodes::Lasso(atoms) => first_codes(samples, atoms, holding.sparsity),
        };
        Self {
            samples,
            labels,
            laplacian,
            coder: holding.solver.codes(holding.seed),
            start: None,
            scores: Matrix::zeros(0, 0),
            shares: Shares { of_class: Matrix::zeros(0, 0), total: Vec::new() },
            ballot,
            active: None,
            classes: Vec::new(),
            codes,
            energy,
        }
    }
}

/// Lasso codes on the first atoms.
pub(super) fn first_codes<T: Real>(
    samples: Held<'_, T>,
    atoms: &Matrix<T>,
    sparsity: f64,
) -> Matrix<T> {
    let rhs = samples.correlations(atoms);
    let mut codes = Matrix::zeros(atoms.columns(), samples.columns());
    let lasso = Lasso { solver: FIRST_CODES, ..Lasso::new(sparsity) };
    lasso.code(Pulled { gram: &atoms.gram(), rhs, shifts: Vec::new() }, &mut codes);
    codes
}

impl<T: Real> Holder<T> for PerSample<'_, T> {
    fn codes_of(&self, chosen: &[usize]) -> Matrix<T> {
        self.codes.select_columns(chosen)
    }

    fn begin(&mut self, classifier: &LinearClassifier<T>) {
        self.scores = classifier.scores(&self.codes);
        self.shares = self.ballot.shares(&self.scores, self.labels.assigned());
        self.classes = self.scores.iter_columns().map(best).collect();
    }

    fn vote(&mut self, kind: ActivePoints) {
        self.shares = self.ballot.shares(&self.scores, self.labels.assigned());
        self.active = Some(Active::new(kind, &self.scores, &self.shares));
    }

    fn code(&mut self, global: &Global<T>, weights: Weights, passes: usize) -> Option<f64> {
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
            energy = self.coder.code(&problem, &mut self.codes).graph_energy;
        }
        if self.active.is_some() {
            self.scores = global.classifier.scores(&self.codes);
        }
        energy
    }

    fn extrapolate(&mut self, is_last: bool) -> bool {
        let start = Csr::of_columns(&self.codes);
        let previous = self.start.replace(start).filter(|_| !is_last);
        if let Some(previous) = &previous {
            extrapolate(&mut self.codes, previous);
        }
        previous.is_some()
    }

    fn go_back(&mut self) {
        if let Some(start) = &self.start {
            start.write_columns(&mut self.codes);
        }
    }

    fn statistics(&self) -> Statistics<T> {
        Statistics::of_held(self.samples, &self.codes, self.energy)
    }

    fn revive(&self, atoms: &mut Matrix<T>, moments: &Matrix<T>, radius: T) -> (usize, usize) {
        revive_from(atoms, (self.samples, self.energy), &self.codes, moments, radius)
    }

    fn learn_classifier(
        &mut self,
        classifier: &mut LinearClassifier<T>,
        kind: ActivePoints,
        pull: Pull<'_, T>,
    ) -> Result<()> {
        if let Some(active) = &self.active {
            let points = (kind, active, &self.shares);
            self.scores = margin::update(classifier, &self.codes, points, pull, margin::ROUNDS)?;
        }
        Ok(())
    }

    fn count_flips(&mut self) -> usize {
        let now: Vec<usize> = self.scores.iter_columns().map(best).collect();
        let unlabelled = self.labels.assigned().iter().map(Option::is_none);
        let pairs = now.iter().zip(&self.classes).zip(unlabelled);
        let flips = pairs.filter(|((new, old), free)| *free && new != old).count();
        self.classes = now;
        flips
    }

    fn size(&self) -> f64 {
        absolute_sum(self.codes.as_slice())
    }

    fn graph_energy(&self) -> f64 {
        self.laplacian.map_or(0.0, |laplacian| laplacian.energy(&self.codes))
    }

    fn loss(&self) -> f64 {
        self.shares.loss(&self.scores)
    }

    fn quadratic(&self) -> f64 {
        self.active.as_ref().map_or(0.0, |active| active.value(&self.scores))
    }

    fn check(&self) -> Result<()> {
        self.samples.check()
    }

    fn into_parts(self: Box<Self>) -> Result<(Matrix<T>, Ballot<T>)> {
        Ok((self.codes, self.ballot))
    }
}
