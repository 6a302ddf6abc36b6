//! `ssdl predict`: classifies samples with a saved model.

use std::path::Path;
use std::time::Instant;

use serde_json::{Map, Value, json};
use ssdl::{Model, Prediction, Real, each_precision};
use ssdl_data::Table;
use ssdl_experiments::comparison::PROGRAM_OF_NETS;

use super::summary::MOST_CLASSES;
use crate::args::{Common, Predict};
use crate::device::Opening;
use crate::failure::{Failure, Outcome};
use crate::pages::{self, Names};
use crate::print::{Sheet, counted, percent, seconds, tally};
use crate::{hand_over, input, output, print};

/// Runs the command.
pub fn run(args: &Predict, common: &Common) -> Outcome {
    if common.json && args.out.as_deref() == Some(Path::new("-")) {
        return Err(Failure::Misuse(
            "--json and --out - both write to stdout; omit --out to get the labels in the \
             JSON object, or give a file"
                .into(),
        ));
    }
    let mut inputs = vec![args.model.as_path(), args.data.data.as_path()];
    inputs.extend(args.data.labels.as_deref());
    output::check(&[file(args), args.codes.as_deref(), args.report.as_deref()], &inputs)?;
    let model = match input::model(&args.model) {
        Err(failure) if input::is_net(&args.model) => {
            return hand_over::to(PROGRAM_OF_NETS, failure);
        }
        other => other?,
    };
    each_precision!(model, model => predict(args, common, &model))
}

/// The file for the labels, unless they go to stdout.
fn file(args: &Predict) -> Option<&Path> {
    args.out.as_deref().filter(|path| *path != Path::new("-"))
}

fn predict<T: Real>(args: &Predict, common: &Common, model: &Model<T>) -> Outcome {
    let device = Opening::begin::<T>(args.device)?;
    let table = input::read_for(&args.data, model)?;
    check_width(args, model, &table)?;
    check_order(args, model, &table)?;
    input::say(&table.notes, common.quiet);
    let Table { features, labels: known, sample_names, feature_names, notes, .. } = table;
    let names = Names { samples: sample_names, features: feature_names };
    let raw = input::in_precision::<T>(features);
    let kept = args.report.is_some().then(|| raw.clone());
    let device = device.wait(common)?;
    let started = Instant::now();
    let (seen, prediction) = pages::see(model, raw, common.threads.into(), device)
        .map_err(|error| Failure::about(&args.data.data, error))?;
    let elapsed = started.elapsed().as_secs_f64();

    let probabilities = args.proba.then_some((model.classes(), &prediction.probabilities));
    if let Some(path) = &args.codes {
        ssdl_data::write_npy(path, &prediction.codes)?;
    }
    if let Some(path) = file(args) {
        let names = names.samples.as_deref();
        ssdl_data::write_predictions(path, names, &prediction.labels, probabilities)?;
    }
    if let Some((path, raw)) = args.report.as_ref().zip(kept) {
        let truth = known.as_deref().unwrap_or_default();
        let predicted = (&seen, &prediction);
        let test = pages::Test { raw: &raw, predicted, truth, names: &names };
        let title = format!("{} on {}", model.method(), pages::name_of(&args.data.data));
        let page = pages::test_page(title, model, None, &test, common.threads.into())?;
        pages::write(path, &page)?;
    }
    let score = known.map(|known| Score::new(&known, &prediction.labels, model.classes()));
    if common.json {
        let mut answer = answer(args, model, &prediction, score.as_ref(), elapsed);
        answer["notices"] = json!(notes);
        return print::json(&answer);
    }
    let text = text(args, model, &prediction, score.as_ref(), elapsed);
    if file(args).is_some() {
        return print::to_stdout(&text);
    }
    let mut csv = Vec::new();
    let names = names.samples.as_deref();
    ssdl_data::write_predictions_to(&mut csv, names, &prediction.labels, probabilities)?;
    print::content(String::from_utf8_lossy(&csv).trim_end_matches('\n'))?;
    if !common.quiet {
        print::to_stderr(&text);
    }
    Ok(())
}

fn check_width<T: Real>(args: &Predict, model: &Model<T>, table: &Table) -> Outcome {
    let (expected, got) = (model.n_features(), table.features.rows());
    if expected == got {
        return Ok(());
    }
    let hint = if got == expected + 1 {
        "if one column holds labels, name it with --label-column"
    } else {
        "give samples with the columns of the training file"
    };
    Err(Failure::Failed(format!(
        "{}: the model expects {expected} features, got {got}; {hint}",
        args.data.data.display()
    )))
}

