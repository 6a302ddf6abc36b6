//! Neighbours of samples that lie in several blocks: each block is searched for itself, and the lists are merged
//! by distance, then index.

use super::lle::barycentres;
use super::nearby::Cells;
use super::neighbours::{Neighbours, Search, squared_distance};
use crate::{Matrix, Real};

/// Neighbours in one block: how many each query has, and (squared distance, column of the block) of all, one query
/// after another, nearest first, ties by column.
pub type Found = (usize, Vec<(f64, u32)>);

/// The `k` nearest columns of a block for each query, or fewer if it has no more; without queries, the nearest others
/// of its own columns. Approximate with `search`, as [`Neighbours::search`].
#[must_use]
#[inline(never)]
pub fn nearest_in_block<T: Real>(
    block: &Matrix<T>,
    queries: Option<&Matrix<T>>,
    k: usize,
    search: Search,
) -> Found {
    let approximate = search.is_approximate(block.columns());
    if let (Some(queries), true) = (queries, approximate) {
        let (each, all) = Cells::new(block).nearest(block, queries, k);
        let k = k.min(each);
        return (k, all.chunks(each.max(1)).flat_map(|list| list[..k].to_vec()).collect());
    }
    let found = match queries {
        Some(queries) => Neighbours::between(block, queries, k),
        None if approximate => Neighbours::nearby(block, k),
        None => Neighbours::within(block, k),
    };
    let queries = queries.unwrap_or(block);
    let measured = (0..found.len()).flat_map(|i| {
        let distance = |&j: &u32| squared_distance(queries.column(i), block.column(j as usize));
        found.of(i).iter().map(|j| (distance(j), *j)).collect::<Vec<_>>()
    });
    (found.k(), measured.collect())
}

/// The weights with which each query is mixed from `k` columns of `table`, as an LLE graph does.
#[must_use]
#[inline(never)]
pub fn mixtures_from<T: Real>(
    table: &Matrix<T>,
    queries: &Matrix<T>,
    k: usize,
    lists: Vec<u32>,
) -> Vec<T> {
    barycentres(table, queries, &Neighbours::listed(k, lists))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_of_blocks_merge_into_those_of_all() {
        let all = Matrix::from_fn(5, 60, |i, j| ((i * 31 + j * 17 + j * j) % 101) as f64);
        let (first, second) = ((0..25).collect::<Vec<_>>(), (25..60).collect::<Vec<_>>());
        let (a, b) = (all.select_columns(&first), all.select_columns(&second));
        let whole = Neighbours::within(&all, 4);
        let (own, near) = nearest_in_block(&a, None, 4, Search::Exact);
        let (other, far) = nearest_in_block(&b, Some(&a), 4, Search::Exact);
        for i in 0..25 {
            let near = near[i * own..][..own].iter().copied();
            let far = far[i * other..][..other].iter().map(|(d, j)| (*d, j + 25));
            let mut merged: Vec<(f64, u32)> = near.chain(far).collect();
            merged.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
            let merged: Vec<u32> = merged.iter().take(4).map(|(_, j)| *j).collect();
            assert_eq!(merged, whole.of(i));
        }
        let few = a.select_columns(&[0, 1]);
        assert_eq!(nearest_in_block(&few, Some(&b), 4, Search::Exact).0, 2);
        assert_eq!(nearest_in_block(&few, None, 4, Search::Exact).0, 1);
    }
}
