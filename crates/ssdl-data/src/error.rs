//! The one error type of this crate: every message is one line with the file, the place and a
//! remedy.

use std::fmt;
use std::io;
use std::path::{Path, PathBuf};

use crate::cells::is_written_otherwise;

/// What every fallible call of this crate returns.
pub type Result<T> = std::result::Result<T, Error>;

/// Everything that can go wrong between a file and samples.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The file cannot be opened or read.
    #[error("{}: cannot be read: {source}; {}", path.display(), remedy(source))]
    Read {
        /// The file.
        path: PathBuf,
        /// The system's message.
        source: io::Error,
    },

    /// The file cannot be written.
    #[error("{}: cannot be written: {source}; {}", path.display(), remedy(source))]
    Write {
        /// The file.
        path: PathBuf,
        /// The system's message.
        source: io::Error,
    },

    /// There is nothing in the file.
    #[error("{}: {what}; check that it was saved completely", path.display())]
    Empty {
        /// The file.
        path: PathBuf,
        /// What is missing.
        what: &'static str,
    },

    /// A line whose number of cells differs from the first line's.
    #[error(
        "{}: line {line} has {found} columns, but {expected} were expected; \
         complete the line, quote cells that hold the separator, or force another format",
        path.display()
    )]
    Ragged {
        /// The file.
        path: PathBuf,
        /// The line, counted from 1.
        line: usize,
        /// Cells in the first line.
        expected: usize,
        /// Cells in this line.
        found: usize,
    },

    /// A quoted cell without an end.
    #[error(
        "{}: line {line}: a quotation mark opens a cell that is never closed, so all that follows would be \
         one cell; close it, or write two marks for one that is part of the text",
        path.display()
    )]
    OpenQuote {
        /// The file.
        path: PathBuf,
        /// The line, counted from 1.
        line: usize,
    },

    /// Text where a number is expected.
    #[error("{}: {cell} is `{text}`, which is not a number; {}", path.display(), number_remedy(text))]
    NotANumber {
        /// The file.
        path: PathBuf,
        /// Where.
        cell: Cell,
        /// What stands there (shortened).
        text: String,
        /// What may read it, besides: the caller knows how to ask for it.
        help: Help,
    },

    /// A feature that is missing, NaN or infinite.
    #[error(
        "{}: {cell} is {text}: features must be finite; remove the row or fill the value",
        path.display()
    )]
    NotFinite {
        /// The file.
        path: PathBuf,
        /// Where.
        cell: Cell,
        /// What stands there (shortened).
        text: String,
        /// What may read it, besides: the caller knows how to ask for it.
        help: Help,
    },

    /// A text file that is not UTF-8.
    #[error("{}: line {line} is not UTF-8 text; save the file as UTF-8", path.display())]
    NotText {
        /// The file.
        path: PathBuf,
        /// The line, counted from 1.
        line: usize,
    },

    /// A binary file that ends too early or contradicts itself.
    #[error("{}: not a valid {format} file: {reason}; copy or save it again", path.display())]
    Corrupt {
        /// The file.
        path: PathBuf,
        /// The format it was read as.
        format: &'static str,
        /// What was expected and what was found.
        reason: String,
    },

    /// A valid file that holds something this crate does not read.
    #[error("{}: {reason}", path.display())]
    Unsupported {
        /// The file.
        path: PathBuf,
        /// What it holds, and the remedy.
        reason: String,
    },

    /// A compressed file that unpacks to more than allowed.
    #[error(
        "{}: unpacks to more than {limit} bytes, the limit for a file of its size; if you trust it, \
         unpack it first or raise the limit with --unpack-limit",
        path.display()
    )]
    TooLarge {
        /// The file.
        path: PathBuf,
        /// The limit that was exceeded.
        limit: u64,
    },

    /// Neither the name nor the first bytes tell the format.
    #[error(
        "{}: unknown format; known: {known} (each also with .gz); \
         rename the file or force one of them as its format",
        path.display()
    )]
    UnknownFormat {
        /// The file.
        path: PathBuf,
        /// The formats that exist.
        known: String,
    },

    /// The requested label column does not exist.
    #[error("{}: there is no label column {wanted}; available: {available}", path.display())]
    LabelColumn {
        /// The file.
        path: PathBuf,
        /// The column asked for.
        wanted: String,
        /// The existing columns, at most ten of them.
        available: String,
    },

    /// The name of the label column belongs to two columns.
    #[error(
        "{}: two columns are called `{name}`; give the place of the one with the labels, {} or {} (the first column \
         is 0), or rename one", path.display(), places[0], places[1]
    )]
    RepeatedColumn {
        /// The file.
        path: PathBuf,
        /// The name.
        name: String,
        /// The places of the first two, counted from 0.
        places: [usize; 2],
    },

    /// A column that was to be ignored cannot be.
    #[error("{}: column {wanted} cannot be ignored: {reason}", path.display())]
    IgnoredColumn {
        /// The file.
        path: PathBuf,
        /// The column asked for.
        wanted: String,
        /// Why not.
        reason: String,
    },

    /// It is not clear which of several named arrays is meant.
    #[error(
        "{}: {reason}; arrays in the file: {available}; name the one to use",
        path.display()
    )]
    Arrays {
        /// The file.
        path: PathBuf,
        /// What is missing or ambiguous.
        reason: String,
        /// The existing arrays, at most ten of them.
        available: String,
    },

    /// The numbers of labels and samples in a file differ.
    #[error(
        "{}: {labels} labels for samples of shape {shape}; \
         there must be one label for each sample",
        path.display()
    )]
    LabelCount {
        /// The file.
        path: PathBuf,
        /// Number of labels.
        labels: usize,
        /// The shape of the samples as stored.
        shape: String,
    },

    /// There is no data set of this name.
    #[error("there is no data set `{name}`; known: {known}")]
    UnknownSet {
        /// The name asked for.
        name: String,
        /// The known names.
        known: String,
    },

    /// A server does not provide a file.
    #[error(
        "{address}: {reason}; try again later, or get the file elsewhere and put it at {} in the \
         data folder (`ssdl data path`)",
        path.display()
    )]
    Download {
        /// The address of the file.
        address: String,
        /// Where the file belongs, within the data folder.
        path: PathBuf,
        /// What happened.
        reason: String,
    },

    /// A download was interrupted again and again.
    #[error("{address}: {reason}; what has arrived is kept: run the same command again to resume")]
    Interrupted {
        /// The address of the file.
        address: String,
        /// What happened.
        reason: String,
    },

    /// A file whose digest is not the expected one.
    #[error(
        "{}: its SHA-256 is {found}, not {expected}: this is a different file, or a damaged one; if \
         it was there before, move it away and try again",
        path.display()
    )]
    WrongDigest {
        /// The file.
        path: PathBuf,
        /// The digest it should have.
        expected: String,
        /// The digest it has.
        found: String,
    },

    /// The library refused the samples.
    #[error(transparent)]
    Samples(#[from] ssdl::Error),
}

