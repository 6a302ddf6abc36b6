//! Penalties that are sparser than the l1 norm: half powers by thresholding, other powers by reweighting.
//!
//! $$\min_a\;a^\top Ga-2r^\top a+\kappa\lVert a\rVert^2+\lambda\sum_k|a_k|^{1/2}$$
//! by proximal steps, each of which has a closed form; and rows of coefficients that share a power of
//! their length, $\sum_k\lVert A_{k\cdot}\rVert^q$, by systems with weights that follow the rows.

use super::{Pulled, Pursuit};
use crate::matrix::{Matrix, axpy, dot, in_parts, largest_eigenvalue};
use crate::threads::Loops;
use crate::{Matrix as Dense, Real};

/// $54^{1/3}/4$: below this times $\lambda^{2/3}$ the minimum is at zero.
const CUT: f64 = 0.944_940_787_421_154_8;

/// Steps that leave nothing but rounding, even where the minimum changes to zero.
const NEWTON: usize = 4;

/// $\arg\min_x(x-y)^2+\lambda|x|^{1/2}$ for one λ.
#[derive(Clone, Copy, Debug)]
pub struct HalfThreshold {
    lambda: f64,
    cut: f64,
}

impl HalfThreshold {
    /// For this λ.
    #[must_use]
    pub fn new(lambda: f64) -> Self {
        Self { lambda, cut: CUT * lambda.cbrt() * lambda.cbrt() }
    }

    /// The minimiser at $y$.
    #[inline]
    #[must_use]
    pub fn at(&self, y: f64) -> f64 {
        let size = y.abs();
        // Most coefficients end here, before anything costly.
        if size <= self.cut || size == 0.0 {
            return 0.0;
        }
        // The root of the minimiser, s = √x, is the largest root of s³ - ys + λ/4, which is convex and rises
        // from there on: Newton's steps from above never pass it. No angle has to be found, as in the closed form.
        let quarter = 0.25 * self.lambda;
        // The first step, from √y.
        let mut s = size.sqrt() - 0.5 * quarter / size;
        for _ in 0..NEWTON {
            let square = s * s;
            // Nothing larger than y, which may be at the end of the number range.
            s -= s * ((square - size + quarter / s) / (3.0 * square - size));
        }
        y.signum() * s * s
    }
}

/// The half-power penalty on each coefficient.
#[derive(Clone, Copy, Debug)]
pub struct Half {
    /// λ; scales with sample lengths to the power 3/2.
    pub sparsity: f64,
    /// Maximum number of proximal steps.
    pub steps: usize,
}

impl Half {
    /// As close to a local minimum as predictions need.
    #[must_use]
    pub fn new(sparsity: f64) -> Self {
        Self { sparsity, steps: 60 }
    }
}

/// $\lambda\sum|a|^{1/2}$.
fn half_size<T: Real>(sparsity: f64, codes: &[T]) -> f64 {
    let part =
        |range: std::ops::Range<usize>| codes[range].iter().map(|a| a.abs().wide().sqrt()).sum();
    sparsity * in_parts(codes.len(), 1 << 15, part)
}

/// `out` = $Ga+\kappa a-r$: half the gradient, from the nonzero coefficients of `code`.
fn half_gradient<T: Real>(gram: &Dense<T>, shift: T, rhs: &[T], code: &[T], out: &mut [T]) {
    out.iter_mut().zip(rhs).for_each(|(o, &r)| *o = -r);
    for (k, &a) in code.iter().enumerate().filter(|(_, a)| **a != T::zero()) {
        axpy(a, gram.column(k), out);
        out[k] += shift * a;
    }
}

impl<T: Real> Pursuit<T> for Half {
    fn code(&self, problem: Pulled<'_, T>, codes: &mut Matrix<T>) {
        let Pulled { gram, rhs, shifts } = problem;
        let top = top_of(gram);
        codes.columns_mut().enumerate().runs_of(8).each(|(j, code)| {
            let shift = shifts.get(j).copied().unwrap_or(T::zero());
            self.one(gram, (shift, top + shift), rhs.column(j), code);
        });
    }

