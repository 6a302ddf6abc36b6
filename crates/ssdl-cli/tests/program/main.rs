//! The program as users run it: what it prints, writes and returns.

mod data;
mod demo;
mod errors;
mod experiments;
mod fitting;
mod graph;
mod graph_files;
mod guarded;
mod images;
mod interrupt;
mod labelling;
mod memory;
mod methods;
mod predicting;
mod refusals;
mod report;
mod run;
mod tables;
