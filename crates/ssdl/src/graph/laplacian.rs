//! $L = M^\top M$, kept as the sparse factor $M$ and never formed.

use std::sync::OnceLock;

use rayon::prelude::*;

use crate::matrix::{Matrix, axpy};
use crate::sparse::Csr;
use crate::{Real, wide::wide};

/// A positive semidefinite graph operator in two-pass form.
///
/// With samples as columns, $E = A M^\top$ holds one residual per row of $M$, the energy is
/// $\operatorname{tr}(A L A^\top) = \lVert E\rVert_F^2$ and the pull is $A L = E M$. Each pass costs
/// $p$ multiply-adds per entry of $M$; nothing of size $N\times N$ exists.
#[derive(Clone, Debug)]
pub struct Laplacian<T> {
    factor: Csr<T>,
    transposed: Csr<T>,
    diagonal: Vec<T>,
    bound: Vec<T>,
    groups: OnceLock<Vec<Vec<u32>>>,
}

impl<T: Real> Laplacian<T> {
    /// From the factor $M$ (any number of rows, one column per sample).
    #[must_use]
    pub fn from_factor(factor: Csr<T>) -> Self {
        let transposed = factor.transpose();
        let row_sums: Vec<T> =
            (0..factor.rows()).map(|m| factor.row(m).map(|(_, w)| w.abs()).sum()).collect();
        let per_sample = |f: &dyn Fn(usize, T) -> T| -> Vec<T> {
            (0..transposed.rows()).map(|j| transposed.row(j).map(|(m, w)| f(m, w)).sum()).collect()
        };
        let diagonal = per_sample(&|_, w| w * w);
        let bound = per_sample(&|m, w| w.abs() * row_sums[m]);
        Self { factor, transposed, diagonal, bound, groups: OnceLock::new() }
    }

    /// The factor $M$.
    #[must_use]
    pub fn factor(&self) -> &Csr<T> {
        &self.factor
    }

    /// $M^\top$: for each sample, the residuals it enters and with what weight.
    #[must_use]
    pub fn transposed(&self) -> &Csr<T> {
        &self.transposed
    }

    /// Number of samples.
    #[must_use]
    pub fn n_samples(&self) -> usize {
        self.factor.columns()
    }

    /// $L_{jj} = \sum_m M_{mj}^2$.
    #[must_use]
    pub fn diagonal(&self) -> &[T] {
        &self.diagonal
    }

    /// $d_j = \sum_m |M_{mj}| \sum_l |M_{ml}| \ge \sum_i |L_{ij}|$: the diagonal matrix of these
    /// dominates $L$ (Gershgorin), so each is a safe step constant for its column.
    #[must_use]
    pub fn bound(&self) -> &[T] {
        &self.bound
    }

    /// $\operatorname{tr} L$.
    #[must_use]
    pub fn trace(&self) -> f64 {
        self.diagonal.iter().map(|d| d.wide()).sum()
    }

    /// $E = A M^\top$.
    pub fn residuals(&self, codes: &Matrix<T>, out: &mut Matrix<T>) {
        combine(&self.factor, codes, out);
    }

    /// $A L = E M$ from the residuals.
    pub fn pull(&self, residuals: &Matrix<T>, out: &mut Matrix<T>) {
        combine(&self.transposed, residuals, out);
    }

    /// Groups of samples such that no two of a group enter the same residual: a group can be
    /// updated side by side with the result of updating one after another.
    ///
    /// Greedy, hubs first, each into the smallest group allowed; the same for any thread count.
    #[must_use]
    pub fn independent_groups(&self) -> &[Vec<u32>] {
        self.groups.get_or_init(|| self.colour())
    }

