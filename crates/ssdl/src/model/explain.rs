//! Why the model predicts a class for a sample: its parts, and its neighbours.
//!
//! A linear score is a sum over the parts of a code, $s_c=b_c+\sum_ka_kW_{kc}$, so each atom (each
//! feature, where there are no atoms) has a share of it; likewise each atom in the part of a sample
//! that its class explains. The training samples nearest in the graph pull the code, or vote.

use super::{Model, Prediction, Seen};
use crate::classifier::Voters;
use crate::graph::Attachment;
use crate::{Error, Matrix, Real, Result, order};

/// One atom that a sample is made of; one feature, where the method has no atoms.
#[derive(Clone, Debug, PartialEq)]
pub struct Part<T> {
    /// Which atom, or which prepared feature.
    pub index: usize,
    /// How much of it, $a_k$.
    pub amount: T,
    /// What it adds to the score of each class; empty where training samples vote.
    pub votes: Vec<T>,
}

/// A training sample that a sample is tied to.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Neighbour<T> {
    /// Which training sample.
    pub sample: usize,
    /// Its weight; the weights of a sample sum to one, except in a graph of self-representation. A
    /// barycentre may have negative ones.
    pub weight: T,
}

/// Why a sample gets its prediction.
#[derive(Clone, Debug, PartialEq)]
pub struct Explanation<T> {
    /// The predicted class.
    pub class: usize,
    /// The class that comes second; `None` with a single class.
    pub second: Option<usize>,
    /// One score per class.
    pub scores: Vec<T>,
    /// One probability per class.
    pub probabilities: Vec<T>,
    /// Its atoms; those that decide most between the class and the second come first.
    pub parts: Vec<Part<T>>,
    /// The training samples it is tied to, the heaviest first; none where the method ties none.
    pub neighbours: Vec<Neighbour<T>>,
}

impl<T: Real> Model<T> {
    /// Explains the predictions of the fit for these training samples; see [`Model::transduction`].
    /// Their neighbours are those that they would have as new samples, without themselves.
    ///
    /// Cost $O(nN)$ per sample.
    ///
    /// # Errors
    /// If there is no such sample.
    #[inline(never)]
    pub fn explain(&self, samples: &[usize]) -> Result<Vec<Explanation<T>>> {
        let n_samples = self.codes.columns();
        if let Some(&sample) = samples.iter().find(|&&sample| sample >= n_samples) {
            return Err(Error::Samples(format!(
                "there is no training sample {sample}; there are {n_samples}, counted from 0"
            )));
        }
        let prediction = self.transduction();
        let features = self.training().unwrap_or(self.codes());
        samples
            .iter()
            .map(|&sample| {
                let both = (features.column(sample), self.codes().column(sample));
                let neighbours = self.neighbours_of(sample)?;
                Ok(self.explained(both, (&prediction, sample), neighbours))
            })
            .collect()
    }

    /// Explains the predictions for raw samples ($n\times N$); see [`Model::predict`].
    ///
    /// # Errors
    /// If the number of features is wrong or a value is not finite.
    #[inline(never)]
    pub fn explain_new(&self, raw: Matrix<T>) -> Result<Vec<Explanation<T>>> {
        let seen = self.see(raw)?;
        let all: Vec<usize> = (0..seen.codes().columns()).collect();
        self.explain_seen(&seen, &self.judge(&seen)?, &all)
    }

    /// Explains the predictions for some of the samples seen; `prediction` is that of
    /// [`Model::judge`] for all of them.
    ///
    /// # Errors
    /// If the neighbours of a sample cannot be found, which can happen only with a learnt graph.
    #[inline(never)]
    pub fn explain_seen(
        &self,
        seen: &Seen<T>,
        prediction: &Prediction<T>,
        samples: &[usize],
    ) -> Result<Vec<Explanation<T>>> {
        let neighbours = self.neighbours(seen, samples)?;
        let each = samples.iter().zip(neighbours).map(|(&j, neighbours)| {
            let both = (seen.prepared().column(j), seen.codes().column(j));
            self.explained(both, (prediction, j), neighbours)
        });
        Ok(each.collect())
    }

