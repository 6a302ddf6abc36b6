//! Who gets which sample next: leases, samples for two people, the order, and what to look at again.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;
use std::time::{Duration, Instant};

use serde::Serialize;

use crate::Result;
use crate::entry::{Act, Entry, Verdict, now};
use crate::journal::Journal;
use crate::learn::{self, ONE_AT_RANDOM, Snapshot};
use crate::measure::{self, Progress};
use crate::state::State;

/// How long a sample is kept for the person who has it.
const LEASE: Duration = Duration::from_secs(300);
/// Samples of a grid.
pub const GRID: usize = 30;

/// Why a sample is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Why {
    /// It represents many others, or its label would help most.
    Order,
    /// It was drawn at random.
    Random,
    /// Somebody else has labelled it, too.
    Shared,
    /// It was asked for.
    Asked,
}

/// What everybody shares; changed only under a lock.
pub struct Session {
    /// Everything that was answered.
    pub state: State,
    /// What the last fit found.
    pub snapshot: Arc<Snapshot>,
    /// Whether a fit is running.
    pub fitting: bool,
    /// What failed since the last fit that did not.
    pub failure: Option<String>,
    /// Which samples cannot be read.
    pub unreadable: Option<String>,
    /// For each refit: labels, and the share of predictions that changed.
    pub refits: Vec<(usize, Option<f64>)>,
    /// Counts everything that a page may want to hear of.
    pub version: u64,
    journal: Journal,
    n_samples: usize,
    n_people: usize,
    overlap: f64,
    seed: u64,
    leases: HashMap<usize, Vec<(String, Instant)>>,
    served: HashMap<String, usize>,
    draw: Vec<usize>,
}

impl Session {
    /// A session that goes on from a journal.
    pub fn new(
        journal: Journal,
        state: State,
        n_samples: usize,
        n_people: usize,
        overlap: f64,
        seed: u64,
    ) -> Self {
        let mut served = HashMap::new();
        for given in state.given() {
            *served.entry(given.person.clone()).or_default() += given.answers.len();
        }
        Self {
            state,
            snapshot: Arc::default(),
            fitting: false,
            failure: None,
            unreadable: None,
            refits: Vec::new(),
            version: 1,
            journal,
            n_samples,
            n_people,
            overlap,
            seed,
            leases: HashMap::new(),
            served,
            draw: learn::drawn(n_samples, seed),
        }
    }

    /// What people should know, if there is anything.
    pub fn note(&self) -> Option<String> {
        let notes = [&self.failure, &self.unreadable];
        notes.into_iter().flatten().cloned().reduce(|all, note| all + " " + &note)
    }

    /// All samples in a random order.
    pub fn draw(&self) -> &[usize] {
        &self.draw
    }

    /// Writes entries to the journal, and then takes them into account. What has a known id already
    /// is saved.
    ///
    /// # Errors
    /// If they cannot be written; then none of them counts.
    pub fn record(&mut self, person: &str, acts: Vec<(String, Act)>) -> Result<()> {
        let mut ids = HashSet::new();
        let mut entries = Vec::new();
        for (id, act) in acts {
            if !self.state.knows(&id) && ids.insert(id.clone()) {
                entries.push(Entry { id, time: now(), person: person.to_owned(), act });
            }
        }
        if entries.is_empty() {
            return Ok(());
        }
        self.journal.append(&entries)?;
        for entry in &entries {
            self.state.apply(entry);
            if let Act::Answer { answers } = &entry.act {
                answers.iter().for_each(|answer| self.release(answer.sample, person));
                *self.served.entry(person.to_owned()).or_default() += answers.len();
            }
        }
        self.version += 1;
        Ok(())
    }

    /// Lets go of the journal.
    pub fn close(&mut self) {
        self.journal.close();
    }

    /// Whether a sample is for two people.
    fn is_shared(&self, sample: usize) -> bool {
        let mut mixed = (sample as u64 ^ self.seed).wrapping_add(0x9e37_79b9_7f4a_7c15);
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        let share = (mixed >> 11) as f64 / (1_u64 << 53) as f64;
        self.n_people > 1 && share < self.overlap
    }

    fn release(&mut self, sample: usize, person: &str) {
        if let Some(held) = self.leases.get_mut(&sample) {
            held.retain(|(other, _)| other != person);
        }
    }

