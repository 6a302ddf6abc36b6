//! The one error type of the library.

use std::path::PathBuf;

/// What every fallible call of the library returns.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// What stands between an unknown name and the list of those that exist: the one that was probably meant.
#[must_use]
pub fn did_you_mean<'a>(unknown: &str, known: impl IntoIterator<Item = &'a str>) -> String {
    /// How alike two names are, from 0 to 1, for one to be meant by the other.
    const ALIKE: f64 = 0.7;
    let known = known.into_iter().map(|name| (strsim::jaro_winkler(unknown, name), name));
    match known.max_by(|a, b| a.0.total_cmp(&b.0)) {
        Some((alike, name)) if alike >= ALIKE => format!("; did you mean `{name}`?"),
        _ => ";".to_owned(),
    }
}

/// Everything that can go wrong, with the facts as fields and the remedy in the message.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A knob has a value outside its range, or its text cannot be read.
    #[error("knob `{name}` is {got}; allowed: {allowed}")]
    Knob {
        /// The knob.
        name: String,
        /// The value given.
        got: String,
        /// What would be accepted.
        allowed: String,
    },

    /// A name that is not in a closed list (a knob, a method, a preparation step).
    #[error("unknown {what} `{got}`{} known: {known}", did_you_mean(got, known.split(", ")))]
    Unknown {
        /// The kind of thing.
        what: &'static str,
        /// The name given.
        got: String,
        /// The names that exist.
        known: String,
    },

    /// Two sizes that must agree do not.
    #[error("{what}: expected {expected}, got {got}")]
    Shape {
        /// Which sizes.
        what: String,
        /// The size required.
        expected: usize,
        /// The size found.
        got: usize,
    },

    /// A value of the samples is NaN or infinite.
    #[error(
        "row {row}, column {column} is {value}: samples must be finite; remove the row or fill in the value"
    )]
    NotFinite {
        /// Sample, counted from 1.
        row: usize,
        /// Feature, counted from 1.
        column: usize,
        /// The value.
        value: f64,
    },

    /// The labels do not allow a fit.
    #[error("labels: {0}")]
    Labels(String),

    /// The samples do not allow a fit.
    #[error("samples: {0}")]
    Samples(String),

    /// A graph given by the user is not usable.
    #[error("graph: {0}")]
    Graph(String),

    /// The fit would need more memory than allowed.
    #[error(
        "this fit needs about {needed} bytes of memory, but only {allowed} are allowed; \
         use `coder=batches`, fewer samples or atoms, or raise the limit"
    )]
    Memory {
        /// Bytes the fit would need.
        needed: u64,
        /// Bytes allowed.
        allowed: u64,
    },

    /// A device cannot be used, has no room, or failed.
    #[error("device: {0}")]
    Device(String),

    /// A factorisation failed or a value stopped being finite.
    #[error("{step}, iteration {iteration}: {what}; rescale the samples or raise `ridge`")]
    Diverged {
        /// The step of the fit.
        step: &'static str,
        /// The outer iteration, counted from 1 (0: initialisation).
        iteration: usize,
        /// What happened.
        what: String,
    },

    /// The fit was cancelled before there was a model to return.
    #[error("cancelled before the first model was ready")]
    Cancelled,

    /// A model file that cannot be used.
    #[error("{}: not a usable ssdl model: {reason}", path.display())]
    Format {
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
        /// The system's message.
        source: std::io::Error,
    },
}
