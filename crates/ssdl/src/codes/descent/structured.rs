//! Half-power penalties on samples whose codes pull on each other: on the rows of each class, and on
//! each coefficient of the rest.
//!
//! $$\min_A\lVert X-DA\rVert^2+\lambda_1\sum_c\sum_k\lVert A_{c,k\cdot}\rVert^{1/2}
//! +\lambda_2\sum_{k,j\text{ unlabelled}}|a_{kj}|^{1/2}+\beta\operatorname{tr}(ALA^\top)$$

use crate::Real;
use crate::codes::pursuit::{HalfThreshold, top_of};
use crate::graph::Laplacian;
use crate::matrix::{Matrix, axpy, inner, largest_eigenvalue, squared_norm};
use crate::sparse::Csr;
use crate::threads::Loops;
use crate::wide::wide;

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

/// How far a step went.
struct Moved {
    /// $\langle\text{ahead}-\text{next},\text{next}-\text{now}\rangle$: above zero, momentum points uphill.
    against: f64,
    /// The largest change of a coefficient.
    most: f64,
    /// The largest coefficient.
    size: f64,
}

impl Moved {
    /// From `now` to `next`; the step was taken at `now` + factor · (`now` − `before`).
    fn between<T: Real>(next: &Matrix<T>, now: &Matrix<T>, before: &Matrix<T>, factor: T) -> Self {
        let columns = (0..next.columns()).runs_of(32);
        let parts = columns.gather(|j| {
            wide(
                #[inline(always)]
                || moved_column(next.column(j), now.column(j), before.column(j), factor),
            )
        });
        let none = Self { against: 0.0, most: 0.0, size: 0.0 };
        parts.iter().fold(none, |all, (against, most, size)| Self {
            against: all.against + against.wide(),
            most: all.most.max(most.wide()),
            size: all.size.max(size.wide()),
        })
    }
}

