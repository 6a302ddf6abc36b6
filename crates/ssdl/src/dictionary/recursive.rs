//! Recursive least squares: the atoms follow one sample after another.
//!
//! Skretting, Engan (2010). After samples $x_1,\dots,x_t$ with codes $a_i$ and forgetting factors $f_i$ the
//! atoms are the exact minimum of
//!
//! $$\sum_i\Bigl(\prod_{j>i}f_j\Bigr)\lVert x_i-Da_i\rVert^2
//! +\Bigl(\prod_jf_j\Bigr)\operatorname{tr}\bigl((D-D_0)C_0^{-1}(D-D_0)^\top\bigr).$$

use crate::Real;
use crate::matrix::{Matrix, axpy, dot, squared_norm};
use crate::wide::wide;

/// Steps after which the Gram matrices are computed again: small errors add up.
const FRESH_AFTER: usize = 128;

/// Atoms in one or several parts (rows below each other: samples, label targets), the Gram matrix of each
/// part, and $C=(\sum aa^\top)^{-1}$.
///
/// $C$ is kept in double precision: in single precision it loses its sign after some hundred steps.
#[derive(Clone, Debug)]
pub struct Recursive<T> {
    parts: Vec<Part<T>>,
    inverse: Matrix<f64>,
    steps: usize,
}

/// Some rows of the atoms.
#[derive(Clone, Debug)]
pub struct Part<T> {
    /// $n\times p$.
    pub atoms: Matrix<T>,
    /// $D^\top D$ of these rows.
    pub gram: Matrix<T>,
}

impl<T: Real> Recursive<T> {
    /// From the first atoms, all parts with as many columns, and the symmetric $C_0$ ($p\times p$).
    #[must_use]
    #[inline(never)]
    pub fn new(parts: Vec<Matrix<T>>, inverse: Matrix<f64>) -> Self {
        let parts = parts.into_iter().map(|atoms| Part { gram: atoms.gram(), atoms }).collect();
        Self { parts, inverse, steps: 0 }
    }

    /// The parts, as they are now.
    #[must_use]
    pub fn parts(&self) -> &[Part<T>] {
        &self.parts
    }

    /// $C$.
    #[must_use]
    pub fn inverse(&self) -> &Matrix<f64> {
        &self.inverse
    }

    /// The atoms of each part.
    #[must_use]
    pub fn into_atoms(self) -> Vec<Matrix<T>> {
        self.parts.into_iter().map(|part| part.atoms).collect()
    }

    /// Learns from one sample (a slice for each part) with its code; all before counts `forgetting` times
    /// as much ($0<f\le1$):
    ///
    /// $$u=\tfrac1fCa,\quad s=\tfrac1{1+a^\top u},\quad D\mathrel{+}=s(x-Da)u^\top,\quad
    /// C\leftarrow\tfrac1fC-suu^\top.$$
    ///
    /// Cost $O((n+p)p)$. A code of zeros only forgets. Returns $\lVert x-Da\rVert^2$ of each part, before the
    /// step.
    #[inline(never)]
    pub fn step(&mut self, sample: &[&[T]], code: &[T], forgetting: f64) -> Vec<f64> {
        let p = self.inverse.columns();
        let support: Vec<usize> = (0..p).filter(|&k| code[k] != T::zero()).collect();
        let mut direction = vec![0.0; p];
        for &k in &support {
            axpy(code[k].wide() / forgetting, self.inverse.column(k), &mut direction);
        }
        let along: f64 = support.iter().map(|&k| code[k].wide() * direction[k]).sum();
        let share = 1.0 / (1.0 + along);
        // Rounding alone can make it negative; such a step would point the wrong way.
        if !(share > 0.0 && share <= 1.0 + 1e-9) {
            return vec![0.0; sample.len()];
        }
        wide(
            #[inline(always)]
            || shrink(&mut self.inverse, &direction, share, forgetting),
        );
        let direction: Vec<T> = direction.iter().map(|u| T::of(*u)).collect();
        let mut squares = Vec::with_capacity(sample.len());
        for (part, sample) in self.parts.iter_mut().zip(sample) {
            squares.push(wide(
                #[inline(always)]
                || part.follow(sample, code, &support, &direction, T::of(share)),
            ));
        }
        self.steps += 1;
        if self.steps.is_multiple_of(FRESH_AFTER) {
            self.parts.iter_mut().for_each(|part| part.gram = part.atoms.gram());
        }
        squares
    }

