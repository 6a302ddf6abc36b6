//! A model of either precision.

use std::path::Path;
use std::sync::Arc;

use super::Model;
use super::framing::Framed;
use super::header::{self, Precision};
use crate::Result;

/// A model whose numbers are `f32` or `f64`; copies share it. [`each_precision!`](crate::each_precision!)
/// runs the same expression on either.
#[derive(Clone, Debug)]
pub enum AnyModel {
    /// Numbers are `f32`.
    Single(Arc<Model<f32>>),
    /// Numbers are `f64`.
    Double(Arc<Model<f64>>),
}

impl AnyModel {
    /// Reads a model file in the precision it has.
    ///
    /// # Errors
    /// As [`Model::load`].
    pub fn load(path: &Path) -> Result<Self> {
        Self::read(Framed::of_file(path)?)
    }

    /// Reads the bytes of a model file.
    ///
    /// # Errors
    /// As [`Model::load`].
    pub fn from_bytes(bytes: &[u8]) -> Result<Self> {
        Self::read(Framed::of_bytes(bytes)?)
    }

    fn read(file: Framed<'_>) -> Result<Self> {
        let header = header::of(&file)?;
        Ok(match header.precision(file.path)? {
            Precision::Single => Model::<f32>::read(file, header)?.into(),
            Precision::Double => Model::<f64>::read(file, header)?.into(),
        })
    }
}

impl From<Model<f32>> for AnyModel {
    fn from(model: Model<f32>) -> Self {
        Self::Single(Arc::new(model))
    }
}

impl From<Model<f64>> for AnyModel {
    fn from(model: Model<f64>) -> Self {
        Self::Double(Arc::new(model))
    }
}

/// The same expression on a model of either precision.
///
/// ```
/// # fn shape(model: &ssdl::AnyModel) -> usize {
/// ssdl::each_precision!(model, model => model.n_features())
/// # }
/// ```
#[macro_export]
macro_rules! each_precision {
    ($any:expr, $model:pat => $body:expr) => {
        match $any {
            $crate::AnyModel::Single($model) => $body,
            $crate::AnyModel::Double($model) => $body,
        }
    };
}
