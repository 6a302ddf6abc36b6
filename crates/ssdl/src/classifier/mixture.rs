//! A decision by several: the weighted mean of their calibrated probabilities.
//!
//! $$p(x)=\sum_mw_mp_m(x),\qquad w\ge0,\ \sum_mw_m=1.$$
//!
//! Members see codes, prepared samples, the votes of training samples, the leaves of trees, or distances to labelled
//! samples; each kind occurs once at most.

use std::borrow::Cow;

use serde::{Deserialize, Serialize};

use super::decision::{Coded, Known, Verdict, judge_linearly};
use super::forest::{Forest, SavedForest};
use super::kernel::{KernelClassifier, SavedKernel};
use super::{Calibration, LinearClassifier, SHARPNESS, Vote, Voters};
use crate::graph::{Attachment, Rule};
use crate::stored::{Source, Stored};
use crate::{Labels, Matrix, Real, Result};

/// Weights below this are not worth a member's time.
const MIN_WEIGHT: f64 = 0.1;
/// Rounds in which weights are found.
const ROUNDS: usize = 200;
/// What counts for equal weights, for each member: so many labels, and this share of those that are hidden. Twice
/// as much lost up to a point on tables of KEEL and made-up ones, nothing at all was worse calibrated.
const EVEN: (f64, f64) = (0.5, 0.03);

/// One of several that decide together.
#[derive(Clone, Debug, PartialEq)]
pub struct Member<T> {
    /// $w_m$.
    pub weight: f64,
    /// How its scores become probabilities.
    pub calibration: Calibration,
    /// What it sees.
    pub rule: MemberRule<T>,
}

/// What a member of a mixture sees, and how it scores.
#[derive(Clone, Debug, PartialEq)]
pub enum MemberRule<T> {
    /// A linear classifier on codes.
    Codes(LinearClassifier<T>),
    /// A linear classifier on prepared samples.
    Samples(LinearClassifier<T>),
    /// Votes of training samples.
    Vote(Vote<T>),
    /// Trees on prepared samples.
    Forest(Forest<T>),
    /// Distances between prepared samples.
    Kernel(KernelClassifier<T>),
}

/// A member in the header of a model file.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct SavedMember {
    weight: f64,
    calibration: Calibration,
    #[serde(flatten)]
    rule: SavedRule,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(tag = "sees", rename_all = "kebab-case")]
enum SavedRule {
    Codes,
    Samples,
    Votes {
        voters: Voters,
        attachment: Rule,
        scale: f64,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        recall: Option<f64>,
    },
    Trees(SavedForest),
    Distances(SavedKernel),
}

/// The weights with the least log-loss for these probabilities of the true class (one row per member,
/// one column per hidden label; `None` for one that cannot take part), drawn towards equal ones: those
/// that gain too little are zero.
///
/// The rounds are those of expectation and maximisation; a few labels count for equal weights.
#[must_use]
pub fn mixture_weights(of_truth: &[Option<Vec<f64>>]) -> Vec<f64> {
    let n_members = of_truth.len();
    let n = of_truth.iter().flatten().next().map_or(0, Vec::len);
    // One that could not be fitted is as one that never predicts a label, and never alive.
    let able: Vec<bool> = of_truth.iter().map(Option::is_some).collect();
    let none = vec![0.0; n];
    let of_truth: Vec<&Vec<f64>> = of_truth.iter().map(|p| p.as_ref().unwrap_or(&none)).collect();
    let equal = EVEN.0 + EVEN.1 * n as f64;
    let mut weights = vec![1.0 / n_members as f64; n_members];
    let rounds = |weights: &mut Vec<f64>, alive: &[bool]| {
        for _ in 0..ROUNDS {
            let mut sums: Vec<f64> = alive.iter().map(|&is| if is { equal } else { 0.0 }).collect();
            for i in 0..n {
                let all: f64 = weights.iter().zip(&of_truth).map(|(w, p)| w * p[i]).sum();
                let parts = sums.iter_mut().zip(&*weights).zip(&of_truth);
                parts.for_each(|((sum, w), p)| *sum += w * p[i] / all);
            }
            let all: f64 = sums.iter().sum();
            *weights = sums.into_iter().map(|sum| sum / all).collect();
        }
    };
    rounds(&mut weights, &able);
    let is_alive = |(&weight, &able): (&f64, &bool)| able && weight >= MIN_WEIGHT;
    let alive: Vec<bool> = weights.iter().zip(&able).map(is_alive).collect();
    weights.iter_mut().zip(&alive).for_each(|(weight, &is)| {
        if !is {
            *weight = 0.0;
        }
    });
    rounds(&mut weights, &alive);
    weights
}

