//! What a page says: checked, written to the journal, and only then acknowledged.

use serde::Deserialize;
use serde_json::json;

use crate::Result;
use crate::entry::{Act, Answer, Verdict};
use crate::http::{Request, Response};
use crate::routes::{Wanted, next_items, parsed, refuse};
use crate::server::Shared;

/// Maximum number of entries in one request, and of answers in one entry.
const MOST_ENTRIES: usize = 200;
const MOST_ANSWERS: usize = 100;
/// Maximum number of letters of a class.
const MOST_LETTERS: usize = 200;

#[derive(Deserialize)]
struct Said {
    entries: Vec<SaidEntry>,
    #[serde(flatten)]
    wanted: Wanted,
}

#[derive(Deserialize)]
struct SaidEntry {
    id: String,
    #[serde(flatten)]
    act: SaidAct,
}

#[derive(Deserialize)]
#[serde(tag = "act", rename_all = "kebab-case")]
enum SaidAct {
    Answer { answers: Vec<SaidAnswer> },
    Undo,
    Redo,
    Class { name: String },
}

#[derive(Deserialize)]
struct SaidAnswer {
    sample: usize,
    verdict: Verdict,
    guess: Option<String>,
    probability: Option<f64>,
    #[serde(default)]
    seen: bool,
    #[serde(default)]
    random: bool,
    #[serde(default)]
    settles: bool,
    seconds: Option<f64>,
}

/// Why a text cannot name a class.
pub(crate) fn refused_class(name: &str) -> Option<&'static str> {
    if name.trim().is_empty() || name.trim() != name {
        return Some("a class needs a name, without spaces around it");
    }
    if name.chars().count() > MOST_LETTERS || name.chars().any(char::is_control) {
        return Some("the name of a class has at most 200 letters, on one line");
    }
    let is_marker = name == "NA"
        || name.eq_ignore_ascii_case("nan")
        || name.parse::<f64>().is_ok_and(|number| number == -1.0);
    is_marker.then_some("in files of labels this means \u{201c}unlabelled\u{201d}")
}

/// Checks what was said; looks into files, so that nobody else waits meanwhile.
fn checked(shared: &Shared, said: SaidAnswer) -> Result<Answer> {
    if said.sample >= shared.material.len() {
        return refuse("there is no such sample");
    }
    let words = said.guess.iter().chain(match &said.verdict {
        Verdict::Label(label) => Some(label),
        _ => None,
    });
    for word in words {
        if let Some(reason) = refused_class(word) {
            return refuse(reason);
        }
    }
    Ok(Answer {
        sample: said.sample,
        name: shared.material.name(said.sample).map(str::to_owned),
        hash: shared.material.hash(said.sample)?,
        verdict: said.verdict,
        guess: said.guess,
        probability: said.probability.filter(|share| (0.0..=1.0).contains(share)),
        seen: said.seen,
        random: said.random,
        settles: said.settles,
        seconds: said
            .seconds
            .filter(|s| s.is_finite())
            .map(|s| (10.0 * s.clamp(0.0, 3600.0)).round() / 10.0),
    })
}

pub(crate) fn answer(shared: &Shared, person: &str, request: &Request) -> Result<Response> {
    let said: Said = parsed(request)?;
    if said.entries.len() > MOST_ENTRIES {
        return refuse("too many entries at once");
    }
    let mut steps = Vec::new();
    let mut ids = Vec::new();
    for SaidEntry { id, act } in said.entries {
        if id.is_empty()
            || id.len() > 64
            || !id.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'-')
        {
            return refuse("an id has 1 to 64 letters, digits and dashes");
        }
        ids.push(id.clone());
        steps.push((id, checked_act(shared, act)?));
    }
    let mut session = shared.lock();
    let mut undid = Vec::new();
    let mut waiting = Vec::new();
    for (id, step) in steps {
        let takes_back = match step {
            Step::Done(act) => {
                waiting.push((id, act));
                continue;
            }
            Step::Undo => true,
            Step::Redo => false,
        };
        session.record(person, std::mem::take(&mut waiting))?;
        // Sent again, it is saved already.
        if session.state.knows(&id) {
            continue;
        }
        let given = match takes_back {
            true => session.state.next_undo(person),
            false => session.state.next_redo(person),
        };
        let Some(given) = given else { continue };
        let samples: Vec<usize> = given.answers.iter().map(|answer| answer.sample).collect();
        let of = given.id.clone();
        undid.push(json!({ "id": id, "samples": samples }));
        let act = if takes_back { Act::Undo { undoes: of } } else { Act::Redo { redoes: of } };
        session.record(person, vec![(id, act)])?;
    }
    session.record(person, waiting)?;
    let next = next_items(shared, &mut session, person, &said.wanted)?;
    let response = json!({
        "saved": ids,
        "undid": undid,
        "next": next,
        "refit": session.snapshot.number,
        "undo": session.state.next_undo(person).is_some(),
        "redo": session.state.next_redo(person).is_some(),
        "labelled": session.progress().labelled,
    });
    drop(session);
    shared.changed.notify_all();
    Ok(Response::json(&response))
}

/// What an entry does, once it is checked.
enum Step {
    Done(Act),
    Undo,
    Redo,
}

fn checked_act(shared: &Shared, act: SaidAct) -> Result<Step> {
    Ok(match act {
        SaidAct::Undo => Step::Undo,
        SaidAct::Redo => Step::Redo,
        SaidAct::Class { name } => match refused_class(&name) {
            Some(reason) => return refuse(reason),
            None => Step::Done(Act::Class { name }),
        },
        SaidAct::Answer { answers } if answers.is_empty() || answers.len() > MOST_ANSWERS => {
            return refuse("an entry has 1 to 100 answers");
        }
        SaidAct::Answer { answers } => {
            let answers: Result<Vec<Answer>> =
                answers.into_iter().map(|said| checked(shared, said)).collect();
            Step::Done(Act::Answer { answers: answers? })
        }
    })
}