    /// Scales every atom, all parts together, to length one. Past codes of an atom that is divided by ν
    /// were in effect multiplied by ν, so $C_{kl}$ is divided by $\nu_k\nu_l$.
    #[inline(never)]
    pub fn normalise(&mut self) {
        let p = self.inverse.columns();
        let square = |k: usize| -> f64 {
            self.parts.iter().map(|part| squared_norm(part.atoms.column(k))).sum()
        };
        let shrinks: Vec<f64> = (0..p)
            .map(square)
            .map(|square| if square > f64::MIN_POSITIVE { 1.0 / square.sqrt() } else { 1.0 })
            .collect();
        let narrow: Vec<T> = shrinks.iter().map(|v| T::of(*v)).collect();
        wide(
            #[inline(always)]
            || {
                for part in &mut self.parts {
                    for (k, &factor) in narrow.iter().enumerate() {
                        part.atoms.column_mut(k).iter_mut().for_each(|d| *d *= factor);
                    }
                    rescale(&mut part.gram, &narrow);
                }
                rescale(&mut self.inverse, &shrinks);
            },
        );
    }
}

/// Entry $(l,k)$ times both factors, symmetric to the bit.
#[inline(always)]
fn rescale<T: Real>(matrix: &mut Matrix<T>, factors: &[T]) {
    for (k, &factor) in factors.iter().enumerate() {
        let column = matrix.column_mut(k).iter_mut().zip(factors);
        column.for_each(|(entry, &other)| *entry *= factor * other);
    }
}

/// $C/f-suu^\top$, symmetric to the bit.
#[inline(always)]
fn shrink(inverse: &mut Matrix<f64>, direction: &[f64], share: f64, forgetting: f64) {
    let (grow, root) = (1.0 / forgetting, share.sqrt());
    let rooted: Vec<f64> = direction.iter().map(|u| root * u).collect();
    for (k, &own) in rooted.iter().enumerate() {
        let column = inverse.column_mut(k).iter_mut().zip(&rooted);
        column.for_each(|(c, &other)| *c = grow * *c - own * other);
    }
}

impl<T: Real> Part<T> {
    /// $D\mathrel{+}=s(x-Da)u^\top$, and the Gram matrix with it; returns $\lVert x-Da\rVert^2$.
    #[inline(always)]
    fn follow(&mut self, x: &[T], code: &[T], support: &[usize], u: &[T], share: T) -> f64 {
        let mut left = x.to_vec();
        for &k in support {
            axpy(-code[k], self.atoms.column(k), &mut left);
        }
        let square = squared_norm(&left);
        left.iter_mut().for_each(|r| *r *= share);
        // With r = s(x - Da): G += (D'r)u' + u(D'r)' + |r|² uu' = cu' + uc' for c = D'r + |r|²u/2.
        let half = T::of(0.5) * dot(&left, &left);
        let mixed: Vec<T> = self
            .atoms
            .iter_columns()
            .zip(u)
            .map(|(atom, &u)| dot(atom, &left) + half * u)
            .collect();
        for (k, &own) in u.iter().enumerate() {
            axpy(own, &left, self.atoms.column_mut(k));
            let column = self.gram.column_mut(k).iter_mut();
            for ((g, &c), &other) in column.zip(&mixed).zip(u) {
                *g += c * own + other * mixed[k];
            }
        }
        square
    }
}
