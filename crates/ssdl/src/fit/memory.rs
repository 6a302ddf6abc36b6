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
    let s = |count: usize| count as u64;
    let Sizes { n_features: n, n_samples, n_atoms: p, n_classes: c, n_neighbors: k, .. } = *sizes;
    let (n, big, p, c, k) = (s(n), s(n_samples), s(p), s(c), s(k));
    let scalar = s(sizes.scalar);
    let samples = n * big;
    let graph = if k > 0 { 2 * (k + 1) * big * (scalar + 4) + 3 * big * scalar } else { 0 };
    let search = if k > 0 { samples * 4 + k * big * 4 } else { 0 };
    let coder = match sizes.coder {
        CoderMemory::Whole(arrays) => s(arrays) * p * big,
        CoderMemory::Batch(size) => {
            let size = s(size).min(big);
            (9 + (k + 1)) * p * size + n * size
        }
    };
    let evaluation = if k > 0 { p * big } else { 0 };
    let learning = p * big + coder.max(evaluation) + 8 * c * big + 6 * n * p + 8 * p * p;
    scalar * samples + graph + search.max(scalar * learning)
}