#[inline(always)]
fn moved_column<T: Real>(next: &[T], now: &[T], before: &[T], factor: T) -> (T, T, T) {
    const LANES: usize = 8;
    let (mut against, mut most, mut size) =
        ([T::zero(); LANES], [T::zero(); LANES], [T::zero(); LANES]);
    let larger = |a: T, b: T| if b > a { b } else { a };
    let (nexts, later) = next.as_chunks::<LANES>();
    let (nows, now_rest) = now.as_chunks::<LANES>();
    let (befores, before_rest) = before.as_chunks::<LANES>();
    let (mut rests, n) = ([[T::zero(); LANES]; 3], later.len());
    rests[0][..n].copy_from_slice(later);
    rests[1][..n].copy_from_slice(now_rest);
    rests[2][..n].copy_from_slice(before_rest);
    let [later, now_rest, before_rest] = &rests;
    let whole = nexts.iter().zip(nows).zip(befores);
    // Whole strips alone: with a length that is known, all lanes go at once.
    for ((next, now), before) in whole.chain([((later, now_rest), before_rest)]) {
        for lane in 0..LANES {
            let step = next[lane] - now[lane];
            let ahead = now[lane] + factor * (now[lane] - before[lane]);
            against[lane] += (ahead - next[lane]) * step;
            most[lane] = larger(most[lane], step.abs());
            size[lane] = larger(size[lane], next[lane].abs());
        }
    }
    let top = |lanes: [T; LANES]| lanes.into_iter().fold(T::zero(), larger);
    (against.into_iter().sum(), top(most), top(size))
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
        let (mut now, mut next) = (codes.clone(), codes.clone());
        let mut before = codes.clone();
        let mut image = Matrix::zeros(codes.rows(), codes.columns());
        let mut buffers = (Matrix::zeros(0, 0), Matrix::zeros(0, 0));
        self.image(fixed, &now, &mut image, &mut buffers);
        let mut image_before = image.clone();
        let (mut momentum, mut factor) = (1.0f64, T::zero());
        for _ in 0..self.steps {
            // Images are linear: that of the point ahead follows from those of the last two.
            let inverse = T::one() / bound;
            next.columns_mut().enumerate().runs_of(32).each(|(j, next)| {
                wide(
                    #[inline(always)]
                    || {
                        let slopes = image.column(j).iter().zip(image_before.column(j));
                        let slopes = slopes.zip(fixed.correlations.column(j));
                        let points = now.column(j).iter().zip(before.column(j));
                        for ((next, (&a, &b)), ((&h, &i), &r)) in
                            next.iter_mut().zip(points).zip(slopes)
                        {
                            let slope = h + factor * (h - i) - r;
                            *next = a + factor * (a - b) - slope * inverse;
                        }
                    },
                );
            });
            self.threshold(&mut next, bound.wide());
            let Moved { against, most, size } = Moved::between(&next, &now, &before, factor);
            momentum = if against > 0.0 || !accelerated { 1.0 } else { momentum };
            let later = (1.0 + (1.0 + 4.0 * momentum * momentum).sqrt()) / 2.0;
            factor = T::of((momentum - 1.0) / later);
            momentum = later;
            std::mem::swap(&mut before, &mut now);
            std::mem::swap(&mut now, &mut next);
            if most <= 1e-4 * size {
                break;
            }
            std::mem::swap(&mut image_before, &mut image);
            self.image(fixed, &now, &mut image, &mut buffers);
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
        let beta = T::of(self.manifold);
        let sparse = Csr::of_columns(z);
        if sparse.entries() * 4 > z.as_slice().len() {
            out.set_product(fixed.gram.view(), z.view());
            if self.manifold > 0.0 {
                pull.reshape(z.rows(), z.columns());
                fixed.laplacian.pull(z, scratch, pull);
                axpy(beta, pull.as_slice(), out.as_mut_slice());
            }
            return;
        }
        out.columns_mut().enumerate().runs_of(16).each(|(j, out)| {
            wide(
                #[inline(always)]
                || {
                    out.fill(T::zero());
                    sparse.row(j).for_each(|(k, a)| axpy(a, fixed.gram.column(k), out));
                },
            );
        });
        if self.manifold > 0.0 {
            fixed.laplacian.add_sparse_pull(beta, &sparse, scratch, out);
        }
    }

    /// The proximal step of the penalty, for steps of length 1/`bound`.
    fn threshold<T: Real>(&self, codes: &mut Matrix<T>, bound: f64) {
        let p = codes.rows();
        let mut grouped = vec![false; codes.columns()];
        self.groups.iter().flatten().for_each(|&j| grouped[j] = true);
        let each = HalfThreshold::new(self.coefficients / bound);
        let row = HalfThreshold::new(self.rows / bound);
        codes.columns_mut().zip(&grouped).runs_of(32).each(|(column, grouped)| {
            if !grouped {
                column.iter_mut().for_each(|a| *a = T::of(each.at(a.wide())));
            }
        });
        let (mut squares, mut keep) = (vec![0.0; p], vec![T::zero(); p]);
        for group in self.groups {
            squares.fill(0.0);
            for &j in group {
                let column = squares.iter_mut().zip(codes.column(j));
                column.for_each(|(square, a)| *square += a.wide() * a.wide());
            }
            for (keep, square) in keep.iter_mut().zip(&squares) {
                let length = square.sqrt();
                *keep = match row.at(length) {
                    left if left > 0.0 => T::of(left / length),
                    _ => T::zero(),
                };
            }
            for &j in group {
                codes.column_mut(j).iter_mut().zip(&keep).for_each(|(a, &keep)| *a *= keep);
            }
        }
    }

    /// What is minimised, without $\lVert X\rVert^2$.
    #[must_use]
    pub fn value<T: Real>(&self, fixed: Fixed<'_, T>, codes: &Matrix<T>) -> f64 {
        let mut image = Matrix::zeros(codes.rows(), codes.columns());
        let mut buffers = (Matrix::zeros(0, 0), Matrix::zeros(0, 0));
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