/// Classifies new samples.
pub(super) fn judge<T: Real>(
    members: &[Member<T>],
    known: &Known<'_, T>,
    new: &Coded<'_, T>,
) -> Result<Verdict<T>> {
    let verdicts: Result<Vec<Verdict<T>>> = members
        .iter()
        .map(|member| {
            Ok(match &member.rule {
                MemberRule::Codes(classifier) => judge_linearly(classifier, SHARPNESS, new.codes),
                MemberRule::Samples(classifier) => {
                    judge_linearly(classifier, SHARPNESS, new.samples)
                }
                MemberRule::Vote(vote) => {
                    let training = known.samples.unwrap_or(known.codes).as_ref();
                    Verdict::of_shares(vote.judge(training, known.labels, new.samples)?)
                }
                MemberRule::Forest(forest) => {
                    let n_classes = known.labels.classes().len();
                    Verdict::of_shares(forest.judge(n_classes, new.samples, new.lengths))
                }
                MemberRule::Kernel(kernel) => {
                    Verdict::of_scores(kernel.scores(new.samples, new.lengths))
                }
            })
        })
        .collect();
    Ok(mean(members, verdicts?))
}

/// What the fit found for its training samples.
pub(super) fn of_training<T: Real>(members: &[Member<T>], known: &Known<'_, T>) -> Verdict<T> {
    let samples = known.samples.unwrap_or(known.codes).as_ref();
    let codes = known.codes.as_ref();
    let verdicts = members.iter().map(|member| match &member.rule {
        MemberRule::Codes(classifier) => judge_linearly(classifier, SHARPNESS, codes),
        MemberRule::Samples(classifier) => judge_linearly(classifier, SHARPNESS, samples),
        MemberRule::Vote(vote) => Verdict::of_shares(vote.shares.clone()),
        MemberRule::Forest(forest) => {
            Verdict::of_shares(forest.of_training(known.labels.classes().len(), samples))
        }
        MemberRule::Kernel(kernel) => Verdict::of_scores(kernel.of_training(samples)),
    });
    mean(members, verdicts.collect())
}

/// Scores are the logarithms of the mean probabilities.
fn mean<T: Real>(members: &[Member<T>], verdicts: Vec<Verdict<T>>) -> Verdict<T> {
    let mut sum: Option<Matrix<T>> = None;
    for (member, mut verdict) in members.iter().zip(verdicts) {
        let votes = matches!(member.rule, MemberRule::Vote(_) | MemberRule::Forest(_));
        member.calibration.apply_to(votes, &mut verdict);
        let weight = T::of(member.weight);
        match &mut sum {
            None => {
                verdict.probabilities.as_mut_slice().iter_mut().for_each(|p| *p *= weight);
                sum = Some(verdict.probabilities);
            }
            Some(sum) => {
                crate::matrix::axpy(weight, verdict.probabilities.as_slice(), sum.as_mut_slice())
            }
        }
    }
    let mut probabilities = sum.unwrap_or_else(|| Matrix::zeros(0, 0));
    for j in 0..probabilities.columns() {
        let column = probabilities.column_mut(j);
        let all: T = column.iter().copied().sum();
        column.iter_mut().for_each(|p| *p /= all);
    }
    let (rows, columns) = (probabilities.rows(), probabilities.columns());
    let scores = Matrix::from_fn(rows, columns, |c, j| probabilities.column(j)[c].ln());
    Verdict { scores, probabilities }
}

/// The linear classifier on codes, where there is one.
pub(super) fn on_codes<T>(members: &[Member<T>]) -> Option<&LinearClassifier<T>> {
    members.iter().find_map(|member| match &member.rule {
        MemberRule::Codes(classifier) => Some(classifier),
        _ => None,
    })
}

/// The part of each member for the header.
pub(super) fn saved<T: Real>(members: &[Member<T>]) -> Vec<SavedMember> {
    let of = |member: &Member<T>| SavedMember {
        weight: member.weight,
        calibration: member.calibration,
        rule: match &member.rule {
            MemberRule::Codes(_) => SavedRule::Codes,
            MemberRule::Samples(_) => SavedRule::Samples,
            MemberRule::Vote(vote) => SavedRule::Votes {
                voters: vote.voters,
                attachment: vote.attachment.rule,
                scale: vote.attachment.scale,
                recall: vote.attachment.recall,
            },
            MemberRule::Forest(forest) => SavedRule::Trees(forest.saved()),
            MemberRule::Kernel(kernel) => SavedRule::Distances(kernel.saved()),
        },
    };
    members.iter().map(of).collect()
}

