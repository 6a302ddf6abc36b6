//! The Python module `ssdl._ssdl`: arrays in, models out.
//!
//! There is no mathematics here. `python/ssdl` wraps it in scikit-learn estimators; it is not
//! meant to be called directly.

mod arrays;
mod codes;
mod coding;
mod data;
mod device;
mod error;
mod fit;
mod graph;
mod labelling;
mod look;
mod model;
mod nearest;
mod parts;
mod prepare;
mod program;
mod register;
mod worker;

/// Models, fits, their single stages, and the register from which the Python classes are generated.
#[pyo3::pymodule]
mod _ssdl {
    #[pymodule_export]
    use crate::coding::{encode, learn_atoms};
    #[pymodule_export]
    use crate::data::{digits, fetch, read, read_labels};
    #[pymodule_export]
    use crate::fit::fit;
    #[pymodule_export]
    use crate::graph::{graph, neighbours, representatives};
    #[pymodule_export]
    use crate::labelling::LabelServer;
    #[pymodule_export]
    use crate::look::{explain, report};
    #[pymodule_export]
    use crate::model::FittedModel;
    #[pymodule_export]
    use crate::nearest::{
        part_cuts, part_listed, part_neighbours, part_of, part_rows, part_touching,
    };
    #[pymodule_export]
    use crate::parts::{PyPart, prepare_chosen};
    #[pymodule_export]
    use crate::prepare::{prepare_apply, prepare_fit};
    #[pymodule_export]
    use crate::program::program;
    #[pymodule_export]
    use crate::register::{default_preparation, learner_knobs, methods, preparation_steps};
}
