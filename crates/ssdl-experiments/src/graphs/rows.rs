//! One row of CSV a fit, appended as fits are done; a row that exists is not run again.

use std::collections::HashMap;
use std::fs::{File, OpenOptions};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

use serde::{Deserialize, Serialize};

use super::plan::Column;
use crate::{Error, Result};

/// What one fit gave.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Row {
    /// `sc` (no graph), `lle`, `heat`, `threshold` or `learnt`.
    pub graph: String,
    /// Labelled samples.
    pub n_labelled: usize,
    /// Noise, in mean squared pixels.
    pub noise: f64,
    /// Seed of the first atoms.
    pub seed: u64,
    /// Knobs of the graph, as the plan writes them.
    pub knobs: String,
    /// β; 0 without a graph.
    pub manifold: f64,
    /// The box constraint that cross-validation chose.
    pub box_constraint: f64,
    /// Error of that cross-validation on the labelled samples, in per cent.
    pub validation_error: f64,
    /// Error on the test samples, in per cent.
    pub test_error: f64,
    /// The objective at the end.
    pub objective: f64,
    /// Outer iterations.
    pub iterations: usize,
    /// Nonzero entries of a code, on average.
    pub non_zeros: f64,
    /// Seconds for this fit, its test codes and its SVM.
    pub seconds: f64,
    /// Version of the program.
    pub version: String,
}

impl Row {
    fn key(&self) -> String {
        let Self { graph, n_labelled, noise, seed, knobs, manifold, .. } = self;
        format!("{graph}|{n_labelled}|{noise}|{seed}|{knobs}|{manifold}")
    }

    /// Whether it belongs to this column.
    #[must_use]
    pub fn is_of(&self, column: Column) -> bool {
        self.n_labelled == column.labelled && (self.noise - column.noise).abs() < 1e-12
    }
}

/// A file of rows.
pub struct Rows {
    path: PathBuf,
    known: Mutex<HashMap<String, Row>>,
}

impl Rows {
    /// Opens a file of rows, or begins one.
    ///
    /// # Errors
    /// If the file is something else, or its folder cannot be made.
    pub fn open(path: &Path) -> Result<Self> {
        if let Some(folder) = path.parent() {
            std::fs::create_dir_all(folder).map_err(Error::io(folder))?;
        }
        let known = if path.exists() { read(path)? } else { HashMap::new() };
        Ok(Self { path: path.to_owned(), known: Mutex::new(known) })
    }

    /// Where they are kept.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// All rows, in an order that does not depend on which was done first.
    #[must_use]
    pub fn all(&self) -> Vec<Row> {
        let mut rows: Vec<Row> = self.lock().values().cloned().collect();
        rows.sort_by_cached_key(Row::key);
        rows
    }

    /// Whether every one of these (compared by what was asked for, not by what came out) is there.
    pub(super) fn has_all(&self, wanted: &[Row]) -> bool {
        let known = self.lock();
        wanted.iter().all(|row| known.contains_key(&row.key()))
    }

    /// Appends rows; all of them reach the file, or the error says why not.
    pub(super) fn add(&self, rows: &[Row]) -> Result<()> {
        let mut known = self.lock();
        let io = Error::io(&self.path);
        let mut file: File =
            OpenOptions::new().create(true).append(true).open(&self.path).map_err(&io)?;
        let fresh = file.metadata().map_err(&io)?.len() == 0;
        let mut writer = csv::WriterBuilder::new().has_headers(fresh).from_writer(Vec::<u8>::new());
        for row in rows {
            writer.serialize(row).map_err(|error| io(error.into()))?;
        }
        let bytes = writer.into_inner().map_err(|error| io(error.into_error()))?;
        file.write_all(&bytes).map_err(&io)?;
        known.extend(rows.iter().map(|row| (row.key(), row.clone())));
        Ok(())
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<String, Row>> {
        // Nothing is left half-done under the lock, so a panic elsewhere does no harm here.
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn read(path: &Path) -> Result<HashMap<String, Row>> {
    let refuse = |reason: String| Error::Rows { path: path.to_owned(), reason };
    let mut reader = csv::Reader::from_path(path).map_err(|error| refuse(error.to_string()))?;
    let mut known = HashMap::new();
    for row in reader.deserialize::<Row>() {
        let row = row.map_err(|error| refuse(format!("not rows of this experiment: {error}")))?;
        known.insert(row.key(), row);
    }
    Ok(known)
}
