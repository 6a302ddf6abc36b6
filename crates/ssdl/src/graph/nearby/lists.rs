//! Lists of the nearest found so far, flat: the best by (distance, index) of whatever is offered.

use std::ops::Range;

/// No sample.
pub(super) const NONE: u32 = u32::MAX;

/// For each sample the nearest found so far, nearest first; slots that are free are infinitely far.
#[derive(Clone)]
pub(super) struct Lists {
    pub keep: usize,
    pub distances: Vec<f32>,
    pub indices: Vec<u32>,
    /// Found since the sample was last joined with its neighbours.
    pub fresh: Vec<bool>,
}

/// The lists of a run of samples, to change.
pub(super) struct Part<'a> {
    pub keep: usize,
    pub distances: &'a mut [f32],
    pub indices: &'a mut [u32],
    pub fresh: &'a mut [bool],
}

impl Lists {
    pub fn new(count: usize, keep: usize) -> Self {
        Self {
            keep,
            distances: vec![f32::INFINITY; count * keep],
            indices: vec![NONE; count * keep],
            fresh: vec![false; count * keep],
        }
    }

    /// Where the list of a sample lies.
    pub fn place(&self, i: usize) -> Range<usize> {
        i * self.keep..(i + 1) * self.keep
    }

    /// The distance that a new neighbour of this sample must stay below.
    #[inline(always)]
    pub fn limit(&self, i: usize) -> f32 {
        self.distances[(i + 1) * self.keep - 1]
    }

    #[inline(always)]
    pub fn holds(&self, i: usize, other: u32) -> bool {
        let list = &self.indices[i * self.keep..][..self.keep];
        // Without an early end the comparison is a few vector instructions.
        list.iter().fold(false, |found, &j| found | (j == other))
    }

    /// Whether an offer would be taken, unless it is there already.
    #[inline(always)]
    pub fn wants(&self, i: usize, other: u32, distance: f32) -> bool {
        let last = (i + 1) * self.keep - 1;
        (distance, other) < (self.distances[last], self.indices[last])
    }

    pub fn part(&mut self) -> Part<'_> {
        let Self { keep, distances, indices, fresh } = self;
        Part { keep: *keep, distances, indices, fresh }
    }

    /// Takes over the list of another set.
    pub fn copy(&mut self, to: usize, from: &Self, at: usize) {
        let (to, from_place) = (self.place(to), from.place(at));
        self.distances[to.clone()].copy_from_slice(&from.distances[from_place.clone()]);
        self.indices[to.clone()].copy_from_slice(&from.indices[from_place.clone()]);
        self.fresh[to].copy_from_slice(&from.fresh[from_place]);
    }
}

impl Part<'_> {
    /// Enters a neighbour where it belongs; false if it is too far or known.
    pub fn offer(&mut self, i: usize, other: u32, distance: f32) -> bool {
        let place = i * self.keep..(i + 1) * self.keep;
        let distances = &mut self.distances[place.clone()];
        let indices = &mut self.indices[place.clone()];
        let last = self.keep - 1;
        // A distance that is not a number is as good as infinite.
        let is_wanted = (distance, other) < (distances[last], indices[last]);
        if !is_wanted || indices.contains(&other) {
            return false;
        }
        let fresh = &mut self.fresh[place];
        let mut at = last;
        while at > 0 && (distance, other) < (distances[at - 1], indices[at - 1]) {
            distances[at] = distances[at - 1];
            indices[at] = indices[at - 1];
            fresh[at] = fresh[at - 1];
            at -= 1;
        }
        (distances[at], indices[at], fresh[at]) = (distance, other, true);
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_list_keeps_the_best_by_distance_then_index_each_once() {
        let mut lists = Lists::new(2, 3);
        for (other, distance) in [(7, 2.0), (4, 1.0), (9, 1.0), (7, 2.0), (5, 3.0), (6, 1.0)] {
            lists.part().offer(1, other, distance);
        }
        assert_eq!(lists.indices[3..], [4, 6, 9]);
        assert!(!lists.part().offer(1, 10, 1.0) && lists.part().offer(1, 8, 1.0));
        assert!(!lists.part().offer(1, 3, f32::NAN));
        assert_eq!(lists.indices[..3], [NONE; 3]);
        assert!(lists.holds(1, 8) && !lists.holds(1, 9) && lists.limit(1) == 1.0);
    }
}
