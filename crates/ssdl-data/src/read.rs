//! The two entry points, and how arrays become tables.

use std::path::Path;

use ssdl::Matrix;

use crate::array::{Array, image, shape_text};
use crate::bytes::Loaded;
use crate::container::{Container, features_name, label_name, only_label_name};
use crate::labels::interpret;
use crate::mat::Mat;
use crate::npy::Npz;
use crate::tensors::Tensors;
use crate::{
    Cell, Column, Error, Format, Help, ReadOptions, Result, Row, Table, bytes, delimited, folder,
    idx, npy,
};

/// Reads a file of samples, with labels if it has any, or a folder of images.
///
/// Text tables and NumPy arrays have one sample per row; further axes of an array are flattened,
/// the last fastest. In MATLAB files the number of labels decides whether samples are rows or
/// columns (rows, if there are none or both fit); with three axes, the last one counts the samples.
/// In a folder every sub-folder is a class and `unlabelled` holds the rest; images directly in the
/// folder have no labels.
///
/// # Errors
/// If the file cannot be read, is damaged, holds text or missing values among the features, or
/// does not make clear where samples or labels are. Declared sizes are checked against the actual
/// number of bytes before memory is allocated.
pub fn read(path: impl AsRef<Path>, options: &ReadOptions) -> Result<Table> {
    let path = path.as_ref();
    if path.is_dir() {
        return folder::table(path, options);
    }
    table_of(path, &bytes::load(path, options)?, options)
}

/// Reads samples from the content of a file; `path` is for the format and for messages.
///
/// # Errors
/// As [`read`].
pub fn read_bytes(path: impl AsRef<Path>, bytes: Vec<u8>, options: &ReadOptions) -> Result<Table> {
    let path = path.as_ref();
    table_of(path, &bytes::unpacked(path, bytes, options)?, options)
}

fn table_of(path: &Path, loaded: &Loaded, options: &ReadOptions) -> Result<Table> {
    let Loaded { format, bytes, limit } = loaded;
    let limit = *limit;
    if let (false, Some(column)) = (format.is_text(), options.ignored_columns.first()) {
        return Err(Error::IgnoredColumn {
            path: path.into(),
            wanted: column.to_string(),
            reason: "only tables of text have columns to ignore".into(),
        });
    }
    match *format {
        Format::Csv | Format::Tsv | Format::Text => delimited::table(path, bytes, *format, options),
        Format::Npy => from_array(path, &npy::parse(path, bytes)?, 0, None, options),
        Format::Idx => from_array(path, &idx::parse(path, bytes)?, 0, None, options),
        Format::Npz => {
            from_container(path, &mut Npz::open(path, bytes, limit)?, first_axis, options)
        }
        Format::Safetensors => {
            from_container(path, &mut Tensors::open(path, bytes)?, first_axis, options)
        }
        Format::Mat => {
            from_container(path, &mut Mat::open(path, bytes, limit)?, matlab_axis, options)
        }
    }
}

/// Reads a file of labels alone: one column of text, one array, or the label array of several.
///
/// `None` means an unlabelled sample. In text files the first line is a header if it is `label`,
/// `class` or similar, or if it is the only line that is not a number.
///
/// # Errors
/// As [`read`], and if there is more than one column or axis.
pub fn read_labels(path: impl AsRef<Path>, options: &ReadOptions) -> Result<Vec<Option<String>>> {
    let path = path.as_ref();
    labels_in(path, &bytes::load(path, options)?, options)
}

/// Reads labels from the content of a file; `path` is for the format and for messages.
///
/// # Errors
/// As [`read_labels`].
pub fn read_labels_bytes(
    path: impl AsRef<Path>,
    bytes: Vec<u8>,
    options: &ReadOptions,
) -> Result<Vec<Option<String>>> {
    let path = path.as_ref();
    labels_in(path, &bytes::unpacked(path, bytes, options)?, options)
}

fn labels_in(path: &Path, loaded: &Loaded, options: &ReadOptions) -> Result<Vec<Option<String>>> {
    let Loaded { format, bytes, limit } = loaded;
    let limit = *limit;
    match *format {
        Format::Csv | Format::Tsv | Format::Text => {
            delimited::labels(path, bytes, *format, options)
        }
        Format::Npy => label_array(path, &npy::parse(path, bytes)?, options),
        Format::Idx => label_array(path, &idx::parse(path, bytes)?, options),
        Format::Npz => labels_of(path, &mut Npz::open(path, bytes, limit)?, options),
        Format::Safetensors => labels_of(path, &mut Tensors::open(path, bytes)?, options),
        Format::Mat => labels_of(path, &mut Mat::open(path, bytes, limit)?, options),
    }
}

fn labels_of(
    path: &Path,
    container: &mut impl Container,
    options: &ReadOptions,
) -> Result<Vec<Option<String>>> {
    let name = only_label_name(path, &container.names(), options)?;
    label_array(path, &container.array(&name)?, options)
}

