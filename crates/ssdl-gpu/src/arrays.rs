//! Products, sums in double precision, and sparse rows on the card.

use std::sync::Arc;

use cudarc::cublas::sys::cublasOperation_t::{CUBLAS_OP_N, CUBLAS_OP_T};
use cudarc::cublas::{Gemm, GemmConfig};
use cudarc::driver::{CudaSlice, DevicePtr, DevicePtrMut};
use ssdl::sparse::Csr;
use ssdl::{Matrix, Result};

use super::card::{Argument, Card, Grid, failed, long};
use super::number::Multiplied;

/// Columns whose products are added in the card's precision before they go into a double.
pub(crate) const CHUNK: usize = 65_536;

/// A factor of a product: rows and columns as stored, and whether it is transposed.
#[derive(Clone, Copy)]
pub(crate) struct Factor<'a, A> {
    pub array: &'a A,
    pub rows: usize,
    pub columns: usize,
    pub transposed: bool,
}

/// A factor as it is stored.
pub(crate) fn plain<A>(array: &A, rows: usize, columns: usize) -> Factor<'_, A> {
    Factor { array, rows, columns, transposed: false }
}

/// A factor transposed.
pub(crate) fn turned<A>(array: &A, rows: usize, columns: usize) -> Factor<'_, A> {
    Factor { array, rows, columns, transposed: true }
}

impl<A> Factor<'_, A> {
    fn shape(&self) -> (usize, usize) {
        if self.transposed { (self.columns, self.rows) } else { (self.rows, self.columns) }
    }
}

impl Card {
    /// `out = alpha a b + beta out`.
    pub fn multiply<T: Multiplied>(
        &self,
        alpha: T,
        a: Factor<'_, impl DevicePtr<T>>,
        b: Factor<'_, impl DevicePtr<T>>,
        beta: T,
        out: &mut impl DevicePtrMut<T>,
    ) -> Result<()> {
        let ((m, k), (_, n)) = (a.shape(), b.shape());
        debug_assert_eq!(k, b.shape().0);
        if m == 0 || n == 0 || k == 0 {
            return Ok(());
        }
        let operation = |turned| if turned { CUBLAS_OP_T } else { CUBLAS_OP_N };
        let config = GemmConfig {
            transa: operation(a.transposed),
            transb: operation(b.transposed),
            m: m as i32,
            n: n as i32,
            k: k as i32,
            alpha,
            lda: a.rows as i32,
            ldb: b.rows as i32,
            beta,
            ldc: m as i32,
        };
        // SAFETY: the sizes are those of the arrays, which the callers take from the same counts.
        unsafe { T::blas(&self.blas()).gemm(config, a.array, b.array, out) }
            .map_err(|error| failed("a product", error))
    }

    /// A matrix on the card.
    pub fn matrix<T: Multiplied>(&self, host: &Matrix<T>) -> Result<CudaSlice<T>> {
        self.upload(host.as_slice())
    }

    /// A matrix from the card.
    pub fn host<T: Multiplied>(
        &self,
        array: &impl DevicePtr<T>,
        rows: usize,
        columns: usize,
    ) -> Result<Matrix<T>> {
        let data = self.download(array)?;
        Matrix::from_columns(rows, columns, data)
            .ok_or_else(|| ssdl::Error::Device("an array has another size than it should".into()))
    }
}

/// A matrix of sums in double precision, filled part by part.
pub(crate) struct Sums<T> {
    card: Arc<Card>,
    sums: CudaSlice<f64>,
    part: CudaSlice<T>,
    rows: usize,
    columns: usize,
}

impl<T: Multiplied> Sums<T> {
    pub fn new(card: &Arc<Card>, rows: usize, columns: usize) -> Result<Self> {
        let (sums, part) = (card.zeros(rows * columns)?, card.zeros(rows * columns)?);
        Ok(Self { card: card.clone(), sums, part, rows, columns })
    }

    /// Adds a product.
    pub fn add(
        &mut self,
        a: Factor<'_, impl DevicePtr<T>>,
        b: Factor<'_, impl DevicePtr<T>>,
    ) -> Result<()> {
        self.card.multiply(T::one(), a, b, T::zero(), &mut self.part)?;
        let count = self.rows * self.columns;
        let arguments = [self.card.at(&self.sums), self.card.at(&self.part), long(count)];
        self.card.launch::<T>("add_to_doubles", Grid::entries(count), &arguments)
    }

    pub fn finish(self) -> Result<Matrix<f64>> {
        let data = self.card.download(&self.sums)?;
        let count = self.rows * self.columns;
        Matrix::from_columns(self.rows, self.columns, data[..count].to_vec())
            .ok_or_else(|| ssdl::Error::Device("an array has another size than it should".into()))
    }
}

/// Sparse rows on the card.
pub(crate) struct Rows<T> {
    pub starts: CudaSlice<i64>,
    pub others: CudaSlice<u32>,
    pub values: CudaSlice<T>,
    pub count: usize,
}

impl<T: Multiplied> Rows<T> {
    pub fn new(card: &Card, rows: &Csr<T>) -> Result<Self> {
        let (starts, others, values) = rows.parts();
        let starts: Vec<i64> = starts.iter().map(|start| *start as i64).collect();
        Self::of_arrays(card, &starts, others, values)
    }

    /// From the three arrays of the usual format; indices must be in range.
    pub fn of_arrays(card: &Card, starts: &[i64], others: &[u32], values: &[T]) -> Result<Self> {
        let has_some = !others.is_empty();
        Ok(Self {
            starts: card.upload(starts)?,
            others: if has_some { card.upload(others)? } else { card.zeros(1)? },
            values: if has_some { card.upload(values)? } else { card.zeros(1)? },
            count: starts.len() - 1,
        })
    }

    /// Where starts, indices and values are.
    pub fn addresses(&self, card: &Card) -> [u64; 3] {
        [card.pointer(&self.starts), card.pointer(&self.others), card.pointer(&self.values)]
    }

    /// The same as arguments.
    pub fn arguments(&self, card: &Card) -> [Argument; 3] {
        self.addresses(card).map(Argument::Pointer)
    }
}
