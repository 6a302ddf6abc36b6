//! Out-of-sample coding: a new sample is coded against the training graph.
//!
//! $$\min_a\lVert x-Da\rVert^2+\beta\Bigl\lVert a-\sum_{j\in\mathrm{knn}(x)}\hat\lambda_ja_j
//! \Bigr\rVert^2+\lambda\lVert a\rVert_1$$
//!
//! Paper: $\hat\lambda_{ij}$ is printed outside the sum; it belongs inside.

use super::Model;
use crate::codes::{Coordinate, Quadratic};
use crate::dictionary::gram;
use crate::graph::{Anchors, Graph, Lle};
use crate::matrix::axpy;
use crate::{Matrix, Real, Result};

impl<T: Real> Model<T> {
    /// Sparse codes ($p\times N$) of raw samples; no sample influences another.
    ///
    /// Cost per sample $O(n(N+p))$ plus its lasso.
    ///
    /// # Errors
    /// If the number of features is wrong or a value is not finite.
    pub fn code(&self, raw: Matrix<T>) -> Result<Matrix<T>> {
        let prepared = self.preparation.apply(raw)?;
        let mut rhs = Matrix::of_each(self.atoms.transposed(), &prepared, None);
        let mut codes = Matrix::zeros(rhs.rows(), rhs.columns());
        if let Some(training) = &self.training {
            let lle = Lle { n_neighbors: self.rule.n_neighbors };
            let anchors: Anchors<T> = lle.anchor(training, &prepared);
            for j in 0..codes.columns() {
                let mean = codes.column_mut(j);
                for (i, weight) in anchors.of(j) {
                    axpy(weight, self.codes.column(i), mean);
                }
                axpy(T::of(self.rule.manifold), mean, rhs.column_mut(j));
                // The mean of the neighbours is where the search starts, cut to what the penalty
                // would leave of it: it is dense, codes are not.
                let half = T::of(self.rule.sparsity * 0.5);
                mean.iter_mut().filter(|a| a.abs() <= half).for_each(|a| *a = T::zero());
            }
        }
        let gram = gram(&self.atoms);
        let (shift, sparsity) = (T::of(self.rule.manifold), T::of(self.rule.sparsity));
        let problem = Quadratic::individual(&gram, shift, rhs, sparsity);
        Coordinate { sweeps: 200, inner_sweeps: 20, tolerance: 1e-4 }
            .minimise(&problem, &mut codes);
        Ok(codes)
    }
}
