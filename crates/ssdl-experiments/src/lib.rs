//! Experiments as data: a plan in TOML goes in, rows of CSV and tables come out.
//!
//! [`comparison`] runs methods on splits of data sets, as the tables of the paper do; [`graphs`]
//! compares graphs for sparse coding over grids of knobs; [`tune`] looks for knobs with few labels;
//! [`hidden`] tells how well a method finds labels that were hidden from it.

pub mod comparison;
mod curve;
mod error;
mod example;
mod folds;
pub mod graphs;
pub mod hidden;
pub mod memory;
mod numbers;
mod plan;
mod rows;
mod table;
pub mod tune;

pub use curve::{Along, Curve, Point, Series};
pub use error::{Error, Result};
pub use example::Example;
pub use plan::{AnyPlan, KNOWN};
pub use rows::{Record, RowFile};
pub use table::{Cell, Number, Table};

/// Whoever looks on while an experiment runs.
pub trait Monitor: Sync {
    /// So many of the fits are done; `now` says what is being done.
    fn done(&self, fits: usize, of: usize, now: &str);

    /// Whether to stop before the next fit.
    fn stop(&self) -> bool;
}
