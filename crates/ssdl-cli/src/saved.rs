//! A model from its file, in the precision the file has.

use std::path::Path;

use ssdl::model::{Precision, precision_of};
use ssdl::{Error, Model};

use crate::failure::{Failure, Outcome};

/// A model of either precision.
pub enum Saved {
    /// Numbers are `f32`.
    Single(Model<f32>),
    /// Numbers are `f64`.
    Double(Model<f64>),
}

/// Reads a model.
pub fn load(path: &Path) -> Outcome<Saved> {
    match precision_of(path).map_err(refuse)? {
        Precision::Single => Ok(Saved::Single(Model::load(path).map_err(refuse)?)),
        Precision::Double => Ok(Saved::Double(Model::load(path).map_err(refuse)?)),
    }
}

fn refuse(error: Error) -> Failure {
    match error {
        Error::Io { .. } | Error::Format { .. } => {
            Failure::Failed(format!("{error}; give a model saved by `ssdl fit`"))
        }
        other => other.into(),
    }
}
