//! One part: what it holds, and what it tells other parts.

use std::ops::Range;

use super::rows::{Rows, Ties};
use super::state::State;
use super::wire::{Reader, Writer, damaged};
use crate::fit::spreading::{self, Edges, Pairs};
use crate::sparse::Csr;
use crate::{Matrix, Real, Result};

/// What a part holds and no fit changes: its samples, their labels, its share of the graph.
///
/// All that does change is its state, a string of bytes. A step takes a state and gives the next one, so that it
/// can be taken again anywhere: nothing is lost with the process that took it.
#[derive(Clone, Debug)]
pub struct Part<T> {
    /// $n\times m$.
    pub(crate) samples: Matrix<T>,
    pub(crate) assigned: Vec<Option<usize>>,
    /// How much each sample counts, relative to the labelled ones; `None`: all the same.
    pub(crate) weights: Option<Vec<T>>,
    /// $\lVert X\rVert^2$.
    pub(super) energy: f64,
    /// The graph that codes follow; `None` without one.
    pub(super) ties: Option<Ties<T>>,
    /// The graph along which labels spread; `None` without one.
    pub(super) pairs: Option<Pairs>,
    /// The place of its first sample.
    first: usize,
    /// For each part, the own samples whose codes that part needs.
    sends: Vec<Vec<u32>>,
    /// Samples that the model keeps: their places in the model, and here.
    pub(crate) kept: (Vec<u32>, Vec<u32>),
}

/// What a part is told of the graph: the rows or edges of its own samples, and those of others that touch them.
#[derive(Clone, Copy, Debug)]
pub enum PartGraph<'a, T> {
    /// None.
    Without,
    /// Samples mixed from others, for codes to follow.
    Mixtures(&'a Rows<T>, &'a [Rows<T>]),
    /// Neighbours, for labels to spread along.
    Neighbours(&'a Edges, &'a [Edges]),
}

/// Where a part's samples lie among all.
#[derive(Clone, Debug)]
pub struct Place {
    /// The places of its samples.
    pub places: Range<usize>,
    /// Samples that the model keeps: their places in the model, and in this part.
    pub kept: (Vec<u32>, Vec<u32>),
}

impl<T: Real> Part<T> {
    /// From samples with their classes, and with the graph that touches them.
    ///
    /// # Errors
    /// If the sizes do not fit.
    #[inline(never)]
    pub fn new(
        samples: Matrix<T>,
        assigned: Vec<Option<usize>>,
        graph: PartGraph<'_, T>,
        place: Place,
    ) -> Result<Self> {
        let count = samples.columns();
        let is_kept_here = place.kept.1.iter().all(|&at| (at as usize) < count);
        if assigned.len() != count || place.places.len() != count || !is_kept_here {
            return Err(damaged());
        }
        let first = place.places.start;
        let (ties, pairs) = match graph {
            PartGraph::Without => (None, None),
            PartGraph::Mixtures(own, others) => (Some(Ties::new(place.places, own, others)), None),
            PartGraph::Neighbours(own, others) => {
                (None, Some(Pairs::new(&place.places, own, others)))
            }
        };
        Ok(Self {
            energy: samples.squared_norm(),
            ties,
            pairs,
            samples,
            assigned,
            weights: None,
            first,
            sends: Vec::new(),
            kept: place.kept,
        })
    }

    /// Number of samples.
    #[must_use]
    pub fn n_samples(&self) -> usize {
        self.samples.columns()
    }

    /// The places within the given ones whose codes or scores this part needs.
    #[must_use]
    pub fn needs(&self, places: &Range<usize>) -> Vec<u32> {
        let ties = self.ties.iter().flat_map(|ties| &ties.halo);
        let halo = ties.chain(self.pairs.iter().flat_map(|pairs| &pairs.halo));
        halo.copied().filter(|&place| places.contains(&(place as usize))).collect()
    }

