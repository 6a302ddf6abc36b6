//! A heat kernel in which every sample has its own width: the distance of its $k$-th neighbour.

use super::Search;
use super::heat::{Pairs, nearest_pairs};
use crate::sparse::Csr;
use crate::{Matrix, Real};

/// $W_{ij}=e^{-\lVert x_i-x_j\rVert^2/s_is_j}$ where one of the two is among the $k$ nearest of the other,
/// $s_i$ the distance of $x_i$ to its $k$-th neighbour. Pairs of equal samples weigh one. Cost $nN^2$.
#[must_use]
#[inline(never)]
pub fn local_affinities<T: Real>(samples: &Matrix<T>, n_neighbors: usize) -> Csr<T> {
    let Pairs { pairs, radii, .. } = nearest_pairs(samples, n_neighbors, Search::Auto);
    let lower = pairs.iter().enumerate().map(|(i, row)| {
        let weigh = |(j, squared): &(usize, f64)| (*j, T::of(weight(*squared, &radii, i, *j)));
        row.iter().map(weigh).filter(|(_, w)| *w >= T::min_positive_value()).collect::<Vec<_>>()
    });
    Csr::from_rows(samples.columns(), lower).mirrored()
}

/// $e^{-z/s_is_j}$ from squared widths; one where the samples are equal.
pub(super) fn weight<T: Real>(squared: f64, radii: &[T], i: usize, j: usize) -> f64 {
    let scale = radii[i].wide().sqrt() * radii[j].wide().sqrt();
    if squared <= 0.0 { 1.0 } else { (-squared / scale.max(f64::MIN_POSITIVE)).exp() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn weights_follow_the_distance_of_the_last_neighbour_on_both_sides() {
        // On a line at 0, 1, 3, 3: widths with one neighbour are 1, 1, 0, 0.
        let samples = Matrix::from_fn(1, 4, |_, j| [0.0, 1.0, 3.0, 3.0][j]);
        let weights = local_affinities(&samples, 1);
        assert_eq!(weights.row(0).collect::<Vec<_>>(), [(1, (-1.0f64).exp())]);
        assert_eq!(weights.row(2).collect::<Vec<_>>(), [(3, 1.0)]);
        let two = local_affinities(&samples, 2);
        let squared = |i: usize, j: usize| (samples.column(i)[0] - samples.column(j)[0]).powi(2);
        let widths = [3.0f64, 2.0, 2.0, 2.0];
        for i in 0..4 {
            for (j, w) in two.row(i) {
                let expected = (-squared(i, j) / (widths[i] * widths[j])).exp();
                assert!((w - expected).abs() < 1e-12, "{i} {j}: {w} {expected}");
            }
        }
    }
}
