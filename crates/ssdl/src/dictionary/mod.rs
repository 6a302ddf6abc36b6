//! 4. The atoms: columns of $D$ in the ball $\lVert d_k\rVert\le\alpha$.

mod ball;
mod block;
mod blocks;
pub mod by_class;
mod count;
mod dual;
mod fista;
pub mod init;
mod ksvd;
mod overshoot;
mod recursive;
mod ridge;
mod smooth;

pub use ball::{project, revive, revive_by};
pub(crate) use ball::{replace, residual_floor, revive_from, squared_residuals, unused, worst_of};
pub use block::Block;
pub(crate) use blocks::to_length_one;
pub use blocks::{Blocks, Energies, nearness_to_classes};
pub use count::AtomCount;
pub use dual::Dual;
pub use fista::ProjectedFista;
pub(crate) use ksvd::remainder;
pub use ksvd::{Ksvd, replace_weak};
pub(crate) use overshoot::{update_further, update_past};
pub use recursive::{Part, Recursive};
pub use ridge::Ridge;
pub use smooth::Smooth;

use crate::Real;
use crate::codes::moments::moments;
use crate::matrix::{Matrix, axpy, inner, squared_norm};
use crate::samples::Held;
use crate::sparse::{Csr, for_nonzeros};
use crate::wide::wide;

/// The sums over samples and codes that the update needs: $S=AA^\top$, $R=XA^\top$ and $\lVert X\rVert^2$.
#[derive(Clone, Debug)]
pub struct Statistics<T> {
    /// $S$, $p\times p$.
    pub moments: Matrix<T>,
    /// $R$, $n\times p$.
    pub correlations: Matrix<T>,
    /// $\lVert X\rVert_F^2$.
    pub energy: f64,
}

impl<T: Real> Statistics<T> {
    /// Of samples $n\times N$ and codes $p\times N$. Cost $(n+\bar s)\,\mathrm{nnz}(A)$ for codes
    /// with $\bar s$ nonzero coefficients per sample; `energy` is known beforehand.
    #[must_use]
    #[inline(never)]
    pub fn of(samples: &Matrix<T>, codes: &Matrix<T>, energy: f64) -> Self {
        Self::of_held(samples.into(), codes, energy)
    }

    /// The same for samples in memory or in a file: the same bits, except from a file of several blocks
    /// with codes of which many coefficients are not zero.
    pub(crate) fn of_held(samples: Held<'_, T>, codes: &Matrix<T>, energy: f64) -> Self {
        Self::of_sparse(samples, codes, &Csr::of_columns(codes), energy)
    }

    pub(crate) fn of_sparse(
        samples: Held<'_, T>,
        dense: &Matrix<T>,
        codes: &Csr<T>,
        energy: f64,
    ) -> Self {
        let (moments, correlations) = moments(samples, dense, codes);
        Self { moments, correlations, energy }
    }

    /// Of no samples at all.
    #[must_use]
    pub fn none(n_features: usize, n_atoms: usize) -> Self {
        Self {
            moments: Matrix::zeros(n_atoms, n_atoms),
            correlations: Matrix::zeros(n_features, n_atoms),
            energy: 0.0,
        }
    }

    /// Adds those of other samples, times `factor`; a factor of −1 takes them out again.
    pub fn add(&mut self, factor: f64, other: &Self) {
        axpy(T::of(factor), other.moments.as_slice(), self.moments.as_mut_slice());
        axpy(T::of(factor), other.correlations.as_slice(), self.correlations.as_mut_slice());
        self.energy += factor * other.energy;
    }

    /// Adds one sample with its code, times `factor`. Cost $n$ for each nonzero coefficient.
    pub(crate) fn add_sample(&mut self, factor: T, x: &[T], code: &[T]) {
        wide(
            #[inline(always)]
            || {
                for_nonzeros(code, |k, a| axpy(factor * a, x, self.correlations.column_mut(k)));
            },
        );
        add_square(&mut self.moments, factor, code);
        self.energy += factor.wide() * squared_norm(x);
    }

    /// Multiplies all sums by `factor`.
    pub fn scale(&mut self, factor: f64) {
        let all = [&mut self.moments, &mut self.correlations];
        for matrix in all {
            matrix.as_mut_slice().iter_mut().for_each(|value| *value *= T::of(factor));
        }
        self.energy *= factor;
    }

    /// $\lVert X-DA\rVert^2=\lVert X\rVert^2-2\langle D,R\rangle+\langle D^\top D,S\rangle$, without
    /// touching the samples; never below zero.
    #[must_use]
    pub fn residual(&self, atoms: &Matrix<T>, gram: &Matrix<T>) -> f64 {
        self.value(atoms, gram).max(0.0)
    }

    /// The same, below zero where rounding or an energy that was not counted puts it there.
    pub(crate) fn value(&self, atoms: &Matrix<T>, gram: &Matrix<T>) -> f64 {
        let cross = inner(atoms.as_slice(), self.correlations.as_slice());
        let square = inner(gram.as_slice(), self.moments.as_slice());
        self.energy - 2.0 * cross + square
    }
}

/// Adds $f\,aa^\top$ to a symmetric sum ($p\times p$). Cost: the square of the nonzero coefficients.
pub(crate) fn add_square<T: Real>(moments: &mut Matrix<T>, factor: T, code: &[T]) {
    // Room for what a pursuit chooses: this is called for every sample.
    let mut used = Vec::with_capacity(32);
    for_nonzeros(code, |k, a| used.push((k, a)));
    for &(k, a) in &used {
        let column = moments.column_mut(k);
        // Symmetric to the bit: the product of both first.
        used.iter().for_each(|&(l, b)| column[l] += factor * (a * b));
    }
}

/// A rule that improves the atoms for fixed codes.
pub trait Update<T: Real>: Sync {
    /// Lowers $\lVert X-DA\rVert^2$ over $\lVert d_k\rVert\le$ `radius`; never raises it, never
    /// leaves the ball. Unused atoms ($S_{kk}=0$) are left alone. Returns the steps taken.
    fn update(&self, atoms: &mut Matrix<T>, statistics: &Statistics<T>, radius: T) -> usize;
}
