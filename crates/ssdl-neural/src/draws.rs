//! Random numbers for nets: from our own streams, since the seed of the tensor library is one for the
//! whole process.

use rand::RngExt;
use rayon::prelude::*;
use ssdl::random::{self, Purpose};

/// Draws of one part; each part has a stream of its own, so parts may run side by side.
const PART: usize = 8192;

/// `count` draws from the normal distribution with this standard deviation; `turn` counts the calls.
///
/// The same for any number of threads.
pub(crate) fn normals(
    seed: u64,
    purpose: Purpose,
    turn: u32,
    count: usize,
    deviation: f64,
) -> Vec<f32> {
    let mut values = vec![0.0; count];
    // Box–Muller, both of the pair.
    fill(&mut values, seed, purpose, turn, |rng, pair| {
        let radius = deviation * (-2.0 * (1.0 - rng.random::<f64>()).ln()).sqrt();
        let (sin, cos) = (std::f64::consts::TAU * rng.random::<f64>()).sin_cos();
        pair.iter_mut().zip([cos, sin]).for_each(|(value, of)| *value = (radius * of) as f32);
    });
    values
}

/// `count` draws between the negative and the positive bound.
pub(crate) fn uniforms(
    seed: u64,
    purpose: Purpose,
    turn: u32,
    count: usize,
    bound: f64,
) -> Vec<f32> {
    let mut values = vec![0.0; count];
    fill(&mut values, seed, purpose, turn, |rng, pair| {
        pair.iter_mut().for_each(|v| *v = (bound * (2.0 * rng.random::<f64>() - 1.0)) as f32);
    });
    values
}

/// `count` factors that are zero with probability `share`, and make up for it otherwise.
pub(crate) fn dropout(seed: u64, turn: u32, count: usize, share: f64) -> Vec<f32> {
    let kept = (1.0 / (1.0 - share)) as f32;
    let mut values = vec![0.0; count];
    fill(&mut values, seed, Purpose::Dropout, turn, |rng, pair| {
        for value in pair {
            *value = if rng.random::<f64>() < share { 0.0 } else { kept };
        }
    });
    values
}

fn fill(
    values: &mut [f32],
    seed: u64,
    purpose: Purpose,
    turn: u32,
    draw: impl Fn(&mut dyn rand::Rng, &mut [f32]) + Sync,
) {
    // Streams are numbered by the turn and the part; 2¹² parts are 33 million draws.
    values.par_chunks_mut(PART).enumerate().for_each(|(part, values)| {
        let place = turn.wrapping_shl(12) ^ part as u32;
        let mut rng = random::substream(seed, purpose, place);
        values.chunks_mut(2).for_each(|pair| draw(&mut rng, pair));
    });
}

/// The numbers below `count` in random order.
pub(crate) fn order(seed: u64, turn: u32, count: usize) -> Vec<usize> {
    let mut order: Vec<usize> = (0..count).collect();
    random::shuffle(&mut order, &mut random::substream(seed, Purpose::Batches, turn));
    order
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn draws_repeat_on_any_number_of_threads_and_differ_by_turn() {
        let draw = |turn| normals(3, Purpose::Noise, turn, 40_001, 0.5);
        let once = draw(1);
        for threads in [1, 3] {
            assert_eq!(ssdl::threads::run(threads, || draw(1)), once);
        }
        assert_ne!(draw(2), once);
        let square = once.iter().map(|v| f64::from(v * v)).sum::<f64>() / once.len() as f64;
        assert!((square - 0.25).abs() < 0.01, "{square}");
    }

    #[test]
    fn dropout_keeps_the_mean() {
        let factors = dropout(1, 0, 20_000, 0.25);
        let mean = factors.iter().sum::<f32>() / factors.len() as f32;
        assert!((mean - 1.0).abs() < 0.02, "{mean}");
        assert!(factors.contains(&0.0));
        assert!(dropout(1, 0, 100, 0.0).iter().all(|f| *f == 1.0));
    }

    #[test]
    fn orders_are_permutations() {
        let mut found = order(5, 7, 100);
        assert_ne!(found, (0..100).collect::<Vec<_>>());
        found.sort_unstable();
        assert_eq!(found, (0..100).collect::<Vec<_>>());
    }
}
