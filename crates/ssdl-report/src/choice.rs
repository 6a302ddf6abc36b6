//! Which samples a page carries: the least sure, the mistakes, and some of each kind that is right.

use std::collections::{BTreeMap, HashSet};

use crate::confusion::Case;

/// Most samples of a page.
const MOST: usize = 240;
/// Samples that are listed as the least sure.
pub(crate) const UNSURE: usize = 24;
/// Most samples of one cell, of mistakes and of those that are right.
const OF_A_CELL: [usize; 2] = [24, 8];

/// The least sure of the cases, the least first; those whose label was given are left out if there
/// are others.
pub(crate) fn unsure(cases: &[Case], is_given: impl Fn(usize) -> bool) -> Vec<usize> {
    let open: Vec<&Case> = cases.iter().filter(|case| !is_given(case.place)).collect();
    let mut among = if open.is_empty() { cases.iter().collect() } else { open };
    among.sort_by(|a, b| a.lead.total_cmp(&b.lead).then(a.place.cmp(&b.place)));
    among.iter().take(UNSURE).map(|case| case.place).collect()
}

/// Places of the samples to carry, in their order.
pub(crate) fn carried(cases: &[Case], unsure: &[usize]) -> Vec<usize> {
    let mut cells: BTreeMap<(bool, usize, usize), Vec<&Case>> = BTreeMap::new();
    for case in cases {
        if let Some((truth, said)) = case.pair() {
            cells.entry((truth == said, truth, said)).or_default().push(case);
        }
    }
    let mut chosen: HashSet<usize> = unsure.iter().copied().collect();
    let mut queues: [Vec<Vec<&Case>>; 2] = [Vec::new(), Vec::new()];
    for ((right, _, _), mut cell) in cells {
        // Mistakes that the model is sure of teach most; of the others the doubtful ones.
        cell.sort_by(|a, b| match right {
            true => a.lead.total_cmp(&b.lead).then(a.place.cmp(&b.place)),
            false => b.lead.total_cmp(&a.lead).then(a.place.cmp(&b.place)),
        });
        cell.truncate(OF_A_CELL[usize::from(right)]);
        queues[usize::from(right)].push(cell);
    }
    for queue in &queues {
        for turn in 0..OF_A_CELL[0] {
            for case in queue.iter().filter_map(|cell| cell.get(turn)) {
                if chosen.len() < MOST {
                    chosen.insert(case.place);
                }
            }
        }
    }
    let mut places: Vec<usize> = chosen.into_iter().collect();
    places.sort_unstable();
    places
}

#[cfg(test)]
mod tests {
    use super::*;

    fn case(place: usize, truth: Option<usize>, said: usize, lead: f64) -> Case {
        Case { place, truth, said: Some(said), lead }
    }

    #[test]
    fn the_least_sure_come_first_and_given_labels_are_no_doubt() {
        let cases: Vec<Case> =
            (0..100).map(|at| case(at, None, 0, f64::from(at as u32 * 37 % 100))).collect();
        let found = unsure(&cases, |place| place == 0);
        assert_eq!(found.len(), UNSURE);
        assert!(!found.contains(&0) && cases[found[0]].lead == 1.0);
        assert_eq!(unsure(&cases[..1], |_| true), [0]);
    }

    #[test]
    fn every_kind_of_mistake_has_its_turn_within_the_limit() {
        let mut cases: Vec<Case> = (0..2000).map(|at| case(at, Some(0), 1, 0.9)).collect();
        cases.extend((2000..2010).map(|at| case(at, Some(at - 2000), 20, 0.1)));
        cases.extend((2010..4000).map(|at| case(at, Some(at % 9), at % 9, 0.5)));
        let found = carried(&cases, &[3999]);
        assert!(found.len() <= MOST && found.contains(&3999));
        assert!((2000..2010).all(|place| found.contains(&place)), "{found:?}");
        let right = found.iter().filter(|&&place| place >= 2010).count();
        assert!(right > 50, "{right}");
    }
}
