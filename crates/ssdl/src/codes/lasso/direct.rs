//! The minimiser over a support whose signs are known: one small linear system.

use super::Lasso;
use crate::Real;
use crate::matrix::axpy;

/// Numbers that one vector instruction takes, at the most; rows of systems are filled up to it.
const LANES: usize = 8;

impl<T: Real> Lasso<T> {
    /// Moves the support to its minimiser for the signs it has, or as far towards it as the signs
    /// hold; where its block is singular nothing happens.
    ///
    /// Within an orthant the penalty is linear, so the way there is downhill throughout.
    #[inline(always)]
    pub(super) fn jump(&mut self, half: T) {
        let stride = self.block_gradient.len();
        self.support.clear();
        self.support
            .extend((0..self.block_code.len()).filter(|&h| self.block_code[h] != T::zero()));
        self.gather_system(stride, half);
        let width = self.support.len().next_multiple_of(LANES) + LANES;
        if !eliminate(&mut self.system, width, self.support.len()) {
            return;
        }
        let steps = self.system.chunks_exact(width).map(|row| row[width - 1]);
        let mut reach = T::one();
        for (&h, step) in self.support.iter().zip(steps.clone()) {
            let code = self.block_code[h];
            if (code + step) * code < T::zero() {
                reach = reach.min(-code / step);
            }
        }
        for (&h, step) in self.support.iter().zip(steps) {
            let old = self.block_code[h];
            let new = old + reach * step;
            // Who reaches zero first stays there.
            let new = if new * old <= T::zero() { T::zero() } else { new };
            self.block_code[h] = new;
            axpy(old - new, &self.block[h * stride..][..stride], &mut self.block_gradient);
        }
    }

    /// Rows of the block of the support, each with its right-hand side at its end.
    #[inline(always)]
    fn gather_system(&mut self, stride: usize, half: T) {
        let size = self.support.len();
        let width = size.next_multiple_of(LANES) + LANES;
        self.system.clear();
        self.system.resize(size * width, T::zero());
        for (&h, row) in self.support.iter().zip(self.system.chunks_exact_mut(width)) {
            let block = &self.block[h * stride..][..stride];
            for (value, &k) in row.iter_mut().zip(&self.support) {
                *value = block[k];
            }
            let sign = if self.block_code[h] > T::zero() { half } else { -half };
            row[width - 1] = self.block_gradient[h] - sign;
        }
    }
}

/// Solves a symmetric system in place, rows of `width` with the right-hand side at their ends; false
/// if it is not safely definite, and then nothing useful is left.
#[inline(always)]
fn eliminate<T: Real>(system: &mut [T], width: usize, size: usize) -> bool {
    for j in 0..size {
        let (above, below) = system.split_at_mut((j + 1) * width);
        let pivots = &above[j * width..];
        let pivot = pivots[j];
        if !(pivot > T::of(64.0) * T::epsilon()) {
            return false;
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
    true
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
                Lasso::new().solve(local, &rhs, &mut code, effort);
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
    fn a_singular_support_is_left_to_the_sweeps() {
        let gram = Matrix::from_fn(3, 3, |_, _| 1.0);
        let penalty = Penalty { sparsity: 0.2, nonnegative: false };
        let local = Local { gram: &gram, shift: 0.0, margin: None, penalty };
        let mut code = vec![0.3, 0.3, 0.3];
        let effort = Effort { direct: true, ..TIGHT };
        Lasso::new().solve(local, &[2.0; 3], &mut code, effort);
        assert!((code.iter().sum::<f64>() - 1.9).abs() < 1e-9, "{code:?}");
    }
}
