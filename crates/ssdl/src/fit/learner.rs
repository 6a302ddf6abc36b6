//! Atoms without labels: dictionary learning, batch by batch.
//!
//! $$\min_{\lVert d_k\rVert\le\alpha,\;A}\lVert X-DA\rVert_F^2+\lambda\lVert A\rVert_1.$$
//!
//! A batch is coded with the current atoms. In the sums $AA^\top$ and $XA^\top$ its new codes replace
//! those of the pass before, and the atoms are updated at once. So they learn many times in a pass, and
//! from the second pass on the objective over *all* samples never rises.
//!
//! With `n_nonzero` codes have a limited number of atoms instead of the l1 term, and K-SVD may update the
//! atoms: each with its coefficients, from all samples at once.

use super::{Flow, Halt, Limits, Objective, Progress, Step, Stop, Turns, Watch};
use crate::codes::{Coordinate, Encoder, Lasso, Omp, Pulled, Pursuit};
use crate::dictionary::{Block, Ksvd, Statistics, Update, init, replace_weak, revive};
use crate::knobs::Knobbed;
use crate::matrix::absolute_sum;
use crate::random::{Purpose, shuffle, stream};
use crate::samples::check_features;
use crate::sparse::Csr;
use crate::{Error, Labels, Matrix, Real, Result};

/// Rough is enough: the atoms move after every batch, and codes start where they ended.
const CODER: Coordinate =
    Coordinate { sweeps: 12, inner_sweeps: 8, tolerance: 0.01, direct: false };
/// How quickly a stream forgets codes on atoms that have moved since: earlier batches count
/// $(1-1/t)^\rho$ times as much after batch $t$ (Mairal et al. 2010). A short stream cannot afford to
/// forget much, and old codes hold a long one back: ρ grows from the first value to the second.
const FORGETTING: (f64, f64) = (5.0, 15.0);
/// How much ρ grows with each batch.
const GROWTH: f64 = 0.1;

crate::choice! {
    /// How atoms are learnt without labels.
    pub enum AtomsUpdate {
        /// Block coordinate descent from sums over the samples, batch by batch.
        Block = "block",
        /// K-SVD: each atom with its coefficients, all samples at once.
        Ksvd = "ksvd",
        /// K-SVD with each atom and its coefficients at their minimum.
        ExactKsvd = "exact-ksvd",
    }
}

crate::knobs! {
    /// Learns atoms from samples alone.
    ///
    /// ```
    /// use ssdl::{Matrix, fit::{DictionaryLearner, Silent}};
    ///
    /// # fn main() -> ssdl::Result<()> {
    /// // Every sample is a multiple of one of two directions.
    /// let samples = Matrix::from_fn(3, 60, |i, j| if i % 2 == j % 2 { 1.0 + j as f64 } else { 0.0 });
    /// let learner = DictionaryLearner::new().n_atoms(6).sparsity(0.1);
    /// let learnt = learner.fit(&samples, 0, &mut Silent)?;
    /// assert!(learnt.objective.term("reconstruction") < 1e-3 * samples.squared_norm());
    /// # Ok(())
    /// # }
    /// ```
    pub struct DictionaryLearner {
        /// Number of atoms; at most the number of samples that are not zero.
        n_atoms "p": usize = 100, WholeFrom(1);
        /// Weight of the l1 norm of the codes; twice scikit-learn's `alpha`.
        sparsity "λ lambda": f64 = 0.3, From(0.0);
        /// Maximum number of atoms in a code, found by orthogonal matching pursuit; 0 codes by the l1 norm.
        n_nonzero "T": usize = 0, WholeFrom(0);
        /// How atoms are updated; K-SVD needs `n_nonzero`.
        update "": AtomsUpdate = AtomsUpdate::Block, OneOf(AtomsUpdate::WORDS);
        /// Whether codes have no negative coefficient.
        nonnegative_codes "": bool = false, Switch;
        /// Whether atoms have no negative entry.
        nonnegative_atoms "": bool = false, Switch;
        /// Largest length of an atom.
        atom_norm "α alpha": f64 = 1.0, Above(0.0);
        /// Samples per batch; the atoms are updated after each batch.
        batch_size "": usize = 512, WholeFrom(1);
        /// Maximum number of passes over all samples.
        max_iterations "": usize = 50, WholeFrom(1);
        /// Relative change of the objective in a pass at which the fit has converged.
        tolerance "": f64 = 1e-3, From(0.0);
    }
}

