//! Seeded random streams, one per purpose, the same for any number of threads.

use rand::{Rng, RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

/// What a stream of random numbers is for; each purpose has its own, so adding draws to one does
/// not move another.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub enum Purpose {
    /// Which samples become the first atoms.
    Atoms = 1,
    /// The order of batches in the batch coder.
    Batches = 2,
    /// The entries of a random projection.
    Projection = 3,
    /// Which samples are labelled, unlabelled or held out.
    Split = 4,
}

/// The stream of `purpose` for `seed`.
#[must_use]
pub fn stream(seed: u64, purpose: Purpose) -> impl Rng {
    let mut generator = ChaCha8Rng::seed_from_u64(seed);
    generator.set_stream(purpose as u64);
    generator
}

/// Shuffles in place (Fisher–Yates).
pub fn shuffle<E>(items: &mut [E], rng: &mut impl Rng) {
    for i in (1..items.len()).rev() {
        items.swap(i, rng.random_range(0..=i));
    }
}

/// One draw from the standard normal distribution (Box–Muller, one of the pair).
pub fn normal(rng: &mut impl Rng) -> f64 {
    let radius = (-2.0 * (1.0 - rng.random::<f64>()).ln()).sqrt();
    radius * (std::f64::consts::TAU * rng.random::<f64>()).cos()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn streams_repeat_and_differ_by_purpose() {
        let draw = |purpose| stream(7, purpose).random::<u64>();
        assert_eq!(draw(Purpose::Atoms), draw(Purpose::Atoms));
        assert_ne!(draw(Purpose::Atoms), draw(Purpose::Batches));
    }

    #[test]
    fn normal_draws_have_the_right_moments() {
        let mut rng = stream(1, Purpose::Projection);
        let draws: Vec<f64> = (0..20_000).map(|_| normal(&mut rng)).collect();
        let mean = draws.iter().sum::<f64>() / draws.len() as f64;
        let square = draws.iter().map(|d| d * d).sum::<f64>() / draws.len() as f64;
        assert!(mean.abs() < 0.03 && (square - 1.0).abs() < 0.04, "{mean} {square}");
    }
}
