//! Groups of samples that do not act on each other, found on the card.

use ssdl::Result;

use super::arrays::Rows;
use super::card::{Card, Grid, failed, long};
use super::number::Multiplied;

/// Rounds between two looks at how many samples are left.
const ROUNDS: usize = 8;
/// No group yet, as the kernels have it.
const NONE: u32 = u32::MAX;

/// The samples group after group, ascending within each, and the sizes of the groups: two that share a row of
/// the factor are in different groups. `transposed` has the rows of each sample.
pub(crate) fn independent<T: Multiplied>(
    card: &Card,
    factor: &Rows<T>,
    transposed: &Rows<T>,
) -> Result<(Vec<u32>, Vec<usize>)> {
    let count = transposed.count;
    let groups = card.upload(&vec![NONE; count.max(1)])?;
    let first = card.zeros::<u64>(factor.count)?;
    let mut left = card.zeros::<u32>(1)?;
    let [row_starts, members, _] = factor.arguments(card);
    let [starts, rows, _] = transposed.arguments(card);
    let (on_card, first) = (card.at(&groups), card.at(&first));
    loop {
        for _ in 0..ROUNDS {
            let cleared = card.stream.memset_zeros(&mut left);
            cleared.map_err(|error| failed("the card", error))?;
            let arguments = [long(factor.count), row_starts, members, starts, on_card, first];
            card.launch::<T>("first_of_rows", Grid::entries(factor.count), &arguments)?;
            let arguments =
                [long(count), starts, rows, row_starts, members, first, on_card, card.at(&left)];
            card.launch::<T>("choose_groups", Grid::warps(count), &arguments)?;
        }
        if card.download(&left)?[0] == 0 {
            break;
        }
    }
    Ok(in_order(&card.download(&groups)?[..count]))
}

/// Places by group, and the size of each group.
fn in_order(group_of: &[u32]) -> (Vec<u32>, Vec<usize>) {
    let n_groups = group_of.iter().max().map_or(0, |top| *top as usize + 1);
    let mut sizes = vec![0; n_groups];
    group_of.iter().for_each(|group| sizes[*group as usize] += 1);
    let mut next: Vec<usize> = sizes
        .iter()
        .scan(0, |sum, size| {
            *sum += size;
            Some(*sum - size)
        })
        .collect();
    let mut order = vec![0; group_of.len()];
    for (place, group) in group_of.iter().enumerate() {
        let at = &mut next[*group as usize];
        order[*at] = place as u32;
        *at += 1;
    }
    (order, sizes)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Rows of eleven samples each, one of which is in every hundredth row.
    fn rows(count: usize) -> (Vec<i64>, Vec<u32>) {
        let member = |m: usize, e: usize| match e {
            0 => m,
            1 if m.is_multiple_of(100) => 7,
            _ => (m * 31 + e * e * 7919 + (m ^ e) * 101) % count,
        };
        let mut all = Vec::new();
        let mut starts = vec![0];
        for m in 0..count {
            let mut row: Vec<u32> = (0..11).map(|e| member(m, e) as u32).collect();
            row.sort_unstable();
            row.dedup();
            all.extend(row);
            starts.push(all.len() as i64);
        }
        (starts, all)
    }

    fn transposed(starts: &[i64], members: &[u32]) -> (Vec<i64>, Vec<u32>) {
        let mut rows = vec![Vec::new(); starts.len() - 1];
        for (m, pair) in starts.windows(2).enumerate() {
            members[pair[0] as usize..pair[1] as usize]
                .iter()
                .for_each(|&j| rows[j as usize].push(m as u32));
        }
        let mut ends = vec![0];
        rows.iter().for_each(|row| ends.push(ends[ends.len() - 1] + row.len() as i64));
        (ends, rows.concat())
    }

    #[test]
    fn no_row_has_two_of_a_group_and_all_have_one() {
        let card = match Card::open(0) {
            Ok(card) => card,
            Err(error) => {
                assert!(std::env::var_os("SSDL_GPU_TESTS").is_none(), "{error}");
                return;
            }
        };
        let (starts, members) = rows(70_000);
        let (own_starts, own) = transposed(&starts, &members);
        let zeros = vec![0f32; members.len()];
        let factor = Rows::of_arrays(&card, &starts, &members, &zeros).expect("room");
        let back = Rows::of_arrays(&card, &own_starts, &own, &zeros).expect("room");
        let (order, sizes) = independent(&card, &factor, &back).expect("a card");
        assert_eq!((order.len(), sizes.iter().sum::<usize>()), (70_000, 70_000));
        let mut group_of = vec![usize::MAX; order.len()];
        let mut first = 0;
        for (group, size) in sizes.iter().enumerate() {
            order[first..first + size].iter().for_each(|&j| group_of[j as usize] = group);
            first += size;
        }
        for pair in starts.windows(2) {
            let row = &members[pair[0] as usize..pair[1] as usize];
            let mut groups: Vec<usize> = row.iter().map(|&j| group_of[j as usize]).collect();
            groups.sort_unstable();
            groups.dedup();
            assert!(groups.len() == row.len() && groups[groups.len() - 1] < sizes.len());
        }
        assert_eq!((order, sizes), independent(&card, &factor, &back).expect("a card"));
    }

    #[test]
    fn places_are_sorted_by_group_and_ascend_within() {
        assert_eq!(in_order(&[2, 0, 2, 0, 1, 0]), (vec![1, 3, 5, 4, 0, 2], vec![3, 1, 2]));
        assert_eq!(in_order(&[]), (vec![], vec![]));
    }
}
