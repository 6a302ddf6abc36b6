//! Experiments as data: a plan in TOML goes in, rows of CSV and tables come out.
//!
//! [`comparison`] runs methods on splits of data sets, as the tables of the paper do; [`graphs`]
//! compares graphs for sparse coding over grids of knobs; [`tune`] searches knobs with few labels;
//! [`hidden`] compares methods by cross-validation on the labels.

pub mod comparison;
mod curve;
mod error;
mod example;
mod folds;
pub mod graphs;
pub mod hidden;
mod measures;
pub mod memory;
mod numbers;
mod plan;
mod rows;
mod table;
pub mod tune;

pub use curve::{Along, Curve, Judged, Point, Series};
pub use error::{Error, Result};
pub use example::Example;
pub use measures::Measures;
pub use plan::{AnyPlan, KNOWN, Need};
pub use rows::{Record, RowFile};
pub use table::{Cell, Number, Table};

/// Observer of an experiment: follows its progress and may stop it.
pub trait Monitor: Sync {
    /// Reports that `fits` of `total` fits are done; `current` names the current fit.
    fn done(&self, fits: usize, total: usize, current: &str);

    /// Whether to stop before the next fit.
    fn stop(&self) -> bool;
}
