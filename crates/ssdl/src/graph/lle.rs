//! Locally linear embedding: every sample as an affine mix of its neighbours.
//!
//! The codes should be mixed the same way: $\sum_i\lVert a_i-\sum_j v_{ij}a_j\rVert^2$.

use super::{Attachment, Connected, Graph, Laplacian, Neighbours, Rule, Search};
use crate::device::{self, Engine};
use crate::matrix::{Matrix, dot};
use crate::sparse::Csr;
use crate::threads::Loops;
use crate::wide::wide;
use crate::{Real, Result, stop};

/// Share of the trace added to the diagonal of a singular Gram matrix.
///
/// Paper: the authors' program adds 0.1. Of an exact twin among the neighbours, 0.1 leaves a weight
/// of 0.77 and 0.001 leaves 0.997, so the smaller value is used; a pseudo-inverse would leave none.
pub const REGULARISATION: f64 = 1e-3;

/// The LLE graph, $L = (I-V)^\top(I-V)$.
///
/// Paper: $\lVert A-AV\rVert^2$ is printed, but with one row of $V$ per sample it must read
/// $\lVert A-AV^\top\rVert^2$, as in the printed $L_A$.
#[derive(Clone, Copy, Debug)]
pub struct Lle {
    /// Neighbours per sample, $k$; cut to $N-1$.
    pub n_neighbors: usize,
    /// How they are searched.
    pub search: Search,
}

impl<T: Real> Graph<T> for Lle {
    #[inline(never)]
    fn build(&self, samples: &Matrix<T>) -> Result<Connected<T>> {
        let rule = Rule::Lle { n_neighbors: self.n_neighbors };
        if self.search != Search::Approximate
            && let Some((neighbours, weights)) = mixed_elsewhere(samples, None, self.n_neighbors)
        {
            let laplacian = mixed(samples.columns(), &neighbours, &weights);
            return Ok(Connected { laplacian, attachment: Attachment::new(rule) });
        }
        let (neighbours, recall) = Neighbours::search(samples, self.n_neighbors, self.search);
        Ok(Connected {
            laplacian: laplacian(samples, &neighbours),
            attachment: Attachment { recall, ..Attachment::new(rule) },
        })
    }
}

/// $L=(I-V)^\top(I-V)$ from neighbour lists.
pub(super) fn laplacian<T: Real>(samples: &Matrix<T>, neighbours: &Neighbours) -> Laplacian<T> {
    mixed(samples.columns(), neighbours, &barycentres(samples, samples, neighbours))
}

/// Neighbours and weights by the device that is lent, if any; `None` for `new` is among the samples.
pub(super) fn mixed_elsewhere<T: Real>(
    samples: &Matrix<T>,
    new: Option<&Matrix<T>>,
    k: usize,
) -> Option<(Neighbours, Vec<T>)> {
    let k = k.min(samples.columns() - usize::from(new.is_none() && samples.columns() > 0));
    let find = |engine: &dyn Engine<T>| engine.mixtures(samples, new, k);
    let (lists, weights) = device::attempt_large(new.unwrap_or(samples).columns() * k, find)?;
    Some((Neighbours::listed(k, lists), weights))
}

/// $L=(I-V)^\top(I-V)$ from neighbour lists and their weights.
fn mixed<T: Real>(n_samples: usize, neighbours: &Neighbours, weights: &[T]) -> Laplacian<T> {
    let k = neighbours.k();
    // A lone sample (k = 0) has nothing to agree with: its row stays empty.
    let length = if k > 0 { k + 1 } else { 0 };
    let starts = (0..=n_samples).map(|i| i * length).collect();
    let mut indices = vec![0; n_samples * length];
    let mut values = vec![T::one(); n_samples * length];
    let rows = indices.chunks_mut(length.max(1)).zip(values.chunks_mut(length.max(1)));
    rows.enumerate().runs_of(1024).each(|(i, (indices, values))| {
        indices[0] = i as u32;
        indices[1..].copy_from_slice(neighbours.of(i));
        values[1..].iter_mut().zip(&weights[i * k..]).for_each(|(value, &w)| *value = -w);
    });
    Laplacian::from_factor(Csr::trusted(n_samples, starts, indices, values))
}

