//! The steps that a part takes while labels spread, each a function of its state and of a message.

use super::message::{Rule, Step};
use super::pairs::Pairs;
use super::state::State;
use crate::classifier::diffusion::{Solving, System, flood, joined, roots, roughness, unbalance};
use crate::classifier::{class_sums, scale_columns, shares_of};
use crate::fit::parts::{Part, Reader, Writer, damaged};
use crate::graph::Neighbours;
use crate::{Matrix, Real, Result};

/// Takes a step: gives the state after it, where it is another, and the reply.
pub(crate) fn step<T: Real>(
    (part, pairs): (&Part<T>, &Pairs),
    state: &[u8],
    incoming: &[&[u8]],
    message: &[u8],
) -> Result<(Option<Vec<u8>>, Vec<u8>)> {
    let step = Step::<T>::from_bytes(message)?;
    let halo = if step.exchanges() { halo(pairs, incoming)? } else { Matrix::zeros(0, 0) };
    let mut reply = Writer::new();
    let next = match step {
        Step::Least => {
            reply.number(pairs.least());
            None
        }
        Step::Weigh(rule) => Some(weigh::<T>(part, pairs, rule)),
        other => take((part, pairs), other, State::from_bytes(state)?, &halo, &mut reply)?,
    };
    Ok((next.map(|state| state.to_bytes()), reply.into_bytes()))
}

/// What another part needs: the columns of these samples.
pub(crate) fn outgoing<T: Real>(state: &[u8], needed: &[u32]) -> Result<Vec<u8>> {
    let shown = State::<T>::shown(state)?;
    let chosen: Vec<usize> = needed.iter().map(|&at| at as usize).collect();
    if chosen.iter().any(|&at| at >= shown.columns()) {
        return Err(damaged());
    }
    let mut out = Writer::new();
    out.matrix(&shown.select_columns(&chosen));
    Ok(out.into_bytes())
}

/// The shares of a part's samples, at the end.
pub(crate) fn shares<T: Real>(state: &[u8]) -> Result<Matrix<T>> {
    match State::from_bytes(state)? {
        State::Shares { shares, .. } => Ok(shares),
        _ => Err(damaged()),
    }
}

/// What the other parts send, in their order.
fn halo(pairs: &Pairs, incoming: &[&[u8]]) -> Result<Matrix<f64>> {
    let (mut rows, mut all, mut count) = (0, Vec::new(), 0);
    for bytes in incoming {
        let some: Matrix<f64> = Reader::new(bytes).matrix()?;
        if some.columns() > 0 {
            rows = some.rows();
            count += some.columns();
            all.extend(some.into_vec());
        }
    }
    let halo = Matrix::from_columns(rows, count, all).ok_or_else(damaged)?;
    if count == pairs.halo.len() { Ok(halo) } else { Err(damaged()) }
}

/// The degrees of all samples, and which of them are labelled.
fn weigh<T: Real>(part: &Part<T>, pairs: &Pairs, rule: Rule) -> State<T> {
    let roots = roots(&pairs.weights::<T>(rule.weight));
    let facts = Matrix::from_fn(3, roots.len(), |at, j| {
        let class = part.assigned[j];
        match at {
            0 => roots[j],
            1 => class.map_or(0.0, |class| class as f64 + 1.0),
            _ => f64::from(class.is_some()),
        }
    });
    State::Gathered { rule, facts }
}

fn take<T: Real>(
    (part, pairs): (&Part<T>, &Pairs),
    step: Step<T>,
    state: State<T>,
    halo: &Matrix<f64>,
    reply: &mut Writer,
) -> Result<Option<State<T>>> {
    Ok(match (step, state) {
        (Step::Reach, State::Gathered { rule, mut facts }) => {
            let all = joined(&facts, halo);
            let mut reached: Vec<bool> = all.iter_columns().map(|fact| fact[2] > 0.0).collect();
            reply.flag(flood(&pairs.weights::<T>(rule.weight), &mut reached));
            for (j, is_reached) in reached.iter().take(facts.columns()).enumerate() {
                facts.column_mut(j)[2] = f64::from(*is_reached);
            }
            Some(State::Gathered { rule, facts })
        }
        (Step::Begin, State::Gathered { rule, facts }) => {
            let all = joined(&facts, halo);
            let solving = Box::new(Solving::new(system(part, pairs, &rule, &all)?));
            reply.list(&solving.norms());
            let roots = all.iter_columns().map(|fact| fact[0]).collect();
            Some(State::Solving { rule, roots, solving, refines: false })
        }
        (step, State::Solving { rule, roots, solving, refines }) => {
            let at = At { rule, roots, solving, refines };
            Some(at.take((part, pairs), step, halo, reply)?)
        }
        (step, State::Shares { shares, unreached }) => {
            end(part, pairs, step, (shares, unreached), reply)?
        }
        _ => return Err(damaged()),
    })
}

