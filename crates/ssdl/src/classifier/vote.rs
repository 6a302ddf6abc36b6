//! A decision without a classifier: training samples vote on each new sample.

use serde::{Deserialize, Serialize};

use crate::graph::Attachment;
use crate::stored::Source;
use crate::{Labels, Matrix, Real, Result};

/// Which training samples vote on new ones.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Voters {
    /// All, with the classes that the fit found for them.
    All,
    /// Those with a label.
    Labelled,
}

/// $F(x)=\sum_jw_jF_j/\sum_jw_j$: the class shares of training samples, weighted by how near they
/// are to the new sample.
#[derive(Clone, Debug, PartialEq)]
pub struct Vote<T> {
    /// $F$, $C\times N$: the class shares of each training sample; columns sum to one.
    pub shares: Matrix<T>,
    /// Which samples vote.
    pub voters: Voters,
    /// How much each training sample's vote counts, a factor of $w_j$; `None`: all the same.
    pub weights: Option<Vec<T>>,
    /// The weights $w_j$.
    pub attachment: Attachment<T>,
}

impl<T: Real> Vote<T> {
    /// Shares of the classes ($C\times M$) in new samples, each independent of the others; columns
    /// sum to one. `training` ($n\times N$) are the samples that `labels` and the shares belong to.
    ///
    /// Classes that tie go to the voter that comes first: the nearest, or by index where distance
    /// is already in the weights. A sample for which no voter has a weight (a narrow kernel, far
    /// away) takes the shares of the nearest one.
    ///
    /// # Errors
    /// If the weights of a new sample cannot be found, which can happen only with a learnt graph.
    pub fn judge(
        &self,
        training: &Matrix<T>,
        labels: &Labels,
        new: &Matrix<T>,
    ) -> Result<Matrix<T>> {
        match self.voters {
            Voters::All => self.count(training, (&self.shares, self.weights.as_deref()), new),
            Voters::Labelled => {
                let known = labels.labelled();
                let shares = self.shares.select_columns(&known);
                let weights = self.weights.as_ref();
                let weights: Option<Vec<T>> =
                    weights.map(|all| known.iter().map(|&place| all[place]).collect());
                self.count(&training.select_columns(&known), (&shares, weights.as_deref()), new)
            }
        }
    }

    /// From a model file; `attachment` gives the attachment for this number of voters.
    pub(super) fn restore(
        (voters, weighted): (Voters, bool),
        source: &dyn Source<T>,
        labels: &Labels,
        attachment: impl FnOnce(usize) -> Result<Attachment<T>>,
    ) -> Result<Self> {
        let n_classes = labels.classes().len();
        let shares = source.matrix("shares", n_classes, labels.len())?;
        // Rounding of one term per class, and some slack.
        let slack = T::epsilon().wide() * (16.0 + n_classes as f64);
        let is_sound = |column: &[T]| {
            let sum: f64 = column.iter().map(|share| share.wide()).sum();
            column.iter().all(|share| *share >= T::zero()) && (sum - 1.0).abs() <= slack
        };
        if let Some(at) = shares.iter_columns().position(|column| !is_sound(column)) {
            return Err(source.refuse(&format!("the shares of sample {at} do not sum to one")));
        }
        let count = match voters {
            Voters::All => labels.len(),
            Voters::Labelled => labels.n_labelled(),
        };
        if count == 0 {
            return Err(source.refuse("labelled samples vote, and there are none"));
        }
        let weights =
            if weighted { Some(source.list("vote_weights", labels.len())?) } else { None };
        if weights.iter().flatten().any(|weight| *weight <= T::zero()) {
            return Err(source.refuse("the weight of a vote is not above zero"));
        }
        Ok(Self { shares, voters, weights, attachment: attachment(count)? })
    }

