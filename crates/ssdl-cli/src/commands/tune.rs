//! `ssdl tune`: searches knobs by cross-validation on the labels.

use std::time::Instant;

use serde_json::{Map, Value, json};
use ssdl::methods::{self, FitOptions};
use ssdl_experiments::tune::{Aim, Budget, Configuration, Criterion, Found, tune};

use super::summary::typed;
use crate::args::{By, Common, Tune};
use crate::device::Opening;
use crate::failure::{Failure, Outcome};
use crate::print::{Sheet, counted, percent, seconds};
use crate::progress::FitCounter;
use crate::{cancel, input, output, print};

/// The preparations that are tried beside the default one.
const OTHER_PREPARATIONS: [&[&str]; 2] = [&["scale=5"], &["standardise", "scale=5"]];

/// Runs the command.
pub fn run(args: &Tune, common: &Common) -> Outcome {
    let method = methods::find::<f32>(&args.method)?;
    input::check_set_once(&args.set)?;
    method.check(&args.set)?;
    input::check_label_source(&args.data)?;
    let mut inputs = vec![args.data.data.as_path()];
    inputs.extend(args.data.labels.as_deref());
    output::check(&[args.out.as_deref()], &inputs)?;
    let budget = Budget { fits: args.fits, seconds: args.seconds.unwrap_or(f64::INFINITY) };
    if budget.fits == 0 || budget.seconds.is_nan() || budget.seconds <= 0.0 {
        return Err(Failure::Misuse(
            "a search needs at least one fit and more than 0 seconds".into(),
        ));
    }
    let mut options =
        FitOptions { seed: common.seed, threads: common.threads.into(), ..FitOptions::default() };
    options.class_weight = args.class_weight.clone();
    let device = Opening::begin::<f32>(args.device)?;
    let settings = args.settings.unwrap_or(0);
    let mut aim = Aim { by: criterion(args.by), preparations: Vec::new(), settings };
    match input::plans(&args.prepare)? {
        Some(plans) => options.prepare = plans,
        None => {
            for steps in OTHER_PREPARATIONS {
                let steps: Vec<String> = steps.iter().map(|step| (*step).to_owned()).collect();
                aim.preparations.extend(input::plans(&steps)?);
            }
        }
    }
    let mut table = input::read(&args.data, args.image)?;
    input::say(&table.notes, common.quiet);
    options.sample_weight = input::weights(&args.data, &mut table, false)?;
    options.image = input::image(&args.data.data, args.image, table.features.rows(), table.image)?;
    let samples = input::samples::<f32>(&args.data, table)?;
    options.device = device.wait(common)?;
    if samples.labels().n_labelled() == 0 {
        let reason = "no sample is labelled; at least two classes are needed".to_owned();
        return Err(Failure::about(&args.data.data, ssdl::Error::Labels(reason)));
    }
    cancel::listen(common.quiet);
    let started = Instant::now();
    let counter = FitCounter::new(common.quiet);
    let found = tune(method, &args.set, &samples, &options, &aim, budget, &counter);
    counter.finish();
    let found = found.map_err(|error| match error {
        ssdl_experiments::Error::Fit(inner) => Failure::about(&args.data.data, inner),
        other => other.into(),
    })?;
    let steps: Vec<String> = found.prepare.iter().map(ToString::to_string).collect();
    let text = Configuration::new(&args.method, steps, &found.knobs).text()?;
    if let Some(path) = &args.out {
        output::write(path, text.as_bytes())?;
    }
    let elapsed = started.elapsed().as_secs_f64();
    if common.json {
        return print::json(&answer(args, &found, elapsed));
    }
    if !common.quiet {
        print::to_stderr(&summary(&found, aim.by, elapsed));
    }
    print::to_stdout(text.trim_end())
}

fn criterion(by: By) -> Criterion {
    match by {
        By::Accuracy => Criterion::Accuracy,
        By::LogLoss => Criterion::LogLoss,
    }
}

fn summary(found: &Found, by: Criterion, elapsed: f64) -> String {
    let mut sheet = Sheet::default();
    let (fits, folds) = (counted(found.fits, "fit", "fits"), counted(found.folds, "fold", "folds"));
    let settings = counted(found.tried.len(), "setting", "settings");
    sheet.row("tried", format!("{settings} in {fits}, {folds}, {}", seconds(elapsed)));
    let (now, before) = (percent(found.accuracy), percent(found.before));
    sheet.row("accuracy", format!("{now} on hidden labels, {before} before"));
    if by == Criterion::LogLoss {
        let (now, before) = (found.log_loss, found.log_loss_before);
        sheet.row("log-loss", format!("{now:.3} on hidden labels, {before:.3} before"));
    }
    let error = found.standard_error;
    sheet.row(
        "gain",
        match (found.is_better, by) {
            (false, _) => "no setting is better beyond chance; the defaults are kept".into(),
            (true, Criterion::Accuracy) => {
                let gain = 100.0 * (found.accuracy - found.before);
                format!("{gain:.1} points, standard error {:.1}", 100.0 * error)
            }
            (true, Criterion::LogLoss) => {
                let gain = found.log_loss_before - found.log_loss;
                format!("{gain:.3}, standard error {error:.3}")
            }
        },
    );
    if let Some((share, is_better)) = found.nearest {
        let doubt = if is_better { "" } else { ": no gain over it; label more, or take it" };
        sheet.row("nearest", format!("{} by the nearest label{doubt}", percent(share)));
    }
    if found.cut_short {
        sheet.row("budget", "used up before the last stage; more fits may find better knobs");
    }
    sheet.text().trim_end().to_owned()
}

fn answer(args: &Tune, found: &Found, elapsed: f64) -> Value {
    let object = |knobs: &[(String, String)]| -> Value {
        let pairs = knobs.iter().map(|(name, value)| (name.clone(), typed(value)));
        pairs.collect::<Map<_, _>>().into()
    };
    let tried = found.tried.iter();
    let tried = tried.map(|t| {
        json!({
            "knobs": object(&t.knobs),
            "prepare": t.prepare,
            "accuracy": t.accuracy,
            "log_loss": t.log_loss,
        })
    });
    let prepare: Vec<String> = found.prepare.iter().map(ToString::to_string).collect();
    json!({
        "method": args.method,
        "knobs": object(&found.knobs),
        "prepare": prepare,
        "is_better": found.is_better,
        "standard_error": found.standard_error,
        "log_loss": found.log_loss,
        "log_loss_before": found.log_loss_before,
        "nearest": found.nearest.map(|(share, _)| share),
        "beats_nearest": found.nearest.map(|(_, is_better)| is_better),
        "accuracy": found.accuracy,
        "accuracy_before": found.before,
        "fits": found.fits,
        "folds": found.folds,
        "cut_short": found.cut_short,
        "tried": tried.collect::<Vec<_>>(),
        "seconds": elapsed,
    })
}
