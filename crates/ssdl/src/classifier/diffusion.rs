//! The linear system of spread labels, and its solver, wherever the scores lie.
//!
//! $(I-aM)G=B$ with a symmetric $M\ge0$: conjugate gradients for all classes side by side, then sums of positive
//! terms until every entry is accurate relative to itself. The samples may lie in several places: then each has its own
//! rows of $M$, whose columns are its own samples and after them a *halo* of foreign ones.

use std::borrow::Cow;
use std::convert::Infallible;

use crate::Matrix;
use crate::graph::combine;
use crate::sparse::Csr;
use crate::threads::Loops;

/// Samples whose products one task sums.
const PART: usize = 1024;
/// Maximum number of refinement rounds.
const MAX_REFINEMENTS: usize = 100;

/// Where the scores of a system lie: what its solver asks of that place. All sums are by class, over all samples.
pub(crate) trait Scores {
    /// Why a place cannot answer.
    type Error;

    /// Begins at zero: $\lVert B\rVert^2$.
    fn begin(&mut self) -> Result<Vec<f64>, Self::Error>;

    /// Directions become residuals plus so many times the directions before: $\langle d,(I-aM)d\rangle$.
    fn turn(&mut self, keep: &[f64]) -> Result<Vec<f64>, Self::Error>;

    /// So many times the directions are added: the squared norms of the residuals after it.
    fn advance(&mut self, steps: &[f64]) -> Result<Vec<f64>, Self::Error>;

    /// No entry stays below zero; from here on the scores are refined.
    fn settle(&mut self) -> Result<(), Self::Error>;

    /// $G\leftarrow aMG+B$; whether no entry changed by more than this, relative to itself.
    fn refine(&mut self, enough: f64) -> Result<bool, Self::Error>;
}

/// Conjugate gradients, one step length per class; classes that are done wait for the others. Gives the number of
/// iterations, and whether the residual fell below `tolerance` times $\lVert B\rVert$.
pub(crate) fn solve<S: Scores>(
    scores: &mut S,
    tolerance: f64,
    limit: usize,
) -> Result<(usize, bool), S::Error> {
    let mut norms = scores.begin()?;
    let goal: Vec<f64> = norms.iter().map(|norm| norm * tolerance * tolerance).collect();
    let open = |norms: &[f64], class: usize| norms[class] > goal[class];
    let mut keep = vec![0.0; goal.len()];
    for iteration in 0..limit {
        if (0..goal.len()).all(|class| !open(&norms, class)) {
            return Ok((iteration, true));
        }
        let curvature = scores.turn(&keep)?;
        let steps: Vec<f64> = (0..goal.len())
            .map(|class| {
                let moves = open(&norms, class) && curvature[class] > 0.0;
                if moves { norms[class] / curvature[class] } else { 0.0 }
            })
            .collect();
        let next = scores.advance(&steps)?;
        keep = (0..goal.len())
            .map(|class| if steps[class] > 0.0 { next[class] / norms[class] } else { 0.0 })
            .collect();
        norms = next;
    }
    let converged = (0..goal.len()).all(|class| !open(&norms, class));
    Ok((limit, converged))
}

/// $G\leftarrow aMG+B$ until no entry changes by more than the tolerance allows.
///
/// Conjugate gradients are accurate relative to the largest entries. Far from all labels the
/// entries are much smaller, and only their ratio matters: these sums of positive terms have
/// no cancellation, so each entry becomes accurate relative to itself.
pub(crate) fn refine<S: Scores>(scores: &mut S, tolerance: f64) -> Result<(), S::Error> {
    scores.settle()?;
    for _ in 0..MAX_REFINEMENTS {
        if scores.refine(tolerance.max(1e-12))? {
            return Ok(());
        }
    }
    Ok(())
}

/// $(I-aM)G=B$, one column per sample.
pub(crate) struct System {
    /// $M$: a row for each own sample, a column for each of these and of the halo.
    pub matrix: Csr<f64>,
    /// $a$.
    pub factor: f64,
    /// $B$.
    pub rhs: Matrix<f64>,
}

impl System {
    /// Labels that may be overruled: $M=S$, $a=\alpha$, $B=(1-\alpha)Y$.
    pub fn soft(weights: &Csr<f64>, roots: &[f64], given: &Matrix<f64>, spreading: f64) -> Self {
        let mut rhs = given.clone();
        rhs.as_mut_slice().iter_mut().for_each(|value| *value *= 1.0 - spreading);
        Self { matrix: balanced(weights, roots, &|_| true), factor: spreading, rhs }
    }

