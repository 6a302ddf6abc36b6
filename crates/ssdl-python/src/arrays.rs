//! Arrays of NumPy and matrices of the library: rows in C order are columns, byte for byte.

use numpy::prelude::*;
use numpy::{Element, PyArray1, PyReadonlyArray2};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use ssdl::{Matrix, Real};

/// Samples as Python hands them over, one a row.
#[derive(FromPyObject)]
pub enum Rows<'py> {
    /// `float32`.
    Single(PyReadonlyArray2<'py, f32>),
    /// `float64`.
    Double(PyReadonlyArray2<'py, f64>),
}

/// The rows as columns of a matrix: one copy, nothing turned round.
pub fn columns<T: Real + Element>(rows: &PyReadonlyArray2<'_, T>) -> PyResult<Matrix<T>> {
    // Slices exist of Fortran order, too, and would have rows and columns mixed up.
    if !rows.is_c_contiguous() {
        return Err(PyValueError::new_err("samples must be in C order"));
    }
    let (n_samples, n_features) = (rows.shape()[0], rows.shape()[1]);
    Matrix::from_columns(n_features, n_samples, rows.as_slice()?.to_vec())
        .ok_or_else(|| PyValueError::new_err("samples do not have the size they claim"))
}

/// The columns as rows of an array that takes over the memory.
pub fn rows<T: Real + Element>(py: Python<'_>, matrix: Matrix<T>) -> PyResult<Bound<'_, PyAny>> {
    let shape = [matrix.columns(), matrix.rows()];
    Ok(PyArray1::from_vec(py, matrix.into_vec()).reshape(shape)?.into_any())
}

/// A list of numbers.
pub fn list<T: Element>(py: Python<'_>, values: Vec<T>) -> Bound<'_, PyAny> {
    PyArray1::from_vec(py, values).into_any()
}

/// Class indices as Python indexes with them.
pub fn indices(py: Python<'_>, classes: impl IntoIterator<Item = usize>) -> Bound<'_, PyAny> {
    list(py, classes.into_iter().map(|class| class as i64).collect())
}
