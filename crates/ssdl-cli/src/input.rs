//! Reads samples and labels from files for the library, without copies.

use std::any::Any;
use std::path::Path;

use ssdl::graph::Given;
use ssdl::samples::prepare::StepChoice;
use ssdl::sparse::Csr;
use ssdl::{AnyModel, Error, Labels, Matrix, Model, Real, Samples};
use ssdl_data::{Block, Format, ReadOptions, Table};
use ssdl_experiments::comparison::PROGRAM_OF_NETS;
use ssdl_experiments::tune::Configuration;
use ssdl_label::Labelled;

use crate::args::{Answer, Data};
use crate::failure::{Failure, Outcome};
use crate::print;

/// Reads a model, in the precision it has.
pub fn model(path: &Path) -> Outcome<AnyModel> {
    AnyModel::load(path).map_err(|error| match error {
        Error::Format { .. } if is_net(path) => Failure::Failed(format!(
            "{}: is a net, not a model of ssdl; use the program that fitted it: `{PROGRAM_OF_NETS} predict`",
            path.display()
        )),
        Error::Io { .. } | Error::Format { .. } => {
            Failure::Failed(format!("{error}; give a model saved by `ssdl fit`"))
        }
        other => other.into(),
    })
}

/// Whether this is a net of `ssdl-neural`, whose files have the framing of a model file.
pub fn is_net(path: &Path) -> bool {
    let header = ssdl::model::load_arrays(path).map(|(header, _)| header).unwrap_or_default();
    let header: serde_json::Value = serde_json::from_str(&header).unwrap_or_default();
    header["format"] == "ssdl-net"
}

/// Reads the samples of a fit and their labels, if any; images in a folder are resized to `image`,
/// if given.
pub fn read(args: &Data, image: Option<[usize; 2]>) -> Outcome<Table> {
    read_as(
        args,
        ReadOptions {
            image,
            words: args.words,
            fill_gaps: args.fill_gaps,
            ..ReadOptions::default()
        },
    )
}

/// Reads samples for a model, which fixes the number of features and the size of images; the label
/// column may be missing.
pub fn read_for<T: Real>(args: &Data, model: &Model<T>) -> Outcome<Table> {
    let of_fit = [("--words", args.words), ("--fill-gaps", args.fill_gaps)];
    if let Some((option, _)) = of_fit.iter().find(|(_, given)| *given) {
        return Err(Failure::Misuse(format!(
            "{option} is for the fit: the model reads words and gaps as it did then"
        )));
    }
    let naming = model.naming();
    let expected = ReadOptions {
        image: model.image(),
        label_optional: true,
        n_features: Some(naming.columns.as_ref().map_or(model.n_features(), Vec::len)),
        feature_names: naming.of_columns(),
        columns: naming.columns.clone(),
        ..ReadOptions::default()
    };
    read_as(args, expected)
}

/// Prints what a reader of the table should know.
pub fn say(notes: &[String], quiet: bool) {
    notes.iter().filter(|_| !quiet).for_each(|note| print::to_stderr(&format!("note: {note}")));
}

/// Reads samples as the arguments say, with what is known besides.
fn read_as(args: &Data, known: ReadOptions) -> Outcome<Table> {
    let options = ReadOptions {
        format: args.format,
        header: args.header.map(|answer| answer == Answer::Yes),
        label_column: args.label_column.clone(),
        ignored_columns: args.ignore_column.clone(),
        weight_column: args.weight_column.clone(),
        features_array: args.array.clone(),
        unlabelled: args.unlabelled.clone(),
        max_unpacked: args.unpack_limit,
        ..known
    };
    refuse_file_options(&args.data, &options)?;
    // Beside a journal the column is what was known when labelling began; the journal holds it.
    if args.label_column.is_some() && args.labels.as_deref().is_some_and(|path| !is_journal(path)) {
        return Err(Failure::Misuse(
            "--labels and --label-column cannot be used together, except with a journal of \
             `ssdl label`"
                .into(),
        ));
    }
    let mut table = ssdl_data::read(&args.data, &options).map_err(Failure::of_table)?;
    if let Some(name) = &args.weight_column
        && !table.split_off_weights(name)
        && !options.label_optional
    {
        return Err(Failure::Failed(format!(
            "{}: no column `{name}` of weights; its feature columns are {}",
            args.data.display(),
            table.feature_names.map_or("without names".into(), |names| names.join(", "))
        )));
    }
    if let Some(path) = args.labels.as_deref().filter(|path| is_journal(path)) {
        return journal(path, args, table);
    }
    if let Some(path) = &args.labels {
        table.labels = Some(labels_for(path, args, table.features.columns())?);
    }
    Ok(table)
}

