//! What a part knows in the middle of a fit.

use super::wire::{Reader, Writer, damaged};
use crate::classifier::{Active, Balance, Ballot, Shares};
use crate::codes::Weight;
use crate::sparse::Csr;
use crate::{Matrix, Real, Result};

/// How votes count: the same for all parts.
#[derive(Clone, Debug)]
pub(super) struct VoteRule<T> {
    /// The weight of a label of each class.
    pub of_label: Vec<T>,
    /// The weight of an unlabelled sample's vote.
    pub vote: T,
    pub balance: Balance,
    /// $r$.
    pub sharpness: f64,
}

impl<T: Real> VoteRule<T> {
    /// The ballot of these samples; each counts as much as its own weight says, if there are such.
    pub fn ballot(&self, assigned: &[Option<usize>], own: Option<&[T]>) -> Ballot<T> {
        let weight = |class: &Option<usize>| class.map_or(self.vote, |class| self.of_label[class]);
        let mut weights: Vec<T> = assigned.iter().map(weight).collect();
        if let Some(own) = own {
            weights.iter_mut().zip(own).for_each(|(weight, own)| *weight *= *own);
        }
        Ballot::of_parts(weights, self.balance.clone(), self.sharpness)
    }

    pub fn write(&self, out: &mut Writer) {
        out.list(&self.of_label);
        out.list(&[self.vote]);
        out.list(&self.balance.prior);
        out.number(self.balance.strength);
        out.number(self.sharpness);
    }

    pub fn read(from: &mut Reader<'_>) -> Result<Self> {
        let of_label = from.list()?;
        let vote: Vec<T> = from.list()?;
        let prior = from.list()?;
        Ok(Self {
            of_label,
            vote: *vote.first().ok_or_else(damaged)?,
            balance: Balance { prior, strength: from.number()? },
            sharpness: from.number()?,
        })
    }
}

/// Everything with a column for each of the part's samples that a fit changes.
pub(super) struct State<T> {
    /// $A$, $p\times m$.
    pub codes: Matrix<T>,
    /// Codes at the start of this iteration, without their zeros.
    pub start: Option<Csr<T>>,
    /// Codes before the last pass.
    pub before: Option<Csr<T>>,
    /// $W^\top A+b$.
    pub scores: Matrix<T>,
    pub rule: VoteRule<T>,
    pub shares: Shares<T>,
    /// The loss as a quadratic, while the classes act on the codes.
    pub active: Option<Active<T>>,
    /// The class of the highest score at the end of the last iteration.
    pub classes: Vec<u32>,
}

impl<T: Real> State<T> {
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut out = Writer::new();
        out.codes(&self.codes);
        out.optional(self.start.as_ref(), |out, codes| out.sparse(codes));
        out.optional(self.before.as_ref(), |out, codes| out.sparse(codes));
        out.matrix(&self.scores);
        self.rule.write(&mut out);
        out.matrix(&self.shares.of_class);
        out.list(&self.shares.total);
        out.optional(self.active.as_ref(), |out, active| {
            match &active.weight {
                Weight::Shared(weight) => {
                    out.flag(true);
                    out.list(weight);
                }
                Weight::PerClass(weight) => {
                    out.flag(false);
                    out.matrix(weight);
                }
            }
            out.matrix(&active.target);
            out.number(active.constant);
        });
        out.list(&self.classes);
        out.into_bytes()
    }

    pub fn from_bytes(bytes: &[u8]) -> Result<Self> {
        let mut from = Reader::new(bytes);
        Ok(Self {
            codes: from.sparse::<T>()?.to_columns(),
            start: from.optional(Reader::sparse)?,
            before: from.optional(Reader::sparse)?,
            scores: from.matrix()?,
            rule: VoteRule::read(&mut from)?,
            shares: Shares { of_class: from.matrix()?, total: from.list()? },
            active: from.optional(|from| {
                let weight = match from.flag()? {
                    true => Weight::Shared(from.list()?),
                    false => Weight::PerClass(from.matrix()?),
                };
                Ok(Active { weight, target: from.matrix()?, constant: from.number()? })
            })?,
            classes: from.list()?,
        })
    }

    /// The codes alone, without their zeros.
    pub fn codes_of(bytes: &[u8]) -> Result<Csr<T>> {
        Reader::new(bytes).sparse()
    }
}
