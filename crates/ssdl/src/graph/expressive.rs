//! Sparse self-representation: every sample written with few others.
//!
//! $$v_i=\operatorname*{arg\,min}_v\lVert x_i-Xv\rVert^2+\kappa\lVert v\rVert_1,\qquad v_{ii}=0.$$
//!
//! The codes should be mixed the same way: $\sum_i\lVert a_i-\sum_jv_{ij}a_j\rVert^2$. Weights need not
//! sum to one, and nothing of size $N\times N$ exists: samples are taken in tiles, and each is solved on
//! the few others that matter.

use super::{Attachment, Connected, Graph, Laplacian, Rule};
use crate::knobs::{Allowed, check};
use crate::matrix::{Matrix, axpy, dot, squared_norm};
use crate::sparse::Csr;
use crate::threads::Loops;
use crate::wide::wide;
use crate::{Error, Real, Result, order, stop};

/// Samples whose products with all others are taken at once.
const TILE: usize = 256;
/// Others that may join a sample's support in the first round.
const FIRST: usize = 24;
/// Maximum number of rounds; each ends with the products of all others with what is left.
const MAX_ROUNDS: usize = 40;
/// Maximum number of sweeps over a support in a round.
const MAX_SWEEPS: usize = 200;
/// Distance to optimality, relative to κ, at which a sample is done.
const TOLERANCE: f64 = 1e-3;
/// Products of this many roundings are noise.
const ROUNDINGS: f64 = 64.0;

/// The graph of sparse self-representation, $L=(I-V)^\top(I-V)$ with $v_i$ in row $i$ of $V$.
#[derive(Clone, Copy, Debug)]
pub struct Expressive {
    /// κ; scales with squared sample lengths.
    pub sparsity: f64,
}

impl<T: Real> Graph<T> for Expressive {
    /// Cost about $5nN^2$.
    ///
    /// # Errors
    /// If κ is so large that no sample is written with others.
    #[inline(never)]
    fn build(&self, samples: &Matrix<T>) -> Result<Connected<T>> {
        check("self_sparsity", self.sparsity, Allowed::Above(0.0))?;
        let built = self.connect(samples);
        if built.laplacian.trace() == 0.0 && samples.columns() > 1 {
            return Err(Error::Graph(format!(
                "no sample is written with others at a self_sparsity of {}: lower it, or choose \
                 another graph",
                self.sparsity
            )));
        }
        Ok(built)
    }
}

impl Expressive {
    /// The graph, whether or not any sample is written with others.
    pub(crate) fn connect<T: Real>(&self, samples: &Matrix<T>) -> Connected<T> {
        let weights = self.weights(samples);
        let rows = (0..weights.rows()).map(|i| {
            // A sample written with no other has nothing to agree with: its row stays empty.
            let own = (weights.row(i).len() > 0).then_some((i, T::one()));
            own.into_iter().chain(weights.row(i).map(|(j, v)| (j, -v))).collect::<Vec<_>>()
        });
        Connected {
            laplacian: Laplacian::from_factor(Csr::from_rows(samples.columns(), rows)),
            attachment: Attachment::new(Rule::Expressive { sparsity: self.sparsity }),
        }
    }

    /// $V$: the weights with which each sample is written by the others, one row per sample.
    #[must_use]
    pub fn weights<T: Real>(&self, samples: &Matrix<T>) -> Csr<T> {
        express(samples, samples, self.sparsity, true)
    }

    /// $|V|+|V|^\top$: symmetric weights between pairs, for labels to spread along.
    #[must_use]
    pub fn affinities<T: Real>(&self, samples: &Matrix<T>) -> Csr<T> {
        let weights = self.weights(samples);
        let back = weights.transpose();
        let rows = (0..weights.rows()).map(|i| {
            let mut row: Vec<(usize, T)> =
                weights.row(i).chain(back.row(i)).map(|(j, v)| (j, v.abs())).collect();
            order::by_column(&mut row);
            row.dedup_by(|later, kept| {
                let same = later.0 == kept.0;
                if same {
                    kept.1 += later.1;
                }
                same
            });
            row
        });
        Csr::from_rows(weights.columns(), rows)
    }
}