/// Samples, and the shape of their images if they are images.
type Shaped<T> = (Samples<T>, Option<[usize; 2]>);

/// Samples in the precision of the fit, and the shape of an image, from a file that can be read a block
/// at a time and has its labels in another file; `None` for every other.
pub fn large<T: Real>(args: &Data) -> Outcome<Option<Shaped<T>>> {
    let Some(path) = args.labels.as_deref().filter(|path| !is_journal(path)) else {
        return Ok(None);
    };
    let asks_for_columns = args.label_column.is_some()
        || args.weight_column.is_some()
        || !args.ignore_column.is_empty();
    if asks_for_columns || args.array.is_some() {
        return Ok(None);
    }
    let (format, max_unpacked) = (args.format, args.unpack_limit);
    let options = ReadOptions { format, max_unpacked, ..ReadOptions::default() };
    let Some(Block { features, image }) = ssdl_data::read_blocks::<T>(&args.data, &options) else {
        return Ok(None);
    };
    let names = labels_for(path, args, features.columns())?;
    let samples = Samples::new(features, Labels::from_names(&names));
    let samples = samples.map_err(|error| Failure::about(&args.data, error))?;
    Ok(Some((samples, image)))
}

/// Reads a file of labels for so many samples.
fn labels_for(path: &Path, args: &Data, expected: usize) -> Outcome<Vec<Option<String>>> {
    let labels = labels(path, args)?;
    let got = labels.len();
    if got == expected {
        return Ok(labels);
    }
    let hint = if got == expected + 1 {
        "if its first line is a header, call it `label`"
    } else {
        "write one line per sample, empty if the label is unknown"
    };
    let path = path.display();
    Err(Failure::Failed(format!("{path}: {got} labels for {expected} samples; {hint}")))
}

/// Leaves out samples of weight zero, and gives back the weights of the others.
pub fn weights(args: &Data, table: &mut Table, has_graph: bool) -> Outcome<Option<Vec<f64>>> {
    let n_samples = table.features.columns();
    let kept = ssdl::samples::weights::kept(table.weights.as_deref(), n_samples)
        .map_err(|error| Failure::about(&args.data, error))?;
    if kept.is_some() && has_graph {
        return Err(Failure::Misuse(
            "samples of weight zero are left out of a fit, but the graph of --graph has them: leave \
             them out of both files"
                .into(),
        ));
    }
    table.drop_weightless();
    Ok(table.weights.clone())
}

fn is_journal(path: &Path) -> bool {
    path.extension().is_some_and(|ending| ending == "jsonl")
}

/// Takes the labels of a journal of `ssdl label`; samples that it calls unusable weigh nothing.
fn journal(path: &Path, args: &Data, mut table: Table) -> Outcome<Table> {
    let count = table.features.columns();
    let name = |sample: usize| table.sample_names.as_ref().map(|names| names[sample].clone());
    let digest = |sample: usize| match name(sample) {
        Some(name) if args.data.is_dir() => ssdl_label::digest_of_file(&args.data.join(name)),
        _ => Ok(ssdl_label::digest_of_row(&table.content(sample))),
    };
    let Labelled { labels, unusable } = ssdl_label::labels_of_journal(path, count, &name, &digest)?;
    if unusable.contains(&true) {
        let weights = table.weights.take().unwrap_or_else(|| vec![1.0; count]);
        let left = weights.into_iter().zip(unusable);
        table.weights = Some(left.map(|(weight, out)| if out { 0.0 } else { weight }).collect());
    }
    table.labels = Some(labels);
    Ok(table)
}

