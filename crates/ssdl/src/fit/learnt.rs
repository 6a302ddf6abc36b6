//! What a method is given, and the one type of result that every method returns.

use std::path::Path;
use std::sync::{Arc, Mutex};

use serde::{Deserialize, Serialize};

use super::parts::Crew;
use super::{KeptSamples, Sizes, Stop};
use crate::classifier::{Calibration, Decision, Known, Verdict};
use crate::codes::Coder;
use crate::graph::{Attachment, Connected, Graph};
use crate::samples::weights::Weights;
use crate::samples::{Held, OnDisk};
use crate::{Labels, Matrix, Real, Result};

/// What a method learns from.
pub struct Given<'a, T> {
    /// Prepared samples, $n\times N$, which other fits may share; without a column where they are
    /// [`parked`](Given::parked).
    pub samples: Arc<Matrix<T>>,
    /// The samples in a file, with what was found while they were in memory.
    pub parked: Option<Parked<T>>,
    /// How long each sample was, where the last step of the preparation has made all of one length.
    pub lengths: Option<Vec<T>>,
    /// Their labels, where they have some; at least two classes.
    pub labels: Labels,
    /// How much each sample and each class counts in the classifier's loss; one each unless the user
    /// says otherwise.
    pub weights: Weights<T>,
    /// A graph to use instead of the method's own.
    pub graph: Option<&'a dyn Graph<T>>,
    /// Where to begin, from an earlier fit; its sizes may not fit.
    pub start: Option<&'a Start<T>>,
    /// Who carries all samples, if they lie in several parts: these are then the ones that the model keeps.
    pub crew: Option<&'a dyn Crew>,
    /// Seed of everything random.
    pub seed: u64,
}

/// Samples in a file instead of in memory.
#[derive(Debug)]
pub struct Parked<T> {
    /// $X$.
    pub samples: OnDisk<T>,
    /// $\lVert X\rVert^2$.
    pub energy: f64,
    /// The graph that the method uses; the fit takes it out.
    pub connected: Mutex<Option<Connected<T>>>,
}

impl<T: Real> Given<'_, T> {
    /// The prepared samples, wherever they are.
    #[must_use]
    pub fn held(&self) -> Held<'_, T> {
        self.parked.as_ref().map_or(Held::Memory(&self.samples), |it| Held::Disk(&it.samples))
    }

    /// $\lVert X\rVert^2$.
    #[must_use]
    pub fn energy(&self) -> f64 {
        self.parked.as_ref().map_or_else(|| self.samples.squared_norm(), |parked| parked.energy)
    }

    /// Writes the samples to a file in `folder` and frees their memory; `connected` is their graph.
    ///
    /// # Errors
    /// If the folder or the disk does not allow it.
    pub fn park(&mut self, folder: &Path, connected: Option<Connected<T>>) -> Result<()> {
        let energy = self.samples.squared_norm();
        let samples = OnDisk::write(&self.samples, folder)?;
        self.samples = Arc::new(Matrix::zeros(samples.rows(), 0));
        self.parked = Some(Parked { samples, energy, connected: Mutex::new(connected) });
        Ok(())
    }

    /// The sizes of the fit.
    #[must_use]
    pub fn sizes(&self) -> Sizes {
        Sizes {
            n_features: self.held().rows(),
            n_samples: self.held().columns(),
            n_labelled: self.labels.n_labelled(),
            n_classes: self.labels.classes().len(),
            scalar: size_of::<T>(),
            are_parked: self.parked.is_some(),
        }
    }

    /// The weights of the labelled samples, in their order.
    #[must_use]
    pub fn label_weights(&self) -> Vec<T> {
        self.labels.labelled().into_iter().map(|place| self.weights.of_samples[place]).collect()
    }

    /// The labelled samples, and the class of each.
    #[must_use]
    pub fn labelled(&self) -> (Matrix<T>, Vec<usize>) {
        (self.held().select(&self.labels.labelled()), self.labels.known_classes())
    }
}

/// Where an alternation begins: usually the end of an earlier one.
#[derive(Clone, Debug)]
pub struct Start<T> {
    /// $D$, $n\times p$; shrunk into the ball where an atom is too long.
    pub atoms: Matrix<T>,
    /// $A$, $p\times N$.
    pub codes: Matrix<T>,
}

/// What every method returns.
pub struct Learnt<T> {
    /// Atoms and codes; `None` where the prepared samples are classified as they are.
    pub dictionary: Option<Dictionary<T>>,
    /// How classes are decided.
    pub decision: Decision<T>,
    /// How new samples are tied to the training samples when they are coded.
    pub tie: Option<Tie<T>>,
    /// What cross-validation chose, where there was one.
    pub selection: Option<Selection>,
    /// How scores become probabilities, where the method knows already.
    pub calibration: Option<Calibration>,
    /// The methods that were compared, where there was a choice.
    pub compared: Vec<Compared>,
    /// Why the fit stopped.
    pub stop: Stop,
}

/// One of several methods that were compared by labels hidden from them.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Compared {
    /// Its name.
    pub method: String,
    /// Share of the hidden labels that it predicted right; `None` if none could be hidden.
    pub accuracy: Option<f64>,
    /// Mean of minus the logarithm of the probability of each hidden label.
    pub log_loss: Option<f64>,
    /// Its weight in the result; 0 if it has no part in it.
    pub weight: f64,
}

impl<T> Learnt<T> {
    /// What the fit found for its own samples, labelled ones included.
    #[must_use]
    pub fn verdict(&self, given: &Given<'_, T>) -> Verdict<T>
    where
        T: Real,
    {
        let dictionary = self.dictionary.as_ref();
        self.decision.of_training(&Known {
            atoms: dictionary.map(|found| &found.atoms),
            codes: dictionary.map_or(&given.samples, |found| &found.codes),
            samples: given.parked.is_none().then_some(&given.samples as _),
            labels: &given.labels,
        })
    }

    /// A decision alone; what else there is can be filled in.
    #[must_use]
    pub fn new(decision: Decision<T>, stop: Stop) -> Self {
        Self {
            dictionary: None,
            decision,
            tie: None,
            selection: None,
            calibration: None,
            compared: Vec::new(),
            stop,
        }
    }

    /// The result of a method without atoms.
    #[must_use]
    pub fn without_atoms(decision: Decision<T>, stop: Stop) -> Self {
        Self::new(decision, stop)
    }
}

/// Atoms, the codes of the training samples, and how new samples are coded.
pub struct Dictionary<T> {
    /// $D$, $n\times p$.
    pub atoms: Matrix<T>,
    /// $A$, $p\times N$.
    pub codes: Matrix<T>,
    /// How new samples are coded.
    pub coder: Coder,
    /// Atoms that no sample used at the last dictionary step.
    pub dead: usize,
    /// Atoms revived over the whole fit.
    pub revived: usize,
}

/// The graph's pull on new samples.
pub struct Tie<T> {
    /// β.
    pub manifold: f64,
    /// How a new sample joins the training samples.
    pub attachment: Attachment<T>,
    /// The reconstructions, where the graph was built from them instead of the training samples.
    pub reconstructions: Option<Matrix<T>>,
    /// Which training samples the model keeps for it.
    pub kept: KeptSamples,
}

/// What cross-validation chose.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Selection {
    /// The box constraint of the SVM.
    pub box_constraint: f64,
    /// Share of the held-out samples whose class was found with it; `None` if none could be held out.
    pub accuracy: Option<f64>,
}
