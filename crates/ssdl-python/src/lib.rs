//! The Python module `ssdl._ssdl`: arrays in, models out.
//!
//! There is no mathematics here. `python/ssdl` makes scikit-learn's estimators of it; nobody else
//! is meant to call it.

mod arrays;
mod error;
mod fit;
mod model;
mod register;
mod worker;

/// Models, the fit, and the register that the Python classes are written from.
#[pyo3::pymodule]
mod _ssdl {
    #[pymodule_export]
    use crate::fit::fit;
    #[pymodule_export]
    use crate::model::FittedModel;
    #[pymodule_export]
    use crate::register::{default_preparation, methods, preparation_steps};
}
