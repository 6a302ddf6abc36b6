//! Classification with few labels by semi-supervised dictionary learning.
//!
//! A dictionary, sparse codes and a linear classifier are learnt together from a few labelled and
//! many unlabelled samples ([SSDL-GA](methods::SsdlGa)). The modules follow the path of the data:
//!
//! 1. [`samples`]: what comes in, with preparation steps that are fitted and kept;
//! 2. [`graph`]: which samples are near each other;
//! 3. [`codes`]: how a sample is written with atoms;
//! 4. [`dictionary`]: the atoms;
//! 5. [`classifier`]: from codes to classes, active points, class memberships;
//! 6. [`model`]: what comes out, saved and loaded.
//!
//! [`fit`] loops over these stages, [`methods`] composes them into published methods.
//!
//! ```
//! use ssdl::{Labels, Matrix, Samples, methods::SsdlGa, prelude::*};
//!
//! # fn main() -> ssdl::Result<()> {
//! // Samples are columns: two noisy directions in space, one label each.
//! let features = Matrix::from_fn(3, 40, |i, j| {
//!     let along = if j % 2 == 0 { [1.0, 0.1, 0.3] } else { [0.1, 1.0, 0.3] };
//!     along[i] + 0.05 * ((i + 1) as f64 * j as f64).sin()
//! });
//! let mut names = vec![None; 40];
//! (names[0], names[1]) = (Some("even"), Some("odd"));
//! let samples = Samples::new(features.clone(), Labels::from_names(&names))?;
//!
//! let model = SsdlGa::new().n_atoms(10).n_neighbors(4).fit(samples)?;
//! let prediction = model.predict(features)?;
//! assert_eq!(prediction.labels[6], "even");
//! assert_eq!(prediction.labels[7], "odd");
//! # Ok(())
//! # }
//! ```
//!
//! Everything is generic over `f32` and `f64` ([`Real`]), the same seed gives the same bits for any
//! number of threads, and no array of size $N\times N$ is ever made. The library never prints,
//! exits or panics on user input: see [`Error`].

pub mod samples;

pub mod graph;

pub mod codes;

pub mod dictionary;

pub mod classifier;

pub mod fit;

pub mod model;

pub mod methods;

pub mod device;
mod error;
pub mod files;
mod half;
#[cfg(not(test))]
mod instances;
pub mod knobs;
pub mod matrix;
mod order;
mod packed;
pub mod random;
mod real;
pub mod shown;
pub mod sparse;
mod stop;
mod stored;
pub mod threads;
mod wide;

pub use error::{Error, Result, did_you_mean};
#[cfg(not(test))]
#[doc(hidden)]
pub use instances::instances;
pub use matrix::Matrix;
pub use methods::Learner;
pub use model::{AnyModel, Model, Prediction};
pub use real::Real;
pub use samples::{Labels, Samples};
pub use stop::Signal;

/// What code that fits methods needs in scope: the traits of methods and of their knobs.
pub mod prelude {
    pub use crate::classifier::svm::SvmSetters;
    pub use crate::classifier::{BalanceSetters, MarginSetters};
    pub use crate::fit::{CouplingSetters, FewAtomsSetters, SolverSetters};
    pub use crate::graph::GraphSetters;
    pub use crate::knobs::Knobbed;
    pub use crate::methods::Learner;
}

/// The README's code, compiled and run like every other example.
#[cfg(doctest)]
#[doc = include_str!("../../../README.md")]
struct Readme;