    /// Labels that stay fixed. Where no label arrives the system is singular; those samples stay at zero.
    pub fn fixed(
        weights: &Csr<f64>,
        roots: &[f64],
        assigned: &[Option<usize>],
        reached: &[bool],
        n_classes: usize,
    ) -> Self {
        let free = |i: usize| assigned[i].is_none() && reached[i];
        let mut rhs = Matrix::zeros(n_classes, weights.rows());
        for i in (0..weights.rows()).filter(|&i| free(i)) {
            for (j, weight) in weights.row(i) {
                let class = assigned[j].into_iter();
                class.for_each(|class| rhs.column_mut(i)[class] += weight / roots[i]);
            }
        }
        Self { matrix: balanced(weights, roots, &free), factor: 1.0, rhs }
    }
}

/// The scores of a system and where its solver stands. The same bits for any number of threads: sums run over parts
/// of a fixed size.
pub(crate) struct Solving {
    pub system: System,
    /// $G$.
    pub found: Matrix<f64>,
    pub residual: Matrix<f64>,
    /// Of own samples, then of the halo.
    pub direction: Matrix<f64>,
    /// $(I-aM)$ times the directions.
    pub image: Matrix<f64>,
}

impl Solving {
    pub fn new(system: System) -> Self {
        let (rows, own) = (system.rhs.rows(), system.rhs.columns());
        Self {
            found: Matrix::zeros(rows, own),
            residual: system.rhs.clone(),
            direction: Matrix::zeros(rows, system.matrix.columns()),
            image: Matrix::zeros(rows, own),
            system,
        }
    }

    /// The squared norms of the residuals.
    pub fn norms(&self) -> Vec<f64> {
        by_class(&self.residual, &self.residual)
    }

    /// As [`Scores::turn`], over own samples; `halo` are the residuals there.
    pub fn turn(&mut self, keep: &[f64], halo: &Matrix<f64>) -> Vec<f64> {
        let Self { system, residual, direction, image, .. } = self;
        let own = residual.columns();
        direction.columns_mut().enumerate().runs_of(PART).each(|(i, column)| {
            let residual = if i < own { residual.column(i) } else { halo.column(i - own) };
            let parts = column.iter_mut().zip(residual).zip(keep);
            parts.for_each(|((d, r), keep)| *d = r + keep * *d);
        });
        combine(&system.matrix, direction, image);
        image.columns_mut().enumerate().runs_of(PART).each(|(i, column)| {
            let own = column.iter_mut().zip(direction.column(i));
            own.for_each(|(value, own)| *value = own - system.factor * *value);
        });
        by_class(image, direction)
    }

    /// As [`Scores::advance`], over own samples.
    pub fn advance(&mut self, steps: &[f64]) -> Vec<f64> {
        add(&mut self.found, steps, &self.direction);
        let back: Vec<f64> = steps.iter().map(|step| -step).collect();
        add(&mut self.residual, &back, &self.image);
        self.norms()
    }

    /// As [`Scores::settle`]; what only conjugate gradients need is gone.
    pub fn settle(&mut self) {
        self.found.as_mut_slice().iter_mut().for_each(|value| *value = value.max(0.0));
        let none = || Matrix::zeros(self.found.rows(), 0);
        (self.residual, self.direction, self.image) = (none(), none(), none());
    }

    /// As [`Scores::refine`], over own samples; `halo` are the scores there.
    pub fn refine(&mut self, enough: f64, halo: &Matrix<f64>) -> bool {
        let Self { system, found, .. } = self;
        let mut next = Matrix::zeros(found.rows(), found.columns());
        combine(&system.matrix, &joined(found, halo), &mut next);
        let columns = next.columns_mut().enumerate().runs_of(PART);
        let steady = columns.gather(|(i, column)| {
            let mut steady = true;
            let parts = column.iter_mut().zip(system.rhs.column(i)).zip(found.column(i));
            for ((value, b), before) in parts {
                *value = system.factor * *value + b;
                steady &= (*value - before).abs() <= enough * *value;
            }
            steady
        });
        *found = next;
        steady.into_iter().all(|steady| steady)
    }
}

/// All samples are here.
impl Scores for Solving {
    type Error = Infallible;

    fn begin(&mut self) -> Result<Vec<f64>, Infallible> {
        Ok(self.norms())
    }

    fn turn(&mut self, keep: &[f64]) -> Result<Vec<f64>, Infallible> {
        Ok(self.turn(keep, &Matrix::zeros(keep.len(), 0)))
    }

    fn advance(&mut self, steps: &[f64]) -> Result<Vec<f64>, Infallible> {
        Ok(self.advance(steps))
    }

    fn settle(&mut self) -> Result<(), Infallible> {
        self.settle();
        Ok(())
    }

