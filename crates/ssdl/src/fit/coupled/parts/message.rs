//! The messages that a part is sent.

use super::state::VoteRule;
use super::wire::{Reader, Writer, damaged};
use crate::classifier::{ActivePoints, LinearClassifier};
use crate::codes::Coordinate;
use crate::fit::coupled::{Global, Weights};
use crate::{Matrix, Real, Result};

/// Where the coding of an iteration begins.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Enter {
    /// At a new iteration, whose start is kept; with `true` the last change is continued.
    Iteration(bool),
    /// At the start of this iteration again.
    Back,
}

/// What the coding step needs beside the state.
pub(super) struct Task<T> {
    pub global: Global<T>,
    pub weights: Weights,
    pub solver: Coordinate,
}

/// A step; what it replies is written beside it.
pub(super) enum Step<T> {
    /// Before the first codes: how many of the unlabelled samples this classifier of samples puts into each class.
    Election { classifier: LinearClassifier<T> },
    /// First codes. Nothing.
    Begin { atoms: Matrix<T>, rule: VoteRule<T>, sparsity: f64 },
    /// The votes of unlabelled samples, and their weights.
    Votes,
    /// The votes for each class at these factors.
    ClassSums { factors: Vec<f64> },
    /// Memberships, and active points of this kind. The loss, the quadratic.
    Vote { factors: Option<Vec<f64>>, kind: Option<ActivePoints> },
    /// Where the next pass begins; halos are exchanged after it. Nothing.
    Enter(Enter),
    /// A pass over the codes. This part of what it minimises, before and, without the graph, after.
    Code(Task<T>),
    /// Takes back all but this share of the last pass. This part of what it minimised, without the graph.
    Shrink { share: f64, task: Task<T> },
    /// The graph's energy, $\lVert A\rVert_1$, the loss, the quadratic, the sums for the atoms.
    Measure,
    /// Whether any weight is not zero, and $\sum_jw_j\tilde a_j\tilde a_j^\top$ with the weights of all classes
    /// together, or of one.
    Gram { class: Option<usize> },
    /// $\sum_j\mathcal G_{\cdot j}\tilde a_j^\top$ of active points as they are, or renewed at this classifier's scores;
    /// with the loss there.
    Targets { classifier: Option<LinearClassifier<T>> },
    /// Scores of the classifier. The loss, the quadratic, how many samples changed class.
    Classify { classifier: LinearClassifier<T> },
    /// The samples with the largest residuals.
    Worst { atoms: Matrix<T>, count: usize },
    /// The codes of samples that the model keeps.
    Kept,
}

impl<T: Real> Global<T> {
    pub(super) fn write(&self, out: &mut Writer) {
        out.matrix(&self.atoms);
        out.matrix(&self.gram);
        write_classifier(&self.classifier, out);
    }

    pub(super) fn read(from: &mut Reader<'_>) -> Result<Self> {
        let (atoms, gram) = (from.matrix()?, from.matrix()?);
        Ok(Self { atoms, gram, classifier: read_classifier(from)? })
    }
}

fn write_classifier<T: Real>(classifier: &LinearClassifier<T>, out: &mut Writer) {
    out.matrix(&classifier.weights);
    out.list(&classifier.bias);
}

fn read_classifier<T: Real>(from: &mut Reader<'_>) -> Result<LinearClassifier<T>> {
    Ok(LinearClassifier { weights: from.matrix()?, bias: from.list()? })
}

impl<T: Real> Task<T> {
    fn write(&self, out: &mut Writer) {
        self.global.write(out);
        out.number(self.weights.sparsity);
        out.number(self.weights.manifold);
        out.number(self.weights.discrimination);
        out.count(self.solver.sweeps);
        out.count(self.solver.inner_sweeps);
        out.number(self.solver.tolerance);
        out.flag(self.solver.direct);
    }

    fn read(from: &mut Reader<'_>) -> Result<Self> {
        Ok(Self {
            global: Global::read(from)?,
            weights: Weights {
                sparsity: from.number()?,
                manifold: from.number()?,
                discrimination: from.number()?,
            },
            solver: Coordinate {
                sweeps: from.count()?,
                inner_sweeps: from.count()?,
                tolerance: from.number()?,
                direct: from.flag()?,
            },
        })
    }
}

