//! `ssdl demo`: the digits that come with the program, learnt from ten labels per class.

use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::time::Instant;

use serde_json::{Value, json};
use ssdl::fit::{Silent, Stop};
use ssdl::methods::{FitOptions, SsdlGa, find};
use ssdl::samples::split::{Split, per_class};
use ssdl::{Labels, Learner, Matrix, Model, Samples, threads};
use ssdl_experiments::{Cell, Table};
use ssdl_report::{Page, mosaic};

use crate::args::{Common, Demo};
use crate::failure::{Failure, Outcome};
use crate::pages::{self, Names};
use crate::print::{Grid, Sheet, percent, quoted, seconds};
use crate::progress::ProgressView;
use crate::{cancel, output, print};

/// Labels per class that the methods see.
const LABELLED: usize = 10;
/// Samples per class that no method sees.
const HELD_OUT: usize = 50;

/// Runs the command.
pub fn run(args: &Demo, common: &Common) -> Outcome {
    let files = Files::prepare(&args.out)?;
    let digits = Digits::draw(common.seed)?;
    cancel::listen(common.quiet);
    let options = FitOptions {
        seed: common.seed,
        threads: common.threads.into(),
        image: Some([8, 8]),
        // Gradients are better (the command that is proposed next takes them), but their atoms are no pictures.
        prepare: vec!["scale=5".parse()?],
        ..FitOptions::default()
    };
    let (model, first) = fit_ssdl(&digits, &options, common)?;
    let mut results = vec![first];
    results.extend(fit_baselines(&digits, &options)?);

    model.save(&files.model)?;
    output::write(&files.atoms, &mosaic::png(&model)?)?;
    pages::write(&files.report, &page(&digits, &model, &results, common)?)?;
    let (shown, held_out) = (&digits.training, &digits.test);
    output::write(&files.train, csv(shown.features(), shown.labels()).as_bytes())?;
    output::write(&files.test, csv(&held_out.0, &held_out.1).as_bytes())?;
    if common.json {
        return print::json(&answer(&digits, &model, &results, &files));
    }
    print::to_stdout(&text(&digits, &results, &files))
}

/// The files that the demo writes.
struct Files {
    model: PathBuf,
    atoms: PathBuf,
    report: PathBuf,
    train: PathBuf,
    test: PathBuf,
}

impl Files {
    fn prepare(folder: &Path) -> Outcome<Self> {
        std::fs::create_dir_all(folder).map_err(|error| {
            let folder = folder.display();
            Failure::Failed(format!(
                "{folder}: cannot be created: {error}; choose another with --out"
            ))
        })?;
        let at =
            |name: &str| if folder == Path::new(".") { name.into() } else { folder.join(name) };
        let files = Self {
            model: at("digits.ssdl"),
            atoms: at("digits-atoms.png"),
            report: at("digits-report.html"),
            train: at("digits-train.csv"),
            test: at("digits-test.csv"),
        };
        let all = [&files.model, &files.atoms, &files.report, &files.train, &files.test];
        output::check(&all.map(|path| Some(path.as_path())), &[])
            .map_err(|error| Failure::Failed(format!("{error}; or choose a folder with --out")))?;
        for path in [&files.train, &files.test] {
            refuse_foreign_file(path)?;
        }
        Ok(files)
    }
}

/// Replaces only files written by the demo: the user's own may have the same name.
fn refuse_foreign_file(path: &Path) -> Outcome {
    match std::fs::read(path) {
        Ok(bytes) if !bytes.starts_with(header().as_bytes()) => Err(Failure::Failed(format!(
            "{}: exists and is not from the demo; choose another folder with --out",
            path.display()
        ))),
        _ => Ok(()),
    }
}

/// The samples, and the true labels that no method sees.
struct Digits {
    truth: Labels,
    split: Split,
    training: Samples<f64>,
    test: (Matrix<f64>, Labels),
}

