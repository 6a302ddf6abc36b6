//! Bytes that a fit will need, before it starts.

use super::{CodesUpdate, SolverKnobs};
use crate::graph::{Neighbours, Search};

/// One in so many coefficients of a code is not zero, as a rule.
const ONE_NONZERO_IN: u64 = 8;
/// Samples of a block that is read from a file, with room for the one before it.
const BLOCKS: u64 = 8192;

/// The sizes of a fit; they decide how much memory it takes, and limit its knobs.
#[derive(Clone, Copy, Debug)]
pub struct Sizes {
    /// $n$, after preparation.
    pub n_features: usize,
    /// $N$.
    pub n_samples: usize,
    /// Labelled samples.
    pub n_labelled: usize,
    /// $C$.
    pub n_classes: usize,
    /// Bytes of a number: 4 or 8.
    pub scalar: usize,
    /// Whether the samples are in a file once the graph is built.
    pub are_parked: bool,
}

impl Sizes {
    /// Bytes of the samples and of this many $C\times N$ arrays in double precision: what every
    /// method without atoms needs.
    #[must_use]
    pub fn bytes(&self, arrays: usize) -> u64 {
        array(self.n_features, self.n_samples, self.scalar).saturating_add(array(
            arrays,
            self.n_samples,
            8,
        ))
    }

    /// Peak bytes of a fit with $p$ atoms on a graph with rows of `row` entries (0: no graph), samples
    /// included.
    ///
    /// $O(N(n+p+C+k)+np+p^2)$: the samples, the codes, what the solver keeps, scores and memberships,
    /// the graph. The neighbour search is over before the codes begin.
    #[must_use]
    pub fn coupled(&self, n_atoms: usize, row: usize, solver: &SolverKnobs) -> u64 {
        let counts = (self.n_features, self.n_samples);
        let search = if row > 0 { Neighbours::search_bytes(counts, row, Search::Auto) } else { 0 };
        self.coupled_with(n_atoms, row, search, solver)
    }

    /// As [`coupled`](Sizes::coupled), with this many bytes for the neighbour search.
    pub(super) fn coupled_with(
        &self,
        n_atoms: usize,
        row: usize,
        search: u64,
        solver: &SolverKnobs,
    ) -> u64 {
        let Self { n_features: n, n_samples, n_classes: c, .. } = *self;
        let [n, big, p, c, k] = [n, n_samples, n_atoms, c, row].map(|count| Bytes(count as u64));
        let scalar = Bytes(self.scalar as u64);
        let samples = n * big;
        let graph = if k.0 > 0 {
            Bytes(2) * (k + Bytes(1)) * big * (scalar + Bytes(4)) + Bytes(3) * big * scalar
        } else {
            Bytes(0)
        };
        let working = match (solver.coder, k.0 > 0) {
            (CodesUpdate::Coordinate, false) => p * big,
            (CodesUpdate::Coordinate, true) => Bytes(2) * p * big,
            (CodesUpdate::Fista, false) => Bytes(7) * p * big,
            (CodesUpdate::Fista, true) => Bytes(9) * p * big,
            (CodesUpdate::Batches, _) => {
                let size = Bytes(solver.batch_size as u64).min(big);
                (Bytes(10) + k) * p * size + n * size
            }
        };
        // The codes at the start of this iteration and, from the second on, of the one before, without
        // their zeros.
        let copies = if solver.max_iterations > 1 { Bytes(2) } else { Bytes(1) };
        let nonzero = Bytes(p.0.div_ceil(ONE_NONZERO_IN)) * big;
        let earlier = copies * nonzero * (scalar + Bytes(4));
        let evaluation = if k.0 > 0 { p * big } else { Bytes(0) };
        let sums = Bytes(6) * n * p + Bytes(8) * p * p;
        let learning = p * big + working.max(evaluation) + Bytes(8) * c * big + sums;
        let learning = earlier + scalar * learning;
        let samples = scalar * samples;
        if self.are_parked {
            let blocks = Bytes(BLOCKS) * n * scalar;
            return (graph + (samples + Bytes(search)).max(blocks + learning)).0;
        }
        (samples + graph + Bytes(search).max(learning)).0
    }
}

/// Bytes of an array; the largest number where it would wrap.
pub(crate) fn array(rows: usize, columns: usize, scalar: usize) -> u64 {
    (Bytes(rows as u64) * Bytes(columns as u64) * Bytes(scalar as u64)).0
}

/// A count that stays at its largest value instead of wrapping: an absurd request must look absurd.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Bytes(u64);

impl std::ops::Add for Bytes {
    type Output = Self;
    fn add(self, other: Self) -> Self {
        Self(self.0.saturating_add(other.0))
    }
}

impl std::ops::Mul for Bytes {
    type Output = Self;
    fn mul(self, other: Self) -> Self {
        Self(self.0.saturating_mul(other.0))
    }
}
