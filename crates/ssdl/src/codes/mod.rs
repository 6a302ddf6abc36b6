//! 3. How a sample is written with atoms: sparse codes of all samples together.

pub mod descent;
mod encode;
mod lasso;
pub(crate) mod moments;
mod problem;

pub use descent::{Batches, Coordinate, Descended, Descent, Fista};
pub(crate) use encode::CODER;
pub use encode::Encoder;
pub use problem::{Coding, Margin, Quadratic};
