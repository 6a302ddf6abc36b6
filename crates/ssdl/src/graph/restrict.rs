//! A graph restricted to a few of its samples, for the batch coder.

use std::collections::HashMap;

use super::Laplacian;
use super::laplacian::Form;
use crate::Real;
use crate::matrix::{Matrix, axpy};
use crate::sparse::Csr;

impl<T: Real> Laplacian<T> {
    /// The Laplacian over a batch with all other codes held fixed, and the pull of those others on
    /// each of the batch: $(AL)_j$ of the whole graph is the batch's own $(A_BL_B)_j$ plus that pull.
    pub(crate) fn restrict(&self, batch: &[usize], codes: &Matrix<T>) -> (Self, Matrix<T>) {
        let position: HashMap<usize, usize> =
            batch.iter().enumerate().map(|(at, &j)| (j, at)).collect();
        match self.form() {
            Form::Mixtures { factor, transposed } => {
                let touched = batch.iter().flat_map(|&j| transposed.row(j).map(|(m, _)| m));
                let mut touched: Vec<usize> = touched.collect();
                touched.sort_unstable();
                touched.dedup();
                mixtures(factor, &touched, &position, codes)
            }
            Form::Affinities(weights) => {
                let mut pull = Matrix::zeros(codes.rows(), batch.len());
                for (at, &j) in batch.iter().enumerate() {
                    for (i, weight) in weights.row(j).filter(|(i, _)| !position.contains_key(i)) {
                        axpy(-weight, codes.column(i), pull.column_mut(at));
                    }
                }
                let rows = batch.iter().map(|&j| inside(weights, j, &position));
                let smaller = Csr::from_rows(batch.len(), rows);
                let diagonal = batch.iter().map(|&j| self.diagonal()[j]).collect();
                (Self::with_diagonal(smaller, diagonal), pull)
            }
        }
    }
}

fn inside<T: Real>(rows: &Csr<T>, row: usize, position: &HashMap<usize, usize>) -> Vec<(usize, T)> {
    rows.row(row).filter_map(|(j, w)| position.get(&j).map(|&at| (at, w))).collect()
}

/// Residuals that touch the batch, split into the parts of the batch and of the others:
/// the pull is $\sum_mM_{mj}e^\circ_m$ with $e^\circ$ the residuals of the others alone.
fn mixtures<T: Real>(
    factor: &Csr<T>,
    touched: &[usize],
    position: &HashMap<usize, usize>,
    codes: &Matrix<T>,
) -> (Laplacian<T>, Matrix<T>) {
    let mut pull = Matrix::zeros(codes.rows(), position.len());
    let mut fixed = vec![T::zero(); codes.rows()];
    for &m in touched {
        fixed.fill(T::zero());
        for (j, weight) in factor.row(m).filter(|(j, _)| !position.contains_key(j)) {
            axpy(weight, codes.column(j), &mut fixed);
        }
        for (at, weight) in inside(factor, m, position) {
            axpy(weight, &fixed, pull.column_mut(at));
        }
    }
    let rows = touched.iter().map(|&m| inside(factor, m, position));
    (Laplacian::from_factor(Csr::from_rows(position.len(), rows)), pull)
}
