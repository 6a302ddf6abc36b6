//! Half-power penalties on samples whose codes pull on each other: on the rows of each class, and on
//! each coefficient of the rest.
//!
//! $$\min_A\lVert X-DA\rVert^2+\lambda_1\sum_c\sum_k\lVert A_{c,k\cdot}\rVert^{1/2}
//! +\lambda_2\sum_{k,j\text{ unlabelled}}|a_{kj}|^{1/2}+\beta\operatorname{tr}(ALA^\top)$$

use rayon::prelude::*;

use crate::Real;
use crate::codes::pursuit::{HalfThreshold, top_of};
use crate::graph::Laplacian;
use crate::matrix::{Matrix, axpy, inner, largest_eigenvalue, squared_norm};

/// Proximal gradient steps with momentum; each step thresholds in closed form.
#[derive(Clone, Copy, Debug)]
pub struct Structured<'a> {
    /// The samples of each class; those in none are penalised coefficient by coefficient.
    pub groups: &'a [Vec<usize>],
    /// λ₁.
    pub rows: f64,
    /// λ₂.
    pub coefficients: f64,
    /// β.
    pub manifold: f64,
    /// Maximum number of steps.
    pub steps: usize,
}

/// The fixed part of the problem.
#[derive(Clone, Copy)]
pub struct Fixed<'a, T> {
    /// $G$, $p\times p$.
    pub gram: &'a Matrix<T>,
    /// $D^\top X$, $p\times N$.
    pub correlations: &'a Matrix<T>,
    /// $L$.
    pub laplacian: &'a Laplacian<T>,
}

