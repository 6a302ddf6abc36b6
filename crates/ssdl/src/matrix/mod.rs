//! Dense column-major matrices and the few operations that need a linear-algebra library.
//!
//! This is the only folder that names `faer`. Products run over column panels whose width depends on
//! the shape alone, so the same bits come out for any number of threads.

mod gram;
mod vectors;

pub use vectors::{absolute_sum, axpy, dot, inner, squared_norm};
pub(crate) use vectors::{
    first_not_finite, four_products, halve, in_parts, squared_distance, weighted_sum,
};

use std::ops::Range;

use faer::linalg::matmul::matmul;
use faer::linalg::solvers::{Llt, SolveCore};
use faer::{Accum, MatMut, MatRef, Par, Side};

use crate::Real;
use crate::threads::Loops;

/// Columns of the widest panel of a product.
pub(crate) const PANEL: usize = 512;

/// A dense matrix, stored column by column.
///
/// Samples are columns: an `n_features × n_samples` matrix has the same bytes as a C-order NumPy
/// array of shape `(n_samples, n_features)`.
#[derive(Clone, Debug, PartialEq)]
pub struct Matrix<T> {
    rows: usize,
    columns: usize,
    data: Vec<T>,
}

/// A borrowed matrix, possibly read as its transpose.
#[derive(Clone, Copy, Debug)]
pub struct View<'a, T> {
    data: &'a [T],
    rows: usize,
    columns: usize,
    flipped: bool,
}

impl<T> AsRef<Self> for Matrix<T> {
    fn as_ref(&self) -> &Self {
        self
    }
}

impl<T: Real> Matrix<T> {
    /// A matrix of zeros.
    #[must_use]
    pub fn zeros(rows: usize, columns: usize) -> Self {
        Self { rows, columns, data: vec![T::zero(); rows * columns] }
    }

    /// Takes over `data`, which holds the columns one after another; `None` if the length is wrong.
    #[must_use]
    pub fn from_columns(rows: usize, columns: usize, data: Vec<T>) -> Option<Self> {
        (rows.checked_mul(columns) == Some(data.len())).then_some(Self { rows, columns, data })
    }

    /// A matrix whose entry (row, column) is `entry(row, column)`.
    #[must_use]
    pub fn from_fn(rows: usize, columns: usize, mut entry: impl FnMut(usize, usize) -> T) -> Self {
        let mut data = Vec::with_capacity(rows * columns);
        for column in 0..columns {
            data.extend((0..rows).map(|row| entry(row, column)));
        }
        Self { rows, columns, data }
    }

    /// Number of rows.
    #[must_use]
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// Number of columns.
    #[must_use]
    pub fn columns(&self) -> usize {
        self.columns
    }

    /// One column.
    #[inline(always)]
    #[must_use]
    pub fn column(&self, j: usize) -> &[T] {
        &self.data[j * self.rows..][..self.rows]
    }

    /// One column, mutable.
    #[inline(always)]
    #[must_use]
    pub fn column_mut(&mut self, j: usize) -> &mut [T] {
        &mut self.data[j * self.rows..][..self.rows]
    }

    /// All entries, column by column.
    #[must_use]
    pub fn as_slice(&self) -> &[T] {
        &self.data
    }

    /// All entries, column by column, mutable.
    #[must_use]
    pub fn as_mut_slice(&mut self) -> &mut [T] {
        &mut self.data
    }

    /// The entries, column by column.
    #[must_use]
    pub fn into_vec(self) -> Vec<T> {
        self.data
    }

    /// The columns in order.
    pub fn iter_columns(&self) -> impl ExactSizeIterator<Item = &[T]> {
        // `chunks_exact` refuses zero rows; a matrix without rows has empty columns.
        (0..self.columns).map(|j| self.column(j))
    }

    /// Mutable columns in order; none where there are no rows.
    pub fn columns_mut(&mut self) -> impl ExactSizeIterator<Item = &mut [T]> {
        self.data.chunks_mut(self.rows.max(1))
    }

