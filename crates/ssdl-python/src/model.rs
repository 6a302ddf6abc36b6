//! A fitted model as Python holds it: never changed, shared by copies, pickled as its file.

use std::path::PathBuf;
use std::sync::Arc;

use numpy::Element;
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict, PyType};
use ssdl::fit::Stop;
use ssdl::model::{Precision, precision_of, precision_of_bytes};
use ssdl::{Matrix, Model, Prediction, Real, Result};

use crate::arrays::{Rows, columns, indices, list, rows};
use crate::error::OrRaise;
use crate::worker;

/// A model in either precision.
#[derive(Clone)]
pub enum Held {
    /// `float32`.
    Single(Arc<Model<f32>>),
    /// `float64`.
    Double(Arc<Model<f64>>),
}

impl From<Model<f32>> for Held {
    fn from(model: Model<f32>) -> Self {
        Self::Single(Arc::new(model))
    }
}

impl From<Model<f64>> for Held {
    fn from(model: Model<f64>) -> Self {
        Self::Double(Arc::new(model))
    }
}

/// The same expression for either precision.
macro_rules! either {
    ($held:expr, $model:ident => $body:expr) => {
        match $held {
            Held::Single($model) => $body,
            Held::Double($model) => $body,
        }
    };
}

/// Class indices, scores and probabilities.
type Said<'py> = (Bound<'py, PyAny>, Bound<'py, PyAny>, Bound<'py, PyAny>);

/// A fitted model.
#[pyclass(frozen, name = "Model", module = "ssdl._ssdl")]
pub struct FittedModel(Held);

impl From<Held> for FittedModel {
    fn from(held: Held) -> Self {
        Self(held)
    }
}

#[pymethods]
impl FittedModel {
    /// Reads a model file.
    #[staticmethod]
    fn load(py: Python<'_>, path: PathBuf) -> PyResult<Self> {
        let held = py.detach(|| -> Result<Held> {
            Ok(match precision_of(&path)? {
                Precision::Single => Model::<f32>::load(&path)?.into(),
                Precision::Double => Model::<f64>::load(&path)?.into(),
            })
        });
        held.or_raise(py).map(Self)
    }

    /// Reads the bytes of a model file.
    #[staticmethod]
    fn from_bytes(py: Python<'_>, bytes: &[u8]) -> PyResult<Self> {
        let held = py.detach(|| -> Result<Held> {
            Ok(match precision_of_bytes(bytes)? {
                Precision::Single => Model::<f32>::from_bytes(bytes)?.into(),
                Precision::Double => Model::<f64>::from_bytes(bytes)?.into(),
            })
        });
        held.or_raise(py).map(Self)
    }

    /// Writes the model file.
    fn save(&self, py: Python<'_>, path: PathBuf) -> PyResult<()> {
        py.detach(|| either!(&self.0, model => model.save(&path))).or_raise(py)
    }

