//! The l1 penalty, minimised by coordinate descent.

use super::{Pulled, Pursuit};
use crate::codes::{Coordinate, Quadratic};
use crate::matrix::absolute_sum;
use crate::{Matrix, Real};

/// $\min_a\;a^\top Ga-2r^\top a+\kappa\lVert a\rVert^2+\lambda\lVert a\rVert_1$.
#[derive(Clone, Copy, Debug)]
pub struct Lasso {
    /// λ.
    pub sparsity: f64,
    /// Whether coefficients must be zero or above.
    pub nonnegative: bool,
    /// How far each code is minimised.
    pub solver: Coordinate,
}

impl Lasso {
    /// As close to the minimum as predictions need; each sample stops separately.
    #[must_use]
    pub fn new(sparsity: f64) -> Self {
        let solver = Coordinate { sweeps: 200, inner_sweeps: 20, tolerance: 1e-4, direct: true };
        Self { sparsity, nonnegative: false, solver }
    }

    /// As close as the codes of an iteration need to be: the next one starts from them, on other atoms.
    #[must_use]
    pub fn rough(sparsity: f64) -> Self {
        let solver = Coordinate { sweeps: 200, inner_sweeps: 20, tolerance: 1e-2, direct: true };
        Self { sparsity, nonnegative: false, solver }
    }

    /// As close as this share of λ.
    #[must_use]
    pub(crate) fn within(mut self, tolerance: f64) -> Self {
        self.solver.tolerance = tolerance;
        self
    }

    /// Minimised up to rounding.
    #[must_use]
    pub fn exact<T: Real>(mut self) -> Self {
        // A direct solve ends at the minimum anyway; a tighter test only confirms the support.
        self.solver.tolerance = f64::max(1e-6, 1e3 * T::epsilon().wide());
        self
    }
}

impl<T: Real> Pursuit<T> for Lasso {
    fn code(&self, problem: Pulled<'_, T>, codes: &mut Matrix<T>) {
        let Pulled { gram, rhs, shifts } = problem;
        let lasso = Quadratic::individual(gram, shifts, rhs, T::of(self.sparsity));
        let lasso = if self.nonnegative { lasso.nonnegative() } else { lasso };
        self.solver.minimise(&lasso, codes);
    }

    fn size(&self, codes: &Matrix<T>) -> f64 {
        self.sparsity * absolute_sum(codes.as_slice())
    }
}
