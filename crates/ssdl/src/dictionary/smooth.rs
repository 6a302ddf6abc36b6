//! K-SVD with two graphs: atoms that are smooth over a graph of the features, coefficients that are smooth
//! over a graph of the samples.
//!
//! $$\min_{\lVert d_k\rVert=1,A}\lVert X-DA\rVert^2+\alpha\operatorname{tr}(D^\top L_fD)
//! +\beta\operatorname{tr}(AL_cA^\top).$$

use super::ksvd::{along, exchange, remainder};
use crate::graph::Laplacian;
use crate::matrix::{Matrix, axpy, inner, squared_norm, weighted_sum};
use crate::sparse::Csr;
use crate::wide::wide;
use crate::{Error, Real, Result};

/// Relative residual at which the system of an atom, or of its coefficients, is solved: the objective is as flat as
/// its square.
const SOLVED: f64 = 1e-3;
/// Maximum number of conjugate gradient steps; most need less than ten.
const MAX_STEPS: usize = 200;

/// The two graphs and their weights; both must be graphs of affinities.
pub struct Smooth<'a, T> {
    /// α and $L_f$ over the $n$ features.
    pub features: (f64, &'a Laplacian<T>),
    /// β and $L_c$ over the $N$ samples.
    pub samples: (f64, &'a Laplacian<T>),
}

impl<T: Real> Smooth<'_, T> {
    /// One pass over atoms ($n\times p$) and codes ($p\times N$); supports stay. With users $I$ of atom $k$ and
    /// what the other atoms leave of them, $E$:
    ///
    /// $$d=(\lVert a\rVert^2I+\alpha L_f)^{-1}Ea,\quad d\leftarrow d/\lVert d\rVert,\quad
    /// a=(I+\beta L_{c,II})^{-1}E^\top d.$$
    ///
    /// Unused atoms are left alone. Cost $4n\,\mathrm{nnz}(A)$, and for each atom a few products with $L_f$ and
    /// with the part of $L_c$ between its users. Returns $X-DA$.
    ///
    /// # Errors
    /// If a graph is not one of affinities.
    #[inline(never)]
    pub fn update(
        &self,
        samples: &Matrix<T>,
        atoms: &mut Matrix<T>,
        codes: &mut Matrix<T>,
    ) -> Result<Matrix<T>> {
        let sparse = Csr::of_columns(codes);
        let mut left = remainder(samples, atoms, &sparse);
        let by_atom = sparse.transpose();
        let refuse = || Error::Graph("atoms follow graphs of affinities only".into());
        let features = self.features.1.affinities().ok_or_else(refuse)?;
        let graph = self.samples.1.affinities().ok_or_else(refuse)?;
        let mut place = vec![usize::MAX; samples.columns()];
        for k in 0..atoms.columns() {
            let (users, values) = by_atom.row_slices(k);
            if users.is_empty() {
                continue;
            }
            let own = T::of(squared_norm(values));
            let sum = wide(
                #[inline(always)]
                || {
                    let mut sum = weighted_sum(&left, users, values);
                    axpy(own, atoms.column(k), &mut sum);
                    sum
                },
            );
            let mut next = self.solve(features, own, &sum);
            let length = T::of(squared_norm(&next).sqrt());
            if length > T::min_positive_value() && length.is_finite() {
                next.iter_mut().for_each(|d| *d /= length);
            } else {
                next.copy_from_slice(atoms.column(k));
            }
            let along = wide(
                #[inline(always)]
                || along(&left, (atoms.column(k), &next), users, values),
            );
            let new = self.coefficients(graph, users, along, &mut place);
            wide(
                #[inline(always)]
                || {
                    for (&i, (&old, &new)) in users.iter().zip(values.iter().zip(&new)) {
                        let column = left.column_mut(i as usize);
                        exchange(column, (old, atoms.column(k)), (new, &next));
                    }
                },
            );
            atoms.column_mut(k).copy_from_slice(&next);
            for (&i, &value) in users.iter().zip(&new) {
                codes.column_mut(i as usize)[k] = value;
            }
        }
        Ok(left)
    }

    /// $(sI+\alpha L_f)^{-1}b$: α is small beside $s$, so a few steps are enough.
    fn solve(&self, weights: &Csr<T>, shift: T, rhs: &[T]) -> Vec<T> {
        let (alpha, degrees) = (T::of(self.features.0), self.features.1.diagonal());
        let start = rhs.iter().map(|&b| b / shift).collect();
        conjugate_gradients(rhs, start, |x, out| {
            for (i, out) in out.iter_mut().enumerate() {
                let (columns, values) = weights.row_slices(i);
                let mut others = T::zero();
                for (&j, &w) in columns.iter().zip(values) {
                    others += w * x[j as usize];
                }
                *out = shift * x[i] + alpha * (degrees[i] * x[i] - others);
            }
        })
    }

    /// $(I+\beta L_c[I,I])^{-1}b$; `place` is scratch, all `usize::MAX` before and after.
    fn coefficients(
        &self,
        graph: &Csr<T>,
        users: &[u32],
        rhs: Vec<T>,
        place: &mut [usize],
    ) -> Vec<T> {
        let (beta, laplacian) = self.samples;
        if beta <= 0.0 {
            return rhs;
        }
        let beta = T::of(beta);
        users.iter().enumerate().for_each(|(at, &i)| place[i as usize] = at);
        // Only neighbours that use the atom, too, take part.
        let places = &*place;
        let rows = users.iter().map(|&i| {
            let inside = graph.row(i as usize).filter(|(j, _)| places[*j] != usize::MAX);
            inside.map(|(j, weight)| (places[j], beta * weight))
        });
        let inside = Csr::from_rows(users.len(), rows);
        users.iter().for_each(|&i| place[i as usize] = usize::MAX);
        let own: Vec<T> =
            users.iter().map(|&i| T::one() + beta * laplacian.diagonal()[i as usize]).collect();
        let start = rhs.iter().zip(&own).map(|(&b, &own)| b / own).collect();
        conjugate_gradients(&rhs, start, |x, out| {
            for (at, out) in out.iter_mut().enumerate() {
                let (columns, values) = inside.row_slices(at);
                let mut others = T::zero();
                for (&j, &w) in columns.iter().zip(values) {
                    others += w * x[j as usize];
                }
                *out = own[at] * x[at] - others;
            }
        })
    }
}

/// The solution of a system whose matrix is applied by `apply`: symmetric, well conditioned.
fn conjugate_gradients<T: Real>(
    rhs: &[T],
    mut solution: Vec<T>,
    apply: impl Fn(&[T], &mut [T]),
) -> Vec<T> {
    let mut image = vec![T::zero(); rhs.len()];
    apply(&solution, &mut image);
    let mut rest: Vec<T> = rhs.iter().zip(&image).map(|(&b, &h)| b - h).collect();
    let mut direction = rest.clone();
    let (mut size, goal) = (squared_norm(&rest), SOLVED * SOLVED * squared_norm(rhs));
    for _ in 0..MAX_STEPS {
        if size.is_nan() || size <= goal {
            break;
        }
        apply(&direction, &mut image);
        let step = T::of(size / inner(&direction, &image));
        axpy(step, &direction, &mut solution);
        axpy(-step, &image, &mut rest);
        let next = squared_norm(&rest);
        let kept = T::of(next / size);
        direction.iter_mut().zip(&rest).for_each(|(d, &r)| *d = r + kept * *d);
        size = next;
    }
    solution
}
