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

pub use plan::{Column, GRAPHS, Grid, GridGraph, Plan};
pub use row::Row;
pub use table::{overview, report, tables};

use std::path::Path;

use ssdl::Samples;
use ssdl::fit::Silent;
use ssdl::methods::{FitOptions, GraphSc};
use ssdl::prelude::*;

use crate::rows::RowFile;
use crate::{Example, Monitor, Result};

/// Runs the fits of a plan that have no rows yet, on the data in a folder.
///
/// # Errors
/// If the data cannot be read, a fit fails, or the monitor stops it.
pub fn run(plan: &Plan, folder: &Path, rows: &RowFile<Row>, monitor: &dyn Monitor) -> Result<()> {
    rows.check_version()?;
    let raw = data::Raw::read(&plan.data, folder)?;
    let columns = plan.columns();
    let grid = plan.grid();
    let total = columns.len() * grid.fits();
    let mut before = 0;
    for column in columns {
        let problem = raw.problem(plan, column)?;
        let at = sweep::Place { before, total };
        sweep::run(plan, &grid, &problem, rows, at, monitor)?;
        before += grid.fits();
    }
    Ok(())
}

/// Fits the first column on an LLE graph with default knobs, to be shown in detail.
///
/// # Errors
/// If the data cannot be read or the fit fails.
pub fn example(plan: &Plan, threads: usize, folder: &Path) -> Result<Option<Example>> {
    let Some(column) = plan.columns().into_iter().next() else { return Ok(None) };
    let drawn = data::Raw::read(&plan.data, folder)?.drawn(plan, column)?;
    let options = FitOptions {
        seed: plan.method.seeds.first().copied().unwrap_or(0),
        threads,
        prepare: plan.data.steps()?,
        image: plan.data.image,
        calibrate: false,
        ..FitOptions::default()
    };
    let method = GraphSc::new().n_atoms(plan.method.n_atoms).sparsity(plan.method.sparsity);
    let samples = Samples::new(drawn.train.clone(), drawn.labels)?;
    let model = method.fit_with(samples, &options, &mut Silent)?;
    let (names, assigned) = (drawn.test_labels.classes(), drawn.test_labels.assigned());
    Ok(Some(Example {
        name: format!("sparse coding on an LLE graph, {}", column.name()),
        model,
        training: drawn.train,
        test: drawn.test,
        truth: assigned.iter().map(|class| class.map(|class| names[class].clone())).collect(),
    }))
}