    fn count(
        &self,
        voters: &Matrix<T>,
        (shares, weights): (&Matrix<T>, Option<&[T]>),
        new: &Matrix<T>,
    ) -> Result<Matrix<T>> {
        let anchors = self.attachment.anchor(voters, new)?;
        let mut out = Matrix::zeros(shares.rows(), new.columns());
        let mut without = Vec::new();
        let mut sums = vec![0.0; shares.rows()];
        for i in 0..new.columns() {
            sums.fill(0.0);
            for (j, weight) in anchors.of(i) {
                let terms = sums.iter_mut().zip(shares.column(j));
                let weight = weight.wide() * weights.map_or(1.0, |weights| weights[j].wide());
                terms.for_each(|(sum, share)| *sum += weight * share.wide());
            }
            // Barycentres have weights below zero; they cannot take a class below zero.
            sums.iter_mut().for_each(|sum| *sum = sum.max(0.0));
            if sums.iter().all(|sum| *sum == 0.0) {
                without.push(i);
                continue;
            }
            let first = |class: usize| {
                let mut order = anchors.of(i);
                order.position(|(j, _)| shares.column(j)[class] > T::zero())
            };
            break_tie(&mut sums, first, T::epsilon().wide());
            normalise(&sums, out.column_mut(i));
        }
        if !without.is_empty() {
            let nearest = self.attachment.nearest(voters, &new.select_columns(&without), 1);
            for (at, &i) in without.iter().enumerate() {
                let voter = nearest.of(at)[0] as usize;
                out.column_mut(i).copy_from_slice(shares.column(voter));
            }
        }
        Ok(out)
    }
}

/// Where classes tie, raises the one whose voter comes first, by at most a rounding error.
fn break_tie(sums: &mut [f64], first: impl Fn(usize) -> Option<usize>, epsilon: f64) {
    let top = sums.iter().fold(0.0, |top: f64, sum| top.max(*sum));
    let tied = || (0..sums.len()).filter(|&class| sums[class] == top);
    if tied().count() > 1 {
        let winner = tied().min_by_key(|&class| first(class).unwrap_or(usize::MAX));
        winner.into_iter().for_each(|class| sums[class] *= 1.0 + 4.0 * epsilon);
    }
}

/// Writes `values`, which are not all zero, so that they sum to one.
pub(super) fn normalise<T: Real>(values: &[f64], out: &mut [T]) {
    let sum: f64 = values.iter().sum();
    out.iter_mut().zip(values).for_each(|(out, value)| *out = T::of(value / sum));
}

/// $Y$, $C\times N$: one at the class of each labelled sample, zero elsewhere.
pub(crate) fn indicators<T: Real>(labels: &Labels) -> Matrix<T> {
    let assigned = labels.assigned();
    Matrix::from_fn(labels.classes().len(), labels.len(), |class, i| {
        if assigned[i] == Some(class) { T::one() } else { T::zero() }
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::graph::Rule;

    fn line(places: &[f64]) -> Matrix<f64> {
        Matrix::from_fn(1, places.len(), |_, j| places[j])
    }

    fn vote(k: usize, labels: &Labels) -> Vote<f64> {
        let rule = Rule::Neighbours { n_neighbors: k, both_ways: false };
        let attachment = Attachment::new(rule);
        Vote { shares: indicators(labels), voters: Voters::Labelled, weights: None, attachment }
    }

    #[test]
    fn the_majority_wins_and_a_tie_goes_to_the_nearest() {
        let labels =
            Labels::from_names(&[Some("a"), Some("b"), Some("b"), None, Some("a"), Some("c")]);
        let training = line(&[0.0, 1.0, 2.0, 2.1, 10.0, 11.0]);
        let winner = |k: usize, x: f64| {
            let shares = vote(k, &labels).judge(&training, &labels, &line(&[x])).expect("votes");
            assert!((shares.as_slice().iter().sum::<f64>() - 1.0).abs() < 1e-15);
            super::super::best(shares.column(0))
        };
        assert_eq!((winner(1, 0.3), winner(3, 0.3)), (0, 1));
        // Two of each among four: the nearest is a `b` at 1.6, an `a` at 0.4.
        assert_eq!((winner(4, 1.6), winner(4, 0.4)), (1, 0));
        // `a` and `c` have one each among two.
        assert_eq!((winner(2, 10.9), winner(2, 10.1)), (2, 0));
        // The unlabelled sample has no vote, and more voters than there are is all of them.
        assert_eq!((winner(1, 2.1), winner(99, 11.0)), (1, 0));
    }

    #[test]
    fn far_away_the_nearest_decides() {
        let labels = Labels::from_names(&[Some("a"), Some("b")]);
        let rule = Rule::Heat { n_neighbors: 2, width: 1e-3, shift: 0.0 };
        let attachment = Attachment::restored(rule, 1.0, vec![1.0; 2], None);
        let shares = indicators(&labels);
        let vote = Vote { shares, voters: Voters::All, weights: None, attachment };
        let training = line(&[0.0, 1.0]);
        let shares = vote.judge(&training, &labels, &line(&[0.6, -1e200])).expect("votes");
        assert_eq!(shares.as_slice(), [0.0, 1.0, 1.0, 0.0]);
    }
}
