//! Neighbours of samples that lie in several blocks: each block is searched for itself, and the lists are merged
//! by distance, then index.

use super::lle::barycentres;
use super::nearby::Cells;
use super::neighbours::{Neighbours, Search};
use crate::matrix::squared_distance;
use crate::threads::Loops;
use crate::wide::wide;
use crate::{Matrix, Real, order};

/// No column: the end of a list that is too short.
pub const NO_COLUMN: u32 = u32::MAX;

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

/// The `k` nearest of the columns of `table` that are listed for each query, `width` for each, one query after
/// another; a column that is listed twice counts once, and [`NO_COLUMN`] not at all. A list that is too short ends with
/// [`NO_COLUMN`], infinitely far.
#[must_use]
#[inline(never)]
pub fn nearest_listed<T: Real>(
    table: &Matrix<T>,
    queries: &Matrix<T>,
    (width, lists): (usize, &[u32]),
    k: usize,
) -> Found {
    let mut found = vec![(f64::INFINITY, NO_COLUMN); k * queries.columns()];
    let outs = found.chunks_mut(k.max(1)).zip(lists.chunks(width.max(1)));
    outs.enumerate().runs_of(16).each_with(Vec::new, |all, (i, (out, list))| {
        all.clear();
        all.extend_from_slice(list);
        all.sort_unstable();
        all.dedup();
        let known = all.iter().filter(|&&j| (j as usize) < table.columns());
        let mut measured: Vec<(f64, u32)> = Vec::with_capacity(all.len());
        wide(
            #[inline(always)]
            || {
                let distance =
                    |j: u32| squared_distance(queries.column(i), table.column(j as usize));
                known.for_each(|&j| measured.push((distance(j), j)));
            },
        );
        order::nearest_first(&mut measured);
        out.iter_mut().zip(measured).for_each(|(out, entry)| *out = entry);
    });
    (k, found)
}

/// The squared distances between queries and the columns of `table` that are listed for them, `k` for each.
pub(crate) fn listed_distances<T: Real>(
    table: &Matrix<T>,
    queries: &Matrix<T>,
    (k, lists): (usize, &[u32]),
) -> Vec<f64> {
    let mut distances = vec![0.0; lists.len()];
    let each = distances.chunks_mut(k.max(1)).zip(lists.chunks(k.max(1)));
    each.enumerate().runs_of(64).each(|(i, (out, list))| {
        for (out, &j) in out.iter_mut().zip(list) {
            *out = squared_distance(queries.column(i), table.column(j as usize));
        }
    });
    distances
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

    #[test]
    fn listed_columns_are_measured_once_and_sorted() {
        let table = Matrix::from_fn(3, 20, |i, j| ((i * 7 + j * 13) % 19) as f32);
        let queries = table.select_columns(&[4, 9]);
        let whole = Neighbours::between(&table, &queries, 5);
        let all: Vec<u32> = (0..20).chain([4, 9, NO_COLUMN]).collect();
        let (k, found) = nearest_listed(&table, &queries, (23, &[&all[..], &all[..]].concat()), 5);
        for (i, list) in found.chunks(k).enumerate() {
            assert_eq!(list.iter().map(|entry| entry.1).collect::<Vec<_>>(), whole.of(i));
        }
        let (_, short) = nearest_listed(&table, &queries, (2, &[7, 7, NO_COLUMN, 1]), 2);
        assert_eq!([short[0].1, short[1].1, short[2].1, short[3].1], [7, NO_COLUMN, 1, NO_COLUMN]);
        assert!(short[1].0.is_infinite());
    }
}
