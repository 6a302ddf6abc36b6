//! Fits over samples in several parts: the parts for Python to carry, and the crew that Python is.

use std::sync::{Arc, Mutex};

use numpy::{PyReadonlyArray1, PyReadonlyArray2};
use pyo3::prelude::*;
use pyo3::pybacked::PyBackedBytes;
use pyo3::types::{PyBytes, PyDict, PyType};
use ssdl::fit::parts::{Crew, Part, PartGraph, Place, Round, Rows as GraphRows};
use ssdl::fit::preparation;
use ssdl::fit::spreading::Edges;
use ssdl::samples::prepare::{Pipeline, StepChoice};
use ssdl::{Error, Labels, Result, threads};

use crate::arrays::{Precise, Rows, columns, each_rows, rows};
use crate::error::OrRaise;
use crate::prepare::described;
use crate::worker;

/// The parts of either precision.
#[derive(Clone)]
enum AnyPart {
    Single(Arc<Part<f32>>),
    Double(Arc<Part<f64>>),
}

/// The same expression for a part of either precision.
macro_rules! each_part {
    ($part:expr, $own:ident => $body:expr) => {
        match $part {
            AnyPart::Single($own) => $body,
            AnyPart::Double($own) => $body,
        }
    };
}

/// One part of the samples of a fit: what no step changes.
#[pyclass(frozen, name = "Part", module = "ssdl._ssdl")]
pub struct PyPart(AnyPart);

/// What makes a part of bytes again, and what it is called with.
type Pickled<'py> = (Bound<'py, PyAny>, (&'static str, Bound<'py, PyBytes>));

/// State and reply of a step.
type Taken<'py> = (Option<Bound<'py, PyBytes>>, Bound<'py, PyBytes>);

/// The kind of a graph, the rows of own samples, and those of others that touch them.
type GraphBytes = (String, PyBackedBytes, Vec<PyBackedBytes>);

#[pymethods]
impl PyPart {
    /// From prepared samples with their classes (negative if unlabelled), the rows of the graph that touch
    /// them (`mixtures`, or `neighbours` for labels to spread), the place of the first, what the model keeps
    /// (places there, rows here), and weights relative to the mean of all labelled samples.
    #[new]
    fn new(
        py: Python<'_>,
        samples: Rows<'_>,
        labels: PyReadonlyArray1<'_, i64>,
        graph: Option<GraphBytes>,
        first: usize,
        kept: (Vec<u32>, Vec<u32>),
        weights: Option<PyReadonlyArray1<'_, f64>>,
    ) -> PyResult<Self> {
        let weights = weights.map(|weights| weights.as_array().to_vec());
        let assigned: Vec<Option<usize>> =
            labels.as_array().iter().map(|&class| usize::try_from(class).ok()).collect();
        let part = match samples {
            Rows::Single(own) => build(&own, assigned, graph, first, kept)?
                .and_then(|part| weighed(part, weights.as_deref()))
                .map(|part| AnyPart::Single(Arc::new(part))),
            Rows::Double(own) => build(&own, assigned, graph, first, kept)?
                .and_then(|part| weighed(part, weights.as_deref()))
                .map(|part| AnyPart::Double(Arc::new(part))),
        };
        part.or_raise(py).map(Self)
    }

    /// Reads the bytes of a part.
    #[staticmethod]
    fn from_bytes(py: Python<'_>, precision: &str, bytes: &[u8]) -> PyResult<Self> {
        let read = || match precision {
            "float32" => Part::from_bytes(bytes).map(|part| AnyPart::Single(Arc::new(part))),
            _ => Part::from_bytes(bytes).map(|part| AnyPart::Double(Arc::new(part))),
        };
        py.detach(read).or_raise(py).map(Self)
    }

