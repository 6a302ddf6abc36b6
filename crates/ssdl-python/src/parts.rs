//! Fits over samples in several parts: the parts for Python to carry, and the crew that Python is.

use std::sync::{Arc, Mutex};

use numpy::{PyReadonlyArray1, PyReadonlyArray2};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::pybacked::PyBackedBytes;
use pyo3::types::{PyBytes, PyDict, PyType};
use ssdl::fit::parts::{Crew, Cuts, Part, Place, Round, Rows as GraphRows};
use ssdl::fit::preparation;
use ssdl::graph::Search;
use ssdl::graph::blocks::{mixtures_from, nearest_in_block};
use ssdl::samples::prepare::{Pipeline, StepChoice};
use ssdl::{Error, Labels, Matrix, Result, threads};

use crate::arrays::{Precise, Rows, columns, each_rows, indices, rows};
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

#[pymethods]
impl PyPart {
    /// From prepared samples with their classes (negative if unlabelled), the rows of the graph that touch
    /// them, the place of the first, and what the model keeps: places there, rows here.
    #[new]
    fn new(
        py: Python<'_>,
        samples: Rows<'_>,
        labels: PyReadonlyArray1<'_, i64>,
        graph: Option<(PyBackedBytes, Vec<PyBackedBytes>)>,
        first: usize,
        kept: (Vec<u32>, Vec<u32>),
    ) -> PyResult<Self> {
        let assigned: Vec<Option<usize>> =
            labels.as_array().iter().map(|&class| usize::try_from(class).ok()).collect();
        let part = match samples {
            Rows::Single(own) => build(&own, assigned, graph, first, kept)?
                .map(|part| AnyPart::Single(Arc::new(part))),
            Rows::Double(own) => build(&own, assigned, graph, first, kept)?
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

fn build<T: Precise>(
    samples: &PyReadonlyArray2<'_, T>,
    assigned: Vec<Option<usize>>,
    graph: Option<(PyBackedBytes, Vec<PyBackedBytes>)>,
    first: usize,
    kept: (Vec<u32>, Vec<u32>),
) -> PyResult<Result<Part<T>>> {
    let samples = columns(samples)?;
    let places = first..first + samples.columns();
    let built = || {
        let graph = match &graph {
            Some((own, others)) => {
                let others = others.iter().map(|bytes| GraphRows::from_bytes(bytes));
                Some((GraphRows::from_bytes(own)?, others.collect::<Result<Vec<_>>>()?))
            }
            None => None,
        };
        let graph = graph.as_ref().map(|(own, others)| (own, others.as_slice()));
        Part::new(samples, assigned, graph, Place { places, kept })
    };
    Ok(built())
}

/// Cuts that divide samples like these into parts of about the same size.
#[pyfunction]
pub fn part_cuts<'py>(
    py: Python<'py>,
    samples: Rows<'py>,
    n_parts: usize,
    n_threads: usize,
) -> PyResult<Bound<'py, PyBytes>> {
    let bytes = each_rows!(samples, own => {
        let samples = columns(&own)?;
        py.detach(|| threads::run(n_threads, || Cuts::new(&samples, n_parts).to_bytes()))
    });
    Ok(PyBytes::new(py, &bytes))
}

/// The part of each sample.
#[pyfunction]
pub fn part_of<'py>(
    py: Python<'py>,
    samples: Rows<'py>,
    cuts: &[u8],
) -> PyResult<Bound<'py, PyAny>> {
    each_rows!(samples, own => {
        let samples = columns(&own)?;
        let parts = py.detach(|| Cuts::from_bytes(cuts).map(|cuts| cuts.parts_of(&samples)));
        let parts: Result<Vec<usize>> = parts;
        Ok(indices(py, parts.or_raise(py)?))
    })
}

/// Squared distances and rows of the nearest of a block, one row for each query; without queries, the nearest
/// others of each of its own rows.
#[pyfunction]
pub fn part_neighbours<'py>(
    py: Python<'py>,
    block: Rows<'py>,
    queries: Option<Rows<'py>>,
    n_neighbours: usize,
    approximate: bool,
    n_threads: usize,
) -> PyResult<(Bound<'py, PyAny>, Bound<'py, PyAny>)> {
    let search = if approximate { Search::Approximate } else { Search::Exact };
    each_rows!(block, own => part_neighbours_in(py, &own, queries, n_neighbours, search, n_threads))
}

