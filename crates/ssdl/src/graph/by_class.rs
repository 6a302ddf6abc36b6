//! Graphs within and between classes: labelled samples gather with their own and keep away from others.
//!
//! $L_W-L_B$ with the weights of local Fisher discrimination, $\alpha_{ij}$ a heat kernel with a width of
//! each sample's own: within a class $W_{ij}=\alpha_{ij}/N_c$, $B_{ij}=\alpha_{ij}(1/N_l-1/N_c)$; between
//! classes $W_{ij}=0$, $B_{ij}=1/N_l$. The part between classes joins all pairs, but needs only sums.

use super::Search;
use super::heat::nearest_pairs;
use super::laplacian::combine;
use super::local::weight;
use crate::matrix::{Matrix, axpy, inner};
use crate::samples::Labels;
use crate::sparse::Csr;
use crate::{Real, order};

/// Nearest samples of its own class that a labelled sample is joined to: enough for the small classes
/// that the graphs are meant for, and linear in the number of samples for large ones.
const WITHIN: usize = 32;

/// $L_W-L_B$ over all samples; rows of unlabelled ones are zero. Not positive semidefinite.
#[derive(Clone, Debug)]
pub struct ByClass<T> {
    /// $\alpha_{ij}(2/N_c-1/N_l)$ within classes.
    near: Csr<T>,
    degrees: Vec<T>,
    assigned: Vec<Option<usize>>,
    counts: Vec<usize>,
    n_labelled: f64,
}

impl<T: Real> ByClass<T> {
    /// Of these samples; widths are distances to the $k$-th labelled neighbour. Cost $nN_l^2$.
    #[must_use]
    pub fn new(samples: &Matrix<T>, labels: &Labels, n_neighbors: usize) -> Self {
        let known = labels.labelled();
        let labelled = samples.select_columns(&known);
        let radii = nearest_pairs(&labelled, n_neighbors, Search::Auto).radii;
        let (counts, n_labelled) = (labels.counts(), labels.n_labelled() as f64);
        let mut rows: Vec<Vec<(usize, T)>> = vec![Vec::new(); samples.columns()];
        for (class, &count) in counts.iter().enumerate() {
            let own: Vec<usize> =
                (0..known.len()).filter(|&i| labels.assigned()[known[i]] == Some(class)).collect();
            let share = 2.0 / count.max(1) as f64 - 1.0 / n_labelled;
            let class = labelled.select_columns(&own);
            let pairs = nearest_pairs(&class, WITHIN, Search::Auto).pairs;
            for (late, row) in pairs.iter().enumerate() {
                for &(early, squared) in row {
                    let (i, j) = (own[late], own[early]);
                    let value = T::of(share * weight(squared, &radii, i, j));
                    rows[known[i]].push((known[j], value));
                    rows[known[j]].push((known[i], value));
                }
            }
        }
        rows.iter_mut().for_each(|row| order::by_column(row));
        let near = Csr::from_rows(samples.columns(), rows);
        let degrees = (0..near.rows()).map(|i| near.row(i).map(|(_, w)| w).sum()).collect();
        Self { near, degrees, assigned: labels.assigned().to_vec(), counts, n_labelled }
    }

    /// $A(L_W-L_B)$, $p\times N$.
    #[must_use]
    pub fn pull(&self, codes: &Matrix<T>) -> Matrix<T> {
        let mut out = Matrix::zeros(codes.rows(), codes.columns());
        combine(&self.near, codes, &mut out);
        let mut sums = Matrix::zeros(codes.rows(), self.counts.len());
        let mut sum = vec![T::zero(); codes.rows()];
        for (code, class) in codes.iter_columns().zip(&self.assigned) {
            if let Some(class) = *class {
                axpy(T::one(), code, sums.column_mut(class));
                axpy(T::one(), code, &mut sum);
            }
        }
        let share = T::of(1.0 / self.n_labelled);
        for (j, class) in self.assigned.iter().enumerate() {
            let Some(class) = *class else { continue };
            let others = T::of(self.counts[class] as f64 / self.n_labelled - 1.0);
            let column = out.column_mut(j).iter_mut().zip(codes.column(j));
            column.for_each(|(o, &a)| *o = (self.degrees[j] + others) * a - *o);
            axpy(share, &sum, out.column_mut(j));
            axpy(-share, sums.column(class), out.column_mut(j));
        }
        out
    }

