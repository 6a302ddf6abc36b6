//! What a part knows while labels spread.

use super::message::Rule;
use crate::classifier::diffusion::{Solving, System};
use crate::fit::parts::{Reader, Writer, damaged};
use crate::{Matrix, Real, Result};

/// Everything of a part's samples that the steps change.
pub(super) enum State<T> {
    /// Before the system: of each sample the root of its degree, its class from 1 (0 for none), and whether a label
    /// reaches it (1).
    Gathered { rule: Rule, facts: Matrix<f64> },
    /// The system, and the roots of own samples and halo.
    Solving { rule: Rule, roots: Vec<f64>, solving: Box<Solving>, refines: bool },
    /// $C\times m$: the end, and the samples that no label reaches.
    Shares { shares: Matrix<T>, unreached: Vec<u32> },
}

impl<T: Real> State<T> {
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut out = Writer::new();
        match self {
            Self::Gathered { rule, facts } => {
                out.count(0);
                out.matrix(facts);
                rule.write(&mut out);
            }
            Self::Solving { rule, roots, solving, refines } => {
                out.count(1);
                // What other parts ask for comes first.
                out.matrix(if *refines { &solving.found } else { &solving.residual });
                out.matrix(if *refines { &solving.residual } else { &solving.found });
                out.flag(*refines);
                out.matrix(&solving.direction);
                out.matrix(&solving.image);
                out.sparse(&solving.system.matrix);
                out.number(solving.system.factor);
                out.matrix(&solving.system.rhs);
                out.list(roots);
                rule.write(&mut out);
            }
            Self::Shares { shares, unreached } => {
                out.count(2);
                out.matrix(shares);
                out.list(unreached);
            }
        }
        out.into_bytes()
    }

    pub fn from_bytes(bytes: &[u8]) -> Result<Self> {
        let mut from = Reader::new(bytes);
        Ok(match from.count()? {
            0 => Self::Gathered { facts: from.matrix()?, rule: Rule::read(&mut from)? },
            1 => {
                let (shown, other, refines) = (from.matrix()?, from.matrix()?, from.flag()?);
                let (found, residual) = if refines { (shown, other) } else { (other, shown) };
                let (direction, image) = (from.matrix()?, from.matrix()?);
                let (matrix, factor) = (from.sparse()?, from.number()?);
                let system = System { matrix, factor, rhs: from.matrix()? };
                let solving = Box::new(Solving { system, found, residual, direction, image });
                let roots = from.list()?;
                Self::Solving { rule: Rule::read(&mut from)?, roots, solving, refines }
            }
            2 => Self::Shares { shares: from.matrix()?, unreached: from.list()? },
            _ => return Err(damaged()),
        })
    }

    /// What other parts may need, a column for each sample: facts, residuals or scores.
    pub fn shown(bytes: &[u8]) -> Result<Matrix<f64>> {
        let mut from = Reader::new(bytes);
        if from.count()? > 1 { Err(damaged()) } else { from.matrix() }
    }
}
