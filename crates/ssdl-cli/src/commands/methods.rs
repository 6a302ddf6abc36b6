//! `ssdl methods`: the register of methods as a table, text, JSON or Markdown.

use serde_json::{Map, Value, json};
use ssdl::knobs::Knob;
use ssdl::methods::{Description, Method, all, find};
use ssdl::samples::prepare;

use super::summary::typed;
use crate::args::{Common, Methods};
use crate::failure::{Failure, Outcome};
use crate::print::{self, Grid, paragraph, wrap};

/// Descriptions are the same in both precisions.
type Any = &'static dyn Method<f64>;

/// Runs the command.
pub fn run(args: &Methods, common: &Common) -> Outcome {
    if args.markdown && common.json {
        return Err(Failure::Misuse("--markdown and --json cannot be combined".into()));
    }
    match &args.name {
        Some(name) => {
            let method = find::<f64>(name)?;
            if common.json { print::json(&facts(method)) } else { print::to_stdout(&page(method)) }
        }
        None if args.markdown => print::to_stdout(&markdown()),
        None if common.json => {
            let every: Vec<Value> = all::<f64>().into_iter().map(facts).collect();
            let steps = prepare::known().into_iter().map(
                |step| json!({ "name": step.name, "usage": step.usage, "sentence": step.sentence }),
            );
            print::json(&json!({ "methods": every, "preparation": steps.collect::<Vec<_>>() }))
        }
        None => print::to_stdout(&overview()),
    }
}

fn overview() -> String {
    let mut grid = Grid::new(&["name", "coding", "title and reference"]);
    for method in all::<f64>() {
        let Description { name, coding, title, reference, .. } = *method.describe();
        grid.row([name, coding, &format!("{title}; {reference}")]);
    }
    let mut steps = Grid::new(&["step", "what it does to the samples"]);
    for step in prepare::known() {
        steps.row([step.usage, step.sentence]);
    }
    format!(
        "{}\n\n{}\n\n`ssdl methods NAME` explains a method and its knobs.\n\n\
         Preparation, chosen with --prepare\n{}",
        grid.text(),
        paragraph(
            "Coding: `individual` codes each sample by itself, with `group` samples pull on each other, \
             with `none` there are no codes."
        ),
        steps.text()
    )
}

fn page(method: Any) -> String {
    let about = method.describe();
    let mut knobs = Grid::new(&["knob", "letter", "default", "what it does"]);
    for knob in method.knobs() {
        let words = format!("{} ({})", knob.sentence.trim_end_matches('.'), knob.allowed);
        knobs.row([knob.name, knob.symbol(), &knob.default, &words]);
    }
    let mut parts = vec![
        paragraph(&format!("{}: {}", about.name, about.title)),
        paragraph(about.summary),
        format!("Objective\n{}", indented(about.objective_text)),
        format!("Knobs, set with --set knob=value\n{}", knobs.text()),
    ];
    if !about.published.is_empty() {
        parts.push(format!("Published settings\n{}", published(about).text()));
    }
    parts.push(format!("{}\n{}", paragraph(about.reference), about.link));
    parts.join("\n\n")
}

fn indented(text: &str) -> String {
    let parts = text.lines().flat_map(|line| wrap(line, 78));
    parts.map(|part| format!("  {part}")).collect::<Vec<_>>().join("\n")
}

fn published(about: &Description) -> Grid {
    let mut grid = Grid::new(&["data", "knobs"]);
    for (data, knobs) in about.published {
        let pairs: Vec<String> =
            knobs.iter().map(|(name, value)| format!("{name}={value}")).collect();
        grid.row([*data, &pairs.join(" ")]);
    }
    grid
}

fn facts(method: Any) -> Value {
    let about = method.describe();
    let knobs = method.knobs();
    let knobs = knobs.iter().map(|knob| {
        json!({
            "name": knob.name,
            "symbol": knob.symbol(),
            "default": typed(&knob.default),
            "allowed": knob.allowed.to_string(),
            "sentence": knob.sentence,
        })
    });
    let settings = about.published.iter().map(|(data, knobs)| {
        let values = knobs.iter().map(|(name, value)| ((*name).to_owned(), typed(value)));
        ((*data).to_owned(), values.collect::<Map<_, _>>().into())
    });
    json!({
        "name": about.name,
        "title": about.title,
        "reference": about.reference,
        "link": about.link,
        "objective": about.objective,
        "objective_text": about.objective_text,
        "summary": about.summary,
        "semi_supervised": about.semi_supervised,
        "inductive": about.inductive,
        "coding": about.coding,
        "knobs": knobs.collect::<Vec<_>>(),
        "published": settings.collect::<Map<_, _>>(),
    })
}

fn markdown() -> String {
    let mut parts = vec![
        "# Methods".to_owned(),
        "<!-- Written by `cargo xtask generate` from `ssdl methods --markdown`; do not edit. -->"
            .to_owned(),
    ];
    let mut rows =
        vec!["| Name | Title | Coding | Reference |".to_owned(), "|---|---|---|---|".into()];
    for method in all::<f64>() {
        let Description { name, title, coding, reference, link, .. } = *method.describe();
        let reference = format!("[{}]({link})", cell(reference));
        rows.push(format!("| [`{name}`](#{name}) | {} | {coding} | {reference} |", cell(title)));
    }
    parts.push(rows.join("\n"));
    for method in all::<f64>() {
        section(method, &mut parts);
    }
    parts.push("## Preparation".into());
    parts.push(
        "Steps between the raw samples and the method, in the order given (`--prepare STEP`, several \
         times): fitted on the training samples, saved in the model, applied to every new sample. \
         Steps for images need the shape of the samples, from the file or `--image HEIGHTxWIDTH`; \
         pixels run row by row."
            .into(),
    );
    let mut rows = vec!["| Step | What it does |".to_owned(), "|---|---|".into()];
    for step in prepare::known() {
        rows.push(format!("| `{}` | {} |", cell(step.usage), cell(step.sentence)));
    }
    parts.push(rows.join("\n"));
    parts.join("\n\n")
}

fn section(method: Any, parts: &mut Vec<String>) {
    let about = method.describe();
    parts.push(format!("## {}", about.name));
    parts.push(format!("**{}.** {}", about.title, about.summary));
    parts.push(format!("$$\n{}\n$$", about.objective));
    let mut rows = vec![
        "| Knob | Letter | Default | Allowed | What it does |".to_owned(),
        "|---|---|---|---|---|".to_owned(),
    ];
    rows.extend(method.knobs().iter().map(knob_row));
    parts.push(rows.join("\n"));
    if !about.published.is_empty() {
        let mut rows = vec!["| Published for | Knobs |".to_owned(), "|---|---|".to_owned()];
        for (data, knobs) in about.published {
            let pairs: Vec<String> =
                knobs.iter().map(|(name, value)| format!("`{name}={value}`")).collect();
            rows.push(format!("| {} | {} |", cell(data), pairs.join(" ")));
        }
        parts.push(rows.join("\n"));
    }
    parts.push(format!("Reference: [{}]({}).", about.reference, about.link));
}

fn knob_row(knob: &Knob) -> String {
    let (Knob { name, default, .. }, symbol) = (knob, knob.symbol());
    let (allowed, sentence) = (cell(&knob.allowed.to_string()), cell(knob.sentence));
    format!("| `{name}` | {symbol} | `{default}` | {allowed} | {sentence} |")
}

/// Escapes text for a cell of a Markdown table.
fn cell(text: &str) -> String {
    text.replace('|', "\\|").replace('\n', " ")
}
