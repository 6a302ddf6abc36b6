//! The steps that a part takes, each a function of its state and of a message.

use super::message::{Enter, Step, Task};
use super::part::Part;
use super::rows::Ties;
use super::state::{State, VoteRule};
use super::wire::Writer;
use crate::classifier::{
    Active, ActivePoints, LinearClassifier, Shares, best, margin, votes_for_classes,
};
use crate::codes::{Coding, Margin, Quadratic};
use crate::dictionary::{Statistics, squared_residuals, worst_of};
use crate::fit::coupled::accelerate::extrapolate;
use crate::fit::coupled::per_sample::first_codes;
use crate::fit::spreading;
use crate::matrix::{absolute_sum, axpy};
use crate::sparse::Csr;
use crate::{Matrix, Real, Result};

/// How far samples tied to other parts are held back, as a share of [`Ties::strain`]. With a half, all parts side by
/// side descend from any codes (the shifts then outweigh half of the curvature between parts); a quarter ends lower,
/// and what it leaves to chance the guard catches.
const HELD_BACK: f64 = 0.25;

impl<T: Real> Part<T> {
    /// Takes a step: gives the state after it, where it is another, and the reply.
    ///
    /// `state` is empty before the first step; `incoming` are the codes (or scores) that this part needs of each part, in
    /// their order, where the step exchanges codes.
    ///
    /// # Errors
    /// If state or message cannot be read.
    #[inline(never)]
    pub fn step(
        &self,
        state: &[u8],
        incoming: &[&[u8]],
        message: &[u8],
    ) -> Result<(Option<Vec<u8>>, Vec<u8>)> {
        if let Some(pairs) = &self.pairs {
            return spreading::step((self, pairs), state, incoming, message);
        }
        let step = Step::<T>::from_bytes(message)?;
        let changes = step.changes();
        let mut reply = Writer::new();
        if let Step::Begin { atoms, rule, sparsity } = step {
            return Ok((Some(self.begin(&atoms, rule, sparsity).to_bytes()), reply.into_bytes()));
        }
        if let Step::Election { classifier } = step {
            let is_open = |&at: &usize| self.assigned[at].is_none();
            let open: Vec<usize> = (0..self.assigned.len()).filter(is_open).collect();
            reply.list(&votes_for_classes(&classifier, (&self.samples).into(), &open));
            return Ok((None, reply.into_bytes()));
        }
        let mut state = State::<T>::from_bytes(state)?;
        let halo = match step.exchanges() {
            true => self.halo(incoming, state.codes.rows())?,
            false => Matrix::zeros(0, 0),
        };
        self.take(step, &mut state, &halo, &mut reply);
        Ok((changes.then(|| state.to_bytes()), reply.into_bytes()))
    }