    fn lease(&mut self, sample: usize, person: &str, at: Instant) {
        self.release(sample, person);
        self.leases.entry(sample).or_default().push((person.to_owned(), at + LEASE));
    }

    /// Whether a person may be given a sample.
    fn is_free(&self, sample: usize, person: &str, at: Instant) -> bool {
        let others = self.leases.get(&sample).map_or(0, |held| {
            held.iter().filter(|(other, until)| other != person && *until > at).count()
        });
        let mut answered = 0;
        for (other, answer) in self.state.by_person(sample) {
            match answer.verdict {
                _ if other == person => return false,
                Verdict::Unusable => return false,
                Verdict::Label(_) => answered += 1,
                Verdict::Skipped => {}
            }
        }
        others + answered < if self.is_shared(sample) { 2 } else { 1 }
    }

    /// The next samples for a person who has these already; what else the person held is free again.
    pub fn next(
        &mut self,
        person: &str,
        have: &[usize],
        count: usize,
        at: Instant,
    ) -> Vec<(usize, Why)> {
        for held in self.leases.values_mut() {
            held.retain(|(other, until)| other != person && *until > at);
        }
        self.leases.retain(|_, held| !held.is_empty());
        for &sample in have {
            self.lease(sample, person, at);
        }
        let mut taken: HashSet<usize> = have.iter().copied().collect();
        let mut picked = Vec::new();
        while picked.len() < count {
            let served =
                self.served.get(person).copied().unwrap_or(0) + have.len() + picked.len() + 1;
            let Some((sample, why)) = self.pick(person, served, &taken, at) else { break };
            self.lease(sample, person, at);
            taken.insert(sample);
            picked.push((sample, why));
        }
        picked
    }

    fn pick(
        &self,
        person: &str,
        served: usize,
        taken: &HashSet<usize>,
        at: Instant,
    ) -> Option<(usize, Why)> {
        let is_free = |sample: &usize| !taken.contains(sample) && self.is_free(*sample, person, at);
        // In between, what others have answered: in the share in which samples are for two.
        let every = (1.0 / self.overlap.clamp(0.01, 1.0)).round().max(2.0) as usize;
        if self.overlap > 0.0 && self.n_people > 1 && served.is_multiple_of(every) {
            let answered = self.state.answered();
            let mut shared = answered.iter().copied().filter(|&sample| self.is_shared(sample));
            if let Some(sample) = shared.find(is_free) {
                return Some((sample, Why::Shared));
            }
        }
        // Random ones come from the samples that the model knows: only those have a guess.
        let pool = &self.snapshot.place;
        let mut drawn =
            self.draw.iter().copied().filter(|s| pool.is_empty() || pool.contains_key(s));
        if served.is_multiple_of(ONE_AT_RANDOM)
            && let Some(sample) = drawn.find(is_free)
        {
            return Some((sample, Why::Random));
        }
        if let Some(sample) = self.snapshot.order.iter().copied().find(is_free) {
            return Some((sample, Why::Order));
        }
        if let Some(sample) =
            drawn.find(is_free).or_else(|| self.draw.iter().copied().find(is_free))
        {
            return Some((sample, Why::Random));
        }
        // Nothing else is left: what this person skipped, unless it was answered since.
        let is_open = |sample: &usize| {
            !taken.contains(sample) && matches!(self.state.verdict(*sample), Some(Verdict::Skipped))
        };
        self.draw.iter().copied().find(is_open).map(|sample| (sample, Why::Asked))
    }

    /// Samples that the model puts into a class, the surest first.
    pub fn grid(&mut self, person: &str, class: &str, at: Instant) -> Vec<usize> {
        let snapshot = Arc::clone(&self.snapshot);
        let mut found: Vec<(f64, usize)> = snapshot
            .pool
            .iter()
            .zip(&snapshot.guesses)
            .filter(|(sample, (guess, _))| guess == class && self.is_free(**sample, person, at))
            .map(|(&sample, (_, probability))| (*probability, sample))
            .collect();
        found.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
        found.truncate(GRID);
        for &(_, sample) in &found {
            self.lease(sample, person, at);
        }
        found.into_iter().map(|(_, sample)| sample).collect()
    }

