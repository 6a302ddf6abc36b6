//! The minimiser over a support whose signs are known: one small linear system.

use super::{WorkingSet, add};
use crate::Real;
use crate::matrix::axpy;

/// Maximum number of values per vector instruction; rows of systems are padded to a multiple of it.
const LANES: usize = 8;

/// Supports beyond this size are left to the sweeps: a system costs its cube, and again for each
/// atom that depends on others.
const MAX_SUPPORT: usize = 96;
/// Pivots below this many roundings of the largest one mean dependence, not curvature.
const DEPENDENT: f64 = 256.0;

impl<T: Real> WorkingSet<T> {
    /// Moves the support to its minimiser for the signs it has, or as far towards it as the signs
    /// hold. Where atoms of the support depend on each other, they first give up members until the
    /// rest is independent: along such a dependence only the penalty changes.
    ///
    /// Within an orthant the penalty is linear, so every way taken is downhill.
    #[inline(always)]
    pub(super) fn jump(&mut self, half: T) {
        loop {
            self.support.clear();
            let nonzero = |h: &usize| self.block_code[*h] != T::zero();
            self.support.extend((0..self.block_code.len()).filter(nonzero));
            if self.support.len() > MAX_SUPPORT {
                return;
            }
            self.gather_system(half);
            let width = self.support.len().next_multiple_of(LANES) + LANES;
            let Err(dependent) = eliminate(&mut self.system, width, self.support.len()) else {
                self.take_steps(width, T::one());
                return;
            };
            depend(&mut self.system, width, dependent, |h| {
                let sign = if self.block_code[self.support[h]] > T::zero() { half } else { -half };
                sign - self.block_gradient.as_flattened()[self.support[h]]
            });
            // No coefficient reaches zero: there is nothing to gain, and sweeps may go on.
            if !self.take_steps(width, T::infinity()) {
                return;
            }
        }
    }

    /// Goes along the steps at the ends of the rows, at most `reach` times as far, until the first
    /// coefficient is zero; whether there was one.
    #[inline(always)]
    fn take_steps(&mut self, width: usize, mut reach: T) -> bool {
        let strips = self.block_gradient.len();
        let steps = self.system.chunks_exact(width).map(|row| row[width - 1]);
        let mut first = None;
        for (&h, step) in self.support.iter().zip(steps.clone()) {
            let code = self.block_code[h];
            if step * code < T::zero() && -code / step < reach {
                (reach, first) = (-code / step, Some(h));
            }
        }
        if !reach.is_finite() {
            return false;
        }
        for (&h, step) in self.support.iter().zip(steps).filter(|(_, step)| *step != T::zero()) {
            let old = self.block_code[h];
            let new = old + reach * step;
            let stays = first != Some(h) && new * old > T::zero();
            let new = if stays { new } else { T::zero() };
            self.block_code[h] = new;
            add(old - new, &self.block[h * strips..][..strips], &mut self.block_gradient);
        }
        first.is_some()
    }

    /// Rows of the block of the support, each with its right-hand side at its end.
    #[inline(always)]
    fn gather_system(&mut self, half: T) {
        let (size, strips) = (self.support.len(), self.block_gradient.len());
        let width = size.next_multiple_of(LANES) + LANES;
        self.system.clear();
        self.system.resize(size * width, T::zero());
        for (&h, row) in self.support.iter().zip(self.system.chunks_exact_mut(width)) {
            let block = self.block[h * strips..][..strips].as_flattened();
            for (value, &k) in row.iter_mut().zip(&self.support) {
                *value = block[k];
            }
            let sign = if self.block_code[h] > T::zero() { half } else { -half };
            row[width - 1] = self.block_gradient.as_flattened()[h] - sign;
        }
    }
}

/// Solves a symmetric system in place, rows of `width` with the right-hand side at their ends; or
/// returns the row that depends on those before it, which are then reduced.
#[inline(always)]
fn eliminate<T: Real>(system: &mut [T], width: usize, size: usize) -> Result<(), usize> {
    let largest = (0..size).fold(T::zero(), |top, j| top.max(system[j * width + j]));
    let least = largest * T::of(DEPENDENT) * T::epsilon();
    for j in 0..size {
        let (above, below) = system.split_at_mut((j + 1) * width);
        let pivots = &above[j * width..];
        let pivot = pivots[j];
        // Also where it is not a number.
        if pivot.partial_cmp(&least) != Some(std::cmp::Ordering::Greater) {
            return Err(j);
        }
        let inverse = T::one() / pivot;
        // What is left of the pivot's column is not read again.
        let first = j / LANES * LANES;
        for row in below.chunks_exact_mut(width) {
            let factor = -row[j] * inverse;
            axpy(factor, &pivots[first..], &mut row[first..]);
        }
    }
    for j in (0..size).rev() {
        let (above, row) = system.split_at_mut(j * width);
        let value = row[width - 1] / row[j];
        row[width - 1] = value;
        for earlier in above.chunks_exact_mut(width) {
            earlier[width - 1] -= value * earlier[j];
        }
    }
    Ok(())
}

