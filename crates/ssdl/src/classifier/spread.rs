//! Labels spread over a graph, until every sample agrees with its neighbours and its own label.
//!
//! With $S=D^{-1/2}WD^{-1/2}$ and $Y$ one at the class of each labelled sample, zero elsewhere:
//! $$F=(1-\alpha)(I-\alpha S)^{-1}Y,$$
//! or, where the given labels stay fixed (label propagation), $F_l=Y_l$ and
//! $$(I-S_{uu})D_u^{1/2}F_u=D_u^{-1/2}W_{ul}Y_l.$$
//!
//! Both are one system $(I-aM)G=B$ with a symmetric $M\ge0$, solved by conjugate gradients for all
//! classes side by side, in double precision.

use rayon::prelude::*;

use super::vote::{indicators, normalise};
use crate::graph::combine;
use crate::sparse::Csr;
use crate::threads::Loops;
use crate::{Labels, Matrix, Real};

/// Samples whose products one task sums.
const PART: usize = 1024;
/// Maximum number of refinement rounds.
const MAX_REFINEMENTS: usize = 100;

/// Residual, relative to the right-hand side, at which shares are spread.
const SHARES_TOLERANCE: f64 = 1e-8;
/// Maximum number of iterations to spread shares; the system is never ill-conditioned.
const SHARES_ITERATIONS: usize = 500;

/// How labels are spread.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Spread {
    /// α, between 0 and 1: the share that comes from the neighbours, not from a sample's own label.
    pub spreading: f64,
    /// Whether given labels stay fixed; α is then unused.
    pub clamp: bool,
    /// Residual, relative to the right-hand side, at which the solver stops.
    pub tolerance: f64,
    /// Maximum number of iterations of the solver.
    pub max_iterations: usize,
}

/// The result of spreading.
#[derive(Clone, Debug)]
pub struct SpreadLabels<T> {
    /// $C\times N$; columns sum to one, and are zero for samples that no label reaches.
    pub shares: Matrix<T>,
    /// Samples that no label reaches: no path, or one too weak for the number type.
    pub unreached: Vec<usize>,
    /// Iterations of the solver.
    pub iterations: usize,
    /// Whether the tolerance was met.
    pub converged: bool,
    /// How much neighbours disagree: $\tfrac12\sum_{ij}W_{ij}\lVert F_i/\sqrt{d_i}-F_j/\sqrt{d_j}\rVert^2$,
    /// without the roots where labels stay fixed.
    pub roughness: f64,
    /// How much given labels are overruled: $\lVert F-Y\rVert^2$, zero where they stay fixed.
    pub misfit: f64,
}

impl Spread {
    /// Spreads the labels over a graph: `weights` are symmetric, at least zero, without a diagonal.
    ///
    /// Cost per iteration: $C$ multiply-adds per edge; memory: five arrays of $C\times N$ and the
    /// graph, in double precision.
    #[must_use]
    #[inline(never)]
    pub fn spread<T: Real>(&self, weights: &Csr<T>, labels: &Labels) -> SpreadLabels<T> {
        self.spread_weighted(weights, labels, &vec![T::one(); labels.len()])
    }

    /// The same with rows of $Y$ that count as much as `of_samples` says, one number each; labels that
    /// stay fixed all count the same.
    #[must_use]
    #[inline(never)]
    pub fn spread_weighted<T: Real>(
        &self,
        weights: &Csr<T>,
        labels: &Labels,
        of_samples: &[T],
    ) -> SpreadLabels<T> {
        let weights = weights.cast::<f64>();
        let n = weights.rows();
        let roots: Vec<f64> =
            (0..n).map(|i| weights.row(i).map(|(_, w)| w).sum::<f64>().sqrt()).collect();
        let mut given = indicators::<f64>(labels);
        if !self.clamp {
            for (i, weight) in of_samples.iter().enumerate() {
                given.column_mut(i).iter_mut().for_each(|value| *value *= weight.wide());
            }
        }
        let system = if self.clamp {
            System::fixed(&weights, &roots, &given, labels)
        } else {
            System::soft(&weights, &roots, &given, self.spreading)
        };
        let (mut found, iterations, converged) = system.solve(self.tolerance, self.max_iterations);
        system.refine(&mut found, self.tolerance);
        if self.clamp {
            for (i, &root) in roots.iter().enumerate().filter(|(_, root)| **root > 0.0) {
                found.column_mut(i).iter_mut().for_each(|value| *value /= root);
            }
            for i in labels.labelled() {
                found.column_mut(i).copy_from_slice(given.column(i));
            }
        }
        let own = |i: usize| if self.clamp || roots[i] == 0.0 { 1.0 } else { 1.0 / roots[i] };
        let roughness = roughness(&weights, &found, own);
        let far = found.as_slice().iter().zip(given.as_slice());
        let misfit = far.map(|(f, y)| (f - y) * (f - y)).sum();
        let (shares, unreached) = shares_of(&found);
        let misfit = if self.clamp { 0.0 } else { misfit };
        SpreadLabels { shares, unreached, iterations, converged, roughness, misfit }
    }
}

