//! The alternating minimisation of the paper's Algorithm 1, over any composition of stages.

use std::time::Instant;

use super::accelerate::{carry_on, overshoot};
use super::{Flow, Objective, Progress, Step, Stop, TraceRow, Watch, Weights};
use crate::classifier::{
    Active, ActivePoints, LinearClassifier, Shares, best, labelled, margin, ridge,
};
use crate::codes::{Coding, Coordinate, Descent, Margin, Quadratic};
use crate::dictionary::{Statistics, Update, gram, init, project, revive};
use crate::graph::Laplacian;
use crate::matrix::absolute_sum;
use crate::samples::Labels;
use crate::{Error, Matrix, Real, Result};

/// Share of the unlabelled samples that may still change class when a fit counts as settled.
const RESTLESS: f64 = 0.005;

/// What is composed, and with which weights.
pub struct Recipe<'a, T> {
    /// The graph; `None` leaves the codes uncoupled.
    pub laplacian: Option<&'a Laplacian<T>>,
    /// How codes are brought down.
    pub coder: &'a dyn Descent<T>,
    /// How atoms are brought down.
    pub update: &'a dyn Update<T>,
    /// How the hinge becomes a quadratic.
    pub active_points: ActivePoints,
    /// λ, β, γ, μ.
    pub weights: Weights,
    /// $r\ge1$.
    pub sharpness: f64,
    /// $p$.
    pub n_atoms: usize,
    /// Whether mixtures of samples stand in where there are too few samples for the atoms.
    pub fill_atoms: bool,
    /// α.
    pub atom_norm: f64,
    /// Whether unused atoms become badly reconstructed samples.
    pub revive: bool,
    /// Outer iterations at the most.
    pub max_iterations: usize,
    /// Relative change of the objective that counts as settled.
    pub tolerance: f64,
    /// Seed of the first atoms.
    pub seed: u64,
    /// Where to begin; `None` begins with labelled samples as atoms.
    pub start: Option<Start<T>>,
}

/// Where an alternation begins: the end of an earlier one, mostly.
#[derive(Clone, Debug)]
pub struct Start<T> {
    /// $D$, $n\times p$; shrunk into the ball where an atom is too long.
    pub atoms: Matrix<T>,
    /// $A$, $p\times N$.
    pub codes: Matrix<T>,
}

/// What comes out.
#[derive(Clone, Debug)]
pub struct Fitted<T> {
    /// $D$, $n\times p$.
    pub atoms: Matrix<T>,
    /// $A$, $p\times N$.
    pub codes: Matrix<T>,
    /// $W$, $b$.
    pub classifier: LinearClassifier<T>,
    /// Objective after every step.
    pub trace: Vec<TraceRow>,
    /// Why it stopped.
    pub stop: Stop,
    /// Outer iterations begun.
    pub iterations: usize,
    /// Atoms nobody used at the last dictionary step.
    pub dead_atoms: usize,
    /// Atoms revived over the whole fit.
    pub revived_atoms: usize,
}

/// Fits atoms, codes and classifier to samples ($n\times N$) of which some are labelled.
///
/// # Errors
/// If a system is singular or a value stops being finite, or the watcher stops the fit before the
/// first classifier is ready.
pub fn alternate<T: Real>(
    samples: &Matrix<T>,
    labels: &Labels,
    recipe: &Recipe<'_, T>,
    watch: &mut dyn Watch,
) -> Result<Fitted<T>> {
    let mut run = Run::start(samples, labels, recipe, watch)?;
    let mut stop = Stop::Limit;
    if run.record(Step::Start) == Flow::Stop {
        stop = Stop::Cancelled;
    }
    while stop == Stop::Limit && run.iteration < recipe.max_iterations {
        run.iteration += 1;
        let before = run.objective.total();
        stop = run.iterate()?.unwrap_or_else(|| run.settled(before));
    }
    Ok(Fitted {
        atoms: run.atoms,
        codes: run.codes,
        classifier: run.classifier,
        trace: run.trace,
        stop,
        iterations: run.iteration,
        dead_atoms: run.dead_atoms,
        revived_atoms: run.revived_atoms,
    })
}