fn label_array(
    path: &Path,
    array: &Array<'_>,
    options: &ReadOptions,
) -> Result<Vec<Option<String>>> {
    let shape = array.shape();
    if shape.iter().filter(|&&n| n != 1).count() > 1 {
        let reason = format!("labels have shape {}; save one label per sample", shape_text(shape));
        return Err(Error::unsupported(path, reason));
    }
    if shape.contains(&0) {
        return Err(Error::empty(path, "the label array is empty"));
    }
    Ok(interpret(array.strings(), options.unlabelled.as_deref()))
}

fn from_container(
    path: &Path,
    container: &mut impl Container,
    sample_axis: fn(&[usize], Option<usize>) -> usize,
    options: &ReadOptions,
) -> Result<Table> {
    let names = container.names();
    let features = features_name(path, &names, options)?;
    let labels = match label_name(path, &names, options)? {
        Some(name) => Some(label_array(path, &container.array(&name)?, options)?),
        None => None,
    };
    let array = container.array(&features)?;
    let axis = sample_axis(array.shape(), labels.as_ref().map(Vec::len));
    from_array(path, &array, axis, labels, options)
}

/// The axis that counts the samples, in all formats but MATLAB's.
fn first_axis(_shape: &[usize], _n_labels: Option<usize>) -> usize {
    0
}

/// The axis that counts the samples in a MATLAB array.
fn matlab_axis(shape: &[usize], n_labels: Option<usize>) -> usize {
    match *shape {
        [rows, columns] if n_labels == Some(columns) && rows != columns => 1,
        [] | [_] | [_, _] => 0,
        _ => shape.len() - 1,
    }
}

fn from_array(
    path: &Path,
    array: &Array<'_>,
    axis: usize,
    labels: Option<Vec<Option<String>>>,
    options: &ReadOptions,
) -> Result<Table> {
    let shape = array.shape();
    let Some(&n_samples) = shape.get(axis) else {
        return Err(Error::unsupported(path, "holds a single number, not samples"));
    };
    if shape.contains(&0) {
        return Err(Error::empty(path, "the array of samples is empty"));
    }
    if let Some(labels) = labels.as_ref().filter(|labels| labels.len() != n_samples) {
        let shape = shape_text(shape);
        return Err(Error::LabelCount { path: path.into(), labels: labels.len(), shape });
    }
    let Some(values) = array.by_sample(axis) else {
        return Err(Error::unsupported(path, "the samples are text; save them as numbers"));
    };
    let width = values.len() / n_samples;
    let mut rows = Rectangle { values, width, n_samples };
    let position = if labels.is_none() { label_position(path, width, 0, options)? } else { None };
    let raw = position.map(|position| rows.split_off(position));
    rows.check_finite(path, position)?;
    let labels = labels.or_else(|| raw.map(|raw| interpret(raw, options.unlabelled.as_deref())));
    let image = if position.is_none() { image(shape, axis) } else { None };
    let features = Matrix::from_columns(rows.width, n_samples, rows.values)
        .filter(|features| features.rows() > 0)
        .ok_or_else(|| Error::empty(path, "there are no feature columns"))?;
    Ok(Table { labels, image, ..Table::of(features) })
}

/// Position of the label column in a file whose columns have no names, of which some are ignored.
pub(crate) fn label_position(
    path: &Path,
    width: usize,
    n_ignored: usize,
    options: &ReadOptions,
) -> Result<Option<usize>> {
    let Some(column) = &options.label_column else { return Ok(None) };
    if options.label_optional && options.n_features == Some(width - n_ignored) {
        return Ok(None);
    }
    let position = match column {
        Column::Index(index) => Column::position(*index, width),
        Column::Name(_) => None,
    };
    if position.is_none() && !options.label_optional {
        return Err(Error::LabelColumn {
            path: path.into(),
            wanted: column.to_string(),
            available: format!("0 to {}, by index: the columns have no names", width - 1),
        });
    }
    Ok(position)
}

/// Samples one after another, each `width` values.
struct Rectangle {
    values: Vec<f64>,
    width: usize,
    n_samples: usize,
}

impl Rectangle {
    /// Removes one column and returns it as text.
    fn split_off(&mut self, position: usize) -> Vec<Option<String>> {
        let text = |value: f64| (!value.is_nan()).then(|| (value + 0.0).to_string());
        let mut taken = Vec::with_capacity(self.n_samples);
        let mut rest = Vec::with_capacity(self.values.len() - self.n_samples);
        for row in self.values.chunks_exact(self.width) {
            taken.push(text(row[position]));
            rest.extend_from_slice(&row[..position]);
            rest.extend_from_slice(&row[position + 1..]);
        }
        self.values = rest;
        self.width -= 1;
        taken
    }

    /// `taken` is the column that was split off: later columns are one further on in the file.
    fn check_finite(&self, path: &Path, taken: Option<usize>) -> Result<()> {
        let Some(at) = self.values.iter().position(|value| !value.is_finite()) else {
            return Ok(());
        };
        let position = at % self.width;
        let column = position + 1 + usize::from(taken.is_some_and(|taken| taken <= position));
        let cell = Cell { row: Row::Sample(at / self.width + 1), column, name: None };
        let (path, text, help) = (path.into(), self.values[at].to_string(), Help::default());
        Err(Error::NotFinite { path, cell, text, help })
    }
}
