//! Heat weights between nearest neighbours of one class.

use super::heat::{nearest_pairs, of_pairs};
use super::{Laplacian, Search};
use crate::{Matrix, Real};

/// The Laplacian, of trace $N$, of the graph that joins each sample to its $k$ nearest of the same class
/// (both ways): $W_{ij}=e^{-\lVert x_i-x_j\rVert^2/2\sigma^2}$, where $\sigma^2$ is the mean squared distance of
/// joined samples. A graph without edges stays as it is.
#[must_use]
#[inline(never)]
pub fn heat_within_classes<T: Real>(
    samples: &Matrix<T>,
    classes: &[usize],
    n_neighbors: usize,
) -> Laplacian<T> {
    let n = samples.columns();
    let mut members: Vec<Vec<usize>> = Vec::new();
    for (j, &class) in classes.iter().enumerate() {
        members.resize(members.len().max(class + 1), Vec::new());
        members[class].push(j);
    }
    let mut pairs = vec![Vec::new(); n];
    for own in members {
        let class = samples.select_columns(&own);
        let found = nearest_pairs(&class, n_neighbors, Search::Auto);
        for (late, row) in found.pairs.into_iter().enumerate() {
            pairs[own[late]] = row.into_iter().map(|(early, z)| (own[early], z)).collect();
        }
    }
    let squares: Vec<f64> = pairs.iter().flatten().map(|(_, z): &(usize, f64)| *z).collect();
    let mean = squares.iter().sum::<f64>() / squares.len().max(1) as f64;
    let width = if mean > 0.0 { mean.sqrt() } else { 1.0 };
    let laplacian = Laplacian::from_affinities(of_pairs(&pairs, width).0);
    let trace = laplacian.trace();
    if trace > 0.0 { laplacian.scaled(n as f64 / trace) } else { laplacian }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_samples_of_one_class_are_joined() {
        let samples = Matrix::from_fn(2, 9, |i, j| ((i + 1) * j) as f64 * 0.3 + (j as f64).sin());
        let classes = [0, 2, 0, 2, 0, 0, 2, 1, 2];
        let laplacian = heat_within_classes(&samples, &classes, 2);
        assert!((laplacian.trace() - 9.0).abs() < 1e-12);
        let weights = laplacian.affinities().expect("affinities");
        for i in 0..9 {
            assert!(weights.row(i).all(|(j, w)| classes[i] == classes[j] && w > 0.0));
            assert_eq!(weights.row(i).len() == 0, classes[i] == 1, "a class of one has no edge");
        }
        let empty = heat_within_classes(&samples, &[0, 1, 2, 3, 4, 5, 6, 7, 8], 2);
        assert_eq!(empty.trace(), 0.0);
    }
}