/// Reads a file of labels alone.
fn labels(path: &Path, args: &Data) -> Outcome<Vec<Option<String>>> {
    let (unlabelled, max_unpacked) = (args.unlabelled.clone(), args.unpack_limit);
    let options = ReadOptions { unlabelled, max_unpacked, ..ReadOptions::default() };
    ssdl_data::read_labels(path, &options).map_err(|error| match error {
        ssdl_data::Error::LabelColumn { path, available, .. } => Failure::Failed(format!(
            "{}: a file of labels has one column, this one has several ({available}); keep the labels \
             alone",
            path.display()
        )),
        other => other.into(),
    })
}

/// Refuses options about the inside of a file for a folder of images.
pub fn refuse_file_options(path: &Path, options: &ReadOptions) -> Outcome {
    let given = [
        ("--label-column", options.label_column.is_some()),
        ("--ignore-column", !options.ignored_columns.is_empty()),
        ("--array", options.features_array.is_some()),
        ("--words", options.words),
        ("--fill-gaps", options.fill_gaps),
        ("--format", options.format.is_some()),
        ("--header", options.header.is_some()),
    ];
    match given.iter().find(|(_, given)| *given) {
        Some((option, _)) if path.is_dir() => Err(Failure::Misuse(format!(
            "{}: {option} is for files; in a folder of images, each sub-folder is a class",
            path.display()
        ))),
        _ => Ok(()),
    }
}

/// Refuses a knob that is set twice: one of the two would be ignored.
pub fn check_set_once(knobs: &[(String, String)]) -> Outcome {
    let twice = |at: usize| knobs[..at].iter().any(|(earlier, _)| *earlier == knobs[at].0);
    match (0..knobs.len()).find(|&at| twice(at)) {
        Some(at) => Err(Failure::Misuse(format!(
            "knob `{}` is set twice; give one --set {}=VALUE",
            knobs[at].0, knobs[at].0
        ))),
        None => Ok(()),
    }
}

/// Reads knobs that `ssdl tune` found.
pub fn knobs(path: &Path) -> Outcome<Configuration> {
    let refuse = |reason: String| {
        let path = path.display();
        Err(Failure::Failed(format!("{path}: {reason}; give a file of `ssdl tune --out`")))
    };
    match std::fs::metadata(path) {
        Err(error) => refuse(format!("cannot be read: {error}")),
        Ok(found) if !found.is_file() => refuse("not a file".into()),
        Ok(_) => Configuration::read(path).or_else(|error| match error {
            ssdl_experiments::Error::Io { source, .. } => {
                refuse(format!("cannot be read: {source}"))
            }
            ssdl_experiments::Error::Plan { reason, .. } => refuse(reason),
            other => Err(other.into()),
        }),
    }
}

/// Refuses, before anything is read, a fit without any source of labels.
pub fn check_label_source(args: &Data) -> Outcome {
    if args.labels.is_some() || args.label_column.is_some() || args.data.is_dir() {
        return Ok(());
    }
    let format = args.format.or_else(|| Format::from_path(&args.data));
    match format {
        Some(Format::Npz | Format::Mat | Format::Safetensors) | None => Ok(()),
        Some(_) => Err(no_labels(args)),
    }
}

/// The error for a fit without labels.
pub fn no_labels(args: &Data) -> Failure {
    Failure::Misuse(format!(
        "{}: where are the labels? Name their column with --label-column, give --labels FILE, \
         use a file with an array called `y` or `labels` (npz, mat, safetensors), or a folder with \
         a sub-folder of images for each class",
        args.data.display()
    ))
}

/// The table as samples of this precision.
pub fn samples<T: Real>(args: &Data, table: Table) -> Outcome<Samples<T>> {
    let names = table.labels.ok_or_else(|| no_labels(args))?;
    Samples::new(in_precision(table.features), Labels::from_names(&names))
        .map_err(|error| Failure::about(&args.data, error))
}