    /// The whole matrix, borrowed.
    #[must_use]
    pub fn view(&self) -> View<'_, T> {
        View { data: &self.data, rows: self.rows, columns: self.columns, flipped: false }
    }

    /// The transpose, borrowed.
    #[must_use]
    pub fn transposed(&self) -> View<'_, T> {
        View { data: &self.data, rows: self.rows, columns: self.columns, flipped: true }
    }

    /// A run of columns, borrowed.
    #[must_use]
    pub fn column_range(&self, range: Range<usize>) -> View<'_, T> {
        let data = &self.data[range.start * self.rows..range.end * self.rows];
        View { data, rows: self.rows, columns: range.len(), flipped: false }
    }

    /// The chosen columns, copied in the order given.
    #[must_use]
    #[inline(never)]
    pub fn select_columns(&self, chosen: &[usize]) -> Self {
        let mut data = Vec::with_capacity(self.rows * chosen.len());
        for &j in chosen {
            data.extend_from_slice(self.column(j));
        }
        Self { rows: self.rows, columns: chosen.len(), data }
    }

    /// Changes the shape; the entries are unspecified afterwards.
    pub fn reshape(&mut self, rows: usize, columns: usize) {
        self.rows = rows;
        self.columns = columns;
        self.data.resize(rows * columns, T::zero());
    }

    /// The same numbers in another precision.
    #[must_use]
    pub fn cast<U: Real>(&self) -> Matrix<U> {
        let data = self.data.iter().map(|v| U::of(v.wide())).collect();
        Matrix { rows: self.rows, columns: self.columns, data }
    }

    /// $\lVert M\rVert_F^2$, summed in `f64`.
    #[must_use]
    pub fn squared_norm(&self) -> f64 {
        squared_norm(&self.data)
    }

    /// `self = a·b`.
    #[inline(never)]
    pub fn set_product(&mut self, a: View<'_, T>, b: View<'_, T>) {
        self.product(Accum::Replace, T::one(), a, b);
    }

    /// `self = a·b` in one call and one thread, for callers that are parallel themselves.
    pub(crate) fn set_product_here(&mut self, a: View<'_, T>, b: View<'_, T>) {
        let out = MatMut::from_column_major_slice_mut(&mut self.data, self.rows, self.columns);
        matmul(out, Accum::Replace, a.faer(), b.faer(), T::one(), Par::Seq);
    }

    /// `self += scale·a·b`.
    #[inline(never)]
    pub fn add_product(&mut self, scale: T, a: View<'_, T>, b: View<'_, T>) {
        self.product(Accum::Add, scale, a, b);
    }

    /// `a·b`, newly allocated.
    #[must_use]
    #[inline(never)]
    pub fn of_product(a: View<'_, T>, b: View<'_, T>) -> Self {
        let mut out = Self::zeros(a.shape().0, b.shape().1);
        out.set_product(a, b);
        out
    }

    /// `a·(x − offset)` for every column $x$ of `samples`, each independent of the others to the bit.
    ///
    /// The kernel sums in another order for other widths, so all products have one width, the last
    /// filled up with zeros: a sample gives the same result alone and among others.
    #[must_use]
    #[inline(never)]
    pub fn of_each(a: View<'_, T>, samples: &Self, offset: Option<&[T]>) -> Self {
        let mut out = Self::zeros(a.shape().0, samples.columns());
        Self::of_each_into(a, &samples.data, offset, &mut out.data);
        out
    }

    /// The same for samples one after the other, into as many columns.
    pub(crate) fn of_each_into(a: View<'_, T>, samples: &[T], offset: Option<&[T]>, out: &mut [T]) {
        const WIDTH: usize = 32;
        let (m, n) = a.shape();
        let chunks = out.chunks_mut((m * WIDTH).max(1)).enumerate();
        chunks.each(|(chunk, out)| {
            let mut block = Self::zeros(n, WIDTH);
            for j in 0..out.len() / m {
                let x = block.column_mut(j);
                x.copy_from_slice(&samples[(chunk * WIDTH + j) * n..][..n]);
                if let Some(offset) = offset {
                    x.iter_mut().zip(offset).for_each(|(x, &o)| *x -= o);
                }
            }
            let product = Self::of_product(a, block.view());
            out.copy_from_slice(&product.data[..out.len()]);
        });
    }

    fn product(&mut self, accumulate: Accum, scale: T, a: View<'_, T>, b: View<'_, T>) {
        let columns = self.columns;
        self.product_in(0..columns, accumulate, scale, a, b);
    }

    /// `a·b` into a run of columns. Where the run begins at a multiple of [`PANEL`] of a wide matrix, the
    /// bits are those of the whole product.
    pub(crate) fn set_columns_product(
        &mut self,
        columns: Range<usize>,
        a: View<'_, T>,
        b: View<'_, T>,
    ) {
        self.product_in(columns, Accum::Replace, T::one(), a, b);
    }

    fn product_in(
        &mut self,
        columns: Range<usize>,
        accumulate: Accum,
        scale: T,
        a: View<'_, T>,
        b: View<'_, T>,
    ) {
        let (m, inner) = a.shape();
        let (inner_b, n) = b.shape();
        assert!(
            inner == inner_b && m == self.rows && n == columns.len(),
            "product of {m}x{inner} and {inner_b}x{n} into {}x{}",
            self.rows,
            columns.len()
        );
        if m == 0 || n == 0 {
            return;
        }
        let width = panel_width(self.columns);
        let data = &mut self.data[columns.start * m..columns.end * m];
        let (a, b) = (a.faer(), b.faer());
        let one_panel = |(panel, out): (usize, &mut [T])| {
            let count = out.len() / m;
            let out = MatMut::from_column_major_slice_mut(out, m, count);
            matmul(out, accumulate, a, b.subcols(panel * width, count), scale, Par::Seq);
        };
        if m * n * inner < 200_000 {
            data.chunks_mut(m * width).enumerate().for_each(one_panel);
        } else {
            data.chunks_mut(m * width).enumerate().each(one_panel);
        }
    }
}

