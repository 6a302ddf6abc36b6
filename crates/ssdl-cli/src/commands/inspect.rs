//! `ssdl inspect`: shows a model file, or explains a sample.

use serde_json::{Value, json};
use ssdl::model::{Cells, SourceColumn};
use ssdl::{Model, Real, each_precision};
use ssdl_report::drawing;

use super::explain;
use super::summary::{
    atoms_text, atoms_used, knobs, labels_text, neighbours_row, objective_json, objective_text,
};
use crate::args::{Common, Inspect};
use crate::failure::{Failure, Outcome};
use crate::print::{Sheet, counted};
use crate::{input, memory, output, pages, print};

/// Runs the command.
pub fn run(args: &Inspect, common: &Common) -> Outcome {
    output::check(&[args.svg.as_deref(), args.report.as_deref()], &[&args.model])?;
    each_precision!(input::model(&args.model)?, model => inspect(args, common, &model))
}

fn inspect<T: Real>(args: &Inspect, common: &Common, model: &Model<T>) -> Outcome {
    if let Some(sample) = args.sample {
        return explain_sample(args, common, model, sample);
    }
    if let Some(path) = &args.report {
        pages::write(path, &pages::model_page(&args.model, model, common.threads.into())?)?;
    }
    let size = std::fs::metadata(&args.model).map(|file| file.len()).unwrap_or(0);
    if common.json { print::json(&answer(args, model, size)) } else { show(args, model, size) }
}

fn explain_sample<T: Real>(
    args: &Inspect,
    common: &Common,
    model: &Model<T>,
    sample: usize,
) -> Outcome {
    let explained = model.explain(&[sample]).map_err(|e| Failure::about(&args.model, e))?;
    let Some(explained) = explained.first() else { return Ok(()) };
    if let Some(path) = &args.svg {
        output::write(path, drawing::svg(model, sample, explained)?.as_bytes())?;
    }
    if common.json {
        print::json(&explain::json(model, sample, explained))
    } else {
        print::to_stdout(&explain::text(model, sample, explained))
    }
}

/// Mean number of non-zero entries in a code.
fn mean_non_zeros<T: Real>(model: &Model<T>) -> f64 {
    let count: usize = model.uses_of_atoms().iter().sum();
    count as f64 / model.training_labels().len().max(1) as f64
}

fn steps<T: Real>(model: &Model<T>) -> Vec<String> {
    model.preparation().plans().iter().map(ToString::to_string).collect()
}

/// Columns that are shown.
const MOST_COLUMNS: usize = 20;
/// Words of a column that are shown, and letters of a word.
const MOST_WORDS: usize = 12;
const MOST_LETTERS: usize = 30;

/// A column with words or gaps, and what becomes of them.
fn column_text(column: &SourceColumn) -> String {
    let name = column.name.as_deref().unwrap_or("without a name");
    match &column.cells {
        Cells::Numbers { gap: Some(gap) } => format!("{name}, {gap} where it is empty"),
        Cells::Numbers { gap: None } => name.to_owned(),
        Cells::Words { words, base } => {
            let all: Vec<&String> = base.iter().chain(words).collect();
            let cut = |word: &&String| word.chars().take(MOST_LETTERS).collect::<String>();
            let shown: Vec<String> = all.iter().take(MOST_WORDS).map(cut).collect();
            let rest = all.len() - shown.len();
            let tail = if rest > 0 { format!(" and {rest} more") } else { String::new() };
            format!("{name}: {}{tail}", shown.join(", "))
        }
    }
}

fn show<T: Real>(args: &Inspect, model: &Model<T>, size: u64) -> Outcome {
    let report = model.report();
    let mut sheet = Sheet::default();
    sheet.row("model", format!("{} ({})", args.model.display(), memory::text(size)));
    sheet.row("method", model.method());
    let pairs: Vec<String> =
        model.knobs().iter().map(|(name, value)| format!("{name}={value}")).collect();
    sheet.row("knobs", pairs.join(" "));
    sheet.row("training", counted(model.training_labels().len(), "sample", "samples"));
    sheet.row("labels", labels_text(model.training_labels()));
    let steps = steps(model);
    let steps = if steps.is_empty() { "none".to_owned() } else { steps.join(", then ") };
    let prepared = model.preparation().n_prepared();
    sheet.row("features", format!("{}, {prepared} after preparation", model.n_features()));
    if let Some(columns) = &model.naming().columns {
        let shown = columns.iter().take(MOST_COLUMNS).map(column_text).collect::<Vec<_>>();
        let rest = columns.len() - shown.len();
        let tail = if rest > 0 { format!("; and {rest} more") } else { String::new() };
        sheet.row("columns", shown.join("; ") + &tail);
    }
    sheet.row("preparation", steps);
    if let Some([height, width]) = model.image() {
        sheet.row("image", format!("{height} x {width}"));
    }
    sheet.row("atoms", atoms_text(model));
    if model.atoms().is_some() {
        let mean = mean_non_zeros(model);
        sheet.row("codes", format!("{mean:.1} entries that are not zero, on average"));
    }
    let iterations = counted(report.iterations, "iteration", "iterations");
    sheet.row("stop", format!("{} after {iterations}", report.stop));
    sheet.row("objective", objective_text(&report.objective));
    neighbours_row(&mut sheet, model.attachment().and_then(|known| known.recall));
    sheet.row("made by", format!("ssdl {}, seed {}, {}", report.version, report.seed, T::NAME));
    if let Some(path) = &args.report {
        sheet.row("report", path.display().to_string());
    }
    print::to_stdout(&sheet.text())
}

fn answer<T: Real>(args: &Inspect, model: &Model<T>, size: u64) -> Value {
    let (report, labels) = (model.report(), model.training_labels());
    json!({
        "model": args.model.display().to_string(),
        "bytes": size,
        "method": model.method(),
        "knobs": knobs(model),
        "classes": model.classes(),
        "n_samples": labels.len(),
        "n_labelled": labels.n_labelled(),
        "labelled_by_class": labels.counts(),
        "n_features": model.n_features(),
        "n_prepared": model.preparation().n_prepared(),
        "prepare": steps(model),
        "columns": model.naming().columns,
        "image": model.image(),
        "n_atoms": model.atoms().map_or(0, |atoms| atoms.columns()),
        "graph": model.attachment().map(|attachment| attachment.rule),
        "atoms_used": atoms_used(model),
        "dead_atoms": report.dead_atoms,
        "revived_atoms": report.revived_atoms,
        "mean_non_zeros": mean_non_zeros(model),
        "iterations": report.iterations,
        "stop": report.stop,
        "objective": objective_json(&report.objective),
        "version": report.version,
        "seed": report.seed,
        "precision": T::NAME,
        "report": args.report.as_ref().map(|path| path.display().to_string()),
    })
}
