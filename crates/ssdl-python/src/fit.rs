//! Fits a model.

use std::path::PathBuf;
use std::sync::Arc;

use numpy::{PyReadonlyArray1, PyReadonlyArray2};
use pyo3::prelude::*;
use ssdl::fit::parts::Crew;
use ssdl::methods::{self, FitOptions};
use ssdl::model::Naming;
use ssdl::samples::weights::ClassWeight;
use ssdl::{Labels, Model, Result, Samples, threads};

use crate::arrays::{Precise, Rows, columns, each_rows};
use crate::device;
use crate::error::OrRaise;
use crate::graph::GivenGraph;
use crate::model::FittedModel;
use crate::parts::PythonCrew;
use crate::prepare::Prepared;
use crate::worker;

/// The settings of a fit, a dictionary in Python.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub struct Request<'py> {
    method: String,
    knobs: Vec<(String, String)>,
    classes: Vec<String>,
    prepare: Vec<String>,
    image: Option<[usize; 2]>,
    seed: u64,
    threads: usize,
    memory_limit: Option<u64>,
    /// A folder for the prepared samples.
    scratch: Option<PathBuf>,
    /// `cpu`, `gpu` or `auto`.
    device: String,
    calibrate: bool,
    /// `balanced`, or a number for each class by name.
    class_weight: Option<GivenClassWeight>,
    sample_weight: Option<Vec<f64>>,
    graph: Option<GivenGraph<'py>>,
    start: Option<Py<FittedModel>>,
    /// Steps that are fitted already, in place of `prepare`.
    preparation: Option<Prepared<'py>>,
    /// Who carries the samples, if they lie in several parts; those given are then the ones that the model
    /// keeps.
    crew: Option<Bound<'py, PyAny>>,
    feature_names: Option<Vec<String>>,
    label_type: Option<String>,
}

/// Class weights as Python gives them.
#[derive(FromPyObject)]
pub enum GivenClassWeight {
    Word(String),
    ByName(Vec<(String, f64)>),
}

impl GivenClassWeight {
    fn read(&self) -> Result<ClassWeight> {
        match self {
            Self::Word(word) => word.parse(),
            Self::ByName(pairs) => Ok(ClassWeight::Given(pairs.clone())),
        }
    }
}

impl Request<'_> {
    fn options<T: Precise>(&self) -> Result<FitOptions<T>> {
        Ok(FitOptions {
            seed: self.seed,
            threads: self.threads,
            memory_limit: self.memory_limit,
            scratch: self.scratch.clone(),
            device: device::open(&self.device)?,
            prepare: self.prepare.iter().map(|text| text.parse()).collect::<Result<_>>()?,
            image: self.image,
            calibrate: self.calibrate,
            sample_weight: self.sample_weight.clone(),
            class_weight: self.class_weight.as_ref().map(GivenClassWeight::read).transpose()?,
            ..FitOptions::default()
        })
    }
}

/// Fits a model; returns it with the notices of the fit.
///
/// `labels` are indices into the classes, negative if unlabelled. `report` is called after every
/// step, unless it is `None`.
#[pyfunction]
pub fn fit(
    py: Python<'_>,
    samples: Rows<'_>,
    labels: PyReadonlyArray1<'_, i64>,
    request: Request<'_>,
    report: Option<Bound<'_, PyAny>>,
) -> PyResult<(FittedModel, Vec<String>)> {
    let assigned = labels.as_array().iter().map(|&class| usize::try_from(class).ok()).collect();
    let labels = Labels::new(request.classes.clone(), assigned).or_raise(py)?;
    each_rows!(samples, rows => fit_in(py, &rows, labels, request, report.as_ref()))
}

fn fit_in<T: Precise>(
    py: Python<'_>,
    rows: &PyReadonlyArray2<'_, T>,
    labels: Labels,
    request: Request<'_>,
    report: Option<&Bound<'_, PyAny>>,
) -> PyResult<(FittedModel, Vec<String>)> {
    let method = methods::find::<T>(&request.method).or_raise(py)?;
    method.check(&request.knobs).or_raise(py)?;
    let mut options = request.options::<T>().or_raise(py)?;
    let columns = columns(rows)?;
    let samples = worker::alone(py, || Samples::new(columns, labels)).or_raise(py)?;
    if let Some(graph) = &request.graph {
        let given = graph.read::<T>(samples.n_samples())?.or_raise(py)?;
        options.graph = Some(Arc::new(given));
    }
    let earlier = match &request.start {
        Some(model) => Some(T::same(&model.get().0)?.clone()),
        None => None,
    };
    if let Some(prepared) = request.preparation {
        options.preparation = Some(prepared.restore(py)?);
    }
    let crew = request.crew.as_ref().map(PythonCrew::new).transpose()?.map(Arc::new);
    options.crew = crew.clone().map(|crew| crew as Arc<dyn Crew>);
    let knobs = request.knobs;
    let naming =
        Naming { features: request.feature_names, label_type: request.label_type, columns: None };
    let (model, notices) = worker::run(py, report, move |watch| -> Result<Model<T>> {
        threads::run(options.threads, || {
            if let Some(earlier) = earlier {
                options.start = earlier.start(samples.features())?;
                options.preparation = Some(earlier.preparation().clone());
            }
            options.threads = 0;
            method.fit(&knobs, samples, &options, watch)?.named(naming)
        })
    })?;
    if let Some(exception) = crew.and_then(|crew| crew.raised()) {
        return Err(exception);
    }
    Ok((FittedModel(T::any(model.or_raise(py)?)), notices))
}
