//! Chooses the samples of a page: the least certain, mistakes, and some correct ones of each class.

use std::collections::{BTreeMap, HashSet};

use crate::confusion::Case;

/// Maximum number of samples in a page.
const MOST: usize = 240;
/// Number of samples listed as the least certain.
pub(crate) const UNSURE: usize = 24;
/// Maximum number of samples from one cell: mistakes, correct predictions.
const PER_CELL: [usize; 2] = [24, 8];

/// The least certain cases, the least first; labelled samples are omitted if there are others.
pub(crate) fn unsure(cases: &[Case], is_given: impl Fn(usize) -> bool) -> Vec<usize> {
    let open: Vec<&Case> = cases.iter().filter(|case| !is_given(case.place)).collect();
    let mut candidates = if open.is_empty() { cases.iter().collect() } else { open };
    candidates.sort_by(|a, b| a.lead.total_cmp(&b.lead).then(a.place.cmp(&b.place)));
    candidates.iter().take(UNSURE).map(|case| case.place).collect()
}

/// Indices of the samples to put in the page, in ascending order.
pub(crate) fn choose_samples(cases: &[Case], unsure: &[usize]) -> Vec<usize> {
    let mut cells: BTreeMap<(bool, usize, usize), Vec<&Case>> = BTreeMap::new();
    for case in cases {
        if let Some((truth, predicted)) = case.pair() {
            cells.entry((truth == predicted, truth, predicted)).or_default().push(case);
        }
    }
    let mut chosen: HashSet<usize> = unsure.iter().copied().collect();
    let mut queues: [Vec<Vec<&Case>>; 2] = [Vec::new(), Vec::new()];
    for ((right, _, _), mut cell) in cells {
        // The most instructive are certain mistakes, and uncertain correct predictions.
        cell.sort_by(|a, b| {
            let (low, high) = if right { (a, b) } else { (b, a) };
            low.lead.total_cmp(&high.lead).then(a.place.cmp(&b.place))
        });
        cell.truncate(PER_CELL[usize::from(right)]);
        queues[usize::from(right)].push(cell);
    }
    for queue in &queues {
        for rank in 0..PER_CELL[0] {
            for case in queue.iter().filter_map(|cell| cell.get(rank)) {
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

    fn case(place: usize, truth: Option<usize>, predicted: usize, lead: f64) -> Case {
        Case { place, truth, predicted: Some(predicted), lead }
    }

    #[test]
    fn the_least_certain_come_first_and_labelled_samples_are_omitted() {
        let cases: Vec<Case> =
            (0..100).map(|at| case(at, None, 0, f64::from(at as u32 * 37 % 100))).collect();
        let found = unsure(&cases, |place| place == 0);
        assert_eq!(found.len(), UNSURE);
        assert!(!found.contains(&0) && cases[found[0]].lead == 1.0);
        assert_eq!(unsure(&cases[..1], |_| true), [0]);
    }

    #[test]
    fn every_kind_of_mistake_is_shown_within_the_limit() {
        let mut cases: Vec<Case> = (0..2000).map(|at| case(at, Some(0), 1, 0.9)).collect();
        cases.extend((2000..2010).map(|at| case(at, Some(at - 2000), 20, 0.1)));
        cases.extend((2010..4000).map(|at| case(at, Some(at % 9), at % 9, 0.5)));
        let found = choose_samples(&cases, &[3999]);
        assert!(found.len() <= MOST && found.contains(&3999));
        assert!((2000..2010).all(|place| found.contains(&place)), "{found:?}");
        let right = found.iter().filter(|&&place| place >= 2010).count();
        assert!(right > 50, "{right}");
    }
}
