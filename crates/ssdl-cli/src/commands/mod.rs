//! One file per command; each reads its arguments, calls the library and prints the result.

pub mod atoms;
pub mod data;
pub mod demo;
pub mod experiment;
mod explain;
pub mod fit;
pub mod graph;
pub mod inspect;
pub mod label;
pub mod licences;
pub mod methods;
pub mod predict;
mod summary;
pub mod tune;
