//! Compressed sparse rows: the storage of every graph.

use std::ops::Range;

use crate::threads::Loops;
use crate::{Error, Matrix, Real, Result};

/// Numbers that are looked at together.
const STRIP: usize = 16;
/// Entries for which another thread pays.
const ENTRIES_OF_PART: usize = 1 << 17;

/// Calls `visit` with the place and value of each nonzero number, in order.
#[inline(always)]
pub(crate) fn for_nonzeros<T: Real>(values: &[T], visit: impl FnMut(usize, T)) {
    for_some(values, |value| value != T::zero(), visit);
}

/// Calls `visit` with the place and value of each number that passes a test, in order. In most strips of a
/// code none does: one test without a branch inside passes over them.
#[inline(always)]
pub(crate) fn for_some<T: Real>(
    values: &[T],
    test: impl Fn(T) -> bool,
    mut visit: impl FnMut(usize, T),
) {
    let (strips, rest) = values.as_chunks::<STRIP>();
    let whole = strips.len() * STRIP;
    // Loops: what `for_each` calls may stay a call, compiled for any processor.
    for (strip, values) in strips.iter().enumerate() {
        let mut some = false;
        for &value in values {
            some |= test(value);
        }
        if some {
            for (lane, &value) in values.iter().enumerate() {
                if test(value) {
                    visit(strip * STRIP + lane, value);
                }
            }
        }
    }
    for (lane, &value) in rest.iter().enumerate() {
        if test(value) {
            visit(whole + lane, value);
        }
    }
}

/// A sparse matrix stored row by row.
#[derive(Clone, Debug, PartialEq)]
pub struct Csr<T> {
    columns: usize,
    starts: Vec<usize>,
    indices: Vec<u32>,
    values: Vec<T>,
}

impl<T: Real> Csr<T> {
    /// Checks and takes over the three arrays of the usual CSR format.
    ///
    /// # Errors
    /// If the offsets do not describe the other arrays, an index is out of range or listed twice in
    /// a row, or a value is not finite.
    pub fn new(
        columns: usize,
        starts: Vec<usize>,
        indices: Vec<u32>,
        values: Vec<T>,
    ) -> Result<Self> {
        Self::check(columns, &starts, &indices, &values)?;
        Ok(Self::trusted(columns, starts, indices, values))
    }

    /// Takes over arrays that have been checked.
    pub(crate) fn trusted(
        columns: usize,
        starts: Vec<usize>,
        indices: Vec<u32>,
        values: Vec<T>,
    ) -> Self {
        Self { columns, starts, indices, values }
    }

    /// Whether these are the three arrays of the usual CSR format; see [`Csr::new`].
    pub(crate) fn check(
        columns: usize,
        starts: &[usize],
        indices: &[u32],
        values: &[T],
    ) -> Result<()> {
        let refuse = |what: String| Err(Error::Graph(what));
        if starts.first() != Some(&0) || starts.last() != Some(&indices.len()) {
            return refuse("row offsets must run from 0 to the number of entries".into());
        }
        if starts.windows(2).any(|pair| pair[0] > pair[1]) {
            return refuse("row offsets must not decrease".into());
        }
        if indices.len() != values.len() {
            return refuse(format!("{} indices but {} values", indices.len(), values.len()));
        }
        let mut last_seen = vec![usize::MAX; columns];
        for row in 0..starts.len() - 1 {
            for at in starts[row]..starts[row + 1] {
                let column = indices[at] as usize;
                if column >= columns {
                    return refuse(format!("row {row}: index {column}, but only {columns} nodes"));
                }
                if last_seen[column] == row {
                    return refuse(format!("row {row}: index {column} is listed twice"));
                }
                last_seen[column] = row;
                if !values[at].is_finite() {
                    return refuse(format!(
                        "row {row}, node {column}: weight {} is not finite",
                        values[at]
                    ));
                }
            }
        }
        Ok(())
    }

    /// Builds from rows of (column, value) pairs that are known to be in range and distinct.
    pub(crate) fn from_rows<R>(columns: usize, rows: impl IntoIterator<Item = R>) -> Self
    where
        R: IntoIterator<Item = (usize, T)>,
    {
        let (mut starts, mut indices, mut values) = (vec![0], Vec::new(), Vec::new());
        for row in rows {
            for (column, value) in row {
                debug_assert!(column < columns, "column {column} of {columns}");
                indices.push(column as u32);
                values.push(value);
            }
            starts.push(indices.len());
        }
        Self { columns, starts, indices, values }
    }

