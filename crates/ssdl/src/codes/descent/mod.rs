//! Solvers that minimise over the codes of all samples together; one per file, one minimum.

mod batches;
mod coordinate;
mod fista;
mod structured;

pub use batches::Batches;
pub use coordinate::Coordinate;
pub use fista::Fista;
pub use structured::{Fixed, Structured};

use super::Coding;
use crate::{Matrix, Real};

/// A solver of the coupled coding problem.
pub trait Descent<T: Real>: Sync {
    /// Improves `codes` ($p\times N$) from their present values; never raises the objective.
    fn code(&self, problem: &Coding<'_, T>, codes: &mut Matrix<T>) -> Descended;
}

/// What a solver did.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Descended {
    /// Sweeps or iterations taken.
    pub steps: usize,
    /// The last optimality gap it saw, relative to λ.
    pub gap: f64,
    /// $\operatorname{tr}(ALA^\top)$ at the end, if the solver has computed it.
    pub graph_energy: Option<f64>,
}
