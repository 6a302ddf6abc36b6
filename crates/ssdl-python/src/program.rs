//! The program `ssdl`, started from Python: the same commands, the same code.

use std::ffi::OsString;

use pyo3::prelude::*;

/// Runs a command line, the program's name first; gives back the exit code.
#[pyfunction]
pub fn program(py: Python<'_>, words: Vec<OsString>) -> u8 {
    py.detach(|| ssdl_cli::run(words))
}
