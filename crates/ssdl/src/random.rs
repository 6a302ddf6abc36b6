//! Seeded random streams, one per purpose, the same for any number of threads.

use chacha20::ChaCha8Rng;
use rand::{Rng, RngExt, SeedableRng};

/// What a stream of random numbers is for; each purpose has its own, so adding draws to one does
/// not change another.
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
    /// The order in which dual variables are visited.
    Order = 5,
    /// Which samples are held out together in a cross-validation.
    Folds = 6,
    /// Which samples are mixed into atoms where there are too few.
    Mixtures = 7,
    /// Noise that an experiment or a net adds to samples.
    Noise = 8,
    /// The first weights of a net.
    Weights = 9,
    /// Which units of a net are left out of a step.
    Dropout = 10,
    /// What each tree of a forest sees.
    Trees = 11,
    /// The settings that a search tries.
    Settings = 12,
}

/// The stream of `purpose` for `seed`.
#[must_use]
pub fn stream(seed: u64, purpose: Purpose) -> impl Rng {
    substream(seed, purpose, 0)
}

/// A separate stream for each `part` of a purpose, so that parts may run side by side; part 0 is
/// the [`stream`] itself.
#[must_use]
pub fn substream(seed: u64, purpose: Purpose, part: u32) -> impl Rng {
    let mut generator = ChaCha8Rng::seed_from_u64(seed);
    generator.set_stream(u64::from(part) << 32 | purpose as u64);
    generator
}

/// A random number for each place, without a stream: a hash of a purpose and two coordinates.
pub(crate) fn place(purpose: u64, first: u64, second: u64) -> u64 {
    let mix = |value: u64| {
        let z = value.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    };
    mix(mix(mix(purpose) ^ first) ^ second)
}

/// Shuffles in place (Fisher–Yates).
pub fn shuffle<E>(items: &mut [E], rng: &mut impl Rng) {
    for i in (1..items.len()).rev() {
        items.swap(i, rng.random_range(0..=i));
    }
}

/// One draw between 0 and 1, without 1.
pub fn uniform(rng: &mut impl Rng) -> f64 {
    rng.random()
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
        let part = |part| substream(7, Purpose::Atoms, part).random::<u64>();
        assert_eq!(draw(Purpose::Atoms), part(0));
        assert_ne!(part(1), part(2));
        assert_ne!(part(1), part(0));
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
