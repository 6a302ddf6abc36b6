//! The Lagrange dual of Lee et al. (2007): Newton in one multiplier per atom.
//!
//! $D=R(S+\Lambda)^{-1}$ with $\Lambda\ge0$ diagonal minimising
//! $\operatorname{tr}(R(S+\Lambda)^{-1}R^\top)+\alpha^2\operatorname{tr}\Lambda$.

use super::{Block, Statistics, Update, project};
use crate::Real;
use crate::matrix::{Cholesky, Matrix, squared_norm};

/// Projected Newton on the dual; the paper's choice when λ is small and codes are dense.
///
/// The dual needs $S+\Lambda$ to be definite. Where it is not, or Newton does not converge, or the
/// atoms it gives are no better, the step falls back to [`Block`], which always works.
#[derive(Clone, Copy, Debug)]
pub struct Dual {
    /// Maximum number of Newton steps.
    pub iterations: usize,
    /// Relative violation of the constraint at which to stop.
    pub tolerance: f64,
}

impl<T: Real> Update<T> for Dual {
    #[inline(never)]
    fn update(&self, atoms: &mut Matrix<T>, statistics: &Statistics<T>, radius: T) -> usize {
        // In f64 throughout: the dual loses half its digits where atoms are strongly correlated.
        let used: Vec<usize> =
            (0..atoms.columns()).filter(|&k| statistics.moments.column(k)[k] > T::zero()).collect();
        let before = statistics.residual(atoms, &atoms.gram());
        if let Some((next, steps)) = self.newton(statistics, &used, radius.wide()) {
            let mut proposal = atoms.clone();
            for (at, &k) in used.iter().enumerate() {
                let column = proposal.column_mut(k).iter_mut().zip(next.column(at));
                column.for_each(|(d, v)| *d = T::of(*v));
                project(proposal.column_mut(k), radius);
            }
            if statistics.residual(&proposal, &proposal.gram()) <= before {
                *atoms = proposal;
                return steps;
            }
        }
        Block { sweeps: 10, tolerance: 1e-4, nonnegative: false }.update(atoms, statistics, radius)
    }
}

impl Dual {
    /// Atoms of the used columns, or `None` if the dual breaks down.
    fn newton<T: Real>(
        &self,
        statistics: &Statistics<T>,
        used: &[usize],
        radius: f64,
    ) -> Option<(Matrix<f64>, usize)> {
        let m = used.len();
        let s = Matrix::from_fn(m, m, |i, j| statistics.moments.column(used[j])[used[i]].wide());
        let r = statistics.correlations.select_columns(used).cast::<f64>();
        let mut lambda: Vec<f64> = (0..m).map(|k| 0.1 * s.column(k)[k]).collect();
        let (mut atoms, mut inverse, mut value) = evaluate(&s, &r, &lambda, radius)?;
        for step in 0..self.iterations {
            let slope: Vec<f64> =
                atoms.iter_columns().map(|d| radius * radius - squared_norm(d)).collect();
            let free: Vec<usize> = (0..m).filter(|&k| lambda[k] > 0.0 || slope[k] < 0.0).collect();
            let worst = free.iter().map(|&k| slope[k].abs()).fold(0.0, f64::max);
            if worst <= self.tolerance * radius * radius {
                return Some((atoms, step));
            }
            let direction = newton_direction(&atoms, &inverse, &slope, &free)?;
            let mut length = 1.0;
            loop {
                let mut trial = lambda.clone();
                for (&k, d) in free.iter().zip(&direction) {
                    trial[k] = (trial[k] - length * d).max(0.0);
                }
                let gain: f64 =
                    free.iter().map(|&k| slope[k] * (trial[k] - lambda[k])).sum::<f64>();
                if let Some(next) = evaluate(&s, &r, &trial, radius)
                    && next.2 <= value + 1e-4 * gain
                {
                    (atoms, inverse, value) = next;
                    lambda = trial;
                    break;
                }
                length *= 0.5;
                if length < 1e-8 {
                    return None;
                }
            }
        }
        None
    }
}

/// $D=R(S+\Lambda)^{-1}$, $(S+\Lambda)^{-1}$ and the dual objective.
fn evaluate(
    s: &Matrix<f64>,
    r: &Matrix<f64>,
    lambda: &[f64],
    radius: f64,
) -> Option<(Matrix<f64>, Matrix<f64>, f64)> {
    let m = lambda.len();
    let mut system = s.clone();
    (0..m).for_each(|k| system.column_mut(k)[k] += lambda[k]);
    let mut inverse = Matrix::from_fn(m, m, |i, j| f64::from(i == j));
    Cholesky::new(&system)?.solve_in_place(&mut inverse);
    let atoms = Matrix::of_product(r.view(), inverse.view());
    let fit = crate::matrix::inner(atoms.as_slice(), r.as_slice());
    let value = fit + radius * radius * lambda.iter().sum::<f64>();
    value.is_finite().then_some((atoms, inverse, value))
}

/// Solves the Newton system over the free multipliers: Hessian $2(D^\top D)\circ(S+\Lambda)^{-1}$.
fn newton_direction(
    atoms: &Matrix<f64>,
    inverse: &Matrix<f64>,
    slope: &[f64],
    free: &[usize],
) -> Option<Vec<f64>> {
    let gram = atoms.gram();
    let f = free.len();
    let mut hessian = Matrix::from_fn(f, f, |i, j| {
        2.0 * gram.column(free[j])[free[i]] * inverse.column(free[j])[free[i]]
    });
    let trace: f64 = (0..f).map(|k| hessian.column(k)[k]).sum();
    // Atoms that vanish leave zero rows; a touch of the mean curvature keeps the system definite.
    (0..f).for_each(|k| hessian.column_mut(k)[k] += 1e-12 * trace / f as f64);
    let mut rhs = Matrix::from_fn(f, 1, |k, _| slope[free[k]]);
    Cholesky::new(&hessian)?.solve_in_place(&mut rhs);
    Some(rhs.into_vec())
}
