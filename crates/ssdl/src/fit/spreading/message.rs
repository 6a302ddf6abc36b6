//! The messages that a part is sent while labels spread.

use super::pairs::PairWeight;
use crate::fit::parts::{Reader, Writer, damaged};
use crate::{Matrix, Real, Result};

/// Numbers of the steps: no step of a part with codes has them.
const FIRST: usize = 100;

/// How labels count.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Rule {
    pub weight: PairWeight,
    /// α; `None` where given labels stay fixed.
    pub spreading: Option<f64>,
    /// How much a label of each class counts.
    pub of_classes: Vec<f64>,
}

/// A step; what it replies is written beside it.
pub(super) enum Step<T> {
    /// The least squared distance of a pair.
    Least,
    /// Weights and degrees. Nothing.
    Weigh(Rule),
    /// Follows paths from what a label reaches, here and in the halo. Whether any sample is new.
    Reach,
    /// Begins to solve. The squared norms of the residuals.
    Begin,
    /// New directions: their curvature.
    Turn { keep: Vec<f64> },
    /// Steps along them: the squared norms of the residuals.
    Advance { steps: Vec<f64> },
    /// Scores of at least zero. Nothing.
    Settle,
    /// A round of refinement. Whether it changed next to nothing.
    Refine { enough: f64 },
    /// The scores themselves, where labels stay fixed. Nothing.
    Unbalance,
    /// Scores become shares. Roughness, misfit, and how many samples no label reaches.
    Share,
    /// Samples that no label reaches follow the nearest of these. Nothing.
    Follow { known: Matrix<T>, classes: Vec<u32> },
    /// The shares of each class among unlabelled samples, scaled.
    ClassSums { factors: Vec<f64> },
    /// Shares of unlabelled samples are scaled. Nothing.
    Scale { factors: Vec<f64> },
    /// Of the samples that the model keeps: places, shares, squared radii.
    Kept,
}

impl<T: Real> Step<T> {
    /// Whether the state is another after it.
    pub fn changes(&self) -> bool {
        !matches!(self, Self::Least | Self::ClassSums { .. } | Self::Kept)
    }

    /// Whether parts need what others know of their halos for it.
    pub fn exchanges(&self) -> bool {
        let solves = matches!(self, Self::Begin | Self::Turn { .. } | Self::Refine { .. });
        solves || matches!(self, Self::Reach | Self::Share)
    }

    pub fn to_bytes(&self) -> Vec<u8> {
        let mut out = Writer::new();
        match self {
            Self::Least => out.count(FIRST),
            Self::Weigh(rule) => {
                out.count(FIRST + 1);
                rule.write(&mut out);
            }
            Self::Reach => out.count(FIRST + 2),
            Self::Begin => out.count(FIRST + 3),
            Self::Turn { keep } => {
                out.count(FIRST + 4);
                out.list(keep);
            }
            Self::Advance { steps } => {
                out.count(FIRST + 5);
                out.list(steps);
            }
            Self::Settle => out.count(FIRST + 6),
            Self::Refine { enough } => {
                out.count(FIRST + 7);
                out.number(*enough);
            }
            Self::Unbalance => out.count(FIRST + 8),
            Self::Share => out.count(FIRST + 9),
            Self::Follow { known, classes } => {
                out.count(FIRST + 10);
                out.matrix(known);
                out.list(classes);
            }
            Self::ClassSums { factors } => {
                out.count(FIRST + 11);
                out.list(factors);
            }
            Self::Scale { factors } => {
                out.count(FIRST + 12);
                out.list(factors);
            }
            Self::Kept => out.count(FIRST + 13),
        }
        out.into_bytes()
    }

    pub fn from_bytes(bytes: &[u8]) -> Result<Self> {
        let mut from = Reader::new(bytes);
        Ok(match from.count()?.checked_sub(FIRST).ok_or_else(damaged)? {
            0 => Self::Least,
            1 => Self::Weigh(Rule::read(&mut from)?),
            2 => Self::Reach,
            3 => Self::Begin,
            4 => Self::Turn { keep: from.list()? },
            5 => Self::Advance { steps: from.list()? },
            6 => Self::Settle,
            7 => Self::Refine { enough: from.number()? },
            8 => Self::Unbalance,
            9 => Self::Share,
            10 => Self::Follow { known: from.matrix()?, classes: from.list()? },
            11 => Self::ClassSums { factors: from.list()? },
            12 => Self::Scale { factors: from.list()? },
            13 => Self::Kept,
            _ => return Err(damaged()),
        })
    }
}

impl Rule {
    pub fn write(&self, out: &mut Writer) {
        let heat = match self.weight {
            PairWeight::One => None,
            PairWeight::Heat { width, shift } => Some([width, shift]),
        };
        out.optional(heat.as_ref(), |out, both| both.iter().for_each(|value| out.number(*value)));
        out.optional(self.spreading.as_ref(), |out, spreading| out.number(*spreading));
        out.list(&self.of_classes);
    }

    pub fn read(from: &mut Reader<'_>) -> Result<Self> {
        let heat = from.optional(|from| Ok((from.number()?, from.number()?)))?;
        let weight =
            heat.map_or(PairWeight::One, |(width, shift)| PairWeight::Heat { width, shift });
        Ok(Self { weight, spreading: from.optional(Reader::number)?, of_classes: from.list()? })
    }
}