/// The state of a fit.
struct Run<'a, T> {
    samples: &'a Matrix<T>,
    labels: &'a Labels,
    recipe: &'a Recipe<'a, T>,
    watch: &'a mut dyn Watch,
    atoms: Matrix<T>,
    gram: Matrix<T>,
    codes: Matrix<T>,
    classifier: LinearClassifier<T>,
    /// Codes at the start of the last iteration.
    previous: Option<Matrix<T>>,
    shares: Shares<T>,
    scores: Matrix<T>,
    energy: f64,
    objective: Objective,
    surrogate: f64,
    iteration: usize,
    classes: Vec<usize>,
    flips: usize,
    dead_atoms: usize,
    revived_atoms: usize,
    trace: Vec<TraceRow>,
    clock: Instant,
}

impl<'a, T: Real> Run<'a, T> {
    /// Labelled samples as atoms, lasso codes, ridge classifier on the labelled codes.
    fn start(
        samples: &'a Matrix<T>,
        labels: &'a Labels,
        recipe: &'a Recipe<'a, T>,
        watch: &'a mut dyn Watch,
    ) -> Result<Self> {
        let clock = Instant::now();
        let energy = samples.squared_norm();
        let (atoms, codes) = match &recipe.start {
            Some(start) => {
                let mut atoms = start.atoms.clone();
                let radius = T::of(recipe.atom_norm);
                (0..atoms.columns()).for_each(|k| project(atoms.column_mut(k), radius));
                (atoms, start.codes.clone())
            }
            None => first_atoms_and_codes(samples, labels, recipe, watch)?,
        };
        let gram = gram(&atoms);
        let reconstruction = Statistics::of(samples, &codes, energy).residual(&atoms, &gram);
        let classes: Vec<usize> = labels.assigned().iter().flatten().copied().collect();
        let classifier = ridge(
            &codes.select_columns(&labelled(labels)),
            &classes,
            labels.classes().len(),
            T::of(recipe.weights.rho()),
        )?;
        let scores = classifier.scores(&codes);
        let shares = Shares::at(&scores, labels.assigned(), recipe.sharpness);
        let mut run = Self {
            samples,
            labels,
            recipe,
            watch,
            atoms,
            gram,
            codes,
            classifier,
            shares,
            energy,
            objective: Objective::default(),
            surrogate: 0.0,
            iteration: 0,
            classes: scores.iter_columns().map(best).collect(),
            scores,
            previous: None,
            flips: 0,
            dead_atoms: 0,
            revived_atoms: 0,
            trace: Vec::new(),
            clock,
        };
        run.objective.reconstruction = reconstruction;
        run.measure_codes(None);
        run.measure_classifier();
        run.surrogate = run.objective.total();
        Ok(run)
    }

    /// One outer iteration; `Some` if the watcher stopped it.
    fn iterate(&mut self) -> Result<Option<Stop>> {
        let recipe = self.recipe;
        let active = self.vote();
        if active.is_some() {
            self.measure_classifier();
            self.measure_surrogate(active.as_ref());
            if self.record(Step::Membership) == Flow::Stop {
                return Ok(Some(Stop::Cancelled));
            }
        }

        let before = self.surrogate;
        let start = self.codes.clone();
        let previous = self.previous.take().filter(|_| !self.is_last());
        if let Some(previous) = &previous {
            carry_on(&mut self.codes, previous);
        }
        let mut statistics = self.code(active.as_ref());
        if previous.is_some() && self.surrogate > before {
            self.codes.clone_from(&start);
            statistics = self.code(active.as_ref());
        }
        self.previous = Some(start);
        self.check_finite(Step::Codes)?;
        if self.record(Step::Codes) == Flow::Stop {
            return Ok(Some(Stop::Cancelled));
        }

        self.learn_atoms(&statistics);
        self.measure_surrogate(active.as_ref());
        let flow = self.record(Step::Dictionary);
        let Some(active) = active.filter(|_| flow == Flow::Continue) else {
            return Ok((flow == Flow::Stop).then_some(Stop::Cancelled));
        };

        self.learn_classifier(&active)?;
        self.measure_classifier();
        // The majoriser is renewed within the step and touches the true loss where it ends.
        match recipe.active_points {
            ActivePoints::Frozen => self.measure_surrogate(Some(&active)),
            ActivePoints::Majorised => self.surrogate = self.objective.total(),
        }
        self.count_flips();
        self.check_finite(Step::Classifier)?;
        let flow = self.record(Step::Classifier);
        Ok((flow == Flow::Stop).then_some(Stop::Cancelled))
    }

