//! What a page may ask for, and the answers.

use std::sync::{Arc, PoisonError};
use std::time::Instant;

use serde::Deserialize;
use serde_json::{Value, json};
use ssdl::Model;

use crate::entry::Verdict;
use crate::http::{Request, Response};
use crate::leave;
use crate::said;
use crate::server::{Shared, shown};
use crate::session::{Session, Why};
use crate::{Error, Result};

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
        ("POST", "/answer") => said::answer(shared, person, request),
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

pub(crate) fn refuse<T>(words: impl Into<String>) -> Result<T> {
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
        "note": session.note(),
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
pub(crate) struct Wanted {
    #[serde(default)]
    have: Vec<usize>,
    #[serde(default)]
    want: usize,
}

pub(crate) fn parsed<'a, T: Deserialize<'a>>(request: &'a Request) -> Result<T> {
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

pub(crate) fn next_items(
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
            let labels = shared.lock().state.labels(shared.material.len());
            leave::folders(&path, &shared.material, &labels)?;
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
