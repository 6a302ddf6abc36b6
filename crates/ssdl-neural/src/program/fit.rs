//! `ssdl-neural fit`: learns a net from a file of samples.

use std::path::PathBuf;

use ssdl::samples::prepare::StepChoice;
use ssdl::{Labels, Samples};
use ssdl_data::{Column, ReadOptions, Table};
use ssdl_neural::{Method, Options, Stop};

use super::args::{Common, Data, Fit};
use super::page::{self, Shown};
use super::progress::View;
use super::{Outcome, cancel, device, print};

/// Runs the command.
pub fn run(args: &Fit, common: &Common) -> Outcome {
    let method = Method::find(&args.method)?;
    method.check(&args.set)?;
    let steps: ssdl::Result<Vec<StepChoice>> =
        args.prepare.iter().filter(|step| *step != "none").map(|step| step.parse()).collect();
    let steps = steps?;
    let inputs = [Some(&args.data.data), args.data.labels.as_ref()].into_iter().flatten();
    check_outputs(&[Some(&args.model), args.report.as_ref()], &inputs.collect::<Vec<_>>())?;
    let table = read(&args.data, args.image, None)?;
    let options = Options {
        seed: common.seed,
        threads: common.threads.into(),
        prepare: steps,
        image: args.image.or(table.image),
        memory_limit: args.memory_limit,
        place: device::open(args.device, common)?,
    };
    let names = table.labels.clone().unwrap_or_default();
    if names.is_empty() {
        return Err("there are no labels; give --labels or --label-column".into());
    }
    let features = table.features.cast::<f32>();
    let raw = args.report.is_some().then(|| features.clone());
    let samples = Samples::new(features, Labels::from_names(&names))?;
    cancel::listen(common.quiet);
    let mut view = View::new(common.quiet);
    let net = method.fit(&args.set, samples, &options, &mut view);
    view.finish();
    let net = net.map_err(|error| format!("{}: {error}", args.data.data.display()))?;
    let net = net.named(table.feature_names);
    net.save(&args.model)?;
    let report = net.report();
    print::to_stdout(&format!(
        "{} with {} weights: {} epochs in {:.1} s, objective {:.4}, {}\nsaved in {}",
        net.method(),
        net.n_weights(),
        report.epochs,
        report.seconds,
        report.objective,
        report.stop,
        args.model.display()
    ))?;
    if let Some((path, raw)) = args.report.as_ref().zip(raw) {
        let found = ssdl::threads::run(common.threads.into(), || net.predict(raw))?;
        let sample_names = table.sample_names.as_deref();
        let shown = Shown { found: &found, truth: &names, are_given: true, names: sample_names };
        page::write(path, &args.data.data, &net, &shown)?;
        print::to_stdout(&format!("report: {}; open it in a browser", path.display()))?;
    }
    match net.stop() {
        Stop::Limit => Ok(()),
        stop => {
            Err(format!("{stop}; the best net so far is saved in {}", args.model.display()).into())
        }
    }
}

/// Refuses outputs that cannot be written, that are input files, or two that are one file.
pub fn check_outputs(outputs: &[Option<&PathBuf>], inputs: &[&PathBuf]) -> Outcome {
    let outputs: Vec<&PathBuf> = outputs.iter().copied().flatten().collect();
    for (at, path) in outputs.iter().enumerate() {
        if let Some(input) = inputs.iter().find(|input| ssdl::files::same(path, input)) {
            let input = input.display();
            return Err(format!("{input}: is an input file and would be replaced").into());
        }
        if outputs[..at].iter().any(|other| ssdl::files::same(path, other)) {
            let path = path.display();
            return Err(format!("{path}: two results cannot go to the same file").into());
        }
        ssdl_data::check_writable(path)?;
    }
    Ok(())
}

/// Reads samples and labels, if any; a net fixes the number of features and the size of images.
pub fn read(args: &Data, image: Option<[usize; 2]>, n_features: Option<usize>) -> Outcome<Table> {
    let options = ReadOptions {
        image,
        label_column: args.label_column.as_deref().map(Column::from),
        label_optional: n_features.is_some(),
        n_features,
        ..ReadOptions::default()
    };
    let mut table = ssdl_data::read(&args.data, &options)?;
    if let Some(path) = &args.labels {
        let labels = ssdl_data::read_labels(path, &ReadOptions::default())?;
        let (expected, got) = (table.features.columns(), labels.len());
        if expected != got {
            let path = path.display();
            return Err(format!("{path}: {got} labels for {expected} samples").into());
        }
        table.labels = Some(labels);
    }
    Ok(table)
}
