//! Block coordinate descent: each sample's code in turn, by coordinate descent on its support.
//!
//! Coordinates are far better conditioned than the gradient step: $H_{kk}\approx1$ where
//! $\lambda_{\max}(D^\top D)\approx p/2$ for atoms with a common mean.

use std::sync::Mutex;

use super::super::working_set::{Effort, WorkingSet};
use super::super::{Coding, Quadratic};
use super::{Descended, Descent};
use crate::device::{self, Engine, Individual};
use crate::matrix::{Matrix, axpy};
use crate::threads::{Loops, both};
use crate::wide::wide;
use crate::{Real, stop};

/// Samples handed to a thread at once.
const CHUNK: usize = 4;
/// Samples of a group whose changes are applied together: what they touch is still in cache.
const BATCH: usize = 512;
/// Parts of the residuals to which changes are applied side by side.
const PARTS: usize = 4;

/// Coordinate descent over samples (and over coefficients within each).
///
/// Coupled samples are visited group by group ([`Laplacian::independent_groups`]); within a group
/// they do not interact, so threads change nothing. Without a graph every sample is solved on its own.
///
/// [`Laplacian::independent_groups`]: crate::graph::Laplacian::independent_groups
#[derive(Clone, Copy, Debug)]
pub struct Coordinate {
    /// Maximum number of sweeps over all samples.
    pub sweeps: usize,
    /// Maximum number of sweeps over the coefficients of a sample per visit.
    pub inner_sweeps: usize,
    /// Optimality gap, relative to λ, at which to stop.
    pub tolerance: f64,
    /// Whether a visit whose sweeps do not converge soon solves for the support directly: faster for
    /// exact codes, wasted where the next visit moves them anyway.
    pub direct: bool,
}

impl<T: Real> Descent<T> for Coordinate {
    #[inline(never)]
    fn code(&self, problem: &Coding<'_, T>, codes: &mut Matrix<T>) -> Descended {
        self.minimise(&problem.quadratic(), codes)
    }
}

impl Coordinate {
    /// Minimises over `codes` on a problem that is already assembled.
    #[inline(never)]
    pub fn minimise<T: Real>(
        &self,
        problem: &Quadratic<'_, T>,
        codes: &mut Matrix<T>,
    ) -> Descended {
        if problem.graph.is_some() {
            return self.coupled(problem, codes);
        }
        let individual = Individual {
            gram: problem.gram,
            rhs: &problem.rhs,
            shifts: &problem.shifts,
            sparsity: problem.penalty.sparsity,
            nonnegative: problem.penalty.nonnegative,
        };
        let elsewhere = |engine: &dyn Engine<T>| engine.code(*self, &individual, codes);
        if problem.margin.is_none()
            && device::attempt_large(problem.rhs.columns(), elsewhere).is_some()
        {
            return Descended { steps: self.sweeps, gap: 0.0, graph_energy: None };
        }
        self.separate(problem, codes)
    }

    /// Without a graph: each sample to convergence, in parallel.
    fn separate<T: Real>(&self, problem: &Quadratic<'_, T>, codes: &mut Matrix<T>) -> Descended {
        let effort = Effort {
            rounds: self.sweeps + 1,
            sweeps: self.inner_sweeps,
            tolerance: T::of(self.tolerance),
            direct: self.direct,
        };
        let stop = stop::armed();
        let columns = codes.columns_mut().enumerate().runs_of(CHUNK);
        let gaps = columns.gather_with(WorkingSet::new, |set, (j, code)| {
            if stop.is_set() {
                return 0.0;
            }
            set.solve(problem.local(j), problem.rhs.column(j), code, effort).wide()
        });
        let gap = gaps.into_iter().fold(0.0, f64::max);
        Descended { steps: self.sweeps, gap, graph_energy: None }
    }

