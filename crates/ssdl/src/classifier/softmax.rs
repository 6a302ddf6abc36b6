//! Multinomial logistic regression with a ridge, by steps on its quadratic bound.
//!
//! $$\min_W\sum_i\Bigl(\ln\sum_ce^{w_c^\top a_i}-w_{y_i}^\top a_i\Bigr)+\tfrac\rho2\lVert W\rVert^2$$
//!
//! The curvature in each $w_c$ is at most $\tfrac12AA^\top+\rho I$, in each code at most
//! $\tfrac12\lambda_{\max}(WW^\top)$: both steps below rest on these bounds and never go uphill.

use super::best;
use crate::matrix::{Cholesky, Matrix, squared_norm};
use crate::{Error, Real, Result};

/// Shares $e^{s_c}/\sum e^s$ of every column of `scores`, which they replace.
pub fn softmax<T: Real>(scores: &mut Matrix<T>) {
    for j in 0..scores.columns() {
        let column = scores.column_mut(j);
        let class = best(column);
        let top = column.iter().fold(T::neg_infinity(), |top, s| top.max(*s));
        column.iter_mut().for_each(|s| *s = (*s - top).exp());
        let sum: T = column.iter().copied().sum();
        if sum.is_finite() {
            column.iter_mut().for_each(|s| *s /= sum);
        } else {
            // Scores beyond the number range leave no ratio to take.
            column.fill(T::zero());
            column[class] = T::one();
        }
    }
}

/// $\sum_i\bigl(\ln\sum_ce^{s_{ci}}-s_{y_ii}\bigr)$ of scores $C\times N$.
#[must_use]
pub fn softmax_loss<T: Real>(scores: &Matrix<T>, classes: &[usize]) -> f64 {
    let of = |(column, &class): (&[T], &usize)| {
        let top = column.iter().fold(f64::NEG_INFINITY, |top, s| top.max(s.wide()));
        let sum: f64 = column.iter().map(|s| (s.wide() - top).exp()).sum();
        top + sum.ln() - column[class].wide()
    };
    scores.iter_columns().zip(classes).map(of).sum()
}

/// The gradient of the loss in each code: $W(\operatorname{softmax}(W^\top a_i)-e_{y_i})$, $p\times N$.
#[must_use]
pub fn softmax_slopes<T: Real>(
    weights: &Matrix<T>,
    codes: &Matrix<T>,
    classes: &[usize],
) -> Matrix<T> {
    let mut shares = Matrix::of_product(weights.transposed(), codes.view());
    softmax(&mut shares);
    classes.iter().enumerate().for_each(|(i, &class)| shares.column_mut(i)[class] -= T::one());
    Matrix::of_product(weights.view(), shares.view())
}

/// At least the curvature of the loss in a code: $\tfrac12\lVert W\rVert^2\ge\tfrac12\lambda_{\max}(WW^\top)$.
#[must_use]
pub fn softmax_curvature<T: Real>(weights: &Matrix<T>) -> f64 {
    0.5 * squared_norm(weights.as_slice())
}

