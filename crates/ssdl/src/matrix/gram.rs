//! Products of a matrix with its own transpose: half of what another product of this shape takes.

use faer::linalg::matmul::matmul;
use faer::{Accum, MatMut, Par};

use super::{Matrix, panel_width};
use crate::Real;
use crate::threads::Loops;

impl<T: Real> Matrix<T> {
    /// $M^\top M$: the Gram matrix of the columns. Of each panel only what lies above the diagonal is computed.
    #[must_use]
    #[inline(never)]
    pub fn gram(&self) -> Self {
        let p = self.columns;
        let mut out = Self::zeros(p, p);
        if p == 0 {
            return out;
        }
        let (a, b) = (self.transposed().faer(), self.view().faer());
        let width = panel_width(p);
        out.data.chunks_mut(p * width).enumerate().each(|(panel, out)| {
            let (first, count) = (panel * width, out.len() / p);
            let out = MatMut::from_column_major_slice_mut(out, p, count);
            let (rows, own) = (first + count, b.subcols(first, count));
            let out = out.subrows_mut(0, rows);
            matmul(out, Accum::Replace, a.subrows(0, rows), own, T::one(), Par::Seq);
        });
        for column in 1..p {
            let (before, own) = out.data.split_at_mut(column * p);
            let mirrored = before.chunks_exact_mut(p).zip(&own[..column]);
            mirrored.for_each(|(other, &value)| other[column] = value);
        }
        out
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_gram_matrix_has_the_bits_of_the_whole_product() {
        for (n, p) in
            [(1, 1), (7, 5), (50, 64), (256, 200), (784, 200), (504, 297), (30, 700), (2000, 130)]
        {
            let draw = |i: usize, j: usize| ((i * 31 + j * 17 + i * j) as f64).sin();
            let wide = Matrix::from_fn(n, p, draw);
            assert!(wide.gram() == Matrix::of_product(wide.transposed(), wide.view()), "{n} {p}");
            let single = wide.cast::<f32>();
            let whole = Matrix::of_product(single.transposed(), single.view());
            assert!(single.gram() == whole, "{n} {p}");
        }
    }
}