/// Columns of a panel of a product with so many columns.
///
/// Every panel packs the left factor again, so panels are as wide as still gives several threads something to
/// do; wider than 512 the right-hand side leaves the cache.
fn panel_width(columns: usize) -> usize {
    columns.div_ceil(4).next_multiple_of(16).clamp(64, PANEL)
}

impl<'a, T: Real> View<'a, T> {
    /// Columns of `data`, each `rows` long; panics if the length is wrong.
    #[must_use]
    pub fn of_columns(data: &'a [T], rows: usize, columns: usize) -> Self {
        assert_eq!(data.len(), rows * columns, "a view must cover its data");
        Self { data, rows, columns, flipped: false }
    }

    /// The transpose of this view.
    #[must_use]
    pub fn flip(self) -> Self {
        Self { flipped: !self.flipped, ..self }
    }

    /// (rows, columns) as read.
    #[must_use]
    pub fn shape(&self) -> (usize, usize) {
        if self.flipped { (self.columns, self.rows) } else { (self.rows, self.columns) }
    }

    fn faer(&self) -> MatRef<'a, T> {
        let stored = MatRef::from_column_major_slice(self.data, self.rows, self.columns);
        if self.flipped { stored.transpose() } else { stored }
    }
}

/// Cholesky factor of a symmetric positive definite matrix.
pub struct Cholesky<T> {
    factor: Llt<T>,
}

impl<T: Real> Cholesky<T> {
    /// Factors `matrix` (its lower triangle is read); `None` if it is not positive definite.
    #[must_use]
    #[inline(never)]
    pub fn new(matrix: &Matrix<T>) -> Option<Self> {
        let factor = matrix.view().faer().llt(Side::Lower).ok()?;
        Some(Self { factor })
    }

    /// Replaces each column of `rhs` by the solution for it.
    #[inline(never)]
    pub fn solve_in_place(&self, rhs: &mut Matrix<T>) {
        let (rows, columns) = (rhs.rows, rhs.columns);
        self.factor.solve_in_place_with_conj(
            faer::Conj::No,
            MatMut::from_column_major_slice_mut(&mut rhs.data, rows, columns),
        );
    }
}

