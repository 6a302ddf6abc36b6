//! A number, or `auto`: what the samples suggest.

use super::KnobValue;

/// A number that may be left to the samples.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum AutoOr {
    /// What the samples suggest; written `auto`.
    Auto,
    /// This number.
    Exactly(f64),
}

impl From<f64> for AutoOr {
    fn from(number: f64) -> Self {
        Self::Exactly(number)
    }
}

impl KnobValue for AutoOr {
    type Given = f64;
    fn given(value: f64) -> Self {
        Self::Exactly(value)
    }
    fn read(text: &str) -> Option<Self> {
        match text {
            "auto" => Some(Self::Auto),
            _ => f64::read(text).map(Self::Exactly),
        }
    }
    fn text(self) -> String {
        match self {
            Self::Auto => "auto".into(),
            Self::Exactly(number) => number.to_string(),
        }
    }
    fn number(self) -> Option<f64> {
        match self {
            Self::Auto => None,
            Self::Exactly(number) => Some(number),
        }
    }
}