    /// The nonzero entries of a dense matrix, one row here for each column there.
    #[must_use]
    pub fn of_columns(dense: &Matrix<T>) -> Self {
        let chunk = dense.columns().div_ceil(8).max(1);
        let starts = (0..dense.columns()).step_by(chunk);
        let parts: Vec<Self> = starts.gather(|first| {
            Self::of_some_columns(dense, first..(first + chunk).min(dense.columns()))
        });
        let entries = parts.iter().map(Self::entries).sum();
        let mut whole = Self {
            columns: dense.rows(),
            starts: Vec::with_capacity(dense.columns() + 1),
            indices: Vec::with_capacity(entries),
            values: Vec::with_capacity(entries),
        };
        whole.starts.push(0);
        for part in parts {
            let before = whole.entries();
            whole.starts.extend(part.starts[1..].iter().map(|start| before + start));
            whole.indices.extend_from_slice(&part.indices);
            whole.values.extend_from_slice(&part.values);
        }
        whole
    }

    fn of_some_columns(dense: &Matrix<T>, columns: Range<usize>) -> Self {
        let (mut starts, mut indices, mut values) = (vec![0], Vec::new(), Vec::new());
        for j in columns {
            let (column, mut count) = (dense.column(j), indices.len());
            indices.resize(count + column.len(), 0);
            values.resize(count + column.len(), T::zero());
            // All are written, and only those that are not zero counted: of codes one in four is, at random
            // places, and a branch for each would be foreseen wrongly too often.
            for (k, &value) in column.iter().enumerate() {
                (indices[count], values[count]) = (k as u32, value);
                count += usize::from(value != T::zero());
            }
            indices.truncate(count);
            values.truncate(count);
            starts.push(count);
        }
        Self { columns: dense.rows(), starts, indices, values }
    }

    /// The dense matrix with one column for each row here: what [`Csr::of_columns`] was made of.
    #[must_use]
    pub fn to_columns(&self) -> Matrix<T> {
        let mut dense = Matrix::zeros(self.columns, self.rows());
        self.write_columns(&mut dense);
        dense
    }

    /// As [`to_columns`](Csr::to_columns), into a matrix of that size.
    pub(crate) fn write_columns(&self, dense: &mut Matrix<T>) {
        dense.columns_mut().enumerate().runs_of(64).each(|(j, column)| {
            column.fill(T::zero());
            self.row(j).for_each(|(k, value)| column[k] = value);
        });
    }

    /// The three arrays of the usual CSR format: row offsets, column indices, values.
    #[must_use]
    pub fn into_parts(self) -> (Vec<usize>, Vec<u32>, Vec<T>) {
        (self.starts, self.indices, self.values)
    }

    /// The three arrays of the usual CSR format: where rows start, column indices, values.
    #[must_use]
    pub fn parts(&self) -> (&[usize], &[u32], &[T]) {
        (&self.starts, &self.indices, &self.values)
    }

    /// Number of rows.
    #[must_use]
    pub fn rows(&self) -> usize {
        self.starts.len() - 1
    }

    /// Number of columns.
    #[must_use]
    pub fn columns(&self) -> usize {
        self.columns
    }

    /// Number of stored entries.
    #[must_use]
    pub fn entries(&self) -> usize {
        self.indices.len()
    }

