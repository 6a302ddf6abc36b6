//! Rows of coefficients that a group of samples shares, by reweighted least squares.
//!
//! $$\min_A\sum_i\lVert x_i-Da_i\rVert^{q_1}+\lambda\sum_g\sum_k\lVert A_{g,k\cdot}\rVert^q$$
//! is bounded from above by $\sum_id_i\lVert x_i-Da_i\rVert^2+\lambda\sum_g\sum_kt_{gk}\lVert
//! A_{g,k\cdot}\rVert^2$ with $d_i=\tfrac{q_1}2(r_i^2+\varepsilon)^{q_1/2-1}$ and
//! $t_{gk}=\tfrac q2(\lVert A_{g,k\cdot}\rVert^2+\varepsilon)^{q/2-1}$: a system for each sample,
//! $(G+\tfrac\lambda{d_i}T_g)a_i=D^\top x_i$.

use crate::Real;
use crate::matrix::{Matrix, axpy, dot};
use crate::threads::Loops;
use crate::wide::wide;

/// Samples whose conjugate gradients run together.
const TOGETHER: usize = 64;

/// The groups and powers of a reweighted problem.
#[derive(Clone, Copy, Debug)]
pub struct Rows<'a> {
    /// The group of each sample.
    pub group_of: &'a [usize],
    /// Number of groups.
    pub n_groups: usize,
    /// λ.
    pub sparsity: f64,
    /// $q$ of the rows, above 0 and at most 2.
    pub power: f64,
    /// $q_1$ of the residuals, above 0 and at most 2.
    pub loss_power: f64,
}

impl Rows<'_> {
    /// $d_i$ from squared residuals.
    #[must_use]
    pub fn sample_weights(&self, residuals: &[f64], epsilon: f64) -> Vec<f64> {
        let q = self.loss_power;
        residuals.iter().map(|r| 0.5 * q * (r + epsilon).powf(0.5 * q - 1.0)).collect()
    }

    /// $\lVert A_{g,k\cdot}\rVert^2$, $p\times$ groups.
    fn squares<T: Real>(&self, codes: &Matrix<T>) -> Matrix<f64> {
        let mut squares = Matrix::zeros(codes.rows(), self.n_groups);
        for (code, &group) in codes.iter_columns().zip(self.group_of) {
            let column = squares.column_mut(group).iter_mut();
            column.zip(code).for_each(|(s, a)| *s += a.wide() * a.wide());
        }
        squares
    }

    /// $\lambda\sum_g\sum_k\lVert A_{g,k\cdot}\rVert^q$.
    #[must_use]
    pub fn size<T: Real>(&self, codes: &Matrix<T>) -> f64 {
        let squares = self.squares(codes);
        self.sparsity * squares.as_slice().iter().map(|s| s.powf(0.5 * self.power)).sum::<f64>()
    }

    /// $\sum_ir_i^{q_1}$ from squared residuals.
    #[must_use]
    pub fn loss(&self, residuals: &[f64]) -> f64 {
        residuals.iter().map(|r| r.powf(0.5 * self.loss_power)).sum()
    }

    /// One reweighting: improves `codes` for fixed weights of the samples, by at most `steps` conjugate
    /// gradients for each sample; `images` are their products with the Gram matrix and follow
    /// them. Cost $p^2N$ per step. Each step lowers the bound.
    pub fn code<T: Real>(
        &self,
        (gram, correlations): (&Matrix<T>, &Matrix<T>),
        weights: &[f64],
        (epsilon, steps): (f64, usize),
        (codes, images): (&mut Matrix<T>, &mut Matrix<T>),
    ) {
        let q = self.power;
        let mut rows = self.squares(codes);
        rows.as_mut_slice()
            .iter_mut()
            .for_each(|s| *s = 0.5 * q * (*s + epsilon).powf(0.5 * q - 1.0));
        let diagonal: Vec<T> = (0..gram.columns()).map(|k| gram.column(k)[k]).collect();
        // λ t / d of each coefficient.
        let (p, n) = (codes.rows(), codes.columns());
        let mut ridge = Matrix::zeros(p, n);
        ridge.columns_mut().enumerate().runs_of(32).each(|(j, column)| {
            let factor = self.sparsity / weights[j].max(f64::MIN_POSITIVE);
            let row = rows.column(self.group_of[j]);
            column.iter_mut().zip(row).for_each(|(s, t)| *s = T::of((factor * t).min(1e12)));
        });
        conjugate_gradients((gram, &diagonal), &ridge, correlations, steps, (codes, images));
    }
}

