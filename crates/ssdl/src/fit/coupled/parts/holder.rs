//! Many parts as one: a step goes to all of them, their sums come back and are added in the order of the parts.
//!
//! Parts change their codes side by side, each as if the others stood still, and hold back samples that are tied to
//! others. Together that can still be too much: then all take back half of their step, and half again, down to one part
//! in so many, which always descends (the objective is convex in the codes, and the mean of the steps of single parts
//! is such a step).

use std::sync::Mutex;

use super::crew::{Crew, Round};
use super::message::{Enter, Step, Task};
use super::points::Tried;
use super::state::VoteRule;
use super::wire::{Reader, Writer, damaged};
use crate::classifier::margin::{self, Pull};
use crate::classifier::{ActivePoints, Ballot, LinearClassifier, as_shares};
use crate::dictionary::{Statistics, replace, residual_floor, unused};
use crate::fit::CodesUpdate;
use crate::fit::coupled::{FirstCodes, Global, Holder, Holding, Weights};
use crate::sparse::Csr;
use crate::{Error, Matrix, Real, Result};

/// Relative rise of the objective that is no more than rounding.
const ROUNDING: f64 = 1e-8;

/// Numbers of votes up to which they are sent here.
const SENT_VOTES: usize = 4_000_000;

/// What the parts have measured, added up.
#[derive(Clone, Copy, Debug, Default)]
struct Sums {
    /// $\operatorname{tr}(ALA^\top)$.
    graph_energy: f64,
    /// $\lVert A\rVert_1$.
    size: f64,
    /// The true loss.
    loss: f64,
    /// The quadratic in its place.
    quadratic: f64,
}

/// All parts of a fit.
pub(crate) struct Parts<'a, T> {
    crew: &'a dyn Crew,
    pub(super) holding: Holding<'a, T>,
    n_features: usize,
    pub(super) n_atoms: usize,
    sums: Sums,
    statistics: Statistics<T>,
    pub(super) tried: Option<Tried<T>>,
    enter: Option<Enter>,
    /// Whether an iteration has begun before, whose change can be continued.
    has_previous: bool,
    flips: usize,
    failure: Mutex<Option<Error>>,
}

impl<'a, T: Real> Parts<'a, T> {
    /// First codes in all parts, or the states of an earlier fit. `holding` has the samples that the model keeps.
    ///
    /// # Errors
    /// If a part cannot begin, or with a coder that does not work in parts.
    pub fn hold(
        crew: &'a dyn Crew,
        holding: Holding<'a, T>,
        codes: &FirstCodes<'_, T>,
        goes_on: bool,
    ) -> Result<Self> {
        if holding.solver.coder != CodesUpdate::Coordinate {
            return Err(Error::Knob {
                name: "coder".into(),
                got: holding.solver.coder.name().into(),
                allowed: "`coordinate` for samples in several parts".into(),
            });
        }
        let FirstCodes::Lasso(atoms) = codes else { return Err(damaged()) };
        let (n_features, n_atoms) = (atoms.rows(), atoms.columns());
        let parts = Self {
            crew,
            n_features,
            n_atoms,
            sums: Sums::default(),
            statistics: Statistics::none(n_features, n_atoms),
            tried: None,
            enter: None,
            has_previous: goes_on,
            flips: 0,
            failure: Mutex::new(None),
            holding,
        };
        if !goes_on {
            let (rule, sparsity) = (parts.rule(), parts.holding.sparsity);
            let begin = Step::Begin { atoms: (*atoms).clone(), rule, sparsity };
            parts.ask(&begin, |_| Ok(()))?;
        }
        Ok(parts)
    }

    /// How votes count, from those of the samples that the model keeps.
    fn rule(&self) -> VoteRule<T> {
        let Holding { ballot, labels, .. } = &self.holding;
        let mut rule = VoteRule {
            of_label: vec![T::one(); labels.classes().len()],
            vote: T::one(),
            balance: ballot.balance().clone(),
            sharpness: ballot.sharpness(),
        };
        for (class, &weight) in labels.assigned().iter().zip(ballot.weights()).rev() {
            match class {
                Some(class) => rule.of_label[*class] = weight,
                None => rule.vote = weight,
            }
        }
        rule
    }