/// Spreads shares that unlabelled samples already have, with the given labels fixed:
/// $$F_u=\alpha(S_{uu}F_u+S_{ul}Y_l)+(1-\alpha)F^0_u,\qquad F_l=Y_l.$$
///
/// `weights` are symmetric, at least zero, without a diagonal; `own` is $F^0$, $C\times N$, at least zero.
/// Columns of the result sum to one; a sample that has no share of its own and that no label reaches
/// stays at zero. Cost as for [`Spread::spread`].
#[must_use]
#[inline(never)]
pub fn spread_shares<T: Real>(
    weights: &Csr<T>,
    labels: &Labels,
    own: &Matrix<f64>,
    spreading: f64,
) -> Matrix<f64> {
    let weights = weights.cast::<f64>();
    let roots: Vec<f64> =
        (0..weights.rows()).map(|i| weights.row(i).map(|(_, w)| w).sum::<f64>().sqrt()).collect();
    let (assigned, given) = (labels.assigned(), indicators::<f64>(labels));
    let free = |i: usize| assigned[i].is_none();
    let mut rhs = Matrix::zeros(own.rows(), own.columns());
    for i in (0..weights.rows()).filter(|&i| free(i)) {
        let column = rhs.column_mut(i);
        column.iter_mut().zip(own.column(i)).for_each(|(b, f)| *b = (1.0 - spreading) * f);
        for (j, weight) in weights.row(i).filter(|(_, weight)| *weight > 0.0) {
            let class = assigned[j].into_iter();
            class.for_each(|class| column[class] += spreading * weight / roots[i] / roots[j]);
        }
    }
    let matrix = balanced(&weights, &roots, &free);
    let system = System { matrix, factor: spreading, rhs };
    let (mut found, ..) = system.solve(SHARES_TOLERANCE, SHARES_ITERATIONS);
    system.refine(&mut found, SHARES_TOLERANCE);
    for i in labels.labelled() {
        found.column_mut(i).copy_from_slice(given.column(i));
    }
    shares_of(&found).0
}

/// Columns that sum to one, and those that cannot.
fn shares_of<T: Real>(found: &Matrix<f64>) -> (Matrix<T>, Vec<usize>) {
    let mut shares = Matrix::zeros(found.rows(), found.columns());
    let mut unreached = Vec::new();
    for (i, column) in found.iter_columns().enumerate() {
        let sum: f64 = column.iter().sum();
        if sum >= f64::MIN_POSITIVE && sum.is_finite() {
            normalise(column, shares.column_mut(i));
        } else {
            unreached.push(i);
        }
    }
    (shares, unreached)
}

fn roughness(weights: &Csr<f64>, found: &Matrix<f64>, own: impl Fn(usize) -> f64) -> f64 {
    let mut sum = 0.0;
    for i in 0..weights.rows() {
        let at = own(i);
        for (j, weight) in weights.row(i).filter(|(j, _)| *j < i) {
            let there = own(j);
            let pairs = found.column(i).iter().zip(found.column(j));
            sum += weight * pairs.map(|(a, b)| (a * at - b * there).powi(2)).sum::<f64>();
        }
    }
    sum
}

/// $(I-aM)G=B$, one column per sample.
struct System {
    matrix: Csr<f64>,
    factor: f64,
    rhs: Matrix<f64>,
}

impl System {
    fn soft(weights: &Csr<f64>, roots: &[f64], given: &Matrix<f64>, spreading: f64) -> Self {
        let mut rhs = given.clone();
        rhs.as_mut_slice().iter_mut().for_each(|value| *value *= 1.0 - spreading);
        Self { matrix: balanced(weights, roots, &|_| true), factor: spreading, rhs }
    }

    fn fixed(weights: &Csr<f64>, roots: &[f64], given: &Matrix<f64>, labels: &Labels) -> Self {
        let assigned = labels.assigned();
        // Where no label arrives the system is singular; those samples stay at zero.
        let reached = reached(weights, labels);
        let free = |i: usize| assigned[i].is_none() && reached[i];
        let mut rhs = Matrix::zeros(given.rows(), given.columns());
        for i in (0..weights.rows()).filter(|&i| free(i)) {
            for (j, weight) in weights.row(i) {
                let class = assigned[j].into_iter();
                class.for_each(|class| rhs.column_mut(i)[class] += weight / roots[i]);
            }
        }
        Self { matrix: balanced(weights, roots, &free), factor: 1.0, rhs }
    }