    fn __reduce__<'py>(&self, py: Python<'py>) -> PyResult<Pickled<'py>> {
        let class: Bound<'py, PyType> = py.get_type::<Self>();
        let precision = match self.0 {
            AnyPart::Single(_) => "float32",
            AnyPart::Double(_) => "float64",
        };
        let bytes = py.detach(|| each_part!(&self.0, part => part.to_bytes()));
        Ok((class.getattr("from_bytes")?, (precision, PyBytes::new(py, &bytes))))
    }

    /// The places from `start` to `stop` whose codes this part needs.
    fn needs(&self, start: usize, stop: usize) -> Vec<u32> {
        each_part!(&self.0, part => part.needs(&(start..stop)))
    }

    /// The same part, once it knows which places each part needs of it.
    fn sending(&self, py: Python<'_>, needed: Vec<Vec<u32>>) -> PyResult<Self> {
        let part = match &self.0 {
            AnyPart::Single(part) => {
                part.as_ref().clone().sending(&needed).map(|it| AnyPart::Single(Arc::new(it)))
            }
            AnyPart::Double(part) => {
                part.as_ref().clone().sending(&needed).map(|it| AnyPart::Double(Arc::new(it)))
            }
        };
        part.or_raise(py).map(Self)
    }

    /// The codes that another part needs.
    fn outgoing<'py>(
        &self,
        py: Python<'py>,
        state: &[u8],
        to: usize,
    ) -> PyResult<Bound<'py, PyBytes>> {
        let bytes = py.detach(|| each_part!(&self.0, part => part.outgoing(state, to)));
        Ok(PyBytes::new(py, &bytes.or_raise(py)?))
    }

    /// Takes a step: the state after it, `None` if it is the same, and the reply.
    fn step<'py>(
        &self,
        py: Python<'py>,
        state: &[u8],
        incoming: Vec<PyBackedBytes>,
        message: &[u8],
        n_threads: usize,
    ) -> PyResult<Taken<'py>> {
        let incoming: Vec<&[u8]> = incoming.iter().map(AsRef::as_ref).collect();
        let take = || each_part!(&self.0, part => part.step(state, &incoming, message));
        let taken = py.detach(|| threads::run(n_threads, take));
        let (state, reply) = taken.or_raise(py)?;
        Ok((state.map(|state| PyBytes::new(py, &state)), PyBytes::new(py, &reply)))
    }

    /// The scores of its samples, one row each.
    fn scores<'py>(&self, py: Python<'py>, state: &[u8]) -> PyResult<Bound<'py, PyAny>> {
        each_part!(&self.0, part => rows(py, py.detach(|| part.scores(state)).or_raise(py)?))
    }

    /// Number of samples.
    #[getter]
    fn n_samples(&self) -> usize {
        each_part!(&self.0, part => part.n_samples())
    }
}

fn weighed<T: Precise>(part: Part<T>, weights: Option<&[f64]>) -> Result<Part<T>> {
    match weights {
        Some(weights) => part.weighing(weights),
        None => Ok(part),
    }
}

fn build<T: Precise>(
    samples: &PyReadonlyArray2<'_, T>,
    assigned: Vec<Option<usize>>,
    graph: Option<GraphBytes>,
    first: usize,
    kept: (Vec<u32>, Vec<u32>),
) -> PyResult<Result<Part<T>>> {
    let samples = columns(samples)?;
    let places = first..first + samples.columns();
    let place = Place { places, kept };
    let built = || match &graph {
        None => Part::new(samples, assigned, PartGraph::Without, place),
        Some((kind, own, others)) if kind == "neighbours" => {
            let others = others.iter().map(|bytes| Edges::from_bytes(bytes));
            let (own, others) = (Edges::from_bytes(own)?, others.collect::<Result<Vec<_>>>()?);
            Part::new(samples, assigned, PartGraph::Neighbours(&own, &others), place)
        }
        Some((_, own, others)) => {
            let others = others.iter().map(|bytes| GraphRows::from_bytes(bytes));
            let (own, others) = (GraphRows::from_bytes(own)?, others.collect::<Result<Vec<_>>>()?);
            Part::new(samples, assigned, PartGraph::Mixtures(&own, &others), place)
        }
    };
    Ok(built())
}