    /// How labelling goes.
    pub fn progress(&self) -> Progress {
        measure::progress(&self.state, self.n_samples, &self.refits)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::entry::Answer;

    fn session(n_people: usize, overlap: f64) -> (tempfile::TempDir, Session) {
        let folder = tempfile::tempdir().expect("a folder");
        let (journal, _) = Journal::open(&folder.path().join("a.jsonl")).expect("begun");
        (folder, Session::new(journal, State::default(), 200, n_people, overlap, 0))
    }

    fn label(session: &mut Session, person: &str, id: usize, sample: usize, label: &str) {
        let answer = Answer {
            sample,
            name: None,
            hash: String::new(),
            verdict: Verdict::Label(label.into()),
            guess: None,
            probability: None,
            seen: false,
            random: false,
            settles: false,
            seconds: None,
        };
        let act = Act::Answer { answers: vec![answer] };
        session.record(person, vec![(format!("{person}{id}"), act)]).expect("recorded");
    }

    #[test]
    fn two_people_do_not_get_the_same_sample_until_a_lease_ends() {
        let (_folder, mut session) = session(2, 0.0);
        let at = Instant::now();
        let samples = |picked: Vec<(usize, Why)>| -> HashSet<usize> {
            picked.into_iter().map(|(sample, _)| sample).collect()
        };
        let ada = samples(session.next("ada", &[], 10, at));
        let ben = samples(session.next("ben", &[], 10, at));
        assert_eq!((ada.len(), ben.len()), (10, 10));
        assert!(ada.is_disjoint(&ben));
        // What the person does not hold any more is free for others.
        let held: Vec<usize> = ada.iter().copied().take(3).collect();
        session.next("ada", &held, 0, at);
        let more = samples(session.next("ben", &ben.iter().copied().collect::<Vec<_>>(), 180, at));
        assert!(held.iter().all(|sample| !more.contains(sample)));
        assert!(ada.iter().filter(|sample| more.contains(sample)).count() >= 6);
        let later = at + LEASE + Duration::from_secs(1);
        assert_eq!(session.next("eve", &[], 200, later).len(), 200);
    }

    #[test]
    fn one_in_ten_is_drawn_at_random_and_each_comes_once() {
        let (_folder, mut session) = session(1, 0.0);
        let order = (0..200).rev().collect();
        session.snapshot = Arc::new(Snapshot { order, ..Snapshot::default() });
        let at = Instant::now();
        let mut seen = HashSet::new();
        let mut random = 0;
        for id in 0..100 {
            let (sample, why) = session.next("me", &[], 1, at)[0];
            assert!(seen.insert(sample));
            random += usize::from(why == Why::Random);
            label(&mut session, "me", id, sample, "a");
        }
        assert_eq!(random, 10);
    }

    #[test]
    fn a_share_of_the_samples_goes_to_two_people() {
        let (_folder, mut session) = session(2, 0.25);
        let at = Instant::now();
        let mut id = 0;
        for _ in 0..200 {
            for person in ["ada", "ben"] {
                if let Some(&(sample, _)) = session.next(person, &[], 1, at).first() {
                    id += 1;
                    label(&mut session, person, id, sample, "a");
                }
            }
        }
        let twice = (0..200).filter(|&s| session.state.by_person(s).len() == 2).count();
        assert!((30..=70).contains(&twice), "{twice}");
        assert_eq!(session.state.answered().len(), 200);
        assert_eq!(session.progress().agreement[0].kappa, 1.0);
    }

    #[test]
    fn disputes_and_sure_contradictions_are_shown_again_until_confirmed() {
        let (_folder, mut session) = session(2, 1.0);
        label(&mut session, "ada", 1, 5, "cat");
        label(&mut session, "ben", 1, 5, "dog");
        let again = session.again();
        assert_eq!(again.len(), 1);
        assert!(again[0].reason.contains("ada: cat, ben: dog"));
        assert_eq!(
            (again[0].label.as_deref(), again[0].rather.as_deref()),
            (Some("dog"), Some("cat"))
        );
        let act = |settles| {
            let answer = Answer {
                sample: 5,
                name: None,
                hash: String::new(),
                verdict: Verdict::Label("cat".into()),
                guess: Some("dog".into()),
                probability: Some(0.99),
                seen: false,
                random: false,
                settles,
                seconds: None,
            };
            Act::Answer { answers: vec![answer] }
        };
        session.record("ben", vec![("x".into(), act(false))]).expect("recorded");
        assert!(session.again()[0].reason.contains("sure of something else"));
        session.record("ben", vec![("y".into(), act(true))]).expect("recorded");
        assert_eq!(session.again(), []);
    }
}
