//! Atoms with a Gaussian prior: a ridge in closed form.

use super::{Block, Statistics, Update, project};
use crate::Real;
use crate::matrix::{Cholesky, Matrix, inner};

/// $D=R(S+\rho I)^{-1}$, the minimiser of $\lVert X-DA\rVert^2+\rho\lVert D\rVert^2$, then shrunk into
/// the ball. Where that would raise the objective, block coordinate descent takes its place. Cost
/// $p^3+np^2$.
#[derive(Clone, Copy, Debug)]
pub struct Ridge {
    /// ρ.
    pub weight: f64,
}

impl Ridge {
    /// The same sums with ρ on the diagonal: $\operatorname{tr}(DSD^\top)-2\langle D,R\rangle+\rho\lVert
    /// D\rVert^2$ is their residual.
    fn with_prior<T: Real>(&self, statistics: &Statistics<T>) -> Statistics<T> {
        let mut sums = statistics.clone();
        let p = sums.moments.columns();
        (0..p).for_each(|k| sums.moments.column_mut(k)[k] += T::of(self.weight));
        sums
    }
}

impl<T: Real> Update<T> for Ridge {
    fn update(&self, atoms: &mut Matrix<T>, statistics: &Statistics<T>, radius: T) -> usize {
        let sums = self.with_prior(statistics);
        let value = |atoms: &Matrix<T>| {
            inner(atoms.gram().as_slice(), sums.moments.as_slice())
                - 2.0 * inner(atoms.as_slice(), sums.correlations.as_slice())
        };
        let (n, p) = (atoms.rows(), atoms.columns());
        let unused = |k: usize| statistics.moments.column(k)[k] <= T::min_positive_value();
        if let Some(factor) = Cholesky::new(&sums.moments) {
            let mut flipped = Matrix::from_fn(p, n, |k, i| sums.correlations.column(k)[i]);
            factor.solve_in_place(&mut flipped);
            let mut found = Matrix::from_fn(n, p, |i, k| {
                if unused(k) { atoms.column(k)[i] } else { flipped.column(i)[k] }
            });
            (0..p).for_each(|k| project(found.column_mut(k), radius));
            let finite = found.as_slice().iter().all(|d| d.is_finite());
            if finite && value(&found) <= value(atoms) {
                *atoms = found;
                return 1;
            }
        }
        // Unused atoms are left alone, as by every update.
        let mut sums = sums;
        for k in (0..p).filter(|&k| unused(k)) {
            sums.moments.column_mut(k)[k] = T::zero();
        }
        Block { sweeps: 2, tolerance: 1e-4, nonnegative: false }.update(atoms, &sums, radius)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn inside_the_ball_the_gradient_is_zero() {
        let codes = Matrix::from_fn(3, 8, |k, j| ((k * 3 + j * 5 + k * j) % 7) as f64 - 2.0);
        let samples = Matrix::from_fn(4, 8, |i, j| ((i + j * 2) % 5) as f64 * 0.1);
        let sums = Statistics::of(&samples, &codes, samples.squared_norm());
        let mut atoms = Matrix::from_fn(4, 3, |i, k| (i + k) as f64 * 0.1);
        let ridge = Ridge { weight: 0.6 };
        ridge.update(&mut atoms, &sums, 100.0);
        let image = Matrix::of_product(atoms.view(), sums.moments.view());
        for k in 0..3 {
            for i in 0..4 {
                let slope =
                    image.column(k)[i] + 0.6 * atoms.column(k)[i] - sums.correlations.column(k)[i];
                assert!(slope.abs() < 1e-10, "{slope}");
            }
        }
    }
}