    /// Whether no iteration is left to make use of going too far in this one.
    fn is_last(&self) -> bool {
        self.iteration == self.recipe.max_iterations
    }

    /// Class memberships and active points at the current scores; `None` where γ = 0 and the classes
    /// have no say.
    fn vote(&mut self) -> Option<Active<T>> {
        let recipe = self.recipe;
        if recipe.weights.discrimination <= 0.0 {
            return None;
        }
        self.shares = Shares::at(&self.scores, self.labels.assigned(), recipe.sharpness);
        Some(Active::at(recipe.active_points, &self.scores, &self.shares))
    }

    /// Brings the codes down from where they stand, and measures them.
    fn code(&mut self, active: Option<&Active<T>>) -> Statistics<T> {
        let Weights { sparsity, manifold, discrimination, .. } = self.recipe.weights;
        let weights = &self.classifier.weights;
        let cross = match active {
            Some(_) => Matrix::of_product(weights.view(), weights.transposed()),
            None => Matrix::zeros(0, 0),
        };
        let problem = Coding {
            samples: self.samples,
            atoms: &self.atoms,
            gram: &self.gram,
            graph: self.recipe.laplacian.map(|laplacian| (T::of(manifold), laplacian)),
            margin: active.map(|active| Margin {
                discrimination: T::of(discrimination),
                classifier: &self.classifier,
                cross: &cross,
                active,
            }),
            sparsity: T::of(sparsity),
        };
        // The first codes knew neither graph nor classes and have the farthest to go.
        let passes = if self.iteration <= 2 { 2 } else { 1 };
        let mut energy = None;
        for _ in 0..passes {
            energy = self.recipe.coder.code(&problem, &mut self.codes).graph_energy;
        }
        let statistics = Statistics::of(self.samples, &self.codes, self.energy);
        self.objective.reconstruction = statistics.residual(&self.atoms, &self.gram);
        self.measure_codes(energy);
        if active.is_some() {
            self.scores = self.classifier.scores(&self.codes);
        }
        self.measure_classifier();
        self.measure_surrogate(active);
        statistics
    }

    fn learn_atoms(&mut self, statistics: &Statistics<T>) {
        let radius = T::of(self.recipe.atom_norm);
        let before = self.atoms.clone();
        self.recipe.update.update(&mut self.atoms, statistics, radius);
        let allowed = self.objective.reconstruction;
        let further = overshoot(&before, &self.atoms, statistics, radius, allowed);
        match further.filter(|_| !self.is_last()) {
            Some(further) => (self.atoms, self.gram) = further,
            None => self.gram = gram(&self.atoms),
        }
        let moments = &statistics.moments;
        if self.recipe.revive {
            let (dead, revived) =
                revive(&mut self.atoms, self.samples, &self.codes, moments, radius);
            self.dead_atoms = dead - revived;
            self.revived_atoms += revived;
            if revived > 0 {
                self.gram = gram(&self.atoms);
            }
        } else {
            let unused = |k: &usize| moments.column(*k)[*k] == T::zero();
            self.dead_atoms = (0..moments.columns()).filter(unused).count();
        }
        self.objective.reconstruction = statistics.residual(&self.atoms, &self.gram);
    }

    fn learn_classifier(&mut self, active: &Active<T>) -> Result<()> {
        let rho = T::of(self.recipe.weights.rho());
        let points = (self.recipe.active_points, active, &self.shares);
        margin::update(&mut self.classifier, &self.codes, points, rho, margin::ROUNDS)
            .map_err(|error| at_iteration(error, self.iteration))?;
        self.scores = self.classifier.scores(&self.codes);
        Ok(())
    }

