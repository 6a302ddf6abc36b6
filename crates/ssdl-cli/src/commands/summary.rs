//! Output of `ssdl fit`: what was read, then the result of the fit.

use std::path::Path;

use serde_json::{Map, Value, json};
use ssdl::fit::{Compared, Objective};
use ssdl::model::Prediction;
use ssdl::{Labels, Model, Real, Samples};

use crate::print::{Sheet, counted, number, percent, quoted, seconds, tally};
use crate::{memory, print};

/// Maximum number of classes listed by name; the rest are only counted.
pub const MOST_CLASSES: usize = 20;

/// What was read.
pub fn before_fit<T: Real>(path: &Path, samples: &Samples<T>) -> String {
    let labels = samples.labels();
    let (n, n_features) = (samples.n_samples(), samples.n_features());
    let mut sheet = Sheet::default();
    let samples = counted(n, "sample", "samples");
    let features = counted(n_features, "feature", "features");
    sheet.row("read", format!("{samples} of {features} from {}", path.display()));
    sheet.row("labels", labels_text(labels));
    sheet.text()
}

/// The number of labels, class by class.
pub fn labels_text(labels: &Labels) -> String {
    let classes = labels.classes();
    format!(
        "{} labelled, {} unlabelled; {}: {}",
        labels.n_labelled(),
        labels.len() - labels.n_labelled(),
        counted(classes.len(), "class", "classes"),
        tally(classes, &labels.counts(), MOST_CLASSES)
    )
}

/// A fit whose model is saved.
pub struct Fitted<'a, T> {
    pub model: Model<T>,
    pub path: &'a Path,
    pub report: Option<&'a Path>,
    pub notices: Vec<String>,
    pub read_seconds: f64,
    pub save_seconds: f64,
    pub memory_needed: u64,
}

/// The predictions for the unlabelled samples.
struct Unlabelled {
    labels: Vec<String>,
    probability: Vec<f64>,
    counts: Vec<usize>,
}

impl<T: Real> Fitted<'_, T> {
    /// The result as text.
    pub fn text(&self) -> String {
        let report = self.model.report();
        let mut sheet = Sheet::default();
        sheet.row("prepared", prepared_text(&self.model));
        if !report.compared.is_empty() {
            sheet.row("compared", compared_text(&report.compared));
        }
        let iterations = counted(report.iterations, "iteration", "iterations");
        sheet.row("stop", format!("{} after {iterations}", report.stop));
        sheet.row("objective", objective_text(&report.objective));
        sheet.row("atoms", atoms_text(&self.model));
        let (read, save) = (seconds(self.read_seconds), seconds(self.save_seconds));
        let (graph, fit) = (seconds(report.graph_seconds), seconds(report.seconds));
        sheet.row("time", format!("read {read}, fit {fit} (graph {graph}), save {save}"));
        neighbours_row(&mut sheet, self.model.attachment().and_then(|known| known.recall));
        self.describe_unlabelled(&mut sheet);
        let size = std::fs::metadata(self.path).map(|file| memory::text(file.len()));
        let path = self.path.display();
        sheet.row("model", format!("{path} ({})", size.unwrap_or_default()));
        if let Some(report) = self.report {
            sheet.row("report", format!("{}; open it in a browser", report.display()));
        }
        let path = quoted(&self.path.to_string_lossy());
        sheet.row("next", format!("ssdl predict {path} NEW-DATA --out labels.csv"));
        sheet.text()
    }

    fn describe_unlabelled(&self, sheet: &mut Sheet) {
        let unlabelled = self.unlabelled();
        let count = unlabelled.labels.len();
        if count == 0 {
            sheet.row("unlabelled", "none");
            return;
        }
        let mean = unlabelled.probability.iter().sum::<f64>() / count as f64;
        let classes = tally(self.model.classes(), &unlabelled.counts, MOST_CLASSES);
        let sure = print::percent(mean);
        sheet.row("unlabelled", format!("predicted {classes}; mean top probability {sure}"));
    }

    fn unlabelled(&self) -> Unlabelled {
        let Prediction { labels, classes, probabilities, .. } = self.model.transduction();
        let assigned = self.model.training_labels().assigned();
        let free = || assigned.iter().enumerate().filter(|(_, label)| label.is_none());
        let mut counts = vec![0; self.model.classes().len()];
        free().for_each(|(i, _)| counts[classes[i]] += 1);
        Unlabelled {
            labels: free().map(|(i, _)| labels[i].clone()).collect(),
            probability: free().map(|(i, _)| probabilities.column(i)[classes[i]].wide()).collect(),
            counts,
        }
    }

    /// The result as JSON.
    pub fn json(&self) -> Value {
        let (model, report) = (&self.model, self.model.report());
        let unlabelled = self.unlabelled();
        json!({
            "method": model.method(),
            "knobs": knobs(model),
            "n_samples": model.training_labels().len(),
            "n_features": model.n_features(),
            "n_labelled": model.training_labels().n_labelled(),
            "classes": model.classes(),
            "prepare": model.preparation().plans().iter().map(ToString::to_string).collect::<Vec<_>>(),
            "compared": report.compared,
            "iterations": report.iterations,
            "stop": report.stop,
            "objective": objective_json(&report.objective),
            "seconds": report.seconds,
            "seconds_by_step": self.seconds_by_step(),
            "peak_memory_bytes": memory::peak(),
            "memory_needed_bytes": self.memory_needed,
            "neighbour_recall": model.attachment().and_then(|known| known.recall),
            "dead_atoms": report.dead_atoms,
            "revived_atoms": report.revived_atoms,
            "notices": self.notices,
            "transduction": {
                "unlabelled": unlabelled.labels,
                "probability": unlabelled.probability,
            },
            "model": self.path.display().to_string(),
            "report": self.report.map(|path| path.display().to_string()),
        })
    }

    fn seconds_by_step(&self) -> Value {
        let report = self.model.report();
        let traced: f64 = report.trace.iter().map(|row| row.seconds).sum();
        let mut steps = Map::new();
        steps.insert("read".into(), self.read_seconds.into());
        let rest = (report.seconds - report.graph_seconds - traced).max(0.0);
        steps.insert("prepare".into(), rest.into());
        steps.insert("graph".into(), report.graph_seconds.into());
        for name in ["start", "membership", "codes", "dictionary", "classifier"] {
            let rows = report.trace.iter().filter(|row| row.step.name() == name);
            // Not `sum`, which gives -0 for no rows.
            steps.insert(name.into(), rows.fold(0.0, |sum, row| sum + row.seconds).into());
        }
        steps.insert("save".into(), self.save_seconds.into());
        steps.into()
    }
}

