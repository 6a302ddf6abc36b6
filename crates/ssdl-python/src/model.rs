//! A fitted model in Python: immutable, shared by copies, pickled as a model file.

use std::path::PathBuf;
use std::sync::Arc;

use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict, PyType};
use ssdl::fit::{Compared, Stop, term_names};
use ssdl::{AnyModel, Matrix, Model, Prediction, each_precision};

use crate::arrays::{Parts, Precise, Rows, columns, indices, list, rows};
use crate::codes::{Codes, Collected};
use crate::error::OrRaise;
use crate::worker::{self, Place, alone};

/// Class indices, scores and probabilities.
type Predicted<'py> = (Bound<'py, PyAny>, Bound<'py, PyAny>, Bound<'py, PyAny>);

/// A fitted model.
#[pyclass(frozen, name = "Model", module = "ssdl._ssdl")]
pub struct FittedModel(pub AnyModel);

#[pymethods]
impl FittedModel {
    /// Reads a model file.
    #[staticmethod]
    fn load(py: Python<'_>, path: PathBuf) -> PyResult<Self> {
        alone(py, || AnyModel::load(&path)).or_raise(py).map(Self)
    }

    /// Reads the bytes of a model file.
    #[staticmethod]
    fn from_bytes(py: Python<'_>, bytes: &[u8]) -> PyResult<Self> {
        alone(py, || AnyModel::from_bytes(bytes)).or_raise(py).map(Self)
    }

    /// Writes the model file.
    fn save(&self, py: Python<'_>, path: PathBuf) -> PyResult<()> {
        alone(py, || each_precision!(&self.0, model => model.save(&path))).or_raise(py)
    }

    /// The bytes of the model file.
    fn to_bytes<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        let bytes =
            alone(py, || each_precision!(&self.0, model => model.to_bytes())).or_raise(py)?;
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
        samples: Rows<'py>,
        threads: usize,
        device: &str,
    ) -> PyResult<Predicted<'py>> {
        let place = Place::named(threads, device).or_raise(py)?;
        each_precision!(&self.0, model => predict(py, model, samples, place))
    }

    /// Codes of raw samples, dense or sparse; the prepared samples if there are no atoms.
    fn code<'py>(
        &self,
        py: Python<'py>,
        samples: Rows<'py>,
        sparse: bool,
        threads: usize,
        device: &str,
    ) -> PyResult<Codes<'py>> {
        let place = Place::named(threads, device).or_raise(py)?;
        each_precision!(&self.0, model => code(py, model, samples, sparse, place))
    }

    /// Unlabelled training samples to label next, or some of the given samples.
    fn query<'py>(
        &self,
        py: Python<'py>,
        n: usize,
        samples: Option<Rows<'py>>,
        threads: usize,
    ) -> PyResult<Bound<'py, PyAny>> {
        each_precision!(&self.0, model => query(py, model, n, samples, threads))
    }

    /// The predictions of the fit for the training samples.
    fn transduction<'py>(&self, py: Python<'py>, threads: usize) -> PyResult<Predicted<'py>> {
        each_precision!(&self.0, model => {
            let predicted = py.detach(|| ssdl::threads::run(threads, || model.transduction()));
            to_python(py, predicted)
        })
    }

    #[getter]
    fn method(&self) -> &str {
        each_precision!(&self.0, model => model.method())
    }

    #[getter]
    fn knobs(&self) -> Vec<(String, String)> {
        each_precision!(&self.0, model => model.knobs().to_vec())
    }

    #[getter]
    fn classes(&self) -> Vec<String> {
        each_precision!(&self.0, model => model.classes().to_vec())
    }

    #[getter]
    fn prepare(&self) -> Vec<String> {
        each_precision!(&self.0, model => {
            model.preparation().plans().iter().map(ToString::to_string).collect()
        })
    }

    #[getter]
    fn n_features(&self) -> usize {
        each_precision!(&self.0, model => model.n_features())
    }

    /// Methods that were compared: name, share of hidden labels right, log-loss, weight.
    #[getter]
    fn compared(&self) -> Vec<(String, Option<f64>, Option<f64>, f64)> {
        let of = |one: &Compared| (one.method.clone(), one.accuracy, one.log_loss, one.weight);
        each_precision!(&self.0, model => model.report().compared.iter().map(of).collect())
    }

    /// Names of the features, if the samples of the fit had them.
    #[getter]
    fn feature_names(&self) -> Option<Vec<String>> {
        each_precision!(&self.0, model => model.naming().features.clone())
    }

    /// The type of the labels of the fit; `None` if the model was not made in Python.
    #[getter]
    fn label_type(&self) -> Option<String> {
        each_precision!(&self.0, model => model.naming().label_type.clone())
    }

    #[getter]
    fn is_calibrated(&self) -> bool {
        each_precision!(&self.0, model => model.calibration().is_some())
    }

    #[getter]
    fn image(&self) -> Option<[usize; 2]> {
        each_precision!(&self.0, model => model.image())
    }

    #[getter]
    fn precision(&self) -> &'static str {
        match &self.0 {
            AnyModel::Single(_) => "float32",
            AnyModel::Double(_) => "float64",
        }
    }

    /// $D$, one row per atom; `None` without atoms.
    #[getter]
    fn atoms<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyAny>>> {
        each_precision!(&self.0, model => model.atoms().map(|atoms| rows(py, atoms.clone())).transpose())
    }

    #[getter]
    fn n_atoms(&self) -> usize {
        each_precision!(&self.0, model => model.atoms().map_or(0, Matrix::columns))
    }

    /// Codes of the training samples, one row per sample.
    #[getter]
    fn codes<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        each_precision!(&self.0, model => rows(py, model.codes().clone()))
    }

    /// Weights and bias of the linear classifier, one row per class; `None` if samples vote.
    #[getter]
    fn classifier<'py>(
        &self,
        py: Python<'py>,
    ) -> PyResult<Option<(Bound<'py, PyAny>, Bound<'py, PyAny>)>> {
        each_precision!(&self.0, model => match model.classifier() {
            None => Ok(None),
            Some(linear) => {
                Ok(Some((rows(py, linear.weights.clone())?, list(py, linear.bias.clone()))))
            }
        })
    }

    #[getter]
    fn seed(&self) -> u64 {
        each_precision!(&self.0, model => model.report().seed)
    }

    #[getter]
    fn iterations(&self) -> usize {
        each_precision!(&self.0, model => model.report().iterations)
    }

    #[getter]
    fn stop(&self) -> String {
        each_precision!(&self.0, model => model.report().stop.to_string())
    }

    #[getter]
    fn reached_limit(&self) -> bool {
        each_precision!(&self.0, model => model.report().stop == Stop::Limit)
    }

    /// The objective after every step, column by column.
    #[getter]
    fn trace<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let trace = each_precision!(&self.0, model => &model.report().trace);
        let table = PyDict::new(py);
        table.set_item("iteration", indices(py, trace.iter().map(|row| row.iteration)))?;
        let steps: Vec<&str> = trace.iter().map(|row| row.step.name()).collect();
        table.set_item("step", steps)?;
        for name in term_names(trace) {
            let values = trace.iter().map(|row| row.objective.term(name)).collect();
            table.set_item(name, list::<f64>(py, values))?;
        }
        let totals = trace.iter().map(|row| row.objective.total()).collect();
        table.set_item("total", list::<f64>(py, totals))?;
        table.set_item("flips", indices(py, trace.iter().map(|row| row.flips)))?;
        let seconds = trace.iter().map(|row| row.seconds).collect();
        table.set_item("seconds", list::<f64>(py, seconds))?;
        Ok(table)
    }

    /// Class indices of the labels it was fitted with, negative where unlabelled.
    #[getter]
    fn labels<'py>(&self, py: Python<'py>) -> Bound<'py, PyAny> {
        let number = |label: &Option<usize>| label.map_or(-1, |class| class as i64);
        let labels = each_precision!(&self.0, model => model.training_labels());
        list(py, labels.assigned().iter().map(number).collect())
    }

    /// Seconds of the fit, measured by the library.
    #[getter]
    fn seconds(&self) -> f64 {
        each_precision!(&self.0, model => model.report().seconds)
    }

    #[getter]
    fn revived_atoms(&self) -> usize {
        each_precision!(&self.0, model => model.report().revived_atoms)
    }

    /// The objective by term, and its total.
    #[getter]
    fn objective<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let objective = each_precision!(&self.0, model => &model.report().objective);
        let terms = PyDict::new(py);
        for (name, value) in objective.terms() {
            terms.set_item(name, value)?;
        }
        terms.set_item("total", objective.total())?;
        Ok(terms)
    }
}

