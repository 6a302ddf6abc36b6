//! Descent: neighbours of neighbours are likely neighbours.
//!
//! Dong, Charikar, Li, *Efficient k-nearest neighbor graph construction for generic similarity measures*,
//! WWW 2011. In a round each sample joins those in its list with each other, and those in whose lists it
//! is. Joins of a batch read the lists as they were and write down what they found; that is carried out
//! afterwards, each block of lists by one task and in the order of the joins.

use super::lists::{Lists, NONE, Part};
use super::measure::{Keeper, Measure, Work};
use crate::Real;
use crate::random::place;
use crate::stop::Armed;
use crate::threads::Loops;

/// Samples whose joins are computed before their findings are carried out.
const BATCH: usize = 8192;
/// Samples joined by one task.
const TASK: usize = 128;
/// Blocks of lists that are changed side by side, at most.
const BLOCKS: usize = 256;

#[derive(Clone, Copy)]
struct Found {
    to: u32,
    what: u32,
    distance: f32,
}

/// The findings of a task, in the order of the blocks they are for.
struct Findings {
    found: Vec<Found>,
    /// Where the findings of each block begin.
    starts: Vec<u32>,
}

impl Findings {
    fn sorted(found: &[Found], block: usize, n_blocks: usize) -> Self {
        let mut starts = vec![0u32; n_blocks + 1];
        for found in found {
            starts[found.to as usize / block + 1] += 1;
        }
        for at in 0..n_blocks {
            starts[at + 1] += starts[at];
        }
        let mut next = starts.clone();
        let mut sorted = vec![Found { to: 0, what: 0, distance: 0.0 }; found.len()];
        for found in found {
            let slot = &mut next[found.to as usize / block];
            sorted[*slot as usize] = *found;
            *slot += 1;
        }
        Self { found: sorted, starts }
    }

    fn of(&self, block: usize) -> &[Found] {
        &self.found[self.starts[block] as usize..self.starts[block + 1] as usize]
    }
}

/// One join: reads the lists, writes down what it finds.
struct Join<'a> {
    lists: &'a Lists,
    chosen: Vec<u32>,
    limits: Vec<f32>,
    found: Vec<Found>,
}

impl Keeper for Join<'_> {
    #[inline(always)]
    fn limit(&self, at: usize) -> f32 {
        self.limits[at]
    }

    #[inline(always)]
    fn knows(&self, a: usize, b: usize) -> bool {
        let (i, j) = (self.chosen[a], self.chosen[b]);
        self.lists.holds(i as usize, j) || self.lists.holds(j as usize, i)
    }

    #[inline(always)]
    fn found(&mut self, a: usize, b: usize, distance: f32) {
        let (i, j) = (self.chosen[a], self.chosen[b]);
        for (to, what) in [(i, j), (j, i)] {
            if self.lists.wants(to as usize, what, distance) {
                self.found.push(Found { to, what, distance });
            }
        }
    }
}

/// Those that a sample joins: at most `most` found since its last join, and as many older ones.
struct Candidates {
    fresh: Vec<u32>,
    old: Vec<u32>,
    most: usize,
}

impl Candidates {
    fn of(of: &[u32], i: usize, most: usize) -> &[u32] {
        let all = &of[i * most..][..most];
        &all[..all.iter().position(|&j| j == NONE).unwrap_or(most)]
    }

    /// A draw from the list of each sample and from those in whose lists it is; what is drawn is fresh
    /// no more.
    fn draw(lists: &mut Lists, count: usize, most: usize, round: u64) -> Self {
        let keep = lists.keep;
        let (starts, named) = reversed(lists, count);
        let mut drawn =
            Self { fresh: vec![NONE; count * most], old: vec![NONE; count * most], most };
        let slots = drawn.fresh.chunks_mut(most).zip(drawn.old.chunks_mut(most));
        let seen = &*lists;
        slots.enumerate().runs_of(256).each_with(
            Vec::new,
            |all: &mut Vec<(u32, u32, bool)>, (i, (fresh, old))| {
                // The same number from either end, so that both draw the pair or neither.
                let ticket = |j: u32| {
                    let (a, b) = (u64::from(j.min(i as u32)), u64::from(j.max(i as u32)));
                    place(5, round, a << 32 | b) as u32
                };
                let slots = seen.place(i);
                let own = seen.indices[slots.clone()].iter().zip(&seen.fresh[slots]);
                let own = own.filter(|(j, _)| **j != NONE).map(|(&j, &fresh)| (j, fresh));
                let back = named[starts[i] as usize..starts[i + 1] as usize].iter().copied();
                all.clear();
                all.extend(own.chain(back).map(|(j, fresh)| (ticket(j), j, !fresh)));
                // Fresh from either end is fresh.
                all.sort_unstable();
                all.dedup_by_key(|e| e.1);
                for (is_old, out) in [(false, fresh), (true, old)] {
                    let chosen = all.iter().filter(|e| e.2 == is_old);
                    out.iter_mut().zip(chosen).for_each(|(slot, e)| *slot = e.1);
                }
            },
        );
        let fresh = &drawn.fresh;
        let flags = lists.fresh.chunks_mut(keep).zip(lists.indices.chunks(keep));
        flags.enumerate().runs_of(256).each(|(i, (flags, indices))| {
            let joined = Self::of(fresh, i, most);
            for (flag, j) in flags.iter_mut().zip(indices) {
                *flag &= !joined.contains(j);
            }
        });
        drawn
    }
}

