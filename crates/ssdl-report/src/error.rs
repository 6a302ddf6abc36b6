//! What can go wrong while a page or a picture is made.

/// Result of this crate.
pub type Result<T> = std::result::Result<T, Error>;

/// Why a page or a picture cannot be made.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// There is nothing to draw, and what would help.
    #[error("{0}")]
    Nothing(String),
    /// The library refused samples.
    #[error(transparent)]
    Model(#[from] ssdl::Error),
    /// A picture cannot be encoded.
    #[error("the picture cannot be made: {0}")]
    Picture(#[from] png::EncodingError),
    /// The page cannot be put together.
    #[error("the page cannot be made: {0}")]
    Page(#[from] askama::Error),
    /// What the page carries cannot be written.
    #[error("the page cannot be made: {0}")]
    Data(#[from] serde_json::Error),
}
