//! How classes are decided: by linear scores (with or without a softmax), by votes of training samples (near ones, or
//! those in the same leaves of trees), by distances to labelled samples, or by class residuals.
//!
//! Only this folder knows the kinds of decision. A new one gets its own file beside
//! `vote.rs` and `residual.rs`, and its line in each method here and in `saved.rs`.

mod saved;

pub(crate) use self::saved::SavedDecision;
use super::forest::Forest;
use super::kernel::KernelClassifier;
use super::mixture::{self, Member};
use super::softmax::softmax;
use super::{LinearClassifier, Residual, SHARPNESS, Vote, memberships};
use crate::threads::Loops;
use crate::{Labels, Matrix, Real, Result};

/// A rule that assigns samples to classes.
#[derive(Clone, Debug, PartialEq)]
pub struct Decision<T>(Kind<T>);

#[derive(Clone, Debug, PartialEq)]
enum Kind<T> {
    Linear { classifier: LinearClassifier<T>, sharpness: f64 },
    Softmax(LinearClassifier<T>),
    Vote(Vote<T>),
    Forest(Forest<T>),
    Kernel(KernelClassifier<T>),
    Residual(Residual),
    Mixture(Vec<Member<T>>),
}

/// A matrix that is made when it is asked for, unless it is there already.
pub type Asked<'a, T> = &'a (dyn AsRef<Matrix<T>> + Sync);

/// What a model knows about its training samples.
#[derive(Clone, Copy)]
pub struct Known<'a, T> {
    /// $D$, $n\times p$; `None` without atoms.
    pub atoms: Option<&'a Matrix<T>>,
    /// Codes of the training samples, $p\times N$; the prepared samples without atoms.
    pub codes: Asked<'a, T>,
    /// The prepared training samples, $n\times N$, where the model keeps them.
    pub samples: Option<Asked<'a, T>>,
    /// Their labels.
    pub labels: &'a Labels,
}

/// Samples to be classified.
#[derive(Clone, Copy)]
pub struct Coded<'a, T> {
    /// Prepared, $n\times M$.
    pub samples: &'a Matrix<T>,
    /// Their codes, $p\times M$; the prepared samples without atoms.
    pub codes: &'a Matrix<T>,
    /// How long each was, where the last step of the preparation makes all of one length.
    pub lengths: Option<&'a [T]>,
}

/// Scores and probabilities of a set of samples.
#[derive(Clone, Debug, PartialEq)]
pub struct Verdict<T> {
    /// $C\times M$; the highest wins.
    pub scores: Matrix<T>,
    /// $C\times M$; every column sums to one.
    pub probabilities: Matrix<T>,
}

impl<T: Real> Decision<T> {
    /// By one linear score per class; `sharpness` ($r\ge1$) turns scores into probabilities.
    #[must_use]
    pub fn linear(classifier: LinearClassifier<T>, sharpness: f64) -> Self {
        Self(Kind::Linear { classifier, sharpness })
    }

    /// By one linear score per class, whose exponentials are in proportion to the probabilities.
    #[must_use]
    pub fn softmax(classifier: LinearClassifier<T>) -> Self {
        Self(Kind::Softmax(classifier))
    }

    /// By votes of training samples.
    #[must_use]
    pub fn vote(vote: Vote<T>) -> Self {
        Self(Kind::Vote(vote))
    }

    /// By votes of the training samples in the same leaves of trees.
    #[must_use]
    pub fn forest(forest: Forest<T>) -> Self {
        Self(Kind::Forest(forest))
    }

    /// By distances to labelled samples.
    #[must_use]
    pub fn kernel(kernel: KernelClassifier<T>) -> Self {
        Self(Kind::Kernel(kernel))
    }

    /// By how much of a sample the atoms of each class explain. The model must keep its training
    /// samples.
    #[must_use]
    pub fn residual(residual: Residual) -> Self {
        Self(Kind::Residual(residual))
    }

    /// By the mean of several. The model must keep its training samples.
    #[must_use]
    pub fn mixture(members: Vec<Member<T>>) -> Self {
        Self(Kind::Mixture(members))
    }

    /// The linear classifier, where that decides.
    #[must_use]
    pub fn classifier(&self) -> Option<&LinearClassifier<T>> {
        match &self.0 {
            Kind::Linear { classifier, .. } | Kind::Softmax(classifier) => Some(classifier),
            _ => None,
        }
    }

