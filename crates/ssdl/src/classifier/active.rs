//! Active points: the squared hinge, frozen or majorised into a quadratic of two arrays.
//!
//! The sum over classes, candidate classes and samples collapses to
//! $\sum_{c,j}\Omega_{cj}s_{cj}^2-2\mathcal G_{cj}s_{cj}+\text{const}$ for labelled and unlabelled
//! samples alike; nothing of size $C\times N\times C$ exists.

use super::membership::Shares;
use crate::codes::Weight;
use crate::matrix::inner;
use crate::threads::Loops;
use crate::{Matrix, Real};

crate::choice! {
    /// How the squared hinge becomes a quadratic for one outer iteration.
    pub enum ActivePoints {
        /// A majoriser that touches the true loss at the current scores: points beyond their margin
        /// are pulled to where they are. The true objective never rises, and all classes share Ω.
        Majorised = "majorised",
        /// The paper's: points beyond their margin are switched off until the next iteration.
        Frozen = "frozen",
    }
}

/// The quadratic $\sum_{c,j}\Omega s^2-2\mathcal Gs+\text{const}$.
#[derive(Clone, Debug)]
pub struct Active<T> {
    /// Ω.
    pub weight: Weight<T>,
    /// $\mathcal G$, $C\times N$.
    pub target: Matrix<T>,
    /// The part that does not depend on the scores.
    pub constant: f64,
}

impl<T: Real> Active<T> {
    /// Built at `scores` ($C\times N$) for these class shares.
    #[must_use]
    #[inline(never)]
    pub fn new(kind: ActivePoints, scores: &Matrix<T>, shares: &Shares<T>) -> Self {
        match kind {
            ActivePoints::Frozen => Self::frozen(scores, shares),
            ActivePoints::Majorised => Self::majorised(scores, shares),
        }
    }

    /// $w^+=P^r[s<1]$, $w^-=(\pi-P^r)[s>-1]$, $\Omega=w^++w^-$, $\mathcal G=w^+-w^-$.
    fn frozen(scores: &Matrix<T>, shares: &Shares<T>) -> Self {
        let (c, n) = (scores.rows(), scores.columns());
        let (mut weight, mut target) = (Matrix::zeros(c, n), Matrix::zeros(c, n));
        let mut constant = 0.0;
        for j in 0..n {
            for k in 0..c {
                let s = scores.column(j)[k];
                let share = shares.of_class.column(j)[k];
                let plus = if s < T::one() { share } else { T::zero() };
                let rest = (shares.total[j] - share).max(T::zero());
                let minus = if s > -T::one() { rest } else { T::zero() };
                weight.column_mut(j)[k] = plus + minus;
                target.column_mut(j)[k] = plus - minus;
                constant += (plus + minus).wide();
            }
        }
        Self { weight: Weight::PerClass(weight), target, constant }
    }

    /// $\max(0,1-s)^2\le(s-t^+)^2$ with $t^+=\max(1,s^\circ)$, and $t^-=\min(-1,s^\circ)$ likewise.
    fn majorised(scores: &Matrix<T>, shares: &Shares<T>) -> Self {
        let (c, n) = (scores.rows(), scores.columns());
        let mut target = Matrix::zeros(c, n);
        let constants: Vec<f64> =
            target.columns_mut().enumerate().runs_of(256).gather(|(j, target)| {
                let entries = target.iter_mut().zip(scores.column(j));
                entries
                    .zip(shares.of_class.column(j))
                    .map(|((target, &s), &share)| {
                        let (high, low) = (s.max(T::one()), s.min(-T::one()));
                        let rest = (shares.total[j] - share).max(T::zero());
                        *target = share * high + rest * low;
                        (share * high * high + rest * low * low).wide()
                    })
                    .sum()
            });
        let constant = constants.iter().sum();
        Self { weight: Weight::Shared(shares.total.clone()), target, constant }
    }

    /// Value of the quadratic at other scores.
    #[must_use]
    pub fn value(&self, scores: &Matrix<T>) -> f64 {
        let linear = inner(self.target.as_slice(), scores.as_slice());
        let square: f64 = match &self.weight {
            Weight::PerClass(weight) => {
                let entries = weight.as_slice().iter().zip(scores.as_slice());
                entries.map(|(w, s)| w.wide() * s.wide() * s.wide()).sum()
            }
            Weight::Shared(weight) => {
                let columns = weight.iter().zip(scores.iter_columns());
                columns.map(|(w, s)| w.wide() * inner(s, s)).sum()
            }
        };
        square - 2.0 * linear + self.constant
    }
}