/// Weights $\hat\lambda_i=\arg\min\lVert x_i-\sum_j\lambda_jx_j\rVert^2$, $\sum_j\lambda_j=1$, for
/// each column of `queries`; they may be negative. Cost $nk^2/2$ per sample.
#[must_use]
pub fn barycentres<T: Real>(
    samples: &Matrix<T>,
    queries: &Matrix<T>,
    neighbours: &Neighbours,
) -> Vec<T> {
    let k = neighbours.k();
    let mut weights = vec![T::zero(); queries.columns() * k];
    let stop = stop::armed();
    if k > 0 {
        weights.chunks_mut(k).enumerate().runs_of(16).each_with(
            || Workspace::new(samples.rows(), k),
            |work, (i, out)| {
                if stop.is_set() {
                    return;
                }
                wide(
                    #[inline(always)]
                    || {
                        work.gram(samples, queries.column(i), neighbours.of(i));
                        work.solve(out);
                    },
                );
            },
        );
    }
    weights
}

struct Workspace<T> {
    differences: Vec<T>,
    gram: Vec<T>,
    factor: Vec<T>,
    k: usize,
}

impl<T: Real> Workspace<T> {
    fn new(n: usize, k: usize) -> Self {
        let zeros = |len| vec![T::zero(); len];
        Self { differences: zeros(n * k), gram: zeros(k * k), factor: zeros(k * k), k }
    }

    /// $\Gamma_{ab}=\langle x-x_a,x-x_b\rangle$.
    #[inline(always)]
    fn gram(&mut self, samples: &Matrix<T>, x: &[T], neighbours: &[u32]) {
        let n = x.len();
        for (a, &j) in neighbours.iter().enumerate() {
            let row = &mut self.differences[a * n..][..n];
            for ((d, &x), &y) in row.iter_mut().zip(x).zip(samples.column(j as usize)) {
                *d = x - y;
            }
        }
        for a in 0..self.k {
            for b in 0..=a {
                let (za, zb) = (&self.differences[a * n..][..n], &self.differences[b * n..][..n]);
                let value = dot(za, zb);
                self.gram[a * self.k + b] = value;
                self.gram[b * self.k + a] = value;
            }
        }
    }

    /// $\Gamma^{-1}1/(1^\top\Gamma^{-1}1)$, regularised only where Γ is singular.
    #[inline(always)]
    fn solve(&mut self, out: &mut [T]) {
        let k = self.k;
        let even = T::one() / T::of(k as f64);
        let trace: T = (0..k).map(|a| self.gram[a * k + a]).sum();
        // Every neighbour coincides with the sample (or the distances underflow): no direction is
        // better than another.
        if trace <= T::min_positive_value() || !trace.is_finite() {
            out.fill(even);
            return;
        }
        // With more neighbours than features Γ is singular for certain, but rounding often hides it
        // from the pivots.
        let singular = self.differences.len() < k * k;
        for added in [T::zero(), T::of(REGULARISATION) * trace] {
            if (added > T::zero() || !singular) && self.factorise(added) {
                out.fill(T::one());
                self.substitute(out);
                let sum: T = out.iter().copied().sum();
                let size: T = out.iter().map(|w| w.abs()).sum();
                if sum.is_finite() && sum.abs() > T::epsilon() * size {
                    out.iter_mut().for_each(|w| *w /= sum);
                    return;
                }
            }
        }
        out.fill(even);
    }

    /// Lower Cholesky factor of Γ + added·I; false at a pivot that rounding alone could make.
    #[inline(always)]
    fn factorise(&mut self, added: T) -> bool {
        let k = self.k;
        let largest = (0..k).map(|a| self.gram[a * k + a]).fold(T::zero(), T::max) + added;
        let tiny = T::of(k as f64) * T::epsilon() * largest;
        for a in 0..k {
            for b in 0..=a {
                let shift = if a == b { added } else { T::zero() };
                let mut sum = self.gram[a * k + b] + shift;
                for c in 0..b {
                    sum -= self.factor[a * k + c] * self.factor[b * k + c];
                }
                if a == b {
                    if sum <= tiny {
                        return false;
                    }
                    self.factor[a * k + a] = sum.sqrt();
                } else {
                    self.factor[a * k + b] = sum / self.factor[b * k + b];
                }
            }
        }
        true
    }

    #[inline(always)]
    fn substitute(&self, x: &mut [T]) {
        let k = self.k;
        for a in 0..k {
            for b in 0..a {
                let known = x[b];
                x[a] -= self.factor[a * k + b] * known;
            }
            x[a] /= self.factor[a * k + a];
        }
        for a in (0..k).rev() {
            for b in a + 1..k {
                let known = x[b];
                x[a] -= self.factor[b * k + a] * known;
            }
            x[a] /= self.factor[a * k + a];
        }
    }
}
