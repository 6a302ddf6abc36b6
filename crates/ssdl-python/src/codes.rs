//! Codes for Python, collected part by part.

use pyo3::prelude::*;
use ssdl::sparse::Csr;
use ssdl::{Matrix, Real};

use crate::arrays::{Precise, SparseRows, indices, list, rows};

/// Codes as returned to Python.
#[derive(IntoPyObject)]
pub enum Codes<'py> {
    /// One row per sample.
    Dense(Bound<'py, PyAny>),
    /// Row offsets, column indices and values.
    Sparse(SparseRows<'py>),
}

/// Codes collected so far; sparse ones are never stored densely.
pub enum Collected<T> {
    Dense { n_atoms: usize, values: Vec<T> },
    Sparse { starts: Vec<usize>, indices: Vec<i64>, values: Vec<T> },
}

impl<T: Real> Collected<T> {
    pub fn new(n_atoms: usize, n_samples: usize, sparse: bool) -> Self {
        if sparse {
            Self::Sparse { starts: vec![0], indices: Vec::new(), values: Vec::new() }
        } else {
            Self::Dense { n_atoms, values: Vec::with_capacity(n_atoms * n_samples) }
        }
    }

    /// Adds the codes of the next samples.
    pub fn add(&mut self, codes: Matrix<T>) {
        match self {
            Self::Dense { values, .. } => values.extend_from_slice(codes.as_slice()),
            Self::Sparse { starts, indices, values } => {
                let before = values.len();
                let (offsets, atoms, more) = Csr::of_columns(&codes).into_parts();
                starts.extend(offsets[1..].iter().map(|at| before + at));
                indices.extend(atoms.into_iter().map(i64::from));
                values.extend(more);
            }
        }
    }
}

impl<T: Precise> Collected<T> {
    pub fn give(self, py: Python<'_>) -> PyResult<Codes<'_>> {
        Ok(match self {
            Self::Dense { n_atoms, values } => {
                let n_samples = values.len().checked_div(n_atoms).unwrap_or(0);
                let codes = Matrix::from_columns(n_atoms, n_samples, values);
                Codes::Dense(rows(py, codes.unwrap_or_else(|| Matrix::zeros(n_atoms, 0)))?)
            }
            Self::Sparse { starts, indices: atoms, values } => {
                Codes::Sparse((indices(py, starts), list(py, atoms), list(py, values)))
            }
        })
    }
}
