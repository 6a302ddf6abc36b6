//! Out-of-sample coding: a new sample is coded against the training graph.
//!
//! $$\min_a\lVert x-Da\rVert^2+\kappa\lVert a-m\rVert^2+\lambda\lVert a\rVert_1,$$
//! with $(\kappa,m)$ from the graph ([`Attachment`](crate::graph::Attachment)). For LLE
//! $\kappa=\beta$ and $m=\sum_{j\in\mathrm{knn}(x)}\hat\lambda_ja_j$.
//!
//! Paper: $\hat\lambda_{ij}$ is printed outside the sum; it belongs inside.

use rayon::prelude::*;

use super::Model;
use crate::codes::{CODER, Encoder};
use crate::graph::Anchors;
use crate::matrix::axpy;
use crate::{Matrix, Real, Result};

/// What pulls on the codes of new samples.
#[derive(Clone, Copy)]
pub struct Pull<'a, T> {
    /// β.
    pub manifold: f64,
    /// The training samples that each new one is tied to.
    pub anchors: &'a Anchors<T>,
    /// The codes of the training samples, $p\times N$.
    pub codes: &'a Matrix<T>,
}

/// Codes ($p\times M$) of prepared samples on given atoms; no sample influences another.
#[must_use]
pub fn code_new<T: Real>(
    prepared: &Matrix<T>,
    atoms: &Matrix<T>,
    sparsity: f64,
    pull: Option<Pull<'_, T>>,
) -> Matrix<T> {
    let mut rhs = Matrix::of_each(atoms.transposed(), prepared, None);
    let mut codes = Matrix::zeros(rhs.rows(), rhs.columns());
    let shifts = match pull {
        Some(pull) => pull.lean(sparsity, &mut rhs, &mut codes),
        None => Vec::new(),
    };
    Encoder::new(atoms, sparsity).improve(rhs, shifts, &mut codes, CODER);
    codes
}

impl<T: Real> Pull<'_, T> {
    /// Adds $\kappa m$ to the right-hand sides, starts the codes at $m$, and returns the κ.
    fn lean(&self, sparsity: f64, rhs: &mut Matrix<T>, codes: &mut Matrix<T>) -> Vec<T> {
        let half = T::of(sparsity * 0.5);
        let columns = codes.par_columns_mut().zip(rhs.par_columns_mut()).enumerate();
        let lean = columns.with_min_len(16).map(|(j, (mean, rhs))| {
            let strength = T::of(self.manifold) * self.anchors.strength(j);
            for (i, weight) in self.anchors.of(j) {
                axpy(weight, self.codes.column(i), mean);
            }
            axpy(strength, mean, rhs);
            // The mean of the anchors is where the search starts, cut to what the penalty would
            // leave of it: it is dense, codes are not.
            mean.iter_mut().filter(|a| a.abs() <= half).for_each(|a| *a = T::zero());
            strength
        });
        lean.collect()
    }
}

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
        let sparsity = self.rule.sparsity;
        let Some(anchors) = self.anchors(&prepared)? else {
            return Ok(code_new(&prepared, atoms, sparsity, None));
        };
        let manifold = self.rule.manifold;
        let pull = Pull { manifold, anchors: &anchors, codes: &self.codes };
        Ok(code_new(&prepared, atoms, sparsity, Some(pull)))
    }

    /// The training samples that prepared samples are tied to; `None` where the model ties none.
    pub(super) fn anchors(&self, prepared: &Matrix<T>) -> Result<Option<Anchors<T>>> {
        let Some(tied) = &self.tied else { return Ok(None) };
        let reconstructed = self.atoms.as_ref().filter(|_| self.rule.denoise).map(|atoms| {
            let plain = code_new(prepared, atoms, self.rule.sparsity, None);
            Matrix::of_each(atoms.view(), &plain, None)
        });
        let seen = reconstructed.as_ref().unwrap_or(prepared);
        tied.attachment.anchor(&tied.training, seen).map(Some)
    }
}
