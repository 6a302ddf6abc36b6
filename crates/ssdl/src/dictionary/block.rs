//! Block coordinate descent: each atom in turn to its exact minimiser in the ball.

use super::{Statistics, Update, project};
use crate::Real;
use crate::matrix::{Matrix, View, axpy, squared_norm};
use crate::wide::wide;

/// Atoms whose gradients are prepared by one product.
const BLOCK: usize = 32;

/// $d_k\leftarrow\Pi\bigl(d_k+(R_k-DS_k)/S_{kk}\bigr)$ for each atom: monotone, feasible, without a
/// step size. Cost $np^2$ per sweep, most of it in matrix products over blocks of atoms.
#[derive(Clone, Copy, Debug)]
pub struct Block {
    /// Maximum number of sweeps.
    pub sweeps: usize,
    /// Relative change of the atoms at which to stop.
    pub tolerance: f64,
    /// Whether negative entries are excluded, too.
    pub nonnegative: bool,
}

impl<T: Real> Update<T> for Block {
    #[inline(never)]
    fn update(&self, atoms: &mut Matrix<T>, statistics: &Statistics<T>, radius: T) -> usize {
        for sweep in 0..self.sweeps {
            let moved = self.one_sweep(atoms, statistics, radius);
            if moved <= self.tolerance * self.tolerance * atoms.squared_norm() {
                return sweep + 1;
            }
        }
        self.sweeps
    }
}

impl Block {
    /// Returns the squared length of all moves together.
    fn one_sweep<T: Real>(
        &self,
        atoms: &mut Matrix<T>,
        statistics: &Statistics<T>,
        radius: T,
    ) -> f64 {
        let (n, p) = (atoms.rows(), atoms.columns());
        let (s, r) = (&statistics.moments, &statistics.correlations);
        let mut slopes = Matrix::zeros(n, BLOCK);
        let mut moved = 0.0;
        for start in (0..p).step_by(BLOCK) {
            let end = (start + BLOCK).min(p);
            slopes.reshape(n, end - start);
            slopes.as_mut_slice().copy_from_slice(&r.as_slice()[start * n..end * n]);
            let columns = View::of_columns(&s.as_slice()[start * p..end * p], p, end - start);
            slopes.add_product(-T::one(), atoms.view(), columns);
            for k in start..end {
                let used = s.column(k)[k];
                if used <= T::min_positive_value() {
                    continue;
                }
                moved += wide(
                    #[inline(always)]
                    || self.move_atom(atoms, &mut slopes, s.column(k), (k, start, end), radius),
                );
            }
        }
        moved
    }

    /// Moves atom `k` and lets the slopes of the atoms after it in the block follow.
    #[inline(always)]
    fn move_atom<T: Real>(
        &self,
        atoms: &mut Matrix<T>,
        slopes: &mut Matrix<T>,
        moments: &[T],
        (k, start, end): (usize, usize, usize),
        radius: T,
    ) -> f64 {
        let mut next = atoms.column(k).to_vec();
        axpy(T::one() / moments[k], slopes.column(k - start), &mut next);
        // Without a way out in the middle, so that many are tested at once.
        if !next.iter().fold(true, |all, d| all & d.is_finite()) {
            return 0.0;
        }
        if self.nonnegative {
            next.iter_mut().for_each(|d| *d = d.max(T::zero()));
        }
        project(&mut next, radius);
        let atom = atoms.column_mut(k);
        for (new, old) in next.iter_mut().zip(atom) {
            let step = *new - *old;
            *old = *new;
            *new = step;
        }
        for (later, &moment) in (k + 1..end).zip(&moments[k + 1..end]) {
            axpy(-moment, &next, slopes.column_mut(later - start));
        }
        squared_norm(&next)
    }
}