    fn size(&self, codes: &Matrix<T>) -> f64 {
        half_size(self.sparsity, codes.as_slice())
    }
}

impl Half {
    /// Accelerated proximal steps; the start is kept where it is better.
    fn one<T: Real>(&self, gram: &Dense<T>, (shift, bound): (T, T), rhs: &[T], code: &mut [T]) {
        if bound <= T::min_positive_value() {
            return;
        }
        let p = code.len();
        let (mut ahead, mut gradient) = (code.to_vec(), vec![T::zero(); p]);
        let (mut now, mut momentum) = (code.to_vec(), 1.0f64);
        let threshold = HalfThreshold::new(self.sparsity / bound.wide());
        for _ in 0..self.steps {
            half_gradient(gram, shift, rhs, &ahead, &mut gradient);
            let (mut against, mut moved, mut size) = (0.0, 0.0f64, 0.0f64);
            let mut next = vec![T::zero(); p];
            for k in 0..p {
                let y = (ahead[k] - gradient[k] / bound).wide();
                next[k] = T::of(threshold.at(y));
                let step = (next[k] - now[k]).wide();
                against += (ahead[k] - next[k]).wide() * step;
                moved = moved.max(step.abs());
                size = size.max(next[k].abs().wide());
            }
            momentum = if against > 0.0 { 1.0 } else { momentum };
            let later = (1.0 + (1.0 + 4.0 * momentum * momentum).sqrt()) / 2.0;
            let factor = T::of((momentum - 1.0) / later);
            for k in 0..p {
                ahead[k] = next[k] + factor * (next[k] - now[k]);
            }
            (now, momentum) = (next, later);
            if moved <= 1e-4 * size {
                break;
            }
        }
        let value = |code: &[T]| {
            let mut half = vec![T::zero(); p];
            half_gradient(gram, shift, rhs, code, &mut half);
            let pairs = code.iter().zip(half.iter().zip(rhs));
            let smooth: f64 = pairs.map(|(a, (h, r))| a.wide() * (h.wide() - r.wide())).sum();
            smooth + half_size(self.sparsity, code)
        };
        if value(&now) <= value(code) {
            code.copy_from_slice(&now);
        }
    }
}

/// At least the largest eigenvalue of a Gram matrix.
pub(crate) fn top_of<T: Real>(gram: &Dense<T>) -> T {
    let p = gram.columns();
    // Power iteration may stop short of it: the largest row sum is a bound that cannot.
    let rows = gram.iter_columns().map(|c| c.iter().map(|g| g.abs()).sum::<T>());
    let sure = rows.fold(T::zero(), T::max);
    let guess = largest_eigenvalue(p, |v: &[T], out: &mut [T]| {
        gram.iter_columns().zip(out).for_each(|(g, o)| *o = dot(g, v));
    });
    guess.min(sure)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn the_reference_program_finds_the_same_thresholds() {
        let table = [
            (0.9, 1.0, 0.0),
            (0.94, 1.0, 0.0),
            (0.95, 1.0, 0.636_688_337_289),
            (1.0, 1.0, 0.701_515_858_381),
            (2.0, 1.0, 1.814_402_018_581),
            (-3.0, 1.0, -2.851_963_773_464),
            (0.3, 0.2, 0.0),
            (0.35, 0.2, 0.25),
            (1.0, 0.2, 0.948_665_000_126),
        ];
        for (y, lambda, expected) in table {
            let found = HalfThreshold::new(lambda).at(y);
            assert!((found - expected).abs() < 1e-10, "{y} {lambda}: {found} {expected}");
        }
    }

    proptest! {
        #[test]
        fn no_other_number_is_better_than_the_threshold(
            y in -3.0f64..3.0, lambda in 0.0f64..2.0, other in -4.0f64..4.0,
        ) {
            let value = |x: f64| (x - y) * (x - y) + lambda * x.abs().sqrt();
            let found = HalfThreshold::new(lambda).at(y);
            prop_assert!(value(found) <= value(other) + 1e-9);
            prop_assert!(value(found) <= value(0.0) + 1e-9);
        }
    }
}