/// Atoms, and all that is needed to go on learning from further samples.
#[derive(Clone, Debug)]
pub struct LearntAtoms<T> {
    /// $D$, $n\times p$.
    pub atoms: Matrix<T>,
    /// Sums over the batches seen; older batches of a stream count less.
    pub statistics: Statistics<T>,
    /// Batches seen; the more there are, the less a further one outweighs the older ones.
    pub n_batches: u64,
    /// Passes over the samples.
    pub iterations: usize,
    /// Reconstruction and sparsity, over all samples or the last batch of a stream.
    pub objective: Objective,
    /// Why it stopped.
    pub stop: Stop,
    /// Atoms revived.
    pub revived_atoms: usize,
}

impl<T: Real> LearntAtoms<T> {
    /// Atoms that no code used at the end.
    pub(crate) fn n_unused(&self) -> usize {
        let moments = &self.statistics.moments;
        (0..moments.columns()).filter(|&k| moments.column(k)[k] == T::zero()).count()
    }
}

impl DictionaryLearner {
    /// Learns from samples ($n\times N$) in passes over all of them. Cost per pass
    /// $O(npN+N\,\mathrm{lasso}+np^2N/\text{batch})$; memory for the nonzero codes and one batch beside
    /// the samples.
    ///
    /// # Errors
    /// If a knob is out of range, a sample is not finite, all are zero, or the observer stops it.
    #[inline(never)]
    pub fn fit<T: Real>(
        &self,
        samples: &Matrix<T>,
        seed: u64,
        watch: &mut dyn Watch,
    ) -> Result<LearntAtoms<T>> {
        self.check_together()?;
        check_features(samples)?;
        let first = self.first_atoms(samples, false, seed);
        let learnt = self.learn(samples, first, seed, &mut Turns::new(watch))?;
        if learnt.stop == Stop::Cancelled { Err(Error::Cancelled) } else { Ok(learnt) }
    }

    /// The same from these atoms, for knobs and samples that are checked; what was learnt until then, where the
    /// observer stops it.
    pub(crate) fn learn<T: Real>(
        &self,
        samples: &Matrix<T>,
        first: Matrix<T>,
        seed: u64,
        turns: &mut Turns<'_>,
    ) -> Result<LearntAtoms<T>> {
        let mut learnt = self.begin(first, |sentence| turns.notice(sentence))?;
        if self.update != AtomsUpdate::Block {
            return self.fit_ksvd(samples, learnt, turns);
        }
        let mut order: Vec<usize> = (0..samples.columns()).collect();
        shuffle(&mut order, &mut stream(seed, Purpose::Batches));
        let mut batches: Vec<Batch<T>> = order
            .chunks_mut(self.batch_size)
            .map(|chosen| {
                chosen.sort_unstable();
                Batch { chosen: chosen.to_vec(), codes: None }
            })
            .collect();
        let Self { max_iterations, tolerance, .. } = *self;
        let limits = Limits { max_iterations, tolerance, max_flips: 0 };
        learnt.stop = turns.repeat(limits, |turns| {
            learnt.iterations += 1;
            learnt.n_batches += batches.len() as u64;
            self.pass(samples, &mut batches, &mut learnt, turns)
        })?;
        Ok(learnt)
    }

    /// Goes on learning from one more batch of samples that will not be seen again; `before` is what
    /// is known so far. The atoms are those of a single pass in batches of this size, except that
    /// older codes count less and less.
    ///
    /// # Errors
    /// As [`DictionaryLearner::fit`], and if samples and atoms differ in their number of features.
    #[inline(never)]
    pub fn learn_more<T: Real>(
        &self,
        before: Option<LearntAtoms<T>>,
        samples: &Matrix<T>,
        seed: u64,
        watch: &mut dyn Watch,
    ) -> Result<LearntAtoms<T>> {
        self.check_together()?;
        if self.update != AtomsUpdate::Block {
            return Err(knob("update", self.update.name(), "block to learn from a stream"));
        }
        check_features(samples)?;
        let mut learnt = match before {
            Some(learnt) => learnt,
            // Later batches bring more samples: mixtures stand in for them.
            None => {
                let first = self.first_atoms(samples, true, seed);
                self.begin(first, |sentence| watch.notice(sentence))?
            }
        };
        let (expected, got) = (learnt.atoms.rows(), samples.rows());
        if expected != got {
            return Err(Error::Shape { what: "features".into(), expected, got });
        }
        learnt.n_batches += 1;
        let kept = 1.0 - 1.0 / learnt.n_batches as f64;
        let rho = (FORGETTING.0 + GROWTH * learnt.n_batches as f64).min(FORGETTING.1);
        learnt.statistics.scale(kept.powf(rho));
        let energy = samples.squared_norm();
        let mut codes = Matrix::zeros(learnt.atoms.columns(), samples.columns());
        self.code(samples, &learnt.atoms, &mut codes);
        let statistics = Statistics::of(samples, &codes, energy);
        learnt.statistics.add(1.0, &statistics);
        self.move_atoms(&mut learnt);
        self.revive(samples, &codes, &mut learnt);
        learnt.iterations += 1;
        learnt.objective = Objective::new([
            ("reconstruction", statistics.residual(&learnt.atoms, &learnt.atoms.gram())),
            ("sparsity", self.size(&codes)),
        ]);
        let (iteration, objective) = (learnt.iterations, Some(&learnt.objective));
        let step = Step::Dictionary;
        match watch.step(&Progress { iteration, max_iterations: 1, step, objective }) {
            Flow::Continue => Ok(learnt),
            Flow::Stop => Err(Error::Cancelled),
        }
    }

