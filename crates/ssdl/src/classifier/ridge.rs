//! Ridge regression of ±1 targets on codes: the first classifier.

use super::LinearClassifier;
use crate::matrix::{Cholesky, Matrix};
use crate::{Error, Real, Result};

/// $\min_{W,b}\sum_i\lVert W^\top a_i+b-y_i\rVert^2+\rho(\lVert W\rVert^2+\lVert b\rVert^2)$ over
/// labelled codes ($p\times N_l$), $y$ being +1 at the class and −1 elsewhere; each sample counts with
/// its weight.
///
/// Solved in whichever of $p+1$ and $N_l$ unknowns is smaller: $O(\min(p,N_l)^3)$.
///
/// # Errors
/// If the system is singular, which needs $\rho=0$ or codes that are not finite.
#[inline(never)]
pub fn ridge<T: Real>(
    codes: &Matrix<T>,
    classes: &[usize],
    weights: &[T],
    n_classes: usize,
    rho: T,
) -> Result<LinearClassifier<T>> {
    let (p, n) = (codes.rows(), codes.columns());
    let roots: Vec<T> = weights.iter().map(|weight| weight.sqrt()).collect();
    let augmented =
        Matrix::from_fn(
            p + 1,
            n,
            |k, i| {
                if k < p { roots[i] * codes.column(i)[k] } else { roots[i] }
            },
        );
    let targets =
        Matrix::from_fn(n, n_classes, |i, c| if classes[i] == c { roots[i] } else { -roots[i] });
    let solution = solve_smaller(&augmented, targets, rho, "first classifier")?;
    Ok(LinearClassifier::from_augmented(&solution))
}

/// $\min_V\lVert V^\top X-Y^\top\rVert^2+\rho\lVert V\rVert^2$ for a design $X$ ($p\times n$) and targets
/// $Y$ ($n\times m$): $V$ is $p\times m$. Solved in whichever of $p$ and $n$ unknowns is smaller.
///
/// # Errors
/// If the system is singular.
pub(super) fn solve_smaller<T: Real>(
    design: &Matrix<T>,
    targets: Matrix<T>,
    rho: T,
    step: &'static str,
) -> Result<Matrix<T>> {
    let (p, n) = (design.rows(), design.columns());
    let factor = |mut system: Matrix<T>| {
        (0..system.rows()).for_each(|k| system.column_mut(k)[k] += rho);
        Cholesky::new(&system).ok_or_else(|| Error::Diverged {
            step,
            iteration: 0,
            what: "the ridge system is singular; raise ridge".into(),
        })
    };
    Ok(if n < p {
        let mut dual = targets;
        let system = Matrix::of_product(design.transposed(), design.view());
        factor(system)?.solve_in_place(&mut dual);
        Matrix::of_product(design.view(), dual.view())
    } else {
        let mut primal = Matrix::of_product(design.view(), targets.view());
        let system = Matrix::of_product(design.view(), design.transposed());
        factor(system)?.solve_in_place(&mut primal);
        primal
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_sides_solve_the_same_stationarity_equation() {
        for (p, n) in [(3, 8), (8, 3)] {
            let codes = Matrix::from_fn(p, n, |k, i| ((k * 7 + i * 3) % 5) as f64 - 2.0);
            let classes: Vec<usize> = (0..n).map(|i| i % 2).collect();
            let weights: Vec<f64> = (0..n).map(|i| 0.5 + i as f64 / 4.0).collect();
            let rho = 0.7;
            let fitted = ridge(&codes, &classes, &weights, 2, rho).expect("definite");
            let scores = fitted.scores(&codes);
            for c in 0..2 {
                let miss = |i: usize| {
                    weights[i] * (scores.column(i)[c] - if classes[i] == c { 1.0 } else { -1.0 })
                };
                for k in 0..p {
                    let slope: f64 = (0..n).map(|i| codes.column(i)[k] * miss(i)).sum();
                    assert!((slope + rho * fitted.weights.column(c)[k]).abs() < 1e-10);
                }
                let slope: f64 = (0..n).map(miss).sum();
                assert!((slope + rho * fitted.bias[c]).abs() < 1e-10);
            }
        }
    }
}
