//! How good the guesses are, how sure that is, how far people agree, and whether to stop.

use std::collections::BTreeMap;

use serde::Serialize;

use crate::entry::{Answer, Verdict};
use crate::state::State;

/// Answers over which accuracy is shown.
const WINDOW: usize = 50;
/// Answers whose interval the advice waits for: with 50, none is within three points.
const WIDE_WINDOW: usize = 200;
/// Half the width of an interval that is narrow enough to stop.
const NARROW: f64 = 0.03;
/// Share of changed predictions below which a refit changes nothing.
const STILL: f64 = 0.01;
/// Refits in a row that must change nothing.
const STILL_REFITS: usize = 3;

/// A share and the interval that contains the true one in 95 of 100 cases.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Share {
    /// How many were right.
    pub right: usize,
    /// Of how many.
    pub of: usize,
    /// The lower end of the interval (Wilson).
    pub low: f64,
    /// The upper end.
    pub high: f64,
}

impl Share {
    /// From counts.
    #[must_use]
    pub fn new(right: usize, of: usize) -> Self {
        if of == 0 {
            return Self { right, of, low: 0.0, high: 1.0 };
        }
        let (n, z) = (of as f64, 1.959_964);
        let p = right as f64 / n;
        let middle = (p + z * z / (2.0 * n)) / (1.0 + z * z / n);
        let half = z / (1.0 + z * z / n) * (p * (1.0 - p) / n + z * z / (4.0 * n * n)).sqrt();
        Self { right, of, low: (middle - half).max(0.0), high: (middle + half).min(1.0) }
    }

    /// The share itself.
    #[must_use]
    pub fn value(&self) -> f64 {
        self.right as f64 / self.of.max(1) as f64
    }
}

/// How far two people agree beyond chance.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Agreement {
    /// One of them.
    pub one: String,
    /// The other.
    pub other: String,
    /// Samples that both labelled.
    pub samples: usize,
    /// Cohen's κ: 1 is full agreement, 0 what chance gives.
    pub kappa: f64,
}

/// How labelling goes.
#[derive(Clone, Debug, Serialize)]
pub struct Progress {
    /// Labelled samples.
    pub labelled: usize,
    /// Samples marked unusable.
    pub unusable: usize,
    /// Samples that were skipped and have no label.
    pub skipped: usize,
    /// All samples.
    pub samples: usize,
    /// Labels of each class.
    pub classes: Vec<(String, usize)>,
    /// Guesses made before the answer that were right, over the last answers.
    pub last: Option<Share>,
    /// The same over samples drawn at random.
    pub random: Option<Share>,
    /// What the last 50 labels gained, in points of accuracy of the guesses.
    pub gained: Option<f64>,
    /// Median seconds of an answer.
    pub seconds: Option<f64>,
    /// For each refit: labels, and the share of predictions that changed.
    pub refits: Vec<(usize, Option<f64>)>,
    /// A sentence, if it is time to stop.
    pub advice: Option<String>,
    /// How far people agree.
    pub agreement: Vec<Agreement>,
}

/// Whether guesses were right that were made before the answer and not seen, the oldest first.
fn outcomes<'a>(answers: &[&'a Answer], wanted: impl Fn(&'a Answer) -> bool) -> Vec<bool> {
    let judged = answers.iter().filter(|answer| !answer.seen && wanted(answer));
    judged
        .filter_map(|answer| match (&answer.guess, &answer.verdict) {
            (Some(guess), Verdict::Label(label)) => Some(guess == label),
            _ => None,
        })
        .collect()
}

fn last(outcomes: &[bool], n: usize) -> &[bool] {
    &outcomes[outcomes.len().saturating_sub(n)..]
}

fn share(outcomes: &[bool]) -> Option<Share> {
    let right = outcomes.iter().filter(|&&right| right).count();
    (!outcomes.is_empty()).then(|| Share::new(right, outcomes.len()))
}

/// How labelling goes, after these refits.
#[must_use]
pub fn progress(state: &State, n_samples: usize, refits: &[(usize, Option<f64>)]) -> Progress {
    let answers: Vec<&Answer> = state.counted().map(|(_, answer)| answer).collect();
    let mut classes: Vec<(String, usize)> =
        state.classes().iter().map(|name| (name.clone(), 0)).collect();
    let (mut labelled, mut unusable, mut skipped) = (0, 0, 0);
    for sample in state.answered() {
        match state.verdict(sample) {
            Some(Verdict::Label(label)) => {
                labelled += 1;
                let own = classes.iter_mut().find(|(name, _)| name == label);
                own.into_iter().for_each(|(_, count)| *count += 1);
            }
            Some(Verdict::Unusable) => unusable += 1,
            Some(Verdict::Skipped) => skipped += 1,
            None => {}
        }
    }
    let all = outcomes(&answers, |_| true);
    let random = outcomes(&answers, |answer| answer.random);
    let before = &all[..all.len().saturating_sub(WINDOW)];
    let (now, then) = (share(last(&all, WINDOW)), share(last(before, WINDOW)));
    let gained = now.zip(then.filter(|then| then.of == WINDOW));
    let mut times: Vec<f64> = answers.iter().rev().filter_map(|a| a.seconds).take(WINDOW).collect();
    times.sort_by(f64::total_cmp);
    let wide = share(last(&all, WIDE_WINDOW));
    Progress {
        labelled,
        unusable,
        skipped,
        samples: n_samples,
        classes,
        last: now,
        random: share(last(&random, WINDOW)),
        gained: gained.map(|(now, then)| 100.0 * (now.value() - then.value())),
        seconds: times.get(times.len() / 2).copied(),
        refits: last_refits(refits),
        advice: advice(refits, wide),
        agreement: agreement(state),
    }
}

