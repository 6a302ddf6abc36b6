//! The graph of $k$ nearest neighbours in which every edge counts the same.

use super::heat::{Pairs, nearest_pairs};
use super::{Attachment, Connected, Graph, Laplacian, Rule, Search};
use crate::sparse::Csr;
use crate::{Matrix, Real, Result};

/// $W_{ij}=1$ where $j$ is among the $k$ nearest of $i$ *or* $i$ among those of $j$, 0 elsewhere;
/// $L=\operatorname{diag}(W1)-W$.
#[derive(Clone, Copy, Debug)]
pub struct Equal {
    /// $k$; cut to $N-1$.
    pub n_neighbors: usize,
    /// How they are searched.
    pub search: Search,
}

impl<T: Real> Graph<T> for Equal {
    #[inline(never)]
    fn build(&self, samples: &Matrix<T>) -> Result<Connected<T>> {
        let Pairs { pairs, radii: memory, recall } =
            nearest_pairs(samples, self.n_neighbors, self.search);
        let lower = pairs.iter().map(|row| row.iter().map(|(j, _)| (*j, T::one())));
        let weights = Csr::from_rows(samples.columns(), lower).mirrored();
        let rule = Rule::Neighbours { n_neighbors: self.n_neighbors, both_ways: true };
        Ok(Connected {
            laplacian: Laplacian::from_affinities(weights),
            attachment: Attachment { memory, recall, ..Attachment::new(rule) },
        })
    }
}
