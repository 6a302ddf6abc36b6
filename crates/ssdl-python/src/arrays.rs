//! NumPy arrays and matrices of the library: rows in C order are columns, byte for byte.

use std::ops::Range;
use std::sync::Arc;

use numpy::prelude::*;
use numpy::{Element, PyArray1, PyArray2, PyReadonlyArray1, PyReadonlyArray2};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use ssdl::sparse::Csr;
use ssdl::{AnyModel, Matrix, Model, Real};

/// Samples as passed from Python, one per row.
#[derive(FromPyObject)]
pub enum Rows<'py> {
    /// `float32`.
    Single(PyReadonlyArray2<'py, f32>),
    /// `float64`.
    Double(PyReadonlyArray2<'py, f64>),
}

/// The same expression for rows of either precision.
macro_rules! each_rows {
    ($rows:expr, $own:ident => $body:expr) => {
        match $rows {
            $crate::arrays::Rows::Single($own) => $body,
            $crate::arrays::Rows::Double($own) => $body,
        }
    };
}
pub(crate) use each_rows;

/// A number type of Python's arrays and models.
pub trait Precise: Real + Element {
    /// The rows, if they have this type.
    fn rows(rows: Rows<'_>) -> PyResult<PyReadonlyArray2<'_, Self>>;
    /// The model, wrapped so that it can have either type.
    fn any(model: Model<Self>) -> AnyModel;
    /// The model, if its numbers have this type.
    fn same(model: &AnyModel) -> PyResult<&Arc<Model<Self>>>;
}

/// The implementation is the same for both types, except for the variant.
macro_rules! precise {
    ($T:ty, $Variant:ident) => {
        impl Precise for $T {
            fn rows(rows: Rows<'_>) -> PyResult<PyReadonlyArray2<'_, Self>> {
                match rows {
                    Rows::$Variant(rows) => Ok(rows),
                    _ => Err(another_precision()),
                }
            }

            fn any(model: Model<Self>) -> AnyModel {
                model.into()
            }

            fn same(model: &AnyModel) -> PyResult<&Arc<Model<Self>>> {
                match model {
                    AnyModel::$Variant(model) => Ok(model),
                    _ => Err(another_precision()),
                }
            }
        }
    };
}
precise!(f32, Single);
precise!(f64, Double);

fn another_precision() -> PyErr {
    PyTypeError::new_err("all arrays must have one number type, that of the model")
}

/// The rows as columns of a matrix: one copy, no transposition.
pub fn columns<T: Precise>(rows: &PyReadonlyArray2<'_, T>) -> PyResult<Matrix<T>> {
    some_columns(rows, 0..rows.shape()[0])
}

fn some_columns<T: Precise>(
    rows: &PyReadonlyArray2<'_, T>,
    range: Range<usize>,
) -> PyResult<Matrix<T>> {
    // Arrays in Fortran order have slices too, with rows and columns swapped.
    if !rows.is_c_contiguous() {
        return Err(PyValueError::new_err("samples must be in C order"));
    }
    let n_features = rows.shape()[1];
    let wanted = &rows.as_slice()?[range.start * n_features..range.end * n_features];
    Matrix::from_columns(n_features, range.len(), wanted.to_vec())
        .ok_or_else(|| PyValueError::new_err("samples do not have the size they claim"))
}

/// Bytes of samples that are copied at once.
const PART_BYTES: usize = 8 << 20;
/// The same for a card, which should be busy.
const CARD_BYTES: usize = 512 << 20;

/// Rows that are copied in parts, so that they never exist twice in full.
pub struct Parts<T: Precise> {
    array: Py<PyArray2<T>>,
    n_samples: usize,
    n_features: usize,
}

impl<T: Precise> Parts<T> {
    pub fn new(rows: &PyReadonlyArray2<'_, T>) -> Self {
        let (n_samples, n_features) = (rows.shape()[0], rows.shape()[1]);
        let array: &Bound<'_, PyArray2<T>> = rows;
        Self { array: array.clone().unbind(), n_samples, n_features }
    }

    pub fn n_samples(&self) -> usize {
        self.n_samples
    }

    /// The ranges of rows, one per part; a card is given more at once.
    pub fn ranges(&self, on_card: bool) -> impl Iterator<Item = Range<usize>> + use<T> {
        let bytes = self.n_features.max(1) * size_of::<T>();
        let part = if on_card { CARD_BYTES } else { PART_BYTES };
        let (size, n_samples) = ((part / bytes).max(64), self.n_samples);
        // Without rows there is one empty part, so that the library can report the error.
        (0..n_samples.max(1)).step_by(size).map(move |first| first..(first + size).min(n_samples))
    }

    /// These rows as columns of a matrix; called while the interpreter is released.
    pub fn columns(&self, range: Range<usize>) -> PyResult<Matrix<T>> {
        Python::attach(|py| {
            let rows = self.array.bind(py).try_readonly().map_err(PyErr::from)?;
            some_columns(&rows, range)
        })
    }
}

/// The columns as rows of an array that takes ownership of the memory.
pub fn rows<T: Real + Element>(py: Python<'_>, matrix: Matrix<T>) -> PyResult<Bound<'_, PyAny>> {
    let shape = [matrix.columns(), matrix.rows()];
    Ok(PyArray1::from_vec(py, matrix.into_vec()).reshape(shape)?.into_any())
}

/// A list of numbers.
pub fn list<T: Element>(py: Python<'_>, values: Vec<T>) -> Bound<'_, PyAny> {
    PyArray1::from_vec(py, values).into_any()
}

/// Indices of classes or samples, as an index array.
pub fn indices(py: Python<'_>, values: impl IntoIterator<Item = usize>) -> Bound<'_, PyAny> {
    list(py, values.into_iter().map(|value| value as i64).collect())
}

/// Row offsets, column indices and values, from which `scipy.sparse` builds a CSR array.
pub type SparseRows<'py> = (Bound<'py, PyAny>, Bound<'py, PyAny>, Bound<'py, PyAny>);

/// The three arrays of a sparse matrix.
pub fn sparse<T: Real + Element>(py: Python<'_>, matrix: Csr<T>) -> SparseRows<'_> {
    let (starts, columns, values) = matrix.into_parts();
    (
        indices(py, starts),
        list(py, columns.into_iter().map(i64::from).collect::<Vec<_>>()),
        list(py, values),
    )
}

/// A sparse matrix as passed from Python: offsets, column indices, values.
#[derive(FromPyObject)]
pub struct GivenSparse<'py>(
    PyReadonlyArray1<'py, i64>,
    PyReadonlyArray1<'py, i64>,
    PyReadonlyArray1<'py, f64>,
);

impl GivenSparse<'_> {
    /// The matrix, checked.
    pub fn csr<T: Real>(&self, columns: usize) -> PyResult<ssdl::Result<Csr<T>>> {
        let offsets = self.0.as_array().iter().map(|&at| usize::try_from(at)).collect();
        let indices = self.1.as_array().iter().map(|&at| u32::try_from(at)).collect();
        let (Ok(offsets), Ok(indices)) = (offsets, indices) else {
            return Err(PyValueError::new_err("offsets and indices must not be negative"));
        };
        let values = self.2.as_array().iter().map(|&value| T::of(value)).collect();
        Ok(Csr::new(columns, offsets, indices, values))
    }
}
