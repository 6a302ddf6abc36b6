//! Newton's method on the dual: finitely many steps, each a few dozen passes over active pairs.

use super::dual::{Dual, State};

/// Residual at which to stop, far below what matters in any use of the weights.
const TOLERANCE: f64 = 1e-12;
/// Residual that counts as solved when no step improves it any more.
pub(super) const SOLVED: f64 = 1e-9;
/// A handful of steps is usual; the limit is for cases that no test has shown.
const MAX_STEPS: usize = 500;
/// For conjugate gradients in one step: the condition number is about the largest active degree.
const MAX_INNER_STEPS: usize = 1000;
/// Maximum number of trials along one direction.
const MAX_TRIALS: usize = 40;

/// Buffers of the iteration, to be used again for another problem.
#[derive(Clone, Debug, Default)]
pub(super) struct Newton {
    pub(super) state: State,
    trial: State,
    step: Vec<f64>,
    rest: Vec<f64>,
    preconditioned: Vec<f64>,
    direction: Vec<f64>,
    image: Vec<f64>,
    scale: Vec<f64>,
}

impl Newton {
    /// Minimises from `state.u`, leaves the solution in `state` and returns the number of steps.
    ///
    /// The function is piecewise quadratic and falls with every step, so no piece is visited twice once
    /// its minimum is found: the method ends. Whether it did is in `state.residual`.
    pub(super) fn minimise(&mut self, dual: &Dual) -> usize {
        dual.evaluate(&mut self.state);
        let mut best = f64::INFINITY;
        for step in 0..MAX_STEPS {
            let residual = self.state.residual;
            let stuck = residual >= best && best <= SOLVED;
            if residual <= TOLERANCE || residual.is_nan() || stuck {
                return step;
            }
            best = best.min(residual);
            if self.state.is_empty() {
                // Again if rounding left it short: what it starts from can be far away.
                if !dual.raise_level(&mut self.state.u) {
                    return step;
                }
                dual.evaluate(&mut self.state);
                continue;
            }
            // Exact enough to square the residual, not more: most steps still change the pieces.
            self.solve(dual, (0.1 * residual).clamp(1e-10, 1e-2));
            if !self.search(dual) {
                return step;
            }
        }
        MAX_STEPS
    }

    /// `step` $=-H^{-1}\nabla h$ by conjugate gradients, to `accuracy` relative to the gradient.
    ///
    /// The preconditioner is the exact inverse of $H$ without the adjacency, a diagonal and the
    /// rank-one $-\tfrac2N11^\top$. Without the latter, nodes with no active pair would leave one
    /// eigenvalue near zero.
    fn solve(&mut self, dual: &Dual, accuracy: f64) {
        let n = self.state.u.len();
        self.scale.clear();
        self.scale.extend(self.state.degrees.iter().map(|&d| 1.0 / (2.0 + f64::from(d))));
        let weight: f64 =
            self.state.degrees.iter().zip(&self.scale).map(|(&d, s)| f64::from(d) * s).sum();
        let precondition = |rest: &[f64], scale: &[f64], out: &mut [f64]| {
            out.iter_mut().zip(rest).zip(scale).for_each(|((out, r), s)| *out = r * s);
            let lift = 2.0 * out.iter().sum::<f64>() / weight;
            out.iter_mut().zip(scale).for_each(|(out, s)| *out += lift * s);
        };
        self.rest.clear();
        self.rest.extend(self.state.gradient.iter().map(|g| -g));
        self.step.clear();
        self.step.resize(n, 0.0);
        self.image.resize(n, 0.0);
        self.preconditioned.resize(n, 0.0);
        precondition(&self.rest, &self.scale, &mut self.preconditioned);
        self.direction.clone_from(&self.preconditioned);
        let target = accuracy * product(&self.rest, &self.rest).sqrt();
        let mut progress = product(&self.rest, &self.preconditioned);
        for _ in 0..MAX_INNER_STEPS {
            dual.curve(&self.state, &self.direction, &mut self.image);
            let length = progress / product(&self.direction, &self.image);
            if !length.is_finite() {
                return;
            }
            add(length, &self.direction, &mut self.step);
            add(-length, &self.image, &mut self.rest);
            if product(&self.rest, &self.rest).sqrt() <= target {
                return;
            }
            precondition(&self.rest, &self.scale, &mut self.preconditioned);
            let next = product(&self.rest, &self.preconditioned);
            let keep = next / progress;
            progress = next;
            for (d, p) in self.direction.iter_mut().zip(&self.preconditioned) {
                *d = p + keep * *d;
            }
        }
    }

    /// Goes along `step`: all of it if the function still falls there, else to where its slope,
    /// which only grows, is about zero. False if the step leads nowhere.
    fn search(&mut self, dual: &Dual) -> bool {
        let first = product(&self.state.gradient, &self.step);
        if first >= 0.0 || first.is_nan() {
            return false;
        }
        // (length, slope) on either side of the zero.
        let (mut low, mut high) = ((0.0, first), (1.0, 0.0));
        let mut length = 1.0;
        for trial in 0..MAX_TRIALS {
            self.trial.u.clear();
            self.trial.u.extend(self.state.u.iter().zip(&self.step).map(|(u, d)| u + length * d));
            dual.evaluate(&mut self.trial);
            let slope = product(&self.trial.gradient, &self.step);
            let falls = slope <= 1e-3 * -first;
            if falls && (trial == 0 || slope >= 0.1 * first) {
                break;
            }
            // Illinois: the secant, with an end that stays counted half.
            if falls {
                low = (length, slope);
                high.1 /= 2.0;
            } else {
                high = (length, slope);
                if trial > 0 {
                    low.1 /= 2.0;
                }
            }
            length = low.0 + (high.0 - low.0) * (low.1 / (low.1 - high.1));
        }
        std::mem::swap(&mut self.state, &mut self.trial);
        true
    }
}

fn product(a: &[f64], b: &[f64]) -> f64 {
    crate::matrix::dot(a, b)
}

fn add(c: f64, x: &[f64], y: &mut [f64]) {
    crate::matrix::axpy(c, x, y);
}