/// Writes to the ends of the rows the direction in which row `dependent` and those before it, which
/// are reduced, leave the quadratic as it is, turned so that the slope is not uphill.
#[inline(always)]
fn depend<T: Real>(system: &mut [T], width: usize, dependent: usize, slope: impl Fn(usize) -> T) {
    system.chunks_exact_mut(width).for_each(|row| row[width - 1] = T::zero());
    system[dependent * width + width - 1] = T::one();
    let mut uphill = slope(dependent);
    for i in (0..dependent).rev() {
        let mut value = system[i * width + dependent];
        for k in i + 1..dependent {
            value += system[i * width + k] * system[k * width + width - 1];
        }
        let value = -value / system[i * width + i];
        system[i * width + width - 1] = value;
        uphill += slope(i) * value;
    }
    if uphill > T::zero() {
        system.chunks_exact_mut(width).for_each(|row| row[width - 1] = -row[width - 1]);
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Effort, Local, Penalty};
    use super::*;
    use crate::Matrix;

    const TIGHT: Effort<f64> =
        Effort { rounds: 2000, sweeps: 500, tolerance: 1e-12, direct: false };

    #[test]
    fn solving_for_the_support_gives_what_many_sweeps_give() {
        // Atoms that all resemble each other, where sweeps crawl.
        let p = 20;
        let atoms = Matrix::from_fn(30, p, |i, j| 1.0 + 0.3 * ((i * 31 + j * 17) as f64).sin());
        let gram = Matrix::of_product(atoms.transposed(), atoms.view());
        for (nonnegative, sparsity) in [(false, 0.5), (true, 0.5), (false, 0.0)] {
            let penalty = Penalty { sparsity, nonnegative };
            let local = Local { gram: &gram, shift: 0.5, margin: None, penalty };
            let rhs: Vec<f64> = (0..p).map(|k| 20.0 + 3.0 * (k as f64 * 0.7).cos()).collect();
            let solve = |direct| {
                let effort = Effort { direct, ..TIGHT };
                let mut code = vec![0.0; p];
                WorkingSet::new().solve(local, &rhs, &mut code, effort);
                code
            };
            let (jumping, sweeping) = (solve(true), solve(false));
            for (a, b) in jumping.iter().zip(&sweeping) {
                assert!(
                    (a - b).abs() < 1e-7 * (1.0 + b.abs()),
                    "{nonnegative} {sparsity}: {a} {b}"
                );
            }
        }
    }

    #[test]
    fn atoms_that_depend_on_each_other_do_not_hold_up_small_sparsities() {
        // 30 atoms in 12 dimensions, a sparsity at which nearly all dimensions are used.
        let atoms = Matrix::from_fn(12, 30, |i, j| ((i * 31 + j * 17 + i * j) as f64).sin() + 0.5);
        let gram = Matrix::of_product(atoms.transposed(), atoms.view());
        let x: Vec<f64> = (0..12).map(|i| (i as f64 * 0.9).cos() * 4.0).collect();
        let rhs: Vec<f64> = atoms.iter_columns().map(|d| crate::matrix::dot(d, &x)).collect();
        for sparsity in [1e-2, 1e-4, 1e-6] {
            let penalty = Penalty { sparsity, nonnegative: false };
            let local = Local { gram: &gram, shift: 0.0, margin: None, penalty };
            let mut code = vec![0.0; 30];
            let effort = Effort { rounds: 200, sweeps: 20, tolerance: 1e-5, direct: true };
            WorkingSet::new().solve(local, &rhs, &mut code, effort);
            let gap = WorkingSet::new().solve(local, &rhs, &mut code, effort);
            assert!(gap <= 1e-5, "{sparsity}: {gap}");
            assert!(code.iter().filter(|a| **a != 0.0).count() <= 12, "{code:?}");
        }
    }

    #[test]
    fn a_singular_support_gives_up_members() {
        let gram = Matrix::from_fn(3, 3, |_, _| 1.0);
        let penalty = Penalty { sparsity: 0.2, nonnegative: false };
        let local = Local { gram: &gram, shift: 0.0, margin: None, penalty };
        let mut code = vec![0.3, 0.3, 0.3];
        let effort = Effort { direct: true, ..TIGHT };
        WorkingSet::new().solve(local, &[2.0; 3], &mut code, effort);
        assert!((code.iter().sum::<f64>() - 1.9).abs() < 1e-9, "{code:?}");
    }
}