    /// How training samples vote, where they decide.
    #[must_use]
    pub fn voting(&self) -> Option<&Vote<T>> {
        match &self.0 {
            Kind::Vote(vote) => Some(vote),
            _ => None,
        }
    }

    /// The trees, where they decide.
    #[must_use]
    pub fn trees(&self) -> Option<&Forest<T>> {
        match &self.0 {
            Kind::Forest(forest) => Some(forest),
            _ => None,
        }
    }

    /// The scores by distances, where they decide.
    #[must_use]
    pub fn distances(&self) -> Option<&KernelClassifier<T>> {
        match &self.0 {
            Kind::Kernel(kernel) => Some(kernel),
            _ => None,
        }
    }

    /// Whether scores are shares of votes.
    #[must_use]
    pub fn gives_shares(&self) -> bool {
        matches!(self.0, Kind::Vote(_) | Kind::Forest(_))
    }

    /// The class of each atom, where their residuals decide.
    #[must_use]
    pub fn owners(&self) -> &[Option<usize>] {
        match &self.0 {
            Kind::Residual(residual) => &residual.class_of_atoms,
            _ => &[],
        }
    }

    /// $r$, which turns scores into probabilities; `None` where votes are probabilities already.
    #[must_use]
    pub fn sharpness(&self) -> Option<f64> {
        match &self.0 {
            Kind::Linear { sharpness, .. } => Some(*sharpness),
            Kind::Residual(residual) => Some(residual.sharpness),
            Kind::Kernel(_) => Some(SHARPNESS),
            Kind::Softmax(_) | Kind::Vote(_) | Kind::Forest(_) | Kind::Mixture(_) => None,
        }
    }

    /// Scores of samples whose codes are these, one after the other, where nothing but codes decides and they need
    /// not all be there at once; whether that is so.
    pub(crate) fn score_codes(&self, codes: &[T], scores: &mut [T]) -> bool {
        let (Kind::Linear { classifier, .. } | Kind::Softmax(classifier)) = &self.0 else {
            return false;
        };
        write_scores(classifier, codes, scores);
        true
    }

    /// The verdict on samples with these scores, from [`score_codes`](Decision::score_codes).
    pub(crate) fn of_scores(&self, scores: Matrix<T>) -> Option<Verdict<T>> {
        match &self.0 {
            Kind::Linear { sharpness, .. } => Some(of_linear_scores(scores, *sharpness)),
            Kind::Softmax(_) => Some(of_softmax_scores(scores)),
            _ => None,
        }
    }

    /// Whether the model must keep its training samples for [`Decision::of_training`].
    #[must_use]
    pub fn needs_samples(&self) -> bool {
        matches!(self.0, Kind::Residual(_) | Kind::Mixture(_))
    }

    /// Classifies new samples, each independently of the others.
    ///
    /// # Errors
    /// If the votes on a new sample cannot be found, which can happen only with a learnt graph.
    pub fn judge(&self, known: &Known<'_, T>, new: &Coded<'_, T>) -> Result<Verdict<T>> {
        Ok(match &self.0 {
            Kind::Linear { classifier, sharpness } => {
                judge_linearly(classifier, *sharpness, new.codes)
            }
            Kind::Softmax(classifier) => judge_by_softmax(classifier, new.codes),
            Kind::Vote(vote) => {
                Verdict::of_shares(vote.judge(known.codes.as_ref(), known.labels, new.codes)?)
            }
            Kind::Forest(forest) => {
                let n_classes = known.labels.classes().len();
                Verdict::of_shares(forest.judge(n_classes, new.codes, new.lengths))
            }
            Kind::Kernel(kernel) => Verdict::of_scores(kernel.scores(new.codes, new.lengths)),
            Kind::Residual(residual) => residual.judge(known.atoms, new),
            Kind::Mixture(members) => mixture::judge(members, known, new)?,
        })
    }

    /// What the fit itself found for the training samples, labelled ones included.
    #[must_use]
    pub fn of_training(&self, known: &Known<'_, T>) -> Verdict<T> {
        match &self.0 {
            Kind::Linear { classifier, sharpness } => {
                judge_linearly(classifier, *sharpness, known.codes.as_ref())
            }
            Kind::Softmax(classifier) => judge_by_softmax(classifier, known.codes.as_ref()),
            Kind::Vote(vote) => Verdict::of_shares(vote.shares.clone()),
            Kind::Forest(forest) => {
                let n_classes = known.labels.classes().len();
                Verdict::of_shares(forest.of_training(n_classes, known.codes.as_ref()))
            }
            Kind::Kernel(kernel) => Verdict::of_scores(kernel.of_training(known.codes.as_ref())),
            Kind::Residual(residual) => {
                let samples = known.samples.unwrap_or(known.codes).as_ref();
                let codes = known.codes.as_ref();
                residual.judge(known.atoms, &Coded { samples, codes, lengths: None })
            }
            Kind::Mixture(members) => mixture::of_training(members, known),
        }
    }

