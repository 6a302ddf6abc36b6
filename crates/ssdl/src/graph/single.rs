//! Samples in single precision, centred and scaled, a block at a time: nothing of their size is copied.

use crate::matrix::{Matrix, squared_norm};
use crate::threads::Loops;
use crate::{Real, stop};

/// Columns that one task converts.
const BLOCK: usize = 512;

/// How samples become numbers that single precision can multiply without loss.
///
/// Centring takes the common part out before it can cancel; scaling by a power of two, which rounds
/// nothing, keeps squares in range.
pub(super) struct Single {
    mean: Vec<f64>,
    /// A scaled length is the true one times this.
    pub scale: f64,
}

impl Single {
    /// From the mean of `samples` and the largest value in these and in `others`.
    pub fn new<T: Real>(samples: &Matrix<T>, others: Option<&Matrix<T>>) -> Self {
        let mut mean = vec![0.0f64; samples.rows()];
        for x in samples.iter_columns() {
            mean.iter_mut().zip(x).for_each(|(m, v)| *m += v.wide());
        }
        mean.iter_mut().for_each(|m| *m /= samples.columns().max(1) as f64);
        let all = [Some(samples), others].into_iter().flatten().flat_map(Matrix::iter_columns);
        let largest = all.fold(0.0f64, |top, x| {
            x.iter().zip(&mean).fold(top, |top, (v, m)| top.max((v.wide() - m).abs()))
        });
        let usable = largest > 0.0 && largest.is_finite();
        let scale = if usable { (-largest.log2().ceil()).exp2() } else { 1.0 };
        let scale = if scale.is_normal() { scale } else { 1.0 / largest };
        Self { mean, scale }
    }

    /// One sample, converted.
    #[inline(always)]
    pub fn write<T: Real>(&self, x: &[T], out: &mut [f32]) {
        for ((out, v), m) in out.iter_mut().zip(x).zip(&self.mean) {
            *out = ((v.wide() - m) * self.scale) as f32;
        }
    }

    /// A run of columns, converted into the first columns of `out`.
    pub fn block<T: Real>(&self, from: &Matrix<T>, first: usize, count: usize, out: &mut [f32]) {
        let n = from.rows();
        for (at, out) in out.chunks_mut(n.max(1)).take(count).enumerate() {
            self.write(from.column(first + at), out);
        }
    }

    /// The squared length of every sample, converted.
    pub fn norms<T: Real>(&self, from: &Matrix<T>) -> Vec<f32> {
        let mut norms = vec![0.0; from.columns()];
        let stop = stop::armed();
        norms.chunks_mut(BLOCK).enumerate().each(|(block, norms)| {
            let mut x = vec![0.0f32; from.rows()];
            for (at, norm) in norms.iter_mut().enumerate().filter(|_| !stop.is_set()) {
                self.write(from.column(block * BLOCK + at), &mut x);
                *norm = squared_norm(&x) as f32;
            }
        });
        norms
    }
}