impl<T: Real> Step<T> {
    /// Whether the state is another after it.
    pub fn changes(&self) -> bool {
        matches!(
            self,
            Self::Begin { .. }
                | Self::Vote { .. }
                | Self::Enter(_)
                | Self::Code(_)
                | Self::Shrink { .. }
                | Self::Classify { .. }
        )
    }

    /// Whether parts need the codes of their halos for it.
    pub fn exchanges(&self) -> bool {
        matches!(self, Self::Code(_) | Self::Measure)
    }

    pub fn to_bytes(&self) -> Vec<u8> {
        let mut out = Writer::new();
        match self {
            Self::Begin { atoms, rule, sparsity } => {
                out.count(0);
                out.matrix(atoms);
                rule.write(&mut out);
                out.number(*sparsity);
            }
            Self::ClassSums { factors } => {
                out.count(1);
                out.list(factors);
            }
            Self::Vote { factors, kind } => {
                out.count(2);
                out.optional(factors.as_ref(), |out, factors| out.list(factors));
                let is_frozen = |kind: &ActivePoints| *kind == ActivePoints::Frozen;
                out.optional(kind.as_ref(), |out, kind| out.flag(is_frozen(kind)));
            }
            Self::Code(task) => {
                out.count(3);
                task.write(&mut out);
            }
            Self::Enter(enter) => {
                out.count(12);
                out.count(match enter {
                    Enter::Iteration(false) => 0,
                    Enter::Iteration(true) => 1,
                    Enter::Back => 2,
                });
            }
            Self::Shrink { share, task } => {
                out.count(4);
                out.number(*share);
                task.write(&mut out);
            }
            Self::Measure => out.count(5),
            Self::Gram { class } => {
                out.count(6);
                out.optional(class.as_ref(), |out, class| out.count(*class));
            }
            Self::Targets { classifier } => {
                out.count(7);
                out.optional(classifier.as_ref(), |out, it| write_classifier(it, out));
            }
            Self::Classify { classifier } => {
                out.count(8);
                write_classifier(classifier, &mut out);
            }
            Self::Worst { atoms, count } => {
                out.count(9);
                out.matrix(atoms);
                out.count(*count);
            }
            Self::Kept => out.count(10),
            Self::Votes => out.count(11),
            Self::Election { classifier } => {
                out.count(13);
                write_classifier(classifier, &mut out);
            }
        }
        out.into_bytes()
    }

    pub fn from_bytes(bytes: &[u8]) -> Result<Self> {
        let mut from = Reader::new(bytes);
        Ok(match from.count()? {
            0 => Self::Begin {
                atoms: from.matrix()?,
                rule: VoteRule::read(&mut from)?,
                sparsity: from.number()?,
            },
            1 => Self::ClassSums { factors: from.list()? },
            2 => Self::Vote {
                factors: from.optional(Reader::list)?,
                kind: from.optional(|from| {
                    let is_frozen = from.flag()?;
                    Ok(if is_frozen { ActivePoints::Frozen } else { ActivePoints::Majorised })
                })?,
            },
            3 => Self::Code(Task::read(&mut from)?),
            4 => Self::Shrink { share: from.number()?, task: Task::read(&mut from)? },
            5 => Self::Measure,
            6 => Self::Gram { class: from.optional(Reader::count)? },
            7 => Self::Targets { classifier: from.optional(read_classifier)? },
            8 => Self::Classify { classifier: read_classifier(&mut from)? },
            9 => Self::Worst { atoms: from.matrix()?, count: from.count()? },
            10 => Self::Kept,
            11 => Self::Votes,
            12 => Self::Enter(match from.count()? {
                0 => Enter::Iteration(false),
                1 => Enter::Iteration(true),
                2 => Enter::Back,
                _ => return Err(damaged()),
            }),
            13 => Self::Election { classifier: read_classifier(&mut from)? },
            _ => return Err(damaged()),
        })
    }
}