    /// Samples as the first atoms; with `fill`, mixtures make up for missing samples.
    fn first_atoms<T: Real>(&self, samples: &Matrix<T>, fill: bool, seed: u64) -> Matrix<T> {
        let unlabelled = Labels::none(samples.columns());
        let radius = T::of(self.atom_norm);
        let mut atoms = init::first_atoms(samples, &unlabelled, self.n_atoms, radius, seed);
        if fill {
            atoms = init::fill(atoms, samples, &unlabelled, self.n_atoms, radius, seed);
        }
        if self.nonnegative_atoms {
            (0..atoms.columns()).for_each(|k| without_negatives(atoms.column_mut(k)));
        }
        atoms
    }

    /// Atoms that nothing is learnt for yet.
    fn begin<T: Real>(
        &self,
        atoms: Matrix<T>,
        notice: impl FnOnce(&str),
    ) -> Result<LearntAtoms<T>> {
        init::check_count(&atoms, self.n_atoms, notice)?;
        let (n, p) = (atoms.rows(), atoms.columns());
        Ok(LearntAtoms {
            atoms,
            statistics: Statistics::none(n, p),
            n_batches: 0,
            iterations: 0,
            objective: Objective::default(),
            stop: Stop::Limit,
            revived_atoms: 0,
        })
    }

    /// Every batch once.
    fn pass<T: Real>(
        &self,
        samples: &Matrix<T>,
        batches: &mut [Batch<T>],
        learnt: &mut LearntAtoms<T>,
        turns: &mut Turns<'_>,
    ) -> Result<(), Halt> {
        let (n, p) = (learnt.atoms.rows(), learnt.atoms.columns());
        // The same sums, computed again: repeated additions and subtractions would drift.
        let mut fresh = Statistics::none(n, p);
        let (last, mut size) = (batches.len() - 1, 0.0);
        for (position, batch) in batches.iter_mut().enumerate() {
            let some = samples.select_columns(&batch.chosen);
            let energy = some.squared_norm();
            let mut codes = match &batch.codes {
                None => Matrix::zeros(p, batch.chosen.len()),
                Some(sparse) => {
                    let codes = sparse.to_columns();
                    let old = Statistics::of_sparse((&some).into(), &codes, sparse, energy);
                    learnt.statistics.add(-1.0, &old);
                    codes
                }
            };
            self.code(&some, &learnt.atoms, &mut codes);
            let sparse = Csr::of_columns(&codes);
            let new = Statistics::of_sparse((&some).into(), &codes, &sparse, energy);
            learnt.statistics.add(1.0, &new);
            fresh.add(1.0, &new);
            batch.codes = Some(sparse);
            size += self.size(&codes);
            if position == last {
                learnt.statistics = fresh.clone();
            }
            self.move_atoms(learnt);
            if position == last {
                self.revive(&some, &codes, learnt);
            }
            turns.announce(Step::Codes, self.max_iterations)?;
        }
        learnt.objective = Objective::new([
            ("reconstruction", learnt.statistics.residual(&learnt.atoms, &learnt.atoms.gram())),
            ("sparsity", size),
        ]);
        turns.done(Step::Dictionary, learnt.objective.clone())
    }

    fn code<T: Real>(&self, samples: &Matrix<T>, atoms: &Matrix<T>, codes: &mut Matrix<T>) {
        let correlations = Matrix::of_product(atoms.transposed(), samples.view());
        if self.n_nonzero > 0 {
            let problem = Pulled { gram: &atoms.gram(), rhs: correlations, shifts: Vec::new() };
            return Omp { n_nonzero: self.n_nonzero }.code(problem, codes);
        }
        let (sparsity, nonnegative) = (self.sparsity, self.nonnegative_codes);
        let lasso = Lasso { sparsity, nonnegative, solver: CODER };
        Encoder::with_lasso(atoms, lasso).improve(correlations, codes);
    }