    fn colour(&self) -> Vec<Vec<u32>> {
        let n = self.n_samples();
        let mut order: Vec<u32> = (0..n as u32).collect();
        order.sort_by_key(|&j| std::cmp::Reverse(self.transposed.row(j as usize).len()));
        let mut groups: Vec<Vec<u32>> = Vec::new();
        let mut group_of = vec![usize::MAX; n];
        let mut barred_for: Vec<u32> = Vec::new();
        for &j in &order {
            for (m, _) in self.transposed.row(j as usize) {
                for (i, _) in self.factor.row(m) {
                    if let Some(mark) = barred_for.get_mut(group_of[i]) {
                        *mark = j;
                    }
                }
            }
            let free = (0..groups.len()).filter(|&g| barred_for[g] != j);
            let chosen = free.min_by_key(|&g| groups[g].len()).unwrap_or_else(|| {
                groups.push(Vec::new());
                barred_for.push(u32::MAX);
                groups.len() - 1
            });
            groups[chosen].push(j);
            group_of[j as usize] = chosen;
        }
        // Neighbouring memory within a group, whatever order the greedy choice took.
        groups.iter_mut().for_each(|group| group.sort_unstable());
        groups
    }
}

/// Column `m` of `out` = the weighted sum of columns of `from` that row `m` of `rows` names.
fn combine<T: Real>(rows: &Csr<T>, from: &Matrix<T>, out: &mut Matrix<T>) {
    assert_eq!((out.columns(), out.rows()), (rows.rows(), from.rows()), "shape of a graph product");
    out.par_columns_mut().enumerate().with_min_len(32).for_each(|(m, out)| {
        wide(
            #[inline(always)]
            || {
                out.fill(T::zero());
                for (j, weight) in rows.row(m) {
                    axpy(weight, from.column(j), out);
                }
            },
        );
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ring(n: usize) -> Laplacian<f64> {
        let rows = (0..n).map(|i| vec![(i, 1.0), ((i + 1) % n, -0.75), ((i + 3) % n, -0.25)]);
        Laplacian::from_factor(Csr::from_rows(n, rows))
    }

    fn dense(laplacian: &Laplacian<f64>) -> Matrix<f64> {
        let n = laplacian.n_samples();
        let mut m = Matrix::zeros(laplacian.factor().rows(), n);
        for i in 0..laplacian.factor().rows() {
            for (j, w) in laplacian.factor().row(i) {
                m.column_mut(j)[i] = w;
            }
        }
        Matrix::of_product(m.transposed(), m.view())
    }

    #[test]
    fn two_passes_equal_the_dense_product_and_constants_vanish() {
        let laplacian = ring(11);
        let l = dense(&laplacian);
        let a = Matrix::from_fn(4, 11, |i, j| ((i * 5 + j * j) % 7) as f64 - 3.0);
        let (mut e, mut al) = (Matrix::zeros(4, 11), Matrix::zeros(4, 11));
        laplacian.residuals(&a, &mut e);
        laplacian.pull(&e, &mut al);
        let expected = Matrix::of_product(a.view(), l.view());
        for (x, y) in al.as_slice().iter().zip(expected.as_slice()) {
            assert!((x - y).abs() < 1e-12);
        }
        let energy: f64 = (0..11).map(|j| crate::matrix::inner(al.column(j), a.column(j))).sum();
        assert!((energy - e.squared_norm()).abs() < 1e-10);
        for j in 0..11 {
            assert!(l.column(j).iter().sum::<f64>().abs() < 1e-12);
            assert!((l.column(j)[j] - laplacian.diagonal()[j]).abs() < 1e-12);
            let row_sum: f64 = l.column(j).iter().map(|v| v.abs()).sum();
            assert!(laplacian.bound()[j] >= row_sum - 1e-12);
        }
        assert!((laplacian.trace() - (0..11).map(|j| l.column(j)[j]).sum::<f64>()).abs() < 1e-12);
    }

    #[test]
    fn groups_hold_every_sample_once_and_never_two_that_interact() {
        let laplacian = ring(50);
        let l = dense(&laplacian);
        let groups = laplacian.independent_groups();
        let mut seen: Vec<u32> = groups.concat();
        seen.sort_unstable();
        assert_eq!(seen, (0..50).collect::<Vec<u32>>());
        for group in groups {
            for &i in group {
                for &j in group.iter().filter(|&&j| j != i) {
                    assert_eq!(l.column(i as usize)[j as usize], 0.0);
                }
            }
        }
    }
}
