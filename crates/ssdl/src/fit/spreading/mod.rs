//! Labels spread over samples that lie in several parts.
//!
//! Each part has its rows of the graph and its samples' scores. Before every product with the graph a part gets the
//! residuals or scores of its halo, the foreign samples in its rows; what travels otherwise are a few numbers for each
//! class. The solver is that of all samples together; only its sums are taken part by part, in their order.

mod message;
mod pairs;
mod state;
mod step;

use std::marker::PhantomData;

use message::{Rule, Step};
pub use pairs::Edges;
pub(crate) use pairs::{PairWeight, Pairs};
pub(crate) use step::{outgoing, shares, step};

use super::parts::{Crew, Reader, Round, damaged};
use crate::classifier::diffusion::{Scores, refine, solve};
use crate::classifier::{Balance, Spread, as_shares};
use crate::{Error, Matrix, Real, Result, stop};

/// How spreading over parts went.
pub(crate) struct Spreaded {
    /// How many of all samples no label reaches; they follow the nearest label.
    pub n_unreached: usize,
    pub iterations: usize,
    pub converged: bool,
    /// As in [`SpreadLabels`](crate::classifier::SpreadLabels).
    pub roughness: f64,
    pub misfit: f64,
}

/// All parts, while labels spread.
pub(crate) struct Spreading<'a, T> {
    crew: &'a dyn Crew,
    n_classes: usize,
    precision: PhantomData<T>,
}

impl<'a, T: Real> Spreading<'a, T> {
    pub fn new(crew: &'a dyn Crew, n_classes: usize) -> Self {
        Self { crew, n_classes, precision: PhantomData }
    }

    /// The least squared distance of a pair; 0 without one.
    ///
    /// # Errors
    /// If a part cannot answer.
    pub fn least(&self) -> Result<f64> {
        let all = self.ask(&Step::Least, |from| from.number())?;
        let least = all.into_iter().fold(f64::INFINITY, f64::min);
        Ok(if least.is_finite() { least } else { 0.0 })
    }

    /// Spreads labels; one of each class counts as much as `of_classes` says. `known` are labelled samples with their
    /// classes, for samples that no label reaches.
    ///
    /// # Errors
    /// If a part cannot take a step.
    pub fn spread(
        &mut self,
        spread: &Spread,
        weight: PairWeight,
        of_classes: &[T],
        known: (Matrix<T>, &[usize]),
    ) -> Result<Spreaded> {
        let spreading = (!spread.clamp).then_some(spread.spreading);
        let of_classes = of_classes.iter().map(|weight| weight.wide()).collect();
        self.send(&Step::Weigh(Rule { weight, spreading, of_classes }))?;
        while spread.clamp && self.ask(&Step::Reach, |from| from.flag())?.contains(&true) {}
        let (iterations, converged) = solve(self, spread.tolerance, spread.max_iterations)?;
        refine(self, spread.tolerance)?;
        if spread.clamp {
            self.send(&Step::Unbalance)?;
        }
        let read = |from: &mut Reader<'_>| Ok((from.number()?, from.number()?, from.count()?));
        let measured = self.ask(&Step::Share, read)?;
        let n_unreached = measured.iter().map(|reply| reply.2).sum();
        if n_unreached > 0 {
            let classes = known.1.iter().map(|&class| class as u32).collect();
            self.send(&Step::Follow { known: known.0, classes })?;
        }
        Ok(Spreaded {
            n_unreached,
            iterations,
            converged,
            roughness: measured.iter().map(|reply| reply.0).sum(),
            misfit: measured.iter().map(|reply| reply.1).sum(),
        })
    }

    /// Moves the class shares of all unlabelled samples.
    ///
    /// # Errors
    /// If a part cannot take a step.
    pub fn balance(&self, balance: &Balance) -> Result<()> {
        let mut failure = None;
        let factors = balance.factors_of(|factors| {
            let sums = self.sum(&Step::ClassSums { factors: factors.to_vec() });
            as_shares(sums.unwrap_or_else(|error| {
                failure.get_or_insert(error);
                vec![0.0; factors.len()]
            }))
        });
        match failure {
            Some(error) => Err(error),
            None => self.send(&Step::Scale { factors }),
        }
    }

    /// Of the samples that the model keeps, the shares ($C\times N$), and the squared distance of the last neighbour
    /// of each among all samples.
    ///
    /// # Errors
    /// If a part cannot answer, or one of them is nowhere.
    pub fn kept(&self, n_kept: usize) -> Result<(Matrix<T>, Vec<T>)> {
        let mut all = Matrix::zeros(self.n_classes, n_kept);
        let mut all_radii = vec![T::zero(); n_kept];
        let mut count = 0;
        let read = |from: &mut Reader<'_>| {
            Ok((from.list::<u32>()?, from.matrix::<T>()?, from.list::<f64>()?))
        };
        for (places, shares, radii) in self.ask(&Step::Kept, read)? {
            let fits = shares.rows() == self.n_classes
                && shares.columns() == places.len()
                && radii.len() == places.len()
                && places.iter().all(|&place| (place as usize) < n_kept);
            if !fits {
                return Err(damaged());
            }
            for (at, &place) in places.iter().enumerate() {
                all.column_mut(place as usize).copy_from_slice(shares.column(at));
                all_radii[place as usize] = T::of(radii[at]);
            }
            count += places.len();
        }
        if count == n_kept { Ok((all, all_radii)) } else { Err(damaged()) }
    }

    fn send(&self, step: &Step<T>) -> Result<()> {
        self.ask(step, |_| Ok(())).map(drop)
    }

    /// Sends a step to all parts and reads their replies.
    fn ask<R>(
        &self,
        step: &Step<T>,
        read: impl Fn(&mut Reader<'_>) -> Result<R>,
    ) -> Result<Vec<R>> {
        if stop::armed().is_set() {
            return Err(Error::Cancelled);
        }
        let round = Round { exchanges: step.exchanges(), changes: step.changes() };
        let replies = self.crew.step(&step.to_bytes(), round)?;
        if replies.len() != self.crew.n_parts() {
            return Err(damaged());
        }
        replies.iter().map(|reply| read(&mut Reader::new(reply))).collect()
    }

    /// A number for each class, added up in the order of the parts.
    fn sum(&self, step: &Step<T>) -> Result<Vec<f64>> {
        let mut total = vec![0.0; self.n_classes];
        for reply in self.ask(step, |from| from.list::<f64>())? {
            if reply.len() != self.n_classes {
                return Err(damaged());
            }
            total.iter_mut().zip(reply).for_each(|(total, value)| *total += value);
        }
        Ok(total)
    }
}

/// The scores of all parts, as their solver sees them.
impl<T: Real> Scores for Spreading<'_, T> {
    type Error = Error;

    fn begin(&mut self) -> Result<Vec<f64>> {
        self.sum(&Step::Begin)
    }

    fn turn(&mut self, keep: &[f64]) -> Result<Vec<f64>> {
        self.sum(&Step::Turn { keep: keep.to_vec() })
    }

    fn advance(&mut self, steps: &[f64]) -> Result<Vec<f64>> {
        self.sum(&Step::Advance { steps: steps.to_vec() })
    }

    fn settle(&mut self) -> Result<()> {
        self.send(&Step::Settle)
    }

    fn refine(&mut self, enough: f64) -> Result<bool> {
        let steady = self.ask(&Step::Refine { enough }, |from| from.flag())?;
        Ok(steady.iter().all(|is| *is))
    }
}