/// For each sample those in whose lists it is, with whether they are fresh there: first where they
/// begin, then all of them.
fn reversed(lists: &Lists, count: usize) -> (Vec<u32>, Vec<(u32, bool)>) {
    let mut starts = vec![0u32; count + 1];
    let entries = || {
        let all = lists.indices.iter().zip(&lists.fresh).enumerate();
        all.filter(|(_, (j, _))| **j != NONE)
    };
    entries().for_each(|(_, (&j, _))| starts[j as usize + 1] += 1);
    for i in 0..count {
        starts[i + 1] += starts[i];
    }
    let mut next = starts.clone();
    let mut named = vec![(0, false); starts[count] as usize];
    for (at, (&j, &fresh)) in entries() {
        let slot = &mut next[j as usize];
        named[*slot as usize] = ((at / lists.keep) as u32, fresh);
        *slot += 1;
    }
    (starts, named)
}

/// One round, in an order in which near samples follow each other, so that what one join has read is
/// still in cache for the next; returns how many entries of the lists changed.
pub(super) fn round<T: Real>(
    measure: &Measure<'_, T>,
    lists: &mut Lists,
    (most, round): (usize, u64),
    order: &[(f32, u32)],
    stop: &Armed,
) -> usize {
    let count = lists.indices.len() / lists.keep;
    let candidates = Candidates::draw(lists, count, most, round);
    let block = count.div_ceil(BLOCKS).max(256);
    let n_blocks = count.div_ceil(block);
    let mut changed = 0;
    for first in (0..count).step_by(BATCH) {
        let tasks = (first..(first + BATCH).min(count)).step_by(TASK);
        let findings = tasks.gather_with(Work::default, |work, start| {
            let last = (start + TASK).min(first + BATCH).min(count);
            let found = join(measure, lists, &candidates, &order[start..last], work, stop);
            Findings::sorted(&found, block, n_blocks)
        });
        changed += carry_out(lists, block, &findings);
    }
    changed
}

/// The joins of a run of samples.
fn join<T: Real>(
    measure: &Measure<'_, T>,
    lists: &Lists,
    candidates: &Candidates,
    chosen: &[(f32, u32)],
    work: &mut Work,
    stop: &Armed,
) -> Vec<Found> {
    let mut join = Join { lists, chosen: Vec::new(), limits: Vec::new(), found: Vec::new() };
    if stop.is_set() {
        return join.found;
    }
    for i in chosen.iter().map(|e| e.1 as usize) {
        let fresh = Candidates::of(&candidates.fresh, i, candidates.most);
        let old = Candidates::of(&candidates.old, i, candidates.most);
        work.chosen.clear();
        work.chosen.extend(fresh.iter().chain(old));
        join.chosen.clone_from(&work.chosen);
        join.limits.clear();
        join.limits.extend(work.chosen.iter().map(|&j| lists.limit(j as usize)));
        measure.pairs(work, fresh.len(), &mut join);
    }
    join.found
}

/// Offers the findings to the lists they are for; returns how many were taken.
fn carry_out(lists: &mut Lists, block: usize, findings: &[Findings]) -> usize {
    let (keep, size) = (lists.keep, block * lists.keep);
    let parts = lists.distances.chunks_mut(size).zip(lists.indices.chunks_mut(size));
    let parts = parts.zip(lists.fresh.chunks_mut(size)).enumerate();
    let taken = parts.gather(|(at, ((distances, indices), fresh))| {
        let mut part = Part { keep, distances, indices, fresh };
        let of_block = findings.iter().flat_map(|task| task.of(at));
        of_block.filter(|f| part.offer(f.to as usize - at * block, f.what, f.distance)).count()
    });
    taken.into_iter().sum()
}
