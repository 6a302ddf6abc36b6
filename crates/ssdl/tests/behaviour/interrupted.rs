//! A fit that is asked to stop before its first model: it leaves off in the middle of a step.

use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use crate::common::{noise, options};
use ssdl::fit::{Flow, Progress, Watch};
use ssdl::{Error, Labels, Samples, Signal, methods};

/// An observer that is asked to stop from elsewhere.
struct Asked(Signal);

impl Watch for Asked {
    fn step(&mut self, _: &Progress<'_>) -> Flow {
        if self.0.load(Ordering::Relaxed) { Flow::Stop } else { Flow::Continue }
    }

    fn signal(&self) -> Option<Signal> {
        Some(self.0.clone())
    }
}

fn many(n: usize) -> Samples<f32> {
    let mut names = vec![None; n];
    (names[0], names[1]) = (Some("a"), Some("b"));
    Samples::new(noise(64, n, 3), Labels::from_names(&names)).unwrap()
}

#[test]
fn a_fit_that_is_stopped_before_it_starts_returns_nothing() {
    for method in methods::all::<f32>() {
        let signal = Signal::default();
        signal.store(true, Ordering::Relaxed);
        let found = method.fit(&[], many(300), &options(), &mut Asked(signal));
        let name = method.describe().name;
        assert!(matches!(found, Err(Error::Cancelled)), "{name}: {found:?}");
    }
}

#[test]
fn the_neighbour_search_ends_within_half_a_second() {
    let method = methods::find::<f32>("ssdl-ga").unwrap();
    // A busy machine may be late once.
    let late = (0..3).map(|_| {
        let (samples, signal) = (many(8000), Signal::default());
        let set = signal.clone();
        let asked = std::thread::spawn(move || {
            std::thread::sleep(Duration::from_millis(150));
            set.store(true, Ordering::Relaxed);
            Instant::now()
        });
        let found = method.fit(&[], samples, &options(), &mut Asked(signal));
        assert!(matches!(found, Err(Error::Cancelled)), "{found:?}");
        asked.join().unwrap().elapsed()
    });
    assert!(late.into_iter().any(|late| late < Duration::from_millis(500)));
}
