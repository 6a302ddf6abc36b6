//! Steps a little longer than needed, so that the alternation takes fewer iterations.
//!
//! Atoms and codes depend on each other, so each step falls short of where the next will pull it.
//! Both accelerations are tried and undone where the objective would rise: the alternation stays
//! monotone. On the reference splits they reach the objective of 15 plain iterations in about 10.

use crate::dictionary::{Statistics, project};
use crate::sparse::Csr;
use crate::threads::Loops;
use crate::{Matrix, Real};

/// How far past its minimiser a dictionary step goes, as a share of the step. Along the step the
/// objective is a parabola, so anything below 1 still gains; 0.6 is fastest on the reference splits.
const OVERSHOOT: f64 = 0.6;
/// Share of the last change of the codes by which the coder's start continues it.
pub const MOMENTUM: f64 = 0.8;

/// Atoms past the minimiser on the way from `before`, with their Gram matrix, or `None` if they would
/// reconstruct worse than `allowed`.
pub(super) fn overshoot<T: Real>(
    before: &Matrix<T>,
    atoms: &Matrix<T>,
    statistics: &Statistics<T>,
    radius: T,
    allowed: f64,
) -> Option<(Matrix<T>, Matrix<T>)> {
    let mut further = atoms.clone();
    for k in 0..further.columns() {
        let moved = further.column_mut(k).iter_mut().zip(before.column(k));
        moved.for_each(|(d, &old)| *d += T::of(OVERSHOOT) * (*d - old));
        project(further.column_mut(k), radius);
    }
    let gram = further.gram();
    (statistics.residual(&further, &gram) <= allowed).then_some((further, gram))
}

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

    #[test]
    fn atoms_past_the_minimiser_are_refused_where_they_would_be_worse() {
        let samples = Matrix::from_fn(2, 3, |i, j| (i + j) as f64);
        let codes = Matrix::from_fn(1, 3, |_, j| j as f64 + 1.0);
        let statistics = Statistics::of(&samples, &codes, samples.squared_norm());
        let before = Matrix::from_fn(2, 1, |_, _| 0.0);
        let best = Matrix::from_fn(2, 1, |i, _| [8.0 / 14.0, 14.0 / 14.0][i]);
        let allowed = statistics.residual(&before, &before.gram());
        assert!(overshoot(&before, &best, &statistics, 10.0, allowed).is_some());
        let least = statistics.residual(&best, &best.gram());
        assert!(overshoot(&before, &best, &statistics, 10.0, least).is_none());
    }
}