impl Digits {
    fn draw(seed: u64) -> Outcome<Self> {
        let table = ssdl_data::digits();
        let names = table.labels.unwrap_or_default();
        let truth = Labels::from_names(&names);
        let split = per_class(&truth, LABELLED, None, HELD_OUT, seed)?;
        let mut seen: Vec<usize> =
            split.labelled.iter().chain(&split.unlabelled).copied().collect();
        seen.sort_unstable();
        let labels = truth.keep_only(&split.labelled).select(&seen);
        let training = Samples::new(table.features.select_columns(&seen), labels)?;
        let test = (table.features.select_columns(&split.test), truth.select(&split.test));
        Ok(Self { truth: truth.select(&seen), split, training, test })
    }

    /// Indices of the unlabelled samples among the training samples.
    fn unlabelled(&self) -> Vec<usize> {
        let labels = self.training.labels();
        (0..labels.len()).filter(|&i| labels.assigned()[i].is_none()).collect()
    }

    /// Accuracy on the unlabelled and on the held-out samples.
    fn score(&self, training: &[usize], test: &[usize]) -> (f64, f64) {
        let share = |found: &[usize], truth: &Labels, places: &[usize]| {
            let right = places.iter().filter(|&&i| truth.assigned()[i] == Some(found[i])).count();
            right as f64 / places.len().max(1) as f64
        };
        let all: Vec<usize> = (0..test.len()).collect();
        (share(training, &self.truth, &self.unlabelled()), share(test, &self.test.1, &all))
    }
}

/// How well a method did.
struct Result {
    method: String,
    unlabelled: f64,
    held_out: f64,
    seconds: f64,
}

fn fit_ssdl(
    digits: &Digits,
    options: &FitOptions<f64>,
    common: &Common,
) -> Outcome<(Model<f64>, Result)> {
    let started = Instant::now();
    let mut view = ProgressView::new(common.quiet);
    let model = SsdlGa::new().fit_with(digits.training.clone(), options, &mut view);
    view.finish();
    let model = model?;
    if model.report().stop == Stop::Cancelled {
        return Err(Failure::Failed("cancelled; nothing was written".into()));
    }
    let result = evaluate(digits, "SSDL-GA", &model, options, started)?;
    Ok((model, result))
}

/// Fits two baselines that learn from the labelled samples alone, with the same preparation.
fn fit_baselines(digits: &Digits, options: &FitOptions<f64>) -> Outcome<Vec<Result>> {
    let names = [("nearest", "nearest neighbour"), ("ridge", "ridge")];
    let measure = |(name, shown): (&str, &str)| {
        let started = Instant::now();
        let model = find(name)?.fit(&[], digits.training.clone(), options, &mut Silent)?;
        evaluate(digits, shown, &model, options, started)
    };
    names.into_iter().map(measure).collect()
}

/// Evaluates a model on the unlabelled and on the held-out samples.
fn evaluate(
    digits: &Digits,
    shown: &str,
    model: &Model<f64>,
    options: &FitOptions<f64>,
    started: Instant,
) -> Outcome<Result> {
    let test = digits.test.0.clone();
    let test = threads::run(options.threads, || model.predict(test))?.classes;
    let seconds = started.elapsed().as_secs_f64();
    let (unlabelled, held_out) = digits.score(&model.transduction().classes, &test);
    Ok(Result { method: shown.to_owned(), unlabelled, held_out, seconds })
}

