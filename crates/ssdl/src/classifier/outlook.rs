//! What the labels predict: the numbers behind knobs that are left to the samples.
//!
//! Each label is predicted from the others, by ridge classifiers and by the nearest sample, in closed
//! form. Where neighbours do as well as a linear classifier, the shape of the data says something
//! about the classes: votes count, and the paper's ridge is right. Where they do much worse, votes
//! would only repeat mistakes, and the ridge is the one that predicts labels best.

use super::left_out::{LeftOut, NearestLeftOut, left_out, nearest_left_out};
use super::recount::{as_drawn, favours, recounted};
use super::{LinearClassifier, MarginKnobs, Prior, Voting, best, ridge};
use crate::knobs::AutoOr;
use crate::matrix::Matrix;
use crate::samples::{Held, Labels};
use crate::threads::Loops;
use crate::{Real, Result};

/// Unlabelled samples together count at most as much as this many times the labels.
const MAX_RATIO: f64 = 4.0;
/// Votes do not count where neighbours predict labels worse than a linear classifier by this much.
const DISTRUST: f64 = 0.2;
/// Spread of the shares, as a logarithm, that a classifier which is always wrong would add to them.
const BLUR: f64 = 0.8;
/// Multiples of the paper's ρ that `auto` chooses among.
const MULTIPLES: [f64; 5] = [1.0, 3.0, 10.0, 30.0, 100.0];

/// Skills from which on labels are predicted well, and up to which they are noisy.
const SKILLS: (f64, f64) = (0.75, 0.5);

/// Unlabelled samples whose scores are computed at once.
const SCORED: usize = 4096;

/// What was found for knobs that are left to the samples.
#[derive(Clone, Debug, PartialEq)]
pub struct Outlook {
    /// ρ.
    pub strength: f64,
    /// $u$: the weight of an unlabelled sample's vote.
    pub vote: f64,
    /// Expected class shares of the unlabelled samples; they sum to one.
    pub prior: Vec<f64>,
    /// How far class shares are moved towards the prior.
    pub balance: f64,
    /// How far the finished classifier leans on a linear one of the samples, 0 to 1.
    pub lean: f64,
    /// The ridge with which that one predicts labels best.
    pub linear_strength: f64,
}

impl Outlook {
    /// From the prepared samples ($n\times N$). Their first codes would not do: labelled samples are the
    /// first atoms, so the code of each is itself.
    ///
    /// # Errors
    /// If a given prior does not have one number per class, or values are not finite.
    #[inline(never)]
    pub fn new<T: Real>(knobs: &MarginKnobs, samples: &Matrix<T>, labels: &Labels) -> Result<Self> {
        Self::of_held(knobs, samples.into(), labels)
    }

    /// The same from samples in memory or in a file.
    pub(crate) fn of_held<T: Real>(
        knobs: &MarginKnobs,
        samples: Held<'_, T>,
        labels: &Labels,
    ) -> Result<Self> {
        let elect = |classifier: &LinearClassifier<T>| {
            Ok(votes_for_classes(classifier, samples, &labels.unlabelled()))
        };
        let counts = (labels.len(), labels.n_labelled());
        Self::among(knobs, samples, labels, counts, &elect)
    }

    /// The same where these samples stand for more: with the number of all samples and of all labels, and with how
    /// many of all unlabelled samples a classifier puts into each class.
    pub(crate) fn among<T: Real>(
        knobs: &MarginKnobs,
        samples: Held<'_, T>,
        labels: &Labels,
        (all, labelled): (usize, usize),
        elect: &dyn Fn(&LinearClassifier<T>) -> Result<Vec<f64>>,
    ) -> Result<Self> {
        if knobs.voting == Voting::Paper {
            let prior = Prior::Even.shares(labels)?;
            let strength = knobs.rho();
            return Ok(Self {
                strength,
                vote: 1.0,
                prior,
                balance: 0.0,
                lean: 0.0,
                linear_strength: strength,
            });
        }
        let n_classes = labels.classes().len();
        let classes = labels.known_classes();
        let known = samples.select(&labels.labelled());
        let paper = knobs.rho();
        let multiples: &[f64] = if knobs.ridge == AutoOr::Auto { &MULTIPLES } else { &[1.0] };
        let strengths: Vec<f64> = multiples.iter().map(|multiple| multiple * paper).collect();
        let seen = left_out(&known, &classes, n_classes, &strengths);
        let least = LeftOut::least(seen);
        let near = nearest_left_out(&known, &classes, n_classes);
        let both = least.as_ref().zip(near.as_ref());
        let behind = both.map_or(0.0, |(one, near)| one.skill - near.skill);
        let trust = (1.0 - behind / DISTRUST).clamp(0.0, 1.0);
        let found = least.as_ref().map_or(paper, |one| one.strength);
        let vote = match knobs.unlabelled_weight {
            AutoOr::Exactly(weight) => weight,
            AutoOr::Auto => vote_by_counts(all, labelled) * trust,
        };
        let prior = match knobs.prior {
            Prior::Estimated | Prior::Recounted if all > labelled => {
                let votes = elect(&even_ridge(&known, labels, found)?)?;
                let counts = labels.counts();
                match &least {
                    Some(seen) if knobs.prior == Prior::Recounted => {
                        recounted(&votes, &seen.confusion, &counts)
                    }
                    seen => estimated(votes, seen.as_ref(), &counts),
                }
            }
            given => given.shares(labels)?,
        };
        let strength = paper.powf(trust) * found.powf(1.0 - trust);
        let per_feature = labelled as f64 / known.rows().max(1) as f64;
        let lean = both.filter(|_| knobs.ridge == AutoOr::Auto);
        let lean = lean.map_or(0.0, |(one, near)| leaning(one, near, per_feature));
        let balance = knobs.balance;
        Ok(Self { strength, vote, prior, balance, lean, linear_strength: found })
    }
}

