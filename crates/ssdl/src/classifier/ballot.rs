//! How much each sample's vote counts, and the class shares that votes are held near.
//!
//! Unlabelled samples outnumber labels, and they elect: with 35 of them to a label, a class that has
//! a few more labels than another takes them all. So an unlabelled sample counts less than a label
//! where there are many of them, and the class shares of all votes together are moved towards those
//! that are expected.
//!
//! Paper: neither is there. `voting=paper` gives the paper's loss.

use super::balance::{as_shares, class_sums};
use super::membership::{Shares, class_errors, membership_of_errors};
use super::{Balance, Outlook, scale};
use crate::Real;
use crate::matrix::Matrix;
use crate::samples::Labels;
use crate::samples::weights::Weights;
use crate::threads::Loops;

/// Samples that one task takes.
const CHUNK: usize = 256;

/// How the samples of a fit vote.
#[derive(Clone, Debug, PartialEq)]
pub struct Ballot<T> {
    /// $u_j$: the weight of each sample in the classifier's loss.
    weights: Vec<T>,
    /// Where the shares of all votes are moved.
    balance: Balance,
    /// $r$.
    sharpness: f64,
}

impl<T: Real> Ballot<T> {
    /// The paper's: every sample counts the same, memberships are the minimisers of the loss.
    #[must_use]
    pub fn plain(n_classes: usize, n_samples: usize, sharpness: f64) -> Self {
        let prior = vec![1.0 / n_classes as f64; n_classes];
        let balance = Balance { prior, strength: 0.0 };
        Self { weights: vec![T::one(); n_samples], balance, sharpness }
    }

    /// From its parts: the weight of each sample, where votes are moved, and $r$.
    pub(crate) fn of_parts(weights: Vec<T>, balance: Balance, sharpness: f64) -> Self {
        Self { weights, balance, sharpness }
    }

    /// As the labels suggest. Where the user's weights make all classes count the same, the labels are
    /// not weighed once more.
    #[must_use]
    pub fn new(outlook: Outlook, sharpness: f64, labels: &Labels, weights: &Weights<T>) -> Self {
        let vote = T::of(outlook.vote);
        let strength = if weights.balanced { 0.0 } else { outlook.balance };
        let of_label = label_weights(&outlook.prior, &labels.counts(), strength);
        let of_sample = |(label, &weight): (&Option<usize>, &T)| match label {
            Some(class) => weight * T::of(of_label[*class]),
            None => weight * vote,
        };
        Self {
            weights: labels.assigned().iter().zip(&weights.of_samples).map(of_sample).collect(),
            balance: Balance { prior: weighed(outlook.prior, weights), strength: outlook.balance },
            sharpness,
        }
    }

    /// $u_j$: the weight of each sample in the classifier's loss.
    #[must_use]
    pub fn weights(&self) -> &[T] {
        &self.weights
    }

    /// Where the shares of all votes are moved.
    #[must_use]
    pub fn balance(&self) -> &Balance {
        &self.balance
    }

    /// $r$.
    #[must_use]
    pub fn sharpness(&self) -> f64 {
        self.sharpness
    }

    /// The classes' shares in the loss of every sample at these scores ($C\times N$).
    ///
    /// Cost $O(CN)$, and as much again for each round of scaling.
    #[must_use]
    #[inline(never)]
    pub fn shares(&self, scores: &Matrix<T>, assigned: &[Option<usize>]) -> Shares<T> {
        let factors = (self.balance.strength > 0.0).then(|| self.factors(scores, assigned));
        self.scaled_shares(scores, assigned, factors.as_deref())
    }

    /// The same with factors that are already known.
    pub(crate) fn scaled_shares(
        &self,
        scores: &Matrix<T>,
        assigned: &[Option<usize>],
        factors: Option<&[f64]>,
    ) -> Shares<T> {
        let mut of_class = Matrix::zeros(scores.rows(), scores.columns());
        let mut total = self.weights.clone();
        let samples = of_class.columns_mut().zip(&mut total).zip(assigned).enumerate();
        samples.runs_of(CHUNK).each_with(
            || vec![0.0; scores.rows()],
            |p, (j, ((column, total), &label))| {
                let weight = self.weights[j];
                if let Some(class) = label {
                    column[class] = weight;
                    return;
                }
                self.vote(scores.column(j), p);
                factors.into_iter().for_each(|factors| scale(p, factors));
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

    /// The factor of each class that brings all votes near the prior.
    fn factors(&self, scores: &Matrix<T>, assigned: &[Option<usize>]) -> Vec<f64> {
        let (votes, weights) = self.votes(scores, assigned);
        self.balance.factors(&votes, &weights)
    }

    /// The votes for each class, by weight, once they are scaled.
    pub(crate) fn class_sums(
        &self,
        scores: &Matrix<T>,
        assigned: &[Option<usize>],
        factors: &[f64],
    ) -> Vec<f64> {
        let (votes, weights) = self.votes(scores, assigned);
        class_sums(&votes, &weights, factors)
    }

    /// $P$ of the unlabelled samples, and their weights.
    pub(crate) fn votes(
        &self,
        scores: &Matrix<T>,
        assigned: &[Option<usize>],
    ) -> (Matrix<T>, Vec<f64>) {
        let open: Vec<usize> = (0..assigned.len()).filter(|&j| assigned[j].is_none()).collect();
        let mut votes = scores.select_columns(&open);
        votes.columns_mut().runs_of(CHUNK).each_with(
            || vec![0.0; scores.rows()],
            |p, column| {
                self.vote(column, p);
                column.iter_mut().zip(&*p).for_each(|(out, &p)| *out = T::of(p));
            },
        );
        let weights = open.iter().map(|&j| self.weights[j].wide()).collect();
        (votes, weights)
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

/// The shares of votes where some classes count more: as if each had as many samples more. Held to the shares of the
/// samples, votes would outweigh what the user asked for.
fn weighed<T: Real>(prior: Vec<f64>, weights: &Weights<T>) -> Vec<f64> {
    let factors = &weights.of_classes;
    if weights.balanced || factors.windows(2).all(|pair| pair[0] == pair[1]) {
        return prior;
    }
    as_shares(prior.iter().zip(factors).map(|(share, factor)| share * factor.wide()).collect())
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::classifier::balance::CLOSE;

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
        let balance = Balance { prior, strength: balance };
        Ballot { weights: vec![1.0; n], balance, sharpness: 1.0 + 1e-9 }
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
        let balance = Balance { prior: vec![0.7, 0.2, 0.1], strength: 0.0 };
        let none = Ballot { balance, ..plain.clone() };
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
