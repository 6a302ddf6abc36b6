//! What stands in a journal: one entry for each line.

use std::time::{SystemTime, UNIX_EPOCH};

use serde::{Deserialize, Serialize};

/// The version of the journal that this program writes.
pub const VERSION: u32 = 1;

/// One line of the journal.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Entry {
    /// Chosen by who sends it: sent twice, it counts once.
    pub id: String,
    /// When it was written, in universal time.
    pub time: String,
    /// Who did it.
    pub person: String,
    /// What was done.
    #[serde(flatten)]
    pub act: Act,
}

/// What was done.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "act", rename_all = "kebab-case")]
pub enum Act {
    /// The journal begins.
    Begin {
        /// Of the journal's form.
        version: u32,
        /// Where the samples come from.
        data: String,
        /// How many there are.
        samples: usize,
    },
    /// A class is named.
    Class {
        /// Its name.
        name: String,
    },
    /// Samples are answered: one, or a grid of them at once.
    Answer {
        /// The answers.
        answers: Vec<Answer>,
    },
    /// An earlier entry with answers no longer counts.
    Undo {
        /// Its id.
        undoes: String,
    },
    /// An entry that was undone counts again.
    Redo {
        /// Its id.
        redoes: String,
    },
}

/// What somebody says about a sample.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Verdict {
    /// It belongs to this class.
    Label(String),
    /// It is of no use: not a sample of any class.
    Unusable,
    /// Somebody else may know.
    Skipped,
}

/// The answer for one sample.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Answer {
    /// The sample, from 0.
    pub sample: usize,
    /// Its name, where samples have names.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// A digest of its content.
    pub hash: String,
    /// The answer itself.
    #[serde(flatten)]
    pub verdict: Verdict,
    /// The class that the model predicted before the answer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub guess: Option<String>,
    /// The probability of that class.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub probability: Option<f64>,
    /// Whether the person saw the guess before the answer.
    #[serde(default, skip_serializing_if = "is_false")]
    pub seen: bool,
    /// Whether the sample was drawn at random.
    #[serde(default, skip_serializing_if = "is_false")]
    pub random: bool,
    /// Whether the answer decides between people who disagree.
    #[serde(default, skip_serializing_if = "is_false")]
    pub settles: bool,
    /// Seconds that the answer took.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub seconds: Option<f64>,
}

fn is_false(value: &bool) -> bool {
    !value
}

/// The time now, such as `2026-03-01T12:30:05Z`.
#[must_use]
pub fn now() -> String {
    let seconds = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs());
    written(seconds)
}

/// Seconds since 1970 as a date and a time.
fn written(seconds: u64) -> String {
    let (days, rest) = (seconds / 86_400, seconds % 86_400);
    // Days from the first of March of the year 0, so that leap days come last.
    let shifted = days + 719_468;
    let (era, of_era) = (shifted / 146_097, shifted % 146_097);
    let year_of_era = (of_era - of_era / 1460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let shifted_month = (5 * of_year + 2) / 153;
    let day = of_year - (153 * shifted_month + 2) / 5 + 1;
    let month = if shifted_month < 10 { shifted_month + 3 } else { shifted_month - 9 };
    let year = year_of_era + 400 * era + u64::from(month <= 2);
    let (hour, minute, second) = (rest / 3600, rest / 60 % 60, rest % 60);
    format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}Z")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_written_as_dates() {
        assert_eq!(written(0), "1970-01-01T00:00:00Z");
        assert_eq!(written(951_827_696), "2000-02-29T12:34:56Z");
        assert_eq!(written(1_772_368_205), "2026-03-01T12:30:05Z");
        assert_eq!(written(4_107_542_399), "2100-02-28T23:59:59Z");
    }

    #[test]
    fn an_entry_is_one_plain_line() {
        let answer = Answer {
            sample: 3,
            name: None,
            hash: "ab".into(),
            verdict: Verdict::Label("new\nline".into()),
            guess: Some("cat".into()),
            probability: Some(0.5),
            seen: false,
            random: true,
            settles: false,
            seconds: Some(1.5),
        };
        let others = [Verdict::Unusable, Verdict::Skipped];
        let others = others.map(|verdict| Answer { verdict, ..answer.clone() });
        let entry = Entry {
            id: "1".into(),
            time: now(),
            person: "me".into(),
            act: Act::Answer { answers: [&[answer], &others[..]].concat() },
        };
        let line = serde_json::to_string(&entry).expect("written");
        assert!(!line.contains('\n') && line.contains(r#""label":"new\nline""#), "{line}");
        assert_eq!(serde_json::from_str::<Entry>(&line).expect("read"), entry);
    }
}
