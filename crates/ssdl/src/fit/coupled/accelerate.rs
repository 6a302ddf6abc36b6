//! Codes that start where they were heading, so that the alternation takes fewer iterations.
//!
//! Atoms and codes depend on each other, so each step falls short of where the next will pull it. This
//! and atoms past their minimiser (`dictionary/overshoot.rs`) are tried and undone where the objective
//! would rise: the alternation stays monotone. On the reference splits they reach the objective of 15
//! plain iterations in about 10.

use crate::sparse::Csr;
use crate::threads::Loops;
use crate::{Matrix, Real};

/// Share of the last change of the codes by which the coder's start continues it.
pub const MOMENTUM: f64 = 0.8;

/// Continues the change of the codes since `previous`; coefficients that are new or would change
/// sign stay.
pub(super) fn extrapolate<T: Real>(codes: &mut Matrix<T>, previous: &Csr<T>) {
    codes.columns_mut().enumerate().runs_of(64).each(|(j, code)| {
        for (k, old) in previous.row(j) {
            let a = &mut code[k];
            let next = *a + T::of(MOMENTUM) * (*a - old);
            if next * *a > T::zero() {
                *a = next;
            }
        }
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_are_extrapolated_only_where_they_keep_their_sign() {
        let mut codes = Matrix::from_fn(1, 4, |_, j| [2.0, 0.5, 1.0, 0.0][j]);
        let previous = Matrix::from_fn(1, 4, |_, j| [1.0, 3.0, 0.0, 1.0][j]);
        extrapolate(&mut codes, &Csr::of_columns(&previous));
        assert_eq!(codes.as_slice(), [2.8, 0.5, 1.0, 0.0]);
    }
}
