//! What a page may ask for, and the answers.

use std::sync::{Arc, PoisonError};
use std::time::Instant;

use serde::Deserialize;
use serde_json::{Value, json};
use ssdl::Model;

use crate::entry::{Act, Answer, Verdict};
use crate::http::{Request, Response};
use crate::leave;
use crate::server::{Shared, shown};
use crate::session::{Session, Why};
use crate::{Error, Result};

/// Maximum number of entries in one request, and of answers in one entry.
const MOST_ENTRIES: usize = 200;
const MOST_ANSWERS: usize = 100;
/// Maximum number of letters of a class.
const MOST_LETTERS: usize = 200;
/// Maximum number of samples that a page holds.
const MOST_HELD: usize = 100;
/// Neighbours beside a sample.
const NEIGHBOURS: usize = 5;
/// Features of a row that are shown at once.
const FEATURES: usize = 12;
/// Answers that can be walked through.
const HISTORY: usize = 1000;

const PAGE: &str = include_str!("../page/page.html");
const STYLE: &str = include_str!("../page/style.css");
const ICON: &str = include_str!("../page/icon.svg");
const SCRIPT: &str = include_str!("../page/script.js");

/// Answers a request of a person.
pub(crate) fn respond(shared: &Shared, person: &str, request: &Request) -> Response {
    let found = match (request.method.as_str(), request.path.as_str()) {
        ("GET", "/") => Ok(page(request)),
        ("GET", "/style.css") => Ok(Response::new(200, "text/css; charset=utf-8", STYLE.into())),
        ("GET", "/script.js") => {
            Ok(Response::new(200, "text/javascript; charset=utf-8", SCRIPT.into()))
        }
        ("GET", "/icon.svg") => Ok(Response::new(200, "image/svg+xml", ICON.into())),
        ("GET", "/state") => Ok(Response::json(&state(shared, person))),
        ("GET", "/history") => Ok(Response::json(&history(&shared.lock(), person))),
        ("GET", "/grid") => grid(shared, person, request),
        ("GET", "/again") => Ok(Response::json(&again(shared, person))),
        ("POST", "/next") => next(shared, person, request),
        ("POST", "/answer") => answer(shared, person, request),
        ("POST", "/leave") => take_away(shared, request),
        ("GET", path) => match path.split_at_checked(path.rfind('/').map_or(0, |at| at + 1)) {
            Some(("/picture/", number)) => picture(shared, number),
            Some(("/item/", number)) => one(shared, person, number),
            _ => return Response::text(404, "there is nothing here"),
        },
        ("POST", _) => return Response::text(404, "there is nothing here"),
        _ => return Response::text(405, "only GET and POST are answered"),
    };
    found.unwrap_or_else(|error| {
        let status = match error {
            Error::Refused(_) => 400,
            _ => 503,
        };
        Response::text(status, &error.to_string())
    })
}

/// The page; the token in the addresses of its parts consists of digits and letters only.
fn page(request: &Request) -> Response {
    let token = request.query.get("token").map(String::as_str).unwrap_or_default();
    let text = PAGE.replace("TOKEN", token);
    Response::new(200, "text/html; charset=utf-8", text.into_bytes())
}

fn refuse<T>(words: impl Into<String>) -> Result<T> {
    Err(Error::Refused(words.into()))
}

fn sample_of(shared: &Shared, number: &str) -> Result<usize> {
    match number.parse::<usize>() {
        Ok(sample) if sample < shared.material.len() => Ok(sample),
        _ => refuse("there is no such sample"),
    }
}

fn picture(shared: &Shared, number: &str) -> Result<Response> {
    let (kind, bytes) = shared.material.picture(sample_of(shared, number)?)?;
    let mut response = Response::new(200, kind, bytes);
    response.headers.push(("Cache-Control", "private, max-age=3600".into()));
    Ok(response)
}

/// What pages are told whenever something changes.
pub(crate) fn news(session: &Session) -> Value {
    let snapshot = &session.snapshot;
    json!({
        "version": session.version,
        "fitting": session.fitting,
        "refit": snapshot.number,
        "ready": !snapshot.pool.is_empty(),
        "fit_labels": snapshot.labels,
        "fit_seconds": snapshot.seconds,
        "changed": snapshot.changed,
        "note": session.note,
        "classes": session.state.classes(),
        "again": session.again().len(),
        "progress": session.progress(),
    })
}

