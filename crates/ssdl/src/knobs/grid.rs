//! A few numbers to choose among.

use super::KnobValue;

/// A few numbers to choose among, such as `0.1,1,10`; sorted, without repetition.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Grid {
    values: [f64; Self::LONGEST],
    len: usize,
}

impl Grid {
    /// Maximum number of values.
    pub const LONGEST: usize = 16;

    /// Takes one to sixteen numbers.
    #[must_use]
    pub fn new(numbers: &[f64]) -> Option<Self> {
        let mut sorted = numbers.to_vec();
        crate::order::ascending(&mut sorted);
        sorted.dedup();
        if sorted.is_empty() || sorted.len() > Self::LONGEST {
            return None;
        }
        let mut values = [0.0; Self::LONGEST];
        values[..sorted.len()].copy_from_slice(&sorted);
        Some(Self { values, len: sorted.len() })
    }

    /// Numbers that are already ascending, for defaults.
    pub(crate) const fn ascending<const N: usize>(numbers: [f64; N]) -> Self {
        let mut values = [0.0; Self::LONGEST];
        let mut at = 0;
        while at < N {
            values[at] = numbers[at];
            at += 1;
        }
        Self { values, len: N }
    }

    /// The numbers, ascending.
    #[must_use]
    pub fn values(&self) -> &[f64] {
        &self.values[..self.len]
    }
}

impl KnobValue for Grid {
    type Given = Self;
    fn given(value: Self) -> Self {
        value
    }
    fn read(text: &str) -> Option<Self> {
        let numbers: Option<Vec<f64>> = text.split(',').map(|v| v.trim().parse().ok()).collect();
        Self::new(&numbers?)
    }
    fn text(self) -> String {
        let words: Vec<String> = self.values().iter().map(f64::to_string).collect();
        words.join(",")
    }
    fn number(self) -> Option<f64> {
        // The smallest, which leaves a range first; NaN sorts last and is outside every range.
        let all_finite = self.values().iter().all(|v| v.is_finite());
        Some(if all_finite { self.values[0] } else { f64::NAN })
    }
}