    /// The same part, once it knows which places each part needs of it.
    ///
    /// # Errors
    /// If a place is not its own.
    pub fn sending(mut self, needed: &[Vec<u32>]) -> Result<Self> {
        let own = |&place: &u32| {
            let at = (place as usize).checked_sub(self.first).filter(|at| *at < self.n_samples());
            at.map(|at| at as u32).ok_or_else(damaged)
        };
        self.sends =
            needed.iter().map(|list| list.iter().map(own).collect()).collect::<Result<_>>()?;
        Ok(self)
    }

    /// The same part with weights of its samples, relative to the mean of all labelled samples.
    ///
    /// # Errors
    /// If there is not one above zero for each.
    pub fn weighing(mut self, weights: &[f64]) -> Result<Self> {
        let sound = weights.iter().all(|weight| weight.is_finite() && *weight > 0.0);
        if weights.len() != self.n_samples() || !sound {
            return Err(damaged());
        }
        self.weights = Some(weights.iter().map(|weight| T::of(*weight)).collect());
        Ok(self)
    }

    /// The codes, or scores, that another part needs, from this part's state.
    ///
    /// # Errors
    /// If the state cannot be read.
    #[inline(never)]
    pub fn outgoing(&self, state: &[u8], to: usize) -> Result<Vec<u8>> {
        let needed = self.sends.get(to).map_or(&[][..], Vec::as_slice);
        if self.pairs.is_some() {
            return spreading::outgoing::<T>(state, needed);
        }
        let codes = State::<T>::codes_of(state)?;
        let rows = needed.iter().map(|&at| codes.row(at as usize));
        let mut out = Writer::new();
        out.sparse(&Csr::from_rows(codes.columns(), rows));
        Ok(out.into_bytes())
    }

    /// The codes of the halo, from what the other parts send, in their order.
    pub(super) fn halo(&self, incoming: &[&[u8]], n_atoms: usize) -> Result<Matrix<T>> {
        let count = self.ties.as_ref().map_or(0, |ties| ties.halo.len());
        let mut halo = Matrix::zeros(n_atoms, count);
        let mut at = 0;
        for bytes in incoming {
            let codes: Csr<T> = Reader::new(bytes).sparse()?;
            if at + codes.rows() > count || (codes.rows() > 0 && codes.columns() != n_atoms) {
                return Err(damaged());
            }
            for i in 0..codes.rows() {
                codes.row(i).for_each(|(k, value)| halo.column_mut(at + i)[k] = value);
            }
            at += codes.rows();
        }
        if at == count { Ok(halo) } else { Err(damaged()) }
    }

    /// As bytes.
    #[must_use]
    #[inline(never)]
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut out = Writer::new();
        out.matrix(&self.samples);
        let classes = self.assigned.iter().map(|class| class.map_or(u32::MAX, |c| c as u32));
        out.list(&classes.collect::<Vec<u32>>());
        out.optional(self.weights.as_ref(), |out, weights| out.list(weights));
        out.optional(self.ties.as_ref(), |out, ties| ties.write(out));
        out.optional(self.pairs.as_ref(), |out, pairs| pairs.write(out));
        out.count(self.first);
        out.count(self.sends.len());
        self.sends.iter().for_each(|list| out.list(list));
        out.list(&self.kept.0);
        out.list(&self.kept.1);
        out.into_bytes()
    }

    /// From bytes.
    ///
    /// # Errors
    /// If they are no part.
    #[inline(never)]
    pub fn from_bytes(bytes: &[u8]) -> Result<Self> {
        let mut from = Reader::new(bytes);
        let samples: Matrix<T> = from.matrix()?;
        let classes: Vec<u32> = from.list()?;
        let assigned = classes.iter().map(|&c| (c != u32::MAX).then_some(c as usize)).collect();
        let weights = from.optional(|from| from.list())?;
        let ties = from.optional(|from| Ties::read(from))?;
        let pairs = from.optional(|from| Pairs::read(from))?;
        let first = from.count()?;
        let sends = (0..from.count()?).map(|_| from.list()).collect::<Result<_>>()?;
        let kept = (from.list()?, from.list()?);
        let energy = samples.squared_norm();
        Ok(Self { samples, assigned, weights, energy, ties, pairs, first, sends, kept })
    }
}
