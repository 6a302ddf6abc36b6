//! A graph that the user brings.

use super::lle::laplacian;
use super::{Anchors, Graph, Laplacian, Lle, Neighbours};
use crate::sparse::Csr;
use crate::{Error, Matrix, Real, Result};

/// Neighbour lists or finished weights from elsewhere, instead of our own search.
///
/// New samples are tied to the training samples by distance: the user's relation is known for the
/// training samples only.
#[derive(Clone, Debug)]
pub struct Given<T> {
    source: Source<T>,
    n_neighbors: usize,
}

#[derive(Clone, Debug)]
enum Source<T> {
    Lists(Neighbours),
    Weights(Csr<T>),
}

impl<T: Real> Given<T> {
    /// LLE weights on these neighbour lists (from an approximate index, another metric, …).
    #[must_use]
    pub fn neighbours(lists: Neighbours) -> Self {
        let n_neighbors = lists.k().max(1);
        Self { source: Source::Lists(lists), n_neighbors }
    }

    /// Row $i$ holds the weights $v_{ij}$ with which sample $i$ is mixed from the others; the term
    /// is $\sum_i\lVert a_i-\sum_jv_{ij}a_j\rVert^2$. Rows that sum to one keep constants free of
    /// charge; an empty row leaves its sample out of the graph.
    ///
    /// # Errors
    /// If the matrix is not square or a sample has a weight on itself.
    pub fn weights(weights: Csr<T>) -> Result<Self> {
        if weights.rows() != weights.columns() {
            return Err(Error::Graph(format!(
                "weights must be square, one row and one column a sample; they are {} x {}",
                weights.rows(),
                weights.columns()
            )));
        }
        if let Some(i) = (0..weights.rows()).find(|&i| weights.row(i).any(|(j, _)| j == i)) {
            return Err(Error::Graph(format!("sample {i} has a weight on itself")));
        }
        let widest = (0..weights.rows()).map(|i| weights.row(i).len()).max().unwrap_or(1);
        Ok(Self { source: Source::Weights(weights), n_neighbors: widest.max(1) })
    }

    fn n_samples(&self) -> usize {
        match &self.source {
            Source::Lists(lists) => lists.len(),
            Source::Weights(weights) => weights.rows(),
        }
    }
}

impl<T: Real> Graph<T> for Given<T> {
    fn build(&self, samples: &Matrix<T>) -> Result<Laplacian<T>> {
        if self.n_samples() != samples.columns() {
            return Err(Error::Shape {
                what: "samples in the graph".into(),
                expected: samples.columns(),
                got: self.n_samples(),
            });
        }
        Ok(match &self.source {
            Source::Lists(lists) => laplacian(samples, lists),
            Source::Weights(weights) => {
                let rows = (0..weights.rows()).map(|i| {
                    let own = (weights.row(i).len() > 0).then_some((i, T::one()));
                    own.into_iter().chain(weights.row(i).map(|(j, w)| (j, -w)))
                });
                Laplacian::from_factor(Csr::from_rows(weights.columns(), rows))
            }
        })
    }

    fn n_neighbors(&self) -> usize {
        self.n_neighbors
    }

    fn anchor(&self, samples: &Matrix<T>, new: &Matrix<T>) -> Anchors<T> {
        Lle { n_neighbors: self.n_neighbors }.anchor(samples, new)
    }
}