    fn take(&self, step: Step<T>, state: &mut State<T>, halo: &Matrix<T>, reply: &mut Writer) {
        match step {
            Step::Begin { .. } | Step::Election { .. } => {}
            Step::Votes => {
                let ballot = state.rule.ballot(&self.assigned, self.weights.as_deref());
                let (votes, weights) = ballot.votes(&state.scores, &self.assigned);
                reply.matrix(&votes);
                reply.list(&weights);
            }
            Step::ClassSums { factors } => {
                let ballot = state.rule.ballot(&self.assigned, self.weights.as_deref());
                reply.list(&ballot.class_sums(&state.scores, &self.assigned, &factors));
            }
            Step::Vote { factors, kind } => {
                let ballot = state.rule.ballot(&self.assigned, self.weights.as_deref());
                let factors = factors.as_deref();
                state.shares = ballot.scaled_shares(&state.scores, &self.assigned, factors);
                let active = |kind| Active::new(kind, &state.scores, &state.shares);
                state.active = kind.map(active).or(state.active.take());
                self.write_losses(state, reply);
            }
            Step::Enter(at) => enter(at, state),
            Step::Code(task) => {
                let (before, after) = self.code(state, halo, &task);
                reply.number(before);
                reply.number(after);
            }
            Step::Shrink { share, task } => {
                if let Some(before) = &state.before {
                    let mut old = before.to_columns();
                    let values = old.as_mut_slice().iter_mut().zip(state.codes.as_slice());
                    values.for_each(|(old, &new)| *old += T::of(share) * (new - *old));
                    state.codes = old;
                }
                rescore(state, &task.global.classifier);
                let cross = cross(state, &task);
                let problem = self.coding(state, &task, &cross).quadratic();
                reply.number(problem.value(&state.codes));
            }
            Step::Measure => {
                let energy = self.ties.as_ref().map_or(0.0, |it| it.energy(&state.codes, halo));
                reply.number(energy);
                reply.number(absolute_sum(state.codes.as_slice()));
                self.write_losses(state, reply);
                let sums = Statistics::of(&self.samples, &state.codes, self.energy);
                reply.matrix(&sums.moments);
                reply.matrix(&sums.correlations);
                reply.number(sums.energy);
            }
            Step::Gram { class } => {
                let codes = Csr::of_columns(&state.codes);
                let weight: Vec<T> = match (class, &state.active) {
                    (Some(class), Some(active)) => {
                        (0..codes.rows()).map(|j| active.weight.of(class, j)).collect()
                    }
                    _ => state.shares.total.clone(),
                };
                reply.flag(weight.iter().any(|weight| *weight != T::zero()));
                reply.matrix(&margin::weighted_gram(&codes, &weight, T::zero()));
            }
            Step::Targets { classifier } => self.targets(state, classifier.as_ref(), reply),
            Step::Classify { classifier } => {
                state.scores = classifier.scores(&state.codes);
                self.write_losses(state, reply);
                reply.count(self.count_flips(state));
            }
            Step::Worst { atoms, count } => {
                let samples = (&self.samples).into();
                let worst = worst_of(squared_residuals(&atoms, samples, &state.codes), count);
                reply.count(worst.len());
                for (residual, j) in worst {
                    reply.number(residual);
                    reply.list(self.samples.column(j));
                }
            }
            Step::Kept => {
                let codes = Csr::of_columns(&state.codes);
                reply.list(&self.kept.0);
                let rows = self.kept.1.iter().map(|&at| codes.row(at as usize));
                reply.sparse(&Csr::from_rows(codes.columns(), rows));
            }
        }
    }

    fn begin(&self, atoms: &Matrix<T>, rule: VoteRule<T>, sparsity: f64) -> State<T> {
        let n_classes = rule.of_label.len();
        State {
            codes: first_codes((&self.samples).into(), atoms, sparsity),
            start: None,
            before: None,
            scores: Matrix::zeros(n_classes, self.n_samples()),
            shares: Shares {
                of_class: Matrix::zeros(n_classes, self.n_samples()),
                total: vec![T::zero(); self.n_samples()],
            },
            active: None,
            classes: vec![0; self.n_samples()],
            rule,
        }
    }

    /// A pass over the codes with the halo held fixed; what it minimises, before with this part's share of the
    /// graph and after without.
    fn code(&self, state: &mut State<T>, halo: &Matrix<T>, task: &Task<T>) -> (f64, f64) {
        let mut codes = std::mem::replace(&mut state.codes, Matrix::zeros(0, 0));
        state.before = Some(Csr::of_columns(&codes));
        let beta = task.weights.manifold;
        let energy = self.ties.as_ref().map_or(0.0, |ties| ties.energy(&codes, halo));
        let cross = cross(state, task);
        let mut problem = self.coding(state, task, &cross).quadratic();
        let before = problem.value(&codes) + beta * energy;
        let ties = self.ties.as_ref().filter(|ties| !ties.is_empty());
        if let Some(ties) = ties {
            let (pull, before) = (ties.pull(halo), codes.clone());
            let outside = Outside { graph: T::of(beta), ties, pull, before };
            outside.enter(&mut problem);
            task.solver.minimise(&problem, &mut codes);
            outside.leave(&mut problem);
        } else {
            task.solver.minimise(&problem, &mut codes);
        }
        let after = problem.value(&codes);
        state.codes = codes;
        rescore(state, &task.global.classifier);
        (before, after)
    }

