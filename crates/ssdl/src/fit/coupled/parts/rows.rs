//! The rows of the graph that a part needs, and whose codes it must be told.
//!
//! Samples are numbered by *places*: those of part 0 first, then those of part 1, and so on. Row $i$ of the factor
//! $M$ of $L=M^\top M$ belongs to the part of sample $i$. A part needs its own rows and those rows of others in which
//! its samples appear; the foreign samples of all these rows are its *halo*.

use std::ops::Range;

use super::wire::{Reader, Writer};
use crate::graph::Laplacian;
use crate::matrix::axpy;
use crate::sparse::Csr;
use crate::{Matrix, Real, Result};

/// Some rows of the factor, over the places of all samples.
#[derive(Clone, Debug, PartialEq)]
pub struct Rows<T> {
    entries: Csr<T>,
}

impl<T: Real> Rows<T> {
    /// Rows of the factor of all samples.
    #[must_use]
    pub fn new(entries: Csr<T>) -> Self {
        Self { entries }
    }

    /// The rows of samples that are mixed from `neighbours` (places, `k` for each) with `weights`; `first` is the
    /// place of the first of them.
    #[must_use]
    pub fn of_mixtures(first: usize, total: usize, k: usize, lists: (&[u32], &[T])) -> Self {
        let (neighbours, weights) = lists;
        let count = neighbours.len().checked_div(k).unwrap_or(0);
        let rows = (0..count).map(|i| {
            let own = std::iter::once((first + i, T::one()));
            let others = neighbours[i * k..][..k].iter().zip(&weights[i * k..][..k]);
            own.chain(others.map(|(&place, &weight)| (place as usize, -weight)))
        });
        Self { entries: Csr::from_rows(total, rows) }
    }

    /// The rows in which one of these places appears.
    #[must_use]
    pub fn touching(&self, places: std::ops::Range<usize>) -> Self {
        let touches = |i: &usize| self.entries.row(*i).any(|(place, _)| places.contains(&place));
        let rows = (0..self.entries.rows()).filter(touches).map(|i| self.entries.row(i));
        Self { entries: Csr::from_rows(self.entries.columns(), rows) }
    }

    /// As bytes.
    #[must_use]
    #[inline(never)]
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut out = Writer::new();
        out.sparse(&self.entries);
        out.into_bytes()
    }

    /// From bytes.
    ///
    /// # Errors
    /// If they are no rows.
    #[inline(never)]
    pub fn from_bytes(bytes: &[u8]) -> Result<Self> {
        Ok(Self { entries: Reader::new(bytes).sparse()? })
    }
}

/// The graph as one part sees it.
#[derive(Clone, Debug)]
pub(super) struct Ties<T> {
    /// Rows in which own samples appear, its own first; columns are its own samples, then the halo.
    rows: Csr<T>,
    n_own: usize,
    /// Places of the halo, ascending; so those of one part lie together.
    pub halo: Vec<u32>,
    /// $L$ over the own samples with the halo held fixed.
    pub inside: Laplacian<T>,
    /// $\sum_{m,i}\lvert M_{mj}M_{mi}\rvert$ over the samples $i$ of the halo: no sum $\sum_i\lvert L_{ij}\rvert$ over them is
    /// larger.
    pub strain: Vec<T>,
}

/// Numbers the columns of rows, which are places among all samples, anew: the samples of this part from 0, then those
/// of others. Returns the places of these, ascending: the halo.
pub(crate) fn number_locally<V>(places: &Range<usize>, rows: &mut [Vec<(usize, V)>]) -> Vec<u32> {
    let foreign = rows.iter().flatten().filter(|(place, _)| !places.contains(place));
    let mut halo: Vec<u32> = foreign.map(|(place, _)| *place as u32).collect();
    halo.sort_unstable();
    halo.dedup();
    for (place, _) in rows.iter_mut().flatten() {
        *place = match places.contains(place) {
            true => *place - places.start,
            false => places.len() + halo.partition_point(|&other| (other as usize) < *place),
        };
    }
    halo
}

