//! Running work in a fixed number of threads, and loops that all of them share.

use std::num::NonZero;
use std::sync::{Mutex, PoisonError};

/// Maximum number of items that a thread takes from a loop at once.
const RUN: usize = 256;
/// At first a thread takes one in this many of the items that are its share.
const RUNS: usize = 4;
/// Threads that are started where more are asked for and there are fewer cores: a million of them would bring down the
/// machine.
const MOST: usize = 64;

/// Runs `work` with `n_threads` threads (0: those of the pool that the caller is in, else one per
/// core), though with no more than 64 or one per core.
///
/// The pool lives only as long as the call, so nothing survives a fork; results do not depend on
/// the number of threads. If the system refuses to start threads, the work runs in the caller's.
pub fn run<R: Send>(n_threads: usize, work: impl FnOnce() -> R + Send) -> R {
    let cores = std::thread::available_parallelism().map_or(1, NonZero::get);
    let n_threads = n_threads.min(cores.max(MOST));
    if n_threads == 0 && rayon::current_thread_index().is_some() {
        return work();
    }
    let Ok(pool) = rayon::ThreadPoolBuilder::new().num_threads(n_threads).build() else {
        return work();
    };
    let (mut work, mut result) = (Some(work), None);
    install(&pool, &mut || result = work.take().map(|work| work()));
    // A panic has gone through `install`; otherwise the work has been done.
    result.unwrap_or_else(|| unreachable!("the pool returned before its work was done"))
}

/// Behind a pointer for the reason that [`Loops`] gives.
fn install(pool: &rayon::ThreadPool, work: &mut (dyn FnMut() + Send)) {
    pool.install(work);
}

/// Does two things, side by side where there is a thread for it.
pub(crate) fn both<A: Send, B: Send>(
    one: impl FnOnce() -> A + Send,
    other: impl FnOnce() -> B + Send,
) -> (A, B) {
    let (mut one, mut other) = (Some(one), Some(other));
    let (mut first, mut second) = (None, None);
    join(&mut || first = one.take().map(|work| work()), &mut || {
        second = other.take().map(|work| work());
    });
    match (first, second) {
        (Some(first), Some(second)) => (first, second),
        _ => unreachable!("the pool returned before its work was done"),
    }
}

/// Behind pointers for the reason that [`Loops`] gives.
fn join(one: &mut (dyn FnMut() + Send), other: &mut (dyn FnMut() + Send)) {
    rayon::join(one, other);
}

/// Calls `work` on several threads of the pool at once, on the caller's at least. Calls that find no thread
/// free come after the others.
fn on_threads(count: usize, work: &(dyn Fn() + Sync)) {
    rayon::scope(|scope| {
        for _ in 1..count {
            scope.spawn(|_| work());
        }
        work();
    });
}

/// Loops over the items of an iterator that the threads of the pool share: whoever is free takes the next few.
///
/// Everything of rayon is behind pointers and compiled once, where its own parallel iterators were compiled for each kind
/// of loop and were a quarter of the library. The price is two indirect calls an item, so an item is a column or a run
/// of numbers, not one number. Making the items must be cheap: that is done by one thread at a time.
pub(crate) trait Loops: Iterator<Item: Send> + Send + Sized {
    /// The same items, of which a thread takes at least `least` at once; for items that are done quickly.
    #[inline]
    fn runs_of(self, least: usize) -> Runs<Self> {
        Runs { items: self, least: least.max(1) }
    }

    /// Calls `act` with every item.
    #[inline]
    fn each(self, act: impl Fn(Self::Item) + Sync) {
        self.runs_of(1).each(act);
    }

    /// Calls `act` with every item and what `make` made for a thread.
    #[inline]
    fn each_with<S>(self, make: impl Fn() -> S + Sync, act: impl Fn(&mut S, Self::Item) + Sync) {
        self.runs_of(1).each_with(make, act);
    }

    /// What `of` gives for every item, in order.
    #[inline]
    fn gather<R: Send>(self, of: impl Fn(Self::Item) -> R + Sync) -> Vec<R>
    where
        Self: ExactSizeIterator,
    {
        self.runs_of(1).gather(of)
    }

    /// What `of` gives for every item, in order, with what `make` made for a thread.
    #[inline]
    fn gather_with<S, R: Send>(
        self,
        make: impl Fn() -> S + Sync,
        of: impl Fn(&mut S, Self::Item) -> R + Sync,
    ) -> Vec<R>
    where
        Self: ExactSizeIterator,
    {
        self.runs_of(1).gather_with(make, of)
    }
}

impl<I: Iterator<Item: Send> + Send> Loops for I {}

/// Items that threads take in runs.
pub(crate) struct Runs<I> {
    items: I,
    least: usize,
}

impl<I: Iterator<Item: Send> + Send> Runs<I> {
    /// As [`Loops::each`].
    #[inline]
    pub(crate) fn each(mut self, act: impl Fn(I::Item) + Sync) {
        let count = self.items.size_hint().0;
        share(&mut self.items, count, self.least, &|next| {
            while let Some(item) = next() {
                act(item);
            }
        });
    }

