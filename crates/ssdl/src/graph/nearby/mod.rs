//! The nearest neighbours of many samples without comparing all pairs: a forest of random cuts, then
//! descent from neighbour to neighbour.
//!
//! Approximate: a list may miss a neighbour, never holds a wrong distance. Candidates are found in single
//! precision, the kept ones measured again in full and sorted with ties by index. The same bits on any
//! number of threads. Cost about $N\log N$, memory $O(N)$ beside the samples, of which there is no copy.

mod cells;
mod descent;
mod forest;
mod lists;
mod measure;
mod sketch;

use crate::matrix::{Matrix, squared_distance};
use crate::stop::Armed;
use crate::threads::Loops;
use crate::wide::wide;
use crate::{Real, order, stop};
pub(super) use cells::Cells;
use lists::{Lists, NONE};
use measure::{Keeper, Measure, Work};
use sketch::Sketcher;

/// Candidates beyond $k$ that are kept, so that the descent finds its way; and how many at least.
const SPARE: usize = 6;
const KEEP: usize = 16;
/// Trees, and samples of a leaf.
const TREES: usize = 10;
const LEAF: usize = 48;
/// Candidates that are joined in a round, of either kind.
const JOINED: usize = 20;
/// Rounds at most, and the share of entries whose change is worth another.
const ROUNDS: u64 = 10;
const SETTLED: f64 = 0.002;
/// Pairs of near samples whose sketches are compared with their distances, and how many of them may be
/// nearer than their estimate.
const COMPARED: usize = 4096;
const NEARER: f64 = 0.02;
/// More than single precision can be wrong about a distance, relative to it.
const ROUNDING: f32 = 1e-4;

/// Whether single precision holds the squared differences of these samples.
pub(super) fn can_measure<T: Real>(samples: &Matrix<T>) -> bool {
    let sizes = samples.as_slice().chunks(1 << 16);
    let largest = sizes.gather(|part| part.iter().fold(0.0, |top: f64, v| top.max(v.wide().abs())));
    largest.into_iter().fold(0.0, f64::max) < 1e30
}

/// Bytes of a search, beside the samples and the lists it gives.
pub(super) fn bytes((n_features, n_samples): (usize, usize), k: usize) -> u64 {
    let keep = (k + SPARE).max(KEEP);
    // A sketch with its two lengths and their sum; a list with distances, indices and flags; who is in whose
    // lists; candidates of two kinds; the order of the leaves. Sketches of samples, cells and findings of
    // a batch are small beside them.
    let each = 4 * sketch::length(n_features) + 12 + 9 * keep + 8 * keep + 8 + 8 * JOINED + 8;
    (each as u64).saturating_mul(n_samples as u64)
}

/// The `k` nearest others of every sample, nearest first, one list after another.
pub(super) fn within<T: Real>(samples: &Matrix<T>, k: usize) -> Vec<u32> {
    let stop = stop::armed();
    let count = samples.columns();
    let keep = (k + SPARE).max(KEEP).min(count - 1);
    let sketcher = Sketcher::new(samples);
    let sketches = sketcher.sketch(samples);
    let kind = (sketcher.is_whole(), sketcher.single.scale);
    let mut lists = Lists::new(count, keep);
    let mut measure = Measure::new(samples, &sketches, kind, 0.0);
    let mut order = Vec::new();
    for tree in 0..TREES as u64 {
        if stop.is_set() {
            break;
        }
        let leaves = forest::cut(&sketches.values, LEAF, tree);
        join_leaves(&measure, &mut lists, &leaves, &stop);
        if tree == 0 && !sketcher.is_whole() {
            let share = share(&measure, &lists);
            measure = Measure::new(samples, &sketches, kind, share);
        }
        order = leaves.order;
    }
    for round in 0..ROUNDS {
        let changed = descent::round(&measure, &mut lists, (JOINED, round), &order, &stop);
        if stop.is_set() || (changed as f64) < SETTLED * (count * keep) as f64 {
            break;
        }
    }
    finish(samples, &lists, k, &stop)
}