    /// $\operatorname{tr}(A(L_W-L_B)A^\top)$, which may be negative.
    #[must_use]
    pub fn energy(&self, codes: &Matrix<T>) -> f64 {
        inner(codes.as_slice(), self.pull(codes).as_slice())
    }

    /// At least $\sum_j|(L_W-L_B)_{ij}|$ of each sample.
    #[must_use]
    pub fn bound(&self) -> Vec<T> {
        let of = |(j, class): (usize, &Option<usize>)| match class {
            Some(class) => {
                let others = 1.0 - self.counts[*class] as f64 / self.n_labelled;
                let near: T = self.near.row(j).map(|(_, w)| w.abs()).sum();
                T::of(2.0) * near + T::of(2.0 * others)
            }
            None => T::zero(),
        };
        self.assigned.iter().enumerate().map(of).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn products_are_those_of_the_dense_laplacians() {
        let n = 8;
        let samples = Matrix::from_fn(2, n, |i, j| ((j * 3 + i * 5 + i * j) % 7) as f64);
        let given = [Some(0), Some(1), None, Some(0), Some(1), Some(0), None, Some(1)];
        let labels = Labels::new(vec!["a".into(), "b".into()], given.to_vec()).expect("valid");
        let known: Vec<usize> = labels.labelled();
        let squared = |i: usize, j: usize| -> f64 {
            samples
                .column(i)
                .iter()
                .zip(samples.column(j))
                .map(|(a, b): (&f64, &f64)| (a - b).powi(2))
                .sum()
        };
        let width = |i: usize| {
            let mut all: Vec<f64> =
                known.iter().filter(|&&j| j != i).map(|&j| squared(i, j)).collect();
            order::ascending(&mut all);
            all[1].sqrt()
        };
        let laplacian = |w: &dyn Fn(usize, usize) -> f64| {
            Matrix::from_fn(n, n, |i, j| {
                let both = |a: usize, b: usize| a != b && given[a].is_some() && given[b].is_some();
                let weight = |a: usize, b: usize| if both(a, b) { w(a, b) } else { 0.0 };
                if i == j { (0..n).map(|k| weight(i, k)).sum() } else { -weight(i, j) }
            })
        };
        let alpha = |i: usize, j: usize| match squared(i, j) {
            0.0 => 1.0,
            z => (-z / (width(i) * width(j))).exp(),
        };
        let within = laplacian(&|i, j| if given[i] == given[j] { alpha(i, j) / 3.0 } else { 0.0 });
        let between = laplacian(&|i, j| {
            if given[i] == given[j] { alpha(i, j) * (1.0 / 6.0 - 1.0 / 3.0) } else { 1.0 / 6.0 }
        });
        let dense = Matrix::from_fn(n, n, |i, j| within.column(j)[i] - between.column(j)[i]);
        let codes = Matrix::from_fn(3, n, |k, j| ((k * 2 + j * 5) % 6) as f64 - 2.0);
        let graph = ByClass::new(&samples, &labels, 2);
        let expected = Matrix::of_product(codes.view(), dense.view());
        for (a, b) in graph.pull(&codes).as_slice().iter().zip(expected.as_slice()) {
            assert!((a - b).abs() < 1e-10, "{a} {b}");
        }
        for (i, bound) in graph.bound().into_iter().enumerate() {
            let sum: f64 = dense.column(i).iter().map(|v| v.abs()).sum();
            assert!(bound >= sum - 1e-12, "sample {i}: {bound} {sum}");
        }
    }
}
