//! Many parts as one: a step goes to all of them, their sums come back and are added in the order of the parts.
//!
//! Parts change their codes side by side, each as if the others stood still. Together that can be too much: then all
//! take back half of their step, and half again, down to one part in so many, which always descends (the objective
//! is convex in the codes, and the mean of the steps of single parts is such a step).

use std::sync::Mutex;

use super::crew::{Crew, Round};
use super::message::{Enter, Step, Task};
use super::state::VoteRule;
use super::wire::{Reader, damaged};
use crate::classifier::{ActivePoints, Balance, LinearClassifier};
use crate::codes::Coordinate;
use crate::dictionary::{Statistics, replace, residual_floor, unused};
use crate::fit::coupled::{Global, Weights};
use crate::sparse::Csr;
use crate::{Error, Matrix, Real, Result};

/// Relative rise of the objective that is no more than rounding.
const ROUNDING: f64 = 1e-8;

/// What the parts have measured, added up.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Sums {
    /// $\operatorname{tr}(ALA^\top)$.
    pub graph_energy: f64,
    /// $\lVert A\rVert_1$.
    pub size: f64,
    /// The true loss.
    pub loss: f64,
    /// The quadratic in its place.
    pub quadratic: f64,
}

/// All parts of a fit.
pub(crate) struct Parts<'a, T> {
    crew: &'a dyn Crew,
    balance: Balance,
    solver: Coordinate,
    n_samples: usize,
    pub(super) sums: Sums,
    statistics: Statistics<T>,
    enter: Enter,
    /// Whether an iteration has begun before, whose change can be continued.
    has_previous: bool,
    pub(super) flips: usize,
    failure: Mutex<Option<Error>>,
}

impl<'a, T: Real> Parts<'a, T> {
    /// First codes, memberships and sums.
    ///
    /// # Errors
    /// If a part cannot begin.
    pub fn begin(
        crew: &'a dyn Crew,
        global: &Global<T>,
        (rule, sparsity): (VoteRule<T>, f64),
        solver: Coordinate,
    ) -> Result<Self> {
        let (n, p) = (global.atoms.rows(), global.atoms.columns());
        let mut parts = Self {
            crew,
            balance: rule.balance.clone(),
            solver,
            n_samples: crew.counts().0,
            sums: Sums::default(),
            statistics: Statistics::none(n, p),
            enter: Enter::Here,
            has_previous: false,
            flips: 0,
            failure: Mutex::new(None),
        };
        parts.ask(&Step::Begin { global: global.clone(), rule, sparsity }, |_| Ok(()))?;
        parts.vote_as(None)?;
        parts.measure()?;
        Ok(parts)
    }

