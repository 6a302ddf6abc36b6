//! Squared distances of all pairs, tile by tile.
//!
//! Products of centred tiles show which pairs may be near enough; those are measured by differences.
//! Only differences are used as distances, so a pair always has the same distance, twins are at
//! exactly zero, and both ends of a pair agree to the bit.

use crate::matrix::{Matrix, View, squared_distance, squared_norm};
use crate::threads::Loops;
use crate::wide::wide;
use crate::{Error, Real, Result};

/// Samples compared at once: a tile of products (512 kB) stays in cache.
const QUERIES: usize = 128;
const REFERENCES: usize = 512;

/// The training samples, ready to be compared.
#[derive(Clone, Debug)]
pub(super) struct Cloud {
    samples: Matrix<f64>,
    centred: Matrix<f64>,
    norms: Vec<f64>,
    /// Bound on the rounding error of a squared distance by products.
    doubt: f64,
}

impl Cloud {
    /// Copies the samples; refuses values that are not finite or whose distances are not.
    pub(super) fn new<T: Real>(samples: &Matrix<T>) -> Result<Self> {
        let (n, count) = (samples.rows(), samples.columns());
        if let Some(at) = samples.as_slice().iter().position(|v| !v.is_finite()) {
            let value = samples.as_slice()[at].wide();
            return Err(Error::NotFinite { row: at / n + 1, column: at % n + 1, value });
        }
        let samples = samples.cast::<f64>();
        let mut mean = vec![0.0; n];
        for x in samples.iter_columns() {
            mean.iter_mut().zip(x).for_each(|(m, v)| *m += v / count as f64);
        }
        let centred = Matrix::from_fn(n, count, |i, j| samples.column(j)[i] - mean[i]);
        let norms: Vec<f64> = centred.iter_columns().map(squared_norm).collect();
        let radius = norms.iter().copied().fold(0.0, f64::max).sqrt();
        let size = samples.iter_columns().map(squared_norm).fold(0.0, f64::max).sqrt();
        // The product and the norms round in proportion to the radius, the centring to the size.
        let rounding = f64::EPSILON * size;
        let doubt = 8.0
            * (f64::EPSILON * (n as f64 + 8.0) * radius.powi(2)
                + 2.0 * radius * rounding
                + rounding.powi(2));
        // The solver squares sums over all pairs: half the exponents must be left for that.
        if size > f64::MAX.sqrt().sqrt() {
            return Err(Error::Diverged {
                step: "graph",
                iteration: 0,
                what: format!("squared distances of samples of length {size:e} are out of range"),
            });
        }
        Ok(Self { samples, centred, norms, doubt })
    }

    pub(super) fn len(&self) -> usize {
        self.samples.columns()
    }

    pub(super) fn n_features(&self) -> usize {
        self.samples.rows()
    }

    /// $\lVert x_i-x_j\rVert^2$.
    pub(super) fn distance(&self, i: usize, j: usize) -> f64 {
        wide(
            #[inline(always)]
            || squared_distance(self.samples.column(i), self.samples.column(j)),
        )
    }

    /// $\lVert x-x_j\rVert^2$ for every $j$.
    pub(super) fn distances_to(&self, x: &[f64]) -> Vec<f64> {
        let mut distances = Vec::with_capacity(self.len());
        wide(
            #[inline(always)]
            || {
                // A loop: what `collect` calls is compiled for any processor.
                for other in self.samples.iter_columns() {
                    distances.push(squared_distance(x, other));
                }
            },
        );
        distances
    }

    /// For every sample $i$, what `take` makes of all $(j,z_{ij})$, $j\ne i$ ascending, with
    /// $z_{ij}\le r_i+r_j$, where $r$ is `reach`. Rounding may let a few more through, never fewer.
    ///
    /// Cost $nN^2$ multiply-adds; memory: one tile per thread and what `take` keeps.
    pub(super) fn rows<R: Send>(
        &self,
        reach: &[f64],
        take: impl Fn(usize, &[(u32, f64)]) -> R + Sync,
    ) -> Vec<R> {
        let far = reach.iter().fold(0.0f64, |top, r| top.max(r.abs()));
        let doubt = self.doubt + 8.0 * f64::EPSILON * far;
        let tiles = (0..self.len()).step_by(QUERIES);
        let rows: Vec<Vec<R>> = tiles.gather(|first| {
            let lists = self.tile(first, reach, doubt);
            lists.iter().enumerate().map(|(q, list)| take(first + q, list)).collect()
        });
        rows.into_iter().flatten().collect()
    }

    fn tile(&self, first: usize, reach: &[f64], doubt: f64) -> Vec<Vec<(u32, f64)>> {
        let (n, count) = (self.n_features(), QUERIES.min(self.len() - first));
        let queries = self.centred.column_range(first..first + count);
        let mut lists = vec![Vec::new(); count];
        let mut products = Matrix::zeros(REFERENCES.min(self.len()), count);
        for start in (0..self.len()).step_by(REFERENCES) {
            let end = (start + REFERENCES).min(self.len());
            if products.rows() != end - start {
                products = Matrix::zeros(end - start, count);
            }
            let block = &self.centred.as_slice()[start * n..end * n];
            products.set_product_here(View::of_columns(block, n, end - start).flip(), queries);
            for (q, list) in lists.iter_mut().enumerate() {
                let i = first + q;
                let (norm, own) = (self.norms[i], reach[i] + doubt);
                let others = self.norms[start..end].iter().zip(&reach[start..end]);
                for (at, (product, (other, reach))) in
                    products.column(q).iter().zip(others).enumerate()
                {
                    let j = start + at;
                    if norm + other - 2.0 * product <= own + reach && j != i {
                        list.push((j as u32, self.measured(i, j)));
                    }
                }
            }
        }
        lists
    }

    // A separate call, so that the scan around it stays small.
    #[inline(never)]
    fn measured(&self, i: usize, j: usize) -> f64 {
        wide(
            #[inline(always)]
            || self.distance(i, j),
        )
    }
}