/// Improves the solutions of $(G+\operatorname{diag}(s_j))a_j=r_j$. Samples are taken a few at a time, so that all
/// steps of theirs find their arrays in a near cache.
fn conjugate_gradients<T: Real>(
    (gram, diagonal): (&Matrix<T>, &[T]),
    ridge: &Matrix<T>,
    rhs: &Matrix<T>,
    steps: usize,
    (codes, images): (&mut Matrix<T>, &mut Matrix<T>),
) {
    let p = codes.rows().max(1);
    let codes = codes.as_mut_slice().chunks_mut(p * TOGETHER);
    let images = images.as_mut_slice().chunks_mut(p * TOGETHER);
    let rhs = rhs.as_slice().chunks(p * TOGETHER);
    let ridge = ridge.as_slice().chunks(p * TOGETHER);
    let samples = codes.zip(images).zip(rhs.zip(ridge));
    samples.each_with(
        || Descending::new(p),
        |some, ((codes, images), (rhs, ridge))| {
            some.begin(diagonal, ridge, rhs, (codes, images));
            some.descend(gram, ridge, steps, (codes, images));
        },
    );
}

/// Arrays for the conjugate gradients of [`TOGETHER`] samples, used again for the next.
struct Descending<T> {
    left: Matrix<T>,
    direction: Matrix<T>,
    image: Matrix<T>,
    /// 1/(G_kk + s_kj), the preconditioner.
    scales: Matrix<T>,
    /// Products of the residual with its preconditioned self, and those at which a sample is done.
    sizes: Vec<T>,
    goals: Vec<T>,
}

impl<T: Real> Descending<T> {
    fn new(p: usize) -> Self {
        let empty = || Matrix::zeros(p, TOGETHER);
        let (sizes, goals) = (Vec::new(), Vec::new());
        Self { left: empty(), direction: empty(), image: empty(), scales: empty(), sizes, goals }
    }

    fn begin(&mut self, diagonal: &[T], ridge: &[T], rhs: &[T], (codes, images): (&[T], &[T])) {
        let p = diagonal.len();
        let count = codes.len() / p.max(1);
        for array in [&mut self.left, &mut self.direction, &mut self.image, &mut self.scales] {
            array.reshape(p, count);
        }
        self.left.as_mut_slice().copy_from_slice(rhs);
        self.scales.as_mut_slice().copy_from_slice(ridge);
        self.sizes.clear();
        for j in 0..count {
            let own = j * p..(j + 1) * p;
            let (ridge, code, image) = (&ridge[own.clone()], &codes[own.clone()], &images[own]);
            let (left, scales) = (self.left.column_mut(j), self.scales.column_mut(j));
            let direction = self.direction.column_mut(j);
            self.sizes.push(wide(
                #[inline(always)]
                || {
                    let least = T::min_positive_value();
                    for (scale, &d) in scales.iter_mut().zip(diagonal) {
                        *scale = T::one() / (d + *scale).max(least);
                    }
                    let parts = image.iter().zip(ridge).zip(code);
                    for (left, ((&image, &s), &code)) in left.iter_mut().zip(parts) {
                        *left -= image + s * code;
                    }
                    for ((direction, &left), &scale) in
                        direction.iter_mut().zip(&*left).zip(&*scales)
                    {
                        *direction = left * scale;
                    }
                    dot(left, direction)
                },
            ));
        }
        self.goals.clear();
        self.goals.extend(self.sizes.iter().map(|size| *size * T::of(1e-6)));
    }

    fn descend(
        &mut self,
        gram: &Matrix<T>,
        ridge: &[T],
        steps: usize,
        (codes, images): (&mut [T], &mut [T]),
    ) {
        let p = gram.rows();
        for _ in 0..steps {
            if self.sizes.iter().zip(&self.goals).all(|(size, goal)| size <= goal) {
                break;
            }
            self.image.set_product_here(gram.view(), self.direction.view());
            for (j, size) in self.sizes.iter_mut().enumerate() {
                if *size <= self.goals[j] {
                    continue;
                }
                let own = j * p..(j + 1) * p;
                let fixed = (&ridge[own.clone()], self.scales.column(j));
                let (code, of_code) = (&mut codes[own.clone()], &mut images[own]);
                let pair = (self.direction.column_mut(j), self.image.column_mut(j));
                let left = self.left.column_mut(j);
                wide(
                    #[inline(always)]
                    || *size = one_step(fixed, ((code, of_code), left, pair), *size),
                );
            }
        }
    }
}

