//! The alternating minimisation of the paper's Algorithm 1: memberships, codes, atoms, classifier.
//!
//! $$\min_{D,A,W,b,P}\lVert X-DA\rVert^2+\lambda\lVert A\rVert_1+\beta\operatorname{tr}(ALA^\top)
//! +\gamma\sum_j\sum_kP_{kj}^re_k(W^\top a_j+b)+\mu(\lVert W\rVert^2+\lVert b\rVert^2).$$
//!
//! SSDL-GA has all of its terms, USSDL no graph, graph-regularised sparse coding no classes.

mod accelerate;
mod begin;
mod finish;
mod holder;
mod knobs;
mod lean;
pub mod parts;
mod per_sample;

pub use accelerate::MOMENTUM;
pub(crate) use begin::GRAPH_NOT_USED;
pub use holder::{FIRST_CODES, FirstCodes, Global, Holder, Holding, Weights};
pub use knobs::{CouplingKnobs, CouplingSetters};

use super::{
    Dictionary, Given, Halt, Limits, Measured, Objective, Sizes, SolverKnobs, Start, Step, Stop,
    Turns,
};
use crate::classifier::{ActivePoints, Ballot, MarginKnobs};
use crate::codes::Coder;
use crate::dictionary::{Statistics, Update, update_past};
use crate::graph::{GraphKnobs, Laplacian};
use crate::knobs::AutoOr;
use crate::{Matrix, Real, Result};

/// Share of the unlabelled samples that may still change class in a converged fit.
const MAX_FLIPPED: f64 = 0.005;

/// What a method gives to the alternation: its groups of knobs.
#[derive(Clone, Copy)]
pub(crate) struct Coupled<'a> {
    /// $p$.
    pub n_atoms: usize,
    /// Whether mixtures of samples make up for missing samples in the first atoms.
    pub fill_atoms: bool,
    /// λ.
    pub sparsity: f64,
    /// How the graph acts on the codes, and which graph; `None` without one.
    pub graph: Option<(&'a CouplingKnobs, &'a GraphKnobs)>,
    /// How the classes act on the codes; `None` where the classifier comes after the codes.
    pub classes: Option<&'a MarginKnobs>,
    pub solver: &'a SolverKnobs,
}

impl Coupled<'_> {
    /// The graph's knobs, unless its weight is zero.
    pub fn graph(&self) -> Option<(&CouplingKnobs, &GraphKnobs)> {
        self.graph.filter(|(coupling, _)| coupling.manifold > 0.0)
    }

    /// The classes' knobs, unless their weight is zero.
    fn margin(&self) -> Option<&MarginKnobs> {
        self.classes.filter(|classes| classes.discrimination > 0.0)
    }

    fn weights(&self) -> Weights {
        Weights {
            sparsity: self.sparsity,
            manifold: self.graph.map_or(0.0, |(coupling, _)| coupling.manifold),
            discrimination: self.classes.map_or(0.0, |classes| classes.discrimination),
        }
    }

    fn limits<T: Real>(&self, given: &Given<'_, T>) -> Limits {
        let (all, labelled) = match given.crew {
            Some(crew) => crew.counts(),
            None => (given.labels.len(), given.labels.n_labelled()),
        };
        let unlabelled = all - labelled;
        Limits {
            max_iterations: self.solver.max_iterations,
            tolerance: self.solver.tolerance,
            max_flips: (MAX_FLIPPED * unlabelled as f64) as usize,
        }
    }

    /// Peak bytes of a fit of this size.
    pub fn bytes(&self, sizes: &Sizes) -> u64 {
        let max = if self.fill_atoms { usize::MAX } else { sizes.n_samples };
        let row = self.graph().map_or(0, |(_, graph)| graph.widest(sizes.n_samples));
        let search = self
            .graph()
            .map_or(0, |(_, graph)| graph.search_bytes(sizes.n_features, sizes.n_samples));
        sizes.coupled_with(self.n_atoms.min(max), row, search, self.solver)
    }

    /// Runs the alternation to its end.
    ///
    /// # Errors
    /// If a system is singular or a value stops being finite.
    pub fn alternate<'a, T: Real>(
        &'a self,
        given: &'a Given<'_, T>,
        laplacian: Option<&'a Laplacian<T>>,
        start: Option<Start<T>>,
        turns: &mut Turns<'_>,
    ) -> Result<Alternated<'a, T>> {
        let mut run = self.begin(given, laplacian, start, turns)?;
        let limits = self.limits(given);
        turns.begin(limits, run.measured())?;
        let stop = turns.repeat(limits, |turns| run.turn(turns))?;
        if let Some(knobs) = self.margin().filter(|_| stop != Stop::Cancelled) {
            run.lean_on_samples(knobs)?;
        }
        let Alternation { holder, global, strength, dead_atoms, revived_atoms, .. } = run;
        holder.check()?;
        let (codes, ballot) = holder.into_parts()?;
        let coupled = self;
        Ok(Alternated { coupled, strength, global, codes, ballot, dead_atoms, revived_atoms, stop })
    }
}