fn state(shared: &Shared, person: &str) -> Value {
    let session = shared.lock();
    let journal = crate::opening::journal_beside(&shared.labels);
    json!({
        "person": person,
        "people": shared.people,
        "title": shown(&shared.material.path),
        "journal": shown(&journal),
        "kind": if shared.material.has_pictures() { "image" } else { "row" },
        "samples": shared.material.len(),
        "undo": session.state.next_undo(person).is_some(),
        "redo": session.state.next_redo(person).is_some(),
        "command": (!shared.command.is_empty()).then(|| command(shared)),
        "reports": shared.report.is_some(),
        "news": news(&session),
    })
}

fn command(shared: &Shared) -> String {
    let quoted = |text: String| {
        let is_plain = |c: char| c.is_alphanumeric() || "/._-+=:".contains(c);
        if !text.is_empty() && text.chars().all(is_plain) {
            text
        } else {
            format!("'{}'", text.replace('\'', "'\\''"))
        }
    };
    let journal = crate::opening::journal_beside(&shared.labels);
    format!(
        "{} --labels {} --model {}",
        shared.command,
        quoted(journal.display().to_string()),
        quoted(shared.model.display().to_string())
    )
}

fn verdict_json(verdict: Option<&Verdict>) -> Value {
    verdict.map_or(Value::Null, |verdict| json!(verdict))
}

/// A sample as the page shows it.
fn item(shared: &Shared, session: &Session, person: &str, sample: usize, why: Why) -> Value {
    let snapshot = &session.snapshot;
    let known: Vec<usize> = match snapshot.prepared {
        Some(_) => {
            let answered = session.state.answered();
            answered.into_iter().filter(|&s| session.state.label(s).is_some()).collect()
        }
        None => Vec::new(),
    };
    let near: Vec<Value> = snapshot
        .nearest(sample, &known, NEIGHBOURS)
        .into_iter()
        .map(|near| {
            json!({
                "sample": near,
                "name": shared.material.shown_name(near),
                "label": session.state.label(near),
                "row": row(shared, session, near, 3).0,
            })
        })
        .collect();
    let guess = snapshot.guess(sample).map(|(label, probability)| {
        json!({ "label": label, "probability": (1000.0 * probability).round() / 1000.0 })
    });
    let (row, more) = row(shared, session, sample, FEATURES);
    json!({
        "sample": sample,
        "name": shared.material.shown_name(sample),
        "why": why,
        "guess": guess,
        "near": near,
        "row": row,
        "more": more,
        "label": session.state.label(sample),
        "mine": verdict_json(session.state.by_person(sample).get(person).map(|a| &a.verdict)),
    })
}

/// The most telling features of a row, and how many more there are.
fn row(shared: &Shared, session: &Session, sample: usize, most: usize) -> (Vec<Value>, usize) {
    let features = shared.material.row(sample);
    let telling = &session.snapshot.telling;
    let mut order: Vec<usize> = (0..features.len()).collect();
    match telling.len() == features.len() {
        true => order.clone_from(telling),
        // Without labels, what is unusual.
        false => order.sort_by(|&a, &b| {
            features[b].far.abs().total_cmp(&features[a].far.abs()).then(a.cmp(&b))
        }),
    }
    let shown = order.iter().take(most).map(|&at| json!(features[at])).collect();
    (shown, features.len().saturating_sub(most))
}

fn items(shared: &Shared, session: &Session, person: &str, picked: &[(usize, Why)]) -> Vec<Value> {
    picked.iter().map(|&(sample, why)| item(shared, session, person, sample, why)).collect()
}

fn one(shared: &Shared, person: &str, number: &str) -> Result<Response> {
    let sample = sample_of(shared, number)?;
    Ok(Response::json(&item(shared, &shared.lock(), person, sample, Why::Asked)))
}

/// The samples that a person answered, the oldest first.
fn history(session: &Session, person: &str) -> Value {
    let own = session.state.counted().filter(|(given, _)| given.person == person);
    let mut seen = std::collections::HashSet::new();
    let mut samples: Vec<usize> = own
        .rev()
        .map(|(_, answer)| answer.sample)
        .filter(|&s| seen.insert(s))
        .take(HISTORY)
        .collect();
    samples.reverse();
    json!({ "samples": samples })
}

