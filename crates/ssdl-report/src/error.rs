//! Errors of this crate.

/// Result of this crate.
pub type Result<T> = std::result::Result<T, Error>;

/// Why a page or a picture cannot be created.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// There is nothing to draw; the text says why.
    #[error("{0}")]
    Nothing(String),
    /// An error of the library.
    #[error(transparent)]
    Model(#[from] ssdl::Error),
    /// A picture cannot be encoded.
    #[error("the picture cannot be created: {0}")]
    Picture(#[from] png::EncodingError),
    /// The template cannot be rendered.
    #[error("the page cannot be created: {0}")]
    Page(#[from] askama::Error),
    /// The data of the page cannot be encoded.
    #[error("the page cannot be created: {0}")]
    Data(#[from] serde_json::Error),
}