    fn refine(&mut self, enough: f64) -> Result<bool, Infallible> {
        Ok(self.refine(enough, &Matrix::zeros(self.found.rows(), 0)))
    }
}

/// The columns of own samples, then those of the halo.
pub(crate) fn joined<'a>(own: &'a Matrix<f64>, halo: &Matrix<f64>) -> Cow<'a, Matrix<f64>> {
    if halo.columns() == 0 {
        return Cow::Borrowed(own);
    }
    let count = own.columns();
    Cow::Owned(Matrix::from_fn(own.rows(), count + halo.columns(), |i, j| {
        if j < count { own.column(j)[i] } else { halo.column(j - count)[i] }
    }))
}

/// $\sqrt{d_i}$ of each row.
pub(crate) fn roots(weights: &Csr<f64>) -> Vec<f64> {
    (0..weights.rows()).map(|i| weights.row(i).map(|(_, w)| w).sum::<f64>().sqrt()).collect()
}

/// From $D^{1/2}F$ to $F$, where given labels stay fixed: `assigned` are those of the own samples.
pub(crate) fn unbalance(found: &mut Matrix<f64>, roots: &[f64], assigned: &[Option<usize>]) {
    for (i, class) in assigned.iter().enumerate() {
        let column = found.column_mut(i);
        match class {
            Some(class) => {
                column.fill(0.0);
                column[*class] = 1.0;
            }
            None if roots[i] > 0.0 => column.iter_mut().for_each(|value| *value /= roots[i]),
            None => {}
        }
    }
}

/// How much neighbours disagree: $\sum W_{ij}\lVert F_i\omega_i-F_j\omega_j\rVert^2$ over the pairs of own samples, and half of
/// it over the pairs with the halo, whose columns of `found` come last.
pub(crate) fn roughness(
    weights: &Csr<f64>,
    found: &Matrix<f64>,
    own: impl Fn(usize) -> f64,
) -> f64 {
    let (mut sum, mut outside) = (0.0, 0.0);
    for i in 0..weights.rows() {
        let at = own(i);
        let is_foreign = |j: usize| j >= weights.rows();
        for (j, weight) in weights.row(i).filter(|(j, _)| *j < i || is_foreign(*j)) {
            let there = own(j);
            let pairs = found.column(i).iter().zip(found.column(j));
            let term = weight * pairs.map(|(a, b)| (a * at - b * there).powi(2)).sum::<f64>();
            *(if is_foreign(j) { &mut outside } else { &mut sum }) += term;
        }
    }
    sum + outside / 2.0
}

/// Marks what a path leads to from what is marked; whether anything was.
pub(crate) fn flood(weights: &Csr<f64>, reached: &mut [bool]) -> bool {
    // Only own samples have rows; what the halo has reached comes in through their neighbours.
    let near = |i: usize, reached: &[bool]| {
        weights.row(i).any(|(j, w)| w > 0.0 && j >= weights.rows() && reached[j])
    };
    let mut open: Vec<usize> =
        (0..weights.rows()).filter(|&i| reached[i] || near(i, reached)).collect();
    let before = reached.iter().filter(|is| **is).count();
    open.iter().for_each(|&i| reached[i] = true);
    while let Some(i) = open.pop() {
        for (j, _) in weights.row(i).filter(|&(j, w)| w > 0.0 && j < weights.rows()) {
            if !std::mem::replace(&mut reached[j], true) {
                open.push(j);
            }
        }
    }
    reached.iter().filter(|is| **is).count() > before
}

/// $D^{-1/2}WD^{-1/2}$ between the samples included.
pub(crate) fn balanced(
    weights: &Csr<f64>,
    roots: &[f64],
    takes_part: &dyn Fn(usize) -> bool,
) -> Csr<f64> {
    let rows = (0..weights.rows()).map(|i| {
        let row = weights.row(i).filter(|&(j, w)| w > 0.0 && takes_part(i) && takes_part(j));
        row.map(|(j, w)| (j, w / roots[i] / roots[j])).collect::<Vec<_>>()
    });
    Csr::from_rows(weights.columns(), rows)
}

/// $\sum_ia_{ci}b_{ci}$ for each class.
fn by_class(a: &Matrix<f64>, b: &Matrix<f64>) -> Vec<f64> {
    let n = a.columns();
    let parts = (0..n.div_ceil(PART)).gather(|part| {
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
    to.columns_mut().enumerate().runs_of(PART).each(|(i, column)| {
        let parts = column.iter_mut().zip(what.column(i)).zip(times);
        parts.for_each(|((value, what), times)| *value += times * what);
    });
}
