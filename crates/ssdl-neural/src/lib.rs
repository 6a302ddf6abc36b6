//! Deep nets beside the methods of `ssdl`: a convolutional network and a Ladder network.
//!
//! Apart from the other crates, with a lock file of its own, since its tensor library takes minutes to
//! compile. Knobs, preparation, labels, random streams and the framing of files are those of `ssdl`;
//! layers, training and descent are here, on the tensors of Burn with their derivatives.
//!
//! ```
//! use ssdl::{Labels, Matrix, Samples, fit::Silent};
//! use ssdl_neural::{Method, Options};
//!
//! # fn main() -> ssdl_neural::Result<()> {
//! let features = Matrix::from_fn(6, 40, |i, j| ((i + 3 * (j % 2)) as f32).sin() + 0.01 * j as f32);
//! let names: Vec<_> = (0..40).map(|j| (j < 10).then_some(["even", "odd"][j % 2])).collect();
//! let samples = Samples::new(features.clone(), Labels::from_names(&names))?;
//! let knobs = [("epochs", "30"), ("first_width", "20"), ("second_width", "0"), ("third_width", "0")];
//! let knobs: Vec<_> = knobs.iter().map(|(k, v)| (k.to_string(), v.to_string())).collect();
//! let net = Method::Ladder.fit(&knobs, samples, &Options::default(), &mut Silent)?;
//! assert_eq!(net.predict(features)?.labels[21], "odd");
//! # Ok(())
//! # }
//! ```

mod cnn;
mod draws;
mod error;
mod file;
#[cfg(test)]
mod gradients;
mod ladder;
mod layers;
mod method;
mod net;
mod optimiser;
pub mod outside;
mod parameters;
mod place;
mod train;
mod weights;

pub use cnn::{Architecture, Cnn, CnnShape};
pub use error::{Error, Result};
pub use ladder::{Ladder, LadderShape, Matching, Whose};
pub use method::{Method, Options};
pub use net::{Judged, Net, Report, Shape};
pub use optimiser::Descent;
pub use place::Place;
pub use train::Stop;