impl<T: Real> Ties<T> {
    /// From the own rows of the samples at these places, and the rows of others that touch them.
    pub fn new(places: Range<usize>, own: &Rows<T>, others: &[Rows<T>]) -> Self {
        let n_own = own.entries.rows();
        let all = std::iter::once(own).chain(others);
        let all = all.flat_map(|rows| (0..rows.entries.rows()).map(|i| rows.entries.row(i)));
        let mut all: Vec<Vec<(usize, T)>> = all.map(Iterator::collect).collect();
        let halo = number_locally(&places, &mut all);
        let rows = Csr::from_rows(places.len() + halo.len(), all);
        Self::assemble(rows, n_own, halo)
    }

    fn assemble(rows: Csr<T>, n_own: usize, halo: Vec<u32>) -> Self {
        let count = rows.columns() - halo.len();
        let inside = (0..rows.rows()).map(|m| rows.row(m).filter(|(j, _)| *j < count));
        let inside = inside.map(Iterator::collect::<Vec<_>>);
        let inside = Laplacian::from_factor(Csr::from_rows(count, inside));
        let mut strain = vec![T::zero(); count];
        for m in 0..rows.rows() {
            let foreign = rows.row(m).filter(|(j, _)| *j >= count);
            let foreign: T = foreign.map(|(_, weight)| weight.abs()).sum();
            let own = rows.row(m).filter(|(j, _)| *j < count);
            own.for_each(|(j, weight)| strain[j] += weight.abs() * foreign);
        }
        Self { rows, n_own, halo, inside, strain }
    }

    pub fn write(&self, out: &mut Writer) {
        out.count(self.n_own);
        out.list(&self.halo);
        out.sparse(&self.rows);
    }

    pub fn read(from: &mut Reader<'_>) -> Result<Self> {
        let (n_own, halo, rows) = (from.count()?, from.list()?, from.sparse()?);
        if rows.columns() < halo.len() || n_own > rows.rows() {
            return Err(super::wire::damaged());
        }
        Ok(Self::assemble(rows, n_own, halo))
    }

    /// Whether any row ties samples to each other.
    pub fn is_empty(&self) -> bool {
        self.rows.entries() == 0
    }

    /// The pull of the halo on each own sample: $\sum_mM_{mj}e^\circ_m$ with $e^\circ$ the residuals of the halo alone.
    pub fn pull(&self, halo: &Matrix<T>) -> Matrix<T> {
        let count = self.inside.n_samples();
        let mut pull = Matrix::zeros(halo.rows(), count);
        let mut fixed = vec![T::zero(); halo.rows()];
        for m in 0..self.rows.rows() {
            fixed.fill(T::zero());
            let mut is_fixed = false;
            for (j, weight) in self.rows.row(m).filter(|(j, _)| *j >= count) {
                axpy(weight, halo.column(j - count), &mut fixed);
                is_fixed = true;
            }
            for (j, weight) in self.rows.row(m).filter(|(j, _)| is_fixed && *j < count) {
                axpy(weight, &fixed, pull.column_mut(j));
            }
        }
        pull
    }

    /// This part's share of $\operatorname{tr}(ALA^\top)$: the residuals of its own rows.
    pub fn energy(&self, codes: &Matrix<T>, halo: &Matrix<T>) -> f64 {
        let count = self.inside.n_samples();
        let mut residual = vec![T::zero(); codes.rows()];
        let mut energy = 0.0;
        for m in 0..self.n_own {
            residual.fill(T::zero());
            for (j, weight) in self.rows.row(m) {
                let code = if j < count { codes.column(j) } else { halo.column(j - count) };
                axpy(weight, code, &mut residual);
            }
            energy += crate::matrix::squared_norm(&residual);
        }
        energy
    }
}
