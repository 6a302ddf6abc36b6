//! The ball that atoms lie in, and what happens to unused atoms.

use crate::matrix::{Matrix, axpy, squared_norm};
use crate::samples::Held;
use crate::threads::Loops;
use crate::{Real, order};

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
    let residuals = |atoms: &Matrix<T>| squared_residuals(atoms, samples, codes);
    revive_by(atoms, (samples, energy), moments, radius, residuals)
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
    let dead = unused(moments);
    if dead.is_empty() {
        return (0, 0);
    }
    let worst = worst_of(residuals(atoms), dead.len());
    let worst = worst.into_iter().map(|(residual, j)| (residual, samples.select(&[j]).into_vec()));
    let floor = residual_floor(energy, samples.columns());
    (dead.len(), replace(atoms, &dead, worst, floor, radius))
}

/// Atoms whose coefficients are all zero, from $AA^\top$.
pub(crate) fn unused<T: Real>(moments: &Matrix<T>) -> Vec<usize> {
    (0..moments.columns()).filter(|&k| moments.column(k)[k] == T::zero()).collect()
}

/// Squared length of a residual below which there is nothing to learn from it.
pub(crate) fn residual_floor(energy: f64, n_samples: usize) -> f64 {
    1e-10 * energy / n_samples as f64
}

/// $\lVert x_j-Da_j\rVert^2$ of each sample.
pub(crate) fn squared_residuals<T: Real>(
    atoms: &Matrix<T>,
    samples: Held<'_, T>,
    codes: &Matrix<T>,
) -> Vec<f64> {
    let mut residuals = Vec::with_capacity(samples.columns());
    samples.each_block(|first, block| {
        let each = (0..block.columns()).gather_with(Vec::new, |left, at| {
            left.clear();
            left.extend_from_slice(block.column(at));
            let code = codes.column(first + at).iter().enumerate();
            for (k, &a) in code.filter(|(_, a)| **a != T::zero()) {
                axpy(-a, atoms.column(k), left);
            }
            squared_norm(left)
        });
        residuals.extend(each);
    });
    residuals
}

/// At most `count` of the largest residuals with their samples, worst first, ties by index.
pub(crate) fn worst_of(residuals: Vec<f64>, count: usize) -> Vec<(f64, usize)> {
    let mut all: Vec<(f64, usize)> =
        residuals.into_iter().enumerate().map(|(j, residual)| (residual, j)).collect();
    order::largest_first(&mut all);
    all.truncate(count);
    all
}

/// Replaces the atoms named by samples of at least this residual, scaled to the radius; returns how many.
pub(crate) fn replace<T: Real>(
    atoms: &mut Matrix<T>,
    dead: &[usize],
    worst: impl Iterator<Item = (f64, Vec<T>)>,
    floor: f64,
    radius: T,
) -> usize {
    let mut revived = 0;
    for (&k, (residual, source)) in dead.iter().zip(worst) {
        if residual <= floor {
            break;
        }
        let factor = radius / T::of(squared_norm(&source).sqrt());
        if factor.is_finite() {
            atoms.column_mut(k).iter_mut().zip(&source).for_each(|(d, &x)| *d = x * factor);
            revived += 1;
        }
    }
    revived
}