/// One sample on its way: who takes part, with which weights, and what is left of it.
struct Written<T> {
    support: Vec<usize>,
    weights: Vec<f64>,
    /// Products between the samples of the support, a row for each.
    gram: Vec<Vec<f64>>,
    /// Products of the support with the sample.
    rhs: Vec<f64>,
    left: Vec<T>,
    done: bool,
}

/// Weights of `samples` in each column of `queries`, a row each; with `skip_self` query $i$ is sample
/// $i$ and takes no part in itself. No query influences another.
pub(super) fn express<T: Real>(
    samples: &Matrix<T>,
    queries: &Matrix<T>,
    sparsity: f64,
    skip_self: bool,
) -> Csr<T> {
    let mut rows = Vec::with_capacity(queries.columns());
    let longest = samples.iter_columns().map(squared_norm).fold(0.0, f64::max).sqrt();
    // Products below this are rounding: where κ is far below them there is no minimum to reach.
    let rounding = |i: usize| {
        ROUNDINGS * T::epsilon().wide() * longest * squared_norm(queries.column(i)).sqrt()
    };
    let stop = stop::armed();
    for first in (0..queries.columns()).step_by(TILE) {
        let range = first..(first + TILE).min(queries.columns());
        let mut tile: Vec<Written<T>> = range
            .clone()
            .map(|i| Written {
                support: Vec::new(),
                weights: Vec::new(),
                gram: Vec::new(),
                rhs: Vec::new(),
                left: queries.column(i).to_vec(),
                done: false,
            })
            .collect();
        for _ in 0..MAX_ROUNDS {
            let open: Vec<usize> = (0..tile.len()).filter(|&at| !tile[at].done).collect();
            if open.is_empty() || stop.is_set() {
                break;
            }
            let left = Matrix::from_columns(
                samples.rows(),
                open.len(),
                open.iter().flat_map(|&at| tile[at].left.iter().copied()).collect(),
            );
            let Some(left) = left else { break };
            let products = Matrix::of_each(samples.transposed(), &left, None);
            let mut place = vec![None; tile.len()];
            open.iter().enumerate().for_each(|(column, &at)| place[at] = Some(column));
            tile.iter_mut().zip(place).enumerate().each(|(at, (written, column))| {
                let Some(column) = column else { return };
                let own = skip_self.then_some(first + at);
                let query = queries.column(first + at);
                let floor = rounding(first + at);
                wide(
                    #[inline(always)]
                    || {
                        let knobs = (sparsity, floor, own);
                        written.improve(samples, query, products.column(column), knobs);
                    },
                );
            });
        }
        rows.extend(tile.into_iter().map(Written::into_row));
    }
    Csr::from_rows(samples.columns(), rows)
}

impl<T: Real> Written<T> {
    /// Lets the samples join whose product with what is left exceeds κ/2, and solves for the weights.
    #[inline(always)]
    fn improve(
        &mut self,
        samples: &Matrix<T>,
        query: &[T],
        products: &[T],
        (sparsity, rounding, own): (f64, f64, Option<usize>),
    ) {
        let bound = 0.5 * sparsity * (1.0 + TOLERANCE) + rounding;
        let joins = |j: &usize| {
            let outside = || own != Some(*j) && !self.support.contains(j);
            products[*j].wide().abs() > bound && outside()
        };
        let mut joining: Vec<usize> = (0..products.len()).filter(joins).collect();
        if joining.is_empty() {
            self.done = true;
            return;
        }
        let limit = self.support.len().max(FIRST);
        let size = |j: usize| products[j].wide().abs();
        order::places_by(&mut joining, |a, b| size(b).total_cmp(&size(a)));
        joining.truncate(limit);
        for j in joining {
            let x = samples.column(j);
            self.support.push(j);
            self.weights.push(0.0);
            self.rhs.push(dot(x, query).wide());
            let with: Vec<f64> =
                self.support.iter().map(|&k| dot(x, samples.column(k)).wide()).collect();
            self.gram.iter_mut().zip(&with).for_each(|(row, &product)| row.push(product));
            self.gram.push(with);
        }
        self.sweep(0.5 * sparsity);
        self.left.copy_from_slice(query);
        for (&j, &v) in self.support.iter().zip(&self.weights) {
            if v != 0.0 {
                axpy(T::of(-v), samples.column(j), &mut self.left);
            }
        }
    }

