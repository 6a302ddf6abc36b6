//! What can go wrong with an experiment.

use std::path::{Path, PathBuf};

/// What every fallible call of this crate returns.
pub type Result<T> = std::result::Result<T, Error>;

/// Everything that can go wrong, told with the file and the remedy.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A plan that is not there.
    #[error("unknown experiment `{name}`; known: {known}, or a file that ends in .toml")]
    Unknown {
        /// The name given.
        name: String,
        /// The names that exist.
        known: String,
    },

    /// A plan that cannot be run.
    #[error("{}: {reason}", path.display())]
    Plan {
        /// The plan.
        path: PathBuf,
        /// Why.
        reason: String,
    },

    /// A file of rows that is not one.
    #[error("{}: {reason}; give another file with --out, or move this one away", path.display())]
    RowFile {
        /// The file.
        path: PathBuf,
        /// Why.
        reason: String,
    },

    /// The operating system refused.
    #[error("{}: {source}", path.display())]
    Io {
        /// The file or folder.
        path: PathBuf,
        /// The system's words.
        source: std::io::Error,
    },

    /// The data could not be read.
    #[error(transparent)]
    Data(#[from] ssdl_data::Error),

    /// A fit failed.
    #[error(transparent)]
    Fit(#[from] ssdl::Error),

    /// It was asked to stop; what was finished is kept.
    #[error("interrupted; the rows so far are in {}, and the same command goes on from there", path.display())]
    Interrupted {
        /// Where the rows are.
        path: PathBuf,
    },
}

impl Error {
    pub(crate) fn io(path: &Path) -> impl Fn(std::io::Error) -> Self + '_ {
        |source| Self::Io { path: path.to_owned(), source }
    }
}
