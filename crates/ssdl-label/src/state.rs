//! What follows from the entries of a journal: who said what, and what of it counts.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

use crate::entry::{Act, Answer, Entry, Verdict};

/// Answers given at once, and whether they count.
#[derive(Clone, Debug)]
pub struct Given {
    /// The id of their entry.
    pub id: String,
    /// Who gave them.
    pub person: String,
    /// The answers.
    pub answers: Vec<Answer>,
    /// Whether they count, or were undone.
    pub counts: bool,
}

/// What the journal says now.
#[derive(Debug, Default)]
pub struct State {
    classes: Vec<String>,
    given: Vec<Given>,
    places: HashMap<String, usize>,
    ids: HashSet<String>,
    /// For each sample, where it was answered.
    of_sample: HashMap<usize, Vec<usize>>,
    /// What each person may undo and redo, the next one last.
    undo: HashMap<String, Vec<usize>>,
    redo: HashMap<String, Vec<usize>>,
    changes: usize,
}

impl State {
    /// Replays entries.
    #[must_use]
    pub fn replay(entries: &[Entry]) -> Self {
        let mut state = Self::default();
        entries.iter().for_each(|entry| state.apply(entry));
        state
    }

    /// Takes one more entry into account; one with a known id is ignored.
    pub fn apply(&mut self, entry: &Entry) {
        if !self.ids.insert(entry.id.clone()) {
            return;
        }
        match &entry.act {
            Act::Begin { .. } => {}
            Act::Class { name } => self.add_class(name),
            Act::Answer { answers } => self.take(entry, answers),
            Act::Undo { undoes } => self.set(undoes, &entry.person, false),
            Act::Redo { redoes } => self.set(redoes, &entry.person, true),
        }
    }

    fn take(&mut self, entry: &Entry, answers: &[Answer]) {
        let place = self.given.len();
        for answer in answers {
            self.of_sample.entry(answer.sample).or_default().push(place);
            if let Verdict::Label(label) = &answer.verdict {
                self.add_class(label);
            }
        }
        self.changes += answers.len();
        self.places.insert(entry.id.clone(), place);
        self.undo.entry(entry.person.clone()).or_default().push(place);
        self.redo.remove(&entry.person);
        self.given.push(Given {
            id: entry.id.clone(),
            person: entry.person.clone(),
            answers: answers.to_vec(),
            counts: true,
        });
    }

    fn set(&mut self, id: &str, person: &str, counts: bool) {
        let Some(&place) = self.places.get(id) else { return };
        self.given[place].counts = counts;
        self.changes += self.given[place].answers.len();
        let [from, to] = match counts {
            true => [&mut self.redo, &mut self.undo],
            false => [&mut self.undo, &mut self.redo],
        };
        from.entry(person.to_owned()).or_default().retain(|&other| other != place);
        to.entry(person.to_owned()).or_default().push(place);
    }

    fn add_class(&mut self, name: &str) {
        if !self.classes.iter().any(|known| known == name) {
            self.classes.push(name.to_owned());
        }
    }

    /// The classes, in the order in which they were named.
    #[must_use]
    pub fn classes(&self) -> &[String] {
        &self.classes
    }

    /// Whether an entry of this id is in the journal.
    #[must_use]
    pub fn knows(&self, id: &str) -> bool {
        self.ids.contains(id)
    }

    /// Everything that was answered, in order, undone or not.
    #[must_use]
    pub fn given(&self) -> &[Given] {
        &self.given
    }

    /// Counts every change of an answer.
    #[must_use]
    pub fn changes(&self) -> usize {
        self.changes
    }

    /// The answers that a person's next undo takes back.
    #[must_use]
    pub fn next_undo(&self, person: &str) -> Option<&Given> {
        self.undo.get(person)?.last().map(|&place| &self.given[place])
    }

    /// The answers that a person's next redo brings back.
    #[must_use]
    pub fn next_redo(&self, person: &str) -> Option<&Given> {
        self.redo.get(person)?.last().map(|&place| &self.given[place])
    }