    /// Explains one sample, given as its prepared features and its code.
    fn explained(
        &self,
        both: (&[T], &[T]),
        (prediction, sample): (&Prediction<T>, usize),
        mut neighbours: Vec<Neighbour<T>>,
    ) -> Explanation<T> {
        let code = both.1;
        let scores = prediction.scores.column(sample);
        let probabilities = prediction.probabilities.column(sample);
        let mut order: Vec<usize> = (0..scores.len()).collect();
        order::places_by(&mut order, |a, b| scores[b].wide().total_cmp(&scores[a].wide()));
        let (class, second) = (order[0], order.get(1).copied());
        let known = self.known();
        let votes = |k: usize| self.decision.votes(&known, both, k);
        let used = (0..code.len()).filter(|&k| code[k] != T::zero());
        let mut parts: Vec<Part<T>> =
            used.map(|k| Part { index: k, amount: code[k], votes: votes(k) }).collect();
        let weight = |part: &Part<T>| match part.votes.get(class) {
            Some(vote) => (*vote - second.map_or(T::zero(), |second| part.votes[second])).wide(),
            None => part.amount.wide(),
        };
        let heavier = |a: f64, b: f64| b.abs().total_cmp(&a.abs());
        parts.sort_by(|a, b| heavier(weight(a), weight(b)).then(a.index.cmp(&b.index)));
        // Stable: equal weights stay in the order of the graph, the nearest first.
        neighbours.sort_by(|a, b| b.weight.wide().total_cmp(&a.weight.wide()));
        Explanation {
            class,
            second,
            scores: scores.to_vec(),
            probabilities: probabilities.to_vec(),
            parts,
            neighbours,
        }
    }

    /// The training samples that some of the samples seen are tied to, or that vote on them.
    fn neighbours(&self, seen: &Seen<T>, samples: &[usize]) -> Result<Vec<Vec<Neighbour<T>>>> {
        if let Some(vote) = self.decision.voting() {
            let (voters, new) =
                (self.voters(vote.voters, None), seen.codes().select_columns(samples));
            return near(&vote.attachment, self.codes(), &voters, &new);
        }
        if let Some(trees) = self.decision.trees() {
            let of =
                |&j: &usize| voters(trees.voters(seen.codes().column(j), seen.length(j)), None);
            return Ok(samples.iter().map(of).collect());
        }
        let Some(anchors) = seen.anchors() else {
            return Ok(vec![Vec::new(); samples.len()]);
        };
        let of = |&j| anchors.of(j).map(|(sample, weight)| Neighbour { sample, weight }).collect();
        Ok(samples.iter().map(of).collect())
    }

    /// The neighbours of a training sample as if it were new: among all others.
    fn neighbours_of(&self, sample: usize) -> Result<Vec<Neighbour<T>>> {
        if let Some(trees) = self.decision.trees() {
            return Ok(voters(trees.voters_on_training(self.codes(), sample), Some(sample)));
        }
        // Of a sample that is no landmark the model has only the code.
        let tied = self.tie.as_ref().zip(self.training());
        let (attachment, seen, others) = match (self.decision.voting(), tied) {
            (Some(vote), _) => {
                (&vote.attachment, self.codes(), self.voters(vote.voters, Some(sample)))
            }
            (None, Some((tie, training))) => {
                (&tie.attachment, training, self.voters(Voters::All, Some(sample)))
            }
            (None, None) => return Ok(Vec::new()),
        };
        let found = near(attachment, seen, &others, &seen.select_columns(&[sample]))?;
        Ok(found.into_iter().next().unwrap_or_default())
    }

    /// Indices of the samples that may vote.
    fn voters(&self, voters: Voters, without: Option<usize>) -> Vec<usize> {
        let mut places = match voters {
            Voters::All => (0..self.labels.len()).collect(),
            Voters::Labelled => self.labels.labelled(),
        };
        places.retain(|&place| Some(place) != without);
        places
    }
}

/// Training samples with their share of the votes, in proportion without one of them.
fn voters<T: Real>(mut all: Vec<(usize, f64)>, without: Option<usize>) -> Vec<Neighbour<T>> {
    all.retain(|&(sample, _)| Some(sample) != without);
    let sum: f64 = all.iter().map(|(_, weight)| weight).sum();
    let of = |(sample, weight): (usize, f64)| Neighbour { sample, weight: T::of(weight / sum) };
    all.into_iter().map(of).collect()
}

/// Ties samples to some of the training samples.
fn near<T: Real>(
    attachment: &Attachment<T>,
    training: &Matrix<T>,
    among: &[usize],
    samples: &Matrix<T>,
) -> Result<Vec<Vec<Neighbour<T>>>> {
    let anchors = attachment.among(among).anchor(&training.select_columns(among), samples)?;
    let of =
        |j| anchors.of(j).map(|(at, weight)| Neighbour { sample: among[at], weight }).collect();
    Ok((0..samples.columns()).map(of).collect())
}
