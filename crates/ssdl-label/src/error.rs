//! Why labelling cannot begin or go on.

use std::io;
use std::path::{Path, PathBuf};

/// What every fallible function here returns.
pub type Result<T> = std::result::Result<T, Error>;

/// Why labelling cannot begin or go on.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A file cannot be read or written.
    #[error("{}: {source}", path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// The system's reason.
        source: io::Error,
    },
    /// A line of the journal cannot be understood.
    #[error("{}: line {line}: {reason}", path.display())]
    Journal {
        /// The journal.
        path: PathBuf,
        /// The line, from 1.
        line: usize,
        /// What is wrong, and what to do.
        reason: String,
    },
    /// Another program writes to the journal.
    #[error(
        "{}: another `ssdl label` writes to this journal; use its page, or end it first",
        path.display()
    )]
    Locked {
        /// The journal.
        path: PathBuf,
    },
    /// Samples of the journal are not what they were when they were labelled.
    #[error(
        "{}: these samples have changed since they were labelled: {names}; restore them, read them with the \
         options they were labelled with, or begin a new journal with another --labels",
        path.display()
    )]
    Changed {
        /// The journal.
        path: PathBuf,
        /// The samples.
        names: String,
    },
    /// The address cannot be listened on.
    #[error("{address}: cannot be listened on: {reason}; choose another with --listen")]
    Listen {
        /// The address.
        address: String,
        /// The system's reason.
        reason: String,
    },
    /// Something given is not as it must be.
    #[error("{0}")]
    Refused(String),
    /// Samples cannot be read.
    #[error(transparent)]
    Data(#[from] ssdl_data::Error),
    /// A fit failed.
    #[error(transparent)]
    Fit(#[from] ssdl::Error),
}

impl Error {
    pub(crate) fn io(path: &Path, source: io::Error) -> Self {
        Self::Io { path: path.to_owned(), source }
    }
}
