//! Distances of many pairs of samples, tile by tile.

use crate::matrix::{Matrix, squared_norm};
use crate::threads::Loops;
use crate::{Real, stop};

/// Queries whose distances to all references are found by one product.
const TILE: usize = 64;
/// Maximum number of samples whose pairs represent all pairs in a mean or a percentile.
const MAX_SAMPLES: usize = 4096;

/// Calls `act` for every column of `queries` with its squared distances to all columns of
/// `references`, in parallel; what it returns comes back in order.
///
/// By products in double precision after centring: an error of about $10^{-15}$ of the squared
/// lengths, and what could be rounding alone is zero. Memory $O(n(N+M))$ and a tile per thread.
pub(crate) fn each_query<T: Real, R: Send>(
    references: &Matrix<T>,
    queries: &Matrix<T>,
    act: impl Fn(usize, &[f64]) -> R + Sync,
) -> Vec<R> {
    let n = references.rows();
    let mut mean = vec![0.0; n];
    for x in references.iter_columns() {
        mean.iter_mut().zip(x).for_each(|(m, v)| *m += v.wide());
    }
    mean.iter_mut().for_each(|m| *m /= references.columns().max(1) as f64);
    let centred = |from: &Matrix<T>| {
        Matrix::from_fn(n, from.columns(), |i, j| from.column(j)[i].wide() - mean[i])
    };
    let (left, right) = (centred(references), centred(queries));
    let norms: Vec<f64> = left.iter_columns().map(squared_norm).collect();
    let stop = stop::armed();
    let tiles: Vec<Vec<R>> = (0..queries.columns().div_ceil(TILE)).gather(|tile| {
        let chosen = tile * TILE..((tile + 1) * TILE).min(queries.columns());
        // The kernel sums in another order for other widths: all tiles have the same width, so
        // that a query finds the same distances alone and among others.
        let mut block = Matrix::zeros(n, TILE);
        for (at, query) in chosen.clone().enumerate() {
            block.column_mut(at).copy_from_slice(right.column(query));
        }
        let mut products = Matrix::zeros(left.columns(), TILE);
        if !stop.is_set() {
            products.set_product_here(left.transposed(), block.view());
        }
        let mut results = Vec::with_capacity(chosen.len());
        for (at, query) in chosen.enumerate() {
            let own = squared_norm(right.column(query));
            let row = products.column_mut(at);
            for (value, norm) in row.iter_mut().zip(&norms) {
                let rounding = 16.0 * f64::EPSILON * (own + norm);
                let squared = own + norm - 2.0 * *value;
                *value = if squared <= rounding { 0.0 } else { squared };
            }
            results.push(act(query, row));
        }
        results
    });
    tiles.into_iter().flatten().collect()
}

/// Distances of all pairs of distinct samples; where there are more than 4,096 samples, of all
/// pairs among evenly spaced ones.
pub(super) fn of_pairs<T: Real>(samples: &Matrix<T>) -> Vec<f64> {
    let step = samples.columns().div_ceil(MAX_SAMPLES).max(1);
    let chosen: Vec<usize> = (0..samples.columns()).step_by(step).collect();
    let subset = samples.select_columns(&chosen);
    let rows = each_query(&subset, &subset, |i, squared| {
        squared[..i].iter().map(|z| z.sqrt()).collect::<Vec<f64>>()
    });
    rows.concat()
}
