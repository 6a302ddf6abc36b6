//! What all fits share: iterations of steps, an objective by term, a reason to stop; and the
//! alternation that several methods use.

mod blank;
mod class_blocks;
mod coupled;
mod doubts;
pub(crate) mod few_atoms;
mod kept;
mod learner;
mod learnt;
mod memory;
mod objective;
pub mod preparation;
mod solver;
pub mod spreading;
mod svm;
mod turns;
mod watch;

pub(crate) use blank::without_blank;
pub(crate) use class_blocks::{
    by_residuals, classes_of_atoms, first_blocks, flips, squared_lengths,
};
pub(crate) use coupled::{Coupled, GRAPH_NOT_USED};
pub use coupled::{
    CouplingKnobs, CouplingSetters, FIRST_CODES, FirstCodes, Global, Holder, Holding, MOMENTUM,
    Weights, parts,
};
pub(crate) use doubts::{contradictions, guessing, scale_of_features, swallowed};
pub use few_atoms::{FewAtomsKnobs, FewAtomsSetters, NonzeroCount};
pub use kept::KeptSamples;
pub use learner::{AtomsUpdate, DictionaryLearner, LearntAtoms};
pub use learnt::{Compared, Dictionary, Given, Learnt, Parked, Selection, Start, Tie};
pub use memory::Sizes;
pub(crate) use memory::array;
pub use objective::Objective;
pub use solver::{CodesUpdate, DictionaryUpdate, SolverKnobs, SolverSetters};
pub(crate) use svm::{fit_svm, svm_objective};
pub(crate) use turns::Record;
pub use turns::{Halt, Limits, Measured, Turns};
pub use watch::{Flow, Progress, Silent, Step, Stop, TraceRow, Watch, term_names};