    /// The stored entries of one row, as (column, value).
    pub fn row(&self, i: usize) -> impl ExactSizeIterator<Item = (usize, T)> + '_ {
        let range = self.starts[i]..self.starts[i + 1];
        self.indices[range.clone()]
            .iter()
            .zip(&self.values[range])
            .map(|(&column, &value)| (column as usize, value))
    }

    /// Columns and values of one row, side by side.
    #[inline(always)]
    pub(crate) fn row_slices(&self, i: usize) -> (&[u32], &[T]) {
        let range = self.starts[i]..self.starts[i + 1];
        (&self.indices[range.clone()], &self.values[range])
    }

    /// The same matrix in another precision; entries that round to zero are kept.
    #[must_use]
    pub fn cast<U: Real>(&self) -> Csr<U> {
        Csr {
            columns: self.columns,
            starts: self.starts.clone(),
            indices: self.indices.clone(),
            values: self.values.iter().map(|v| U::of(v.wide())).collect(),
        }
    }

    /// Every value times `factor`.
    #[must_use]
    pub fn scaled(mut self, factor: T) -> Self {
        self.values.iter_mut().for_each(|value| *value *= factor);
        self
    }

    /// The symmetric matrix whose part below the diagonal this is.
    pub(crate) fn mirrored(&self) -> Self {
        let upper = self.transpose();
        let rows = (0..self.rows()).map(|i| self.row(i).chain(upper.row(i)));
        Self::from_rows(self.columns, rows)
    }

    /// The transpose; rows of the result list their entries in ascending order.
    #[must_use]
    pub fn transpose(&self) -> Self {
        // Each thread has a range of the columns and looks at all entries: cheaper than to wait for one thread.
        let threads = rayon::current_num_threads().min(self.entries() / ENTRIES_OF_PART).max(1);
        let share = self.columns.div_ceil(threads).max(1);
        let mut starts = vec![0; self.columns + 1];
        starts[1..].chunks_mut(share).enumerate().each(|(part, counts)| {
            for &column in &self.indices {
                if let Some(count) = counts.get_mut((column as usize).wrapping_sub(part * share)) {
                    *count += 1;
                }
            }
        });
        for column in 0..self.columns {
            starts[column + 1] += starts[column];
        }
        let mut indices = vec![0; self.entries()];
        let mut values = vec![T::zero(); self.entries()];
        let (mut rest, mut parts) = ((&mut indices[..], &mut values[..]), Vec::new());
        for first in (0..self.columns).step_by(share) {
            let last = (first + share).min(self.columns);
            let (own, after) = rest.0.split_at_mut(starts[last] - starts[first]);
            let (own_values, values_after) = rest.1.split_at_mut(own.len());
            parts.push((first..last, own, own_values));
            rest = (after, values_after);
        }
        parts.into_iter().each(|(range, indices, values)| {
            let base = starts[range.start];
            let mut next: Vec<usize> = starts[range.clone()].iter().map(|at| at - base).collect();
            for row in 0..self.rows() {
                for (column, value) in self.row(row) {
                    let Some(at) = next.get_mut(column.wrapping_sub(range.start)) else { continue };
                    indices[*at] = row as u32;
                    values[*at] = value;
                    *at += 1;
                }
            }
        });
        Self { columns: self.rows(), starts, indices, values }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn many_threads_transpose_as_one_does() {
        let columns = 70_001;
        let rows = (0..60_000)
            .map(|i| (0..5).map(move |e| ((i * 7 + e * 9973) % columns, (i + e) as f32)));
        let matrix = Csr::from_rows(columns, rows);
        let one = crate::threads::run(1, || matrix.transpose());
        assert_eq!(crate::threads::run(3, || matrix.transpose()), one);
        assert_eq!(one.transpose(), matrix.transpose().transpose());
    }

    #[test]
    fn transposing_twice_gives_the_same_matrix() {
        let m = Csr::new(3, vec![0, 2, 2, 3], vec![0, 2, 1], vec![1.0, 2.0, 3.0]).expect("valid");
        assert_eq!(m.transpose().transpose(), m);
        assert_eq!(m.transpose().row(2).collect::<Vec<_>>(), [(0, 2.0)]);
    }

    #[test]
    fn columns_come_back_unchanged() {
        // With whole strips of numbers, with a rest, and with rest alone.
        for rows in [3, STRIP, 2 * STRIP, 3 * STRIP + 5] {
            let entry = |i: usize, j: usize| {
                if (i + j).is_multiple_of(19) { (i + j + 1) as f64 } else { 0.0 }
            };
            let dense = Matrix::from_fn(rows, 20, entry);
            let sparse = Csr::of_columns(&dense);
            assert!(sparse.entries() < rows * 4);
            assert_eq!(sparse.to_columns(), dense);
        }
    }

    #[test]
    fn malformed_input_is_refused() {
        let bad = |starts: Vec<usize>, indices: Vec<u32>, values: Vec<f64>| {
            Csr::new(2, starts, indices, values).is_err()
        };
        assert!(bad(vec![0, 1], vec![2], vec![1.0]));
        assert!(bad(vec![0, 2], vec![1, 1], vec![1.0, 1.0]));
        assert!(bad(vec![0, 1], vec![1], vec![f64::NAN]));
        assert!(bad(vec![0, 2, 1], vec![0], vec![1.0]));
        assert!(bad(vec![1, 1], vec![], vec![]));
    }
}
