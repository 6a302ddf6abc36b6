//! Atoms past the minimiser, so that an alternation takes fewer iterations.
//!
//! Atoms and codes depend on each other: a step of the atoms falls short of where the next codes will pull them.

use super::{Statistics, Update, project};
use crate::{Matrix, Real};

/// How far past its minimiser a dictionary step goes, as a share of the step. Along the step the
/// objective is a parabola, so anything below 1 still gains; 0.6 is fastest on the reference splits.
const SHARE: f64 = 0.6;

/// Atoms past the minimiser on the way from `before`, with their Gram matrix, or `None` if the codes fit them
/// worse than `allowed`: a ball may bend the step.
fn overshoot<T: Real>(
    before: &Matrix<T>,
    atoms: &Matrix<T>,
    statistics: &Statistics<T>,
    radius: T,
    (share, allowed): (f64, f64),
) -> Option<(Matrix<T>, Matrix<T>)> {
    let mut further = atoms.clone();
    for k in 0..further.columns() {
        let moved = further.column_mut(k).iter_mut().zip(before.column(k));
        moved.for_each(|(d, &old)| *d += T::of(share) * (*d - old));
        project(further.column_mut(k), radius);
    }
    let gram = further.gram();
    (statistics.value(&further, &gram) <= allowed).then_some((further, gram))
}

/// Updates atoms in the ball of this radius and their Gram matrix; past the minimiser where that does not raise
/// the objective, but for the last time, which no later codes follow.
pub(crate) fn update_past<T: Real>(
    update: &dyn Update<T>,
    (atoms, gram): (&mut Matrix<T>, &mut Matrix<T>),
    statistics: &Statistics<T>,
    radius: T,
    is_last: bool,
) {
    let share = if is_last { 0.0 } else { SHARE };
    update_further(update, (atoms, gram), statistics, radius, share);
}

/// The same by this share of the step; none stops at the minimiser.
pub(crate) fn update_further<T: Real>(
    update: &dyn Update<T>,
    (atoms, gram): (&mut Matrix<T>, &mut Matrix<T>),
    statistics: &Statistics<T>,
    radius: T,
    share: f64,
) {
    let before = (share > 0.0).then(|| (atoms.clone(), statistics.value(atoms, gram)));
    update.update(atoms, statistics, radius);
    let further = before.and_then(|(before, allowed)| {
        overshoot(&before, atoms, statistics, radius, (share, allowed))
    });
    match further {
        Some(further) => (*atoms, *gram) = further,
        None => *gram = atoms.gram(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dictionary::Block;

    #[test]
    fn atoms_past_the_minimiser_are_refused_where_they_would_be_worse() {
        let samples = Matrix::from_fn(2, 3, |i, j| (i + j) as f64);
        let codes = Matrix::from_fn(1, 3, |_, j| j as f64 + 1.0);
        let statistics = Statistics::of(&samples, &codes, samples.squared_norm());
        let before = Matrix::from_fn(2, 1, |_, _| 0.0);
        let best = Matrix::from_fn(2, 1, |i, _| [8.0 / 14.0, 14.0 / 14.0][i]);
        let allowed = statistics.value(&before, &before.gram());
        assert!(overshoot(&before, &best, &statistics, 10.0, (SHARE, allowed)).is_some());
        let least = statistics.value(&best, &best.gram());
        assert!(overshoot(&before, &best, &statistics, 10.0, (SHARE, least)).is_none());
    }

    #[test]
    fn the_last_update_stops_at_the_minimiser() {
        let samples = Matrix::from_fn(4, 6, |i, j| ((i * 5 + j * 3) % 7) as f64 * 0.1 - 0.3);
        let codes = Matrix::from_fn(2, 6, |k, j| ((k + j) % 3) as f64);
        let statistics = Statistics::of(&samples, &codes, samples.squared_norm());
        let block = Block { sweeps: 50, tolerance: 0.0, nonnegative: false };
        let start = Matrix::from_fn(4, 2, |i, k| if i == k { 0.5 } else { 0.0 });
        let updated = |is_last: bool| {
            let (mut atoms, mut gram) = (start.clone(), start.gram());
            update_past(&block, (&mut atoms, &mut gram), &statistics, 1.0, is_last);
            assert_eq!(gram, atoms.gram());
            let value = statistics.value(&atoms, &gram);
            (atoms, value)
        };
        let mut least = start.clone();
        block.update(&mut least, &statistics, 1.0);
        let ((last, value), (further, above)) = (updated(true), updated(false));
        assert_eq!(last, least);
        assert_ne!(further, least);
        assert!(value < above && above < statistics.value(&start, &start.gram()));
    }
}