/// The system of a part; `facts` are those of own samples and halo.
fn system<T: Real>(
    part: &Part<T>,
    pairs: &Pairs,
    rule: &Rule,
    facts: &Matrix<f64>,
) -> Result<System> {
    let weights = pairs.weights::<T>(rule.weight);
    let roots: Vec<f64> = facts.iter_columns().map(|fact| fact[0]).collect();
    let n_classes = rule.of_classes.len();
    if part.assigned.iter().flatten().any(|&class| class >= n_classes) {
        return Err(damaged());
    }
    if let Some(spreading) = rule.spreading {
        return Ok(System::soft(&weights, &roots, &given(part, rule), spreading));
    }
    let class = |fact: &[f64]| (fact[1] >= 1.0).then(|| fact[1] as usize - 1);
    let assigned: Vec<Option<usize>> = facts.iter_columns().map(class).collect();
    let reached: Vec<bool> = facts.iter_columns().map(|fact| fact[2] > 0.0).collect();
    Ok(System::fixed(&weights, &roots, &assigned, &reached, n_classes))
}

/// $Y$ of a part's samples, as much as each counts.
fn given<T: Real>(part: &Part<T>, rule: &Rule) -> Matrix<f64> {
    let mut given = Matrix::zeros(rule.of_classes.len(), part.assigned.len());
    for (j, class) in part.assigned.iter().enumerate() {
        let own = part.weights.as_ref().map_or(1.0, |weights| weights[j].wide());
        class.iter().for_each(|&class| given.column_mut(j)[class] = rule.of_classes[class] * own);
    }
    given
}

/// Where the solver stands.
struct At {
    rule: Rule,
    roots: Vec<f64>,
    solving: Box<Solving>,
    refines: bool,
}

impl At {
    fn take<T: Real>(
        mut self,
        (part, pairs): (&Part<T>, &Pairs),
        step: Step<T>,
        halo: &Matrix<f64>,
        reply: &mut Writer,
    ) -> Result<State<T>> {
        match step {
            Step::Turn { keep } => reply.list(&self.solving.turn(&keep, halo)),
            Step::Advance { steps } => reply.list(&self.solving.advance(&steps)),
            Step::Settle => {
                self.solving.settle();
                self.refines = true;
            }
            Step::Refine { enough } => reply.flag(self.solving.refine(enough, halo)),
            Step::Unbalance => unbalance(&mut self.solving.found, &self.roots, &part.assigned),
            Step::Share => return Ok(self.share(part, pairs, halo, reply)),
            _ => return Err(damaged()),
        }
        let Self { rule, roots, solving, refines } = self;
        Ok(State::Solving { rule, roots, solving, refines })
    }

    fn share<T: Real>(
        self,
        part: &Part<T>,
        pairs: &Pairs,
        halo: &Matrix<f64>,
        reply: &mut Writer,
    ) -> State<T> {
        let Self { rule, roots, solving, .. } = self;
        let (found, stays_fixed) = (solving.found, rule.spreading.is_none());
        let own = |i: usize| if stays_fixed || roots[i] == 0.0 { 1.0 } else { 1.0 / roots[i] };
        reply.number(roughness(&pairs.weights::<T>(rule.weight), &joined(&found, halo), own));
        let given = given(part, &rule);
        let far = found.as_slice().iter().zip(given.as_slice());
        let misfit: f64 = far.map(|(f, y)| (f - y) * (f - y)).sum();
        reply.number(if stays_fixed { 0.0 } else { misfit });
        let (shares, unreached) = shares_of(&found);
        reply.count(unreached.len());
        State::Shares { shares, unreached: unreached.into_iter().map(|at| at as u32).collect() }
    }
}

/// The steps after the scores have become shares.
fn end<T: Real>(
    part: &Part<T>,
    pairs: &Pairs,
    step: Step<T>,
    (mut shares, mut unreached): (Matrix<T>, Vec<u32>),
    reply: &mut Writer,
) -> Result<Option<State<T>>> {
    let open = || (0..part.assigned.len()).filter(|&j| part.assigned[j].is_none());
    match step {
        Step::Follow { known, classes } => {
            let chosen: Vec<usize> = unreached.iter().map(|&at| at as usize).collect();
            if !chosen.is_empty() {
                let here = part.samples.select_columns(&chosen);
                let nearest = Neighbours::between(&known, &here, 1);
                for (at, &j) in chosen.iter().enumerate() {
                    let class = classes.get(nearest.of(at)[0] as usize).ok_or_else(damaged)?;
                    let share = shares.column_mut(j).get_mut(*class as usize);
                    *share.ok_or_else(damaged)? = T::one();
                }
            }
            unreached.clear();
        }
        Step::ClassSums { factors } => {
            let votes = shares.select_columns(&open().collect::<Vec<_>>());
            reply.list(&class_sums(&votes, &vec![1.0; votes.columns()], &factors));
            return Ok(None);
        }
        Step::Scale { factors } => {
            let open: Vec<usize> = open().collect();
            let mut votes = shares.select_columns(&open);
            scale_columns(&mut votes, &factors);
            for (at, &j) in open.iter().enumerate() {
                shares.column_mut(j).copy_from_slice(votes.column(at));
            }
        }
        Step::Kept => {
            let here: Vec<usize> = part.kept.1.iter().map(|&at| at as usize).collect();
            reply.list(&part.kept.0);
            reply.matrix(&shares.select_columns(&here));
            reply.list(&here.iter().map(|&at| pairs.radii[at]).collect::<Vec<f64>>());
            return Ok(None);
        }
        _ => return Err(damaged()),
    }
    Ok(Some(State::Shares { shares, unreached }))
}