    /// What one atom (one feature, without atoms) adds to the score of each class in a sample, given as
    /// its prepared features and its code; empty where training samples vote, distances or several decide. The votes of all atoms
    /// and the bias sum to the scores.
    #[must_use]
    pub fn votes(&self, known: &Known<'_, T>, sample: (&[T], &[T]), atom: usize) -> Vec<T> {
        match &self.0 {
            Kind::Linear { classifier, .. } | Kind::Softmax(classifier) => {
                classifier.weights.iter_columns().map(|w| sample.1[atom] * w[atom]).collect()
            }
            Kind::Vote(_) | Kind::Forest(_) | Kind::Kernel(_) | Kind::Mixture(_) => Vec::new(),
            Kind::Residual(residual) => residual.votes(known.atoms, sample, atom),
        }
    }

    /// The class that each atom (each feature, without atoms) supports most, and how strongly; empty
    /// where training samples vote, and none where trees or distances decide.
    #[must_use]
    pub fn class_of_atoms(&self) -> Vec<Option<(usize, f64)>> {
        match &self.0 {
            Kind::Linear { classifier, .. } | Kind::Softmax(classifier) => {
                classifier.class_of_weights()
            }
            Kind::Mixture(members) => {
                mixture::on_codes(members).map_or_else(Vec::new, LinearClassifier::class_of_weights)
            }
            Kind::Vote(_) => Vec::new(),
            Kind::Forest(forest) => vec![None; forest.n_features()],
            Kind::Kernel(kernel) => vec![None; kernel.n_features()],
            Kind::Residual(residual) => {
                residual.class_of_atoms.iter().map(|class| class.map(|c| (c, 1.0))).collect()
            }
        }
    }
}

impl<T: Real> Verdict<T> {
    /// Shares of the classes are both scores and probabilities.
    pub(super) fn of_shares(shares: Matrix<T>) -> Self {
        Self { probabilities: shares.clone(), scores: shares }
    }

    /// Memberships of scores that have no sharpness of their own.
    pub(super) fn of_scores(scores: Matrix<T>) -> Self {
        Self { probabilities: memberships(&scores, SHARPNESS), scores }
    }
}

/// One width for every product: a sample gets the same bits alone and in any batch.
fn linear_scores<T: Real>(classifier: &LinearClassifier<T>, codes: &Matrix<T>) -> Matrix<T> {
    let mut scores = Matrix::zeros(classifier.bias.len(), codes.columns());
    write_scores(classifier, codes.as_slice(), scores.as_mut_slice());
    scores
}

/// Scores of samples whose codes are one after the other.
fn write_scores<T: Real>(classifier: &LinearClassifier<T>, codes: &[T], scores: &mut [T]) {
    Matrix::of_each_into(classifier.weights.transposed(), codes, None, scores);
    scores.chunks_mut(classifier.bias.len().max(1)).runs_of(256).each(|column| {
        column.iter_mut().zip(&classifier.bias).for_each(|(s, &b)| *s += b);
    });
}

fn of_linear_scores<T: Real>(scores: Matrix<T>, sharpness: f64) -> Verdict<T> {
    Verdict { probabilities: memberships(&scores, sharpness), scores }
}

fn of_softmax_scores<T: Real>(scores: Matrix<T>) -> Verdict<T> {
    let mut probabilities = scores.clone();
    softmax(&mut probabilities);
    Verdict { scores, probabilities }
}

pub(super) fn judge_linearly<T: Real>(
    classifier: &LinearClassifier<T>,
    sharpness: f64,
    codes: &Matrix<T>,
) -> Verdict<T> {
    of_linear_scores(linear_scores(classifier, codes), sharpness)
}

fn judge_by_softmax<T: Real>(classifier: &LinearClassifier<T>, codes: &Matrix<T>) -> Verdict<T> {
    of_softmax_scores(linear_scores(classifier, codes))
}
