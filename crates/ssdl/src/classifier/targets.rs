//! Labels as targets of the codes: one at the class of a labelled sample, zero elsewhere, no bias.
//!
//! $$\gamma\bigl(\lVert Y-W^\top A\rVert^2+\mu\lVert W\rVert^2\bigr)
//! +\psi\bigl(\lVert Q-U^\top A\rVert^2+\mu\lVert U\rVert^2\bigr)$$
//!
//! over the labelled codes $A$. $Y$ has a row for each class; $Q$ has a row for each atom, which is one
//! at the samples of the atom's class (label consistency).
//!
//! Paper: $U$ is a second unknown of $p\times p$ numbers. All atoms of a class have the same row of $Q$,
//! so they have the same column of $U$, and that column is the one of $W$. So label consistency is the
//! discrimination of class $c$ with $m_c$ times the weight, where $m_c$ is the number of its atoms:
//! $U$ is never stored, and all methods of the family have one classifier with a weight for each class,
//! $\omega_c=\gamma+\psi m_c$.

use super::ridge::solve_smaller;
use crate::matrix::{Cholesky, axpy, squared_norm};
use crate::{Error, Matrix, Real, Result};

/// How strongly each class acts on the codes, and the ridge of the classifier.
#[derive(Clone, Debug)]
pub struct Targets {
    /// γ.
    discrimination: f64,
    /// $\psi m_c$.
    consistency: Vec<f64>,
    /// μ, relative to the weight of each class.
    ridge: f64,
}

/// The terms of the objective that the targets add, weights included.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Misfit {
    /// $\gamma\lVert Y-W^\top A\rVert^2$.
    pub discrimination: f64,
    /// $\psi\lVert Q-U^\top A\rVert^2$.
    pub consistency: f64,
    /// $\mu(\gamma\lVert W\rVert^2+\psi\lVert U\rVert^2)$.
    pub ridge: f64,
}

impl Targets {
    /// Without label consistency.
    #[must_use]
    pub fn new(n_classes: usize, discrimination: f64, ridge: f64) -> Self {
        Self { discrimination, consistency: vec![0.0; n_classes], ridge }
    }

    /// Adds label consistency of weight ψ for atoms of these classes.
    #[must_use]
    pub fn consistent(mut self, consistency: f64, class_of_atoms: &[usize]) -> Self {
        for &class in class_of_atoms {
            self.consistency[class] += consistency;
        }
        self
    }

    /// $\omega_c$.
    #[must_use]
    pub fn weight(&self, class: usize) -> f64 {
        self.discrimination + self.consistency[class]
    }

    /// $W$ ($p\times C$) for labelled codes ($p\times N_l$), in whichever of $p$ and $N_l$ unknowns is
    /// smaller; one factorisation for all classes.
    ///
    /// # Errors
    /// If the system is singular, which needs μ = 0 or codes that are not finite.
    #[inline(never)]
    pub fn fit<T: Real>(&self, codes: &Matrix<T>, classes: &[usize]) -> Result<Matrix<T>> {
        let n_classes = self.consistency.len();
        let hit = |i: usize, class: usize| if classes[i] == class { T::one() } else { T::zero() };
        let targets = Matrix::from_fn(codes.columns(), n_classes, hit);
        let solve = |ridge: f64| solve_smaller(codes, targets.clone(), T::of(ridge), "classifier");
        // A ridge that is lost in the rounding of the sums is raised above it.
        solve(self.ridge).or_else(|_| solve(self.ridge + rounding::<T>(codes.squared_norm())))
    }

    /// The same where $AA^\top$ ($p\times p$) is known already.
    ///
    /// # Errors
    /// As [`Targets::fit`].
    pub fn fit_with<T: Real>(
        &self,
        codes: &Matrix<T>,
        classes: &[usize],
        moments: &Matrix<T>,
    ) -> Result<Matrix<T>> {
        if codes.columns() < codes.rows() {
            return self.fit(codes, classes);
        }
        self.fit_sums(moments, &class_sums(codes, classes, self.consistency.len()))
    }

