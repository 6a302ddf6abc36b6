//! Samples and knobs become a model.

use numpy::{Element, PyReadonlyArray1, PyReadonlyArray2};
use pyo3::prelude::*;
use ssdl::methods::{self, Options};
use ssdl::{Labels, Model, Real, Result, Samples};

use crate::arrays::{Rows, columns};
use crate::error::OrRaise;
use crate::model::{FittedModel, Held};
use crate::worker;

/// What is asked, apart from the samples; a dictionary in Python.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub struct Request {
    method: String,
    knobs: Vec<(String, String)>,
    classes: Vec<String>,
    prepare: Vec<String>,
    image: Option<[usize; 2]>,
    seed: u64,
    threads: usize,
    memory_limit: Option<u64>,
}

impl Request {
    fn options<T: Real>(&self) -> Result<Options<T>> {
        Ok(Options {
            seed: self.seed,
            threads: self.threads,
            memory_limit: self.memory_limit,
            prepare: self.prepare.iter().map(|text| text.parse()).collect::<Result<_>>()?,
            image: self.image,
            ..Options::default()
        })
    }
}

/// Fits a model; gives it back with the sentences that the fit had to say.
///
/// `labels` are indices into the classes, negative where unlabelled. `report` is called after every
/// step, unless it is `None`.
#[pyfunction]
pub fn fit(
    py: Python<'_>,
    samples: Rows<'_>,
    labels: PyReadonlyArray1<'_, i64>,
    request: Request,
    report: Option<Bound<'_, PyAny>>,
) -> PyResult<(FittedModel, Vec<String>)> {
    let assigned = labels.as_array().iter().map(|&class| usize::try_from(class).ok()).collect();
    let labels = Labels::new(request.classes.clone(), assigned).or_raise(py)?;
    let report = report.as_ref();
    match samples {
        Rows::Single(rows) => {
            let (model, notices) = fit_in::<f32>(py, &rows, labels, request, report)?;
            Ok((Held::from(model).into(), notices))
        }
        Rows::Double(rows) => {
            let (model, notices) = fit_in::<f64>(py, &rows, labels, request, report)?;
            Ok((Held::from(model).into(), notices))
        }
    }
}

fn fit_in<T: Real + Element>(
    py: Python<'_>,
    rows: &PyReadonlyArray2<'_, T>,
    labels: Labels,
    request: Request,
    report: Option<&Bound<'_, PyAny>>,
) -> PyResult<(Model<T>, Vec<String>)> {
    let method = methods::find::<T>(&request.method).or_raise(py)?;
    method.check(&request.knobs).or_raise(py)?;
    let options = request.options::<T>().or_raise(py)?;
    let samples = Samples::new(columns(rows)?, labels).or_raise(py)?;
    let (model, notices) =
        worker::run(py, report, move |watch| method.fit(&request.knobs, samples, &options, watch))?;
    Ok((model.or_raise(py)?, notices))
}
