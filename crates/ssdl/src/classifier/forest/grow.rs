//! How a tree grows: labels drawn with replacement, and the best cut of a few features at every node.

use rand::{Rng, RngExt};

use crate::random::{Purpose, substream};
use crate::threads::Loops;
use crate::{Matrix, Real, order};

/// Labels that a tree draws at most: more hardly make a forest better, only larger.
const MAX_DRAWN: usize = 2000;
/// Values that differ by less than this share of their size are the same: lengths that were taken away and
/// given back leave rounding behind.
const SAME: f64 = 1e-5;

/// What trees learn from.
pub(super) struct Ground<'a, T> {
    /// The labelled samples as rows, $N_l\times n$: a node reads one feature of many samples.
    pub features: &'a Matrix<T>,
    /// The [`ranks`] of the samples in each feature.
    pub ranks: &'a [u32],
    /// The class of each.
    pub classes: &'a [usize],
    /// How likely each is drawn, added up; `None`: all alike.
    pub reach: Option<&'a [f64]>,
    pub n_classes: usize,
    /// Draws in a leaf, at least.
    pub min_leaf: usize,
}

/// A tree, node by node: each cut is followed by all that is below it, and then by all that is above it.
pub(super) struct Grown<T> {
    /// The feature of each cut; for a leaf the number of features and its number of draws.
    pub plan: Vec<u32>,
    /// Where each feature is cut: values up to here come first. Zero for a leaf.
    pub cuts: Vec<T>,
    /// The labelled samples drawn, leaf after leaf.
    pub drawn: Vec<u32>,
}

/// What a tree works with, made once.
struct Scratch<T> {
    /// How often each labelled sample is drawn.
    counts: Vec<u32>,
    /// In the order in which a node looks at them.
    features: Vec<usize>,
    /// A feature of the samples of a node, in order: the rank of each, and which it is.
    line: Vec<u64>,
    /// The same as values.
    values: Vec<(T, u32)>,
    /// The draws of each class before and after a cut.
    left: Vec<f64>,
    right: Vec<f64>,
}

struct Cut<T> {
    feature: usize,
    at: T,
    score: f64,
}

