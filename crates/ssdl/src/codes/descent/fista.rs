//! The paper's accelerated proximal gradient (Algorithm 2), in a form without cancellation.
//!
//! For a quadratic the test of Beck and Teboulle reads $\langle\Delta,\mathcal H\Delta\rangle\le
//! \sum_j\tau_j\lVert\Delta_j\rVert^2/2$ with $\Delta=Z^+-A$: no function values, so it cannot fail
//! by rounding near the minimum, and one operator product per iteration serves test, gradient and
//! objective.

use super::super::margin::Curvature;
use super::super::problem::Scratch;
use super::super::working_set::soft;
use super::super::{Coding, Quadratic};
use super::{Descended, Descent};
use crate::matrix::{Matrix, axpy, dot, largest_eigenvalue};
use crate::{Real, matrix::inner};

/// Iterations after which the images are computed again, before updates drift.
const REFRESH: usize = 50;

/// FISTA with backtracking, adaptive restart and one step per sample.
///
/// Paper: Algorithm 2 extrapolates from $Z$ and returns $Z$; the gradient's "$-B$" must be "$+B$",
/// and the Lipschitz bound needs no factor $C$ because $\sum_kP_{kj}^r\le1$.
#[derive(Clone, Copy, Debug)]
pub struct Fista {
    /// Maximum number of iterations.
    pub iterations: usize,
    /// Optimality gap, relative to λ, at which to stop.
    pub tolerance: f64,
}

impl<T: Real> Descent<T> for Fista {
    #[inline(never)]
    fn code(&self, problem: &Coding<'_, T>, codes: &mut Matrix<T>) -> Descended {
        self.minimise(&problem.quadratic(), codes)
    }
}

/// Step constants: τ_j bounds the curvature of column j (half the Hessian).
fn curvatures<T: Real>(problem: &Quadratic<'_, T>) -> Vec<T> {
    let p = problem.gram.rows();
    let gram_top = largest_eigenvalue(p, |v: &[T], out: &mut [T]| {
        out.fill(T::zero());
        v.iter().enumerate().for_each(|(k, &v)| axpy(v, problem.gram.column(k), out));
    });
    let margin_top = problem.margin.map_or(T::zero(), |Curvature { cross, .. }| {
        largest_eigenvalue(p, |v: &[T], out: &mut [T]| {
            out.fill(T::zero());
            v.iter().enumerate().for_each(|(k, &v)| axpy(v, cross.column(k), out));
        })
    });
    (0..problem.rhs.columns())
        .map(|j| {
            let graph = problem.graph.map_or(T::zero(), |(beta, l)| beta * l.bound()[j]);
            let margin =
                problem.margin.map_or(T::zero(), |m| m.strength * m.weight.largest(j) * margin_top);
            (gram_top + problem.shift(j) + graph + margin).max(T::min_positive_value())
        })
        .collect()
}

impl Fista {
    /// Minimises over `codes` on a problem that is already assembled.
    pub fn minimise<T: Real>(
        &self,
        problem: &Quadratic<'_, T>,
        codes: &mut Matrix<T>,
    ) -> Descended {
        let bounds = curvatures(problem);
        let mut state = State::new(problem, codes);
        // Half the bound is often enough; the test below raises it where it is not.
        let mut share = T::of(0.5);
        let mut done =
            Descended { steps: 0, gap: problem.gap_of(&state.z, &state.hz), graph_energy: None };
        while done.steps < self.iterations && done.gap > self.tolerance {
            done.steps += 1;
            loop {
                let ratio = state.propose(problem, &bounds, share);
                if ratio <= T::one() {
                    break;
                }
                share = (share * T::of(1.5)).max(share * ratio);
            }
            state.accept();
            if done.steps.is_multiple_of(REFRESH) {
                problem.apply(&state.z, &mut state.hz, &mut state.scratch);
                state.restart();
            }
            done.gap = problem.gap_of(&state.z, &state.hz);
        }
        *codes = state.z;
        done
    }
}

/// Prox iterate $Z$, extrapolated point $A$, and their images.
struct State<T> {
    z: Matrix<T>,
    hz: Matrix<T>,
    a: Matrix<T>,
    ha: Matrix<T>,
    delta: Matrix<T>,
    hdelta: Matrix<T>,
    momentum: f64,
    scratch: Scratch<T>,
}

impl<T: Real> State<T> {
    fn new(problem: &Quadratic<'_, T>, codes: &Matrix<T>) -> Self {
        let (p, n) = (codes.rows(), codes.columns());
        let mut scratch = Scratch::new();
        let mut hz = Matrix::zeros(p, n);
        problem.apply(codes, &mut hz, &mut scratch);
        Self {
            z: codes.clone(),
            a: codes.clone(),
            ha: hz.clone(),
            hz,
            delta: Matrix::zeros(p, n),
            hdelta: Matrix::zeros(p, n),
            momentum: 1.0,
            scratch,
        }
    }

    /// Δ = prox step from A with steps 1/(share·bound_j); returns the largest observed curvature
    /// over the curvature assumed, summed over all columns.
    fn propose(&mut self, problem: &Quadratic<'_, T>, bounds: &[T], share: T) -> T {
        let (above, below) = problem.penalty.thresholds();
        for (j, &bound) in bounds.iter().enumerate() {
            let tau = share * bound;
            let thresholds = (above / tau, below / tau);
            let columns = self.delta.column_mut(j).iter_mut().zip(self.a.column(j));
            let slopes = self.ha.column(j).iter().zip(problem.rhs.column(j));
            for ((delta, &a), (&ha, &r)) in columns.zip(slopes) {
                *delta = soft(a - (ha - r) / tau, thresholds) - a;
            }
        }
        problem.apply(&self.delta, &mut self.hdelta, &mut self.scratch);
        let observed = inner(self.delta.as_slice(), self.hdelta.as_slice());
        let assumed: f64 = bounds
            .iter()
            .zip(self.delta.iter_columns())
            .map(|(&bound, d)| (share * bound * dot(d, d)).wide())
            .sum();
        if assumed > 0.0 { T::of(observed / assumed) } else { T::zero() }
    }

    /// Takes the step: $Z\leftarrow A+\Delta$, extrapolates, and restarts when momentum points up.
    fn accept(&mut self) {
        let next = 0.5 * (1.0 + (1.0 + 4.0 * self.momentum * self.momentum).sqrt());
        let mut uphill = 0.0;
        for ((&d, &a), &z) in
            self.delta.as_slice().iter().zip(self.a.as_slice()).zip(self.z.as_slice())
        {
            uphill -= (d * (a + d - z)).wide();
        }
        let restart = uphill > 0.0;
        let m = if restart { T::zero() } else { T::of((self.momentum - 1.0) / next) };
        self.momentum = if restart { 1.0 } else { next };
        advance(&self.delta, &mut self.a, &mut self.z, m);
        advance(&self.hdelta, &mut self.ha, &mut self.hz, m);
    }

    fn restart(&mut self) {
        self.momentum = 1.0;
        self.a = self.z.clone();
        self.ha = self.hz.clone();
    }
}

/// z⁺ = a + δ; a ← z⁺ + m(z⁺ − z); z ← z⁺. Linear, so images follow without a product.
fn advance<T: Real>(delta: &Matrix<T>, a: &mut Matrix<T>, z: &mut Matrix<T>, m: T) {
    let entries = a.as_mut_slice().iter_mut().zip(z.as_mut_slice()).zip(delta.as_slice());
    for ((a, z), &d) in entries {
        let next = *a + d;
        *a = next + m * (next - *z);
        *z = next;
    }
}