fn predict<'py, T: Precise>(
    py: Python<'py>,
    model: &Arc<Model<T>>,
    samples: Rows<'py>,
    place: Place,
) -> PyResult<Predicted<'py>> {
    let (model, parts) = (model.clone(), Parts::new(&T::rows(samples)?));
    let n_classes = model.classes().len();
    let work = move |part, predicted: &mut (Vec<usize>, Vec<T>, Vec<T>)| {
        let more = model.predict(part)?;
        predicted.0.extend(more.classes);
        predicted.1.extend(more.scores.into_vec());
        predicted.2.extend(more.probabilities.into_vec());
        Ok(())
    };
    let predicted = worker::part_by_part(py, parts, place, Default::default(), work)?;
    let by_class = |values: Vec<T>| {
        let n_samples = values.len() / n_classes.max(1);
        let matrix = Matrix::from_columns(n_classes, n_samples, values);
        rows(py, matrix.unwrap_or_else(|| Matrix::zeros(n_classes, 0)))
    };
    Ok((indices(py, predicted.0), by_class(predicted.1)?, by_class(predicted.2)?))
}

fn code<'py, T: Precise>(
    py: Python<'py>,
    model: &Arc<Model<T>>,
    samples: Rows<'py>,
    sparse: bool,
    place: Place,
) -> PyResult<Codes<'py>> {
    let (model, parts) = (model.clone(), Parts::new(&T::rows(samples)?));
    let collected = Collected::new(model.n_codes(), parts.n_samples(), sparse);
    let work = move |part, codes: &mut Collected<T>| {
        codes.add(model.code(part)?);
        Ok(())
    };
    worker::part_by_part(py, parts, place, collected, work)?.give(py)
}

fn query<'py, T: Precise>(
    py: Python<'py>,
    model: &Arc<Model<T>>,
    n: usize,
    samples: Option<Rows<'py>>,
    threads: usize,
) -> PyResult<Bound<'py, PyAny>> {
    let model = model.clone();
    let samples = samples.map(|samples| columns(&T::rows(samples)?)).transpose()?;
    let find = move || match samples {
        Some(samples) => model.query_among(samples, n),
        None => model.query(n),
    };
    let chosen = worker::run(py, None, move |_| ssdl::threads::run(threads, find))?.0;
    Ok(indices(py, chosen.or_raise(py)?))
}

fn to_python<T: Precise>(py: Python<'_>, predicted: Prediction<T>) -> PyResult<Predicted<'_>> {
    let classes = indices(py, predicted.classes);
    Ok((classes, rows(py, predicted.scores)?, rows(py, predicted.probabilities)?))
}
