//! Codes of samples on given atoms, each sample by itself: the lasso.
//!
//! $$\min_a\lVert x-Da\rVert^2+\lambda\lVert a\rVert_1.$$

use super::{Coordinate, Quadratic};
use crate::dictionary::gram;
use crate::{Matrix, Real};

/// As near to the minimum as predictions need; each sample stops by itself.
pub(crate) const CODER: Coordinate =
    Coordinate { sweeps: 200, inner_sweeps: 20, tolerance: 1e-4, direct: true };

/// Atoms ready to code with: their Gram matrix is computed once.
#[derive(Clone, Debug)]
pub struct Encoder<'a, T> {
    atoms: &'a Matrix<T>,
    gram: Matrix<T>,
    sparsity: T,
    nonnegative: bool,
}

impl<'a, T: Real> Encoder<'a, T> {
    /// For these atoms ($n\times p$) and this λ. Cost $np^2$.
    #[must_use]
    pub fn new(atoms: &'a Matrix<T>, sparsity: f64) -> Self {
        Self { atoms, gram: gram(atoms), sparsity: T::of(sparsity), nonnegative: false }
    }

    /// Whether coefficients below zero are left out of the choice.
    #[must_use]
    pub fn nonnegative(mut self, nonnegative: bool) -> Self {
        self.nonnegative = nonnegative;
        self
    }

    /// Codes ($p\times N$) of samples ($n\times N$); no sample influences another. Cost $np$ a sample
    /// plus its lasso.
    #[must_use]
    pub fn encode(&self, samples: &Matrix<T>) -> Matrix<T> {
        let mut codes = Matrix::zeros(self.gram.rows(), samples.columns());
        let correlations = Matrix::of_each(self.atoms.transposed(), samples, None);
        // A direct solve ends at the minimum anyway; a tighter test only makes sure of the support.
        let exact = Coordinate { tolerance: f64::max(1e-6, 1e3 * T::epsilon().wide()), ..CODER };
        self.improve(correlations, Vec::new(), &mut codes, exact);
        codes
    }

    /// Brings `codes` down from where they stand; `correlations` are $D^\top x_j+\kappa_jm_j$ and
    /// `shifts` the $\kappa_j$, empty where nothing pulls.
    pub(crate) fn improve(
        &self,
        correlations: Matrix<T>,
        shifts: Vec<T>,
        codes: &mut Matrix<T>,
        coder: Coordinate,
    ) {
        let lasso = Quadratic::individual(&self.gram, shifts, correlations, self.sparsity);
        let lasso = if self.nonnegative { lasso.nonnegative() } else { lasso };
        coder.minimise(&lasso, codes);
    }
}