/// The value of each term.
#[derive(Clone, Copy, Default)]
struct Terms {
    reconstruction: f64,
    sparsity: f64,
    manifold: f64,
    discrimination: f64,
    ridge: f64,
}

impl Terms {
    fn objective(&self) -> Objective {
        Objective::new([
            ("reconstruction", self.reconstruction),
            ("sparsity", self.sparsity),
            ("manifold", self.manifold),
            ("discrimination", self.discrimination),
            ("ridge", self.ridge),
        ])
    }
}

/// An alternation in progress.
struct Alternation<'a, T> {
    coupled: &'a Coupled<'a>,
    /// ρ.
    strength: f64,
    /// What the finished classifier leans on.
    lean: Option<lean::Lean<T>>,
    atoms_update: Box<dyn Update<T>>,
    global: Global<T>,
    holder: Box<dyn Holder<T> + 'a>,
    terms: Terms,
    surrogate: f64,
    flips: usize,
    dead_atoms: usize,
    revived_atoms: usize,
}

/// A finished alternation.
pub(crate) struct Alternated<'a, T> {
    coupled: &'a Coupled<'a>,
    /// ρ.
    strength: f64,
    pub global: Global<T>,
    /// $A$, $p\times N$.
    pub codes: Matrix<T>,
    ballot: Ballot<T>,
    dead_atoms: usize,
    revived_atoms: usize,
    pub stop: Stop,
}

