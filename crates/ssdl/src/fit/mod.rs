//! The loop that every method shares: steps in turn, an objective by term, a reason to stop.

mod accelerate;
mod alternate;
mod learner;
mod memory;
mod objective;
mod watch;

pub use alternate::{Fitted, Recipe, Start, alternate};
pub use learner::{DictionaryLearner, LearntAtoms};
pub use memory::{CoderMemory, Sizes, memory_needed};
pub use objective::{Objective, Weights};
pub use watch::{Flow, Progress, Silent, Step, Stop, TraceRow, Watch};