/// The shape of the samples, if they are images: `requested` overrides the shape in the file.
pub fn image(
    data: &Path,
    requested: Option<[usize; 2]>,
    n_features: usize,
    stored: Option<[usize; 2]>,
) -> Outcome<Option<[usize; 2]>> {
    match requested {
        Some([height, width]) if height * width != n_features => Err(Failure::Misuse(format!(
            "--image {height}x{width} has {} pixels, but {} has {n_features} features",
            height * width,
            data.display()
        ))),
        Some(image) => Ok(Some(image)),
        None => Ok(stored),
    }
}

/// Numbers that are converted before their room is given back.
const PART: usize = 1 << 22;

/// Converts to this precision, a part at a time, so that both copies are never there as a whole; a matrix
/// that has it already is moved, not copied.
pub fn in_precision<T: Real>(mut features: Matrix<f64>) -> Matrix<T> {
    let any: &mut dyn Any = &mut features;
    match any.downcast_mut::<Matrix<T>>() {
        Some(same) => std::mem::replace(same, Matrix::zeros(0, 0)),
        None => {
            let (rows, columns) = (features.rows(), features.columns());
            let mut from = features.into_vec();
            let mut to = Matrix::zeros(rows, columns);
            while !from.is_empty() {
                let rest = from.len().saturating_sub(PART);
                let part = to.as_mut_slice()[rest..].iter_mut().zip(&from[rest..]);
                part.for_each(|(out, value)| *out = T::of(*value));
                from.truncate(rest);
                from.shrink_to_fit();
            }
            to
        }
    }
}

/// The requested preparation; `None` if there are no steps, which means the default.
pub fn plans(steps: &[String]) -> Outcome<Option<Vec<StepChoice>>> {
    if steps.iter().any(|step| step == "none") {
        if steps.len() > 1 {
            return Err(Failure::Misuse(
                "--prepare none cannot be combined with other steps; give it alone".into(),
            ));
        }
        return Ok(Some(Vec::new()));
    }
    if steps.is_empty() {
        return Ok(None);
    }
    let plans: ssdl::Result<Vec<StepChoice>> = steps.iter().map(|step| step.parse()).collect();
    Ok(Some(plans?))
}

/// Reads a graph from a file: lines of two samples and a weight (1 if omitted), or a square array of
/// weights.
pub fn graph<T: Real>(path: &Path, n_samples: usize) -> Outcome<Given<T>> {
    let table = ssdl_data::read(path, &ReadOptions::default())?;
    let (columns, rows) = (table.features.rows(), table.features.columns());
    let given = if (columns, rows) == (n_samples, n_samples) {
        // Symmetric, so it does not matter whether rows or columns are read as rows.
        Given::affinities(Csr::of_columns(&table.features.cast()))
    } else if matches!(columns, 2 | 3) {
        Given::edges(n_samples, &edges(path, &table.features)?)
    } else {
        return Err(Failure::Failed(format!(
            "{}: {rows} rows and {columns} columns; a graph needs lines of sample,sample,weight or \
             a square array of {n_samples} x {n_samples} weights",
            path.display()
        )));
    };
    given.map_err(|error| Failure::about(path, error))
}

fn edges<T: Real>(path: &Path, lines: &Matrix<f64>) -> Outcome<Vec<(usize, usize, T)>> {
    let sample = |line: usize, value: f64| {
        if value >= 0.0 && value.fract() == 0.0 && value < f64::from(u32::MAX) {
            return Ok(value as usize);
        }
        Err(Failure::Failed(format!(
            "{}: edge {}: `{value}` is not a sample number, counted from 0",
            path.display(),
            line + 1
        )))
    };
    let edge = |(line, entries): (usize, &[f64])| {
        let weight = entries.get(2).copied().unwrap_or(1.0);
        Ok((sample(line, entries[0])?, sample(line, entries[1])?, T::of(weight)))
    };
    lines.iter_columns().enumerate().map(edge).collect()
}