    /// The coding problem without the graph.
    fn coding<'b>(
        &'b self,
        state: &'b State<T>,
        task: &'b Task<T>,
        cross: &'b Matrix<T>,
    ) -> Coding<'b, T> {
        let Task { global, weights, .. } = task;
        let LinearClassifier { weights: w, bias } = &global.classifier;
        Coding {
            samples: (&self.samples).into(),
            atoms: &global.atoms,
            gram: &global.gram,
            graph: None,
            margin: state.active.as_ref().map(|active| Margin {
                discrimination: T::of(weights.discrimination),
                weights: w,
                bias,
                cross,
                weight: &active.weight,
                target: &active.target,
            }),
            sparsity: T::of(weights.sparsity),
        }
    }

    fn targets(
        &self,
        state: &State<T>,
        classifier: Option<&LinearClassifier<T>>,
        reply: &mut Writer,
    ) {
        let renewed = classifier.map(|classifier| {
            let scores = classifier.scores(&state.codes);
            reply.number(state.shares.loss(&scores));
            Active::new(ActivePoints::Majorised, &scores, &state.shares)
        });
        match renewed.as_ref().or(state.active.as_ref()) {
            Some(active) => reply.matrix(&margin::augmented_targets(&state.codes, &active.target)),
            None => reply.matrix(&Matrix::<T>::zeros(state.codes.rows() + 1, state.scores.rows())),
        }
    }

    /// Unlabelled samples whose class has changed since the last call.
    fn count_flips(&self, state: &mut State<T>) -> usize {
        let now: Vec<u32> = state.scores.iter_columns().map(|scores| best(scores) as u32).collect();
        let pairs = now.iter().zip(&state.classes).zip(&self.assigned);
        let flips = pairs.filter(|((new, old), class)| class.is_none() && new != old).count();
        state.classes = now;
        flips
    }

    fn write_losses(&self, state: &State<T>, reply: &mut Writer) {
        reply.number(state.shares.loss(&state.scores));
        reply.number(state.active.as_ref().map_or(0.0, |active| active.value(&state.scores)));
    }

    /// The scores of the part's samples ($C\times m$) in this state.
    ///
    /// # Errors
    /// If the state cannot be read.
    #[inline(never)]
    pub fn scores(&self, state: &[u8]) -> Result<Matrix<T>> {
        match &self.pairs {
            Some(_) => spreading::shares(state),
            None => Ok(State::<T>::from_bytes(state)?.scores),
        }
    }
}

/// What other parts do to the coding problem of this one: their codes, held fixed, pull; and because they move
/// meanwhile, samples tied to them are held back by $\kappa_j\lVert a_j-a_j^{\mathrm{before}}\rVert^2$.
struct Outside<'a, T> {
    /// β.
    graph: T,
    ties: &'a Ties<T>,
    pull: Matrix<T>,
    before: Matrix<T>,
}

impl<'a, T: Real> Outside<'a, T> {
    fn enter(&self, problem: &mut Quadratic<'a, T>) {
        axpy(-self.graph, self.pull.as_slice(), problem.rhs.as_mut_slice());
        problem.graph = Some((self.graph, &self.ties.inside));
        let kappa = |strain: &T| T::of(HELD_BACK) * self.graph * *strain;
        problem.shifts = self.ties.strain.iter().map(kappa).collect();
        self.add_shifts(T::one(), problem);
    }

    /// Leaves the problem without the graph.
    fn leave(&self, problem: &mut Quadratic<'a, T>) {
        self.add_shifts(-T::one(), problem);
        problem.shifts.clear();
        problem.graph = None;
        axpy(self.graph, self.pull.as_slice(), problem.rhs.as_mut_slice());
    }

    fn add_shifts(&self, sign: T, problem: &mut Quadratic<'a, T>) {
        for (j, &shift) in problem.shifts.iter().enumerate().filter(|(_, s)| **s != T::zero()) {
            axpy(sign * shift, self.before.column(j), problem.rhs.column_mut(j));
        }
    }
}

fn enter<T: Real>(at: Enter, state: &mut State<T>) {
    match at {
        Enter::Iteration(continues) => {
            let start = Csr::of_columns(&state.codes);
            let previous = state.start.replace(start).filter(|_| continues);
            if let Some(previous) = previous {
                extrapolate(&mut state.codes, &previous);
            }
        }
        Enter::Back => {
            if let Some(start) = &state.start {
                start.write_columns(&mut state.codes);
            }
        }
    }
}

/// $WW^\top$, where the classes act on the codes.
fn cross<T: Real>(state: &State<T>, task: &Task<T>) -> Matrix<T> {
    let w = &task.global.classifier.weights;
    match state.active {
        Some(_) => Matrix::of_product(w.view(), w.transposed()),
        None => Matrix::zeros(0, 0),
    }
}

fn rescore<T: Real>(state: &mut State<T>, classifier: &LinearClassifier<T>) {
    if state.active.is_some() {
        state.scores = classifier.scores(&state.codes);
    }
}
