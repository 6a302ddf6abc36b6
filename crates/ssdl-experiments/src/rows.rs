//! One CSV row per fit, appended when the fit is done; a fit whose row exists is not run again.

use std::collections::HashMap;
use std::fs::{File, OpenOptions};
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::{Error, Result};

/// One row of a file: the settings of a fit, and its results.
pub trait Record: Clone + Serialize + DeserializeOwned {
    /// The settings; two rows with the same key are the same fit.
    fn key(&self) -> String;

    /// The version of the program that made it.
    fn version(&self) -> &str;
}

/// A file of rows.
pub struct RowFile<R> {
    path: PathBuf,
    known: Mutex<HashMap<String, R>>,
}

impl<R: Record> RowFile<R> {
    /// Opens a file of rows; it need not exist yet.
    ///
    /// # Errors
    /// If the file is something else, or its folder cannot be created.
    pub fn open(path: &Path) -> Result<Self> {
        if let Some(folder) = path.parent() {
            std::fs::create_dir_all(folder).map_err(Error::io(folder))?;
        }
        let rows: Vec<R> = if path.exists() { read(path)? } else { Vec::new() };
        let known = rows.into_iter().map(|row| (row.key(), row)).collect();
        Ok(Self { path: path.to_owned(), known: Mutex::new(known) })
    }

    /// Refuses rows of another version of the program, which must not be mixed in one table.
    ///
    /// # Errors
    /// If there is one.
    pub fn check_version(&self) -> Result<()> {
        let own = env!("CARGO_PKG_VERSION");
        match self.lock().values().find(|row| row.version() != own) {
            None => Ok(()),
            Some(row) => Err(Error::RowFile {
                path: self.path.clone(),
                reason: format!("has rows of version {}, this is version {own}", row.version()),
            }),
        }
    }

    /// The path of the file.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// All rows, in an order independent of when they were done.
    #[must_use]
    pub fn all(&self) -> Vec<R> {
        let mut rows: Vec<R> = self.lock().values().cloned().collect();
        rows.sort_by_cached_key(R::key);
        rows
    }

    /// Whether all these rows exist (compared by settings, not by results).
    pub(crate) fn has_all(&self, wanted: &[R]) -> bool {
        let known = self.lock();
        wanted.iter().all(|row| known.contains_key(&row.key()))
    }

    /// Appends rows.
    pub(crate) fn add(&self, rows: &[R]) -> Result<()> {
        let mut known = self.lock();
        let io = Error::io(&self.path);
        let text = |rows: &[R], header: bool| {
            let mut writer =
                csv::WriterBuilder::new().has_headers(header).from_writer(Vec::<u8>::new());
            rows.iter()
                .try_for_each(|row| writer.serialize(row))
                .map_err(|error| io(error.into()))?;
            writer.into_inner().map_err(|error| io(error.into_error()))
        };
        let whole = text(rows, true)?;
        if self.has_other_columns(&whole)? {
            // The file comes from a version with fewer columns: all its rows get the new ones.
            let rows = [read(&self.path)?, rows.to_vec()].concat();
            let beside = self.path.with_extension("csv.new");
            std::fs::write(&beside, text(&rows, true)?).map_err(Error::io(&beside))?;
            std::fs::rename(&beside, &self.path).map_err(&io)?;
        } else {
            let mut file: File =
                OpenOptions::new().create(true).append(true).open(&self.path).map_err(&io)?;
            let is_new = file.metadata().map_err(&io)?.len() == 0;
            let bytes = if is_new { whole } else { text(rows, false)? };
            file.write_all(&bytes).map_err(&io)?;
        }
        known.extend(rows.iter().map(|row| (row.key(), row.clone())));
        Ok(())
    }

    /// Whether the file exists and its header is not that of these rows.
    fn has_other_columns(&self, rows: &[u8]) -> Result<bool> {
        if rows.is_empty() || !self.path.exists() {
            return Ok(false);
        }
        let header = |from: &mut dyn BufRead| {
            let mut line = String::new();
            from.read_line(&mut line).map(|_| line.trim_end().to_owned())
        };
        let io = Error::io(&self.path);
        let file = File::open(&self.path).map_err(&io)?;
        let old = header(&mut BufReader::new(file)).map_err(&io)?;
        Ok(!old.is_empty() && old != header(&mut &rows[..]).map_err(&io)?)
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<String, R>> {
        // The map is never left half-changed under the lock, so a panic elsewhere is harmless.
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The rows of a file, in its order.
pub(crate) fn read<R: Record>(path: &Path) -> Result<Vec<R>> {
    let refuse = |reason: String| Error::RowFile { path: path.to_owned(), reason };
    let mut reader = csv::Reader::from_path(path).map_err(|error| refuse(error.to_string()))?;
    let rows = reader.deserialize::<R>();
    rows.map(|row| row.map_err(|error| refuse(format!("not rows of this experiment: {error}"))))
        .collect()
}
