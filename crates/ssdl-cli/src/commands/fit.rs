//! `ssdl fit`: learns a model from a file of samples.

use std::fmt::Write;
use std::path::Path;
use std::sync::Arc;
use std::time::Instant;

use ssdl::fit::{Stop, Watch, term_names};
use ssdl::methods::{self, FitOptions};
use ssdl::model::Naming;
use ssdl::{Model, Real, Samples};
use ssdl_experiments::comparison;
use ssdl_experiments::hidden::{self, Trial};
use ssdl_experiments::tune::Configuration;
use ssdl_report::Page;

use super::summary::{self, Fitted};
use crate::args::{Answer, Common, Fit, Precision};
use crate::device::Opening;
use crate::failure::{Failure, Outcome};
use crate::pages::{self, Names};
use crate::progress::{FitCounter, ProgressView};
use crate::{cancel, hand_over, input, memory, output, print};

/// Runs the command.
pub fn run(args: &Fit, common: &Common) -> Outcome {
    match args.precision {
        Precision::Single => fit::<f32>(args, common),
        Precision::Double => fit::<f64>(args, common),
    }
}

/// Method, preparation and knobs, from the command line or from a file of `ssdl tune`.
fn configuration(args: &Fit) -> Outcome<Configuration> {
    let Some(path) = &args.knobs else {
        return Ok(Configuration::new(&args.method, args.prepare.clone(), &args.set));
    };
    let file = input::knobs(path)?;
    let mut knobs = file.pairs();
    knobs.retain(|(name, _)| args.set.iter().all(|(own, _)| own != name));
    knobs.extend(args.set.iter().cloned());
    // No steps in a file mean none; no steps on the command line mean the default.
    let prepare = if file.prepare.is_empty() { vec!["none".into()] } else { file.prepare };
    Ok(Configuration::new(&file.method, prepare, &knobs))
}

fn fit<T: Real>(args: &Fit, common: &Common) -> Outcome {
    input::check_set_once(&args.set)?;
    let requested = configuration(args)?;
    if let Some(other) = comparison::outsider(&requested.method) {
        return hand_over::to(other.program, Failure::Misuse(other.hint("fit")));
    }
    let (method, knobs) = (methods::find::<T>(&requested.method)?, requested.pairs());
    method.check(&knobs)?;
    let device = Opening::begin::<T>(args.device)?;
    let mut options = options::<T>(args, &requested, common)?;
    input::check_label_source(&args.data)?;
    check_paths(args)?;

    let started = Instant::now();
    let Read { samples, names, naming, notes } = read::<T>(args, &mut options)?;
    options.device = device.wait(common)?;
    let read_seconds = started.elapsed().as_secs_f64();
    let (n_features, n_samples) = (samples.n_features(), samples.n_samples());
    let n_classes = samples.labels().classes().len();
    // A first guess: the preparation may change the number of features.
    let memory_of_raw = match args.scratch.is_some() {
        true => method.memory_needed_on_disk(&knobs, (n_features, n_samples, n_classes))?,
        false => method.memory_needed(&knobs, n_features, n_samples, n_classes)?,
    };
    memory::suit_a_fit_of(memory_of_raw);
    if !common.json {
        print::to_stdout(&summary::before_fit(&args.data.data, &samples))?;
    }
    if let Some(path) = &args.graph {
        options.graph = Some(Arc::new(input::graph::<T>(path, n_samples)?));
    }

    cancel::listen(common.quiet);
    let kept = args.report.is_some().then(|| samples.clone());
    let mut view = ProgressView::new(common.quiet);
    if !common.json {
        view = view.with_memory();
    }
    notes.iter().for_each(|note| view.notice(note));
    let model = method.fit(&knobs, samples, &options, &mut view);
    let memory_needed = view.memory_needed().unwrap_or(memory_of_raw);
    let notices = view.finish();
    let model = model.and_then(|model| model.named(naming));
    let model = model.map_err(|error| Failure::about(&args.data.data, error))?;
    let started = Instant::now();
    model.save(&args.model)?;
    let save_seconds = started.elapsed().as_secs_f64();
    if let Some(path) = &args.trace {
        output::write(path, trace(&model).as_bytes())?;
    }
    if let Some((path, samples)) = args.report.as_ref().zip(kept) {
        let trial = Trial { method, knobs: &knobs, options: &options };
        let page = page(args, common, &trial, &model, &samples, &names);
        page.and_then(|page| pages::write(path, &page)).map_err(|failure| {
            Failure::Failed(format!("{failure}; the model is saved in {}", args.model.display()))
        })?;
    }
    let path = &args.model;
    let report = args.report.as_deref();
    let fitted = Fitted { report, model, path, notices, read_seconds, save_seconds, memory_needed };
    if common.json {
        print::json(&fitted.json())?;
    } else {
        print::to_stdout(&fitted.text())?;
    }
    fail_if_cancelled(&fitted.model, path)
}

