//! 5. From codes to classes: a linear classifier, active points and class memberships.

mod active;
pub mod margin;
pub mod membership;
mod ridge;
pub mod svm;

pub use active::{Active, ActivePoints, Weight};
pub use membership::{Shares, best, memberships};
pub use ridge::ridge;

use crate::{Matrix, Real};

/// One linear score per class: $s=W^\top a+b$.
#[derive(Clone, Debug, PartialEq)]
pub struct LinearClassifier<T> {
    /// $W$, $p\times C$: column $c$ is $w_c$ (the paper's $W$ is the transpose).
    pub weights: Matrix<T>,
    /// $b$, one entry a class.
    pub bias: Vec<T>,
}

impl<T: Real> LinearClassifier<T> {
    /// Scores $C\times N$ of codes $p\times N$.
    #[must_use]
    pub fn scores(&self, codes: &Matrix<T>) -> Matrix<T> {
        let mut scores = Matrix::from_fn(self.bias.len(), codes.columns(), |c, _| self.bias[c]);
        scores.add_product(T::one(), self.weights.transposed(), codes.view());
        scores
    }

    /// $\lVert W\rVert^2+\lVert b\rVert^2$.
    #[must_use]
    pub fn squared_norm(&self) -> f64 {
        self.weights.squared_norm() + crate::matrix::squared_norm(&self.bias)
    }

    /// Splits solutions of the augmented system, $[w_c;b_c]$ in column $c$.
    pub(crate) fn from_augmented(solution: &Matrix<T>) -> Self {
        let p = solution.rows() - 1;
        let weights = Matrix::from_fn(p, solution.columns(), |k, c| solution.column(c)[k]);
        Self { weights, bias: solution.iter_columns().map(|column| column[p]).collect() }
    }
}
