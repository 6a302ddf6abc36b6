//! Errors of the library as exceptions: each is its own class and a standard one of Python.

use pyo3::exceptions::PyOSError;
use pyo3::prelude::*;
use ssdl::Error;

/// Turns an error of the library into an exception.
pub trait OrRaise<T> {
    /// The value, or the exception of its error.
    fn or_raise(self, py: Python<'_>) -> PyResult<T>;
}

impl<T> OrRaise<T> for ssdl::Result<T> {
    fn or_raise(self, py: Python<'_>) -> PyResult<T> {
        self.map_err(|error| exception(py, &error))
    }
}

fn exception(py: Python<'_>, error: &Error) -> PyErr {
    let class = match error {
        Error::Io { path, source } => return of_system(path, source),
        Error::Knob { .. } => "KnobError",
        Error::Unknown { .. } => "UnknownNameError",
        Error::Shape { .. } => "ShapeError",
        Error::NotFinite { .. } => "NotFiniteError",
        Error::Labels(_) => "LabelsError",
        Error::Samples(_) => "SamplesError",
        Error::Graph(_) => "GraphError",
        Error::Memory { .. } => "MemoryLimitError",
        Error::Device(_) => "DeviceError",
        Error::Diverged { .. } => "DivergedError",
        Error::Cancelled => "CancelledError",
        Error::Format { .. } => "ModelFileError",
        _ => "SsdlError",
    };
    of_class(py, class, error.to_string())
}

impl<T> OrRaise<T> for ssdl_data::Result<T> {
    fn or_raise(self, py: Python<'_>) -> PyResult<T> {
        self.map_err(|error| match &error {
            ssdl_data::Error::Read { path, source } | ssdl_data::Error::Write { path, source } => {
                of_system(path, source)
            }
            other => of_class(py, "DataFileError", other.to_string()),
        })
    }
}

impl<T> OrRaise<T> for ssdl_report::Result<T> {
    fn or_raise(self, py: Python<'_>) -> PyResult<T> {
        self.map_err(|error| match error {
            ssdl_report::Error::Model(inner) => exception(py, &inner),
            other => of_class(py, "SsdlError", other.to_string()),
        })
    }
}

impl<T> OrRaise<T> for ssdl_label::Result<T> {
    fn or_raise(self, py: Python<'_>) -> PyResult<T> {
        use ssdl_label::Error::{Data, Fit, Io};
        match self {
            Err(Data(inner)) => ssdl_data::Result::Err(inner).or_raise(py),
            Err(Fit(inner)) => ssdl::Result::Err(inner).or_raise(py),
            Err(Io { path, source }) => Err(of_system(&path, &source)),
            Err(other) => Err(of_class(py, "LabelsError", other.to_string())),
            Ok(value) => Ok(value),
        }
    }
}

/// An exception of the package. Its classes have two base classes, which only Python can declare.
fn of_class(py: Python<'_>, class: &str, words: String) -> PyErr {
    // Options of the program are parameters here.
    let words = words.replace("--image HEIGHTxWIDTH", "`image_shape`");
    let words = words.replace("--unpack-limit", "`max_unpacked`");
    let words = ssdl::shown::escaped(&words).into_owned();
    let raised = || py.import("ssdl.errors")?.getattr(class)?.call1((words,));
    raised().map_or_else(|failure| failure, PyErr::from_value)
}

/// Python chooses the class by the error number, such as `FileNotFoundError`.
fn of_system(path: &std::path::Path, source: &std::io::Error) -> PyErr {
    let words = source.to_string();
    match source.raw_os_error() {
        Some(number) => {
            let words = words.trim_end_matches(&format!(" (os error {number})")).to_owned();
            PyOSError::new_err((number, words, path.as_os_str().to_owned()))
        }
        None => std::io::Error::new(source.kind(), format!("{}: {words}", path.display())).into(),
    }
}
