//! Codes of samples on given atoms, each sample on its own: the lasso.
//!
//! $$\min_a\lVert x-Da\rVert^2+\lambda\lVert a\rVert_1.$$

use super::{Lasso, Pulled, Pursuit};
use crate::{Matrix, Real};

/// Atoms ready to code with: their Gram matrix is computed once.
#[derive(Clone, Debug)]
pub struct Encoder<'a, T> {
    atoms: &'a Matrix<T>,
    gram: Matrix<T>,
    lasso: Lasso,
}

impl<'a, T: Real> Encoder<'a, T> {
    /// For these atoms ($n\times p$) and this λ, to the minimum. Cost $np^2$.
    #[must_use]
    #[inline(never)]
    pub fn new(atoms: &'a Matrix<T>, sparsity: f64) -> Self {
        Self::with_lasso(atoms, Lasso::new(sparsity).exact::<T>())
    }

    /// The same with a given lasso.
    pub(crate) fn with_lasso(atoms: &'a Matrix<T>, lasso: Lasso) -> Self {
        Self { atoms, gram: atoms.gram(), lasso }
    }

    /// Whether negative coefficients are excluded.
    #[must_use]
    pub fn nonnegative(mut self, nonnegative: bool) -> Self {
        self.lasso.nonnegative = nonnegative;
        self
    }

    /// Codes ($p\times N$) of samples ($n\times N$); no sample influences another. Cost $np$ per
    /// sample plus its lasso.
    #[must_use]
    #[inline(never)]
    pub fn encode(&self, samples: &Matrix<T>) -> Matrix<T> {
        let mut codes = Matrix::zeros(self.gram.rows(), samples.columns());
        self.improve(Matrix::of_each(self.atoms.transposed(), samples, None), &mut codes);
        codes
    }

    /// Improves `codes` from their present values; `correlations` are $D^\top X$.
    pub(crate) fn improve(&self, correlations: Matrix<T>, codes: &mut Matrix<T>) {
        let problem = Pulled { gram: &self.gram, rhs: correlations, shifts: Vec::new() };
        self.lasso.code(problem, codes);
    }
}
