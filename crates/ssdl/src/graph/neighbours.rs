//! Exact k nearest neighbours, blocked and parallel.
//!
//! Candidates come from a single-precision product of tiles; they are then measured again in full,
//! and an error bound decides whether the list is provably right. Where it is not (near ties,
//! duplicates), that sample is searched by direct distances. Ties go to the smaller index.

use rayon::prelude::*;

use crate::matrix::{Matrix, View};
use crate::wide::wide;
use crate::{Error, Real, Result, stop};

/// Samples compared at once: a tile of distances (512 kB in `f32`) stays in cache.
const QUERIES: usize = 256;
const REFERENCES: usize = 512;
/// Candidates beyond k that the fast pass keeps, so that its rounding seldom decides.
const SPARE: usize = 8;

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
        Self::search(samples, samples, k, true)
    }

    /// The `k` nearest of `samples` for every column of `new`; $k$ is cut to $N$.
    #[must_use]
    #[inline(never)]
    pub fn between<T: Real>(samples: &Matrix<T>, new: &Matrix<T>, k: usize) -> Self {
        Self::search(samples, new, k.min(samples.columns()), false)
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

    fn search<T: Real>(samples: &Matrix<T>, new: &Matrix<T>, k: usize, same: bool) -> Self {
        let mut indices = vec![0; new.columns() * k];
        if k > 0 {
            let fast = Fast::new(samples, new, same);
            let stop = stop::armed();
            indices.par_chunks_mut(QUERIES * k).enumerate().for_each(|(tile, out)| {
                if stop.is_set() {
                    any_others(tile * QUERIES, samples.columns(), k, out);
                } else {
                    fast.tile(tile * QUERIES, k, out);
                }
            });
        }
        Self { k, indices }
    }
}

/// Lists of the right form for a search that is cut short: the next samples, none of them twice.
fn any_others(first: usize, count: usize, k: usize, out: &mut [u32]) {
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

/// Both sets of samples, centred and scaled into single precision.
struct Fast<'a, T> {
    samples: &'a Matrix<T>,
    new: &'a Matrix<T>,
    same: bool,
    references: Matrix<f32>,
    queries: Option<Matrix<f32>>,
    reference_norms: Vec<f32>,
    /// Squared scaled length: scaled distance times this is the true one.
    unit: f64,
    /// Bound on the rounding error of one scaled squared distance, per squared length.
    rounding: f64,
}

impl<'a, T: Real> Fast<'a, T> {
    fn new(samples: &'a Matrix<T>, new: &'a Matrix<T>, same: bool) -> Self {
        let n = samples.rows();
        let mut mean = vec![0.0f64; n];
        for x in samples.iter_columns() {
            mean.iter_mut().zip(x).for_each(|(m, v)| *m += v.wide());
        }
        mean.iter_mut().for_each(|m| *m /= samples.columns() as f64);
        // Centring takes the common part out before it can cancel; scaling keeps squares in range.
        let largest =
            [samples, new].iter().flat_map(|m| m.iter_columns()).fold(0.0f64, |top, x| {
                x.iter().zip(&mean).fold(top, |top, (v, m)| top.max((v.wide() - m).abs()))
            });
        let scale = if largest > 0.0 && largest.is_finite() { 1.0 / largest } else { 1.0 };
        let convert = |from: &Matrix<T>| {
            let mut to = Matrix::<f32>::zeros(n, from.columns());
            to.par_columns_mut().enumerate().for_each(|(j, out)| {
                for ((out, v), m) in out.iter_mut().zip(from.column(j)).zip(&mean) {
                    *out = ((v.wide() - m) * scale) as f32;
                }
            });
            to
        };
        let references = convert(samples);
        let reference_norms =
            references.iter_columns().map(|x| crate::matrix::squared_norm(x) as f32).collect();
        Self {
            samples,
            new,
            same,
            references,
            queries: (!same).then(|| convert(new)),
            reference_norms,
            unit: 1.0 / (scale * scale),
            rounding: (n as f64 + 8.0) * f64::from(f32::EPSILON),
        }
    }

    /// Fills the lists of the queries that start at `first`.
    fn tile(&self, first: usize, k: usize, out: &mut [u32]) {
        let n = self.samples.rows();
        let queries = self.queries.as_ref().unwrap_or(&self.references);
        let count = out.len() / k;
        let tile = queries.column_range(first..first + count);
        let mut best: Vec<Vec<Candidate<f32>>> = vec![Vec::with_capacity(k + SPARE + 1); count];
        let mut products = Matrix::<f32>::zeros(REFERENCES.min(self.samples.columns()), count);
        for start in (0..self.samples.columns()).step_by(REFERENCES) {
            let end = (start + REFERENCES).min(self.samples.columns());
            if products.rows() != end - start {
                products = Matrix::zeros(end - start, count);
            }
            let block = &self.references.as_slice()[start * n..end * n];
            products.set_product_here(View::of_columns(block, n, end - start).flip(), tile);
            for (q, best) in best.iter_mut().enumerate() {
                self.scan(first + q, start, products.column(q), k + SPARE, best);
            }
        }
        for (q, (best, out)) in best.iter().zip(out.chunks_mut(k)).enumerate() {
            let found =
                self.confirm(first + q, k, best).unwrap_or_else(|| self.direct(first + q, k));
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
    fn confirm(&self, query: usize, k: usize, best: &[Candidate<f32>]) -> Option<Vec<u32>> {
        let mut exact: Vec<Candidate<f64>> = wide(
            #[inline(always)]
            || best.iter().map(|&(_, j)| (self.distance(query, j as usize), j)).collect(),
        );
        exact.sort_by(|a, b| a.partial_cmp(b).unwrap_or(std::cmp::Ordering::Equal));
        let everything = best.len() + usize::from(self.same) >= self.samples.columns();
        if !everything {
            let queries = self.queries.as_ref().unwrap_or(&self.references);
            let own = crate::matrix::squared_norm(queries.column(query));
            let far = self.reference_norms.iter().fold(0.0f32, |a, &b| a.max(b));
            let slack = self.rounding * (own.sqrt() + f64::from(far).sqrt()).powi(2);
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

/// $\lVert x-y\rVert^2$ by differences, in `f64`.
#[inline(always)]
pub(super) fn squared_distance<T: Real>(x: &[T], y: &[T]) -> f64 {
    let mut lanes = [0.0f64; 8];
    let (xs, ys) = (x.chunks_exact(8), y.chunks_exact(8));
    let square = |a: T, b: T| {
        let d = a.wide() - b.wide();
        d * d
    };
    let tail: f64 = xs.remainder().iter().zip(ys.remainder()).map(|(&a, &b)| square(a, b)).sum();
    for (a, b) in xs.zip(ys) {
        for lane in 0..8 {
            lanes[lane] += square(a[lane], b[lane]);
        }
    }
    lanes.iter().sum::<f64>() + tail
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
