//! Preparation steps outside a model; their state is a dictionary of arrays that Python can pickle.

use std::collections::HashMap;

use numpy::PyReadonlyArray2;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use ssdl::samples::prepare::{Pipeline, StepChoice};
use ssdl::{Matrix, Result, threads};

use crate::arrays::{Parts, Precise, Rows, columns, each_rows, rows};
use crate::error::OrRaise;
use crate::worker::{self, Place};

/// Fitted steps as stored in Python.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub struct Prepared<'py> {
    steps: Vec<String>,
    n_features: usize,
    image: Option<[usize; 2]>,
    tensors: HashMap<String, Rows<'py>>,
}

impl Prepared<'_> {
    /// The fitted steps.
    pub fn restore<T: Precise>(self, py: Python<'_>) -> PyResult<Pipeline<T>> {
        let Prepared { steps, n_features, image, tensors } = self;
        let mut known: HashMap<String, Matrix<T>> = HashMap::new();
        for (name, tensor) in tensors {
            known.insert(name, columns(&T::rows(tensor)?)?);
        }
        let plans = plans(&steps).or_raise(py)?;
        let find = &mut |name: &str| known.remove(name);
        Pipeline::restore(&plans, n_features, image, find).or_raise(py)
    }
}

fn plans(steps: &[String]) -> Result<Vec<StepChoice>> {
    steps.iter().map(|text| text.parse()).collect()
}

/// Fits preparation steps.
#[pyfunction]
pub fn prepare_fit<'py>(
    py: Python<'py>,
    samples: Rows<'py>,
    steps: Vec<String>,
    image: Option<[usize; 2]>,
    seed: u64,
    n_threads: usize,
) -> PyResult<Bound<'py, PyDict>> {
    let plans = plans(&steps).or_raise(py)?;
    each_rows!(samples, own => {
        let samples = columns(&own)?;
        let n_features = samples.rows();
        let fit = move || Pipeline::fit(&plans, samples, image, seed).map(|(pipeline, _)| pipeline);
        let pipeline = worker::run(py, None, move |_| threads::run(n_threads, fit))?.0;
        described(py, &pipeline.or_raise(py)?, n_features, image)
    })
}

pub fn described<'py, T: Precise>(
    py: Python<'py>,
    pipeline: &Pipeline<T>,
    n_features: usize,
    image: Option<[usize; 2]>,
) -> PyResult<Bound<'py, PyDict>> {
    let (facts, tensors) = (PyDict::new(py), PyDict::new(py));
    for (name, tensor) in pipeline.tensors() {
        tensors.set_item(name, rows(py, tensor)?)?;
    }
    let steps: Vec<String> = pipeline.plans().iter().map(ToString::to_string).collect();
    facts.set_item("steps", steps)?;
    facts.set_item("n_features", n_features)?;
    facts.set_item("image", image)?;
    facts.set_item("tensors", tensors)?;
    facts.set_item("n_prepared", pipeline.n_prepared())?;
    facts.set_item("image_prepared", pipeline.image_prepared())?;
    Ok(facts)
}

/// Applies fitted steps.
#[pyfunction]
pub fn prepare_apply<'py>(
    py: Python<'py>,
    samples: Rows<'py>,
    prepared: Prepared<'py>,
    n_threads: usize,
) -> PyResult<Bound<'py, PyAny>> {
    each_rows!(samples, own => apply(py, &own, prepared, n_threads))
}

fn apply<'py, T: Precise>(
    py: Python<'py>,
    samples: &PyReadonlyArray2<'py, T>,
    prepared: Prepared<'py>,
    n_threads: usize,
) -> PyResult<Bound<'py, PyAny>> {
    let pipeline = prepared.restore::<T>(py)?;
    let parts = Parts::new(samples);
    let (n_samples, n_prepared) = (parts.n_samples(), pipeline.n_prepared());
    let work = move |part, values: &mut Vec<T>| {
        values.extend(pipeline.apply(part)?.into_vec());
        Ok(())
    };
    let room = Vec::with_capacity(n_prepared * n_samples);
    let values = worker::part_by_part(py, parts, Place::here(n_threads), room, work)?;
    let all = Matrix::from_columns(n_prepared, n_samples, values);
    rows(py, all.unwrap_or_else(|| Matrix::zeros(n_prepared, 0)))
}