    /// What each person says about a sample: the last answer that counts.
    #[must_use]
    pub fn by_person(&self, sample: usize) -> BTreeMap<&str, &Answer> {
        let mut found = BTreeMap::new();
        for (person, answer) in self.counting(sample) {
            found.insert(person, answer);
        }
        found
    }

    /// The answers for a sample that count, in order.
    fn counting(&self, sample: usize) -> impl Iterator<Item = (&str, &Answer)> {
        let places = self.of_sample.get(&sample).map_or(&[][..], Vec::as_slice);
        places.iter().map(|&place| &self.given[place]).filter(|given| given.counts).filter_map(
            move |given| {
                let answer = given.answers.iter().rfind(|answer| answer.sample == sample)?;
                Some((given.person.as_str(), answer))
            },
        )
    }

    /// What counts for a sample: the last answer, where one that settles a conflict stands above
    /// those of others, and any answer above a skip.
    #[must_use]
    pub fn verdict(&self, sample: usize) -> Option<&Verdict> {
        let mut best: Option<&Answer> = None;
        for answer in self.by_person_in_order(sample) {
            let rank = |answer: &Answer| (answer.settles, answer.verdict != Verdict::Skipped);
            if best.is_none_or(|old| rank(answer) >= rank(old)) {
                best = Some(answer);
            }
        }
        best.map(|answer| &answer.verdict)
    }

    /// The last answer of each person, in the order in which they were given.
    fn by_person_in_order(&self, sample: usize) -> Vec<&Answer> {
        let mut last: Vec<(&str, &Answer)> = Vec::new();
        for (person, answer) in self.counting(sample) {
            last.retain(|(other, _)| *other != person);
            last.push((person, answer));
        }
        last.into_iter().map(|(_, answer)| answer).collect()
    }

    /// The label of a sample.
    #[must_use]
    pub fn label(&self, sample: usize) -> Option<&str> {
        match self.verdict(sample)? {
            Verdict::Label(label) => Some(label),
            Verdict::Unusable | Verdict::Skipped => None,
        }
    }

    /// Whether a sample is marked unusable.
    #[must_use]
    pub fn is_unusable(&self, sample: usize) -> bool {
        self.verdict(sample) == Some(&Verdict::Unusable)
    }

    /// Whether people give a sample different answers, and nobody has settled it.
    #[must_use]
    pub fn is_disputed(&self, sample: usize) -> bool {
        let answers = self.by_person_in_order(sample);
        let verdicts: BTreeSet<Option<&str>> = answers
            .iter()
            .filter(|answer| answer.verdict != Verdict::Skipped)
            .map(|answer| match &answer.verdict {
                Verdict::Label(label) => Some(label.as_str()),
                _ => None,
            })
            .collect();
        verdicts.len() > 1 && !answers.iter().any(|answer| answer.settles)
    }

    /// Samples that have ever been answered, in order.
    #[must_use]
    pub fn answered(&self) -> Vec<usize> {
        let mut samples: Vec<usize> = self.of_sample.keys().copied().collect();
        samples.sort_unstable();
        samples
    }

    /// The labels of the first `n_samples` samples.
    #[must_use]
    pub fn labels(&self, n_samples: usize) -> Vec<Option<String>> {
        (0..n_samples).map(|sample| self.label(sample).map(str::to_owned)).collect()
    }

