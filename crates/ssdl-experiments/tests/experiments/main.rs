//! The experiments: plans, rows, tables and the search for knobs, on small data sets in files.

#![allow(clippy::unwrap_used)]

mod common;
mod comparison;
mod doubts;
mod graphs;
mod hidden;
mod kept;
mod quick;
mod tables;
mod tune;
