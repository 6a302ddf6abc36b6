//! Codes while they change: the entries of each sample that are not zero.

use crate::sparse::compact;
use crate::threads::Loops;
use crate::{Matrix, Real};

/// Columns that a thread takes at once.
const RUN: usize = 64;

/// A matrix without its zeros, of which whole columns can be replaced.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Entries<T> {
    rows: usize,
    /// Places and values, in the order of the places.
    columns: Vec<Box<[(u32, T)]>>,
}

impl<T: Real> From<Matrix<T>> for Entries<T> {
    fn from(whole: Matrix<T>) -> Self {
        let columns = whole.iter_columns().runs_of(RUN).gather_with(Vec::new, |found, column| {
            nonzeros(column, found);
            found.as_slice().into()
        });
        Self { rows: whole.rows(), columns }
    }
}

impl<T: Real> Entries<T> {
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// The whole matrix.
    pub fn into_matrix(self) -> Matrix<T> {
        let mut whole = Matrix::zeros(self.rows, self.columns.len());
        whole.columns_mut().zip(&self.columns).runs_of(RUN).each(|(out, column)| {
            column.iter().for_each(|&(k, value)| out[k as usize] = value);
        });
        whole
    }

    /// Writes a column with its zeros.
    pub fn write_column(&self, j: usize, out: &mut Vec<T>) {
        out.clear();
        out.resize(self.rows, T::zero());
        self.columns[j].iter().for_each(|&(k, value)| out[k as usize] = value);
    }

    /// Adds a multiple of a column: the bits are those of a sum over all its numbers.
    #[inline(always)]
    pub fn add_column(&self, j: usize, factor: T, sum: &mut [T]) {
        for &(k, value) in &self.columns[j] {
            sum[k as usize] += factor * value;
        }
    }

    /// Puts other entries in the place of a column.
    pub fn replace(&mut self, j: usize, entries: &[(u32, T)]) {
        let column = &mut self.columns[j];
        if column.len() == entries.len() {
            column.copy_from_slice(entries);
        } else {
            *column = entries.into();
        }
    }
}

/// Lists the numbers of a column that are not zero.
pub(crate) fn nonzeros<T: Real>(column: &[T], found: &mut Vec<(u32, T)>) {
    found.resize(column.len(), (0, T::zero()));
    let count = compact(column, |at, k, value| found[at] = (k as u32, value));
    found.truncate(count);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::matrix::axpy;

    #[test]
    fn columns_come_back_and_can_be_replaced() {
        let entry =
            |k: usize, j: usize| if (k + j).is_multiple_of(5) { 1.0 + k as f64 } else { 0.0 };
        let mut whole = Matrix::from_fn(37, 9, entry);
        let mut entries = Entries::from(whole.clone());
        assert_eq!(entries.clone().into_matrix(), whole);
        let (mut sum, mut expected) = (vec![0.1; 37], vec![0.1; 37]);
        entries.add_column(3, 0.7, &mut sum);
        axpy(0.7, whole.column(3), &mut expected);
        assert_eq!(sum, expected);
        // As many entries as before, more, and none.
        for changed in
            [vec![2.0; 37], vec![0.0; 37], entries.clone().into_matrix().column(2).to_vec()]
        {
            let mut list = Vec::new();
            nonzeros(&changed, &mut list);
            entries.replace(2, &list);
            whole.column_mut(2).copy_from_slice(&changed);
            assert_eq!(entries.clone().into_matrix(), whole);
            let mut column = vec![9.0];
            entries.write_column(2, &mut column);
            assert_eq!(column, changed);
        }
    }
}
