#![doc = "front"]
mod error;
mod matrix;
pub mod random;
mod real;
pub mod samples;
pub mod threads;
pub use error::{Error, Result};
pub use matrix::Matrix;
pub use real::Real;
pub use samples::{Labels, Samples};
