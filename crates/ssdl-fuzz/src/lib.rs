//! Damaged and made-up inputs for everything that reads: no input may crash it, hang it or make it take
//! much memory.
//!
//! An input is a sound one, [mutated](mutate) by a seed. Each [`Target`] is one reader.

mod mutate;
mod seeds;
mod targets;

pub use mutate::{Dice, mutated};
pub use targets::{Target, all};

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::{Duration, Instant};

/// What a number of runs came to.
#[derive(Clone, Debug, Default)]
pub struct Tally {
    /// Runs.
    pub runs: u64,
    /// Inputs that were accepted; the others were refused.
    pub accepted: u64,
    /// The longest run.
    pub longest: Duration,
    /// Inputs that made the reader panic.
    pub crashes: Vec<Vec<u8>>,
}

/// Runs a target with one input; the input is kept if it panics.
pub fn once(target: &Target, input: &[u8], tally: &mut Tally) {
    let started = Instant::now();
    let ended = catch_unwind(AssertUnwindSafe(|| target.run(input)));
    tally.longest = tally.longest.max(started.elapsed());
    tally.runs += 1;
    match ended {
        Ok(accepted) => tally.accepted += u64::from(accepted),
        Err(_) => tally.crashes.push(input.to_vec()),
    }
}
