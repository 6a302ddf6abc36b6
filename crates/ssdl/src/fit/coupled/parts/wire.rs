//! Numbers and arrays as bytes, for what travels between parts.
//!
//! Little-endian as they lie in memory, each array with its length before it. Both ends are the same version of
//! the library; what cannot be read is refused, never trusted.

use crate::sparse::Csr;
use crate::{Error, Matrix, Real, Result};

/// Writes one message.
#[derive(Default)]
pub(crate) struct Writer(Vec<u8>);

impl Writer {
    pub fn new() -> Self {
        Self::default()
    }

    pub fn into_bytes(self) -> Vec<u8> {
        self.0
    }

    pub fn count(&mut self, value: usize) {
        self.0.extend_from_slice(&(value as u64).to_le_bytes());
    }

    pub fn flag(&mut self, value: bool) {
        self.0.push(u8::from(value));
    }

    pub fn number(&mut self, value: f64) {
        self.0.extend_from_slice(&value.to_le_bytes());
    }

    pub fn list<E: bytemuck::Pod>(&mut self, values: &[E]) {
        self.count(values.len());
        self.0.extend_from_slice(bytemuck::cast_slice(values));
    }

    pub fn matrix<T: Real>(&mut self, matrix: &Matrix<T>) {
        self.count(matrix.rows());
        self.count(matrix.columns());
        self.list(matrix.as_slice());
    }

    pub fn sparse<T: Real>(&mut self, matrix: &Csr<T>) {
        self.count(matrix.columns());
        self.count(matrix.rows());
        for i in 0..matrix.rows() {
            self.0.extend_from_slice(&(matrix.row(i).len() as u32).to_le_bytes());
        }
        let (_, indices, values) = matrix.parts();
        self.list(indices);
        self.list(values);
    }

    /// A matrix without its zeros.
    pub fn codes<T: Real>(&mut self, codes: &Matrix<T>) {
        self.sparse(&Csr::of_columns(codes));
    }

    pub fn optional<E>(&mut self, value: Option<&E>, write: impl FnOnce(&mut Self, &E)) {
        self.flag(value.is_some());
        if let Some(value) = value {
            write(self, value);
        }
    }
}

/// Reads one message.
pub(crate) struct Reader<'a>(&'a [u8]);

/// A message that cannot be read.
pub(crate) fn damaged() -> Error {
    Error::Samples(
        "a message between parts cannot be read: all workers need one version of ssdl".into(),
    )
}

impl<'a> Reader<'a> {
    pub fn new(bytes: &'a [u8]) -> Self {
        Self(bytes)
    }

    fn take(&mut self, length: usize) -> Result<&'a [u8]> {
        let (head, rest) = self.0.split_at_checked(length).ok_or_else(damaged)?;
        self.0 = rest;
        Ok(head)
    }

    fn eight(&mut self) -> Result<[u8; 8]> {
        self.take(8)?.try_into().map_err(|_| damaged())
    }

    pub fn count(&mut self) -> Result<usize> {
        usize::try_from(u64::from_le_bytes(self.eight()?)).map_err(|_| damaged())
    }

    pub fn flag(&mut self) -> Result<bool> {
        Ok(self.take(1)?[0] != 0)
    }

    pub fn number(&mut self) -> Result<f64> {
        Ok(f64::from_le_bytes(self.eight()?))
    }

    pub fn list<E: bytemuck::Pod>(&mut self) -> Result<Vec<E>> {
        let length = self.count()?.checked_mul(size_of::<E>()).ok_or_else(damaged)?;
        Ok(bytemuck::pod_collect_to_vec(self.take(length)?))
    }

    pub fn matrix<T: Real>(&mut self) -> Result<Matrix<T>> {
        let (rows, columns) = (self.count()?, self.count()?);
        Matrix::from_columns(rows, columns, self.list()?).ok_or_else(damaged)
    }

    pub fn sparse<T: Real>(&mut self) -> Result<Csr<T>> {
        let (columns, rows) = (self.count()?, self.count()?);
        let lengths = self.take(rows.checked_mul(4).ok_or_else(damaged)?)?;
        let lengths: Vec<u32> = bytemuck::pod_collect_to_vec(lengths);
        let mut starts = Vec::with_capacity(rows + 1);
        starts.push(0);
        let mut end = 0;
        for length in lengths {
            end += length as usize;
            starts.push(end);
        }
        Csr::new(columns, starts, self.list()?, self.list()?)
    }

    pub fn optional<E>(&mut self, read: impl FnOnce(&mut Self) -> Result<E>) -> Result<Option<E>> {
        if self.flag()? { read(self).map(Some) } else { Ok(None) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_read_and_what_is_cut_short_is_refused() -> Result<()> {
        let matrix =
            Matrix::from_fn(3, 4, |i, j| if (i + j) % 2 == 0 { j as f32 - 1.5 } else { 0.0 });
        let mut out = Writer::new();
        out.flag(true);
        out.count(7);
        out.number(-0.25);
        out.matrix(&matrix);
        out.codes(&matrix);
        out.optional(Some(&vec![3u32, 1]), |out, list| out.list(list));
        out.optional(None::<&Vec<u32>>, |out, list| out.list(list));
        let bytes = out.into_bytes();
        let read = |bytes: &[u8]| -> Result<()> {
            let mut from = Reader::new(bytes);
            assert!(from.flag()?);
            assert_eq!((from.count()?, from.number()?), (7, -0.25));
            assert_eq!(from.matrix::<f32>()?, matrix);
            assert_eq!(from.sparse::<f32>()?.to_columns(), matrix);
            assert_eq!(from.optional(Reader::list::<u32>)?, Some(vec![3, 1]));
            assert_eq!(from.optional(Reader::list::<u32>)?, None);
            Ok(())
        };
        read(&bytes)?;
        for length in 0..bytes.len() - 1 {
            assert!(read(&bytes[..length]).is_err(), "{length} of {}", bytes.len());
        }
        Ok(())
    }
}
