//! Class shares of votes, held near those that are expected.

use super::{MarginKnobs, Outlook, Prior};
use crate::matrix::Matrix;
use crate::samples::Labels;
use crate::threads::Loops;
use crate::{Real, Result};

/// Samples that one task takes.
const CHUNK: usize = 256;
/// Rounds of scaling; each is a pass over the memberships.
const ROUNDS: usize = 30;
/// Largest relative distance of a class share from its target at which the scaling stops.
pub(super) const CLOSE: f64 = 1e-3;

crate::knobs! {
    /// The class shares of what a method makes of unlabelled samples.
    pub struct BalanceKnobs as BalanceSetters {
        /// How far class shares of unlabelled samples are moved towards `prior`: 0 leaves them, 1 makes them equal.
        balance "": f64 = 0.0, Within(0.0, 1.0);
        /// Expected class shares of unlabelled samples: `estimated`, `recounted`, `even`, `labelled`, or a number per class.
        prior "": Prior = Prior::Estimated, WordOrSeveral(Prior::WORDS);
    }
}

/// Where the class shares of votes are moved.
#[derive(Clone, Debug, PartialEq)]
pub struct Balance {
    /// Expected class shares; they sum to one.
    pub prior: Vec<f64>,
    /// How far the shares of all votes are moved towards the prior, 0 to 1.
    pub strength: f64,
}

impl Balance {
    /// As the knobs say; `None` if nothing is to be moved.
    ///
    /// # Errors
    /// If a given prior does not have one number per class, or values are not finite.
    #[inline(never)]
    pub fn new<T: Real>(
        knobs: &BalanceKnobs,
        samples: &Matrix<T>,
        labels: &Labels,
    ) -> Result<Option<Self>> {
        let BalanceKnobs { balance: strength, prior } = *knobs;
        if strength == 0.0 {
            return Ok(None);
        }
        let outlook = Outlook::new(&MarginKnobs { prior, ..MarginKnobs::new() }, samples, labels)?;
        Ok(Some(Self { prior: outlook.prior, strength }))
    }

    /// The factor of each class with which the shares $m_k$ of all votes ($C\times M$, columns sum to
    /// one) are in proportion to $m_k^{1-b}\pi_k^b$; the weights are those of the votes.
    #[must_use]
    #[inline(never)]
    pub fn factors<T: Real>(&self, votes: &Matrix<T>, weights: &[f64]) -> Vec<f64> {
        self.factors_of(|factors| class_shares(votes, weights, factors))
    }

    /// The same from the share of each class in all votes, once these are scaled by given factors.
    #[must_use]
    pub fn factors_of(&self, mut shares_of: impl FnMut(&[f64]) -> Vec<f64>) -> Vec<f64> {
        let mut factors = vec![1.0; self.prior.len()];
        let mut shares = shares_of(&factors);
        let target = self.target(&shares);
        for _ in 0..ROUNDS {
            let steps: Vec<f64> =
                (0..factors.len())
                    .map(|k| {
                        if target[k] > 0.0 && shares[k] > 0.0 { target[k] / shares[k] } else { 1.0 }
                    })
                    .collect();
            if steps.iter().all(|step| (step - 1.0).abs() < CLOSE) {
                break;
            }
            factors.iter_mut().zip(&steps).for_each(|(factor, step)| *factor *= step);
            shares = shares_of(&factors);
        }
        factors
    }

    /// The shares to reach. A class that nobody votes for, or that nobody expects, is not scaled.
    fn target(&self, shares: &[f64]) -> Vec<f64> {
        let between = |(&share, &prior): (&f64, &f64)| {
            let is_open = share > f64::MIN_POSITIVE && prior > 0.0;
            if is_open { share.powf(1.0 - self.strength) * prior.powf(self.strength) } else { 0.0 }
        };
        let raw: Vec<f64> = shares.iter().zip(&self.prior).map(between).collect();
        let sum: f64 = raw.iter().sum();
        raw.into_iter().map(|share| if sum > 0.0 { share / sum } else { 0.0 }).collect()
    }
}

/// $P_k\gets P_kf_k/\sum_cP_cf_c$.
pub(crate) fn scale(p: &mut [f64], factors: &[f64]) {
    let sum: f64 = p.iter().zip(factors).map(|(p, f)| p * f).sum();
    if sum > 0.0 && sum.is_finite() {
        p.iter_mut().zip(factors).for_each(|(p, f)| *p *= f / sum);
    }
}

/// Scales each column, which sums to one before and after.
pub(crate) fn scale_columns<T: Real>(votes: &mut Matrix<T>, factors: &[f64]) {
    let mut p = vec![0.0; votes.rows()];
    for j in 0..votes.columns() {
        let column = votes.column_mut(j);
        p.iter_mut().zip(&*column).for_each(|(p, vote)| *p = vote.wide());
        scale(&mut p, factors);
        column.iter_mut().zip(&p).for_each(|(vote, &p)| *vote = T::of(p));
    }
}

/// The votes for each class, by weight, once they are scaled.
pub(crate) fn class_sums<T: Real>(votes: &Matrix<T>, weights: &[f64], factors: &[f64]) -> Vec<f64> {
    let n_classes = votes.rows();
    let parts = weights.chunks(CHUNK).enumerate().gather(|(part, weights)| {
        let (mut sums, mut p) = (vec![0.0; n_classes], vec![0.0; n_classes]);
        for (at, weight) in weights.iter().enumerate() {
            let column = votes.column(part * CHUNK + at);
            p.iter_mut().zip(column).for_each(|(p, vote)| *p = vote.wide());
            scale(&mut p, factors);
            sums.iter_mut().zip(&p).for_each(|(sum, p)| *sum += weight * p);
        }
        sums
    });
    let mut shares = vec![0.0; n_classes];
    for part in &parts {
        shares.iter_mut().zip(part).for_each(|(share, sum)| *share += sum);
    }
    shares
}

/// The share of each class in all votes, by weight, once these are scaled.
fn class_shares<T: Real>(votes: &Matrix<T>, weights: &[f64], factors: &[f64]) -> Vec<f64> {
    as_shares(class_sums(votes, weights, factors))
}

/// Each as a share of all.
#[must_use]
pub fn as_shares(mut sums: Vec<f64>) -> Vec<f64> {
    let all: f64 = sums.iter().sum();
    sums.iter_mut().for_each(|sum| *sum /= if all > 0.0 { all } else { 1.0 });
    sums
}
