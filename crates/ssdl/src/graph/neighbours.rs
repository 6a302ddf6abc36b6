//! Exact k nearest neighbours, blocked and parallel.
//!
//! Candidates come from a single-precision product of tiles; they are then measured again in full,
//! and an error bound decides whether the list is provably right. Where it is not (near ties,
//! duplicates), that sample is searched by direct distances. Ties go to the smaller index.

use super::nearby;
use super::single::Single;
use crate::device::{self, Engine};
use crate::matrix::{Matrix, View, squared_distance};
use crate::stop::Armed;
use crate::threads::Loops;
use crate::wide::wide;
use crate::{Error, Real, Result, stop};

/// Samples compared at once: a tile of distances (512 kB in `f32`) stays in cache.
const QUERIES: usize = 256;
const REFERENCES: usize = 512;
/// Candidates beyond k that the fast pass keeps, so that its rounding seldom decides.
const SPARE: usize = 8;

/// Samples up to which the search is exact if left to choose.
const EXACT_UP_TO: usize = 20_000;
/// Below this many samples a forest has nothing to gain.
const FEW: usize = 512;
/// Samples whose lists are searched exactly to estimate how much an approximate search has missed.
const CHECKED: usize = 200;

crate::choice! {
    /// How nearest neighbours are searched.
    pub enum Search {
        /// Exactly up to 20,000 samples, approximately beyond.
        Auto = "auto",
        /// By comparing all pairs.
        Exact = "exact",
        /// Along a forest of random cuts and from neighbour to neighbour; hardly any is missed.
        Approximate = "approximate",
    }
}

impl Search {
    /// Whether this many samples are searched approximately.
    #[must_use]
    pub fn is_approximate(self, n_samples: usize) -> bool {
        match self {
            Self::Auto => n_samples > EXACT_UP_TO,
            Self::Exact => false,
            Self::Approximate => true,
        }
    }
}

/// The nearest neighbours of a set of samples, nearest first.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Neighbours {
    k: usize,
    indices: Vec<u32>,
}

impl Neighbours {
    /// The `k` nearest other samples of every sample (itself excluded by its index).
    ///
    /// $k$ is cut to $N-1$. Cost $nN^2$ multiply-adds, memory $kN$.
    #[must_use]
    #[inline(never)]
    pub fn within<T: Real>(samples: &Matrix<T>, k: usize) -> Self {
        let k = k.min(samples.columns().saturating_sub(1));
        Self::compare(samples, samples, k, true)
    }

    /// As [`within`](Neighbours::within), without comparing all pairs: about one in a hundred is missed.
    ///
    /// The distances that order a list are exact, ties go to the smaller index. Cost about
    /// $nN\log N$, memory $O(kN)$; the same bits on any number of threads.
    #[must_use]
    #[inline(never)]
    pub fn nearby<T: Real>(samples: &Matrix<T>, k: usize) -> Self {
        let k = k.min(samples.columns().saturating_sub(1));
        if samples.columns() < FEW.max(4 * k) || k == 0 || !nearby::can_measure(samples) {
            return Self::within(samples, k);
        }
        Self { k, indices: nearby::within(samples, k) }
    }

    /// The `k` nearest other samples by the search that is chosen, and how many of the true ones an
    /// approximate search has found, from 0 to 1; `None` after an exact one.
    #[must_use]
    #[inline(never)]
    pub fn search<T: Real>(samples: &Matrix<T>, k: usize, search: Search) -> (Self, Option<f64>) {
        // A device compares all pairs faster than a search could avoid them.
        let is_lent = search == Search::Auto && device::is_lent(samples.columns());
        if is_lent || !search.is_approximate(samples.columns()) {
            return (Self::within(samples, k), None);
        }
        let found = Self::nearby(samples, k);
        let recall = found.recall(samples);
        (found, Some(recall))
    }

    /// Bytes of a search for the `k` nearest of samples with these counts of features and samples, the
    /// samples themselves not counted.
    #[must_use]
    pub fn search_bytes((n_features, n): (usize, usize), k: usize, search: Search) -> u64 {
        let lists = (4 * k as u64 + 4).saturating_mul(n as u64);
        let beside = match search.is_approximate(n) {
            true => nearby::bytes((n_features, n), k),
            // A tile of distances, and the samples of both its sides.
            false => 4 * (n_features * (QUERIES + REFERENCES) + QUERIES * REFERENCES) as u64,
        };
        lists.saturating_add(beside)
    }

