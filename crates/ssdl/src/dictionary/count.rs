//! How many atoms: a number, or what the samples suggest.

use crate::knobs::KnobValue;

/// Atoms where the samples have enough features: the paper's number on USPS and MNIST.
const MAX_ATOMS: usize = 200;
/// Minimum number of atoms per class: with fewer, codes are hardly more than rotated samples.
const MIN_PER_CLASS: usize = 10;

/// The number of atoms of a dictionary.
///
/// With many more atoms than features, samples of one class need not share any, and from few labels
/// the classifier then learns little about the others: on tables of 4 to 64 features `auto` gets ten
/// more of a hundred samples right than 200 atoms do, and 45 more on one table (docs/results.md).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AtomCount {
    /// One per prepared feature or ten per class, whichever is more, at most 200; written
    /// `auto`.
    Auto,
    /// This number.
    Exactly(usize),
}

impl AtomCount {
    /// The number for samples with these counts of features and classes.
    #[must_use]
    pub fn resolve(self, n_features: usize, n_classes: usize) -> usize {
        match self {
            Self::Auto => n_features.max(n_classes.saturating_mul(MIN_PER_CLASS)).min(MAX_ATOMS),
            Self::Exactly(count) => count,
        }
    }
}

impl From<usize> for AtomCount {
    fn from(count: usize) -> Self {
        Self::Exactly(count)
    }
}

impl KnobValue for AtomCount {
    type Given = usize;
    fn given(value: usize) -> Self {
        Self::Exactly(value)
    }
    fn read(text: &str) -> Option<Self> {
        match text {
            "auto" => Some(Self::Auto),
            _ => usize::read(text).map(Self::Exactly),
        }
    }
    fn text(self) -> String {
        match self {
            Self::Auto => "auto".into(),
            Self::Exactly(count) => count.to_string(),
        }
    }
    fn number(self) -> Option<f64> {
        match self {
            Self::Auto => None,
            Self::Exactly(count) => Some(count as f64),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_are_read_and_written_and_follow_the_features() {
        assert_eq!(AtomCount::read("auto"), Some(AtomCount::Auto));
        assert_eq!(AtomCount::read("12"), Some(AtomCount::Exactly(12)));
        assert_eq!(AtomCount::read("some"), None);
        for count in [AtomCount::Auto, AtomCount::Exactly(7)] {
            assert_eq!(AtomCount::read(&count.text()), Some(count));
        }
        let on = [(1, 2), (13, 3), (64, 3), (64, 10), (784, 3), (9, 99)];
        let on = on.map(|(n_features, n_classes)| AtomCount::Auto.resolve(n_features, n_classes));
        assert_eq!(on, [20, 30, 64, 100, 200, 200]);
        assert_eq!(AtomCount::Exactly(500).resolve(13, 3), 500);
    }
}