fn last_refits(refits: &[(usize, Option<f64>)]) -> Vec<(usize, Option<f64>)> {
    refits[refits.len().saturating_sub(40)..].to_vec()
}

/// The sentence that it is time to stop: the last refits changed nothing, and the accuracy is known
/// well enough.
fn advice(refits: &[(usize, Option<f64>)], wide: Option<Share>) -> Option<String> {
    let tail = refits.len().checked_sub(STILL_REFITS).map(|from| &refits[from..])?;
    let is_still = tail.iter().all(|(_, changed)| changed.is_some_and(|share| share < STILL));
    let wide = wide.filter(|share| share.high - share.low <= 2.0 * NARROW)?;
    is_still.then(|| {
        format!(
            "More labels will hardly change the model: the last {STILL_REFITS} refits changed less \
             than 1 % of the predictions, and {:.0} % of the last {} guesses were right ({:.0} to \
             {:.0} %).",
            100.0 * wide.value(),
            wide.of,
            100.0 * wide.low,
            100.0 * wide.high
        )
    })
}

/// Cohen's κ of every two people who labelled the same samples.
#[must_use]
pub fn agreement(state: &State) -> Vec<Agreement> {
    let mut pairs: BTreeMap<(String, String), Vec<(String, String)>> = BTreeMap::new();
    for sample in state.answered() {
        let labels: Vec<(&str, &str)> = state
            .by_person(sample)
            .into_iter()
            .filter_map(|(person, answer)| match &answer.verdict {
                // Who settles a conflict has seen what the others say.
                Verdict::Label(label) if !answer.settles => Some((person, label.as_str())),
                _ => None,
            })
            .collect();
        for (at, (one, first)) in labels.iter().enumerate() {
            for (other, second) in &labels[at + 1..] {
                let pair = ((*one).to_owned(), (*other).to_owned());
                pairs.entry(pair).or_default().push(((*first).to_owned(), (*second).to_owned()));
            }
        }
    }
    let measured = |((one, other), labels): (_, Vec<(String, String)>)| Agreement {
        one,
        other,
        samples: labels.len(),
        kappa: kappa(&labels),
    };
    pairs.into_iter().map(measured).collect()
}

/// Cohen's κ $=(p_o-p_e)/(1-p_e)$ of pairs of labels, $p_o$ the share that agrees and $p_e$ what two
/// people would agree on who only kept to their own shares of the classes.
#[must_use]
pub fn kappa(pairs: &[(String, String)]) -> f64 {
    let n = pairs.len().max(1) as f64;
    let same = pairs.iter().filter(|(a, b)| a == b).count() as f64 / n;
    let mut shares: BTreeMap<&str, [f64; 2]> = BTreeMap::new();
    for (one, other) in pairs {
        shares.entry(one).or_default()[0] += 1.0 / n;
        shares.entry(other).or_default()[1] += 1.0 / n;
    }
    let chance: f64 = shares.values().map(|[a, b]| a * b).sum();
    if chance < 1.0 { (same - chance) / (1.0 - chance) } else { 1.0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn intervals_are_wilsons() {
        // From the tables of R: prop.test(45, 50, correct = FALSE).
        let share = Share::new(45, 50);
        assert!(
            (share.low - 0.7864).abs() < 5e-4 && (share.high - 0.9565).abs() < 5e-4,
            "{share:?}"
        );
        let full = Share::new(50, 50);
        assert!(full.high > 0.9999 && (full.low - 0.9287).abs() < 5e-4, "{full:?}");
        assert_eq!(Share::new(0, 0).high, 1.0);
    }

    #[test]
    fn kappa_is_that_of_the_textbook() {
        // Cohen's example of two raters: 20 + 15 agree, 5 and 10 do not.
        let mut pairs = Vec::new();
        for (a, b, count) in [("y", "y", 20), ("y", "n", 5), ("n", "y", 10), ("n", "n", 15)] {
            pairs.extend(std::iter::repeat_n((a.to_owned(), b.to_owned()), count));
        }
        assert!((kappa(&pairs) - 0.4).abs() < 1e-12, "{}", kappa(&pairs));
        assert_eq!(kappa(&[("y".into(), "y".into())]), 1.0);
    }

    #[test]
    fn advice_waits_for_still_refits_and_a_narrow_interval() {
        let still =
            vec![(10, None), (20, Some(0.2)), (30, Some(0.0)), (40, Some(0.0)), (50, Some(0.009))];
        let sure = Some(Share::new(198, 200));
        assert!(advice(&still, sure).expect("given").contains("99 %"));
        assert!(advice(&still[..4], sure).is_none());
        assert!(advice(&still, Some(Share::new(50, 50))).is_none());
        assert!(advice(&still, Some(Share::new(150, 200))).is_none());
        assert!(advice(&still, None).is_none());
    }
}