/// The numbers of all members.
pub(super) fn stored<T: Real>(members: &[Member<T>]) -> Vec<(&'static str, Stored<'_, T>)> {
    let mut all = Vec::new();
    for member in members {
        match &member.rule {
            MemberRule::Codes(one) => {
                all.push(("weights", Stored::Matrix(Cow::Borrowed(&one.weights))));
                all.push(("bias", Stored::List(&one.bias)));
            }
            MemberRule::Samples(one) => {
                all.push(("samples_weights", Stored::Matrix(Cow::Borrowed(&one.weights))));
                all.push(("samples_bias", Stored::List(&one.bias)));
            }
            MemberRule::Vote(vote) => {
                all.push(("shares", Stored::Matrix(Cow::Borrowed(&vote.shares))));
                if !vote.attachment.memory.is_empty() {
                    all.push(("votes_attachment", Stored::List(&vote.attachment.memory)));
                }
            }
            MemberRule::Forest(forest) => all.extend(forest.stored()),
            MemberRule::Kernel(kernel) => all.extend(kernel.stored()),
        }
    }
    all
}

/// From a file; codes have `n_codes` coefficients, prepared samples `n_prepared` features.
pub(super) fn restore<T: Real>(
    saved: &[SavedMember],
    source: &dyn Source<T>,
    labels: &Labels,
    (n_codes, n_prepared): (usize, usize),
) -> Result<Vec<Member<T>>> {
    let n_classes = labels.classes().len();
    let of = |member: &SavedMember| {
        let sound = member.weight > 0.0 && member.weight <= 1.0 && member.calibration.is_sound();
        if !sound {
            return Err(source.refuse("a member of its mixture is out of range"));
        }
        let rule = match &member.rule {
            SavedRule::Codes => MemberRule::Codes(LinearClassifier {
                weights: source.matrix("weights", n_codes, n_classes)?,
                bias: source.list("bias", n_classes)?,
            }),
            SavedRule::Samples => MemberRule::Samples(LinearClassifier {
                weights: source.matrix("samples_weights", n_prepared, n_classes)?,
                bias: source.list("samples_bias", n_classes)?,
            }),
            SavedRule::Votes { voters, attachment, scale, recall } => {
                let attach = |count: usize| {
                    let sound = attachment.is_sound() && scale.is_finite() && *scale >= 0.0;
                    if !sound {
                        return Err(source.refuse("the rule of its votes is invalid"));
                    }
                    let remembers = attachment.remembers();
                    let memory = if remembers {
                        source.list("votes_attachment", count)?
                    } else {
                        Vec::new()
                    };
                    Ok(Attachment::restored(*attachment, *scale, memory, *recall))
                };
                MemberRule::Vote(Vote::restore((*voters, false), source, labels, attach)?)
            }
            SavedRule::Trees(saved) => {
                MemberRule::Forest(Forest::restore(*saved, source, labels, n_prepared)?)
            }
            SavedRule::Distances(saved) => {
                MemberRule::Kernel(KernelClassifier::restore(*saved, source, labels, n_prepared)?)
            }
        };
        Ok(Member { weight: member.weight, calibration: member.calibration, rule })
    };
    if saved.is_empty() {
        return Err(source.refuse("its mixture has no members"));
    }
    saved.iter().map(of).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_better_member_gets_the_larger_weight_and_a_useless_one_none() {
        let good: Vec<f64> = (0..60).map(|i| if i % 10 == 0 { 0.3 } else { 0.9 }).collect();
        let fair: Vec<f64> = (0..60).map(|i| if i % 10 == 0 { 0.8 } else { 0.7 }).collect();
        let bad = vec![0.05; 60];
        let weights = mixture_weights(&[Some(good), Some(fair), Some(bad)]);
        assert!(weights[0] > weights[1] && weights[2] < weights[1], "{weights:?}");
        assert!((weights.iter().sum::<f64>() - 1.0).abs() < 1e-12);
        let alike = mixture_weights(&[Some(vec![0.8; 9]), Some(vec![0.8; 9])]);
        assert!((alike[0] - 0.5).abs() < 1e-12);
        assert_eq!(mixture_weights(&[Some(vec![0.1; 4]), None]), [1.0, 0.0]);
        assert_eq!(mixture_weights(&[None, Some(Vec::new())]), [0.0, 1.0]);
    }
}