/// Improves the weights ($p\times C$) for codes $p\times N$ of known classes, each with a weight in the loss. Cost $p^3$ once, $pC(N+p)$
/// per step; every step lowers the objective.
///
/// # Errors
/// If the system is not positive definite, which needs a ridge of zero or codes that are not finite.
pub fn fit_softmax<T: Real>(
    codes: &Matrix<T>,
    (classes, counts): (&[usize], &[T]),
    ridge: f64,
    steps: usize,
    weights: &mut Matrix<T>,
) -> Result<()> {
    let mut weighed = codes.clone();
    for (j, count) in counts.iter().enumerate() {
        weighed.column_mut(j).iter_mut().for_each(|a| *a *= count.sqrt());
    }
    let mut system = Matrix::of_product(weighed.view(), weighed.transposed());
    system.as_mut_slice().iter_mut().for_each(|s| *s *= T::of(0.5));
    let p = system.columns();
    let trace: T = (0..p).map(|k| system.column(k)[k]).sum();
    // Next to no ridge leaves the system singular to rounding; a bound may be larger than needed.
    let least = T::of(4.0 * p as f64) * T::epsilon() * trace;
    (0..p).for_each(|k| system.column_mut(k)[k] += T::of(ridge) + least);
    let factor = Cholesky::new(&system).ok_or_else(|| Error::Diverged {
        step: "classifier",
        iteration: 0,
        what: "the system of the classifier is not positive definite".into(),
    })?;
    for _ in 0..steps {
        let mut shares = Matrix::of_product(weights.transposed(), codes.view());
        softmax(&mut shares);
        for (i, (&class, &count)) in classes.iter().zip(counts).enumerate() {
            let column = shares.column_mut(i);
            column[class] -= T::one();
            column.iter_mut().for_each(|miss| *miss *= count);
        }
        let mut slope = Matrix::of_product(codes.view(), shares.transposed());
        crate::matrix::axpy(T::of(ridge), weights.as_slice(), slope.as_mut_slice());
        factor.solve_in_place(&mut slope);
        crate::matrix::axpy(-T::one(), slope.as_slice(), weights.as_mut_slice());
        let (moved, size) = (slope.squared_norm(), weights.squared_norm());
        if moved <= 1e-10 * size {
            break;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn problem() -> (Matrix<f64>, Vec<usize>, Matrix<f64>) {
        let codes = Matrix::from_fn(4, 9, |k, i| ((k * 5 + i * 3 + k * i) % 7) as f64 * 0.4 - 1.0);
        let weights = Matrix::from_fn(4, 3, |k, c| ((k + 2 * c) % 5) as f64 * 0.3 - 0.5);
        (codes, (0..9).map(|i| i % 3).collect(), weights)
    }

    fn loss(weights: &Matrix<f64>, codes: &Matrix<f64>, classes: &[usize]) -> f64 {
        softmax_loss(&Matrix::of_product(weights.transposed(), codes.view()), classes)
    }

    #[test]
    fn slopes_are_the_derivatives_of_the_loss_and_its_curvature_is_bounded() {
        let (codes, classes, weights) = problem();
        let slopes = softmax_slopes(&weights, &codes, &classes);
        let bound = softmax_curvature(&weights);
        for i in 0..9 {
            for k in 0..4 {
                let at = |step: f64| {
                    let mut moved = codes.clone();
                    moved.column_mut(i)[k] += step;
                    loss(&weights, &moved, &classes)
                };
                let slope = (at(1e-5) - at(-1e-5)) / 2e-5;
                assert!((slope - slopes.column(i)[k]).abs() < 1e-7);
                for step in [-2.0, -0.3, 0.1, 1.5] {
                    let above = at(0.0) + slope * step + 0.5 * bound * step * step;
                    assert!(at(step) <= above + 1e-6, "{step}: {} {above}", at(step));
                }
            }
        }
    }

    #[test]
    fn every_step_lowers_the_objective_and_many_end_where_the_gradient_is_zero() {
        let (codes, classes, mut weights) = problem();
        let value = |w: &Matrix<f64>| loss(w, &codes, &classes) + 0.35 * w.squared_norm();
        let mut before = value(&weights);
        for _ in 0..400 {
            fit_softmax(&codes, (&classes, &[1.0; 9]), 0.7, 1, &mut weights).expect("definite");
            let now = value(&weights);
            assert!(now <= before + 1e-12, "{before} {now}");
            before = now;
        }
        for c in 0..3 {
            for k in 0..4 {
                let at = |step: f64| {
                    let mut moved = weights.clone();
                    moved.column_mut(c)[k] += step;
                    value(&moved)
                };
                assert!(((at(1e-5) - at(-1e-5)) / 2e-5).abs() < 1e-4);
            }
        }
    }
}