/// Eigenvalues (ascending) and eigenvectors (columns) of a symmetric matrix; `None` if the
/// iteration fails, which needs entries that are not finite.
#[must_use]
#[inline(never)]
pub fn symmetric_eigen(matrix: &Matrix<f64>) -> Option<(Vec<f64>, Matrix<f64>)> {
    let n = matrix.rows();
    let eigen = matrix.view().faer().self_adjoint_eigen(Side::Lower).ok()?;
    let values = (0..n).map(|i| eigen.S()[i]).collect();
    let vectors = Matrix::from_fn(n, n, |i, j| eigen.U()[(i, j)]);
    Some((values, vectors))
}

/// Upper estimate of the largest eigenvalue of a symmetric positive semidefinite operator.
///
/// Power iteration gives a lower bound; the 2 % on top covers what twenty steps leave, and callers
/// keep their own test as a safety net.
pub fn largest_eigenvalue<T: Real>(n: usize, mut apply: impl FnMut(&[T], &mut [T])) -> T {
    // A start that is not orthogonal to anything likely: positive, not constant.
    let mut v: Vec<T> = (0..n).map(|i| T::of(1.0 + 0.1 * (i as f64 * 0.7).sin())).collect();
    let mut image = vec![T::zero(); n];
    let mut value = T::zero();
    for _ in 0..20 {
        let norm = T::of(squared_norm(&v).sqrt());
        if norm <= T::min_positive_value() {
            return T::zero();
        }
        v.iter_mut().for_each(|x| *x /= norm);
        apply(&v, &mut image);
        value = dot(&v, &image);
        std::mem::swap(&mut v, &mut image);
    }
    value * T::of(1.02)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn products_of_all_orientations_match_hand_sums() {
        let a = Matrix::from_fn(3, 2, |i, j| (i + 2 * j) as f64);
        let b = Matrix::from_fn(2, 4, |i, j| (i * j) as f64 - 1.0);
        let by_hand =
            |i: usize, j: usize| -> f64 { (0..2).map(|k| a.column(k)[i] * b.column(j)[k]).sum() };
        let ab = Matrix::of_product(a.view(), b.view());
        assert_eq!(ab, Matrix::from_fn(3, 4, by_hand));
        let ba = Matrix::of_product(b.transposed(), a.transposed());
        assert_eq!(ba, Matrix::from_fn(4, 3, |i, j| by_hand(j, i)));
    }

    #[test]
    fn wide_products_are_the_same_in_panels() {
        let a = Matrix::from_fn(40, 60, |i, j| ((i * 7 + j * 3) % 11) as f64);
        let b = Matrix::from_fn(60, 700, |i, j| ((i + j * 5) % 13) as f64);
        let ab = Matrix::of_product(a.view(), b.view());
        for (i, j) in [(0, 0), (39, 699), (17, 255), (20, 256), (5, 511)] {
            let sum: f64 = (0..60).map(|k| a.column(k)[i] * b.column(j)[k]).sum();
            assert_eq!(ab.column(j)[i], sum);
        }
    }

    #[test]
    fn cholesky_solves_and_refuses_indefinite() {
        let m = Matrix::from_fn(3, 3, |i, j| if i == j { 4.0 } else { 1.0 });
        let mut x = Matrix::from_fn(3, 1, |_, _| 6.0);
        Cholesky::new(&m).expect("definite").solve_in_place(&mut x);
        assert!(x.as_slice().iter().all(|v: &f64| (v - 1.0).abs() < 1e-14));
        assert!(Cholesky::new(&Matrix::from_fn(2, 2, |i, j| f64::from(i != j))).is_none());
    }

    #[test]
    fn largest_eigenvalue_is_an_upper_estimate() {
        let top = largest_eigenvalue(3, |v: &[f64], out| {
            out.copy_from_slice(&[v[0], 5.0 * v[1], 2.0 * v[2]]);
        });
        assert!((5.0..5.2).contains(&top), "{top}");
    }
}
