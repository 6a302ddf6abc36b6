//! The heat-kernel graph of $k$ nearest neighbours.

use super::attachment::exponent;
use super::width::Width;
use super::{Attachment, Connected, Graph, Laplacian, Neighbours, Rule, Search};
use crate::knobs::{Allowed, check};
use crate::matrix::squared_distance;
use crate::sparse::Csr;
use crate::wide::wide;
use crate::{Matrix, Real, Result, order, stop};

/// Who is near whom.
pub(super) struct Pairs<T> {
    /// For each sample, earlier samples that it is joined to, with their squared distances.
    pub pairs: Vec<Vec<(usize, f64)>>,
    /// For each sample the squared distance of its last neighbour.
    pub radii: Vec<T>,
    /// How much of it an approximate search has found; `None` after an exact one.
    pub recall: Option<f64>,
}

/// $W_{ij}=e^{-\lVert x_i-x_j\rVert^2/2\sigma^2}$ where $j$ is among the $k$ nearest of $i$ *or* $i$
/// among those of $j$; $L=\operatorname{diag}(W1)-W$.
#[derive(Clone, Copy, Debug)]
pub struct Heat {
    /// $k$; cut to $N-1$.
    pub n_neighbors: usize,
    /// σ.
    pub width: Width,
    /// How neighbours are searched.
    pub search: Search,
}

impl<T: Real> Graph<T> for Heat {
    #[inline(never)]
    fn build(&self, samples: &Matrix<T>) -> Result<Connected<T>> {
        check("width", self.width, Allowed::Above(0.0))?;
        let width = self.width.resolve(samples);
        let Pairs { pairs, radii: memory, recall } =
            nearest_pairs(samples, self.n_neighbors, self.search);
        let (weights, shift) = of_pairs(&pairs, width);
        let rule = Rule::Heat { n_neighbors: self.n_neighbors, width, shift };
        Ok(Connected {
            laplacian: Laplacian::from_affinities(weights),
            attachment: Attachment { memory, recall, ..Attachment::new(rule) },
        })
    }
}

/// Pairs $(i,j)$, $j<i$, of which one is among the $k$ nearest of the other, with their squared
/// distances.
pub(super) fn nearest_pairs<T: Real>(samples: &Matrix<T>, k: usize, search: Search) -> Pairs<T> {
    let (neighbours, recall) = Neighbours::search(samples, k, search);
    let n = samples.columns();
    let near = |i: usize| if neighbours.k() > 0 { neighbours.of(i) } else { &[] };
    // A pair is recorded once, by the later of the two; mirrored below.
    let mut pairs: Vec<Vec<(usize, f64)>> = vec![Vec::new(); n];
    let mut radii = Vec::with_capacity(n);
    let stop = stop::armed();
    for i in 0..n {
        let mut radius = 0.0;
        for &j in near(i).iter().filter(|_| !stop.is_set()) {
            let (early, late) = (i.min(j as usize), i.max(j as usize));
            let squared = wide(
                #[inline(always)]
                || squared_distance(samples.column(early), samples.column(late)),
            );
            pairs[late].push((early, squared));
            radius = squared;
        }
        radii.push(T::of(radius));
    }
    for row in &mut pairs {
        order::by_column(row);
        row.dedup_by_key(|(j, _)| *j);
    }
    Pairs { pairs, radii, recall }
}

/// For each sample the squared distance of its last neighbour, of `k`.
pub(crate) fn radii_of<T: Real>(samples: &Matrix<T>, k: usize) -> Vec<T> {
    nearest_pairs(samples, k, Search::Auto).radii
}

/// Heat weights of pairs $(i,j)$, $j<i$, with their squared distances: symmetric, and multiplied by
/// $e^{d_{\min}^2/2\sigma^2}$ so that a narrow kernel does not underflow everywhere. The second value
/// is $d_{\min}^2$: the weights of new samples must use the same.
pub(super) fn of_pairs<T: Real>(pairs: &[Vec<(usize, f64)>], width: f64) -> (Csr<T>, f64) {
    let least = pairs.iter().flatten().fold(f64::INFINITY, |least, (_, z)| least.min(*z));
    let shift = if least.is_finite() { least } else { 0.0 };
    let lower = pairs.iter().map(|row| {
        let weigh = |(j, z): &(usize, f64)| Some((*j, heat_weight(*z, shift, width)?));
        row.iter().filter_map(weigh).collect::<Vec<_>>()
    });
    (Csr::from_rows(pairs.len(), lower).mirrored(), shift)
}

/// The weight of a pair at this squared distance; `None` if it is too small for the number type: no edge.
pub(crate) fn heat_weight<T: Real>(squared: f64, shift: f64, width: f64) -> Option<T> {
    let weight = T::of(exponent(squared, shift, width).exp());
    (weight >= T::min_positive_value()).then_some(weight)
}
