//! How likely each unlabelled sample is in each class: the matrix $P$ and its errors.

use crate::matrix::in_parts;
use crate::threads::Loops;
use crate::{Matrix, Real};

/// Samples that one task takes.
const CHUNK: usize = 256;

/// Squared-hinge error of declaring a sample to be of each class, from its scores $s$:
///
/// $$e_k=\max(0,1-s_k)^2+\sum_{c\ne k}\max(0,1+s_c)^2.$$
///
/// $O(C)$: the sum over all classes is shared. For the class of the highest score the other terms
/// are added up directly, because there the subtraction would cancel.
pub fn class_errors<T: Real>(scores: &[T], errors: &mut [f64]) {
    let plus = |s: T| (1.0 - s.wide()).max(0.0).powi(2);
    let minus = |s: T| (1.0 + s.wide()).max(0.0).powi(2);
    let all: f64 = scores.iter().map(|&s| minus(s)).sum();
    let top = best(scores);
    for (k, (error, &s)) in errors.iter_mut().zip(scores).enumerate() {
        let others = if k == top {
            scores.iter().enumerate().filter(|&(c, _)| c != top).map(|(_, &s)| minus(s)).sum()
        } else {
            (all - minus(s)).max(0.0)
        };
        *error = others + plus(s);
    }
}

/// Minimiser of $\sum_k P_k^r e_k$ over the simplex, written over `errors`.
///
/// $r>1$: $P_k\propto e_k^{-1/(r-1)}$, in the ratio form that can neither overflow nor divide by
/// zero. $r=1$: all weight on the smallest error.
///
/// Paper: the authors' program takes the largest error when $r=1$ and overflows below $r\approx1.05$.
pub fn membership_of_errors(errors: &mut [f64], sharpness: f64) {
    let top = (1..errors.len()).fold(0, |top, k| if errors[k] < errors[top] { k } else { top });
    let least = errors[top];
    // At most one class can have no error at all, so the certain case is never ambiguous. Scores so
    // large that their squares overflow leave no ratio to take; the best class is all that is known.
    if sharpness <= 1.0 || least <= 0.0 || !least.is_finite() {
        errors.fill(0.0);
        errors[top] = 1.0;
        return;
    }
    let power = 1.0 / (sharpness - 1.0);
    errors.iter_mut().for_each(|e| *e = (least / *e).powf(power));
    let sum: f64 = errors.iter().sum();
    errors.iter_mut().for_each(|u| *u /= sum);
}

/// The class of the highest score; ties go to the smaller index.
#[must_use]
pub fn best<T: Real>(scores: &[T]) -> usize {
    (1..scores.len()).fold(0, |top, c| if scores[c] > scores[top] { c } else { top })
}

/// Class probabilities for every column of `scores` ($C\times N$); each column sums to one.
#[must_use]
#[inline(never)]
pub fn memberships<T: Real>(scores: &Matrix<T>, sharpness: f64) -> Matrix<T> {
    let mut out = Matrix::zeros(scores.rows(), scores.columns());
    out.columns_mut().enumerate().runs_of(CHUNK).each_with(
        || vec![0.0; scores.rows()],
        |errors, (j, out)| {
            class_errors(scores.column(j), errors);
            membership_of_errors(errors, sharpness);
            out.iter_mut().zip(&*errors).for_each(|(p, &e)| *p = T::of(e));
        },
    );
    out
}

/// $P^r$ for all samples: the share each class has in a sample's loss.
///
/// A labelled sample is the certain case, one at its class: with it both kinds of samples follow
/// one formula everywhere else.
#[derive(Clone, Debug)]
pub struct Shares<T> {
    /// $P_{cj}^r$, $C\times N$.
    pub of_class: Matrix<T>,
    /// $\pi_j=\sum_cP_{cj}^r\le1$.
    pub total: Vec<T>,
}

impl<T: Real> Shares<T> {
    /// The true loss $\sum_j\sum_kP_{kj}^re_k(s_j)$ at these scores, with the sum over candidate
    /// classes collapsed: $\sum_{c,j}P_{cj}^r\max(0,1-s)^2+(\pi_j-P_{cj}^r)\max(0,1+s)^2$.
    #[must_use]
    #[inline(never)]
    pub fn loss(&self, scores: &Matrix<T>) -> f64 {
        let of_sample = |j: usize| -> f64 {
            let entries = scores.column(j).iter().zip(self.of_class.column(j));
            entries
                .map(|(&s, &share)| {
                    let plus = (1.0 - s.wide()).max(0.0);
                    let minus = (1.0 + s.wide()).max(0.0);
                    let rest = (self.total[j] - share).max(T::zero());
                    share.wide() * plus * plus + rest.wide() * minus * minus
                })
                .sum()
        };
        in_parts(scores.columns(), CHUNK, |part| part.map(of_sample).sum())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_sample_with_no_error_is_certain() {
        let mut errors = vec![0.0; 3];
        class_errors(&[1.5, -1.0, -3.0], &mut errors);
        assert_eq!(errors[0], 0.0);
        membership_of_errors(&mut errors, 1.7);
        assert_eq!(errors, [1.0, 0.0, 0.0]);
    }

    #[test]
    fn sharpness_one_takes_the_smallest_error() {
        let mut errors = vec![3.0, 1.0, 2.0];
        membership_of_errors(&mut errors, 1.0);
        assert_eq!(errors, [0.0, 1.0, 0.0]);
    }

    #[test]
    fn overflowing_scores_still_give_a_distribution() {
        let scores = Matrix::from_fn(3, 1, |i, _| if i == 1 { 1e300 } else { -1e308 });
        let p = memberships(&scores, 1.5);
        assert_eq!(p.as_slice(), [0.0, 1.0, 0.0]);
    }

    proptest! {
        #[test]
        fn memberships_are_a_distribution_that_attains_the_optimal_value(
            scores in prop::collection::vec(-3.0f64..3.0, 2..8),
            sharpness in prop_oneof![Just(1.0), Just(1.01), 1.05f64..4.0],
        ) {
            let mut errors = vec![0.0; scores.len()];
            class_errors(&scores, &mut errors);
            for (k, e) in errors.iter().enumerate() {
                let brute: f64 = scores.iter().enumerate().map(|(c, s)| {
                    let y = if c == k { 1.0 } else { -1.0 };
                    (1.0 - y * s).max(0.0).powi(2)
                }).sum();
                prop_assert!((e - brute).abs() < 1e-12 * (1.0 + brute));
            }
            let mut p = errors.clone();
            membership_of_errors(&mut p, sharpness);
            prop_assert!((p.iter().sum::<f64>() - 1.0).abs() < 1e-12);
            prop_assert!(p.iter().all(|v| (0.0..=1.0).contains(v)));
            prop_assert_eq!(best(&p), best(&scores));
            if sharpness >= 1.05 && errors.iter().all(|e| *e > 0.0) {
                let value: f64 = p.iter().zip(&errors).map(|(p, e)| p.powf(sharpness) * e).sum();
                let power = 1.0 / (sharpness - 1.0);
                let least = errors.iter().fold(f64::MAX, |a, b| a.min(*b));
                let sum: f64 = errors.iter().map(|e| (least / e).powf(power)).sum();
                let optimum = least * sum.powf(1.0 - sharpness);
                prop_assert!((value - optimum).abs() < 1e-9 * (1.0 + optimum));
            }
        }
    }
}
