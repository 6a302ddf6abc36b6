//! Coding samples one by one: every method's coding step is one problem per sample.
//!
//! $$\min_a\;a^\top Ga-2r^\top a+\kappa\lVert a\rVert^2+\text{penalty}(a)$$
//!
//! with one Gram matrix for a group of samples. A pull $\kappa\lVert a-m\rVert^2$ towards a point $m$
//! adds $\kappa$ to the shift and $\kappa m$ to $r$: neighbours, class means, label targets and the
//! majorised loss of a classifier all take this form.

mod by_class;
mod lasso;
mod omp;
mod refit;
mod reweighted;
mod rows;
mod side_by_side;

pub use by_class::ByClass;
pub use lasso::Lasso;
pub use omp::Omp;
pub use refit::Refit;
pub(crate) use reweighted::top_of;
pub use reweighted::{Half, HalfThreshold};
pub use rows::Rows;

use crate::{Matrix, Real};

/// The problems of a group of samples.
pub struct Pulled<'a, T> {
    /// $G$, $p\times p$.
    pub gram: &'a Matrix<T>,
    /// $r_j=D^\top x_j+\kappa_jm_j$, $p\times N$.
    pub rhs: Matrix<T>,
    /// $\kappa_j$ of each sample; empty where nothing pulls.
    pub shifts: Vec<T>,
}

/// A way to code samples, each on its own.
pub trait Pursuit<T: Real>: Sync {
    /// Improves `codes` ($p\times N$) from their present values; a code it cannot improve stays.
    fn code(&self, problem: Pulled<'_, T>, codes: &mut Matrix<T>);

    /// The penalty of these codes: its term of the objective, weight included.
    fn size(&self, codes: &Matrix<T>) -> f64;
}
