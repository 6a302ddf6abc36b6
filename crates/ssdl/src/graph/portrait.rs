//! What a graph looks like: how many edges, how even, how connected, how pure.

use super::Laplacian;
use crate::Real;
use crate::matrix::{Matrix, largest_eigenvalue};
use crate::sparse::Csr;

/// A sample with at least this many times the mean number of partners is a hub.
const HUB_FACTOR: f64 = 3.0;

/// Facts about a graph over samples.
#[derive(Clone, Debug, PartialEq)]
pub struct Portrait {
    /// Samples.
    pub nodes: usize,
    /// Pairs of samples that are tied directly.
    pub edges: usize,
    /// Partners of the sample with the fewest, of the middle one, on average, of the one with the
    /// most.
    pub degrees: Degrees,
    /// Samples without any partner.
    pub isolated: usize,
    /// Sizes of the connected parts, largest first.
    pub components: Vec<usize>,
    /// Samples with at least three times the mean number of partners, most first, and that number.
    pub hubs: Vec<(usize, usize)>,
    /// $\operatorname{tr} L$.
    pub trace: f64,
    /// Largest eigenvalue of $L$, by power iteration.
    pub largest_eigenvalue: f64,
    /// An upper bound on it (Gershgorin).
    pub spectral_bound: f64,
    /// Share of the edges between two labelled samples that join the same class.
    pub same_class: Option<f64>,
    /// Edges between two labelled samples; with few of them, the share says little.
    pub labelled_edges: usize,
}

/// Numbers of partners.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Degrees {
    /// The fewest.
    pub least: usize,
    /// The middle one.
    pub median: usize,
    /// On average.
    pub mean: f64,
    /// The most.
    pub most: usize,
}

impl Portrait {
    /// Describes a graph whose samples have these classes, where known.
    #[must_use]
    #[inline(never)]
    pub fn of<T: Real>(laplacian: &Laplacian<T>, classes: &[Option<usize>]) -> Self {
        let ties = laplacian.ties();
        let n = laplacian.n_samples();
        let (same, all) = labelled_ties(&ties, classes);
        let counts: Vec<usize> = (0..n).map(|j| ties.row(j).len()).collect();
        let mean = ties.entries() as f64 / n.max(1) as f64;
        let mut sorted = counts.clone();
        sorted.sort_unstable();
        let mut hubs: Vec<(usize, usize)> = counts
            .iter()
            .copied()
            .enumerate()
            .filter(|(_, count)| *count > 0 && *count as f64 >= HUB_FACTOR * mean)
            .collect();
        hubs.sort_by_key(|&(j, count)| (std::cmp::Reverse(count), j));
        Self {
            nodes: n,
            edges: ties.entries() / 2,
            degrees: Degrees {
                least: sorted.first().copied().unwrap_or(0),
                median: sorted.get(n / 2).copied().unwrap_or(0),
                mean,
                most: sorted.last().copied().unwrap_or(0),
            },
            isolated: counts.iter().filter(|count| **count == 0).count(),
            components: components(&ties),
            hubs,
            trace: laplacian.trace(),
            largest_eigenvalue: top_eigenvalue(laplacian),
            spectral_bound: laplacian.bound().iter().fold(0.0, |top: f64, b| top.max(b.wide())),
            same_class: (all > 0).then(|| same as f64 / all as f64),
            labelled_edges: all / 2,
        }
    }
}

fn top_eigenvalue<T: Real>(laplacian: &Laplacian<T>) -> f64 {
    let n = laplacian.n_samples();
    let mut scratch = Matrix::zeros(0, 0);
    let (mut v, mut image) = (Matrix::zeros(1, n), Matrix::zeros(1, n));
    let top = largest_eigenvalue(n, |x: &[T], out: &mut [T]| {
        v.as_mut_slice().copy_from_slice(x);
        laplacian.pull(&v, &mut scratch, &mut image);
        out.copy_from_slice(image.as_slice());
    });
    top.wide()
}

/// Sizes of the connected parts, largest first.
fn components<T: Real>(ties: &Csr<T>) -> Vec<usize> {
    let mut seen = vec![false; ties.rows()];
    let mut sizes = Vec::new();
    let mut waiting = Vec::new();
    for start in 0..ties.rows() {
        if std::mem::replace(&mut seen[start], true) {
            continue;
        }
        waiting.push(start);
        let mut size = 0;
        while let Some(j) = waiting.pop() {
            size += 1;
            for (i, _) in ties.row(j) {
                if !std::mem::replace(&mut seen[i], true) {
                    waiting.push(i);
                }
            }
        }
        sizes.push(size);
    }
    sizes.sort_unstable_by(|a, b| b.cmp(a));
    sizes
}

/// Ties between labelled samples, from both sides: those within a class, and all.
fn labelled_ties<T: Real>(ties: &Csr<T>, classes: &[Option<usize>]) -> (usize, usize) {
    let (mut same, mut all) = (0usize, 0usize);
    for (j, class) in classes.iter().enumerate() {
        for (i, _) in ties.row(j) {
            if let (Some(a), Some(b)) = (class, classes[i]) {
                all += 1;
                same += usize::from(*a == b);
            }
        }
    }
    (same, all)
}
