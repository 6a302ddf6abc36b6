//! The class shares that are expected among unlabelled samples.

use crate::knobs::KnobValue;
use crate::samples::Labels;
use crate::{Error, Result};

/// Expected class shares.
// Knobs are copied as they are, so the numbers cannot live behind a pointer.
#[allow(clippy::large_enum_variant)]
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Prior {
    /// As a classifier sees them that was fitted to the labels with all classes counting alike;
    /// written `estimated`.
    Estimated,
    /// The same votes, corrected by how the classifier errs on labels that it has not seen, as far as the labels
    /// prove it; written `recounted`.
    Recounted,
    /// All classes that have a label alike; written `even`.
    Even,
    /// As among the labels, which is right where these were drawn at random; written `labelled`.
    Labelled,
    /// These, in the order of the class names; only their ratios count.
    Given(Numbers),
}

/// A few numbers in the order in which they are given.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Numbers {
    values: [f64; Self::LONGEST],
    len: usize,
}

impl Numbers {
    /// Maximum number of classes that can be given by number.
    pub const LONGEST: usize = 32;

    /// Takes one to 32 numbers.
    #[must_use]
    pub fn new(numbers: &[f64]) -> Option<Self> {
        if numbers.is_empty() || numbers.len() > Self::LONGEST {
            return None;
        }
        let mut values = [0.0; Self::LONGEST];
        values[..numbers.len()].copy_from_slice(numbers);
        Some(Self { values, len: numbers.len() })
    }

    /// The numbers.
    #[must_use]
    pub fn values(&self) -> &[f64] {
        &self.values[..self.len]
    }
}

impl Prior {
    /// The words that a prior may be.
    pub const WORDS: &'static [&'static str] = &["estimated", "recounted", "even", "labelled"];

    /// The expected share of each class; they sum to one. Even until they are estimated.
    ///
    /// # Errors
    /// If numbers are given, but not one per class.
    pub fn shares(&self, labels: &Labels) -> Result<Vec<f64>> {
        let counts = labels.counts();
        let raw: Vec<f64> = match self {
            Self::Even | Self::Estimated | Self::Recounted => {
                counts.iter().map(|&n| f64::from(u8::from(n > 0))).collect()
            }
            Self::Labelled => counts.iter().map(|&n| n as f64).collect(),
            Self::Given(numbers) if numbers.len == counts.len() => numbers.values().to_vec(),
            Self::Given(_) => {
                return Err(Error::Knob {
                    name: "prior".into(),
                    got: self.text(),
                    allowed: format!("one number per class, {} in all", counts.len()),
                });
            }
        };
        let sum: f64 = raw.iter().sum();
        Ok(raw.into_iter().map(|share| share / sum).collect())
    }
}

impl KnobValue for Prior {
    type Given = Self;
    fn given(value: Self) -> Self {
        value
    }
    fn read(text: &str) -> Option<Self> {
        match text {
            "estimated" => Some(Self::Estimated),
            "recounted" => Some(Self::Recounted),
            "even" => Some(Self::Even),
            "labelled" => Some(Self::Labelled),
            _ => {
                let numbers: Option<Vec<f64>> =
                    text.split(',').map(|number| number.trim().parse().ok()).collect();
                Numbers::new(&numbers?).map(Self::Given)
            }
        }
    }
    fn text(self) -> String {
        match self {
            Self::Estimated => "estimated".into(),
            Self::Recounted => "recounted".into(),
            Self::Even => "even".into(),
            Self::Labelled => "labelled".into(),
            Self::Given(numbers) => {
                let words: Vec<String> = numbers.values().iter().map(f64::to_string).collect();
                words.join(",")
            }
        }
    }
    fn number(self) -> Option<f64> {
        let Self::Given(numbers) = self else { return None };
        // The smallest, which leaves a range first; a sum beyond all numbers leaves it, too.
        let is_sound = numbers.values().iter().sum::<f64>().is_finite();
        let least = numbers.values().iter().copied().fold(f64::INFINITY, f64::min);
        Some(if is_sound { least } else { f64::NAN })
    }
}