    /// The share of the true neighbours that these lists of training samples hold, estimated from 200
    /// samples that are searched exactly. One that is as near as the last true one counts as true.
    #[must_use]
    #[inline(never)]
    pub fn recall<T: Real>(&self, samples: &Matrix<T>) -> f64 {
        let count = samples.columns().min(CHECKED);
        if self.k == 0 || count == 0 || stop::armed().is_set() {
            return 1.0;
        }
        let chosen: Vec<usize> = (0..count).map(|at| at * samples.columns() / count).collect();
        let queries = samples.select_columns(&chosen);
        let exact = Self::between(samples, &queries, self.k + 1);
        let found: usize = chosen
            .iter()
            .enumerate()
            .map(|(at, &i)| {
                let distance =
                    |j: &u32| squared_distance(samples.column(i), samples.column(*j as usize));
                let others = exact.of(at).iter().filter(|j| **j as usize != i).take(self.k);
                let last = others.map(distance).fold(0.0, f64::max);
                self.of(i).iter().filter(|j| distance(j) <= last).count()
            })
            .sum();
        found as f64 / (count * self.k) as f64
    }

    /// The `k` nearest of `samples` for every column of `new`; $k$ is cut to $N$.
    #[must_use]
    #[inline(never)]
    pub fn between<T: Real>(samples: &Matrix<T>, new: &Matrix<T>, k: usize) -> Self {
        Self::compare(samples, new, k.min(samples.columns()), false)
    }

    /// From lists of the same length, nearest first.
    pub(super) fn sorted<'a>(k: usize, lists: impl Iterator<Item = &'a [(f64, u32)]>) -> Self {
        Self { k, indices: lists.flatten().map(|(_, j)| *j).collect() }
    }

    /// Takes neighbour lists found elsewhere (by another index or metric).
    ///
    /// # Errors
    /// If the lists are not all of one length, name a sample that does not exist, name one twice,
    /// or name the sample itself.
    pub fn given(lists: &[Vec<u32>]) -> Result<Self> {
        let k = lists.first().map_or(0, Vec::len);
        for (i, list) in lists.iter().enumerate() {
            if list.len() != k {
                let n = list.len();
                return Err(Error::Graph(format!(
                    "sample {i} has {n} neighbours, others have {k}"
                )));
            }
            for (at, &j) in list.iter().enumerate() {
                if j as usize >= lists.len() || j as usize == i || list[..at].contains(&j) {
                    return Err(Error::Graph(format!(
                        "neighbour {j} of sample {i}: must be another of the {} samples, listed once",
                        lists.len()
                    )));
                }
            }
        }
        Ok(Self { k, indices: lists.concat() })
    }

    /// Neighbours per sample.
    #[must_use]
    pub fn k(&self) -> usize {
        self.k
    }

    /// Number of samples that have a list.
    #[must_use]
    pub fn len(&self) -> usize {
        self.indices.len().checked_div(self.k).unwrap_or(0)
    }

    /// Whether there are no neighbours at all.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.indices.is_empty()
    }

    /// The neighbours of one sample, nearest first.
    #[must_use]
    pub fn of(&self, i: usize) -> &[u32] {
        &self.indices[i * self.k..][..self.k]
    }

    /// From lists one after another.
    pub(super) fn listed(k: usize, indices: Vec<u32>) -> Self {
        Self { k, indices }
    }

    fn compare<T: Real>(samples: &Matrix<T>, new: &Matrix<T>, k: usize, same: bool) -> Self {
        let elsewhere =
            |engine: &dyn Engine<T>| engine.neighbours(samples, (!same).then_some(new), k);
        if let Some(indices) = device::attempt_large(new.columns(), elsewhere) {
            return Self { k, indices };
        }
        let mut indices = vec![0; new.columns() * k];
        if k > 0 {
            let fast = Fast::new(samples, new, same);
            let stop = stop::armed();
            indices.chunks_mut(QUERIES * k).enumerate().each(|(tile, out)| {
                if stop.is_set() {
                    any_others(tile * QUERIES, samples.columns(), k, out);
                } else {
                    fast.tile(tile * QUERIES, k, out, &stop);
                }
            });
        }
        Self { k, indices }
    }
}

/// Lists of the right form for a search that is cut short: the next samples, none of them twice.
pub(super) fn any_others(first: usize, count: usize, k: usize, out: &mut [u32]) {
    for (query, list) in out.chunks_mut(k).enumerate() {
        let others = (1..=k).map(|step| ((first + query + step) % count) as u32);
        list.iter_mut().zip(others).for_each(|(slot, other)| *slot = other);
    }
}

/// A candidate: squared distance, then index, so that ordering breaks ties by index.
type Candidate<D> = (D, u32);

