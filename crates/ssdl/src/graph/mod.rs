//! 2. Which samples are near each other: the graph that keeps their shape in the codes.

mod attachment;
pub mod blocks;
mod by_class;
mod distances;
mod equal;
mod expressive;
pub mod given;
mod heat;
mod knobs;
mod laplacian;
pub mod learnt;
pub mod lle;
mod local;
mod nearby;
pub mod neighbours;
mod portrait;
mod restrict;
mod single;
mod threshold;
mod width;
pub mod within_classes;

pub use attachment::{Anchors, Attachment, Rule};
pub use by_class::ByClass;
pub(crate) use distances::each_query;
pub use equal::Equal;
pub use expressive::Expressive;
pub use given::Given;
pub use heat::Heat;
pub(crate) use heat::{heat_weight, radii_of};
pub use knobs::{GraphChoice, GraphKnobs, GraphSetters};
pub use laplacian::Laplacian;
pub(crate) use laplacian::combine;
pub use learnt::LearntGraph;
pub use lle::Lle;
pub use local::local_affinities;
pub use neighbours::{Neighbours, Search};
pub use portrait::{Degrees, Portrait};
pub use threshold::Threshold;
pub use width::Width;

use crate::{Error, Matrix, Real, Result};

/// A way to connect samples.
pub trait Graph<T: Real>: Sync {
    /// Connects the training samples (columns of `samples`) and tells how new ones will join them.
    ///
    /// # Errors
    /// If the graph cannot be built on these samples.
    fn build(&self, samples: &Matrix<T>) -> Result<Connected<T>>;
}

/// Training samples, connected.
#[derive(Clone, Debug)]
pub struct Connected<T> {
    /// $L$ over the training samples.
    pub laplacian: Laplacian<T>,
    /// How a new sample is tied to the training samples.
    pub attachment: Attachment<T>,
}

/// A graph that is already built, for fits that share it.
impl<T: Real> Graph<T> for Connected<T> {
    fn build(&self, samples: &Matrix<T>) -> Result<Connected<T>> {
        let (expected, got) = (self.laplacian.n_samples(), samples.columns());
        if expected == got {
            Ok(self.clone())
        } else {
            Err(Error::Shape { what: "samples of the graph".into(), expected, got })
        }
    }
}

impl<T: Real> Connected<T> {
    /// The same graph at the strength that the objective sees: with `normalise` its trace is $N$ (a
    /// graph without edges stays as it is), otherwise its weights are those of their formula.
    ///
    /// Paper: normalised in the comparison of graphs, not in SSDL-GA.
    #[must_use]
    pub fn at_strength(self, normalise: bool) -> Self {
        let trace = self.laplacian.trace();
        if !normalise {
            let factor = self.attachment.common_factor();
            let attachment = self.attachment.unshifted();
            return Self { laplacian: self.laplacian.scaled(factor), attachment };
        }
        if trace > 0.0 {
            let omega = self.laplacian.n_samples() as f64 / trace;
            let attachment = self.attachment.scaled(omega);
            Self { laplacian: self.laplacian.scaled(omega), attachment }
        } else {
            self
        }
    }
}
