//! Running work in a fixed number of threads, and loops that all of them share.

use rayon::prelude::*;

/// Runs `work` with `n_threads` threads (0: those of the pool that the caller is in, else one per
/// core).
///
/// The pool lives only as long as the call, so nothing survives a fork; results do not depend on
/// the number of threads. If the system refuses to start threads, the work runs in the caller's.
pub fn run<R: Send>(n_threads: usize, work: impl FnOnce() -> R + Send) -> R {
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

/// Loops over the items of a parallel iterator.
///
/// The body goes behind a pointer, so that the machinery of rayon is compiled once for each kind of iterator and
/// not once for each loop: that was a quarter of the library. The price is an indirect call an item, so an item
/// is a column or a run of numbers, not one number.
pub(crate) trait Loops: IndexedParallelIterator {
    /// Calls `act` with every item.
    #[inline]
    fn each(self, act: impl Fn(Self::Item) + Sync) {
        let act: &(dyn Fn(Self::Item) + Sync) = &act;
        self.for_each(act);
    }

    /// Calls `act` with every item and what `make` made for a run of items.
    #[inline]
    fn each_with<S>(self, make: impl Fn() -> S + Sync, act: impl Fn(&mut S, Self::Item) + Sync) {
        let make: &(dyn Fn() -> S + Sync) = &make;
        let act: &(dyn Fn(&mut S, Self::Item) + Sync) = &act;
        self.for_each_init(make, act);
    }

    /// What `of` gives for every item, in order.
    #[inline]
    fn gather<R: Send>(self, of: impl Fn(Self::Item) -> R + Sync) -> Vec<R> {
        let of: &(dyn Fn(Self::Item) -> R + Sync) = &of;
        collected(self.map(of))
    }

    /// What `of` gives for every item, in order, with what `make` made for a run of items.
    #[inline]
    fn gather_with<S, R: Send>(
        self,
        make: impl Fn() -> S + Sync,
        of: impl Fn(&mut S, Self::Item) -> R + Sync,
    ) -> Vec<R> {
        let make: &(dyn Fn() -> S + Sync) = &make;
        let of: &(dyn Fn(&mut S, Self::Item) -> R + Sync) = &of;
        collected(self.map_init(make, of))
    }
}

impl<I: IndexedParallelIterator> Loops for I {}

/// Into a vector of the right length: `collect` would be compiled a second time for iterators of unknown length.
fn collected<R: Send>(items: impl IndexedParallelIterator<Item = R>) -> Vec<R> {
    let mut all = Vec::new();
    items.collect_into_vec(&mut all);
    all
}