    /// Passes of pursuit and K-SVD over all samples.
    fn fit_ksvd<T: Real>(
        &self,
        samples: &Matrix<T>,
        mut learnt: LearntAtoms<T>,
        turns: &mut Turns<'_>,
    ) -> Result<LearntAtoms<T>> {
        let Self { max_iterations, tolerance, .. } = *self;
        let limits = Limits { max_iterations, tolerance, max_flips: 0 };
        let ksvd = Ksvd { exact: self.update == AtomsUpdate::ExactKsvd };
        let mut codes = Matrix::zeros(learnt.atoms.columns(), samples.columns());
        let mut left = samples.clone();
        learnt.stop = turns.repeat(limits, |turns| {
            if turns.iteration() > 1 {
                let mut gram = learnt.atoms.gram();
                let both = (&mut learnt.atoms, &mut gram);
                learnt.revived_atoms += replace_weak(both, samples, &codes, &left, 1);
            }
            self.code(samples, &learnt.atoms, &mut codes);
            left = ksvd.update(samples, &mut learnt.atoms, &mut codes);
            learnt.iterations += 1;
            learnt.n_batches += 1;
            let terms = [("reconstruction", left.squared_norm()), ("sparsity", 0.0)];
            learnt.objective = Objective::new(terms);
            turns.done(Step::Dictionary, learnt.objective.clone())
        })?;
        learnt.statistics = Statistics::of(samples, &codes, samples.squared_norm());
        Ok(learnt)
    }

    /// Knobs that exclude each other.
    fn check_together(&self) -> Result<()> {
        self.check()?;
        if self.update != AtomsUpdate::Block && self.n_nonzero == 0 {
            return Err(knob("n_nonzero", "0", "1 or more: K-SVD keeps the supports of the codes"));
        }
        if self.n_nonzero > 0 && self.nonnegative_codes {
            return Err(knob("nonnegative_codes", "true", "false where n_nonzero is set"));
        }
        if self.update != AtomsUpdate::Block && self.nonnegative_atoms {
            return Err(knob("nonnegative_atoms", "true", "false for K-SVD"));
        }
        if self.update != AtomsUpdate::Block && self.atom_norm != 1.0 {
            return Err(knob("atom_norm", &self.atom_norm.to_string(), "1 for K-SVD"));
        }
        Ok(())
    }

    /// The penalty of these codes; a limited number of atoms has none.
    fn size<T: Real>(&self, codes: &Matrix<T>) -> f64 {
        if self.n_nonzero > 0 { 0.0 } else { self.sparsity * absolute_sum(codes.as_slice()) }
    }

    fn move_atoms<T: Real>(&self, learnt: &mut LearntAtoms<T>) {
        let block = Block { sweeps: 1, tolerance: 0.0, nonnegative: self.nonnegative_atoms };
        block.update(&mut learnt.atoms, &learnt.statistics, T::of(self.atom_norm));
    }

    /// Unused atoms become samples that these codes reconstruct badly.
    fn revive<T: Real>(&self, samples: &Matrix<T>, codes: &Matrix<T>, learnt: &mut LearntAtoms<T>) {
        let radius = T::of(self.atom_norm);
        let moments = &learnt.statistics.moments;
        let unused = |k: &usize| moments.column(*k)[*k] == T::zero();
        let dead: Vec<usize> = (0..moments.columns()).filter(unused).collect();
        learnt.revived_atoms += revive(&mut learnt.atoms, samples, codes, moments, radius).1;
        if self.nonnegative_atoms {
            dead.into_iter().for_each(|k| without_negatives(learnt.atoms.column_mut(k)));
        }
    }
}

/// A knob that does not go with the others.
fn knob(name: &'static str, got: &str, allowed: &str) -> Error {
    Error::Knob { name: name.into(), got: got.to_owned(), allowed: allowed.to_owned() }
}

/// Samples that are coded together, and their last codes.
struct Batch<T> {
    chosen: Vec<usize>,
    codes: Option<Csr<T>>,
}

/// The part above zero, or, where there is none, the atom turned round.
fn without_negatives<T: Real>(atom: &mut [T]) {
    let turned = atom.iter().all(|d| *d <= T::zero());
    atom.iter_mut().for_each(|d| *d = if turned { -*d } else { d.max(T::zero()) });
}
