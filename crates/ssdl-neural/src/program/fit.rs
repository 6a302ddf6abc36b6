//! `ssdl-neural fit`: learns a net from a file of samples.

use ssdl::samples::prepare::StepChoice;
use ssdl::{Labels, Samples};
use ssdl_data::{Column, ReadOptions, Table};
use ssdl_neural::{Method, Options, Stop};

use super::args::{Common, Data, Fit};
use super::progress::View;
use super::{Outcome, cancel, print};

/// Runs the command.
pub fn run(args: &Fit, common: &Common) -> Outcome {
    let method = Method::find(&args.method)?;
    method.check(&args.set)?;
    let steps: ssdl::Result<Vec<StepChoice>> =
        args.prepare.iter().filter(|step| *step != "none").map(|step| step.parse()).collect();
    let steps = steps?;
    for input in [Some(&args.data.data), args.data.labels.as_ref()].into_iter().flatten() {
        if ssdl::files::same(&args.model, input) {
            return Err(
                format!("{}: is an input file and would be replaced", input.display()).into()
            );
        }
    }
    ssdl_data::check_writable(&args.model)?;
    let table = read(&args.data, args.image, None)?;
    let options = Options {
        seed: common.seed,
        threads: common.threads.into(),
        prepare: steps,
        image: args.image.or(table.image),
        memory_limit: args.memory_limit,
    };
    let names = table.labels.clone().unwrap_or_default();
    if names.is_empty() {
        return Err("there are no labels; give --labels or --label-column".into());
    }
    let samples = Samples::new(table.features.cast::<f32>(), Labels::from_names(&names))?;
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
    match net.stop() {
        Stop::Limit => Ok(()),
        stop => {
            Err(format!("{stop}; the best net so far is saved in {}", args.model.display()).into())
        }
    }
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