impl Structured<'_> {
    /// Improves `codes` ($p\times N$); never raises the objective. Cost per step: $p$ for each nonzero
    /// coefficient and each edge of the graph.
    #[inline(never)]
    pub fn code<T: Real>(&self, fixed: Fixed<'_, T>, codes: &mut Matrix<T>) {
        let n = fixed.laplacian.n_samples();
        let mut scratch = Matrix::zeros(0, 0);
        let top = largest_eigenvalue(n, |v: &[T], out: &mut [T]| {
            let (row, mut image) = (Matrix::from_fn(1, n, |_, j| v[j]), Matrix::zeros(1, n));
            fixed.laplacian.pull(&row, &mut scratch, &mut image);
            out.copy_from_slice(image.as_slice());
        });
        let bound = top_of(fixed.gram) + T::of(self.manifold) * top;
        if bound <= T::min_positive_value() {
            return;
        }
        let before = self.value(fixed, codes);
        for accelerated in [true, false] {
            let found = self.steps_from(fixed, codes, bound, accelerated);
            // Momentum may lead uphill where the penalty is not convex; plain steps cannot.
            if self.value(fixed, &found) <= before {
                *codes = found;
                return;
            }
        }
    }

    fn steps_from<T: Real>(
        &self,
        fixed: Fixed<'_, T>,
        codes: &Matrix<T>,
        bound: T,
        accelerated: bool,
    ) -> Matrix<T> {
        let (mut now, mut ahead, mut momentum) = (codes.clone(), codes.clone(), 1.0f64);
        let mut image = Matrix::zeros(codes.rows(), codes.columns());
        let mut buffers = (Matrix::zeros(0, 0), Matrix::zeros(codes.rows(), codes.columns()));
        for _ in 0..self.steps {
            self.image(fixed, &ahead, &mut image, &mut buffers);
            let mut next = ahead.clone();
            next.par_columns_mut().enumerate().with_min_len(32).for_each(|(j, next)| {
                let parts = next.iter_mut().zip(image.column(j)).zip(fixed.correlations.column(j));
                parts.for_each(|((a, &h), &r)| *a -= (h - r) / bound);
            });
            self.threshold(&mut next, bound.wide());
            let (mut against, mut moved, mut size) = (0.0, 0.0f64, 0.0f64);
            let all = next.as_slice().iter().zip(now.as_slice()).zip(ahead.as_slice());
            for ((&next, &now), &ahead) in all {
                let step = (next - now).wide();
                against += (ahead - next).wide() * step;
                moved = moved.max(step.abs());
                size = size.max(next.abs().wide());
            }
            momentum = if against > 0.0 || !accelerated { 1.0 } else { momentum };
            let later = (1.0 + (1.0 + 4.0 * momentum * momentum).sqrt()) / 2.0;
            let factor = T::of((momentum - 1.0) / later);
            let all = ahead.as_mut_slice().iter_mut().zip(next.as_slice()).zip(now.as_slice());
            all.for_each(|((ahead, &next), &now)| *ahead = next + factor * (next - now));
            (now, momentum) = (next, later);
            if moved <= 1e-4 * size {
                break;
            }
        }
        now
    }

    /// $GZ+\beta ZL$.
    fn image<T: Real>(
        &self,
        fixed: Fixed<'_, T>,
        z: &Matrix<T>,
        out: &mut Matrix<T>,
        (scratch, pull): &mut (Matrix<T>, Matrix<T>),
    ) {
        let used = z.as_slice().iter().filter(|a| **a != T::zero()).count();
        if used * 4 > z.as_slice().len() {
            out.set_product(fixed.gram.view(), z.view());
        } else {
            out.par_columns_mut().enumerate().with_min_len(16).for_each(|(j, out)| {
                out.fill(T::zero());
                let column = z.column(j).iter().enumerate();
                for (k, &a) in column.filter(|(_, a)| **a != T::zero()) {
                    axpy(a, fixed.gram.column(k), out);
                }
            });
        }
        if self.manifold > 0.0 {
            fixed.laplacian.pull(z, scratch, pull);
            axpy(T::of(self.manifold), pull.as_slice(), out.as_mut_slice());
        }
    }

    /// The proximal step of the penalty, for steps of length 1/`bound`.
    fn threshold<T: Real>(&self, codes: &mut Matrix<T>, bound: f64) {
        let p = codes.rows();
        let mut grouped = vec![false; codes.columns()];
        self.groups.iter().flatten().for_each(|&j| grouped[j] = true);
        let each = HalfThreshold::new(self.coefficients / bound);
        let row = HalfThreshold::new(self.rows / bound);
        codes.par_columns_mut().zip(&grouped).with_min_len(32).for_each(|(column, grouped)| {
            if !grouped {
                column.iter_mut().for_each(|a| *a = T::of(each.at(a.wide())));
            }
        });
        for group in self.groups {
            for k in 0..p {
                let squares = group.iter().map(|&j| codes.column(j)[k].wide().powi(2));
                let length = squares.sum::<f64>().sqrt();
                let keep = match row.at(length) {
                    left if left > 0.0 => T::of(left / length),
                    _ => T::zero(),
                };
                group.iter().for_each(|&j| codes.column_mut(j)[k] *= keep);
            }
        }
    }

    /// What is minimised, without $\lVert X\rVert^2$.
    #[must_use]
    pub fn value<T: Real>(&self, fixed: Fixed<'_, T>, codes: &Matrix<T>) -> f64 {
        let mut image = Matrix::zeros(codes.rows(), codes.columns());
        let mut buffers = (Matrix::zeros(0, 0), image.clone());
        self.image(fixed, codes, &mut image, &mut buffers);
        inner(codes.as_slice(), image.as_slice())
            - 2.0 * inner(codes.as_slice(), fixed.correlations.as_slice())
            + self.size(codes)
    }

    /// Both penalties, weights included.
    #[must_use]
    pub fn size<T: Real>(&self, codes: &Matrix<T>) -> f64 {
        let mut grouped = vec![false; codes.columns()];
        let mut total = 0.0;
        for group in self.groups {
            group.iter().for_each(|&j| grouped[j] = true);
            let own = codes.select_columns(group);
            for k in 0..codes.rows() {
                let row: Vec<T> = own.iter_columns().map(|column| column[k]).collect();
                total += self.rows * squared_norm(&row).sqrt().sqrt();
            }
        }
        for (column, _) in codes.iter_columns().zip(&grouped).filter(|(_, grouped)| !**grouped) {
            let roots = column.iter().map(|a| a.abs().wide().sqrt());
            total += self.coefficients * roots.sum::<f64>();
        }
        total
    }
}
