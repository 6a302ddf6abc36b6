//! Bytes that a fit will need, before it starts.

/// The sizes that decide how much memory a fit takes.
#[derive(Clone, Copy, Debug)]
pub struct Sizes {
    /// $n$, after preparation.
    pub n_features: usize,
    /// $N$.
    pub n_samples: usize,
    /// $p$.
    pub n_atoms: usize,
    /// $C$.
    pub n_classes: usize,
    /// $k$; 0 without a graph.
    pub n_neighbors: usize,
    /// Bytes of a number: 4 or 8.
    pub scalar: usize,
    /// What the coder keeps.
    pub coder: CoderMemory,
}

/// Matrices of the size of the codes that a coder works with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CoderMemory {
    /// This many $p\times N$ arrays.
    Whole(usize),
    /// Arrays for a batch of this many samples.
    Batch(usize),
}

/// Peak bytes of a fit on samples that are already in memory (they are counted).
///
/// $O(N(n+p+C+k)+np+p^2)$: the samples, the codes, what the coder keeps, scores and memberships,
/// the graph; the neighbour search works on a single-precision copy of the samples.
#[must_use]
pub fn memory_needed(sizes: &Sizes) -> u64 {
    let Sizes { n_features: n, n_samples, n_atoms: p, n_classes: c, n_neighbors: k, .. } = *sizes;
    let [n, big, p, c, k] = [n, n_samples, p, c, k].map(|count| Bytes(count as u64));
    let scalar = Bytes(sizes.scalar as u64);
    let samples = n * big;
    let graph = if k.0 > 0 {
        Bytes(2) * (k + Bytes(1)) * big * (scalar + Bytes(4)) + Bytes(3) * big * scalar
    } else {
        Bytes(0)
    };
    let search = if k.0 > 0 { samples * Bytes(4) + k * big * Bytes(4) } else { Bytes(0) };
    let coder = match sizes.coder {
        CoderMemory::Whole(arrays) => Bytes(arrays as u64) * p * big,
        CoderMemory::Batch(size) => {
            let size = Bytes(size as u64).min(big);
            (Bytes(10) + k) * p * size + n * size
        }
    };
    let evaluation = if k.0 > 0 { p * big } else { Bytes(0) };
    let learning =
        p * big + coder.max(evaluation) + Bytes(8) * c * big + Bytes(6) * n * p + Bytes(8) * p * p;
    (scalar * samples + graph + search.max(scalar * learning)).0
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
