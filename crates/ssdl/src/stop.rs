//! Ending long work early: what an observer asks for reaches the loops inside a step.
//!
//! Before a fit has its first model there is nothing to keep, so that its loops (the neighbour search,
//! the first codes) leave off as soon as the observer's signal is set. What they return then is not
//! used: [`Turns`](crate::fit::Turns) ends the fit. From the first model on every step is completed.

use std::cell::RefCell;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// Set by an observer to end a fit.
pub type Signal = Arc<AtomicBool>;

thread_local! {
    /// The signal of the fit that this thread is at, until there is a model.
    static ARMED: RefCell<Option<Signal>> = const { RefCell::new(None) };
}

/// What loops take along into other threads.
pub(crate) struct Armed(Option<Signal>);

impl Armed {
    /// Whether to leave off.
    pub fn is_set(&self) -> bool {
        self.0.as_ref().is_some_and(|signal| signal.load(Ordering::Relaxed))
    }
}

/// The signal that loops of this thread obey.
pub(crate) fn armed() -> Armed {
    Armed(ARMED.with_borrow(Clone::clone))
}

/// Runs work whose loops obey the signal.
pub(crate) fn arm<R>(signal: Option<Signal>, work: impl FnOnce() -> R) -> R {
    /// Puts the signal back that was there before, after a panic too.
    struct Restore(Option<Signal>);
    impl Drop for Restore {
        fn drop(&mut self) {
            ARMED.set(self.0.take());
        }
    }
    let _restore = Restore(ARMED.replace(signal));
    work()
}

/// From here on loops are completed: there is a model to keep.
pub(crate) fn disarm() {
    ARMED.set(None);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_signal_is_obeyed_only_where_it_is_armed() {
        let signal = Signal::default();
        signal.store(true, Ordering::Relaxed);
        assert!(!armed().is_set());
        arm(Some(signal.clone()), || {
            assert!(armed().is_set());
            // A fit within this one, by another thread's work that this one took over.
            arm(None, || assert!(!armed().is_set()));
            assert!(armed().is_set());
            disarm();
            assert!(!armed().is_set());
        });
        assert!(!armed().is_set());
    }
}
