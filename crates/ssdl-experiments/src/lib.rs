//! The experiments of the paper as data: a plan in TOML goes in, rows of CSV and tables come out.
//!
//! [`graphs`] compares graphs for sparse coding over grids of knobs, sharing whatever fits of one
//! grid have in common.

mod error;
pub mod graphs;

pub use error::{Error, Result};
