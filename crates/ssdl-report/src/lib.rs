//! Self-contained report pages about a fit or an experiment, and single pictures.
//!
//! A [`Page`] holds what was run, tables, curves, and a [`Look`] at one model in detail: its
//! objective, its mistakes, its atoms, and samples explained one by one. Everything goes into one
//! HTML file that needs no network. [`mosaic`] and [`drawing`] make single pictures.

mod choice;
mod confusion;
pub mod drawing;
mod error;
mod inside;
mod look;
pub mod mosaic;
mod names;
mod other;
mod page;
pub mod pages;
mod plots;
mod tiles;

pub use error::{Error, Result};
pub use look::{Judged, Look, Subject};
pub use names::{counted, cut, short};
pub use other::{Other, of_other};
pub use page::{Entry, Fact, Link, Page};
