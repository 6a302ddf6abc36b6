//! Behaviour: edge cases, single methods and stages, files, and the layout of the sources.

#![allow(clippy::unwrap_used)]

#[macro_use]
#[path = "../common/mod.rs"]
mod common;

mod attachment;
mod baselines;
mod class_dictionaries;
mod classifier;
mod device;
mod direction;
mod edge_cases;
mod explain;
mod given;
mod graph_methods;
mod hostile_files;
mod image_preparation;
mod in_parts;
mod interrupted;
mod kept;
mod kernel;
mod kernels;
mod label_spreading;
mod learner;
mod learning_on;
mod learnt;
mod model_attachment;
mod model_file;
mod omp_stages;
mod on_disk;
mod peers;
mod recount;
mod small_fit;
mod spread_in_parts;
mod svm;
