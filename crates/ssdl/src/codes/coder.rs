//! What a model keeps to code new samples, and the graph's pull on them.
//!
//! $$\min_a\lVert x-Da\rVert^2+\kappa\lVert a-m\rVert^2+\text{penalty}(a),$$
//! with $(\kappa,m)$ from the graph ([`Attachment`](crate::graph::Attachment)). For LLE
//! $\kappa=\beta$ and $m=\sum_{j\in\mathrm{knn}(x)}\hat\lambda_ja_j$.
//!
//! Paper: $\hat\lambda_{ij}$ is printed outside the sum; it belongs inside.

use serde::{Deserialize, Serialize};

use super::{ByClass, Half, Lasso, Omp, Pulled, Pursuit};
use crate::device::{self, Engine, Found, Mixture, NewSamples, Ties};
use crate::graph::Anchors;
use crate::matrix::axpy;
use crate::packed::Packed;
use crate::threads::Loops;
use crate::{Matrix, Real};

/// How new samples are coded; saved in the model file.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "pursuit", rename_all = "kebab-case", deny_unknown_fields)]
#[non_exhaustive]
pub enum Coder {
    /// By the l1 norm.
    Lasso {
        /// λ.
        sparsity: f64,
    },
    /// By the l1 norm, with the atoms of each class on their own.
    LassoByClass {
        /// λ.
        sparsity: f64,
    },
    /// By half powers of the coefficients.
    Half {
        /// λ.
        sparsity: f64,
    },
    /// With a limited number of atoms.
    Omp {
        /// $T$.
        n_nonzero: usize,
    },
}

/// The pull of the graph on the codes of new samples.
#[derive(Clone, Copy)]
pub struct Pull<'a, T> {
    /// β.
    pub manifold: f64,
    /// The training samples that each new one is tied to.
    pub anchors: &'a Anchors<T>,
    /// The codes of the training samples, $p\times N$.
    pub(crate) codes: &'a Packed<T>,
}

impl Coder {
    /// Codes ($p\times M$) of prepared samples on atoms ($n\times p$); no sample influences another.
    #[must_use]
    #[inline(never)]
    pub fn code<T: Real>(
        &self,
        prepared: &Matrix<T>,
        atoms: &Matrix<T>,
        pull: Option<Pull<'_, T>>,
    ) -> Matrix<T> {
        self.code_with(prepared, atoms, &[], pull)
    }

    /// The same with atoms that belong to classes: what a coder that codes class by class needs.
    #[must_use]
    #[inline(never)]
    pub fn code_with<T: Real>(
        &self,
        prepared: &Matrix<T>,
        atoms: &Matrix<T>,
        class_of_atoms: &[Option<usize>],
        pull: Option<Pull<'_, T>>,
    ) -> Matrix<T> {
        if let Self::Lasso { sparsity } = *self {
            let solver = Lasso::new(sparsity).solver;
            let ties = pull.map_or(Ties::None, Ties::Known);
            let problem = NewSamples { samples: prepared, atoms, sparsity, solver, ties };
            let elsewhere = |engine: &dyn Engine<T>| engine.code_new(&problem, &mut |_| ());
            if let Some(found) = device::attempt_large(prepared.columns(), elsewhere) {
                return found.codes;
            }
        }
        let mut rhs = Matrix::of_each(atoms.transposed(), prepared, None);
        let mut codes = Matrix::zeros(rhs.rows(), rhs.columns());
        let shifts = match pull {
            Some(pull) => pull.add_to(&mut rhs, &mut codes, T::of(self.threshold())),
            None => Vec::new(),
        };
        let gram = atoms.gram();
        self.pursuit::<T>(class_of_atoms).code(Pulled { gram: &gram, rhs, shifts }, &mut codes);
        codes
    }

    /// The codes of prepared samples and the training samples they were pulled to, all found by the device
    /// that is lent; `None` where there is none, or for few samples. `meanwhile` is given the codes block by block.
    pub(crate) fn code_elsewhere<T: Real>(
        &self,
        prepared: &Matrix<T>,
        atoms: &Matrix<T>,
        mixture: Mixture<'_, T>,
        meanwhile: &mut dyn FnMut(&[T]),
    ) -> Option<Found<T>> {
        let Self::Lasso { sparsity } = *self else { return None };
        let (solver, ties) = (Lasso::new(sparsity).solver, Ties::Mixture(mixture));
        let problem = NewSamples { samples: prepared, atoms, sparsity, solver, ties };
        device::attempt_large(prepared.columns(), |engine| engine.code_new(&problem, meanwhile))
    }

    /// Whether its numbers can be used: a model file may hold anything.
    #[must_use]
    pub fn is_sound(&self) -> bool {
        match self {
            Self::Lasso { sparsity }
            | Self::LassoByClass { sparsity }
            | Self::Half { sparsity } => sparsity.is_finite() && *sparsity >= 0.0,
            Self::Omp { n_nonzero } => *n_nonzero > 0,
        }
    }

    /// Whether it codes with the atoms of each class on their own.
    #[must_use]
    pub fn is_by_class(&self) -> bool {
        matches!(self, Self::LassoByClass { .. })
    }

    fn pursuit<'a, T: Real>(
        &self,
        class_of_atoms: &'a [Option<usize>],
    ) -> Box<dyn Pursuit<T> + 'a> {
        match *self {
            Self::Lasso { sparsity } => Box::new(Lasso::new(sparsity)),
            Self::LassoByClass { sparsity } => {
                Box::new(ByClass { lasso: Lasso::new(sparsity), class_of_atoms })
            }
            Self::Half { sparsity } => Box::new(Half::new(sparsity)),
            Self::Omp { n_nonzero } => Box::new(Omp { n_nonzero }),
        }
    }

    /// Coefficients up to this are not worth starting from.
    fn threshold(&self) -> f64 {
        match self {
            Self::Lasso { sparsity } | Self::LassoByClass { sparsity } => 0.5 * sparsity,
            // Its search may leave zero, but hardly returns to what was cut.
            Self::Half { .. } => 0.0,
            Self::Omp { .. } => 0.0,
        }
    }
}

impl<T: Real> Pull<'_, T> {
    /// The codes of the training samples, $p\times N$, with their zeros.
    #[must_use]
    pub fn codes(&self) -> &Matrix<T> {
        self.codes.whole()
    }

    /// Adds $\kappa m$ to the right-hand sides, starts the codes at $m$, and returns the κ.
    fn add_to(&self, rhs: &mut Matrix<T>, codes: &mut Matrix<T>, threshold: T) -> Vec<T> {
        let columns = codes.columns_mut().zip(rhs.columns_mut()).enumerate();
        columns.runs_of(16).gather(|(j, (mean, rhs))| {
            let strength = T::of(self.manifold) * self.anchors.strength(j);
            for (i, weight) in self.anchors.of(j) {
                self.codes.add_column(i, weight, mean);
            }
            axpy(strength, mean, rhs);
            // The mean of the anchors is where the search starts, without what the penalty would
            // remove anyway: it is dense, codes are not.
            mean.iter_mut().filter(|a| a.abs() <= threshold).for_each(|a| *a = T::zero());
            strength
        })
    }
}
