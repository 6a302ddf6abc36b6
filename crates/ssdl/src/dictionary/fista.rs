//! Projected accelerated gradient: the paper's own dictionary update.

use super::{Statistics, Update, project};
use crate::Real;
use crate::matrix::{Matrix, axpy, inner, largest_eigenvalue};

/// FISTA on $\langle D^\top D,S\rangle-2\langle D,R\rangle$ with projection on the ball.
///
/// Paper: the authors' program returns the extrapolated point, whose atoms can leave the ball; this
/// returns the projected one.
#[derive(Clone, Copy, Debug)]
pub struct ProjectedFista {
    /// Maximum number of iterations.
    pub iterations: usize,
    /// Relative change of the atoms at which to stop.
    pub tolerance: f64,
}

impl<T: Real> Update<T> for ProjectedFista {
    #[inline(never)]
    fn update(&self, atoms: &mut Matrix<T>, statistics: &Statistics<T>, radius: T) -> usize {
        let (s, r) = (&statistics.moments, &statistics.correlations);
        let p = atoms.columns();
        let value = |d: &Matrix<T>| {
            inner(d.gram().as_slice(), s.as_slice()) - 2.0 * inner(d.as_slice(), r.as_slice())
        };
        let mut curvature = largest_eigenvalue(p, |v: &[T], out: &mut [T]| {
            out.fill(T::zero());
            v.iter().enumerate().for_each(|(k, &v)| axpy(v, s.column(k), out));
        });
        if curvature <= T::min_positive_value() {
            return 0;
        }
        let used: Vec<bool> = (0..p).map(|k| s.column(k)[k] > T::zero()).collect();
        let (mut best, mut ahead) = (atoms.clone(), atoms.clone());
        let (mut momentum, mut before) = (1.0f64, value(atoms));
        let mut slope = Matrix::zeros(atoms.rows(), p);
        for iteration in 0..self.iterations {
            slope.as_mut_slice().copy_from_slice(r.as_slice());
            slope.add_product(-T::one(), ahead.view(), s.view());
            let mut next = ahead.clone();
            axpy(T::one() / curvature, slope.as_slice(), next.as_mut_slice());
            for (k, &used) in used.iter().enumerate() {
                if used {
                    project(next.column_mut(k), radius);
                } else {
                    next.column_mut(k).copy_from_slice(atoms.column(k));
                }
            }
            let after = value(&next);
            if after > before {
                // Either momentum overshot or the curvature was underestimated: start again from
                // the best point, and if that was the start already, with a shorter step.
                if momentum == 1.0 {
                    curvature *= T::of(1.5);
                }
                momentum = 1.0;
                ahead = best.clone();
                continue;
            }
            let following = 0.5 * (1.0 + (1.0 + 4.0 * momentum * momentum).sqrt());
            let m = T::of((momentum - 1.0) / following);
            let mut moved = 0.0;
            let entries = ahead.as_mut_slice().iter_mut().zip(best.as_slice()).zip(next.as_slice());
            for ((ahead, &old), &new) in entries {
                moved += (new - old).wide().powi(2);
                *ahead = new + m * (new - old);
            }
            (best, momentum, before) = (next, following, after);
            if moved <= self.tolerance * self.tolerance * best.squared_norm() {
                *atoms = best;
                return iteration + 1;
            }
        }
        *atoms = best;
        self.iterations
    }
}
