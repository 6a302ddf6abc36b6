//! How much each sample's vote counts, and the class shares that votes are held near.
//!
//! Unlabelled samples outnumber labels, and they elect: with 35 of them to a label, a class that has
//! a few more labels than another takes them all. So an unlabelled sample counts less than a label
//! where there are many of them, and the class shares of all votes together are moved towards those
//! that are expected.
//!
//! Paper: neither is there. `voting=paper` gives the paper's loss.

use rayon::prelude::*;

use super::Outlook;
use super::membership::{Shares, class_errors, membership_of_errors};
use crate::Real;
use crate::matrix::Matrix;
use crate::samples::Labels;
use crate::samples::weights::Weights;

/// Samples that one task takes.
const CHUNK: usize = 256;
/// Rounds of scaling; each is a pass over the memberships.
const ROUNDS: usize = 30;
/// Largest relative distance of a class share from its target at which the scaling stops.
const CLOSE: f64 = 1e-3;

/// How the samples of a fit vote.
#[derive(Clone, Debug, PartialEq)]
pub struct Ballot<T> {
    /// $u_j$: the weight of each sample in the classifier's loss.
    weights: Vec<T>,
    /// Expected class shares of the unlabelled samples; they sum to one.
    prior: Vec<f64>,
    /// How far the shares of all votes are moved towards the prior, 0 to 1.
    balance: f64,
    /// $r$.
    sharpness: f64,
}

impl<T: Real> Ballot<T> {
    /// The paper's: every sample counts the same, memberships are the minimisers of the loss.
    #[must_use]
    pub fn plain(n_classes: usize, n_samples: usize, sharpness: f64) -> Self {
        let prior = vec![1.0 / n_classes as f64; n_classes];
        Self { weights: vec![T::one(); n_samples], prior, balance: 0.0, sharpness }
    }

    /// As the labels suggest. Where the user's weights make all classes count the same, the labels are
    /// not weighed once more.
    #[must_use]
    pub fn new(outlook: Outlook, sharpness: f64, labels: &Labels, weights: &Weights<T>) -> Self {
        let vote = T::of(outlook.vote);
        let balance = if weights.balanced { 0.0 } else { outlook.balance };
        let of_label = label_weights(&outlook.prior, &labels.counts(), balance);
        let of_sample = |(label, &weight): (&Option<usize>, &T)| match label {
            Some(class) => weight * T::of(of_label[*class]),
            None => weight * vote,
        };
        Self {
            weights: labels.assigned().iter().zip(&weights.of_samples).map(of_sample).collect(),
            prior: outlook.prior,
            balance: outlook.balance,
            sharpness,
        }
    }

    /// The classes' shares in the loss of every sample at these scores ($C\times N$).
    ///
    /// Cost $O(CN)$, and as much again for each round of scaling.
    #[must_use]
    #[inline(never)]
    pub fn shares(&self, scores: &Matrix<T>, assigned: &[Option<usize>]) -> Shares<T> {
        let factors = (self.balance > 0.0).then(|| self.factors(scores, assigned));
        let mut of_class = Matrix::zeros(scores.rows(), scores.columns());
        let mut total = self.weights.clone();
        let samples = of_class.par_columns_mut().zip(&mut total).zip(assigned).enumerate();
        samples.with_min_len(CHUNK).for_each_init(
            || vec![0.0; scores.rows()],
            |p, (j, ((column, total), &label))| {
                let weight = self.weights[j];
                if let Some(class) = label {
                    column[class] = weight;
                    return;
                }
                self.vote(scores.column(j), p);
                factors.iter().for_each(|factors| scale(p, factors));
                let mut sum = 0.0;
                for (share, p) in column.iter_mut().zip(&*p) {
                    let power = p.powf(self.sharpness);
                    sum += power;
                    *share = weight * T::of(power);
                }
                *total = weight * T::of(sum);
            },
        );
        Shares { of_class, total }
    }

    /// $P_{\cdot j}$ of an unlabelled sample with these scores.
    fn vote(&self, scores: &[T], p: &mut [f64]) {
        class_errors(scores, p);
        membership_of_errors(p, self.sharpness);
    }

    /// The factor of each class with which the shares $m_k$ of all votes are in proportion to
    /// $m_k^{1-b}\pi_k^b$.
    fn factors(&self, scores: &Matrix<T>, assigned: &[Option<usize>]) -> Vec<f64> {
        let open: Vec<usize> = (0..assigned.len()).filter(|&j| assigned[j].is_none()).collect();
        let mut votes = scores.select_columns(&open);
        votes.par_columns_mut().with_min_len(CHUNK).for_each_init(
            || vec![0.0; scores.rows()],
            |p, column| {
                self.vote(column, p);
                column.iter_mut().zip(&*p).for_each(|(out, &p)| *out = T::of(p));
            },
        );
        let weights: Vec<f64> = open.iter().map(|&j| self.weights[j].wide()).collect();
        let mut factors = vec![1.0; scores.rows()];
        let mut shares = class_shares(&votes, &weights, &factors);
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
            shares = class_shares(&votes, &weights, &factors);
        }
        factors
    }

    /// The shares to reach. A class that nobody votes for, or that nobody expects, is not scaled.
    fn target(&self, shares: &[f64]) -> Vec<f64> {
        let between = |(&share, &prior): (&f64, &f64)| {
            let is_open = share > f64::MIN_POSITIVE && prior > 0.0;
            if is_open { share.powf(1.0 - self.balance) * prior.powf(self.balance) } else { 0.0 }
        };
        let raw: Vec<f64> = shares.iter().zip(&self.prior).map(between).collect();
        let sum: f64 = raw.iter().sum();
        raw.into_iter().map(|share| if sum > 0.0 { share / sum } else { 0.0 }).collect()
    }
}

