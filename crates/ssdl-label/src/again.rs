//! Labels that may be wrong: people disagree, samples are alike, the model doubts.

use std::collections::HashSet;

use serde::Serialize;

use crate::entry::{Answer, Verdict};
use crate::session::Session;

/// A model with at least this probability is sure.
const SURE: f64 = 0.9;
/// Labels with less than this probability while they were hidden are doubtful.
const DOUBTFUL: f64 = 0.2;
/// Samples to look at again that are listed.
const MOST_AGAIN: usize = 60;

/// A sample whose label may be wrong.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Again {
    /// The sample.
    pub sample: usize,
    /// Its label.
    pub label: Option<String>,
    /// The label that it may have instead.
    pub rather: Option<String>,
    /// The reason, in a sentence.
    pub reason: String,
    /// A sample to look at beside it.
    pub beside: Option<usize>,
}

impl Session {
    /// Labels that may be wrong, the most doubtful first; what somebody has confirmed is left out.
    pub fn again(&self) -> Vec<Again> {
        let mut listed = HashSet::new();
        let mut found = Vec::new();
        let mut add = |again: Again| {
            if !self.is_confirmed(again.sample) && listed.insert(again.sample) {
                found.push(again);
            }
        };
        self.disputes().into_iter().for_each(&mut add);
        self.twins().into_iter().for_each(&mut add);
        self.doubtful().into_iter().for_each(&mut add);
        self.contradicted().into_iter().for_each(&mut add);
        found.truncate(MOST_AGAIN);
        found
    }

    fn is_confirmed(&self, sample: usize) -> bool {
        self.state.by_person(sample).values().any(|answer| answer.settles)
    }

    fn entry(&self, sample: usize, rather: Option<&str>, reason: String) -> Again {
        let label = self.state.label(sample).map(str::to_owned);
        let rather = rather.map(str::to_owned).filter(|rather| Some(rather) != label.as_ref());
        Again { sample, label, rather, reason, beside: None }
    }

    fn disputes(&self) -> Vec<Again> {
        let disputed = self.state.answered().into_iter().filter(|&s| self.state.is_disputed(s));
        disputed
            .map(|sample| {
                let said = self.state.by_person(sample).into_iter().map(|(person, answer)| {
                    let word = match &answer.verdict {
                        Verdict::Label(label) => label.as_str(),
                        Verdict::Unusable => "unusable",
                        Verdict::Skipped => "skipped",
                    };
                    format!("{person}: {word}")
                });
                let said: Vec<String> = said.collect();
                let rather = self.state.by_person(sample).into_values().find_map(|answer| {
                    match &answer.verdict {
                        Verdict::Label(label)
                            if Some(label.as_str()) != self.state.label(sample) =>
                        {
                            Some(label.clone())
                        }
                        _ => None,
                    }
                });
                let reason = format!("People disagree: {}.", said.join(", "));
                self.entry(sample, rather.as_deref(), reason)
            })
            .collect()
    }

    fn twins(&self) -> Vec<Again> {
        let pairs = self.snapshot.twins.iter().flat_map(|&(a, b)| [(a, b), (b, a)]);
        pairs
            .filter_map(|(sample, twin)| {
                let (own, other) = (self.state.label(sample)?, self.state.label(twin)?);
                (own != other).then(|| {
                    let reason =
                        format!("It is as good as the same as another sample, labelled {other}.");
                    Again { beside: Some(twin), ..self.entry(sample, Some(other), reason) }
                })
            })
            .collect()
    }

    fn doubtful(&self) -> Vec<Again> {
        let mut doubtful: Vec<&(usize, f64, String)> = self
            .snapshot
            .held_out
            .iter()
            .filter(|(sample, probability, predicted)| {
                let label = self.state.label(*sample);
                *probability < DOUBTFUL && label.is_some() && label != Some(predicted)
            })
            .collect();
        doubtful.sort_by(|a, b| a.1.total_cmp(&b.1).then(a.0.cmp(&b.0)));
        doubtful
            .into_iter()
            .map(|(sample, probability, predicted)| {
                let reason = format!(
                    "While its label was hidden, the model gave it a probability of {:.0} %.",
                    100.0 * probability
                );
                self.entry(*sample, Some(predicted), reason)
            })
            .collect()
    }

    fn contradicted(&self) -> Vec<Again> {
        let mut found: Vec<(f64, Again)> = Vec::new();
        for (_, answer) in self.state.counted() {
            let Answer { sample, verdict: Verdict::Label(label), .. } = answer else { continue };
            let (Some(guess), Some(probability)) = (&answer.guess, answer.probability) else {
                continue;
            };
            if guess != label && probability >= SURE && self.state.label(*sample) == Some(label) {
                let percent = 100.0 * probability;
                let reason = format!("The model was sure of something else ({percent:.0} %).");
                found.push((probability, self.entry(*sample, Some(guess), reason)));
            }
        }
        found.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.sample.cmp(&b.1.sample)));
        found.into_iter().map(|(_, again)| again).collect()
    }
}