/// Refuses the columns of the training file in another order: the model goes by their place.
fn check_order<T: Real>(args: &Predict, model: &Model<T>, table: &Table) -> Outcome {
    let names = model.naming().features.as_ref().zip(table.feature_names.as_ref());
    let Some((expected, got)) = names.filter(|(expected, got)| expected != got) else {
        return Ok(());
    };
    let sorted = |names: &[String]| {
        let mut names = names.to_vec();
        names.sort_unstable();
        names
    };
    let Some(at) = expected.iter().zip(got).position(|(expected, got)| expected != got) else {
        return Ok(());
    };
    // Other names may mean the same; the same names in another order do not.
    if sorted(expected) != sorted(got) {
        return Ok(());
    }
    Err(Failure::Failed(format!(
        "{}: its columns are in another order: feature {} is `{}`, the model expects `{}`; put them \
         in the order of the training file",
        args.data.data.display(),
        at + 1,
        got[at],
        expected[at]
    )))
}

/// How many of the known labels were predicted.
struct Score {
    known: usize,
    right: usize,
    /// Labels that the model has no class for.
    unknown: usize,
}

impl Score {
    fn new(known: &[Option<String>], found: &[String], classes: &[String]) -> Self {
        let mut score = Self { known: 0, right: 0, unknown: 0 };
        for (known, found) in known.iter().zip(found) {
            let Some(known) = known else { continue };
            score.known += 1;
            score.right += usize::from(known == found);
            score.unknown += usize::from(!classes.contains(known));
        }
        score
    }

    fn accuracy(&self) -> Option<f64> {
        (self.known > 0).then(|| self.right as f64 / self.known as f64)
    }
}

fn counts<T: Real>(model: &Model<T>, prediction: &Prediction<T>) -> Vec<usize> {
    let mut counts = vec![0; model.classes().len()];
    prediction.classes.iter().for_each(|&class| counts[class] += 1);
    counts
}

fn text<T: Real>(
    args: &Predict,
    model: &Model<T>,
    prediction: &Prediction<T>,
    score: Option<&Score>,
    elapsed: f64,
) -> String {
    let mut sheet = Sheet::default();
    let samples = counted(prediction.labels.len(), "sample", "samples");
    sheet.row("classified", format!("{samples} in {}", seconds(elapsed)));
    sheet.row("classes", tally(model.classes(), &counts(model, prediction), MOST_CLASSES));
    if let Some((score, accuracy)) = score.and_then(|score| Some((score, score.accuracy()?))) {
        let labels = counted(score.known, "known label", "known labels");
        let mut text = format!("{} of {labels}", percent(accuracy));
        if score.unknown > 0 {
            let verb = if score.unknown == 1 { "is no class" } else { "are no classes" };
            text += &format!("; {} of them {verb} of the model", score.unknown);
        }
        sheet.row("accuracy", text);
    }
    let files = [
        ("labels", file(args)),
        ("codes", args.codes.as_deref()),
        ("report", args.report.as_deref()),
    ];
    for (name, path) in files {
        if let Some(path) = path {
            sheet.row(name, path.display().to_string());
        }
    }
    sheet.text()
}

fn answer<T: Real>(
    args: &Predict,
    model: &Model<T>,
    prediction: &Prediction<T>,
    score: Option<&Score>,
    elapsed: f64,
) -> Value {
    let counted = counts(model, prediction);
    let named = model.classes().iter().cloned().zip(counted.into_iter().map(Value::from));
    let path = |path: Option<&Path>| path.map(|path| path.display().to_string());
    let mut answer = json!({
        "model": args.model.display().to_string(),
        "method": model.method(),
        "n_samples": prediction.labels.len(),
        "n_features": model.n_features(),
        "classes": model.classes(),
        "counts": named.collect::<Map<_, _>>(),
        "n_known_labels": score.map_or(0, |score| score.known),
        "accuracy": score.and_then(Score::accuracy),
        "seconds": elapsed,
        "out": path(file(args)),
        "codes": path(args.codes.as_deref()),
        "report": path(args.report.as_deref()),
    });
    if file(args).is_none() {
        answer["labels"] = json!(prediction.labels);
        if args.proba {
            let columns = prediction.probabilities.iter_columns();
            let wide = |column: &[T]| column.iter().map(|value| value.wide()).collect();
            answer["probabilities"] = columns.map(wide).collect::<Vec<Vec<f64>>>().into();
        }
    }
    answer
}