/// By how many deviations of what a fair coin would do the first predicts more labels than the second (McNemar
/// 1947), counting those that one of them alone predicts.
fn ahead(first: &[bool], second: &[bool]) -> f64 {
    let alone = |a: &[bool], b: &[bool]| a.iter().zip(b).filter(|&(a, b)| *a && !*b).count() as f64;
    let (first_alone, second_alone) = (alone(first, second), alone(second, first));
    (first_alone - second_alone) / (first_alone + second_alone).max(1.0).sqrt()
}

/// How far to lean on a linear classifier: the farther it is ahead of neighbours, from one deviation behind to one ahead;
/// where labels outnumber its features, which then tell it well, or are badly predicted by all, for then there is noise
/// that a classifier of codes would learn.
fn leaning(linear: &LeftOut, near: &NearestLeftOut, labels_per_feature: f64) -> f64 {
    let (clear, noisy) = SKILLS;
    let noise = (clear - linear.skill.max(near.skill)) / (clear - noisy);
    let reason = noise.max(labels_per_feature - 1.0).clamp(0.0, 1.0);
    reason * f64::midpoint(ahead(&linear.right, &near.right), 1.0).clamp(0.0, 1.0)
}

/// The weight of a vote where neighbours predict labels as well as a linear classifier.
fn vote_by_counts(all: usize, labelled: usize) -> f64 {
    let open = (all as f64 - labelled as f64).max(1.0);
    (MAX_RATIO * labelled as f64 / open).min(1.0)
}

/// A ridge classifier of samples that was fitted with all classes counting alike; so what it finds does not depend
/// on how many labels each class happens to have.
fn even_ridge<T: Real>(
    known: &Matrix<T>,
    labels: &Labels,
    strength: f64,
) -> Result<LinearClassifier<T>> {
    let counts = labels.counts();
    let n_present = counts.iter().filter(|count| **count > 0).count();
    let even = labels.n_labelled() as f64 / n_present as f64;
    let classes = labels.known_classes();
    let weights: Vec<T> = classes.iter().map(|&class| T::of(even / counts[class] as f64)).collect();
    let mut classifier = ridge(known, &classes, &weights, counts.len(), T::of(strength))?;
    classifier.silence_absent(&counts);
    Ok(classifier)
}

/// How many of the chosen samples a classifier puts into each class.
pub(crate) fn votes_for_classes<T: Real>(
    classifier: &LinearClassifier<T>,
    samples: Held<'_, T>,
    chosen: &[usize],
) -> Vec<f64> {
    // A part at a time for each thread: all of them would be a second copy of the samples.
    let of_parts = chosen.chunks(SCORED).gather(|part| {
        let mut votes = vec![0.0; classifier.bias.len()];
        let scores = classifier.scores(&samples.select(part));
        scores.iter_columns().for_each(|column| votes[best(column)] += 1.0);
        votes
    });
    let mut votes = vec![0.0; classifier.bias.len()];
    for part in of_parts {
        votes.iter_mut().zip(part).for_each(|(sum, own)| *sum += own);
    }
    votes
}

/// The class shares of unlabelled samples: those of the labels where these were drawn from all samples, by every sign;
/// what votes say, recounted where labels prove that errors favour a class.
fn estimated(votes: Vec<f64>, seen: Option<&LeftOut>, counts: &[usize]) -> Vec<f64> {
    let Some(LeftOut { confusion, skill, .. }) = seen else { return shares_of(votes, counts, 0.0) };
    if let Some(shares) = as_drawn(&votes, confusion, counts) {
        return shares;
    }
    match favours(confusion) {
        true => recounted(&votes, confusion, counts),
        false => shares_of(votes, counts, *skill),
    }
}

