//! Decisions on their way into a file and back; nothing in a file is trusted.

use std::borrow::Cow;

use serde::{Deserialize, Serialize};

use super::{Decision, Kind};
use crate::classifier::forest::{Forest, SavedForest};
use crate::classifier::kernel::{KernelClassifier, SavedKernel};
use crate::classifier::mixture::{self, SavedMember};
use crate::classifier::{LinearClassifier, Residual, Vote, Voters};
use crate::graph::Attachment;
use crate::stored::{Source, Stored};
use crate::{Labels, Real, Result};

/// A decision in the header of a model file; its numbers are stored beside the header.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(tag = "by", rename_all = "kebab-case")]
pub(crate) enum SavedDecision {
    Linear {
        sharpness: f64,
    },
    Softmax,
    Vote {
        voters: Voters,
        /// Whether votes count differently.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        weighted: bool,
    },
    Forest(SavedForest),
    Kernel(SavedKernel),
    Residual {
        sharpness: f64,
        class_of_atoms: Vec<Option<usize>>,
        #[serde(default)]
        cost: f64,
    },
    Mixture {
        members: Vec<SavedMember>,
    },
}

impl<T: Real> Decision<T> {
    /// The part for the header.
    pub(crate) fn saved(&self) -> SavedDecision {
        match &self.0 {
            Kind::Linear { sharpness, .. } => SavedDecision::Linear { sharpness: *sharpness },
            Kind::Softmax(_) => SavedDecision::Softmax,
            Kind::Vote(vote) => {
                SavedDecision::Vote { voters: vote.voters, weighted: vote.weights.is_some() }
            }
            Kind::Forest(forest) => SavedDecision::Forest(forest.saved()),
            Kind::Kernel(kernel) => SavedDecision::Kernel(kernel.saved()),
            Kind::Residual(residual) => SavedDecision::Residual {
                sharpness: residual.sharpness,
                class_of_atoms: residual.class_of_atoms.clone(),
                cost: residual.cost,
            },
            Kind::Mixture(members) => SavedDecision::Mixture { members: mixture::saved(members) },
        }
    }

    /// The numbers.
    pub(crate) fn stored(&self) -> Vec<(&'static str, Stored<'_, T>)> {
        match &self.0 {
            Kind::Linear { classifier, .. } | Kind::Softmax(classifier) => vec![
                ("weights", Stored::Matrix(Cow::Borrowed(&classifier.weights))),
                ("bias", Stored::List(&classifier.bias)),
            ],
            Kind::Vote(vote) => {
                let shares = ("shares", Stored::Matrix(Cow::Borrowed(&vote.shares)));
                let weights = vote.weights.iter().map(|list| ("vote_weights", Stored::List(list)));
                std::iter::once(shares).chain(weights).collect()
            }
            Kind::Forest(forest) => forest.stored(),
            Kind::Kernel(kernel) => kernel.stored(),
            Kind::Residual(_) => Vec::new(),
            Kind::Mixture(members) => mixture::stored(members),
        }
    }

    /// From a file whose header holds `saved`, for codes of $p$ coefficients (`None`: no atoms).
    pub(crate) fn restore(
        saved: &SavedDecision,
        source: &dyn Source<T>,
        labels: &Labels,
        (n_atoms, n_codes, n_prepared): (Option<usize>, usize, usize),
        attachment: impl FnOnce(usize) -> Result<Attachment<T>>,
    ) -> Result<Self> {
        let n_classes = labels.classes().len();
        let sound = |sharpness: f64| {
            let fits = sharpness.is_finite() && sharpness >= 1.0;
            fits.then_some(sharpness).ok_or_else(|| source.refuse("its sharpness is out of range"))
        };
        match saved {
            SavedDecision::Linear { sharpness } => {
                let sharpness = sound(*sharpness)?;
                let weights = source.matrix("weights", n_codes, n_classes)?;
                let bias = source.list("bias", n_classes)?;
                Ok(Self::linear(LinearClassifier { weights, bias }, sharpness))
            }
            SavedDecision::Softmax => {
                let weights = source.matrix("weights", n_codes, n_classes)?;
                let bias = source.list("bias", n_classes)?;
                Ok(Self::softmax(LinearClassifier { weights, bias }))
            }
            SavedDecision::Vote { .. } if n_atoms.is_some() => {
                Err(source.refuse("it has atoms, but its samples vote"))
            }
            SavedDecision::Forest(_) if n_atoms.is_some() => {
                Err(source.refuse("it has atoms, but its trees decide"))
            }
            SavedDecision::Kernel(_) if n_atoms.is_some() => {
                Err(source.refuse("it has atoms, but distances decide"))
            }
            SavedDecision::Kernel(saved) => {
                KernelClassifier::restore(*saved, source, labels, n_prepared).map(Self::kernel)
            }
            SavedDecision::Forest(saved) => {
                Forest::restore(*saved, source, labels, n_prepared).map(Self::forest)
            }
            SavedDecision::Vote { voters, weighted } => {
                let kind = (*voters, *weighted);
                Vote::restore(kind, source, labels, attachment).map(Self::vote)
            }
            SavedDecision::Mixture { members } => {
                mixture::restore(members, source, labels, (n_codes, n_prepared)).map(Self::mixture)
            }
            SavedDecision::Residual { sharpness, class_of_atoms, cost } => {
                let (sharpness, cost) = (sound(*sharpness)?, *cost);
                if !(cost.is_finite() && cost >= 0.0) {
                    return Err(source.refuse("its cost of codes is out of range"));
                }
                if n_atoms != Some(class_of_atoms.len()) {
                    return Err(source.refuse("its classes of atoms do not match its atoms"));
                }
                if class_of_atoms.iter().flatten().any(|&class| class >= n_classes) {
                    return Err(source.refuse("an atom belongs to a class that it does not name"));
                }
                let class_of_atoms = class_of_atoms.clone();
                Ok(Self::residual(Residual { class_of_atoms, n_classes, sharpness, cost }))
            }
        }
    }
}
