//! The one error type of the nets.

use std::path::PathBuf;

/// What every fallible call returns.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// Everything that can go wrong, with the facts as fields and the remedy in the message.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// Samples, labels, knobs or the preparation are not usable.
    #[error(transparent)]
    Core(#[from] ssdl::Error),

    /// A convolutional network was given samples that are no images.
    #[error(
        "`cnn` needs images: {reason}; give their size, such as --image 28x28, or use `ladder`, which takes any samples"
    )]
    NoImages {
        /// Why they are none.
        reason: String,
    },

    /// The loss was not finite before there was a net to keep.
    #[error(
        "epoch {epoch}: the loss is {value}, and there is no net to keep yet; lower `learning_rate` or rescale the samples"
    )]
    Diverged {
        /// The epoch, counted from 1.
        epoch: usize,
        /// The loss.
        value: f64,
    },

    /// The fit would need more memory than allowed.
    #[error(
        "this fit needs about {needed} bytes of memory, but only {allowed} are allowed; lower `batch` or the widths, or raise the limit"
    )]
    Memory {
        /// Bytes the fit would need.
        needed: u64,
        /// Bytes allowed.
        allowed: u64,
    },

    /// There is no graphics card to train on.
    #[error("no graphics card to train on: {reason}; omit --device to train on the processor")]
    NoCard {
        /// What was looked for, or what the card said.
        reason: String,
    },

    /// The device failed during a fit.
    #[error(
        "training stopped: the device failed: {reason}; lower `batch`, or train on the processor"
    )]
    Device {
        /// What the tensor library says.
        reason: String,
    },

    /// A file that is not a usable net.
    #[error("{}: not a usable net: {reason}", path.display())]
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
