//! What the commands of `cargo xtask` and the measurements share: errors, tables, where the workspace
//! is, and environments for Python.

#![allow(clippy::print_stdout, reason = "parts of programs for the terminal")]

pub mod environment;
pub mod outcome;
pub mod table;
pub mod workspace;