    /// As [`Loops::each_with`].
    #[inline]
    pub(crate) fn each_with<S>(
        mut self,
        make: impl Fn() -> S + Sync,
        act: impl Fn(&mut S, I::Item) + Sync,
    ) {
        let count = self.items.size_hint().0;
        share(&mut self.items, count, self.least, &|next| {
            let mut state = None;
            while let Some(item) = next() {
                act(state.get_or_insert_with(&make), item);
            }
        });
    }
}

impl<I: ExactSizeIterator<Item: Send> + Send> Runs<I> {
    /// As [`Loops::gather`].
    #[inline]
    pub(crate) fn gather<R: Send>(self, of: impl Fn(I::Item) -> R + Sync) -> Vec<R> {
        self.gather_with(|| (), |(), item| of(item))
    }

    /// As [`Loops::gather_with`].
    #[inline]
    pub(crate) fn gather_with<S, R: Send>(
        self,
        make: impl Fn() -> S + Sync,
        of: impl Fn(&mut S, I::Item) -> R + Sync,
    ) -> Vec<R> {
        let mut places = empty(self.items.len());
        let items = places.iter_mut().zip(self.items).runs_of(self.least);
        items.each_with(make, |state, (place, item)| *place = Some(of(state, item)));
        filled(places)
    }
}

#[inline(never)]
fn empty<R>(count: usize) -> Vec<Option<R>> {
    Vec::from_iter(std::iter::repeat_with(|| None).take(count))
}

#[inline(never)]
fn filled<R>(places: Vec<Option<R>>) -> Vec<R> {
    let each = |place: Option<R>| place.unwrap_or_else(|| unreachable!("a loop left items out"));
    places.into_iter().map(each).collect()
}

/// Asks for the next item of a loop.
type Next<'a, I> = &'a mut dyn FnMut() -> Option<I>;

/// Calls `work` on as many threads as there are runs for; each asks for its next item until none is left.
#[inline(never)]
fn share<I: Send>(
    items: &mut (dyn Iterator<Item = I> + Send),
    count: usize,
    least: usize,
    work: &(dyn Fn(Next<'_, I>) + Sync),
) {
    let threads = rayon::current_num_threads().min(count.div_ceil(least));
    if threads <= 1 {
        return work(&mut || items.next());
    }
    let left = Mutex::new((items, count));
    on_threads(threads, &|| {
        let mut run = Vec::new().into_iter();
        work(&mut || {
            if let Some(item) = run.next() {
                return Some(item);
            }
            let mut left = left.lock().unwrap_or_else(PoisonError::into_inner);
            let (items, count) = &mut *left;
            // Many while many are left, then fewer, so that all threads end together.
            let length = (*count / (RUNS * threads)).clamp(least, RUN.max(least));
            *count = count.saturating_sub(length);
            run = Vec::from_iter(items.take(length)).into_iter();
            run.next()
        });
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_item_is_done_once_and_in_its_place() {
        for (threads, count, least) in
            [(1, 10, 1), (4, 0, 1), (4, 3, 2), (3, 5000, 1), (4, 999, 64)]
        {
            let mut values = vec![0; count];
            let doubled = run(threads, || {
                values.iter_mut().enumerate().runs_of(least).each(|(i, value)| *value += i);
                values.iter().runs_of(least).gather(|value| 2 * value)
            });
            assert_eq!(values, Vec::from_iter(0..count), "{threads} threads");
            assert_eq!(doubled, Vec::from_iter((0..count).map(|i| 2 * i)), "{threads} threads");
        }
    }

    #[test]
    fn no_more_threads_are_started_than_a_machine_can_bear() {
        let cores = std::thread::available_parallelism().map_or(1, NonZero::get);
        assert_eq!(run(usize::MAX, rayon::current_num_threads), cores.max(MOST));
        assert_eq!(run(3, rayon::current_num_threads), 3);
    }

    #[test]
    fn loops_inside_loops_and_pairs_end() {
        let rows = run(3, || {
            (0..40usize).gather(|i| {
                let (one, other) = both(|| (0..i).gather(|j| j).len(), || (0..i).gather(|j| 2 * j));
                one + other.into_iter().sum::<usize>()
            })
        });
        assert_eq!(rows, Vec::from_iter((0..40).map(|i: usize| i + i * i.saturating_sub(1))));
    }

    #[test]
    fn what_is_made_is_made_at_most_once_a_thread() {
        let made = std::sync::atomic::AtomicUsize::new(0);
        let make = || made.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
        run(2, || (0..1000).each_with(make, |_, _| ()));
        assert!((1..=2).contains(&made.into_inner()));
    }

    #[test]
    #[should_panic(expected = "item 7")]
    fn a_panic_reaches_the_caller() {
        run(2, || (0..100).each(|i| assert!(i != 7, "item {i}")));
    }
}
