//! The graph on which the samples are smoothest, as one of the graphs.

use super::learnt::learn;
use super::{Attachment, Connected, Graph, Laplacian, Rule};
use crate::{Matrix, Real, Result};

/// The Laplacian learnt from the samples (Dong et al. 2016),
/// $\min_L\operatorname{tr}(XLX^\top)+\beta_L\lVert L\rVert_F^2$ with $\operatorname{tr}L=N$; see
/// [`learnt`](super::learnt) for how.
#[derive(Clone, Copy, Debug)]
pub struct Learnt {
    /// $\beta_L$, in units of squared distances: small gives few edges, large a full graph.
    pub smoothness: f64,
}

impl<T: Real> Graph<T> for Learnt {
    fn build(&self, samples: &Matrix<T>) -> Result<Connected<T>> {
        let found = learn(samples, self.smoothness)?;
        let rule = Rule::Learnt { smoothness: self.smoothness, level: found.level };
        let memory = found.potentials.iter().map(|y| T::of(*y)).collect();
        Ok(Connected {
            laplacian: Laplacian::from_affinities(found.weights.cast()),
            attachment: Attachment { memory, ..Attachment::new(rule) },
        })
    }
}