/// Keeps the best `capacity` candidates, sorted.
fn offer<D: PartialOrd + Copy>(best: &mut Vec<Candidate<D>>, capacity: usize, new: Candidate<D>) {
    let full = best.len() == capacity;
    if full && best.last().is_some_and(|worst| new >= *worst) {
        return;
    }
    if full {
        best.pop();
    }
    let at = best.iter().rposition(|kept| *kept < new).map_or(0, |at| at + 1);
    best.insert(at, new);
}

/// Both sets of samples, read a tile at a time in single precision.
struct Fast<'a, T> {
    samples: &'a Matrix<T>,
    new: &'a Matrix<T>,
    same: bool,
    single: Single,
    reference_norms: Vec<f32>,
    /// The largest of them.
    farthest: f64,
    /// Squared scaled length: scaled distance times this is the true one.
    unit: f64,
    /// Bound on the rounding error of one scaled squared distance, per squared length.
    rounding: f64,
}

impl<'a, T: Real> Fast<'a, T> {
    fn new(samples: &'a Matrix<T>, new: &'a Matrix<T>, same: bool) -> Self {
        let single = Single::new(samples, (!same).then_some(new));
        let reference_norms = single.norms(samples);
        let farthest = reference_norms.iter().fold(0.0f32, |a, &b| a.max(b));
        Self {
            samples,
            new,
            same,
            reference_norms,
            farthest: f64::from(farthest),
            unit: 1.0 / (single.scale * single.scale),
            rounding: (samples.rows() as f64 + 8.0) * f64::from(f32::EPSILON),
            single,
        }
    }

    /// Fills the lists of the queries that start at `first`.
    fn tile(&self, first: usize, k: usize, out: &mut [u32], stop: &Armed) {
        let (n, total) = (self.samples.rows(), self.samples.columns());
        let count = out.len() / k;
        let mut queries = vec![0.0; n * count];
        self.single.block(self.new, first, count, &mut queries);
        let tile = View::of_columns(&queries, n, count);
        let mut best: Vec<Vec<Candidate<f32>>> = vec![Vec::with_capacity(k + SPARE + 1); count];
        let mut products = Matrix::<f32>::zeros(REFERENCES.min(total), count);
        let mut block = vec![0.0; n * REFERENCES.min(total)];
        for start in (0..total).step_by(REFERENCES) {
            if stop.is_set() {
                return any_others(first, total, k, out);
            }
            let size = REFERENCES.min(total - start);
            products.reshape(size, count);
            self.single.block(self.samples, start, size, &mut block);
            let block = View::of_columns(&block[..n * size], n, size);
            products.set_product_here(block.flip(), tile);
            for (q, best) in best.iter_mut().enumerate() {
                self.scan(first + q, start, products.column(q), k + SPARE, best);
            }
        }
        let found = best.iter().zip(out.chunks_mut(k)).zip(queries.chunks(n.max(1)));
        for (q, ((best, out), x)) in found.enumerate() {
            if stop.is_set() {
                any_others(first + q, total, k, out);
                continue;
            }
            let found =
                self.confirm((first + q, x), k, best).unwrap_or_else(|| self.direct(first + q, k));
            out.copy_from_slice(&found);
        }
    }

    /// Offers one row of scaled squared distances (without the query's own norm, which is common).
    fn scan(
        &self,
        query: usize,
        start: usize,
        products: &[f32],
        capacity: usize,
        best: &mut Vec<Candidate<f32>>,
    ) {
        let norms = &self.reference_norms[start..start + products.len()];
        let mut worst =
            best.last().filter(|_| best.len() == capacity).map_or(f32::INFINITY, |b| b.0);
        for (at, (&norm, &product)) in norms.iter().zip(products).enumerate() {
            let distance = norm - 2.0 * product;
            if distance <= worst && !(self.same && start + at == query) {
                offer(best, capacity, (distance, (start + at) as u32));
                if best.len() == capacity {
                    worst = best.last().map_or(f32::INFINITY, |b| b.0);
                }
            }
        }
    }

    /// Measures the candidates in full; `None` if rounding might have hidden a nearer sample.
    fn confirm(
        &self,
        (query, scaled): (usize, &[f32]),
        k: usize,
        best: &[Candidate<f32>],
    ) -> Option<Vec<u32>> {
        let mut exact: Vec<Candidate<f64>> = Vec::with_capacity(best.len());
        wide(
            #[inline(always)]
            || {
                // A loop: what `collect` calls is compiled for any processor.
                for &(_, j) in best {
                    exact.push((self.distance(query, j as usize), j));
                }
            },
        );
        exact.sort_by(|a, b| a.partial_cmp(b).unwrap_or(std::cmp::Ordering::Equal));
        let everything = best.len() + usize::from(self.same) >= self.samples.columns();
        if !everything {
            let own = crate::matrix::squared_norm(scaled);
            let slack = self.rounding * (own.sqrt() + self.farthest.sqrt()).powi(2);
            let nearest_left_out = (f64::from(best.last()?.0) + own - slack) * self.unit;
            if exact[k - 1].0.partial_cmp(&nearest_left_out) != Some(std::cmp::Ordering::Less) {
                return None;
            }
        }
        Some(exact[..k].iter().map(|&(_, j)| j).collect())
    }