    /// The same from the sums $AA^\top$ ($p\times p$) and $AY^\top$ ($p\times C$).
    ///
    /// # Errors
    /// As [`Targets::fit`].
    pub fn fit_sums<T: Real>(&self, moments: &Matrix<T>, sums: &Matrix<T>) -> Result<Matrix<T>> {
        let factor = |ridge: f64| {
            let mut system = moments.clone();
            (0..system.rows()).for_each(|k| system.column_mut(k)[k] += T::of(ridge));
            Cholesky::new(&system)
        };
        let trace = (0..moments.rows()).map(|k| moments.column(k)[k].wide()).sum();
        let mut weights = sums.clone();
        factor(self.ridge)
            .or_else(|| factor(self.ridge + rounding::<T>(trace)))
            .ok_or_else(|| Error::Diverged {
                step: "classifier",
                iteration: 0,
                what: "the ridge system is singular; raise ridge".into(),
            })?
            .solve_in_place(&mut weights);
        Ok(weights)
    }

    /// $G+\sum_c\omega_cw_cw_c^\top$: the Gram matrix that labelled samples are coded with.
    #[must_use]
    pub fn add_to_gram<T: Real>(&self, gram: &Matrix<T>, weights: &Matrix<T>) -> Matrix<T> {
        let mut sum = gram.clone();
        let rooted = self.rooted(weights);
        sum.add_product(T::one(), rooted.view(), rooted.transposed());
        sum
    }

    /// Column $c$ is $\sqrt{\omega_c}\,w_c$.
    #[must_use]
    pub fn rooted<T: Real>(&self, weights: &Matrix<T>) -> Matrix<T> {
        Matrix::from_fn(weights.rows(), weights.columns(), |k, class| {
            T::of(self.weight(class).sqrt()) * weights.column(class)[k]
        })
    }

    /// Adds $\omega_cw_c$ to the right-hand side of each sample of class $c$.
    pub fn add_to_rhs<T: Real>(&self, rhs: &mut Matrix<T>, classes: &[usize], weights: &Matrix<T>) {
        for (i, &class) in classes.iter().enumerate() {
            axpy(T::of(self.weight(class)), weights.column(class), rhs.column_mut(i));
        }
    }

    /// The terms of the objective for labelled codes.
    #[must_use]
    pub fn misfit<T: Real>(
        &self,
        weights: &Matrix<T>,
        codes: &Matrix<T>,
        classes: &[usize],
    ) -> Misfit {
        let mut misfit = Misfit::default();
        let scores = Matrix::of_product(codes.transposed(), weights.view());
        for (class, w) in weights.iter_columns().enumerate() {
            let missed = scores.column(class).iter().zip(classes).map(|(score, &own)| {
                let target = if own == class { 1.0 } else { 0.0 };
                (score.wide() - target).powi(2)
            });
            let missed: f64 = missed.sum();
            misfit.discrimination += self.discrimination * missed;
            misfit.consistency += self.consistency[class] * missed;
            misfit.ridge += self.ridge * self.weight(class) * squared_norm(w);
        }
        misfit
    }
}

/// What rounding leaves uncertain of sums of squares that add up to this.
fn rounding<T: Real>(squares: f64) -> f64 {
    8.0 * T::epsilon().wide() * squares
}

