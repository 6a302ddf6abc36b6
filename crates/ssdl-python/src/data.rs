//! Files of samples, read as the program reads them.

use std::path::PathBuf;

use pyo3::prelude::*;
use pyo3::types::PyDict;
use ssdl::fit::Watch;
use ssdl_data::{Column, ReadOptions, Table};

use crate::arrays::rows;
use crate::error::OrRaise;
use crate::worker;

/// The digits that come with the library.
#[pyfunction]
pub fn digits(py: Python<'_>) -> PyResult<Bound<'_, PyDict>> {
    described(py, ssdl_data::digits())
}

/// Reads a file or a folder of images; `label` is the name or the index of the label column,
/// `array` the name of the samples in a file of several arrays, `ignored` the columns that are no features.
#[pyfunction]
#[pyo3(signature = (path, label, image, array, max_unpacked=None, ignored=Vec::new()))]
pub fn read<'py>(
    py: Python<'py>,
    path: PathBuf,
    label: Option<Bound<'py, PyAny>>,
    image: Option<[usize; 2]>,
    array: Option<String>,
    max_unpacked: Option<u64>,
    ignored: Vec<Bound<'py, PyAny>>,
) -> PyResult<Bound<'py, PyDict>> {
    let column = |named: &Bound<'py, PyAny>| -> PyResult<Column> {
        match named.extract::<isize>() {
            Ok(place) => Ok(Column::Index(place)),
            Err(_) => Ok(Column::Name(named.extract()?)),
        }
    };
    let options = ReadOptions {
        label_column: label.as_ref().map(column).transpose()?,
        ignored_columns: ignored.iter().map(column).collect::<PyResult<_>>()?,
        image,
        features_array: array,
        max_unpacked,
        ..ReadOptions::default()
    };
    let table = py.detach(|| ssdl_data::read(&path, &options));
    described(py, table.or_raise(py)?)
}

/// Downloads the files of a known data set into the folder; those that are there are only checked.
#[pyfunction]
pub fn fetch(py: Python<'_>, name: &str, folder: PathBuf) -> PyResult<Vec<PathBuf>> {
    let set = ssdl_data::known::known_set(name).or_raise(py)?;
    let get = move |_: &mut dyn Watch| ssdl_data::known::fetch(set, &folder, &mut |_, _, _| {});
    let got = worker::run(py, None, get)?.0.or_raise(py)?;
    Ok(got.into_iter().map(|file| file.path).collect())
}

/// Reads a file of labels; `None` if a label is missing.
#[pyfunction]
pub fn read_labels(py: Python<'_>, path: PathBuf) -> PyResult<Vec<Option<String>>> {
    py.detach(|| ssdl_data::read_labels(&path, &ReadOptions::default())).or_raise(py)
}

fn described(py: Python<'_>, table: Table) -> PyResult<Bound<'_, PyDict>> {
    let facts = PyDict::new(py);
    facts.set_item("samples", rows(py, table.features)?)?;
    facts.set_item("labels", table.labels)?;
    facts.set_item("feature_names", table.feature_names)?;
    facts.set_item("sample_names", table.sample_names)?;
    facts.set_item("image", table.image)?;
    Ok(facts)
}