impl<T: Real> Ground<'_, T> {
    /// Tree `number` of the forest of this seed.
    pub fn grow(&self, seed: u64, number: u32) -> Grown<T> {
        let mut rng = substream(seed, Purpose::Trees, number);
        let (n, n_features) = (self.classes.len(), self.features.columns());
        let mut scratch = Scratch {
            counts: vec![0; n],
            features: (0..n_features).collect(),
            line: Vec::with_capacity(n),
            values: Vec::with_capacity(n),
            left: vec![0.0; self.n_classes],
            right: vec![0.0; self.n_classes],
        };
        for _ in 0..n.min(MAX_DRAWN) {
            scratch.counts[self.draw(&mut rng)] += 1;
        }
        let is_drawn = |&i: &u32| scratch.counts[i as usize] > 0;
        let mut order: Vec<u32> = (0..n as u32).filter(is_drawn).collect();
        let (mut plan, mut cuts, mut drawn) = (Vec::new(), Vec::new(), Vec::new());
        let mut open = vec![(0, order.len())];
        while let Some((start, end)) = open.pop() {
            let own = &mut order[start..end];
            let Some(cut) = self.best_cut(own, &mut scratch, &mut rng) else {
                let before = drawn.len();
                let times = |&i: &u32| std::iter::repeat_n(i, scratch.counts[i as usize] as usize);
                drawn.extend(own.iter().flat_map(times));
                plan.push((n_features + drawn.len() - before) as u32);
                cuts.push(T::zero());
                continue;
            };
            let middle = start + self.part(own, &cut);
            plan.push(cut.feature as u32);
            cuts.push(cut.at);
            open.push((middle, end));
            open.push((start, middle));
        }
        Grown { plan, cuts, drawn }
    }

    /// A labelled sample by lot, as likely as it counts.
    fn draw(&self, rng: &mut impl Rng) -> usize {
        let n = self.classes.len();
        match self.reach.and_then(|reach| reach.last().map(|all| (reach, all))) {
            Some((reach, all)) => {
                let at = rng.random::<f64>() * all;
                reach.partition_point(|&end| end <= at).min(n - 1)
            }
            None => rng.random_range(0..n),
        }
    }

    /// Samples up to the cut first; their order stays, so that it says nothing about the sort.
    fn part(&self, own: &mut [u32], cut: &Cut<T>) -> usize {
        let values = self.features.column(cut.feature);
        let is_first = |&i: &u32| values[i as usize] <= cut.at;
        let (first, rest): (Vec<u32>, Vec<u32>) = own.iter().copied().partition(is_first);
        own[..first.len()].copy_from_slice(&first);
        own[first.len()..].copy_from_slice(&rest);
        first.len()
    }

    /// The cut after which the classes are purest, of $\sqrt n$ features that are not constant here; more of them
    /// are looked at only while none can be cut. `None` for a leaf.
    fn best_cut(
        &self,
        own: &[u32],
        scratch: &mut Scratch<T>,
        rng: &mut impl Rng,
    ) -> Option<Cut<T>> {
        let class_of = |i: u32| self.classes[i as usize];
        let n_drawn: usize = own.iter().map(|&i| scratch.counts[i as usize] as usize).sum();
        let is_pure = own.iter().all(|&i| class_of(i) == class_of(own[0]));
        if is_pure || n_drawn < 2 * self.min_leaf {
            return None;
        }
        let n_features = scratch.features.len();
        let enough = (n_features as f64).sqrt() as usize;
        let (mut best, mut tried) = (None, 0);
        for at in 0..n_features {
            scratch.features.swap(at, rng.random_range(at..n_features));
            let feature = scratch.features[at];
            let values = self.features.column(feature);
            let first = values[own[0] as usize];
            if own.iter().all(|&i| values[i as usize] == first) {
                continue;
            }
            let ranks = &self.ranks[feature * values.len()..][..values.len()];
            scratch.line.clear();
            let ranked = own.iter().map(|&i| u64::from(ranks[i as usize]) << 32 | u64::from(i));
            scratch.line.extend(ranked);
            scratch.line.sort_unstable();
            scratch.values.clear();
            let valued = scratch.line.iter().map(|&entry| entry as u32);
            scratch.values.extend(valued.map(|i| (values[i as usize], i)));
            if !are_apart(scratch.values[0].0, scratch.values[own.len() - 1].0) {
                continue;
            }
            tried += 1;
            best = self.along(scratch, n_drawn, feature, best);
            if tried >= enough && best.is_some() {
                break;
            }
        }
        best
    }

    /// The best cut of one feature, or the one that was best before: the greatest
    /// $\sum_c l_c^2/l+\sum_cr_c^2/r$ for the draws $l_c$ and $r_c$ of the classes on both sides (Gini).
    fn along(
        &self,
        scratch: &mut Scratch<T>,
        n_drawn: usize,
        feature: usize,
        mut best: Option<Cut<T>>,
    ) -> Option<Cut<T>> {
        let Scratch { counts, values: line, left, right, .. } = scratch;
        let weight = |i: u32| f64::from(counts[i as usize]);
        left.fill(0.0);
        right.fill(0.0);
        line.iter().for_each(|&(_, i)| right[self.classes[i as usize]] += weight(i));
        let (mut low, mut high) = (0.0, right.iter().sum::<f64>());
        let (mut pure_low, mut pure_high) = (0.0, right.iter().map(|r| r * r).sum::<f64>());
        let mut n_low = 0;
        for pair in line.windows(2) {
            let ((value, i), (next, _)) = (pair[0], pair[1]);
            let (class, w) = (self.classes[i as usize], weight(i));
            pure_low += w * (2.0 * left[class] + w);
            pure_high -= w * (2.0 * right[class] - w);
            left[class] += w;
            right[class] -= w;
            (low, high) = (low + w, high - w);
            n_low += counts[i as usize] as usize;
            let fits = n_low >= self.min_leaf && n_drawn - n_low >= self.min_leaf;
            if !fits || !are_apart(value, next) {
                continue;
            }
            let score = pure_low / low + pure_high / high;
            if best.as_ref().is_none_or(|best| score > best.score) {
                best = Some(Cut { feature, at: between(value, next), score });
            }
        }
        best
    }
}

/// Where each sample stands in each feature, features one after the other. Nodes sort these whole numbers, which takes half
/// the time of sorting values.
pub(super) fn ranks<T: Real>(features: &Matrix<T>) -> Vec<u32> {
    let of_feature = |values: &[T]| {
        let mut order: Vec<(f64, u32)> = values.iter().map(|value| value.wide()).zip(0..).collect();
        order::nearest_first(&mut order);
        let mut ranks = vec![0; values.len()];
        order.iter().zip(0..).for_each(|(&(_, sample), rank)| ranks[sample as usize] = rank);
        ranks
    };
    let columns: Vec<&[T]> = features.iter_columns().collect();
    columns.into_iter().runs_of(16).gather(of_feature).concat()
}

fn are_apart<T: Real>(low: T, high: T) -> bool {
    let (low, high) = (low.wide(), high.wide());
    high - low > SAME * low.abs().max(high.abs())
}

/// A value from the first, included, to the second, left out.
fn between<T: Real>(low: T, high: T) -> T {
    let middle = T::of(0.5 * low.wide() + 0.5 * high.wide());
    if middle < high { middle } else { low }
}
