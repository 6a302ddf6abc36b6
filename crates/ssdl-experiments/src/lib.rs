//! Experiments as data: a plan in TOML goes in, rows of CSV and tables come out.
//!
//! [`comparison`] runs methods on splits of data sets, as the tables of the paper do; [`graphs`]
//! compares graphs for sparse coding over grids of knobs; [`tune`] looks for knobs with few labels;
//! [`hidden`] tells how well a method finds labels that were hidden from it.

mod closer;
pub mod comparison;
mod curve;
mod error;
mod folds;
pub mod graphs;
pub mod hidden;
pub mod memory;
mod numbers;
mod plan;
mod rows;
mod table;
pub mod tune;

pub use closer::Closer;
pub use curve::{Along, Curve, Point, Series};
pub use error::{Error, Result};
pub use plan::{KNOWN, Plan};
pub use rows::{Record, Rows};
pub use table::{Cell, Number, Table};

/// Whoever looks on while an experiment runs.
pub trait Watch: Sync {
    /// So many of the fits are done; `now` says what is being done.
    fn done(&self, fits: usize, of: usize, now: &str);

    /// Whether to stop before the next fit.
    fn stop(&self) -> bool;
}
