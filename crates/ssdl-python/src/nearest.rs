//! Neighbours of samples in several parts, and the rows of the graph that they make.

use numpy::PyReadonlyArray2;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use ssdl::fit::parts::{Cuts, Rows as GraphRows};
use ssdl::fit::spreading::Edges;
use ssdl::graph::Search;
use ssdl::graph::blocks::{Found, NO_COLUMN, mixtures_from, nearest_in_block, nearest_listed};
use ssdl::{Matrix, Result, threads};

use crate::arrays::{Precise, Rows, columns, each_rows, indices, rows};
use crate::error::OrRaise;

/// Cuts that divide samples like these into parts of about the same size, at random for a tree of a forest.
#[pyfunction]
pub fn part_cuts<'py>(
    py: Python<'py>,
    samples: Rows<'py>,
    n_parts: usize,
    tree: Option<u64>,
    n_threads: usize,
) -> PyResult<Bound<'py, PyBytes>> {
    let bytes = each_rows!(samples, own => {
        let samples = columns(&own)?;
        let cut = || match tree {
            Some(tree) => Cuts::at_random(&samples, n_parts, tree).to_bytes(),
            None => Cuts::new(&samples, n_parts).to_bytes(),
        };
        py.detach(|| threads::run(n_threads, cut))
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
    let found = py.detach(|| threads::run(n_threads, find));
    as_arrays(py, queries.as_ref().unwrap_or(&block).columns(), found)
}

/// Squared distances and rows of the nearest of those rows of `table` that are listed for each query; a negative row
/// is none, listed or found.
#[pyfunction]
pub fn part_listed<'py>(
    py: Python<'py>,
    table: Rows<'py>,
    queries: Rows<'py>,
    lists: PyReadonlyArray2<'py, i64>,
    n_neighbours: usize,
    n_threads: usize,
) -> PyResult<(Bound<'py, PyAny>, Bound<'py, PyAny>)> {
    let width = lists.as_array().ncols();
    let lists: Vec<u32> =
        lists.as_array().iter().map(|&row| u32::try_from(row).unwrap_or(NO_COLUMN)).collect();
    each_rows!(table, own => part_listed_in(py, &own, queries, (width, lists), n_neighbours, n_threads))
}

fn part_listed_in<'py, T: Precise>(
    py: Python<'py>,
    table: &PyReadonlyArray2<'py, T>,
    queries: Rows<'py>,
    (width, lists): (usize, Vec<u32>),
    k: usize,
    n_threads: usize,
) -> PyResult<(Bound<'py, PyAny>, Bound<'py, PyAny>)> {
    let (table, queries) = (columns(table)?, columns(&T::rows(queries)?)?);
    if lists.len() != width * queries.columns() {
        return Err(PyValueError::new_err("lists do not fit the samples"));
    }
    let find = || nearest_listed(&table, &queries, (width, &lists), k);
    let found = py.detach(|| threads::run(n_threads, find));
    as_arrays(py, queries.columns(), found)
}

/// Distances and rows, one row for each query; where none was found the row is -1.
fn as_arrays(
    py: Python<'_>,
    count: usize,
    (k, found): Found,
) -> PyResult<(Bound<'_, PyAny>, Bound<'_, PyAny>)> {
    let distances = found.iter().map(|entry| entry.0).collect();
    let place = |place: u32| if place == NO_COLUMN { -1 } else { i64::from(place) };
    let places = found.iter().map(|entry| place(entry.1)).collect();
    let wrong = || PyValueError::new_err("lists do not have the size they claim");
    let shape = [count, k];
    let distances = Matrix::from_columns(k, count, distances).ok_or_else(wrong)?;
    let places = numpy::PyArray1::from_vec(py, places);
    let places = numpy::PyArrayMethods::reshape(&places, shape)?;
    Ok((rows(py, distances)?, places.into_any()))
}

/// The rows of a graph of these samples, of `mixtures` (LLE) or of `neighbours` with their distances: `lists` are rows
/// of `table`, `places` the same samples among all.
#[pyfunction]
#[expect(clippy::too_many_arguments, reason = "one call of Python")]
pub fn part_rows<'py>(
    py: Python<'py>,
    kind: &str,
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
    let bytes = each_rows!(table, own => rows_in(py, kind, (&own, queries), (k, lists, places), (first, total), n_threads))?;
    Ok(PyBytes::new(py, &bytes))
}

fn rows_in<T: Precise>(
    py: Python<'_>,
    kind: &str,
    (table, queries): (&PyReadonlyArray2<'_, T>, Rows<'_>),
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
    let both = (&table, &queries);
    let make = || match kind {
        "neighbours" => Edges::of_lists(both, k, (&lists, &places), first).to_bytes(),
        _ => {
            let weights = mixtures_from(&table, &queries, k, lists);
            GraphRows::of_mixtures(first, total, k, (&places, &weights)).to_bytes()
        }
    };
    Ok(py.detach(|| threads::run(n_threads, make)))
}

/// Those of the rows in which a place from `start` to `stop` appears; of neighbours, the edges that lead there.
#[pyfunction]
pub fn part_touching<'py>(
    py: Python<'py>,
    kind: &str,
    rows: &[u8],
    precision: &str,
    start: usize,
    stop: usize,
) -> PyResult<Bound<'py, PyBytes>> {
    let chosen = match (kind, precision) {
        ("neighbours", _) => Edges::from_bytes(rows).map(|it| it.touching(start..stop).to_bytes()),
        (_, "float32") => {
            GraphRows::<f32>::from_bytes(rows).map(|it| it.touching(start..stop).to_bytes())
        }
        _ => GraphRows::<f64>::from_bytes(rows).map(|it| it.touching(start..stop).to_bytes()),
    };
    Ok(PyBytes::new(py, &chosen.or_raise(py)?))
}