/// The steps of the preparation, those that were chosen for the samples included.
fn prepared_text<T: Real>(model: &Model<T>) -> String {
    let steps: Vec<String> = model.preparation().plans().iter().map(ToString::to_string).collect();
    if steps.is_empty() { "not at all".into() } else { steps.join(", ") }
}

/// What hidden labels said of each method, and what followed.
fn compared_text(compared: &[Compared]) -> String {
    let of = |one: &Compared| {
        let right = one.accuracy.map_or_else(|| "–".to_owned(), percent);
        format!("{} {right}, weight {:.2}", one.method, one.weight)
    };
    let all: Vec<String> = compared.iter().map(of).collect();
    format!("hidden labels right: {}", all.join("; "))
}

/// How neighbours were searched, unless exactly.
pub fn neighbours_row(sheet: &mut Sheet, recall: Option<f64>) {
    if let Some(recall) = recall {
        let found = percent(recall);
        let how = "searched approximately, found";
        sheet.row("neighbours", format!("{how} {found} (estimated on 200 samples)"));
    }
}

/// The objective and its terms, as JSON.
pub fn objective_json(objective: &Objective) -> Value {
    let mut terms: Map<String, Value> =
        objective.terms().map(|(name, value)| (name.into(), value.into())).collect();
    terms.insert("total".into(), objective.total().into());
    terms.into()
}

/// The objective and its terms, as text.
pub fn objective_text(objective: &Objective) -> String {
    let total = objective.total();
    if total == 0.0 {
        return "none".into();
    }
    let share = |value: f64| if total > 0.0 { value / total } else { 0.0 };
    let lines = objective.terms().map(|(name, value)| {
        format!("{name:<14} {:>12}  {:>6}", number(value), percent(share(value)))
    });
    let mut lines: Vec<String> = lines.collect();
    lines.push(format!("{:<14} {:>12}", "total", number(total)));
    lines.join("\n")
}

/// The number of atoms: all, used, dead and revived.
pub fn atoms_text<T: Real>(model: &Model<T>) -> String {
    let report = model.report();
    let Some(atoms) = model.atoms() else {
        return "none; the prepared samples are classified as they are".into();
    };
    let (n, used) = (atoms.columns(), atoms_used(model));
    format!("{n}; {used} used, {} dead, {} revived", report.dead_atoms, report.revived_atoms)
}

/// Number of atoms that at least one training sample uses.
pub fn atoms_used<T: Real>(model: &Model<T>) -> usize {
    model.uses_of_atoms().iter().filter(|uses| **uses > 0).count()
}

/// The knobs of a model as JSON, numbers as numbers.
pub fn knobs<T: Real>(model: &Model<T>) -> Value {
    let pairs = model.knobs().iter();
    pairs.map(|(name, value)| (name.clone(), typed(value))).collect::<Map<_, _>>().into()
}

/// The value of a knob as JSON.
pub fn typed(text: &str) -> Value {
    match serde_json::from_str(text) {
        Ok(value @ (Value::Number(_) | Value::Bool(_))) => value,
        _ => text.into(),
    }
}