    /// Answers that count, with who gave them, the oldest first.
    pub fn counted(&self) -> impl DoubleEndedIterator<Item = (&Given, &Answer)> {
        self.given
            .iter()
            .filter(|given| given.counts)
            .flat_map(|given| given.answers.iter().map(move |answer| (given, answer)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn answer(sample: usize, label: &str) -> Answer {
        Answer {
            sample,
            name: None,
            hash: String::new(),
            verdict: match label {
                "" => Verdict::Skipped,
                "x" => Verdict::Unusable,
                label => Verdict::Label(label.into()),
            },
            guess: None,
            probability: None,
            seen: false,
            random: false,
            settles: false,
            seconds: None,
        }
    }

    fn entry(id: usize, person: &str, act: Act) -> Entry {
        Entry { id: id.to_string(), time: String::new(), person: person.into(), act }
    }

    fn says(id: usize, person: &str, sample: usize, label: &str) -> Entry {
        entry(id, person, Act::Answer { answers: vec![answer(sample, label)] })
    }

    #[test]
    fn the_last_answer_counts_and_an_undo_brings_the_one_before_back() {
        let mut state = State::replay(&[says(1, "a", 7, "cat"), says(2, "a", 7, "dog")]);
        assert_eq!(
            (state.label(7), state.classes()),
            (Some("dog"), &["cat".into(), "dog".into()][..])
        );
        state.apply(&entry(3, "a", Act::Undo { undoes: "2".into() }));
        assert_eq!(state.label(7), Some("cat"));
        assert_eq!(state.next_redo("a").map(|given| given.id.as_str()), Some("2"));
        state.apply(&entry(4, "a", Act::Redo { redoes: "2".into() }));
        assert_eq!(state.label(7), Some("dog"));
        // The same id again changes nothing.
        state.apply(&says(2, "a", 7, "cow"));
        assert_eq!(state.label(7), Some("dog"));
    }

    #[test]
    fn a_grid_is_taken_back_as_a_whole() {
        let answers = (0..30).map(|sample| answer(sample, "cat")).collect();
        let mut state = State::replay(&[entry(1, "a", Act::Answer { answers })]);
        assert_eq!(state.labels(40).iter().flatten().count(), 30);
        state.apply(&entry(2, "a", Act::Undo { undoes: "1".into() }));
        assert_eq!(state.labels(40).iter().flatten().count(), 0);
        assert!(state.next_undo("a").is_none());
    }

    #[test]
    fn people_disagree_until_one_settles_it() {
        let mut state = State::replay(&[says(1, "a", 0, "cat"), says(2, "b", 0, "dog")]);
        assert!(state.is_disputed(0));
        assert_eq!(state.label(0), Some("dog"));
        let settled = Answer { settles: true, ..answer(0, "cat") };
        state.apply(&entry(3, "a", Act::Answer { answers: vec![settled] }));
        assert!(!state.is_disputed(0));
        state.apply(&says(4, "b", 0, "dog"));
        assert_eq!(state.label(0), Some("cat"));
        let skipped = State::replay(&[says(1, "a", 0, "cat"), says(2, "b", 0, "")]);
        assert_eq!((skipped.is_disputed(0), skipped.label(0)), (false, Some("cat")));
        let spoilt = State::replay(&[says(1, "a", 0, "x")]);
        assert_eq!((spoilt.verdict(0), spoilt.label(0)), (Some(&Verdict::Unusable), None));
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]

        /// Undoing everything and redoing everything is as if neither had been done.
        #[test]
        fn undo_and_redo_have_no_limit(picks in prop::collection::vec((0usize..6, 0usize..3), 1..40)) {
            let names = ["cat", "dog", "x"];
            let mut state = State::default();
            for (id, (sample, label)) in picks.iter().enumerate() {
                state.apply(&says(id, "a", *sample, names[*label]));
            }
            let before = state.labels(6);
            let mut id = 1000;
            while let Some(next) = state.next_undo("a").map(|given| given.id.clone()) {
                state.apply(&entry(id, "a", Act::Undo { undoes: next }));
                id += 1;
            }
            prop_assert!(state.labels(6).iter().all(Option::is_none));
            while let Some(next) = state.next_redo("a").map(|given| given.id.clone()) {
                state.apply(&entry(id, "a", Act::Redo { redoes: next }));
                id += 1;
            }
            prop_assert_eq!(state.labels(6), before);
        }
    }
}
