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
mod recursive;
mod ridge;
mod smooth;

pub(crate) use ball::revive_from;
pub use ball::{project, revive, revive_by};
pub use block::Block;
pub(crate) use blocks::to_length_one;
pub use blocks::{Blocks, Energies, nearness_to_classes};
pub use count::AtomCount;
pub use dual::Dual;
pub use fista::ProjectedFista;
pub use ksvd::{Ksvd, replace_weak};
pub use recursive::{Part, Recursive};
pub use ridge::Ridge;
pub use smooth::Smooth;

use crate::Real;
use crate::codes::moments::moments;
use crate::matrix::{Matrix, axpy, inner};
use crate::samples::Held;
use crate::sparse::Csr;

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
        let cross = inner(atoms.as_slice(), self.correlations.as_slice());
        let square = inner(gram.as_slice(), self.moments.as_slice());
        (self.energy - 2.0 * cross + square).max(0.0)
    }
}

/// A rule that improves the atoms for fixed codes.
pub trait Update<T: Real>: Sync {
    /// Lowers $\lVert X-DA\rVert^2$ over $\lVert d_k\rVert\le$ `radius`; never raises it, never
    /// leaves the ball. Unused atoms ($S_{kk}=0$) are left alone. Returns the steps taken.
    fn update(&self, atoms: &mut Matrix<T>, statistics: &Statistics<T>, radius: T) -> usize;
}