/// Fits preparation steps as a fit would; `auto` chooses them by the labels.
#[pyfunction]
#[expect(clippy::too_many_arguments, reason = "one call of Python")]
pub fn prepare_chosen<'py>(
    py: Python<'py>,
    samples: Rows<'py>,
    labels: PyReadonlyArray1<'py, i64>,
    classes: Vec<String>,
    steps: Vec<String>,
    image: Option<[usize; 2]>,
    seed: u64,
    n_threads: usize,
) -> PyResult<Bound<'py, PyDict>> {
    let plans: Vec<StepChoice> =
        steps.iter().map(|text| text.parse()).collect::<Result<_>>().or_raise(py)?;
    let assigned = labels.as_array().iter().map(|&class| usize::try_from(class).ok()).collect();
    let labels = Labels::new(classes, assigned).or_raise(py)?;
    each_rows!(samples, own => {
        let samples = columns(&own)?;
        let n_features = samples.rows();
        let fit = move || {
            let chosen = preparation::is_auto(&plans)
                .then(|| preparation::choose(&samples, &labels, image, seed));
            let plans = chosen.as_deref().unwrap_or(&plans);
            Pipeline::fit(plans, samples, image, seed).map(|(pipeline, _)| pipeline)
        };
        let pipeline = worker::run(py, None, move |_| threads::run(n_threads, fit))?.0;
        described(py, &pipeline.or_raise(py)?, n_features, image)
    })
}

/// Parts that Python carries: an object with `n_parts`, `counts`, `step`, `keep` and `earlier`.
pub struct PythonCrew {
    object: Py<PyAny>,
    n_parts: usize,
    counts: (usize, usize),
    /// The first exception that a call raised.
    raised: Mutex<Option<PyErr>>,
}

impl PythonCrew {
    pub fn new(object: &Bound<'_, PyAny>) -> PyResult<Self> {
        Ok(Self {
            n_parts: object.getattr("n_parts")?.extract()?,
            counts: object.getattr("counts")?.extract()?,
            object: object.clone().unbind(),
            raised: Mutex::new(None),
        })
    }

    /// The exception that ended the fit, if one did.
    pub fn raised(&self) -> Option<PyErr> {
        self.raised.lock().ok().and_then(|mut raised| raised.take())
    }

    fn call<R>(&self, act: impl FnOnce(&Bound<'_, PyAny>) -> PyResult<R>) -> Result<R> {
        Python::attach(|py| act(self.object.bind(py))).map_err(|error| {
            if let Ok(mut raised) = self.raised.lock() {
                raised.get_or_insert(error);
            }
            Error::Cancelled
        })
    }
}

impl Crew for PythonCrew {
    fn n_parts(&self) -> usize {
        self.n_parts
    }

    fn counts(&self) -> (usize, usize) {
        self.counts
    }

    fn step(&self, message: &[u8], round: Round) -> Result<Vec<Vec<u8>>> {
        let Round { exchanges, changes } = round;
        self.call(|object| {
            let message = PyBytes::new(object.py(), message);
            let replies: Vec<PyBackedBytes> =
                object.call_method1("step", (message, exchanges, changes))?.extract()?;
            Ok(replies.iter().map(|reply| reply.to_vec()).collect())
        })
    }

    fn keep(&self, iteration: usize, progress: &[u8]) -> Result<()> {
        self.call(|object| {
            let progress = PyBytes::new(object.py(), progress);
            object.call_method1("keep", (iteration, progress)).map(drop)
        })
    }

    fn earlier(&self) -> Option<(usize, Vec<u8>)> {
        let found: Option<(usize, PyBackedBytes)> =
            self.call(|object| object.call_method0("earlier")?.extract()).ok().flatten();
        found.map(|(iteration, progress)| (iteration, progress.to_vec()))
    }
}