/// $\sum_ks_kx_k^2$.
#[inline(always)]
fn weighted_square<T: Real>(x: &[T], s: &[T]) -> T {
    const LANES: usize = 8;
    let mut lanes = [T::zero(); LANES];
    let (xs, ss) = (x.chunks_exact(LANES), s.chunks_exact(LANES));
    let rest = xs.remainder().iter().zip(ss.remainder()).map(|(&x, &s)| x * x * s);
    let rest: T = rest.sum();
    for (x, s) in xs.zip(ss) {
        for lane in 0..LANES {
            lanes[lane] += x[lane] * x[lane] * s[lane];
        }
    }
    lanes.into_iter().sum::<T>() + rest
}

/// A vector and its product with the Gram matrix.
type Pair<'a, T> = (&'a mut [T], &'a mut [T]);

/// One step of one sample, whose direction has this product with the Gram matrix; returns the new size of
/// what is left.
#[inline(always)]
fn one_step<T: Real>(
    (ridge, scales): (&[T], &[T]),
    ((code, of_code), left, (direction, image)): (Pair<'_, T>, &mut [T], Pair<'_, T>),
    size: T,
) -> T {
    let curvature = dot(direction, image) + weighted_square(direction, ridge);
    if curvature <= T::min_positive_value() {
        return size;
    }
    let step = size / curvature;
    axpy(step, direction, code);
    axpy(step, image, of_code);
    for ((image, &d), &s) in image.iter_mut().zip(&*direction).zip(ridge) {
        *image += s * d;
    }
    axpy(-step, image, left);
    // The image is not needed any more: it takes the preconditioned residual.
    for ((image, &left), &scale) in image.iter_mut().zip(&*left).zip(scales) {
        *image = left * scale;
    }
    let next = dot(left, image);
    let keep = next / size;
    for (direction, &new) in direction.iter_mut().zip(&*image) {
        *direction = new + keep * *direction;
    }
    next
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::matrix::Cholesky;

    #[test]
    fn codes_solve_the_system_of_their_group_and_weight() {
        let atoms = Matrix::from_fn(8, 5, |i, k| ((i * 3 + k * 5 + i * k) % 7) as f64 - 2.5);
        let samples = Matrix::from_fn(8, 6, |i, j| ((i * 2 + j * 3) % 5) as f64 - 1.5);
        let (gram, rhs) = (atoms.gram(), Matrix::of_product(atoms.transposed(), samples.view()));
        let group_of = [0, 1, 0, 1, 1, 0];
        let rows =
            Rows { group_of: &group_of, n_groups: 2, sparsity: 0.3, power: 0.8, loss_power: 1.0 };
        let start = Matrix::from_fn(5, 6, |k, j| ((k + j) % 3) as f64 * 0.2);
        let weights = rows.sample_weights(&[0.3, 1.0, 0.2, 4.0, 0.0, 0.6], 0.01);
        let mut codes = start.clone();
        let mut images = Matrix::of_product(gram.view(), codes.view());
        rows.code((&gram, &rhs), &weights, (0.05, 60), (&mut codes, &mut images));
        let expected = Matrix::of_product(gram.view(), codes.view());
        let apart = images.as_slice().iter().zip(expected.as_slice()).map(|(a, b)| (a - b).abs());
        assert!(apart.fold(0.0, f64::max) < 1e-9, "images follow the codes");
        for (j, &group) in group_of.iter().enumerate() {
            let own = (0..6).filter(|&i| group_of[i] == group);
            let mut system = gram.clone();
            for k in 0..5 {
                let square: f64 = own.clone().map(|i| start.column(i)[k].powi(2)).sum();
                let weight = 0.4 * (square + 0.05f64).powf(0.4 - 1.0);
                system.column_mut(k)[k] += 0.3 / weights[j] * weight;
            }
            let mut exact = rhs.select_columns(&[j]);
            Cholesky::new(&system).expect("definite").solve_in_place(&mut exact);
            for (a, b) in codes.column(j).iter().zip(exact.column(0)) {
                assert!((a - b).abs() < 1e-4 * (1.0 + b.abs()), "sample {j}: {a} {b}");
            }
        }
        let expected = 0.3
            * (0..2)
                .map(|g| {
                    (0..5)
                        .map(|k| {
                            let own = (0..6).filter(|&i| group_of[i] == g);
                            own.map(|i| codes.column(i)[k].powi(2)).sum::<f64>().powf(0.4)
                        })
                        .sum::<f64>()
                })
                .sum::<f64>();
        assert!((rows.size(&codes) - expected).abs() < 1e-12 * expected);
    }
}
