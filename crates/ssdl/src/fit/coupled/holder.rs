//! What the loop asks of the place where samples are: memory, a GPU, several parts.
//!
//! There are two kinds of arrays in a fit: small ones shared by all samples ([`Global`]), and large ones
//! with a column for each sample. A step sends the small arrays to where the samples are, works there,
//! and gets sums back, so only a [`Holder`] knows where samples are stored, and the loop exists once.

use crate::classifier::margin::Pull;
use crate::classifier::{ActivePoints, Ballot, LinearClassifier};
use crate::codes::Coordinate;
use crate::dictionary::Statistics;
use crate::fit::SolverKnobs;
use crate::graph::Laplacian;
use crate::samples::{Held, Labels};
use crate::{Matrix, Real, Result};

/// Small: $n\times p$, $p\times p$, $p\times C$.
#[derive(Clone)]
pub struct Global<T> {
    /// $D$.
    pub atoms: Matrix<T>,
    /// $D^\top D$.
    pub gram: Matrix<T>,
    /// $W$, $b$.
    pub classifier: LinearClassifier<T>,
}

/// The weights of the terms that the codes depend on.
#[derive(Clone, Copy)]
pub struct Weights {
    /// λ.
    pub sparsity: f64,
    /// β.
    pub manifold: f64,
    /// γ.
    pub discrimination: f64,
}

/// The solver of the first codes. Rough is enough: the first iteration moves them far.
pub const FIRST_CODES: Coordinate =
    Coordinate { sweeps: 12, inner_sweeps: 8, tolerance: 0.05, direct: false };

/// The codes that a fit begins with.
pub enum FirstCodes<'a, T> {
    /// From an earlier fit, $p\times N$.
    Given(Matrix<T>),
    /// A lasso on these atoms, by [`FIRST_CODES`].
    Lasso(&'a Matrix<T>),
}

/// What a holder takes over at the start of a fit.
pub struct Holding<'a, T> {
    /// $X$, $n\times N$.
    pub samples: Held<'a, T>,
    /// $\lVert X\rVert^2$.
    pub energy: f64,
    /// The classes of labelled samples.
    pub labels: &'a Labels,
    /// The graph; `None` leaves the codes uncoupled.
    pub laplacian: Option<&'a Laplacian<T>>,
    /// How the samples vote.
    pub ballot: Ballot<T>,
    /// λ.
    pub sparsity: f64,
    /// The solvers.
    pub solver: &'a SolverKnobs,
    /// Seed of everything random.
    pub seed: u64,
}

/// A place where samples, their codes, scores and votes are.
///
/// Sums over samples are taken in a fixed order: the same place gives the same bits.
pub trait Holder<T: Real> {
    /// The codes of some samples, in the order given.
    fn codes_of(&self, chosen: &[usize]) -> Matrix<T>;

    /// Scores and votes by the first classifier.
    fn begin(&mut self, classifier: &LinearClassifier<T>);

    /// Class memberships and active points at the current scores.
    fn vote(&mut self, kind: ActivePoints);

    /// Minimises over the codes from their present values, in `passes` passes; returns the graph's energy,
    /// if known.
    fn code(&mut self, global: &Global<T>, weights: Weights, passes: usize) -> Option<f64>;

    /// Keeps the codes as the start of this iteration, then continues their last change, except in the
    /// last iteration; returns whether they moved.
    fn extrapolate(&mut self, is_last: bool) -> bool;

    /// Goes back to the codes from the start of this iteration.
    fn go_back(&mut self);

    /// The sums that the atoms are learnt from.
    fn statistics(&self) -> Statistics<T>;

    /// Unused atoms become badly reconstructed samples; returns how many were unused, and how many
    /// were replaced.
    fn revive(&self, atoms: &mut Matrix<T>, moments: &Matrix<T>, radius: T) -> (usize, usize);

    /// Updates the classifier on the active points of this iteration, and the scores with it.
    ///
    /// # Errors
    /// If its system is singular.
    fn learn_classifier(
        &mut self,
        classifier: &mut LinearClassifier<T>,
        kind: ActivePoints,
        pull: Pull<'_, T>,
    ) -> Result<()>;

    /// Unlabelled samples whose class has changed since the last call.
    fn count_flips(&mut self) -> usize;

    /// $\lVert A\rVert_1$.
    fn size(&self) -> f64;

    /// $\operatorname{tr}(ALA^\top)$.
    fn graph_energy(&self) -> f64;

    /// The true loss at the current scores.
    fn loss(&self) -> f64;

    /// The quadratic that replaces the loss in this iteration; zero while the classes do not act.
    fn quadratic(&self) -> f64;

    /// Whether all went well so far.
    ///
    /// # Errors
    /// The first read, copy or computation that failed.
    fn check(&self) -> Result<()>;

    /// Keeps what a later fit would need to go on after this iteration, where there is a place for it.
    ///
    /// # Errors
    /// If it cannot be kept.
    fn keep(&mut self, iteration: usize, global: &Global<T>) -> Result<()> {
        let _ = (iteration, global);
        Ok(())
    }

    /// The codes, $p\times N$, and how the samples vote.
    ///
    /// # Errors
    /// If they cannot be had back.
    fn into_parts(self: Box<Self>) -> Result<(Matrix<T>, Ballot<T>)>;
}