    fn coupled<T: Real>(&self, problem: &Quadratic<'_, T>, codes: &mut Matrix<T>) -> Descended {
        let Some((strength, laplacian)) = problem.graph else {
            return self.separate(problem, codes);
        };
        let mut residuals = laplacian.residuals(codes);
        let effort = Effort {
            rounds: 1,
            sweeps: self.inner_sweeps,
            tolerance: T::of(self.tolerance),
            direct: self.direct,
        };
        let groups = laplacian.independent_groups();
        let mut visits: Vec<Visit<T>> = (0..BATCH).map(|_| Visit::default()).collect();
        let workers = Mutex::new(Vec::new());
        let mut done = Descended { steps: 0, gap: f64::INFINITY, graph_energy: None };
        while done.steps < self.sweeps && done.gap > self.tolerance {
            (done.steps, done.gap) = (done.steps + 1, 0.0);
            for batch in groups.iter().flat_map(|group| group.chunks(BATCH)) {
                let visits = &mut visits[..batch.len()];
                let state = State { problem, strength, codes, residuals: &residuals };
                visits.chunks_mut(CHUNK).zip(batch.chunks(CHUNK)).each(|(visits, samples)| {
                    let mut worker = take(&workers);
                    for (visit, &j) in visits.iter_mut().zip(samples) {
                        state.visit(j as usize, &mut worker, visit, effort);
                    }
                    give(&workers, worker);
                });
                done.gap = visits.iter().fold(done.gap, |gap, visit| gap.max(visit.gap.wide()));
                apply_changes(visits, batch, laplacian, codes, &mut residuals);
            }
        }
        Descended { graph_energy: Some(laplacian.energy_beside(codes, &residuals)), ..done }
    }
}

/// A thread's buffers.
struct Worker<T> {
    set: WorkingSet<T>,
    rhs: Vec<T>,
    pull: Vec<T>,
    code: Vec<T>,
}

fn take<T: Real>(workers: &Mutex<Vec<Worker<T>>>) -> Worker<T> {
    let idle = workers.lock().ok().and_then(|mut idle| idle.pop());
    idle.unwrap_or_else(|| Worker {
        set: WorkingSet::new(),
        rhs: Vec::new(),
        pull: Vec::new(),
        code: Vec::new(),
    })
}

fn give<T>(workers: &Mutex<Vec<Worker<T>>>, worker: Worker<T>) {
    if let Ok(mut idle) = workers.lock() {
        idle.push(worker);
    }
}

/// The result of a visit to one sample; recorded first and applied after the whole group, so that
/// threads only read shared state.
#[derive(Default)]
struct Visit<T> {
    changes: Vec<(u32, T)>,
    gap: T,
}

struct State<'a, T> {
    problem: &'a Quadratic<'a, T>,
    strength: T,
    codes: &'a Matrix<T>,
    residuals: &'a Matrix<T>,
}

impl<T: Real> State<'_, T> {
    /// Solves sample `j` with its neighbours held fixed:
    /// $r_j=R_j-\beta[(AL)_j-L_{jj}a_j]$.
    fn visit(&self, j: usize, worker: &mut Worker<T>, visit: &mut Visit<T>, effort: Effort<T>) {
        let Some((_, laplacian)) = self.problem.graph else { return };
        let Worker { set, rhs, pull, code } = worker;
        let old = self.codes.column(j);
        rhs.clear();
        rhs.extend_from_slice(self.problem.rhs.column(j));
        code.clear();
        code.extend_from_slice(old);
        pull.clear();
        pull.resize(old.len(), T::zero());
        wide(
            #[inline(always)]
            || {
                laplacian.add_pull_of_others(j, self.codes, self.residuals, pull);
                axpy(-self.strength, pull, rhs);
            },
        );
        visit.gap = set.solve(self.problem.local(j), rhs, code, effort);
        visit.changes.clear();
        for &k in set.touched() {
            let change = code[k as usize] - old[k as usize];
            if change != T::zero() {
                visit.changes.push((k, change));
            }
        }
    }
}

/// Adds the changes of a batch to the codes and to the residuals they enter. No two samples of a
/// batch enter the same residual, so each number is changed at most once and the split among
/// threads does not affect the bits.
fn apply_changes<T: Real>(
    visits: &[Visit<T>],
    batch: &[u32],
    laplacian: &crate::graph::Laplacian<T>,
    codes: &mut Matrix<T>,
    residuals: &mut Matrix<T>,
) {
    let p = codes.rows();
    let to_codes = || {
        for (visit, &j) in visits.iter().zip(batch) {
            visit.add_to(codes.column_mut(j as usize), T::one());
        }
    };
    let width = residuals.columns().div_ceil(PARTS).max(1);
    let parts = residuals.as_mut_slice().chunks_mut((p * width).max(1));
    let to_residuals = || {
        parts.enumerate().each(|(part, residuals)| {
            let first = part * width;
            for (visit, &j) in visits.iter().zip(batch) {
                let entries = laplacian.enters(j as usize);
                for (m, weight) in entries.filter(|(m, _)| (first..first + width).contains(m)) {
                    visit.add_to(&mut residuals[(m - first) * p..][..p], weight);
                }
            }
        });
    };
    both(to_residuals, to_codes);
}

impl<T: Real> Visit<T> {
    fn add_to(&self, column: &mut [T], weight: T) {
        for &(k, change) in &self.changes {
            column[k as usize] += weight * change;
        }
    }
}
