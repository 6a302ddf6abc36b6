//! A decision by class residuals: the class whose atoms explain most of a sample.
//!
//! $$s_c=\lVert x\rVert^2-\lVert x-D_ca_c\rVert^2=2a_c^\top(D^\top x)_c-a_c^\top G_{cc}a_c,$$
//! where $a_c$ are the coefficients of the atoms $D_c$ of class $c$. Atom $k$ of class $c$ adds
//! $a_k\bigl(2(D^\top x)_k-(G_{cc}a_c)_k\bigr)$, so the votes of a class sum to its score.
//!
//! Where each class codes a sample on its own, the cost of its code counts, too: $s_c$ is less
//! $\lambda\lVert a_c\rVert_1$, and the residual more.

use super::decision::{Coded, Verdict};
use super::membership::membership_of_errors;
use crate::matrix::{dot, squared_distance, squared_norm, weighted_sum};
use crate::threads::Loops;
use crate::wide::wide;
use crate::{Matrix, Real};

/// Which atoms belong to which class.
#[derive(Clone, Debug, PartialEq)]
pub struct Residual {
    /// The class of each atom; an atom without one explains nothing.
    pub class_of_atoms: Vec<Option<usize>>,
    /// $C$; a class without an atom explains nothing.
    pub n_classes: usize,
    /// $r\ge1$: probabilities are proportional to $\lVert x-D_ca_c\rVert^{-2/(r-1)}$.
    pub sharpness: f64,
    /// λ, the cost of each code in the residual of its class; 0 counts residuals alone.
    pub cost: f64,
}

impl Residual {
    /// Scores and probabilities; cost $n$ for each nonzero coefficient.
    pub(super) fn judge<T: Real>(
        &self,
        atoms: Option<&Matrix<T>>,
        new: &Coded<'_, T>,
    ) -> Verdict<T> {
        let count = new.codes.columns();
        let mut scores = Matrix::zeros(self.n_classes, count);
        let mut probabilities = Matrix::zeros(self.n_classes, count);
        let columns = scores.columns_mut().zip(probabilities.columns_mut());
        columns.enumerate().runs_of(32).each(|(j, (scores, probabilities))| {
            let (x, code) = (new.samples.column(j), new.codes.column(j));
            let mut errors: Vec<f64> = Vec::with_capacity(self.n_classes);
            let whole = squared_norm(x);
            for (class, out) in scores.iter_mut().enumerate() {
                let explained = self.explained(atoms, (x, code), class);
                let cost = self.cost_of(code, class);
                let left = wide(
                    #[inline(always)]
                    || squared_distance(x, &explained),
                );
                let error = left + cost;
                let score = whole - error;
                // Samples at the end of the number range may explain more than it holds.
                let top = T::max_value().wide();
                *out = if score.is_nan() { T::min_value() } else { T::of(score.clamp(-top, top)) };
                errors.push(if error.is_nan() { f64::INFINITY } else { error });
            }
            membership_of_errors(&mut errors, self.sharpness);
            probabilities.iter_mut().zip(errors).for_each(|(p, error)| *p = T::of(error));
        });
        Verdict { scores, probabilities }
    }

    /// What an atom adds to the score of each class.
    pub(super) fn votes<T: Real>(
        &self,
        atoms: Option<&Matrix<T>>,
        (x, code): (&[T], &[T]),
        atom: usize,
    ) -> Vec<T> {
        let mut votes = vec![T::zero(); self.n_classes];
        if let (Some(atoms), Some(class)) = (atoms, self.class_of_atoms[atom]) {
            let explained = self.explained(Some(atoms), (x, code), class);
            let own = atoms.column(atom);
            let gain = code[atom] * (T::of(2.0) * dot(own, x) - dot(own, &explained));
            votes[class] = gain - T::of(self.cost) * code[atom].abs();
        }
        votes
    }

    /// $\lambda\lVert a_c\rVert_1$.
    fn cost_of<T: Real>(&self, code: &[T], class: usize) -> f64 {
        if self.cost == 0.0 {
            return 0.0;
        }
        let own = code.iter().zip(&self.class_of_atoms).filter(|(_, of)| **of == Some(class));
        self.cost * own.map(|(a, _)| a.abs().wide()).sum::<f64>()
    }

    /// $D_ca_c$.
    fn explained<T: Real>(
        &self,
        atoms: Option<&Matrix<T>>,
        (x, code): (&[T], &[T]),
        class: usize,
    ) -> Vec<T> {
        let Some(atoms) = atoms else { return vec![T::zero(); x.len()] };
        let own = code.iter().zip(&self.class_of_atoms).enumerate();
        let own = own.filter(|(_, (a, of))| **of == Some(class) && **a != T::zero());
        let (chosen, weights): (Vec<u32>, Vec<T>) = own.map(|(k, (&a, _))| (k as u32, a)).unzip();
        wide(
            #[inline(always)]
            || weighted_sum(atoms, &chosen, &weights),
        )
    }
}
