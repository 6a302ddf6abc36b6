//! The ball that atoms lie in, and what happens to unused atoms.

use rayon::prelude::*;

use crate::Real;
use crate::matrix::{Matrix, axpy, squared_norm};
use crate::samples::Held;

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
    let energy = samples.squared_norm();
    revive_from(atoms, (samples.into(), energy), codes, moments, radius)
}

/// The same for samples in memory or in a file, with $\lVert X\rVert^2$.
pub(crate) fn revive_from<T: Real>(
    atoms: &mut Matrix<T>,
    (samples, energy): (Held<'_, T>, f64),
    codes: &Matrix<T>,
    moments: &Matrix<T>,
    radius: T,
) -> (usize, usize) {
    revive_by(atoms, (samples, energy), moments, radius, |atoms| {
        let mut residuals = Vec::with_capacity(samples.columns());
        samples.each_block(|first, block| {
            let each = (0..block.columns()).into_par_iter().map_init(Vec::new, |left, at| {
                left.clear();
                left.extend_from_slice(block.column(at));
                let code = codes.column(first + at).iter().enumerate();
                for (k, &a) in code.filter(|(_, a)| **a != T::zero()) {
                    axpy(-a, atoms.column(k), left);
                }
                squared_norm(left)
            });
            residuals.par_extend(each);
        });
        residuals
    })
}

/// The same from the squared residual $\lVert x_j-Da_j\rVert^2$ of each sample, which is asked for only where an
/// atom is unused.
pub fn revive_by<T: Real>(
    atoms: &mut Matrix<T>,
    (samples, energy): (Held<'_, T>, f64),
    moments: &Matrix<T>,
    radius: T,
    residuals: impl FnOnce(&Matrix<T>) -> Vec<f64>,
) -> (usize, usize) {
    let dead: Vec<usize> =
        (0..atoms.columns()).filter(|&k| moments.column(k)[k] == T::zero()).collect();
    if dead.is_empty() {
        return (0, 0);
    }
    let mut residuals: Vec<(f64, usize)> =
        residuals(atoms).into_iter().enumerate().map(|(j, residual)| (residual, j)).collect();
    residuals.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
    let floor = 1e-10 * energy / samples.columns() as f64;
    let mut revived = 0;
    for (&k, &(residual, j)) in dead.iter().zip(&residuals) {
        if residual <= floor {
            break;
        }
        let source = samples.select(&[j]);
        let factor = radius / T::of(source.squared_norm().sqrt());
        if factor.is_finite() {
            let source = source.as_slice();
            atoms.column_mut(k).iter_mut().zip(source).for_each(|(d, &x)| *d = x * factor);
            revived += 1;
        }
    }
    (dead.len(), revived)
}