impl<T: Real> Alternation<'_, T> {
    fn measured(&self) -> Measured {
        let (objective, flips) = (self.terms.objective(), self.flips);
        Measured { objective, surrogate: self.surrogate, flips }
    }

    /// One iteration: all steps in turn.
    fn turn(&mut self, turns: &mut Turns<'_>) -> Result<(), Halt> {
        let margin = self.coupled.margin();
        if let Some(knobs) = margin {
            self.holder.vote(knobs.active_points);
            self.measure_classifier();
            self.measure_surrogate();
            turns.done(Step::Membership, self.measured())?;
        }
        let is_last = turns.is_last();
        let statistics = self.learn_codes(turns.iteration(), is_last);
        self.holder.check()?;
        turns.done(Step::Codes, self.measured())?;
        self.learn_atoms(&statistics, is_last);
        self.measure_surrogate();
        turns.done(Step::Dictionary, self.measured())?;
        if let Some(knobs) = margin {
            self.learn_classifier(knobs)?;
            turns.done(Step::Classifier, self.measured())?;
        }
        self.holder.keep(turns.iteration(), &self.global)?;
        Ok(())
    }

    /// Minimises over the codes from an extrapolated point or, where that does not help, from their
    /// present values.
    fn learn_codes(&mut self, iteration: usize, is_last: bool) -> Statistics<T> {
        let before = self.surrogate;
        let moved = self.holder.extrapolate(is_last);
        let mut statistics = self.code(iteration);
        if moved && self.surrogate > before {
            self.holder.go_back();
            statistics = self.code(iteration);
        }
        statistics
    }

    /// Minimises over the codes from their present values, and measures them.
    fn code(&mut self, iteration: usize) -> Statistics<T> {
        let weights = self.coupled.weights();
        // The first codes ignore graph and classes, and have the farthest to go.
        let passes = if iteration <= 2 { 2 } else { 1 };
        let energy = self.holder.code(&self.global, weights, passes);
        let statistics = self.holder.statistics();
        self.terms.reconstruction = statistics.residual(&self.global.atoms, &self.global.gram);
        self.measure_codes(energy);
        self.measure_classifier();
        self.measure_surrogate();
        statistics
    }

    fn learn_atoms(&mut self, statistics: &Statistics<T>, is_last: bool) {
        let solver = self.coupled.solver;
        let radius = T::of(solver.atom_norm);
        let Global { atoms, gram, .. } = &mut self.global;
        update_past(&*self.atoms_update, (atoms, gram), statistics, radius, is_last);
        let moments = &statistics.moments;
        if solver.revive {
            let (dead, revived) = self.holder.revive(atoms, moments, radius);
            self.dead_atoms = dead - revived;
            self.revived_atoms += revived;
            if revived > 0 {
                *gram = atoms.gram();
            }
        } else {
            let unused = |k: &usize| moments.column(*k)[*k] == T::zero();
            self.dead_atoms = (0..moments.columns()).filter(unused).count();
        }
        self.terms.reconstruction = statistics.residual(atoms, gram);
    }

    fn learn_classifier(&mut self, knobs: &MarginKnobs) -> Result<()> {
        let (kind, rho) = (knobs.active_points, T::of(self.strength));
        self.holder.learn_classifier(&mut self.global.classifier, kind, rho.into())?;
        self.measure_classifier();
        // The majoriser is renewed within the step and touches the true loss where it ends.
        match knobs.active_points {
            ActivePoints::Frozen => self.measure_surrogate(),
            ActivePoints::Majorised => self.surrogate = self.terms.objective().total(),
        }
        self.flips = self.holder.count_flips();
        Ok(())
    }

    /// ‖A‖₁ and the graph energy, unless that is known already.
    fn measure_codes(&mut self, energy: Option<f64>) {
        let weights = self.coupled.weights();
        self.terms.sparsity = weights.sparsity * self.holder.size();
        let energy = energy.unwrap_or_else(|| self.holder.graph_energy());
        self.terms.manifold = weights.manifold * energy;
    }

    fn measure_classifier(&mut self) {
        if let Some(knobs) = self.coupled.margin() {
            self.terms.discrimination = knobs.discrimination * self.holder.loss();
            let ridge = match knobs.ridge {
                AutoOr::Exactly(ridge) => ridge,
                AutoOr::Auto => knobs.discrimination * self.strength,
            };
            self.terms.ridge = ridge * self.global.classifier.squared_norm();
        }
    }

    fn measure_surrogate(&mut self) {
        let quadratic = self.coupled.weights().discrimination * self.holder.quadratic();
        self.surrogate = self.terms.objective().total() - self.terms.discrimination + quadratic;
    }
}

impl<T: Real> Alternated<'_, T> {
    /// Atoms, codes and why it stopped.
    pub fn into_parts(self) -> (Dictionary<T>, Stop) {
        let dictionary = Dictionary {
            atoms: self.global.atoms,
            codes: self.codes,
            coder: Coder::Lasso { sparsity: self.coupled.sparsity },
            dead: self.dead_atoms,
            revived: self.revived_atoms,
        };
        (dictionary, self.stop)
    }
}