    /// The bytes of the model file.
    fn to_bytes<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        let bytes = py.detach(|| either!(&self.0, model => model.to_bytes())).or_raise(py)?;
        Ok(PyBytes::new(py, &bytes))
    }

    fn __reduce__<'py>(
        &self,
        py: Python<'py>,
    ) -> PyResult<(Bound<'py, PyAny>, (Bound<'py, PyBytes>,))> {
        let class: Bound<'py, PyType> = py.get_type::<Self>();
        Ok((class.getattr("from_bytes")?, (self.to_bytes(py)?,)))
    }

    fn __copy__(&self) -> Self {
        Self(self.0.clone())
    }

    fn __deepcopy__(&self, _memory: &Bound<'_, PyAny>) -> Self {
        Self(self.0.clone())
    }

    /// Class indices, scores and probabilities of raw samples.
    fn predict<'py>(
        &self,
        py: Python<'py>,
        samples: Rows<'_>,
        threads: usize,
    ) -> PyResult<Said<'py>> {
        match (&self.0, samples) {
            (Held::Single(model), Rows::Single(rows)) => {
                let said = on(py, model, columns(&rows)?, threads, Model::predict)?;
                told(py, said)
            }
            (Held::Double(model), Rows::Double(rows)) => {
                let said = on(py, model, columns(&rows)?, threads, Model::predict)?;
                told(py, said)
            }
            _ => Err(another_precision()),
        }
    }

    /// Codes of raw samples; the prepared samples where there are no atoms.
    fn code<'py>(
        &self,
        py: Python<'py>,
        samples: Rows<'_>,
        threads: usize,
    ) -> PyResult<Bound<'py, PyAny>> {
        match (&self.0, samples) {
            (Held::Single(model), Rows::Single(raw)) => {
                rows(py, on(py, model, columns(&raw)?, threads, Model::code)?)
            }
            (Held::Double(model), Rows::Double(raw)) => {
                rows(py, on(py, model, columns(&raw)?, threads, Model::code)?)
            }
            _ => Err(another_precision()),
        }
    }

    /// What the fit says of the training samples.
    fn transduction<'py>(&self, py: Python<'py>, threads: usize) -> PyResult<Said<'py>> {
        either!(&self.0, model => {
            let said = py.detach(|| ssdl::threads::run(threads, || model.transduction()));
            told(py, said)
        })
    }

    #[getter]
    fn method(&self) -> &str {
        either!(&self.0, model => model.method())
    }

    #[getter]
    fn knobs(&self) -> Vec<(String, String)> {
        either!(&self.0, model => model.knobs().to_vec())
    }

    #[getter]
    fn classes(&self) -> Vec<String> {
        either!(&self.0, model => model.classes().to_vec())
    }

    #[getter]
    fn prepare(&self) -> Vec<String> {
        either!(&self.0, model => {
            model.preparation().plans().iter().map(ToString::to_string).collect()
        })
    }

    #[getter]
    fn n_features(&self) -> usize {
        either!(&self.0, model => model.n_features())
    }

    #[getter]
    fn image(&self) -> Option<[usize; 2]> {
        either!(&self.0, model => model.image())
    }

    #[getter]
    fn precision(&self) -> &'static str {
        match &self.0 {
            Held::Single(_) => "float32",
            Held::Double(_) => "float64",
        }
    }

    /// $D$, one atom a row; `None` without atoms.
    #[getter]
    fn atoms<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyAny>>> {
        either!(&self.0, model => model.atoms().map(|atoms| rows(py, atoms.clone())).transpose())
    }

    #[getter]
    fn n_atoms(&self) -> usize {
        either!(&self.0, model => model.atoms().map_or(0, Matrix::columns))
    }

    /// Codes of the training samples, one sample a row.
    #[getter]
    fn codes<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        either!(&self.0, model => rows(py, model.codes().clone()))
    }

    /// Weights and bias of the linear classifier, one class a row; `None` where samples vote.
    #[getter]
    fn classifier<'py>(
        &self,
        py: Python<'py>,
    ) -> PyResult<Option<(Bound<'py, PyAny>, Bound<'py, PyAny>)>> {
        either!(&self.0, model => match model.classifier() {
            None => Ok(None),
            Some(linear) => {
                Ok(Some((rows(py, linear.weights.clone())?, list(py, linear.bias.clone()))))
            }
        })
    }

    #[getter]
    fn seed(&self) -> u64 {
        either!(&self.0, model => model.report().seed)
    }

    #[getter]
    fn iterations(&self) -> usize {
        either!(&self.0, model => model.report().iterations)
    }

    #[getter]
    fn stop(&self) -> String {
        either!(&self.0, model => model.report().stop.to_string())
    }

    #[getter]
    fn reached_limit(&self) -> bool {
        either!(&self.0, model => model.report().stop == Stop::Limit)
    }

    /// The objective by term, and its total.
    #[getter]
    fn objective<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let objective = either!(&self.0, model => model.report().objective);
        let terms = PyDict::new(py);
        for (name, value) in objective.terms() {
            terms.set_item(name, value)?;
        }
        terms.set_item("total", objective.total())?;
        Ok(terms)
    }
}

/// Lets the model work on samples with so many threads, interpreter released, Ctrl-C heard.
fn on<T: Real, R: Send + 'static>(
    py: Python<'_>,
    model: &Arc<Model<T>>,
    samples: Matrix<T>,
    threads: usize,
    work: fn(&Model<T>, Matrix<T>) -> Result<R>,
) -> PyResult<R> {
    let model = model.clone();
    let done =
        worker::run(py, None, move |_| ssdl::threads::run(threads, || work(&model, samples)));
    done?.0.or_raise(py)
}

fn told<T: Real + Element>(py: Python<'_>, said: Prediction<T>) -> PyResult<Said<'_>> {
    let classes = indices(py, said.classes);
    Ok((classes, rows(py, said.scores)?, rows(py, said.probabilities)?))
}

fn another_precision() -> PyErr {
    PyTypeError::new_err("samples must have the number type of the model")
}