    /// Coordinate descent over the support, until no weight moves the products noticeably.
    #[inline(always)]
    fn sweep(&mut self, half: f64) {
        let size = self.support.len();
        let image = |row: &[f64]| row.iter().zip(&self.weights).map(|(g, w)| g * w).sum::<f64>();
        let rows = self.rhs.iter().zip(&self.gram);
        let mut slope: Vec<f64> = rows.map(|(r, row)| r - image(row)).collect();
        for _ in 0..MAX_SWEEPS {
            let mut moved = 0.0f64;
            for a in 0..size {
                let curvature = self.gram[a][a];
                if curvature <= f64::MIN_POSITIVE {
                    continue;
                }
                let free = slope[a] + curvature * self.weights[a];
                let new = free.signum() * (free.abs() - half).max(0.0) / curvature;
                let step = new - self.weights[a];
                if step != 0.0 {
                    self.weights[a] = new;
                    let row = &self.gram[a];
                    slope.iter_mut().zip(row).for_each(|(slope, g)| *slope -= step * g);
                    moved = moved.max(step.abs() * curvature);
                }
            }
            if moved <= 0.25 * TOLERANCE * half {
                break;
            }
        }
    }

    fn into_row(self) -> Vec<(usize, T)> {
        let pairs = self.support.into_iter().zip(self.weights);
        let mut row: Vec<(usize, T)> =
            pairs.map(|(j, v)| (j, T::of(v))).filter(|(_, v)| *v != T::zero()).collect();
        order::by_column(&mut row);
        row
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Optimality by the definition: $2x_j^\top(x-Xv)$ is $\kappa\operatorname{sign}v_j$, or within κ.
    fn assert_optimal(
        samples: &Matrix<f64>,
        query: &[f64],
        row: &[(usize, f64)],
        own: Option<usize>,
    ) {
        let kappa = 0.4;
        let mut left = query.to_vec();
        row.iter().for_each(|&(j, v)| axpy(-v, samples.column(j), &mut left));
        for j in (0..samples.columns()).filter(|j| own != Some(*j)) {
            let slope = 2.0 * dot(samples.column(j), &left);
            let gap = match row.iter().find(|(k, _)| *k == j) {
                Some((_, v)) => (slope - kappa * v.signum()).abs(),
                None => slope.abs() - kappa,
            };
            assert!(gap < 2e-3 * kappa, "sample {j}: {gap}");
        }
    }

    #[test]
    fn every_sample_is_written_with_others_at_the_minimum() {
        let samples =
            Matrix::from_fn(6, 40, |i, j| ((i * 7 + j * j * 3 + i * j) % 11) as f64 * 0.1 - 0.4);
        let graph = Expressive { sparsity: 0.4 };
        let weights = graph.weights(&samples);
        for i in 0..40 {
            let row: Vec<(usize, f64)> = weights.row(i).collect();
            assert!(row.iter().all(|(j, _)| *j != i), "no sample takes part in itself");
            assert_optimal(&samples, samples.column(i), &row, Some(i));
        }
        let new = Matrix::from_fn(6, 3, |i, j| (i + j) as f64 * 0.1);
        let rows = express(&samples, &new, 0.4, false);
        for j in 0..3 {
            assert_optimal(&samples, new.column(j), &rows.row(j).collect::<Vec<_>>(), None);
            let alone = express(&samples, &new.select_columns(&[j]), 0.4, false);
            assert!(alone.row(0).eq(rows.row(j)), "alone and among others");
        }
        let pairs = graph.affinities(&samples);
        let back = pairs.transpose();
        for i in 0..40 {
            assert!(pairs.row(i).eq(back.row(i)) && pairs.row(i).all(|(j, w)| j != i && w > 0.0));
        }
    }

    #[test]
    fn samples_that_no_other_expresses_have_no_row_and_a_huge_sparsity_is_refused() {
        // Two parallel samples and one apart.
        let samples = Matrix::from_fn(2, 3, |i, j| [[1.0, 0.0], [2.0, 0.0], [0.0, 1.0]][j][i]);
        let built = Expressive { sparsity: 0.1 }.build(&samples).expect("κ is small");
        let apart = Matrix::from_fn(1, 3, |_, j| if j == 2 { 5.0 } else { 0.0 });
        assert_eq!(built.laplacian.energy(&apart), 0.0);
        let error = Expressive { sparsity: 100.0 }.build(&samples).expect_err("nothing is left");
        assert!(error.to_string().contains("self_sparsity"), "{error}");
    }
}