/// $AY^\top$ ($p\times C$): for each class the sum of its codes.
#[must_use]
pub fn class_sums<T: Real>(codes: &Matrix<T>, classes: &[usize], n_classes: usize) -> Matrix<T> {
    let mut sums = Matrix::zeros(codes.rows(), n_classes);
    for (code, &class) in codes.iter_columns().zip(classes) {
        axpy(T::one(), code, sums.column_mut(class));
    }
    sums
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Codes, their classes, and the class of each atom; the last atom has no class of a sample.
    fn problem() -> (Matrix<f64>, Vec<usize>, Vec<usize>) {
        let codes = Matrix::from_fn(5, 8, |k, i| {
            (((k * 5 + i * 3) % 7) as f64 - 3.0) * 0.4 + 0.01 * k as f64
        });
        (codes, vec![0, 1, 0, 1, 1, 0, 0, 1], vec![0, 0, 1, 0, 2])
    }

    #[test]
    fn one_classifier_stands_for_both_targets() {
        let (codes, classes, of_atoms) = problem();
        let (gamma, psi, mu) = (0.7, 0.3, 0.5);
        let targets = Targets::new(3, gamma, mu).consistent(psi, &of_atoms);
        let w = targets.fit(&codes, &classes).expect("definite");
        // U by itself: a row of Q for each atom.
        let q = Matrix::from_fn(8, 5, |i, k| f64::from(u8::from(of_atoms[k] == classes[i])));
        let u = solve_smaller(&codes, q.clone(), mu, "test").expect("definite");
        let y = Matrix::from_fn(8, 3, |i, c| f64::from(u8::from(classes[i] == c)));
        let mut gram = Matrix::from_fn(5, 5, |i, j| f64::from(u8::from(i == j)));
        let plain = gram.clone();
        gram.add_product(gamma, w.view(), w.transposed());
        gram.add_product(psi, u.view(), u.transposed());
        let short = targets.add_to_gram(&plain, &w);
        let apart = |a: &[f64], b: &[f64]| {
            a.iter().zip(b).fold(0.0f64, |top, (a, b)| top.max((a - b).abs()))
        };
        assert!(apart(gram.as_slice(), short.as_slice()) < 1e-12);
        let mut rhs = Matrix::of_product(w.view(), y.transposed());
        rhs.as_mut_slice().iter_mut().for_each(|r| *r *= gamma);
        rhs.add_product(psi, u.view(), q.transposed());
        let mut short = Matrix::zeros(5, 8);
        targets.add_to_rhs(&mut short, &classes, &w);
        assert!(apart(rhs.as_slice(), short.as_slice()) < 1e-12);
        let error = |targets: &Matrix<f64>, weights: &Matrix<f64>| {
            let mut left = targets.clone();
            left.add_product(-1.0, codes.transposed(), weights.view());
            left.squared_norm()
        };
        let found = targets.misfit(&w, &codes, &classes);
        assert!((found.discrimination - gamma * error(&y, &w)).abs() < 1e-12);
        assert!((found.consistency - psi * error(&q, &u)).abs() < 1e-12);
        let size = mu * (gamma * w.squared_norm() + psi * u.squared_norm());
        assert!((found.ridge - size).abs() < 1e-12);
    }

    #[test]
    fn sums_give_the_same_classifier_and_a_singular_system_is_an_error() {
        let (codes, classes, _) = problem();
        let targets = Targets::new(2, 1.0, 0.2);
        let whole = targets.fit(&codes, &classes).expect("definite");
        let moments = Matrix::of_product(codes.view(), codes.transposed());
        let sums = class_sums(&codes, &classes, 2);
        let again = targets.fit_sums(&moments, &sums).expect("definite");
        assert!(whole.as_slice().iter().zip(again.as_slice()).all(|(a, b)| (a - b).abs() < 1e-12));
        let free = Targets::new(2, 1.0, 0.0);
        assert!(free.fit_sums(&Matrix::<f64>::zeros(5, 5), &sums).is_err());
        assert!(free.fit(&Matrix::<f64>::zeros(5, 8), &classes).is_err());
    }

    #[test]
    fn known_moments_give_the_same_classifier() {
        let (codes, classes, of_atoms) = problem();
        let targets = Targets::new(3, 0.7, 0.5).consistent(0.3, &of_atoms);
        // Fewer samples than atoms, too: then the moments are not needed.
        for count in [8, 3] {
            let chosen: Vec<usize> = (0..count).collect();
            let codes = codes.select_columns(&chosen);
            let moments = Matrix::of_product(codes.view(), codes.transposed());
            let expected = targets.fit(&codes, &classes[..count]).expect("definite");
            let found = targets.fit_with(&codes, &classes[..count], &moments).expect("definite");
            for (found, expected) in found.as_slice().iter().zip(expected.as_slice()) {
                assert!((found - expected).abs() < 1e-12);
            }
        }
    }
}
