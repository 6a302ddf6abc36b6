//! `ssdl-neural predict`: classifies samples with a saved net.

use std::path::Path;

use ssdl_neural::Net;

use super::args::{Common, Predict};
use super::page::{self, Shown};
use super::{Outcome, fit, print};

/// Runs the command.
pub fn run(args: &Predict, common: &Common) -> Outcome {
    let net = load(&args.model)?;
    let inputs = [Some(&args.model), Some(&args.data.data), args.data.labels.as_ref()];
    let inputs: Vec<_> = inputs.into_iter().flatten().collect();
    fit::check_outputs(&[args.out.as_ref(), args.report.as_ref()], &inputs)?;
    let table = fit::read(&args.data, net.image(), Some(net.n_features()))?;
    let (expected, got) = (net.n_features(), table.features.rows());
    if expected != got {
        let path = args.data.data.display();
        return Err(format!("{path}: the net expects {expected} features, got {got}").into());
    }
    let raw = table.features.cast::<f32>();
    let found = ssdl::threads::run(common.threads.into(), || net.predict(raw))
        .map_err(|error| format!("{}: {error}", args.data.data.display()))?;
    let probabilities = args.proba.then_some((net.classes(), &found.probabilities));
    let names = table.sample_names.as_deref();
    match &args.out {
        Some(path) => ssdl_data::write_predictions(path, names, &found.labels, probabilities)?,
        None => {
            let mut csv = Vec::new();
            ssdl_data::write_predictions_to(&mut csv, names, &found.labels, probabilities)?;
            print::to_stdout(String::from_utf8_lossy(&csv).trim_end_matches('\n'))?;
        }
    }
    let known = table.labels.unwrap_or_default();
    if let Some(path) = &args.report {
        let shown = Shown { found: &found, truth: &known, are_given: false, names };
        page::write(path, &args.data.data, &net, &shown)?;
    }
    let known: Vec<(&String, &String)> =
        known.iter().zip(&found.labels).filter_map(|(k, f)| Some((k.as_ref()?, f))).collect();
    if !known.is_empty() && !common.quiet {
        let right = known.iter().filter(|(known, found)| known == found).count();
        let share = 100.0 * right as f64 / known.len() as f64;
        print::to_stderr(&format!("accuracy {share:.2} % of {} known labels", known.len()));
    }
    Ok(())
}

/// Reads a net; a model of `ssdl` is named with the program that reads it.
fn load(path: &Path) -> Outcome<Net> {
    Net::load(path).map_err(|error| match ssdl::AnyModel::load(path) {
        Ok(_) => format!(
            "{}: is a model of ssdl, not a net; use the program that fitted it: `ssdl predict`",
            path.display()
        )
        .into(),
        Err(_) => error.into(),
    })
}