fn grid(shared: &Shared, person: &str, request: &Request) -> Result<Response> {
    let Some(class) = request.query.get("class") else { return refuse("name a class") };
    let mut session = shared.lock();
    let samples = session.grid(person, class, Instant::now());
    let picked: Vec<(usize, Why)> = samples.into_iter().map(|s| (s, Why::Asked)).collect();
    Ok(Response::json(&json!({ "items": items(shared, &session, person, &picked) })))
}

fn again(shared: &Shared, person: &str) -> Value {
    let session = shared.lock();
    let found = session.again().into_iter().map(|again| {
        let item = item(shared, &session, person, again.sample, Why::Asked);
        json!({ "again": again, "item": item })
    });
    json!({ "found": found.collect::<Vec<_>>() })
}

#[derive(Deserialize)]
struct Wanted {
    #[serde(default)]
    have: Vec<usize>,
    #[serde(default)]
    want: usize,
}

fn parsed<'a, T: Deserialize<'a>>(request: &'a Request) -> Result<T> {
    let words =
        |error: serde_json::Error| Error::Refused(format!("this is not understood: {error}"));
    serde_json::from_slice(&request.body).map_err(words)
}

fn next(shared: &Shared, person: &str, request: &Request) -> Result<Response> {
    let wanted: Wanted = parsed(request)?;
    let mut session = shared.lock();
    let next = next_items(shared, &mut session, person, &wanted)?;
    Ok(Response::json(&json!({ "next": next, "refit": session.snapshot.number })))
}

fn next_items(
    shared: &Shared,
    session: &mut Session,
    person: &str,
    wanted: &Wanted,
) -> Result<Vec<Value>> {
    if wanted.have.len() > MOST_HELD || wanted.have.iter().any(|&s| s >= shared.material.len()) {
        return refuse("too many samples, or samples that are not there");
    }
    let picked = session.next(person, &wanted.have, wanted.want.min(MOST_HELD), Instant::now());
    Ok(items(shared, session, person, &picked))
}

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

fn answer(shared: &Shared, person: &str, request: &Request) -> Result<Response> {
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

#[derive(Deserialize)]
struct Leaving {
    what: String,
}

/// Writes a file for people to take away, and says where it is.
fn take_away(shared: &Shared, request: &Request) -> Result<Response> {
    let Leaving { what } = parsed(request)?;
    let path = match what.as_str() {
        "csv" => {
            shared.write_labels()?;
            shared.labels.clone()
        }
        "npy" => {
            let path = leave::beside(&shared.labels, ".npy");
            let labels = shared.lock().state.labels(shared.material.len());
            leave::npy(&path, &labels)?;
            path
        }
        "folder" => {
            let path = leave::beside(&shared.labels, "-by-class");
            let _alone = shared.writing.lock().unwrap_or_else(PoisonError::into_inner);
            let session = shared.lock();
            leave::folders(&path, &shared.material, &session.state)?;
            path
        }
        "model" => {
            last_model(shared)?.0.save(&shared.model)?;
            shared.model.clone()
        }
        "report" => report(shared)?,
        _ => return refuse("choose csv, npy, folder, model or report"),
    };
    Ok(Response::json(&json!({ "path": path.display().to_string() })))
}

fn last_model(shared: &Shared) -> Result<(Arc<Model<f32>>, Vec<usize>)> {
    let session = shared.lock();
    let model = session.snapshot.model.clone().ok_or_else(|| {
        Error::Refused("there is no model yet: label samples of at least two classes".into())
    })?;
    Ok((model, session.snapshot.pool.clone()))
}

fn report(shared: &Shared) -> Result<std::path::PathBuf> {
    let Some(make) = &shared.report else { return refuse("this program makes no reports") };
    let _alone = shared.writing.lock().unwrap_or_else(PoisonError::into_inner);
    let (model, pool) = last_model(shared)?;
    let samples = leave::samples_of(&shared.material, &pool, model.training_labels())?;
    let names = shared
        .material
        .name(0)
        .map(|_| pool.iter().map(|&sample| shared.material.shown_name(sample)).collect());
    let text = make(&model, &samples, names).map_err(Error::Refused)?;
    let path = leave::beside(&shared.labels, "-report.html");
    ssdl_data::write_bytes(&path, text.as_bytes())?;
    Ok(path)
}
