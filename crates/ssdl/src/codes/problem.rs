//! The coding problem with everything but the codes held fixed.
//!
//! $$\min_A\;\langle A,\mathcal HA\rangle-2\langle A,R\rangle+\lambda\lVert A\rVert_1,\qquad
//! \mathcal HZ=GZ+Z\operatorname{diag}(\kappa)+\beta ZL+\gamma W(\Omega\circ W^\top Z),$$
//! $$R=D^\top X+\gamma W(\mathcal G-\Omega\circ b1^\top).$$

use super::margin::{Curvature, Margin, Weight};
use super::working_set::{Local, LocalMargin, Omega, Penalty, gap_scale};
use crate::Real;
use crate::graph::Laplacian;
use crate::matrix::{Matrix, absolute_sum, inner};
use crate::samples::Held;

/// Everything that the codes depend on: samples, atoms, graph, classifier.
#[derive(Clone, Copy)]
pub struct Coding<'a, T> {
    /// $X$, $n\times N$.
    pub samples: Held<'a, T>,
    /// $D$, $n\times p$.
    pub atoms: &'a Matrix<T>,
    /// $G=D^\top D$.
    pub gram: &'a Matrix<T>,
    /// β and $L$; `None` leaves the samples uncoupled.
    pub graph: Option<(T, &'a Laplacian<T>)>,
    /// The discrimination term; `None` where γ = 0.
    pub margin: Option<Margin<'a, T>>,
    /// λ.
    pub sparsity: T,
}

/// The problem in the form that the solvers see: an operator and a right-hand side.
pub struct Quadratic<'a, T> {
    pub(crate) gram: &'a Matrix<T>,
    /// κ of each sample; empty where there is none.
    pub(crate) shifts: Vec<T>,
    pub(crate) graph: Option<(T, &'a Laplacian<T>)>,
    pub(crate) margin: Option<Curvature<'a, T>>,
    pub(crate) rhs: Matrix<T>,
    pub(crate) penalty: Penalty<T>,
}

impl<'a, T: Real> Coding<'a, T> {
    pub(crate) fn penalty(&self) -> Penalty<T> {
        Penalty { sparsity: self.sparsity, nonnegative: false }
    }

    /// The whole problem as a quadratic. Cost $npN$.
    #[must_use]
    pub fn quadratic(&self) -> Quadratic<'a, T> {
        let mut rhs = self.samples.correlations(self.atoms);
        if let Some(margin) = &self.margin {
            margin.add_to(&mut rhs, margin.target, margin.weight);
        }
        Quadratic {
            gram: self.gram,
            shifts: Vec::new(),
            graph: self.graph,
            margin: self.margin.as_ref().map(|m| m.operator(m.weight)),
            rhs,
            penalty: self.penalty(),
        }
    }
}

impl<'a, T: Real> Quadratic<'a, T> {
    /// A plain lasso for every column of `rhs` ($D^\top x_j+\kappa_jm_j$), each on its own; `shifts`
    /// holds the $\kappa_j$ and may be empty.
    #[must_use]
    pub fn individual(gram: &'a Matrix<T>, shifts: Vec<T>, rhs: Matrix<T>, sparsity: T) -> Self {
        let penalty = Penalty { sparsity, nonnegative: false };
        Self { gram, shifts, graph: None, margin: None, rhs, penalty }
    }

    /// The same problem over codes without a negative coefficient.
    #[must_use]
    pub fn nonnegative(mut self) -> Self {
        self.penalty.nonnegative = true;
        self
    }

    /// κ of one sample.
    #[inline(always)]
    pub(crate) fn shift(&self, sample: usize) -> T {
        self.shifts.get(sample).copied().unwrap_or(T::zero())
    }

    /// The diagonal problem of one sample.
    #[inline(always)]
    pub(crate) fn local(&self, sample: usize) -> Local<'_, T> {
        let coupling = self.graph.map_or(T::zero(), |(beta, l)| beta * l.diagonal()[sample]);
        let margin =
            self.margin.map(|Curvature { weights, cross, strength, weight }| LocalMargin {
                weights,
                omega: match weight {
                    Weight::PerClass(w) => Omega::PerClass { strength, weight: w.column(sample) },
                    Weight::Shared(w) => Omega::Shared { weight: strength * w[sample], cross },
                },
            });
        Local {
            gram: self.gram,
            shift: self.shift(sample) + coupling,
            margin,
            penalty: self.penalty,
        }
    }

    /// $\mathcal HZ$; `residuals` is scratch for the graph's first pass.
    pub(crate) fn apply(&self, z: &Matrix<T>, out: &mut Matrix<T>, scratch: &mut Scratch<T>) {
        out.set_product(self.gram.view(), z.view());
        for (j, &shift) in self.shifts.iter().enumerate() {
            crate::matrix::axpy(shift, z.column(j), out.column_mut(j));
        }
        if let Some((beta, laplacian)) = self.graph {
            scratch.pull.reshape(z.rows(), z.columns());
            laplacian.pull(z, &mut scratch.residuals, &mut scratch.pull);
            crate::matrix::axpy(beta, scratch.pull.as_slice(), out.as_mut_slice());
        }
        if let Some(Curvature { weights, strength, weight, .. }) = self.margin {
            scratch.scores.reshape(weights.columns(), z.columns());
            scratch.scores.set_product(weights.transposed(), z.view());
            weight.scale(&mut scratch.scores);
            out.add_product(strength, weights.view(), scratch.scores.view());
        }
    }

    /// $\langle A,\mathcal HA\rangle-2\langle A,R\rangle+\lambda\lVert A\rVert_1$: what the solvers
    /// minimise.
    #[must_use]
    pub fn value(&self, codes: &Matrix<T>) -> f64 {
        let mut image = Matrix::zeros(codes.rows(), codes.columns());
        self.apply(codes, &mut image, &mut Scratch::new());
        let size = absolute_sum(codes.as_slice());
        inner(codes.as_slice(), image.as_slice())
            - 2.0 * inner(codes.as_slice(), self.rhs.as_slice())
            + self.penalty.sparsity.wide() * size
    }

    /// The largest distance to optimality over all coefficients, relative to λ.
    #[must_use]
    pub fn gap(&self, codes: &Matrix<T>) -> f64 {
        let mut image = Matrix::zeros(codes.rows(), codes.columns());
        self.apply(codes, &mut image, &mut Scratch::new());
        self.gap_of(codes, &image)
    }

    /// The gap at codes whose image under $\mathcal H$ is known.
    pub(crate) fn gap_of(&self, codes: &Matrix<T>, image: &Matrix<T>) -> f64 {
        let (half, below) = self.penalty.thresholds();
        let scale = gap_scale(self.penalty.sparsity, self.rhs.as_slice());
        let entries = codes.as_slice().iter().zip(image.as_slice()).zip(self.rhs.as_slice());
        let worst = entries.fold(T::zero(), |worst, ((&a, &h), &r)| {
            let u = r - h;
            worst.max(match a {
                a if a == T::zero() => (u - half).max(-u - below),
                a => (u - half * a.signum()).abs(),
            })
        });
        2.0 * (worst / scale).wide()
    }
}

/// Buffers of one operator product, kept between products.
pub(crate) struct Scratch<T> {
    residuals: Matrix<T>,
    pull: Matrix<T>,
    scores: Matrix<T>,
}

impl<T: Real> Scratch<T> {
    pub fn new() -> Self {
        let empty = || Matrix::zeros(0, 0);
        Self { residuals: empty(), pull: empty(), scores: empty() }
    }
}
