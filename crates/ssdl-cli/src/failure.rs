//! Failures of a command, and their exit codes.

use std::fmt;
use std::path::Path;

use ssdl_data::Help;

/// What every fallible step of the program returns.
pub type Outcome<T = ()> = Result<T, Failure>;

/// Why a command failed, in one line.
#[derive(Debug)]
pub enum Failure {
    /// Wrong usage: exit code 2.
    Misuse(String),
    /// Correct usage, but the command failed: exit code 1.
    Failed(String),
}

impl Failure {
    /// The exit code: 1 or 2.
    pub fn exit_code(&self) -> u8 {
        match self {
            Self::Misuse(_) => 2,
            Self::Failed(_) => 1,
        }
    }

    /// Turns an error about a table that `--words`, `--fill-gaps` and `--header` say how to read: it names the one that
    /// may help.
    pub fn of_table(error: ssdl_data::Error) -> Self {
        use ssdl_data::Error::{NotANumber, NotFinite};
        let help = match &error {
            NotANumber { help, .. } | NotFinite { help, .. } => *help,
            _ => Help::default(),
        };
        let said = [
            (help.words, ", or, where a column has more words than numbers, fit with --words"),
            (help.fill_gaps, ", or fit with --fill-gaps"),
            (help.header, "; if the line has the names of the columns, say --header yes"),
        ];
        let said: String = said.iter().filter(|(helps, _)| *helps).map(|(_, said)| *said).collect();
        match Self::from(error) {
            Self::Failed(text) => Self::Failed(text + &said),
            misuse @ Self::Misuse(_) => misuse,
        }
    }

    /// Turns an error of the library about samples or a graph into one that names their file.
    pub fn about(path: &Path, error: ssdl::Error) -> Self {
        use ssdl::Error::{Diverged, Graph, Labels, NotFinite, Samples, Shape};
        let path = path.display();
        match error {
            // Readers accept only finite numbers, so the conversion to `f32` overflowed.
            NotFinite { row, column, .. } => Self::Failed(format!(
                "{path}: sample {row}, feature {column} is too large for single precision; \
                 rescale it, or fit with --precision double"
            )),
            Graph(_) | Labels(_) | Samples(_) | Shape { .. } | Diverged { .. } => {
                Self::Failed(format!("{path}: {error}"))
            }
            other => other.into(),
        }
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (Self::Misuse(text) | Self::Failed(text)) = self;
        f.write_str(&text.split_whitespace().collect::<Vec<_>>().join(" "))
    }
}

impl From<ssdl::Error> for Failure {
    fn from(error: ssdl::Error) -> Self {
        match error {
            ssdl::Error::Knob { .. } | ssdl::Error::Unknown { .. } => {
                Self::Misuse(error.to_string())
            }
            other => Self::Failed(other.to_string()),
        }
    }
}

impl From<ssdl_data::Error> for Failure {
    fn from(error: ssdl_data::Error) -> Self {
        match error {
            ssdl_data::Error::Samples(inner) => inner.into(),
            ssdl_data::Error::LabelColumn { .. } => {
                Self::Misuse(format!("{error}; name one with --label-column"))
            }
            ssdl_data::Error::Arrays { .. } => {
                Self::Misuse(format!("{error} with --array or --label-column"))
            }
            ssdl_data::Error::UnknownSet { .. } => Self::Misuse(error.to_string()),
            ssdl_data::Error::UnknownFormat { .. } => {
                Self::Misuse(format!("{error} with --format"))
            }
            other => Self::Failed(other.to_string()),
        }
    }
}

impl From<ssdl_experiments::Error> for Failure {
    fn from(error: ssdl_experiments::Error) -> Self {
        use ssdl_experiments::Error::{Data, Fit, Outside, Unknown};
        match error {
            Unknown { .. } | Outside { .. } => Self::Misuse(error.to_string()),
            Data(inner) => inner.into(),
            Fit(inner) => inner.into(),
            other => Self::Failed(other.to_string()),
        }
    }
}

impl From<ssdl_label::Error> for Failure {
    fn from(error: ssdl_label::Error) -> Self {
        match error {
            ssdl_label::Error::Data(inner) => inner.into(),
            ssdl_label::Error::Fit(inner) => inner.into(),
            ssdl_label::Error::Refused(_) => Self::Misuse(error.to_string()),
            other => Self::Failed(other.to_string()),
        }
    }
}

impl From<ssdl_report::Error> for Failure {
    fn from(error: ssdl_report::Error) -> Self {
        match error {
            ssdl_report::Error::Model(inner) => inner.into(),
            other => Self::Failed(other.to_string()),
        }
    }
}
