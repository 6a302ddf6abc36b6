//! How a journal is opened: its samples are found again, and are what they were.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use crate::entry::{Act, Answer, Entry, VERSION, Verdict, now};
use crate::journal::{self, Journal};
use crate::leave;
use crate::material::Material;
use crate::state::State;
use crate::{Error, Result};

/// Names in an error; more are counted.
const MOST_NAMES: usize = 5;

/// Who gave labels that were there before anybody labelled.
const GIVEN: &str = "given";

/// The journal of these labels: `labels.journal.jsonl` beside `labels.csv`.
#[must_use]
pub fn journal_beside(labels: &Path) -> PathBuf {
    leave::beside(labels, ".journal.jsonl")
}

/// Samples by number and name, and what they contain.
pub(crate) struct Samples<'a> {
    pub count: usize,
    pub name: &'a dyn Fn(usize) -> Option<String>,
    pub hash: &'a dyn Fn(usize) -> Result<String>,
}

/// Opens a journal, or begins it with the labels that the samples have already.
pub(crate) fn open(
    path: &Path,
    material: &Material,
    labels: &Path,
    classes: &[String],
) -> Result<(Journal, State)> {
    let (mut journal, mut entries) = Journal::open(path)?;
    let name = |sample: usize| material.name(sample).map(str::to_owned);
    let hash = |sample: usize| material.hash(sample);
    let samples = Samples { count: material.len(), name: &name, hash: &hash };
    let mut fresh = Vec::new();
    let entry = |id: String, act: Act| Entry { id, time: now(), person: GIVEN.into(), act };
    if entries.is_empty() {
        let data = material.path.display().to_string();
        let act = Act::Begin { version: VERSION, data, samples: material.len() };
        fresh.push(entry("begin".into(), act));
        let answers = given_labels(material, labels)?;
        if !answers.is_empty() {
            fresh.push(entry("given".into(), Act::Answer { answers }));
        }
    } else {
        find_again(path, &mut entries, &samples)?;
    }
    let mut state = State::replay(&entries);
    fresh.iter().for_each(|entry| state.apply(entry));
    for name in classes {
        if !state.classes().contains(name) {
            fresh.push(entry(format!("class-{name}"), Act::Class { name: name.clone() }));
            fresh.iter().for_each(|entry| state.apply(entry));
        }
    }
    if !fresh.is_empty() {
        journal.append(&fresh)?;
    }
    Ok((journal, state))
}

/// Labels of the file, or else those that the data bring along.
fn given_labels(material: &Material, path: &Path) -> Result<Vec<Answer>> {
    let labels = match path.exists() {
        true => Some(ssdl_data::read_labels(path, &ssdl_data::ReadOptions::default())?),
        false => material.labels(),
    };
    let labels = labels.unwrap_or_default();
    if !labels.is_empty() && labels.len() != material.len() {
        return Err(Error::Refused(format!(
            "{}: {} labels for {} samples; give the labels of these samples, or a new file",
            path.display(),
            labels.len(),
            material.len()
        )));
    }
    let known = labels.into_iter().enumerate().filter_map(|(at, label)| Some((at, label?)));
    known
        .map(|(sample, label)| {
            Ok(Answer {
                sample,
                name: material.name(sample).map(str::to_owned),
                hash: material.hash(sample)?,
                verdict: Verdict::Label(label),
                guess: None,
                probability: None,
                seen: false,
                random: false,
                settles: false,
                seconds: None,
            })
        })
        .collect()
}

/// Gives answers the numbers that their samples have now, and refuses samples that have changed.
fn find_again(path: &Path, entries: &mut [Entry], samples: &Samples<'_>) -> Result<()> {
    let mut numbers: HashMap<String, usize> = HashMap::new();
    let is_named = (samples.name)(0).is_some();
    if is_named {
        numbers = (0..samples.count).filter_map(|at| Some(((samples.name)(at)?, at))).collect();
    }
    let mut hashes: HashMap<usize, String> = HashMap::new();
    let mut changed = Vec::new();
    for entry in entries {
        let Act::Answer { answers } = &mut entry.act else { continue };
        for answer in answers {
            let place = match &answer.name {
                Some(name) if is_named => numbers.get(name).copied(),
                _ => Some(answer.sample).filter(|&sample| sample < samples.count),
            };
            let shown =
                || answer.name.clone().unwrap_or_else(|| format!("sample {}", answer.sample));
            let Some(place) = place else {
                changed.push(shown() + " (missing)");
                continue;
            };
            let hash = match hashes.get(&place) {
                Some(hash) => hash,
                None => hashes.entry(place).or_insert((samples.hash)(place)?),
            };
            if *hash != answer.hash {
                changed.push(shown());
            }
            answer.sample = place;
        }
    }
    changed.dedup();
    if changed.is_empty() {
        return Ok(());
    }
    let more = changed.len().saturating_sub(MOST_NAMES);
    changed.truncate(MOST_NAMES);
    let rest = if more > 0 { format!(" and {more} more") } else { String::new() };
    Err(Error::Changed { path: path.to_owned(), names: changed.join(", ") + &rest })
}

/// What a journal says about samples.
#[derive(Clone, Debug, PartialEq)]
pub struct Labelled {
    /// The label of each sample.
    pub labels: Vec<Option<String>>,
    /// Whether each sample is unusable.
    pub unusable: Vec<bool>,
}

/// Reads the labels of `count` samples from a journal. `name` gives the name of a sample, if it has
/// one, and `hash` the digest of its content ([`digest_of_row`](crate::digest_of_row) or
/// [`digest_of_file`](crate::digest_of_file)).
///
/// # Errors
/// If the journal is damaged, or samples have changed since they were labelled.
pub fn labels_of_journal(
    path: &Path,
    count: usize,
    name: &dyn Fn(usize) -> Option<String>,
    hash: &dyn Fn(usize) -> Result<String>,
) -> Result<Labelled> {
    let mut entries = journal::read(path)?;
    find_again(path, &mut entries, &Samples { count, name, hash })?;
    let state = State::replay(&entries);
    let unusable = (0..count).map(|sample| state.is_unusable(sample)).collect();
    Ok(Labelled { labels: state.labels(count), unusable })
}