    /// Sends a step to all parts and reads their replies.
    fn ask<R>(
        &self,
        step: &Step<T>,
        read: impl Fn(&mut Reader<'_>) -> Result<R>,
    ) -> Result<Vec<R>> {
        let round = Round { exchanges: step.exchanges(), changes: step.changes() };
        let replies = self.crew.step(&step.to_bytes(), round)?;
        if replies.len() != self.crew.n_parts() {
            return Err(damaged());
        }
        replies.iter().map(|reply| read(&mut Reader::new(reply))).collect()
    }

    /// Keeps the first failure for [`check`](Self::check); after it nothing is asked any more.
    pub(super) fn attempt(&mut self, act: impl FnOnce(&mut Self) -> Result<()>) {
        if self.check_quietly() {
            return;
        }
        if let Err(error) = act(self)
            && let Ok(mut failure) = self.failure.lock()
        {
            failure.get_or_insert(error);
        }
    }

    fn check_quietly(&self) -> bool {
        self.failure.lock().is_ok_and(|failure| failure.is_some())
    }

    /// Whether all steps so far have succeeded.
    ///
    /// # Errors
    /// The first that failed.
    pub fn check(&self) -> Result<()> {
        let failure = self.failure.lock().ok().and_then(|mut failure| failure.take());
        failure.map_or(Ok(()), Err)
    }

    /// Memberships and, with a kind, active points at the current scores.
    pub fn vote_as(&mut self, kind: Option<ActivePoints>) -> Result<()> {
        let balance = self.balance.clone();
        let factors = match balance.strength > 0.0 {
            true => Some(balance.factors_by(balance.prior.len(), |factors| {
                let step = Step::ClassSums { factors: factors.to_vec() };
                let replies: Vec<Vec<f64>> = self.ask(&step, |from| from.list())?;
                let mut sums = vec![0.0; factors.len()];
                for reply in &replies {
                    sums.iter_mut().zip(reply).for_each(|(sum, value)| *sum += value);
                }
                Ok::<_, Error>(sums)
            })?),
            false => None,
        };
        let losses = self.ask(&Step::Vote { factors, kind }, read_losses)?;
        self.add_losses(&losses);
        Ok(())
    }

    fn add_losses(&mut self, losses: &[(f64, f64)]) {
        (self.sums.loss, self.sums.quadratic) =
            losses.iter().fold((0.0, 0.0), |sum, reply| (sum.0 + reply.0, sum.1 + reply.1));
    }

    /// Begins an iteration; whether its first pass continues the last change of the codes.
    pub fn enter_iteration(&mut self, is_last: bool) -> bool {
        let continues = self.has_previous && !is_last;
        self.enter = Enter::Iteration(continues);
        self.has_previous = true;
        continues
    }

    /// Goes back to the codes from the start of this iteration.
    pub fn enter_again(&mut self) {
        self.enter = Enter::Back;
    }

    /// Minimises over the codes from their present values.
    pub fn code_all(&mut self, global: &Global<T>, weights: Weights, passes: usize) -> Result<()> {
        for _ in 0..passes {
            self.pass(global, weights)?;
        }
        Ok(())
    }

    /// One pass of all parts side by side, halved until it does not raise the objective.
    fn pass(&mut self, global: &Global<T>, weights: Weights) -> Result<()> {
        let solver = self.solver;
        let task = || Task { global: global.clone(), weights, solver };
        let enter = std::mem::replace(&mut self.enter, Enter::Here);
        let step = Step::Code { enter, task: task() };
        let values = self.ask(&step, |from| Ok((from.number()?, from.number()?)))?;
        let before: f64 = values.iter().map(|value| value.0).sum();
        let mut after: f64 = values.iter().map(|value| value.1).sum();
        self.measure()?;
        let least = 1.0 / self.crew.n_parts() as f64;
        let mut share = 1.0;
        let has_risen = |sums: &Sums, after: f64| {
            after + weights.manifold * sums.graph_energy > before + ROUNDING * before.abs()
        };
        while share > least && has_risen(&self.sums, after) {
            let next = f64::max(share / 2.0, least);
            let step = Step::Shrink { share: next / share, task: task() };
            after = self.ask(&step, |from| from.number())?.iter().sum();
            self.measure()?;
            share = next;
        }
        Ok(())
    }

    /// Asks for everything that the next steps need.
    fn measure(&mut self) -> Result<()> {
        let replies = self.ask(&Step::Measure, |from| {
            let (graph_energy, size) = (from.number()?, from.number()?);
            let (loss, quadratic) = read_losses(from)?;
            let sums = Sums { graph_energy, size, loss, quadratic };
            let (moments, correlations) = (from.matrix()?, from.matrix()?);
            Ok((sums, Statistics { moments, correlations, energy: from.number()? }))
        })?;
        let (n, p) = (self.statistics.correlations.rows(), self.statistics.moments.columns());
        let mut statistics = Statistics::none(n, p);
        let mut all = Sums::default();
        for (sums, own) in &replies {
            if (own.moments.columns(), own.correlations.rows()) != (p, n) {
                return Err(damaged());
            }
            all.graph_energy += sums.graph_energy;
            all.size += sums.size;
            all.loss += sums.loss;
            all.quadratic += sums.quadratic;
            statistics.add(1.0, own);
        }
        (self.sums, self.statistics) = (all, statistics);
        Ok(())
    }

    /// The sums that the atoms are learnt from.
    pub fn statistics_now(&self) -> Statistics<T> {
        self.statistics.clone()
    }

    /// Unused atoms become badly reconstructed samples; returns how many were unused, and how many were replaced.
    pub fn revive_atoms(
        &self,
        atoms: &mut Matrix<T>,
        moments: &Matrix<T>,
        radius: T,
    ) -> Result<(usize, usize)> {
        let dead = unused(moments);
        if dead.is_empty() {
            return Ok((0, 0));
        }
        let step = Step::Worst { atoms: atoms.clone(), count: dead.len() };
        let replies: Vec<Vec<(f64, Vec<T>)>> = self.ask(&step, |from| {
            (0..from.count()?).map(|_| Ok((from.number()?, from.list()?))).collect()
        })?;
        let mut worst = replies.concat();
        // Stable: ties stay in the order of the parts.
        worst.sort_by(|a, b| b.0.total_cmp(&a.0));
        let floor = residual_floor(self.statistics.energy, self.n_samples);
        let revived = replace(atoms, &dead, worst.into_iter(), floor, radius);
        Ok((dead.len(), revived))
    }

    /// Scores of this classifier, and what they measure.
    pub fn classify(&mut self, classifier: &LinearClassifier<T>, counts_flips: bool) -> Result<()> {
        let step = Step::Classify { classifier: classifier.clone(), counts_flips };
        let replies = self.ask(&step, |from| Ok((read_losses(from)?, from.count()?)))?;
        let losses: Vec<(f64, f64)> = replies.iter().map(|reply| reply.0).collect();
        self.add_losses(&losses);
        self.flips = replies.iter().map(|reply| reply.1).sum();
        Ok(())
    }

    /// $\sum_jw_j\tilde a_j\tilde a_j^\top$ of all samples.
    pub fn gram(&self, class: Option<usize>) -> Result<Matrix<T>> {
        let size = self.statistics.moments.columns() + 1;
        add_all(&self.ask(&Step::Gram { class }, |from| from.matrix())?, size, size)
    }

    /// The loss of a classifier, and $\sum_j\mathcal G_{\cdot j}\tilde a_j^\top$ of active points renewed at its scores.
    pub fn targets(&self, classifier: &LinearClassifier<T>) -> Result<(f64, Matrix<T>)> {
        let step = Step::Targets { classifier: Some(classifier.clone()) };
        let replies = self.ask(&step, |from| Ok((from.number()?, from.matrix()?)))?;
        let (losses, targets): (Vec<f64>, Vec<Matrix<T>>) = replies.into_iter().unzip();
        let size = self.statistics.moments.columns() + 1;
        Ok((losses.iter().sum(), add_all(&targets, size, classifier.bias.len())?))
    }

    /// $\sum_j\mathcal G_{\cdot j}\tilde a_j^\top$ of the active points of this iteration.
    pub fn frozen_targets(&self, n_classes: usize) -> Result<Matrix<T>> {
        let replies = self.ask(&Step::Targets { classifier: None }, |from| from.matrix())?;
        add_all(&replies, self.statistics.moments.columns() + 1, n_classes)
    }

    /// The codes of the samples that the model keeps, in their order there.
    pub fn kept_codes(&self, n_kept: usize) -> Result<Matrix<T>> {
        let p = self.statistics.moments.columns();
        let replies: Vec<(Vec<u32>, Csr<T>)> =
            self.ask(&Step::Kept, |from| Ok((from.list()?, from.sparse()?)))?;
        let mut codes = Matrix::zeros(p, n_kept);
        for (places, rows) in &replies {
            if places.len() != rows.rows() || (rows.rows() > 0 && rows.columns() != p) {
                return Err(damaged());
            }
            for (i, &place) in places.iter().enumerate().filter(|(_, at)| (**at as usize) < n_kept)
            {
                rows.row(i).for_each(|(k, a)| codes.column_mut(place as usize)[k] = a);
            }
        }
        Ok(codes)
    }
}

fn read_losses(from: &mut Reader<'_>) -> Result<(f64, f64)> {
    Ok((from.number()?, from.number()?))
}

/// The sum of matrices of one size, in their order.
fn add_all<T: Real>(all: &[Matrix<T>], rows: usize, columns: usize) -> Result<Matrix<T>> {
    let mut sum = Matrix::zeros(rows, columns);
    for one in all {
        if (one.rows(), one.columns()) != (rows, columns) {
            return Err(damaged());
        }
        crate::matrix::axpy(T::one(), one.as_slice(), sum.as_mut_slice());
    }
    Ok(sum)
}
