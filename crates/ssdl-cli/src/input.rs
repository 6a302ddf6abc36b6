//! Samples and labels from files to the library, without copies.

use std::any::Any;

use ssdl::{Labels, Matrix, Real, Samples};
use ssdl_data::{Format, Options, Table};

use crate::args::{Answer, Data};
use crate::failure::{Failure, Outcome};

/// Reads the samples and whatever labels there are. `n_features` is how many a model expects; the
/// label column may then be missing.
pub fn read(args: &Data, n_features: Option<usize>) -> Outcome<Table> {
    let options = Options {
        format: args.format,
        header: args.header.map(|answer| answer == Answer::Yes),
        label_column: args.label_column.clone(),
        label_optional: n_features.is_some(),
        n_features,
        features_array: args.array.clone(),
        unlabelled: args.unlabelled.clone(),
        ..Options::default()
    };
    let mut table = ssdl_data::read(&args.data, &options)?;
    if let Some(path) = &args.labels {
        let options = Options { unlabelled: args.unlabelled.clone(), ..Options::default() };
        let labels = ssdl_data::read_labels(path, &options)?;
        let (expected, got) = (table.features.columns(), labels.len());
        if got != expected {
            let hint = if got == expected + 1 {
                "if its first line is a header, call it `label`"
            } else {
                "write one line per sample, an empty one where the label is unknown"
            };
            let path = path.display();
            return Err(Failure::Failed(format!(
                "{path}: {got} labels for {expected} samples; {hint}"
            )));
        }
        table.labels = Some(labels);
    }
    Ok(table)
}

/// Refuses, before anything is read, a fit whose labels can come from nowhere.
pub fn check_label_source(args: &Data) -> Outcome {
    if args.labels.is_some() || args.label_column.is_some() {
        return Ok(());
    }
    let format = args.format.or_else(|| Format::from_path(&args.data));
    match format {
        Some(Format::Npz | Format::Mat | Format::Safetensors) | None => Ok(()),
        Some(_) => Err(no_labels(args)),
    }
}

/// The refusal of a fit without labels.
pub fn no_labels(args: &Data) -> Failure {
    Failure::Misuse(format!(
        "{}: where are the labels? Name their column with --label-column, give --labels FILE, \
         or use a file of several arrays (npz, mat, safetensors) with one called `y` or `labels`",
        args.data.display()
    ))
}

/// The table as samples of this precision.
pub fn samples<T: Real>(args: &Data, table: Table) -> Outcome<Samples<T>> {
    let names = table.labels.ok_or_else(|| no_labels(args))?;
    Samples::new(in_precision(table.features), Labels::from_names(&names))
        .map_err(|error| Failure::about(&args.data, error))
}

/// Numbers that have the precision already are handed on, not copied.
pub fn in_precision<T: Real>(mut features: Matrix<f64>) -> Matrix<T> {
    let any: &mut dyn Any = &mut features;
    match any.downcast_mut::<Matrix<T>>() {
        Some(same) => std::mem::replace(same, Matrix::zeros(0, 0)),
        None => features.cast(),
    }
}