/// The class shares of unlabelled samples that so many votes speak for: as far as they differ by more than what a
/// classifier of this skill gets wrong.
fn shares_of(mut votes: Vec<f64>, counts: &[usize], skill: f64) -> Vec<f64> {
    let n_open: f64 = votes.iter().sum();
    let present: Vec<usize> = (0..counts.len()).filter(|&class| counts[class] > 0).collect();
    let n_present = present.len();
    // One vote more for each class: none is expected to be missing.
    present.iter().for_each(|&class| votes[class] += 1.0);
    let shares: Vec<f64> =
        present.iter().map(|&class| votes[class] / (n_open + n_present as f64)).collect();
    let spread: f64 =
        shares.iter().map(|share| share * (share * n_present as f64).ln().powi(2)).sum();
    let chance = 1.0 / n_present as f64;
    let wrong = (1.0 - chance) * (1.0 - skill);
    let noise = (BLUR * wrong).powi(2) + n_present as f64 / n_open;
    let power = (1.0 - noise / spread.max(noise)).max(0.0);
    present.iter().for_each(|&class| votes[class] = votes[class].powf(power));
    let sum: f64 = votes.iter().sum();
    votes.into_iter().map(|count| count / sum).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Two classes along the first feature, so many deviations apart, in a plane; every tenth sample has a label.
    fn plane(apart: f64) -> (Matrix<f64>, Labels) {
        let noise = |i: usize, j: usize| {
            let mixed = (j * 2 + i + 1) as f64 * 12.9898;
            let even = |shift: f64| ((mixed + shift).sin() * 43_758.545_3).rem_euclid(1.0);
            (0..6).map(|k| even(f64::from(k) * 78.233)).sum::<f64>() * 1.4 - 4.2
        };
        let side = |j: usize| if j.is_multiple_of(2) { apart } else { -apart };
        let samples =
            Matrix::from_fn(2, 400, |i, j| noise(i, j) + if i == 0 { side(j) } else { 0.0 });
        let assigned = (0..400).map(|j| (j / 2 % 5 == 0).then_some(j % 2)).collect();
        (samples, Labels::new(vec!["a".into(), "b".into()], assigned).expect("two classes"))
    }

    #[test]
    fn labels_lean_on_a_linear_classifier_that_is_not_behind_unless_knobs_are_given() {
        let lean = |apart: f64, knobs: &MarginKnobs| {
            let (samples, labels) = plane(apart);
            Outlook::new(knobs, &samples, &labels).expect("finite").lean
        };
        let auto = MarginKnobs::new();
        assert!(lean(0.6, &auto) > 0.2, "{}", lean(0.6, &auto));
        assert!(lean(0.6, &auto) > lean(4.0, &auto));
        assert_eq!(lean(0.6, &MarginKnobs { ridge: AutoOr::Exactly(1.0), ..auto }), 0.0);
        assert_eq!(lean(0.6, &MarginKnobs { voting: Voting::Paper, ..auto }), 0.0);
    }

    #[test]
    fn many_features_need_noise_and_neighbours_ahead_forbid_it() {
        let one = |skill: f64, right: [bool; 4]| {
            let (right, confusion) = (right.to_vec(), Matrix::zeros(2, 2));
            LeftOut { strength: 1.0, error: 0.0, skill, right, confusion }
        };
        let other = |skill: f64, right: [bool; 4]| NearestLeftOut { skill, right: right.to_vec() };
        let (all, none) = ([true; 4], [false; 4]);
        assert_eq!(leaning(&one(0.9, all), &other(0.9, all), 0.5), 0.0, "clear, many features");
        assert_eq!(leaning(&one(0.9, all), &other(0.9, all), 4.0), 0.5, "few features");
        assert_eq!(leaning(&one(0.4, all), &other(0.4, all), 0.5), 0.5, "noise");
        assert_eq!(leaning(&one(0.4, all), &other(0.1, none), 0.5), 1.0, "linear ahead");
        assert_eq!(leaning(&one(0.1, none), &other(0.4, all), 4.0), 0.0, "neighbours ahead");
    }

    #[test]
    fn only_labels_that_one_alone_predicts_tell_which_is_ahead() {
        let (linear, near) = ([true, true, true, false, true], [true, false, false, false, false]);
        assert!((ahead(&linear, &near) - 3.0_f64.sqrt()).abs() < 1e-12);
        assert!((ahead(&linear, &near) + ahead(&near, &linear)).abs() < 1e-12);
        assert_eq!(ahead(&linear, &linear), 0.0);
    }
}
