//! The page of `ssdl label`, served from the interpreter's process.

use std::path::{Path, PathBuf};
use std::sync::atomic::Ordering;
use std::sync::{Mutex, PoisonError};
use std::thread::JoinHandle;

use numpy::PyReadonlyArray2;
use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use ssdl::Signal;
use ssdl_data::Table;
use ssdl_label::state::State;
use ssdl_label::{Material, Options, Server, journal, journal_beside};

use crate::arrays::columns;
use crate::error::OrRaise;

/// A server that runs until it is stopped.
#[pyclass(frozen, name = "LabelServer", module = "ssdl._ssdl")]
pub struct LabelServer {
    address: String,
    journal: PathBuf,
    n_samples: usize,
    stop: Signal,
    thread: Mutex<Option<JoinHandle<ssdl_label::Result<()>>>>,
}

#[pymethods]
impl LabelServer {
    /// Serves the page for these samples; `labels` is the file of labels.
    #[new]
    #[pyo3(signature = (rows, labels, classes, image, feature_names, model, seed, threads))]
    #[allow(clippy::too_many_arguments, reason = "Python names each of them")]
    fn new(
        py: Python<'_>,
        rows: PyReadonlyArray2<'_, f64>,
        labels: PathBuf,
        classes: Vec<String>,
        image: Option<[usize; 2]>,
        feature_names: Option<Vec<String>>,
        model: Option<PathBuf>,
        seed: u64,
        threads: usize,
    ) -> PyResult<Self> {
        let features = columns(&rows)?;
        let n_samples = features.columns();
        let table = Table { feature_names, image, ..Table::of(features) };
        let material = Material::of_table(Path::new("samples"), table, image);
        let (journal, stop) = (journal_beside(&labels), Signal::default());
        let options = Options {
            labels,
            model,
            classes,
            people: vec!["me".into()],
            listen: None,
            overlap: 0.0,
            seed,
            threads,
            command: String::new(),
            report: None,
            stop: stop.clone(),
        };
        let server = py.detach(|| Server::start(material, options)).or_raise(py)?;
        let address = server.addresses().first().map(|(_, address)| address.clone());
        let thread = std::thread::spawn(move || server.run());
        Ok(Self {
            address: address.unwrap_or_default(),
            journal,
            n_samples,
            stop,
            thread: Mutex::new(Some(thread)),
        })
    }

    /// The address of the page.
    #[getter]
    fn address(&self) -> &str {
        &self.address
    }

    /// The labels so far, `None` where there is none; and the samples marked unusable.
    fn labels(&self, py: Python<'_>) -> PyResult<(Vec<Option<String>>, Vec<usize>)> {
        let entries = py.detach(|| journal::read(&self.journal)).or_raise(py)?;
        let state = State::replay(&entries);
        let unusable = (0..self.n_samples).filter(|&sample| state.is_unusable(sample)).collect();
        Ok((state.labels(self.n_samples), unusable))
    }

    /// Ends the server and writes the labels; does nothing the second time.
    fn stop(&self, py: Python<'_>) -> PyResult<()> {
        self.stop.store(true, Ordering::SeqCst);
        let thread = self.thread.lock().unwrap_or_else(PoisonError::into_inner).take();
        let Some(thread) = thread else { return Ok(()) };
        let ended = py.detach(|| thread.join());
        ended
            .map_err(|_| PyRuntimeError::new_err("the server of the page has failed"))?
            .or_raise(py)
    }
}
