//! The solvers of a fit by alternation, and when it stops.

use crate::Real;
use crate::codes::{Batches, Coordinate, Descent, Fista};
use crate::dictionary::{Block, Dual, ProjectedFista, Update};

crate::choice! {
    /// How the codes are minimised.
    pub enum CodesUpdate {
        /// Block coordinate descent on supports.
        Coordinate = "coordinate",
        /// The paper's FISTA.
        Fista = "fista",
        /// The paper's batches and epochs, to save memory.
        Batches = "batches",
    }
}

crate::choice! {
    /// How the atoms are minimised.
    pub enum DictionaryUpdate {
        /// Block coordinate descent.
        Block = "block",
        /// The paper's projected FISTA.
        Fista = "fista",
        /// The Lagrange dual of Lee et al.
        Dual = "dual",
    }
}

crate::knobs! {
    /// The solvers of codes and atoms.
    pub struct SolverKnobs as SolverSetters {
        /// Largest length of an atom.
        atom_norm "α alpha": f64 = 1.0, Above(0.0);
        /// Maximum number of outer iterations.
        max_iterations "": usize = 15, WholeFrom(1);
        /// Relative change of the objective at which the fit has converged, once almost no label changes.
        tolerance "": f64 = 1.5e-3, From(0.0);
        /// Solver of the coding step.
        coder "": CodesUpdate = CodesUpdate::Coordinate, OneOf(CodesUpdate::WORDS);
        /// Sweeps, iterations or epochs of the coder per outer iteration; 0 means its own default.
        coder_steps "": usize = 0, WholeFrom(0);
        /// Optimality gap, relative to `sparsity`, at which the coder stops.
        coder_tolerance "": f64 = 0.01, From(0.0);
        /// Samples per batch, if the coder is `batches`.
        batch_size "": usize = 256, WholeFrom(1);
        /// Solver of the dictionary step.
        dictionary_update "": DictionaryUpdate = DictionaryUpdate::Block,
            OneOf(DictionaryUpdate::WORDS);
        /// Whether unused atoms are replaced by badly reconstructed samples.
        revive "": bool = true, Switch;
    }
}

impl SolverKnobs {
    /// Coordinate descent as the knobs want it.
    #[must_use]
    pub fn coordinate(&self) -> Coordinate {
        let sweeps = if self.coder_steps == 0 { 1 } else { self.coder_steps };
        Coordinate { sweeps, inner_sweeps: 4, tolerance: self.coder_tolerance, direct: false }
    }

    /// The solver of the coding step; `seed` orders the batches.
    pub(crate) fn codes<T: Real>(&self, seed: u64) -> Box<dyn Descent<T>> {
        let steps = |default| if self.coder_steps == 0 { default } else { self.coder_steps };
        let tolerance = self.coder_tolerance;
        match self.coder {
            CodesUpdate::Coordinate => Box::new(self.coordinate()),
            CodesUpdate::Fista => Box::new(Fista { iterations: steps(50), tolerance }),
            CodesUpdate::Batches => Box::new(Batches {
                size: self.batch_size,
                epochs: steps(3),
                inner: Fista { iterations: 50, tolerance },
                seed,
            }),
        }
    }

    /// The solver of the dictionary step.
    pub(crate) fn atoms<T: Real>(&self) -> Box<dyn Update<T>> {
        match self.dictionary_update {
            DictionaryUpdate::Block => {
                Box::new(Block { sweeps: 2, tolerance: 1e-3, nonnegative: false })
            }
            DictionaryUpdate::Fista => Box::new(ProjectedFista { iterations: 50, tolerance: 1e-3 }),
            DictionaryUpdate::Dual => Box::new(Dual { iterations: 50, tolerance: 1e-6 }),
        }
    }
}