    /// Conjugate gradients, one step length per class; classes that are done wait for the others.
    /// The same bits for any number of threads: sums run over parts of a fixed size.
    fn solve(&self, tolerance: f64, limit: usize) -> (Matrix<f64>, usize, bool) {
        let mut found = Matrix::zeros(self.rhs.rows(), self.rhs.columns());
        let mut residual = self.rhs.clone();
        let mut direction = residual.clone();
        let mut image = found.clone();
        let mut norms = by_class(&residual, &residual);
        let goal: Vec<f64> = norms.iter().map(|norm| norm * tolerance * tolerance).collect();
        let open = |norms: &[f64], class: usize| norms[class] > goal[class];
        for iteration in 0..limit {
            if (0..goal.len()).all(|class| !open(&norms, class)) {
                return (found, iteration, true);
            }
            self.apply(&direction, &mut image);
            let curvature = by_class(&direction, &image);
            let steps: Vec<f64> = (0..goal.len())
                .map(|class| {
                    let moves = open(&norms, class) && curvature[class] > 0.0;
                    if moves { norms[class] / curvature[class] } else { 0.0 }
                })
                .collect();
            add(&mut found, &steps, &direction);
            let back: Vec<f64> = steps.iter().map(|step| -step).collect();
            add(&mut residual, &back, &image);
            let next = by_class(&residual, &residual);
            let keep: Vec<f64> = (0..goal.len())
                .map(|class| if steps[class] > 0.0 { next[class] / norms[class] } else { 0.0 })
                .collect();
            direction.par_columns_mut().enumerate().with_min_len(PART).each(|(i, column)| {
                let parts = column.iter_mut().zip(residual.column(i)).zip(&keep);
                parts.for_each(|((d, r), keep)| *d = r + keep * *d);
            });
            norms = next;
        }
        let converged = (0..goal.len()).all(|class| !open(&norms, class));
        (found, limit, converged)
    }

    /// $G\leftarrow aMG+B$ until no entry changes by more than the tolerance allows.
    ///
    /// Conjugate gradients are accurate relative to the largest entries. Far from all labels the
    /// entries are much smaller, and only their ratio matters: these sums of positive terms have
    /// no cancellation, so each entry becomes accurate relative to itself.
    fn refine(&self, found: &mut Matrix<f64>, tolerance: f64) {
        found.as_mut_slice().iter_mut().for_each(|value| *value = value.max(0.0));
        let mut next = Matrix::zeros(found.rows(), found.columns());
        let enough = tolerance.max(1e-12);
        for _ in 0..MAX_REFINEMENTS {
            combine(&self.matrix, found, &mut next);
            let columns = next.par_columns_mut().enumerate().with_min_len(PART);
            let steady = columns.gather(|(i, column)| {
                let mut steady = true;
                let parts = column.iter_mut().zip(self.rhs.column(i)).zip(found.column(i));
                for ((value, b), before) in parts {
                    *value = self.factor * *value + b;
                    steady &= (*value - before).abs() <= enough * *value;
                }
                steady
            });
            std::mem::swap(found, &mut next);
            if steady.into_iter().all(|steady| steady) {
                return;
            }
        }
    }

    fn apply(&self, of: &Matrix<f64>, out: &mut Matrix<f64>) {
        combine(&self.matrix, of, out);
        out.par_columns_mut().enumerate().with_min_len(PART).each(|(i, column)| {
            let own = column.iter_mut().zip(of.column(i));
            own.for_each(|(value, own)| *value = own - self.factor * *value);
        });
    }
}

/// $D^{-1/2}WD^{-1/2}$ between the samples included.
fn balanced(weights: &Csr<f64>, roots: &[f64], takes_part: &dyn Fn(usize) -> bool) -> Csr<f64> {
    let rows = (0..weights.rows()).map(|i| {
        let row = weights.row(i).filter(|&(j, w)| w > 0.0 && takes_part(i) && takes_part(j));
        row.map(|(j, w)| (j, w / roots[i] / roots[j])).collect::<Vec<_>>()
    });
    Csr::from_rows(weights.columns(), rows)
}

/// Whether a path leads to a labelled sample.
fn reached(weights: &Csr<f64>, labels: &Labels) -> Vec<bool> {
    let mut reached = vec![false; weights.rows()];
    let mut open = labels.labelled();
    while let Some(i) = open.pop() {
        if !std::mem::replace(&mut reached[i], true) {
            let on = weights.row(i).filter(|&(j, w)| w > 0.0 && !reached[j]);
            open.extend(on.map(|(j, _)| j));
        }
    }
    reached
}

/// $\sum_ia_{ci}b_{ci}$ for each class.
fn by_class(a: &Matrix<f64>, b: &Matrix<f64>) -> Vec<f64> {
    let n = a.columns();
    let parts = (0..n.div_ceil(PART)).into_par_iter().gather(|part| {
        let mut sums = vec![0.0; a.rows()];
        for i in part * PART..((part + 1) * PART).min(n) {
            let pairs = a.column(i).iter().zip(b.column(i));
            sums.iter_mut().zip(pairs).for_each(|(sum, (a, b))| *sum += a * b);
        }
        sums
    });
    let mut total = vec![0.0; a.rows()];
    for part in parts {
        total.iter_mut().zip(part).for_each(|(total, part)| *total += part);
    }
    total
}

/// Adds to each class its multiple of `what`.
fn add(to: &mut Matrix<f64>, times: &[f64], what: &Matrix<f64>) {
    to.par_columns_mut().enumerate().with_min_len(PART).each(|(i, column)| {
        let parts = column.iter_mut().zip(what.column(i)).zip(times);
        parts.for_each(|((value, what), times)| *value += times * what);
    });
}
