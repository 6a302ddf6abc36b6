//! Graphs for sparse coding, compared as in the paper: codes with a graph of each kind, a linear SVM
//! on them, the error on test samples, over grids of knobs.
//!
//! Fits of one grid share what they can: the samples and their mean distance; each graph and the
//! anchors of the test samples, over all strengths and seeds; the solution without a graph as the
//! start of the weakest strength, and each strength as the start of the next; and within the SVM the
//! dual variables, from one box constraint to the next.

mod data;
mod plan;
mod row;
mod sweep;
mod table;

pub use plan::{Column, GRAPHS, Grid, Plan, Scope, Setting};
pub use row::Row;
pub use table::report;

use std::path::Path;

use crate::rows::Rows;
use crate::{Result, Watch};

/// Runs what is missing of a plan on the data in a folder; rows that exist are not run again.
///
/// # Errors
/// If the data cannot be read, a fit fails, or the watcher stops it.
pub fn run(
    plan: &Plan,
    scope: Scope,
    folder: &Path,
    rows: &Rows<Row>,
    watch: &dyn Watch,
) -> Result<()> {
    rows.check_version()?;
    let raw = data::Raw::read(&plan.data, folder)?;
    let columns = plan.columns();
    let grid = plan.grid(scope);
    let total = columns.len() * grid.fits();
    let mut before = 0;
    for column in columns {
        let problem = raw.problem(plan, column)?;
        let at = sweep::Place { before, total };
        sweep::run(plan, &grid, &problem, rows, at, watch)?;
        before += grid.fits();
    }
    Ok(())
}
