//! 2. Who is near whom: the graph that keeps the shape of the samples in their codes.

pub mod given;
mod laplacian;
pub mod lle;
pub mod neighbours;

pub use given::Given;
pub use laplacian::Laplacian;
pub use lle::Lle;
pub use neighbours::Neighbours;

use crate::{Matrix, Real, Result};

/// A way to connect samples.
pub trait Graph<T: Real>: Sync {
    /// The Laplacian over the training samples (columns of `samples`).
    ///
    /// # Errors
    /// If the graph cannot be built on these samples.
    fn build(&self, samples: &Matrix<T>) -> Result<Laplacian<T>>;

    /// Training samples that a new sample is tied to.
    fn n_neighbors(&self) -> usize;

    /// Ties each new sample to training samples, independently of the other new samples.
    fn anchor(&self, samples: &Matrix<T>, new: &Matrix<T>) -> Anchors<T>;
}

/// For each new sample, training samples and the weights whose sum of codes it is pulled to.
#[derive(Clone, Debug)]
pub struct Anchors<T> {
    neighbours: Neighbours,
    weights: Vec<T>,
}

impl<T: Real> Anchors<T> {
    /// (training sample, weight) pairs of one new sample.
    pub fn of(&self, i: usize) -> impl Iterator<Item = (usize, T)> + '_ {
        let k = self.neighbours.k();
        let weights = &self.weights[i * k..][..k];
        self.neighbours.of(i).iter().zip(weights).map(|(&j, &weight)| (j as usize, weight))
    }
}
