//! Contracts and properties of the library, one module per subject.
//!
//! One program for all of them: the library is generic, and every test program would compile its
//! kernels again.

#![allow(clippy::unwrap_used)]

#[macro_use]
mod common;

mod attachment;
mod baselines;
mod classifier;
mod coding;
mod decision;
mod dictionary;
mod direction;
mod edge_cases;
mod explain;
mod given;
mod graph;
mod graph_methods;
mod image_preparation;
mod kernels;
mod knobs;
mod label_spreading;
mod learner;
mod learning_on;
mod learnt;
mod methods;
mod model_attachment;
mod model_file;
mod small_fit;
mod svm;
mod toy;

/// The methods of the register, and one that a test adds.
fn every_method<T: ssdl::Real>() -> Vec<&'static dyn ssdl::methods::Method<T>> {
    let mut methods = ssdl::methods::all();
    methods.push(ssdl::methods::registered::<toy::NearestMean, T>());
    methods
}
