//! Contracts: what every implementer of a trait keeps, one file a trait. A new implementation is
//! tested by being listed.

#![allow(clippy::unwrap_used)]

#[macro_use]
#[path = "../common/mod.rs"]
mod common;

mod coding;
mod decision;
mod dictionary;
mod graph;
mod knobs;
mod methods;
mod neighbours;
mod pursuit;
mod weights;
