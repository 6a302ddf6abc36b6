//! Labels spread over a graph, until every sample agrees with its neighbours and its own label.
//!
//! With $S=D^{-1/2}WD^{-1/2}$ and $Y$ one at the class of each labelled sample, zero elsewhere:
//! $$F=(1-\alpha)(I-\alpha S)^{-1}Y,$$
//! or, where the given labels stay fixed (label propagation), $F_l=Y_l$ and
//! $$(I-S_{uu})D_u^{1/2}F_u=D_u^{-1/2}W_{ul}Y_l.$$
//!
//! Both are one system $(I-aM)G=B$ with a symmetric $M\ge0$, solved by conjugate gradients for all
//! classes side by side, in double precision.

use super::diffusion::{
    Solving, System, balanced, flood, refine, roots, roughness, solve, unbalance,
};
use super::vote::{indicators, normalise};
use crate::sparse::Csr;
use crate::{Labels, Matrix, Real};

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
        let roots = roots(&weights);
        let mut given = indicators::<f64>(labels);
        if !self.clamp {
            for (i, weight) in of_samples.iter().enumerate() {
                given.column_mut(i).iter_mut().for_each(|value| *value *= weight.wide());
            }
        }
        let assigned = labels.assigned();
        let system = if self.clamp {
            let mut reached: Vec<bool> = assigned.iter().map(Option::is_some).collect();
            flood(&weights, &mut reached);
            System::fixed(&weights, &roots, assigned, &reached, given.rows())
        } else {
            System::soft(&weights, &roots, &given, self.spreading)
        };
        let (mut found, iterations, converged) =
            solved(system, self.tolerance, self.max_iterations);
        if self.clamp {
            unbalance(&mut found, &roots, assigned);
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
    let roots = roots(&weights);
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
    let (mut found, ..) = solved(system, SHARES_TOLERANCE, SHARES_ITERATIONS);
    for i in labels.labelled() {
        found.column_mut(i).copy_from_slice(given.column(i));
    }
    shares_of(&found).0
}

/// The solution, the iterations, and whether the tolerance was met.
fn solved(system: System, tolerance: f64, limit: usize) -> (Matrix<f64>, usize, bool) {
    let mut solving = Solving::new(system);
    let Ok((iterations, converged)) = solve(&mut solving, tolerance, limit);
    let Ok(()) = refine(&mut solving, tolerance);
    (solving.found, iterations, converged)
}

/// Columns that sum to one, and those that cannot.
pub(crate) fn shares_of<T: Real>(found: &Matrix<f64>) -> (Matrix<T>, Vec<usize>) {
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