impl<T: Real> Shares<T> {
    /// The paper's shares, which minimise the loss at these scores ($C\times N$).
    #[must_use]
    #[inline(never)]
    pub fn new(scores: &Matrix<T>, assigned: &[Option<usize>], sharpness: f64) -> Self {
        Ballot::plain(scores.rows(), scores.columns(), sharpness).shares(scores, assigned)
    }
}

/// The weight of a label of each class with which the labels stand for the prior: as far as `balance`
/// says, labels of a class that has more of them than expected count less. Their mean is one.
fn label_weights(prior: &[f64], counts: &[usize], balance: f64) -> Vec<f64> {
    let all = counts.iter().sum::<usize>() as f64;
    let raw = |(&prior, &count): (&f64, &usize)| {
        if count > 0 && prior > 0.0 { (prior * all / count as f64).powf(balance) } else { 1.0 }
    };
    let weights: Vec<f64> = prior.iter().zip(counts).map(raw).collect();
    let sum: f64 = weights.iter().zip(counts).map(|(weight, &count)| weight * count as f64).sum();
    weights.into_iter().map(|weight| weight * all / sum).collect()
}

/// $P_k\gets P_kf_k/\sum_cP_cf_c$.
fn scale(p: &mut [f64], factors: &[f64]) {
    let sum: f64 = p.iter().zip(factors).map(|(p, f)| p * f).sum();
    if sum > 0.0 && sum.is_finite() {
        p.iter_mut().zip(factors).for_each(|(p, f)| *p *= f / sum);
    }
}

/// The share of each class in all votes, by weight, once these are scaled.
fn class_shares<T: Real>(votes: &Matrix<T>, weights: &[f64], factors: &[f64]) -> Vec<f64> {
    let n_classes = votes.rows();
    let parts: Vec<Vec<f64>> = weights
        .par_chunks(CHUNK)
        .enumerate()
        .map(|(part, weights)| {
            let (mut sums, mut p) = (vec![0.0; n_classes], vec![0.0; n_classes]);
            for (at, weight) in weights.iter().enumerate() {
                let column = votes.column(part * CHUNK + at);
                p.iter_mut().zip(column).for_each(|(p, vote)| *p = vote.wide());
                scale(&mut p, factors);
                sums.iter_mut().zip(&p).for_each(|(sum, p)| *sum += weight * p);
            }
            sums
        })
        .collect();
    let mut shares = vec![0.0; n_classes];
    for part in &parts {
        shares.iter_mut().zip(part).for_each(|(share, sum)| *share += sum);
    }
    let all: f64 = shares.iter().sum();
    shares.iter_mut().for_each(|share| *share /= if all > 0.0 { all } else { 1.0 });
    shares
}

#[cfg(test)]
mod tests {
    use super::*;

    fn labels(n: usize, known: &[(usize, usize)], n_classes: usize) -> Labels {
        let mut assigned = vec![None; n];
        known.iter().for_each(|&(j, class)| assigned[j] = Some(class));
        let names = (0..n_classes).map(|c| c.to_string()).collect();
        Labels::new(names, assigned).expect("indices fit")
    }

    fn scores(n: usize) -> Matrix<f64> {
        Matrix::from_fn(3, n, |c, j| ((c * 5 + j * 7 + j / 3) % 11) as f64 / 5.0 - 1.0)
    }

    fn ballot(balance: f64, prior: Vec<f64>, n: usize) -> Ballot<f64> {
        Ballot { weights: vec![1.0; n], prior, balance, sharpness: 1.0 + 1e-9 }
    }

    #[test]
    fn full_balance_gives_the_prior_and_none_leaves_the_votes() {
        let labels = labels(50, &[(0, 0), (1, 1), (2, 2)], 3);
        for prior in [vec![1.0 / 3.0; 3], vec![0.5, 0.2, 0.3]] {
            let mut full = ballot(1.0, prior.clone(), 50);
            full.sharpness = 1.7;
            let scores = scores(50);
            let factors = full.factors(&scores, labels.assigned());
            let mut sums = [0.0; 3];
            for j in labels.unlabelled() {
                let mut p = vec![0.0; 3];
                full.vote(scores.column(j), &mut p);
                scale(&mut p, &factors);
                sums.iter_mut().zip(&p).for_each(|(sum, p)| *sum += p / 47.0);
            }
            for (sum, prior) in sums.iter().zip(&prior) {
                assert!((sum / prior - 1.0).abs() < 2.0 * CLOSE, "{sums:?} {prior}");
            }
        }
        let plain = Ballot::plain(3, 50, 1.7);
        let none = Ballot { balance: 0.0, prior: vec![0.7, 0.2, 0.1], ..plain.clone() };
        let (a, b) = (
            plain.shares(&scores(50), labels.assigned()),
            none.shares(&scores(50), labels.assigned()),
        );
        assert_eq!((a.of_class, a.total), (b.of_class, b.total));
    }

    #[test]
    fn a_class_without_votes_or_expectation_stays_as_it_is() {
        let labels = labels(20, &[(0, 0), (1, 1)], 3);
        let never = Matrix::from_fn(3, 20, |c, j| if c == 2 { -1e3 } else { (j % 3) as f64 - 1.0 });
        let shares = ballot(1.0, vec![0.5, 0.5, 0.0], 20).shares(&never, labels.assigned());
        assert!(shares.of_class.as_slice().iter().all(|share| share.is_finite()));
        assert!(shares.of_class.iter_columns().all(|column| column[2] == 0.0));
    }
}
