//! Which training samples a model keeps, so that new samples can be tied to them.

/// Samples up to which a model keeps all of them as they are if left to choose.
const ALL_UP_TO: usize = 20_000;
/// Landmarks that stand for all samples of a large fit.
const LANDMARKS: usize = 10_000;

crate::choice! {
    /// Which training samples a model keeps for its graph, and how precisely.
    pub enum KeptSamples {
        /// All of them up to 20,000 samples, landmarks beyond.
        Auto = "auto",
        /// All, in the precision of the fit.
        All = "all",
        /// All, in half precision: three digits.
        Half = "half",
        /// At most 10,000, evenly spaced, in half precision.
        Landmarks = "landmarks",
    }
}

impl KeptSamples {
    /// The places of the samples to keep (`None`: all), and whether in half precision.
    pub(crate) fn of(self, n_samples: usize) -> (Option<Vec<u32>>, bool) {
        match self {
            Self::Auto if n_samples > ALL_UP_TO => Self::Landmarks.of(n_samples),
            Self::Auto | Self::All => (None, false),
            Self::Half => (None, true),
            Self::Landmarks if n_samples <= LANDMARKS => (None, true),
            Self::Landmarks => {
                let place = |at: usize| (at * n_samples / LANDMARKS) as u32;
                (Some((0..LANDMARKS).map(place).collect()), true)
            }
        }
    }

    /// Whether the file of a fit of this size writes its codes without their zeros.
    pub(crate) fn are_codes_sparse(self, n_samples: usize) -> bool {
        match self {
            Self::Auto => n_samples > ALL_UP_TO,
            Self::All => false,
            Self::Half | Self::Landmarks => true,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn small_fits_keep_everything_and_large_ones_landmarks() {
        assert_eq!(KeptSamples::Auto.of(20_000), (None, false));
        let (landmarks, half) = KeptSamples::Auto.of(20_001);
        let landmarks = landmarks.expect("fewer than all");
        assert!(half && landmarks.len() == 10_000 && landmarks[9999] < 20_001);
        assert!(landmarks.windows(2).all(|pair| pair[0] < pair[1]));
        assert_eq!(KeptSamples::Half.of(50_000), (None, true));
        assert_eq!(KeptSamples::Landmarks.of(500), (None, true));
    }
}