    /// ‖A‖₁ and the graph energy, unless that is known already.
    fn measure_codes(&mut self, energy: Option<f64>) {
        let weights = self.recipe.weights;
        self.objective.sparsity = weights.sparsity * absolute_sum(self.codes.as_slice());
        let energy = energy.or_else(|| Some(self.recipe.laplacian?.energy(&self.codes)));
        self.objective.manifold = weights.manifold * energy.unwrap_or(0.0);
    }

    fn measure_classifier(&mut self) {
        let weights = self.recipe.weights;
        if weights.discrimination > 0.0 {
            self.objective.discrimination = weights.discrimination * self.shares.loss(&self.scores);
            self.objective.ridge = weights.ridge * self.classifier.squared_norm();
        }
    }

    fn measure_surrogate(&mut self, active: Option<&Active<T>>) {
        let quadratic = active
            .map_or(0.0, |active| self.recipe.weights.discrimination * active.value(&self.scores));
        self.surrogate = self.objective.total() - self.objective.discrimination + quadratic;
    }

    fn count_flips(&mut self) {
        let now: Vec<usize> = self.scores.iter_columns().map(best).collect();
        let unlabelled = self.labels.assigned().iter().map(Option::is_none);
        let pairs = now.iter().zip(&self.classes).zip(unlabelled);
        self.flips = pairs.filter(|((new, old), free)| *free && new != old).count();
        self.classes = now;
    }

    fn check_finite(&self, step: Step) -> Result<()> {
        if self.objective.total().is_finite() {
            return Ok(());
        }
        Err(Error::Diverged {
            step: step.name(),
            iteration: self.iteration,
            what: "the objective is not finite".into(),
        })
    }

    fn settled(&self, before: f64) -> Stop {
        let change = (before - self.objective.total()).abs();
        let unlabelled = self.labels.len() - self.labels.n_labelled();
        let restless = (RESTLESS * unlabelled as f64) as usize;
        if change <= self.recipe.tolerance * before && self.flips <= restless {
            Stop::Converged
        } else {
            Stop::Limit
        }
    }

    fn record(&mut self, step: Step) -> Flow {
        self.trace.push(TraceRow {
            iteration: self.iteration,
            step,
            objective: self.objective,
            surrogate: self.surrogate,
            flips: self.flips,
            seconds: self.clock.elapsed().as_secs_f64(),
        });
        self.clock = Instant::now();
        self.watch.step(&Progress {
            iteration: self.iteration,
            max_iterations: self.recipe.max_iterations,
            step,
            objective: Some(self.objective),
        })
    }
}

/// Labelled samples as atoms, then the rest; lasso codes on them.
fn first_atoms_and_codes<T: Real>(
    samples: &Matrix<T>,
    labels: &Labels,
    recipe: &Recipe<'_, T>,
    watch: &mut dyn Watch,
) -> Result<(Matrix<T>, Matrix<T>)> {
    let radius = T::of(recipe.atom_norm);
    let mut atoms = init::first_atoms(samples, labels, recipe.n_atoms, radius, recipe.seed);
    if recipe.fill_atoms {
        atoms = init::fill(atoms, samples, labels, recipe.n_atoms, radius, recipe.seed);
    }
    if atoms.columns() < recipe.n_atoms {
        watch.notice(&format!(
            "{} atoms instead of {}: the samples give no more",
            atoms.columns(),
            recipe.n_atoms
        ));
    }
    if atoms.columns() == 0 {
        return Err(Error::Samples("every sample is zero: there is nothing to learn".into()));
    }
    let correlations = Matrix::of_product(atoms.transposed(), samples.view());
    let mut codes = Matrix::zeros(atoms.columns(), samples.columns());
    let gram = gram(&atoms);
    let sparsity = T::of(recipe.weights.sparsity);
    let lasso = Quadratic::individual(&gram, Vec::new(), correlations, sparsity);
    // Rough is enough: the first iteration moves them far.
    Coordinate { sweeps: 12, inner_sweeps: 8, tolerance: 0.05, direct: false }
        .minimise(&lasso, &mut codes);
    Ok((atoms, codes))
}

fn at_iteration(error: Error, now: usize) -> Error {
    match error {
        Error::Diverged { step, what, .. } => Error::Diverged { step, iteration: now, what },
        other => other,
    }
}