fn part_neighbours_in<'py, T: Precise>(
    py: Python<'py>,
    block: &PyReadonlyArray2<'py, T>,
    queries: Option<Rows<'py>>,
    k: usize,
    search: Search,
    n_threads: usize,
) -> PyResult<(Bound<'py, PyAny>, Bound<'py, PyAny>)> {
    let block = columns(block)?;
    let queries = queries.map(|queries| columns(&T::rows(queries)?)).transpose()?;
    let find = || nearest_in_block(&block, queries.as_ref(), k, search);
    let (k, found) = py.detach(|| threads::run(n_threads, find));
    let count = queries.as_ref().unwrap_or(&block).columns();
    let distances = found.iter().map(|entry| entry.0).collect();
    let places = found.iter().map(|entry| i64::from(entry.1)).collect();
    let wrong = || PyValueError::new_err("lists do not have the size they claim");
    let shape = [count, k];
    let distances = Matrix::from_columns(k, count, distances).ok_or_else(wrong)?;
    let places = numpy::PyArray1::from_vec(py, places);
    let places = numpy::PyArrayMethods::reshape(&places, shape)?;
    Ok((rows(py, distances)?, places.into_any()))
}

/// The rows of an LLE graph of these samples: `lists` are rows of `table`, `places` the same samples among all.
#[pyfunction]
#[expect(clippy::too_many_arguments, reason = "one call of Python")]
pub fn part_rows<'py>(
    py: Python<'py>,
    table: Rows<'py>,
    queries: Rows<'py>,
    lists: PyReadonlyArray2<'py, i64>,
    places: PyReadonlyArray2<'py, i64>,
    first: usize,
    total: usize,
    n_threads: usize,
) -> PyResult<Bound<'py, PyBytes>> {
    let k = lists.as_array().ncols();
    let as_places = |array: &PyReadonlyArray2<'py, i64>| -> Vec<u32> {
        array.as_array().iter().map(|&place| place as u32).collect()
    };
    let (lists, places) = (as_places(&lists), as_places(&places));
    let bytes = each_rows!(table, own => rows_in(py, &own, queries, (k, lists, places), (first, total), n_threads))?;
    Ok(PyBytes::new(py, &bytes))
}

fn rows_in<T: Precise>(
    py: Python<'_>,
    table: &PyReadonlyArray2<'_, T>,
    queries: Rows<'_>,
    (k, lists, places): (usize, Vec<u32>, Vec<u32>),
    (first, total): (usize, usize),
    n_threads: usize,
) -> PyResult<Vec<u8>> {
    let (table, queries) = (columns(table)?, columns(&T::rows(queries)?)?);
    let is_sound = lists.iter().all(|&j| (j as usize) < table.columns())
        && places.iter().all(|&place| (place as usize) < total)
        && lists.len() == k * queries.columns()
        && places.len() == lists.len()
        && first + queries.columns() <= total;
    if !is_sound {
        return Err(PyValueError::new_err("neighbours do not fit the samples"));
    }
    Ok(py.detach(|| {
        let weights = threads::run(n_threads, || mixtures_from(&table, &queries, k, lists));
        GraphRows::of_mixtures(first, total, k, (&places, &weights)).to_bytes()
    }))
}

/// Those of the rows in which a place from `start` to `stop` appears.
#[pyfunction]
pub fn part_touching<'py>(
    py: Python<'py>,
    rows: &[u8],
    precision: &str,
    start: usize,
    stop: usize,
) -> PyResult<Bound<'py, PyBytes>> {
    let chosen = match precision {
        "float32" => {
            GraphRows::<f32>::from_bytes(rows).map(|it| it.touching(start..stop).to_bytes())
        }
        _ => GraphRows::<f64>::from_bytes(rows).map(|it| it.touching(start..stop).to_bytes()),
    };
    Ok(PyBytes::new(py, &chosen.or_raise(py)?))
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
