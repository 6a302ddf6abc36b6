//! A short sketch of every sample: its coordinates in the few directions in which samples vary most.
//!
//! With an orthonormal $B$ ($n\times m$) and $\rho_x=\lVert x-BB^\top x\rVert^2$,
//! $$\lVert x-y\rVert^2\approx\lVert B^\top(x-y)\rVert^2+q(\rho_x+\rho_y)$$
//! costs $m$ instead of $n$ multiply-adds and tells which pairs are worth measuring in full; $q$ is
//! learnt from pairs of near samples.

use super::super::single::Single;
use crate::matrix::{Matrix, View, dot, squared_norm};
use crate::random::place;
use crate::threads::Loops;
use crate::{Real, stop};

/// Directions of a sketch. Samples with hardly more features are their own sketch.
const DIRECTIONS: usize = 128;
const SHORT: usize = 192;
/// Samples that the directions are learnt from, and passes over them.
const LEARNT_FROM: usize = 2048;
const PASSES: usize = 3;
/// Samples whose sketch is one product.
const WIDTH: usize = 64;

/// How to sketch a sample.
pub(super) struct Sketcher {
    pub single: Single,
    /// $B$; `None`: the samples themselves.
    basis: Option<Matrix<f32>>,
}

/// Sketches of many samples.
pub(super) struct Sketches {
    /// $B^\top x$ of each sample.
    pub values: Matrix<f32>,
    /// $\lVert B^\top x\rVert^2$.
    pub length: Vec<f32>,
    /// $\rho_x$.
    pub rest: Vec<f32>,
}

/// Numbers of the sketch of a sample with so many features.
pub(super) fn length(n_features: usize) -> usize {
    if n_features > SHORT { DIRECTIONS } else { n_features }
}

impl Sketcher {
    pub fn new<T: Real>(samples: &Matrix<T>) -> Self {
        let single = Single::new(samples, None);
        let basis = (samples.rows() > SHORT).then(|| directions(samples, &single));
        Self { single, basis }
    }

    /// Whether the sketch of a sample is all of it.
    pub fn is_whole(&self) -> bool {
        self.basis.is_none()
    }

    /// Sketches samples, each independently of the others to the bit.
    pub fn sketch<T: Real>(&self, samples: &Matrix<T>) -> Sketches {
        let (n, count) = (samples.rows(), samples.columns());
        let m = self.basis.as_ref().map_or(n, Matrix::columns);
        let mut values = Matrix::zeros(m, count);
        let mut sizes = vec![(0.0, 0.0); count];
        let stop = stop::armed();
        let chunks = values.as_mut_slice().chunks_mut((m * WIDTH).max(1));
        chunks.zip(sizes.chunks_mut(WIDTH)).enumerate().each(|(chunk, (out, sizes))| {
            if stop.is_set() {
                return;
            }
            // The kernel sums in another order for other widths: all products have one width.
            let mut block = vec![0.0; n * WIDTH];
            self.single.block(samples, chunk * WIDTH, sizes.len(), &mut block);
            match &self.basis {
                None => out.copy_from_slice(&block[..out.len()]),
                Some(basis) => {
                    let mut product = Matrix::zeros(m, WIDTH);
                    let block = View::of_columns(&block, n, WIDTH);
                    product.set_product_here(basis.transposed(), block);
                    out.copy_from_slice(&product.as_slice()[..out.len()]);
                }
            }
            for ((size, x), sketch) in sizes.iter_mut().zip(block.chunks(n)).zip(out.chunks(m)) {
                let length = squared_norm(sketch);
                *size = (length as f32, (squared_norm(x) - length).max(0.0) as f32);
            }
        });
        let (length, rest) = sizes.into_iter().unzip();
        Sketches { values, length, rest }
    }
}

/// The main directions of evenly spaced samples, by subspace iteration.
fn directions<T: Real>(samples: &Matrix<T>, single: &Single) -> Matrix<f32> {
    let (n, count) = (samples.rows(), samples.columns());
    let chosen = count.min(LEARNT_FROM);
    let mut subset = Matrix::<f32>::zeros(n, chosen);
    for at in 0..chosen {
        single.write(samples.column(at * count / chosen), subset.column_mut(at));
    }
    let mut basis = Matrix::from_fn(n, DIRECTIONS, |i, j| {
        (place(1, i as u64, j as u64) as f64 / u64::MAX as f64 - 0.5) as f32
    });
    orthonormalise(&mut basis);
    for _ in 0..PASSES {
        let seen = Matrix::of_product(subset.transposed(), basis.view());
        basis = Matrix::of_product(subset.view(), seen.view());
        orthonormalise(&mut basis);
    }
    basis
}

/// Gram and Schmidt, twice for the sake of rounding; a direction that depends on others becomes zero.
fn orthonormalise(basis: &mut Matrix<f32>) {
    for j in 0..basis.columns() {
        let mut x = basis.column(j).to_vec();
        let before = squared_norm(&x).sqrt();
        for _ in 0..2 {
            for earlier in 0..j {
                let known = basis.column(earlier);
                let share = dot(known, &x);
                x.iter_mut().zip(known).for_each(|(x, &b)| *x -= share * b);
            }
        }
        let length = squared_norm(&x).sqrt();
        let is_new = length > 1e-5 * before && length > f64::from(f32::MIN_POSITIVE);
        let factor = if is_new { (1.0 / length) as f32 } else { 0.0 };
        basis.column_mut(j).iter_mut().zip(&x).for_each(|(b, &x)| *b = x * factor);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sketch_holds_what_varies_and_counts_the_rest() {
        // Five directions of any size, and a little of everything.
        let samples = Matrix::from_fn(220, 300, |i, j| {
            let strong = if i < 5 { ((i + 2) * j % 17) as f64 } else { 0.0 };
            strong + 0.01 * ((i * 31 + j * 7) % 13) as f64
        });
        let sketcher = Sketcher::new(&samples);
        let Sketches { values, length, rest } = sketcher.sketch(&samples);
        assert_eq!((values.rows(), values.columns()), (DIRECTIONS, 300));
        for j in 0..300 {
            assert!(rest[j] >= 0.0 && rest[j] < 0.01 * length[j], "{} {}", rest[j], length[j]);
        }
        let alone = sketcher.sketch(&samples.select_columns(&[77]));
        assert_eq!(alone.values.column(0), values.column(77));
    }

    #[test]
    fn samples_without_any_variation_have_an_empty_sketch() {
        let samples = Matrix::from_fn(220, 10, |i, _| i as f32);
        let found = Sketcher::new(&samples).sketch(&samples);
        assert!(found.values.as_slice().iter().chain(&found.rest).all(|v| v.abs() < 1e-6));
    }
}