/// Which of [`ReadOptions`](crate::ReadOptions) may read a cell after all.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Help {
    /// `words`, where the column has more words than numbers.
    pub words: bool,
    /// `fill_gaps`.
    pub fill_gaps: bool,
    /// `header`, where the first line, which looks like a sample, has the names of the columns.
    pub header: bool,
}

/// A place in a table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cell {
    /// The row.
    pub row: Row,
    /// The column, counted from 1.
    pub column: usize,
    /// The column's name, where the file has a header.
    pub name: Option<String>,
}

/// A row of a table: text files have lines, binary files have only samples.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Row {
    /// Line of a text file, counted from 1, header included.
    Line(usize),
    /// Sample, counted from 1.
    Sample(usize),
}

impl fmt::Display for Cell {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.row {
            Row::Line(line) => write!(f, "line {line}")?,
            Row::Sample(sample) => write!(f, "sample {sample}")?,
        }
        write!(f, ", column {}", self.column)?;
        match &self.name {
            Some(name) => write!(f, " (`{}`)", shortened(name)),
            None => Ok(()),
        }
    }
}

impl Error {
    pub(crate) fn read(path: &Path, source: io::Error) -> Self {
        Self::Read { path: path.into(), source }
    }

    pub(crate) fn write(path: &Path, source: io::Error) -> Self {
        Self::Write { path: path.into(), source }
    }

    pub(crate) fn empty(path: &Path, what: &'static str) -> Self {
        Self::Empty { path: path.into(), what }
    }

    pub(crate) fn corrupt(path: &Path, format: &'static str, reason: impl Into<String>) -> Self {
        Self::Corrupt { path: path.into(), format, reason: reason.into() }
    }

    pub(crate) fn unsupported(path: &Path, reason: impl Into<String>) -> Self {
        Self::Unsupported { path: path.into(), reason: reason.into() }
    }
}

fn remedy(source: &io::Error) -> &'static str {
    match source.kind() {
        io::ErrorKind::NotFound => "check the path",
        io::ErrorKind::PermissionDenied => "check the permissions",
        io::ErrorKind::IsADirectory => "give a file, not a folder",
        io::ErrorKind::StorageFull => "free some space",
        _ => "check the path and the device",
    }
}

fn number_remedy(text: &str) -> &'static str {
    if is_written_otherwise(text) {
        "write decimals with a point instead of a comma, and thousands without separators"
    } else {
        "name the column as the label column or as one to ignore, or replace the cell"
    }
}

/// Names in a list for a message, at most ten.
pub(crate) fn listed<S: AsRef<str>>(names: &[S]) -> String {
    if names.is_empty() {
        return "none".into();
    }
    let shown: Vec<String> =
        names.iter().take(10).map(|name| format!("`{}`", shortened(name.as_ref()))).collect();
    let rest = names.len() - shown.len();
    let tail = if rest > 0 { format!(" and {rest} more") } else { String::new() };
    shown.join(", ") + &tail
}

/// Text from a file, fit for a one-line message: no control characters, at most 40 characters.
pub(crate) fn shortened(text: &str) -> String {
    let clean = |c: char| if c.is_control() { '·' } else { c };
    let mut short: String = text.chars().take(40).map(clean).collect();
    if short.len() < text.len() {
        short.push('…');
    }
    short
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_lists_and_texts_are_cut() {
        let names: Vec<String> = (0..12).map(|i| format!("c{i}")).collect();
        assert!(listed(&names).ends_with("`c9` and 2 more"));
        assert_eq!(listed::<&str>(&[]), "none");
        assert_eq!(shortened("a\nb"), "a·b");
        assert_eq!(shortened(&"x".repeat(50)).chars().count(), 41);
    }

    #[test]
    fn a_cell_names_its_column_when_it_can() {
        let cell = Cell { row: Row::Line(3), column: 2, name: Some("width".into()) };
        assert_eq!(cell.to_string(), "line 3, column 2 (`width`)");
        let cell = Cell { row: Row::Sample(3), column: 2, name: None };
        assert_eq!(cell.to_string(), "sample 3, column 2");
    }
}
