//! The graph of neighbours as parts see it: who is near whom, and how far.

use std::ops::Range;

use crate::fit::parts::{Reader, Writer, damaged, number_locally};
use crate::graph::blocks::listed_distances;
use crate::graph::heat_weight;
use crate::sparse::Csr;
use crate::{Matrix, Real, Result, order};

/// Neighbours of samples, by their places among all: who has whom in its list, and the squared distance.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Edges {
    of: Vec<u32>,
    near: Vec<u32>,
    squared: Vec<f64>,
}

impl Edges {
    /// The edges of `queries`, whose first has the place `first`: `k` neighbours each, as columns of `table` and as
    /// places, nearest first.
    #[must_use]
    #[inline(never)]
    pub fn of_lists<T: Real>(
        (table, queries): (&Matrix<T>, &Matrix<T>),
        k: usize,
        (lists, places): (&[u32], &[u32]),
        first: usize,
    ) -> Self {
        let own = (0..queries.columns()).flat_map(|i| std::iter::repeat_n((first + i) as u32, k));
        let squared = listed_distances(table, queries, (k, lists));
        // Too far to count, but a number.
        let squared = squared.into_iter().map(|z| z.min(f64::MAX)).collect();
        Self { of: own.collect(), near: places.to_vec(), squared }
    }

    /// Those whose neighbour is one of these places.
    #[must_use]
    pub fn touching(&self, places: Range<usize>) -> Self {
        let mut some = Self::default();
        for (of, near, squared) in self.each().filter(|edge| places.contains(&edge.1)) {
            some.of.push(of as u32);
            some.near.push(near as u32);
            some.squared.push(squared);
        }
        some
    }

    /// (sample, neighbour, squared distance).
    fn each(&self) -> impl Iterator<Item = (usize, usize, f64)> + '_ {
        let both = self.of.iter().zip(&self.near).zip(&self.squared);
        both.map(|((of, near), squared)| (*of as usize, *near as usize, *squared))
    }

    /// As bytes.
    #[must_use]
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut out = Writer::new();
        out.list(&self.of);
        out.list(&self.near);
        out.list(&self.squared);
        out.into_bytes()
    }

    /// From bytes.
    ///
    /// # Errors
    /// If they are no edges.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self> {
        let mut from = Reader::new(bytes);
        let found = Self { of: from.list()?, near: from.list()?, squared: from.list()? };
        let count = found.of.len();
        let is_sound = found.near.len() == count && found.squared.len() == count;
        if is_sound { Ok(found) } else { Err(damaged()) }
    }
}

/// How much a pair counts.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum PairWeight {
    /// One.
    One,
    /// A heat kernel of this width, one at the squared distance `shift`.
    Heat { width: f64, shift: f64 },
}

/// All pairs of a part's samples, of which one is among the nearest of the other.
#[derive(Clone, Debug)]
pub(crate) struct Pairs {
    /// Squared distances, a row for each own sample; columns are its own samples, then the halo.
    squared: Csr<f64>,
    /// Places of the halo, ascending; so those of one part lie together.
    pub halo: Vec<u32>,
    /// The squared distance of the last neighbour of each own sample.
    pub radii: Vec<f64>,
}

impl Pairs {
    /// From the edges of the samples at these places, and those of others that touch them.
    pub fn new(places: &Range<usize>, own: &Edges, others: &[Edges]) -> Self {
        let mut rows: Vec<Vec<(usize, f64)>> = vec![Vec::new(); places.len()];
        let mut radii = vec![0.0; places.len()];
        for (of, near, squared) in own.each().filter(|edge| places.contains(&edge.0)) {
            radii[of - places.start] = squared;
            rows[of - places.start].push((near, squared));
            if places.contains(&near) {
                rows[near - places.start].push((of, squared));
            }
        }
        for (of, near, squared) in others.iter().flat_map(Edges::each) {
            if places.contains(&near) && !places.contains(&of) {
                rows[near - places.start].push((of, squared));
            }
        }
        let halo = number_locally(places, &mut rows);
        for row in &mut rows {
            order::by_column(row);
            row.dedup_by_key(|(at, _)| *at);
        }
        Self { squared: Csr::from_rows(places.len() + halo.len(), rows), halo, radii }
    }

    /// The least squared distance; infinite without a pair.
    pub fn least(&self) -> f64 {
        self.squared.parts().2.iter().fold(f64::INFINITY, |least, z| least.min(*z))
    }

    /// The weights, rounded to the precision `T` as in a fit of all samples together.
    pub fn weights<T: Real>(&self, rule: PairWeight) -> Csr<f64> {
        let weigh = |squared: f64| match rule {
            PairWeight::One => Some(1.0),
            PairWeight::Heat { width, shift } => {
                heat_weight::<T>(squared, shift, width).map(Real::wide)
            }
        };
        let row = |i: usize| self.squared.row(i).filter_map(|(j, z)| Some((j, weigh(z)?)));
        let rows = (0..self.squared.rows()).map(|i| row(i).collect::<Vec<_>>());
        Csr::from_rows(self.squared.columns(), rows)
    }

    pub fn write(&self, out: &mut Writer) {
        out.sparse(&self.squared);
        out.list(&self.halo);
        out.list(&self.radii);
    }

    pub fn read(from: &mut Reader<'_>) -> Result<Self> {
        let found = Self { squared: from.sparse()?, halo: from.list()?, radii: from.list()? };
        let own = found.squared.rows();
        let is_sound =
            found.squared.columns() == own + found.halo.len() && found.radii.len() == own;
        if is_sound { Ok(found) } else { Err(damaged()) }
    }
}
