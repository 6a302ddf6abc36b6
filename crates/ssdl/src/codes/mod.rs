//! 3. How a sample is written with atoms: sparse codes, one by one or all together.
//!
//! Samples that are coded one by one go through a [`Pursuit`]; samples whose codes pull on each other
//! through a [`Descent`]. A [`Coder`] is what a model keeps to code new samples.

mod coder;
pub mod descent;
mod encode;
mod margin;
pub(crate) mod moments;
mod problem;
pub mod pursuit;
mod working_set;

pub use coder::{Coder, Pull};
pub use descent::{Batches, Coordinate, Descended, Descent, Fista};
pub use encode::Encoder;
pub use margin::{Margin, Weight};
pub use problem::{Coding, Quadratic};
pub use pursuit::{ByClass, Half, Lasso, Omp, Pulled, Pursuit, Refit};
