//! Graphs between samples: built for Python, or passed from Python.

use numpy::PyReadonlyArray2;
use pyo3::prelude::*;
use ssdl::graph::{Given, Graph, GraphKnobs, Laplacian, Neighbours};
use ssdl::knobs::Knobbed;
use ssdl::model::representatives as choose;
use ssdl::sparse::Csr;
use ssdl::{Error, Matrix, Real, Result, threads};

use crate::arrays::{GivenSparse, Precise, Rows, SparseRows, columns, each_rows, indices, sparse};
use crate::error::OrRaise;
use crate::worker;

/// A graph given by the user.
#[derive(FromPyObject)]
pub enum GivenGraph<'py> {
    /// The neighbours of each sample, one row per sample.
    Lists(PyReadonlyArray2<'py, i64>),
    /// Its kind (`affinities` or `mixtures`) and a sparse matrix.
    Weights(String, GivenSparse<'py>),
}

impl GivenGraph<'_> {
    /// The graph, checked.
    pub fn read<T: Real>(&self, n_samples: usize) -> PyResult<Result<Given<T>>> {
        Ok(match self {
            Self::Lists(lists) => neighbour_lists(lists).map(Given::neighbours),
            Self::Weights(kind, weights) => {
                let weights = weights.csr(n_samples)?;
                match kind.as_str() {
                    "mixtures" => weights.and_then(Given::mixtures),
                    _ => weights.and_then(Given::affinities),
                }
            }
        })
    }
}

fn neighbour_lists(lists: &PyReadonlyArray2<'_, i64>) -> Result<Neighbours> {
    let rows = lists.as_array();
    let read = |row: numpy::ndarray::ArrayView1<'_, i64>| -> Option<Vec<u32>> {
        row.iter().map(|&j| u32::try_from(j).ok()).collect()
    };
    let lists: Option<Vec<Vec<u32>>> = rows.rows().into_iter().map(read).collect();
    match lists {
        Some(lists) => Neighbours::given(&lists),
        None => Err(Error::Graph("neighbours are counted from 0 and never negative".into())),
    }
}

/// The nearest samples of each sample, or of each of the other samples; one row per sample.
#[pyfunction]
pub fn neighbours<'py>(
    py: Python<'py>,
    samples: Rows<'py>,
    others: Option<Rows<'py>>,
    n_neighbours: usize,
    n_threads: usize,
) -> PyResult<(Bound<'py, PyAny>, usize)> {
    let found = each_rows!(samples, rows => {
        find_neighbours(py, &rows, others, n_neighbours, n_threads)?
    });
    let flat = (0..found.len()).flat_map(|i| found.of(i)).map(|&j| j as usize);
    Ok((indices(py, flat), found.k()))
}

fn find_neighbours<'py, T: Precise>(
    py: Python<'py>,
    rows: &PyReadonlyArray2<'py, T>,
    others: Option<Rows<'py>>,
    k: usize,
    n_threads: usize,
) -> PyResult<Neighbours> {
    let samples = columns(rows)?;
    let others = others.map(|others| columns(&T::rows(others)?)).transpose()?;
    let search = move || match &others {
        Some(others) => Neighbours::between(&samples, others, k),
        None => Neighbours::within(&samples, k),
    };
    Ok(worker::run(py, None, move |_| threads::run(n_threads, search))?.0)
}

/// A graph between the samples, built with the knobs or as mixtures on given neighbours: its kind
/// and its weights.
#[pyfunction]
pub fn graph<'py>(
    py: Python<'py>,
    samples: Rows<'py>,
    knobs: Vec<(String, String)>,
    lists: Option<PyReadonlyArray2<'py, i64>>,
    n_threads: usize,
) -> PyResult<(&'static str, SparseRows<'py>)> {
    let knobs = GraphKnobs::from_pairs(&knobs).or_raise(py)?;
    let lists = match lists {
        Some(lists) => Some(neighbour_lists(&lists).or_raise(py)?),
        None => None,
    };
    each_rows!(samples, rows => {
        let samples = columns(&rows)?;
        let build = move || match lists {
            Some(lists) => Given::neighbours(lists).build(&samples),
            None => knobs.build(&samples),
        };
        let built = worker::run(py, None, move |_| threads::run(n_threads, build))?.0;
        let (kind, weights) = weights(&built.or_raise(py)?.laplacian);
        Ok((kind, sparse(py, weights)))
    })
}

/// $W$ of affinities; $V=I-M$ of mixtures.
fn weights<T: Real>(laplacian: &Laplacian<T>) -> (&'static str, Csr<T>) {
    match (laplacian.affinities(), laplacian.mixtures()) {
        (Some(affinities), _) => ("affinities", affinities.clone()),
        (None, Some(mixtures)) => ("mixtures", mixtures),
        (None, None) => ("affinities", Csr::of_columns(&Matrix::zeros(0, 0))),
    }
}

/// The samples that represent all samples best, each weighted by its uncertainty.
#[pyfunction]
pub fn representatives<'py>(
    py: Python<'py>,
    samples: Rows<'py>,
    n: usize,
    n_threads: usize,
) -> PyResult<Bound<'py, PyAny>> {
    each_rows!(samples, rows => {
        let samples = columns(&rows)?;
        let doubt = vec![1.0; samples.columns()];
        let find = move || choose(&samples, &doubt, n);
        let chosen = worker::run(py, None, move |_| threads::run(n_threads, find))?.0;
        Ok(indices(py, chosen.or_raise(py)?))
    })
}