/// The report page: the methods compared, then the model on the held-out digits.
fn page(digits: &Digits, model: &Model<f64>, results: &[Result], common: &Common) -> Outcome<Page> {
    let (raw, labels) = &digits.test;
    let truth = labels.assigned().iter().map(|class| class.map(|c| labels.classes()[c].clone()));
    let truth: Vec<Option<String>> = truth.collect();
    let names = Names::default();
    let (seen, prediction) = pages::see(model, raw.clone(), common.threads.into(), None)?;
    let predicted = (&seen, &prediction);
    let test = pages::Test { raw, predicted, truth: &truth, names: &names };
    let title = "Handwritten digits from ten labels per class".to_owned();
    let training = Some(digits.training.features());
    let mut page = pages::test_page(title, model, training, &test, common.threads.into())?;
    let best = |share: fn(&Result) -> f64| results.iter().map(share).fold(0.0, f64::max);
    let (unlabelled, held_out) = (best(|r| r.unlabelled), best(|r| r.held_out));
    let line = |result: &Result| {
        let cells = vec![
            Cell::marked(percent(result.unlabelled), result.unlabelled == unlabelled),
            Cell::marked(percent(result.held_out), result.held_out == held_out),
            Cell::plain(seconds(result.seconds)),
        ];
        (result.method.clone(), cells)
    };
    page.tables.push(Table {
        heading: format!("{} labels for each method", digits.split.labelled.len()),
        names: "method".into(),
        columns: ["unlabelled right", "held out right", "time"].map(str::to_owned).to_vec(),
        lines: results.iter().map(line).collect(),
    });
    page.about_tables =
        "All methods use the same labels and the same preparation; the best is marked.".into();
    Ok(page)
}

fn header() -> String {
    let pixels: Vec<String> = (0..64).map(|at| format!("pixel{at}")).collect();
    format!("{},label\n", pixels.join(","))
}

/// Samples as a table; an unlabelled one has an empty last cell.
fn csv(features: &Matrix<f64>, labels: &Labels) -> String {
    let mut text = header();
    for (sample, class) in features.iter_columns().zip(labels.assigned()) {
        for value in sample {
            // Writing to a string cannot fail.
            let _ = write!(text, "{value},");
        }
        text += class.map_or("", |class| &labels.classes()[class]);
        text.push('\n');
    }
    text
}

fn text(digits: &Digits, results: &[Result], files: &Files) -> String {
    let split = &digits.split;
    let n_labels = split.labelled.len();
    let mut grid =
        Grid::new(&["method", ">labels used", ">unlabelled right", ">held out right", ">seconds"]);
    for result in results {
        grid.row([
            result.method.clone(),
            n_labels.to_string(),
            percent(result.unlabelled),
            percent(result.held_out),
            seconds(result.seconds),
        ]);
    }
    let Files { model, atoms, report, train, test } = files;
    let mut sheet = Sheet::default();
    sheet.row("report", format!("{}; open it in a browser", report.display()));
    sheet.row("model", model.display().to_string()).row("atoms", atoms.display().to_string());
    sheet.row("samples", format!("{}, {}", train.display(), test.display()));
    let [model, train, test] = [model, train, test].map(|path| quoted(&path.to_string_lossy()));
    format!(
        "Handwritten digits of 8 x 8 pixels: {n_labels} labelled, {} unlabelled, {} held out.\n\n\
         {}\n\n{}\n\n\
         Try next:\n  \
         ssdl inspect {model} --sample 3\n  \
         ssdl predict {model} {test} --label-column label --out labels.csv\n  \
         ssdl fit {train} --label-column label --image 8x8 --model mine.ssdl\n  \
         ssdl methods ssdl-ga",
        split.unlabelled.len(),
        split.test.len(),
        grid.text(),
        sheet.text(),
    )
}

fn answer(digits: &Digits, model: &Model<f64>, results: &[Result], files: &Files) -> Value {
    let results = results.iter().map(|result| {
        json!({
            "method": result.method,
            "unlabelled_accuracy": result.unlabelled,
            "held_out_accuracy": result.held_out,
            "seconds": result.seconds,
        })
    });
    let path = |path: &Path| path.display().to_string();
    json!({
        "n_labelled": digits.split.labelled.len(),
        "n_unlabelled": digits.split.unlabelled.len(),
        "n_held_out": digits.split.test.len(),
        "iterations": model.report().iterations,
        "stop": model.report().stop,
        "results": results.collect::<Vec<_>>(),
        "model": path(&files.model),
        "atoms": path(&files.atoms),
        "report": path(&files.report),
        "train": path(&files.train),
        "test": path(&files.test),
    })
}
