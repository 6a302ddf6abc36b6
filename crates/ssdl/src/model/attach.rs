//! Out-of-sample coding: a new sample is coded against the training graph.
//!
//! $$\min_a\lVert x-Da\rVert^2+\kappa\lVert a-m\rVert^2+\lambda\lVert a\rVert_1,$$
//! with $(\kappa,m)$ from the graph ([`Attachment`](crate::graph::Attachment)). For LLE
//! $\kappa=\beta$ and $m=\sum_{j\in\mathrm{knn}(x)}\hat\lambda_ja_j$.
//!
//! Paper: $\hat\lambda_{ij}$ is printed outside the sum; it belongs inside.

use super::{Model, Tied};
use crate::codes::{Coordinate, Quadratic};
use crate::dictionary::gram;
use crate::matrix::axpy;
use crate::{Matrix, Real, Result};

/// As near to the minimum as predictions need; each sample stops by itself.
const CODER: Coordinate = Coordinate { sweeps: 200, inner_sweeps: 20, tolerance: 1e-4 };

impl<T: Real> Model<T> {
    /// Sparse codes ($p\times N$) of raw samples; no sample influences another. Without atoms these
    /// are the prepared samples.
    ///
    /// Cost per sample $O(n(N+p))$ plus its lasso.
    ///
    /// # Errors
    /// If the number of features is wrong or a value is not finite.
    pub fn code(&self, raw: Matrix<T>) -> Result<Matrix<T>> {
        let prepared = self.preparation.apply(raw)?;
        let Some(atoms) = &self.atoms else { return Ok(prepared) };
        let gram = gram(atoms);
        let mut rhs = Matrix::of_each(atoms.transposed(), &prepared, None);
        let mut codes = Matrix::zeros(rhs.rows(), rhs.columns());
        let sparsity = T::of(self.rule.sparsity);
        let Some(tied) = &self.tied else {
            CODER.minimise(&Quadratic::individual(&gram, Vec::new(), rhs, sparsity), &mut codes);
            return Ok(codes);
        };
        let seen = if self.rule.denoise {
            let plain = Quadratic::individual(&gram, Vec::new(), rhs.clone(), sparsity);
            CODER.minimise(&plain, &mut codes);
            Matrix::of_each(atoms.view(), &codes, None)
        } else {
            prepared
        };
        let shifts = self.lean(tied, &seen, &mut rhs, &mut codes)?;
        CODER.minimise(&Quadratic::individual(&gram, shifts, rhs, sparsity), &mut codes);
        Ok(codes)
    }

    /// Adds $\kappa m$ to the right-hand sides, starts the codes at $m$, and returns the κ.
    fn lean(
        &self,
        tied: &Tied<T>,
        seen: &Matrix<T>,
        rhs: &mut Matrix<T>,
        codes: &mut Matrix<T>,
    ) -> Result<Vec<T>> {
        let anchors = tied.attachment.anchor(&tied.training, seen)?;
        let manifold = T::of(self.rule.manifold);
        let half = T::of(self.rule.sparsity * 0.5);
        let mut shifts = Vec::with_capacity(seen.columns());
        for j in 0..seen.columns() {
            let strength = manifold * anchors.strength(j);
            let mean = codes.column_mut(j);
            mean.fill(T::zero());
            for (i, weight) in anchors.of(j) {
                axpy(weight, self.codes.column(i), mean);
            }
            axpy(strength, mean, rhs.column_mut(j));
            // The mean of the anchors is where the search starts, cut to what the penalty would
            // leave of it: it is dense, codes are not.
            mean.iter_mut().filter(|a| a.abs() <= half).for_each(|a| *a = T::zero());
            shifts.push(strength);
        }
        Ok(shifts)
    }
}
