//! Something to look at: one self-contained page about a fit or an experiment, and single pictures.
//!
//! A [`Page`] holds what was run, tables, curves, and a closer [`Look`] at one model: its objective,
//! its mistakes, its atoms, and samples explained one by one. Everything goes into one file of HTML
//! that asks nothing of the network. [`mosaic`] and [`drawing`] make pictures of their own.

mod choice;
mod confusion;
pub mod drawing;
mod error;
mod inside;
mod look;
pub mod mosaic;
mod names;
mod page;
mod plots;
mod tiles;

pub use error::{Error, Result};
pub use look::{Judged, Look, Subject};
pub use names::short;
pub use page::{Fact, Page};