/// The $q$ of the estimates: nearly all near pairs are farther than estimated with it.
fn share<T: Real>(measure: &Measure<'_, T>, lists: &Lists) -> f32 {
    let step = (lists.indices.len() / COMPARED).max(1);
    let entries = lists.indices.iter().enumerate().step_by(step).filter(|(_, j)| **j != NONE);
    let pairs = entries.map(|(at, &j)| ((at / lists.keep) as u32, j));
    let mut shares: Vec<f32> = pairs.filter_map(|(i, j)| measure.share(i, j)).collect();
    shares.sort_unstable_by(f32::total_cmp);
    shares.get((NEARER * shares.len() as f64) as usize).copied().unwrap_or(0.0)
}

/// The lists of the samples of one leaf, changed at once.
struct Leaf<'a> {
    chosen: &'a [u32],
    lists: Lists,
}

impl Keeper for Leaf<'_> {
    #[inline(always)]
    fn limit(&self, at: usize) -> f32 {
        self.lists.limit(at)
    }

    #[inline(always)]
    fn knows(&self, a: usize, b: usize) -> bool {
        self.lists.holds(a, self.chosen[b]) || self.lists.holds(b, self.chosen[a])
    }

    #[inline(always)]
    fn found(&mut self, a: usize, b: usize, distance: f32) {
        self.lists.part().offer(a, self.chosen[b], distance);
        self.lists.part().offer(b, self.chosen[a], distance);
    }
}

/// Compares the samples of each leaf with each other.
fn join_leaves<T: Real>(
    measure: &Measure<'_, T>,
    lists: &mut Lists,
    leaves: &forest::Leaves,
    stop: &Armed,
) {
    /// Leaves whose lists are held twice at a time.
    const BATCH: usize = 1024;
    let mut rest = &leaves.order[..];
    for sizes in leaves.sizes.chunks(BATCH) {
        let mut batch = Vec::with_capacity(sizes.len());
        for &size in sizes {
            let (leaf, after) = rest.split_at(size as usize);
            batch.push(leaf.iter().map(|e| e.1).collect::<Vec<u32>>());
            rest = after;
        }
        let seen = &*lists;
        let joined: Vec<Lists> = batch.iter().gather_with(Work::default, |work, chosen| {
            let mut own = Lists::new(chosen.len(), seen.keep);
            let places = chosen.iter().enumerate();
            places.for_each(|(at, &i)| own.copy(at, seen, i as usize));
            let mut leaf = Leaf { chosen, lists: own };
            if !stop.is_set() {
                work.chosen.clone_from(chosen);
                measure.pairs(work, chosen.len(), &mut leaf);
            }
            leaf.lists
        });
        for (chosen, own) in batch.iter().zip(&joined) {
            chosen.iter().enumerate().for_each(|(at, &i)| lists.copy(i as usize, own, at));
        }
    }
}

/// The kept candidates measured in full, the best `k` of each; a list that is too short, which takes a
/// sample that no leaf or join brought enough others, is searched among all.
fn finish<T: Real>(samples: &Matrix<T>, lists: &Lists, k: usize, stop: &Armed) -> Vec<u32> {
    let count = samples.columns();
    let mut out = vec![0; count * k];
    out.chunks_mut(k).enumerate().runs_of(64).each_with(
        Vec::new,
        |exact: &mut Vec<(f64, u32)>, (i, out)| {
            if stop.is_set() {
                return super::neighbours::any_others(i, count, k, out);
            }
            let distances = &lists.distances[lists.place(i)];
            // What is clearly farther than the last one cannot come before it.
            let far = distances[k - 1] * (1.0 + ROUNDING);
            let found = lists.indices[lists.place(i)].iter().zip(distances);
            let found = found.filter(|(j, distance)| **j != NONE && **distance <= far);
            exact.clear();
            exact.extend(found.map(|(&j, _)| (0.0, j)));
            if exact.len() < k {
                exact.clear();
                exact.extend((0..count as u32).filter(|j| *j as usize != i).map(|j| (0.0, j)));
            }
            wide(
                #[inline(always)]
                || {
                    let x = samples.column(i);
                    for e in exact.iter_mut() {
                        e.0 = squared_distance(x, samples.column(e.1 as usize));
                    }
                },
            );
            order::nearest_first(exact);
            out.iter_mut().zip(exact.iter()).for_each(|(out, e)| *out = e.1);
        },
    );
    out
}