/// What a file holds.
struct Read<T> {
    samples: Samples<T>,
    names: Names,
    /// What the model should know of the columns.
    naming: Naming,
    notes: Vec<String>,
}

/// The samples, what is known of them, and what of the options depends on them.
fn read<T: Real>(args: &Fit, options: &mut FitOptions<T>) -> Outcome<Read<T>> {
    if let Some((samples, image)) = input::large::<T>(&args.data)? {
        options.image = input::image(&args.data.data, args.image, samples.n_features(), image)?;
        let names = Names { samples: None, features: None };
        return Ok(Read { samples, names, naming: Naming::default(), notes: Vec::new() });
    }
    let mut table = input::read(&args.data, args.image)?;
    options.sample_weight = input::weights(&args.data, &mut table, args.graph.is_some())?;
    options.image = input::image(&args.data.data, args.image, table.features.rows(), table.image)?;
    let (naming, notes) = (table.naming(), std::mem::take(&mut table.notes));
    // A fit may take hours, and what the model cannot be told of its columns would lose it.
    naming.check(table.features.rows()).map_err(|error| Failure::about(&args.data.data, error))?;
    let names =
        Names { samples: table.sample_names.clone(), features: table.feature_names.clone() };
    Ok(Read { samples: input::samples::<T>(&args.data, table)?, names, naming, notes })
}

/// The report page of this fit, with the cross-validation of it and other methods on the labels.
fn page<T: Real>(
    args: &Fit,
    common: &Common,
    trial: &Trial<'_, T>,
    model: &Model<T>,
    samples: &Samples<T>,
    names: &Names,
) -> Outcome<Page> {
    let counter = FitCounter::new(common.quiet);
    let found = hidden::cross_validate(trial, samples, &counter);
    counter.finish();
    let found = found?;
    let found = Some(found.as_slice()).filter(|found| !found.is_empty() || !cancel::is_requested());
    pages::fit_page(&args.data.data, model, samples, names, found, common.threads.into())
}

/// Preparation, seed and limits; refuses an unknown or impossible step.
fn options<T: Real>(
    args: &Fit,
    requested: &Configuration,
    common: &Common,
) -> Outcome<FitOptions<T>> {
    let mut options = FitOptions {
        seed: common.seed,
        threads: common.threads.into(),
        memory_limit: args.memory_limit,
        scratch: args.scratch.clone(),
        calibrate: args.calibrate == Answer::Yes,
        class_weight: args.class_weight.clone(),
        ..FitOptions::default()
    };
    if let Some(plans) = input::plans(&requested.prepare)? {
        options.prepare = plans;
    }
    Ok(options)
}

fn check_paths(args: &Fit) -> Outcome {
    let mut inputs = vec![args.data.data.as_path()];
    inputs.extend(
        args.data
            .labels
            .as_deref()
            .into_iter()
            .chain(args.graph.as_deref())
            .chain(args.knobs.as_deref()),
    );
    let outputs = [Some(args.model.as_path()), args.trace.as_deref(), args.report.as_deref()];
    output::check(&outputs, &inputs)
}

fn trace<T: Real>(model: &Model<T>) -> String {
    let rows = &model.report().trace;
    let mut text = String::from("iteration,step");
    let names = term_names(rows);
    for name in &names {
        text.push(',');
        text.push_str(name);
    }
    text.push_str(",total,surrogate,flips,seconds\n");
    for row in rows {
        // Writing to a string cannot fail.
        let _ = write!(text, "{},{}", row.iteration, row.step.name());
        for name in &names {
            let _ = write!(text, ",{:?}", row.objective.term(name));
        }
        let (total, surrogate) = (row.objective.total(), row.surrogate);
        let _ = writeln!(text, ",{total:?},{surrogate:?},{},{:.6}", row.flips, row.seconds);
    }
    text
}

fn fail_if_cancelled<T: Real>(model: &Model<T>, path: &Path) -> Outcome {
    let report = model.report();
    if report.stop != Stop::Cancelled {
        if !cancel::is_requested() {
            return Ok(());
        }
        return Err(Failure::Failed(format!(
            "cancelled after the fit; the model is saved in {}",
            path.display()
        )));
    }
    let iterations = print::counted(report.iterations, "iteration", "iterations");
    Err(Failure::Failed(format!(
        "cancelled after {iterations}; the model so far is saved in {}",
        path.display()
    )))
}