    /// Sends a step to all parts and reads their replies.
    pub(super) fn ask<R>(
        &self,
        step: &Step<T>,
        read: impl Fn(&mut Reader<'_>) -> Result<R>,
    ) -> Result<Vec<R>> {
        ask(self.crew, step, read)
    }

    /// The result of a step; the first failure is kept for [`check`](Holder::check), and after it nothing is
    /// asked any more.
    pub(super) fn attempt<R>(&self, act: impl FnOnce() -> Result<R>) -> Option<R> {
        if self.failure.lock().is_ok_and(|failure| failure.is_some()) {
            return None;
        }
        act().map_err(|error| self.fail(error)).ok()
    }

    fn fail(&self, error: Error) {
        if let Ok(mut failure) = self.failure.lock() {
            failure.get_or_insert(error);
        }
    }

    /// Memberships and, with a kind, active points at the current scores.
    fn vote_as(&mut self, kind: Option<ActivePoints>) -> Result<()> {
        let factors = self.factors()?;
        let losses = self.ask(&Step::Vote { factors, kind }, read_losses)?;
        self.add_losses(&losses);
        Ok(())
    }

    /// The factor of each class that brings all votes near the prior. The votes of few samples are sent
    /// here, once; those of many are added up where they are, round after round.
    fn factors(&self) -> Result<Option<Vec<f64>>> {
        let balance = self.holding.ballot.balance();
        let (all, labelled) = self.crew.counts();
        let n_classes = balance.prior.len();
        if balance.strength <= 0.0 {
            return Ok(None);
        }
        if (all - labelled).saturating_mul(n_classes) <= SENT_VOTES {
            let read = |from: &mut Reader<'_>| Ok((from.matrix::<T>()?, from.list::<f64>()?));
            let (votes, weights): (Vec<_>, Vec<_>) =
                self.ask(&Step::Votes, read)?.into_iter().unzip();
            let votes = votes.into_iter().flat_map(Matrix::into_vec).collect();
            let weights = weights.concat();
            let votes = Matrix::from_columns(n_classes, weights.len(), votes);
            return Ok(Some(balance.factors(&votes.ok_or_else(damaged)?, &weights)));
        }
        Ok(Some(balance.factors_of(|factors| {
            let step = Step::ClassSums { factors: factors.to_vec() };
            let replies = self.attempt(|| self.ask(&step, |from| from.list::<f64>()));
            let mut sums = vec![0.0; factors.len()];
            for reply in replies.iter().flatten() {
                sums.iter_mut().zip(reply).for_each(|(sum, value)| *sum += value);
            }
            as_shares(sums)
        })))
    }

    fn add_losses(&mut self, losses: &[(f64, f64)]) {
        (self.sums.loss, self.sums.quadratic) =
            losses.iter().fold((0.0, 0.0), |sum, reply| (sum.0 + reply.0, sum.1 + reply.1));
    }

    /// One pass of all parts side by side, halved until it does not raise the objective.
    fn pass(&mut self, global: &Global<T>, weights: Weights) -> Result<()> {
        let solver = self.holding.solver.coordinate();
        let task = || Task { global: global.clone(), weights, solver };
        if let Some(enter) = self.enter.take() {
            self.ask(&Step::Enter(enter), |_| Ok(()))?;
        }
        let values = self.ask(&Step::Code(task()), |from| Ok((from.number()?, from.number()?)))?;
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
        let mut statistics = Statistics::none(self.n_features, self.n_atoms);
        let mut all = Sums::default();
        for (sums, own) in &replies {
            let size = (own.correlations.rows(), own.moments.columns());
            if size != (self.n_features, self.n_atoms) {
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

    fn revived(&self, atoms: &mut Matrix<T>, dead: &[usize], radius: T) -> Result<usize> {
        let step = Step::Worst { atoms: atoms.clone(), count: dead.len() };
        let replies: Vec<Vec<(f64, Vec<T>)>> = self.ask(&step, |from| {
            (0..from.count()?).map(|_| Ok((from.number()?, from.list()?))).collect()
        })?;
        let mut worst = replies.concat();
        // Stable: ties stay in the order of the parts.
        worst.sort_by(|a, b| b.0.total_cmp(&a.0));
        let floor = residual_floor(self.statistics.energy, self.crew.counts().0);
        Ok(replace(atoms, dead, worst.into_iter(), floor, radius))
    }

    /// Scores of this classifier, and what they measure.
    fn classify(&mut self, classifier: &LinearClassifier<T>) -> Result<()> {
        let step = Step::Classify { classifier: classifier.clone() };
        let replies = self.ask(&step, |from| Ok((read_losses(from)?, from.count()?)))?;
        let losses: Vec<(f64, f64)> = replies.iter().map(|reply| reply.0).collect();
        self.add_losses(&losses);
        self.flips = replies.iter().map(|reply| reply.1).sum();
        Ok(())
    }

    /// The codes of the samples that the model keeps, in their order there.
    fn kept_codes(&self) -> Result<Matrix<T>> {
        let n_kept = self.holding.labels.len();
        let replies: Vec<(Vec<u32>, Csr<T>)> =
            self.ask(&Step::Kept, |from| Ok((from.list()?, from.sparse()?)))?;
        let mut codes = Matrix::zeros(self.n_atoms, n_kept);
        for (places, rows) in &replies {
            let is_sound = places.len() == rows.rows()
                && (rows.rows() == 0 || rows.columns() == self.n_atoms)
                && places.iter().all(|&place| (place as usize) < n_kept);
            if !is_sound {
                return Err(damaged());
            }
            for (i, &place) in places.iter().enumerate() {
                rows.row(i).for_each(|(k, a)| codes.column_mut(place as usize)[k] = a);
            }
        }
        Ok(codes)
    }
}

/// Sends a step to all parts and reads their replies.
fn ask<T: Real, R>(
    crew: &dyn Crew,
    step: &Step<T>,
    read: impl Fn(&mut Reader<'_>) -> Result<R>,
) -> Result<Vec<R>> {
    let round = Round { exchanges: step.exchanges(), changes: step.changes() };
    let replies = crew.step(&step.to_bytes(), round)?;
    if replies.len() != crew.n_parts() {
        return Err(damaged());
    }
    replies.iter().map(|reply| read(&mut Reader::new(reply))).collect()
}

/// How many of all unlabelled samples a classifier of samples puts into each class.
pub(in super::super) fn elect<T: Real>(
    crew: &dyn Crew,
    classifier: &LinearClassifier<T>,
) -> Result<Vec<f64>> {
    let step = Step::Election { classifier: classifier.clone() };
    let mut votes = vec![0.0; classifier.bias.len()];
    for reply in ask(crew, &step, |from| from.list::<f64>())? {
        if reply.len() != votes.len() {
            return Err(damaged());
        }
        votes.iter_mut().zip(reply).for_each(|(sum, count)| *sum += count);
    }
    Ok(votes)
}

impl<T: Real> Holder<T> for Parts<'_, T> {
    fn codes_of(&self, chosen: &[usize]) -> Matrix<T> {
        let codes = self.attempt(|| self.kept_codes());
        let none = || Matrix::zeros(self.n_atoms, self.holding.labels.len());
        codes.unwrap_or_else(none).select_columns(chosen)
    }

    fn begin(&mut self, classifier: &LinearClassifier<T>) {
        let begun = (|| {
            self.classify(classifier)?;
            self.vote_as(None)?;
            self.measure()
        })();
        begun.unwrap_or_else(|error| self.fail(error));
    }

    fn vote(&mut self, kind: ActivePoints) {
        self.vote_as(Some(kind)).unwrap_or_else(|error| self.fail(error));
    }

    fn code(&mut self, global: &Global<T>, weights: Weights, passes: usize) -> Option<f64> {
        let coded = (0..passes).try_for_each(|_| self.pass(global, weights));
        coded.unwrap_or_else(|error| self.fail(error));
        Some(self.sums.graph_energy)
    }

    fn extrapolate(&mut self, is_last: bool) -> bool {
        let continues = self.has_previous && !is_last;
        self.enter = Some(Enter::Iteration(continues));
        self.has_previous = true;
        continues
    }

    fn go_back(&mut self) {
        self.enter = Some(Enter::Back);
    }

    fn statistics(&self) -> Statistics<T> {
        self.statistics.clone()
    }

    fn revive(&self, atoms: &mut Matrix<T>, moments: &Matrix<T>, radius: T) -> (usize, usize) {
        let dead = unused(moments);
        if dead.is_empty() {
            return (0, 0);
        }
        let revived = self.attempt(|| self.revived(atoms, &dead, radius));
        (dead.len(), revived.unwrap_or(0))
    }

    fn learn_classifier(
        &mut self,
        classifier: &mut LinearClassifier<T>,
        kind: ActivePoints,
        pull: Pull<'_, T>,
    ) -> Result<()> {
        let learnt = margin::learn(classifier, self, kind, pull, margin::ROUNDS);
        // A part that failed leaves no system to solve: its own failure says more.
        self.check()?;
        learnt?;
        self.classify(classifier)
    }

    fn count_flips(&mut self) -> usize {
        self.flips
    }

    fn size(&self) -> f64 {
        self.sums.size
    }

    fn graph_energy(&self) -> f64 {
        self.sums.graph_energy
    }

    fn loss(&self) -> f64 {
        self.sums.loss
    }

    fn quadratic(&self) -> f64 {
        self.sums.quadratic
    }

    fn check(&self) -> Result<()> {
        let failure = self.failure.lock().ok().and_then(|mut failure| failure.take());
        failure.map_or(Ok(()), Err)
    }

    fn keep(&mut self, iteration: usize, global: &Global<T>) -> Result<()> {
        let mut out = Writer::new();
        global.write(&mut out);
        self.crew.keep(iteration, &out.into_bytes())
    }

    fn into_parts(self: Box<Self>) -> Result<(Matrix<T>, Ballot<T>)> {
        Ok((self.kept_codes()?, self.holding.ballot))
    }
}

/// What an earlier fit kept: its iteration, atoms and classifier.
///
/// # Errors
/// If it cannot be read.
pub(crate) fn earlier<T: Real>(crew: &dyn Crew) -> Result<Option<(usize, Global<T>)>> {
    let Some((iteration, progress)) = crew.earlier() else { return Ok(None) };
    Ok(Some((iteration, Global::read(&mut Reader::new(&progress))?)))
}

fn read_losses(from: &mut Reader<'_>) -> Result<(f64, f64)> {
    Ok((from.number()?, from.number()?))
}
