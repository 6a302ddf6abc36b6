//! The ball that atoms lie in, and what happens to unused atoms.

use rayon::prelude::*;

use crate::Real;
use crate::matrix::{Matrix, axpy, squared_norm};

/// Shrinks the atom to the radius if it is longer.
///
/// Paper: "projected on the sphere" is printed for the first atoms, but the constraint is the ball
/// and short atoms are left short.
pub fn project<T: Real>(atom: &mut [T], radius: T) {
    let norm = T::of(squared_norm(atom).sqrt());
    if norm > radius {
        let factor = radius / norm;
        atom.iter_mut().for_each(|d| *d *= factor);
    }
}

/// Replaces every atom whose coefficients are all zero by a badly reconstructed sample, scaled to the
/// radius; returns how many atoms were unused and how many were replaced.
///
/// The objective does not change, because the atom's coefficients are zero. Samples are taken worst
/// first (ties by index), each once; without a residual to learn from the atom stays as it is.
#[inline(never)]
pub fn revive<T: Real>(
    atoms: &mut Matrix<T>,
    samples: &Matrix<T>,
    codes: &Matrix<T>,
    moments: &Matrix<T>,
    radius: T,
) -> (usize, usize) {
    let dead: Vec<usize> =
        (0..atoms.columns()).filter(|&k| moments.column(k)[k] == T::zero()).collect();
    if dead.is_empty() {
        return (0, 0);
    }
    let mut residuals: Vec<(f64, usize)> = (0..samples.columns())
        .into_par_iter()
        .map_init(Vec::new, |left, j| {
            left.clear();
            left.extend_from_slice(samples.column(j));
            for (k, &a) in codes.column(j).iter().enumerate().filter(|(_, a)| **a != T::zero()) {
                axpy(-a, atoms.column(k), left);
            }
            (squared_norm(left), j)
        })
        .collect();
    residuals.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
    let floor = 1e-10 * samples.squared_norm() / samples.columns() as f64;
    let mut revived = 0;
    for (&k, &(residual, j)) in dead.iter().zip(&residuals) {
        if residual <= floor {
            break;
        }
        let factor = radius / T::of(squared_norm(samples.column(j)).sqrt());
        if factor.is_finite() {
            let source = samples.column(j);
            atoms.column_mut(k).iter_mut().zip(source).for_each(|(d, &x)| *d = x * factor);
            revived += 1;
        }
    }
    (dead.len(), revived)
}
