//! Errors of this crate.

use std::path::{Path, PathBuf};

/// What every fallible call of this crate returns.
pub type Result<T> = std::result::Result<T, Error>;

/// Why an experiment failed, with the file and a remedy.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A plan that does not exist.
    #[error(
        "unknown experiment `{name}`{} known: {known}, or a file that ends in .toml",
        ssdl::did_you_mean(name, known.split(", "))
    )]
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

    /// A file that does not hold the rows of this experiment.
    #[error("{}: {reason}; give another file with --out, or move this one", path.display())]
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
        /// The error of the system.
        source: std::io::Error,
    },

    /// The data could not be read.
    #[error(transparent)]
    Data(#[from] ssdl_data::Error),

    /// A fit failed.
    #[error(transparent)]
    Fit(#[from] ssdl::Error),

    /// A method of another program failed, or cannot be run by this one.
    #[error("run `{name}`: {reason}")]
    Outside {
        /// The run.
        name: String,
        /// Why.
        reason: String,
    },

    /// It was stopped; finished rows are kept.
    #[error("interrupted; the rows so far are in {}, and the same command continues from there", path.display())]
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
