//! Small data sets in files, and a monitor.

use std::fmt::Write as _;
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};

use ssdl::random::{Purpose, normal, stream};
use ssdl_experiments::Monitor;

/// Three clouds in eight dimensions that take turns, label first, `count` lines of text.
pub fn write_clouds(path: &Path, count: usize, seed: u64) {
    let mut rng = stream(7, Purpose::Split);
    let centres: Vec<Vec<f64>> =
        (0..3).map(|_| (0..8).map(|_| 2.0 * normal(&mut rng)).collect()).collect();
    let mut rng = stream(seed, Purpose::Noise);
    let mut text = String::new();
    for line in 0..count {
        let class = line % 3;
        write!(text, "{class}").unwrap();
        for centre in &centres[class] {
            write!(text, " {:.4}", (centre + 0.8 * normal(&mut rng)) / 10.0).unwrap();
        }
        text.push('\n');
    }
    std::fs::write(path, text).unwrap();
}

/// Counts the fits, and stops after `stop_after`.
pub struct Counter {
    pub seen: AtomicUsize,
    pub stop_after: usize,
}

impl Counter {
    pub fn new(stop_after: usize) -> Self {
        Self { seen: AtomicUsize::new(0), stop_after }
    }
}

impl Monitor for Counter {
    fn done(&self, _: usize, _: usize, _: &str) {
        self.seen.fetch_add(1, Ordering::SeqCst);
    }

    fn stop(&self) -> bool {
        self.seen.load(Ordering::SeqCst) > self.stop_after
    }
}