    /// The search by direct distances, for samples whose fast list could not be confirmed.
    fn direct(&self, query: usize, k: usize) -> Vec<u32> {
        let mut best = Vec::with_capacity(k + 1);
        wide(
            #[inline(always)]
            || {
                for j in (0..self.samples.columns()).filter(|&j| !(self.same && j == query)) {
                    offer(&mut best, k, (self.distance(query, j), j as u32));
                }
            },
        );
        best.into_iter().map(|(_, j)| j).collect()
    }

    #[inline(always)]
    fn distance(&self, query: usize, j: usize) -> f64 {
        squared_distance(self.new.column(query), self.samples.column(j))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::{Purpose, normal, stream};
    use proptest::prelude::*;

    fn brute<T: Real>(samples: &Matrix<T>, i: usize, k: usize) -> Vec<u32> {
        let mut all: Vec<(f64, u32)> = (0..samples.columns())
            .filter(|&j| j != i)
            .map(|j| (squared_distance(samples.column(i), samples.column(j)), j as u32))
            .collect();
        all.sort_by(|a, b| a.partial_cmp(b).expect("finite"));
        all.into_iter().take(k).map(|(_, j)| j).collect()
    }

    fn cloud(n: usize, count: usize, seed: u64, offset: f64) -> Matrix<f64> {
        let mut rng = stream(seed, Purpose::Split);
        Matrix::from_fn(n, count, |_, _| normal(&mut rng) + offset)
    }

    #[test]
    fn finds_what_a_full_sort_finds_across_tiles() {
        let samples = cloud(7, 1500, 3, 0.0);
        let found = Neighbours::within(&samples, 6);
        for i in [0, 1, 255, 256, 1023, 1024, 1499] {
            assert_eq!(found.of(i), brute(&samples, i, 6), "sample {i}");
        }
    }

    #[test]
    fn a_large_common_offset_does_not_blur_the_distances() {
        let samples = cloud(5, 200, 4, 1e7);
        let found = Neighbours::within(&samples, 4);
        for i in 0..200 {
            assert_eq!(found.of(i), brute(&samples, i, 4));
        }
    }

    #[test]
    fn twins_are_neighbours_and_ties_go_to_the_smaller_index() {
        let samples = Matrix::from_fn(2, 40, |_, j| if j < 30 { 1.0 } else { j as f64 });
        let found = Neighbours::within(&samples, 3);
        assert_eq!(found.of(0), [1, 2, 3]);
        assert_eq!(found.of(2), [0, 1, 3]);
        assert_eq!(found.of(29), [0, 1, 2]);
    }

    #[test]
    fn k_is_cut_to_what_exists() {
        let samples = cloud(3, 4, 1, 0.0);
        assert_eq!(Neighbours::within(&samples, 99).k(), 3);
        assert_eq!(Neighbours::between(&samples, &samples, 99).k(), 4);
        assert_eq!(Neighbours::within(&cloud(3, 1, 1, 0.0), 2).len(), 0);
    }

    #[test]
    fn given_lists_are_checked() {
        assert!(Neighbours::given(&[vec![1], vec![0]]).is_ok());
        assert!(Neighbours::given(&[vec![0], vec![0]]).is_err());
        assert!(Neighbours::given(&[vec![1], vec![2]]).is_err());
        assert!(Neighbours::given(&[vec![1], vec![]]).is_err());
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(24))]
        #[test]
        fn any_small_set_agrees_with_a_full_sort(
            n in 1usize..5, count in 2usize..60, k in 1usize..12, seed in 0u64..1000, grid in 1u32..4,
        ) {
            // Values on a coarse grid make duplicates and exact ties common.
            let samples = Matrix::from_fn(n, count, {
                let mut rng = stream(seed, Purpose::Split);
                move |_, _| (normal(&mut rng) * f64::from(grid)).round() as f32
            });
            let found = Neighbours::within(&samples, k);
            for i in 0..count {
                prop_assert_eq!(found.of(i), &brute(&samples, i, k.min(count - 1))[..]);
            }
        }
    }
}
