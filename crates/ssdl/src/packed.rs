//! Matrices that are kept small until all their numbers are asked for.

use std::sync::OnceLock;

use crate::matrix::axpy;
use crate::sparse::{Csr, for_nonzeros};
use crate::{Matrix, Real, half};

/// A matrix as a file has it: in half precision, without its zeros, or whole. The whole of it is made when
/// it is first asked for, and kept.
#[derive(Clone, Debug)]
pub(crate) struct Packed<T> {
    rows: usize,
    columns: usize,
    small: Option<Small<T>>,
    whole: OnceLock<Matrix<T>>,
}

#[derive(Clone, Debug)]
enum Small<T> {
    /// Column by column.
    Halves(Vec<u16>),
    /// A row for each column.
    Sparse(Csr<T>),
}

impl<T: Real> From<Matrix<T>> for Packed<T> {
    fn from(whole: Matrix<T>) -> Self {
        let (rows, columns) = (whole.rows(), whole.columns());
        Self { rows, columns, small: None, whole: whole.into() }
    }
}

impl<T: Real> From<Csr<T>> for Packed<T> {
    /// From the entries that are not zero: a column for each row there.
    fn from(entries: Csr<T>) -> Self {
        let (rows, columns) = (entries.columns(), entries.rows());
        Self { rows, columns, small: Some(Small::Sparse(entries)), whole: OnceLock::new() }
    }
}

impl<T: Real> AsRef<Matrix<T>> for Packed<T> {
    fn as_ref(&self) -> &Matrix<T> {
        self.whole()
    }
}

impl<T: Real> Packed<T> {
    /// From numbers of half precision, column by column; `None` if there are more or fewer.
    pub fn of_halves(rows: usize, columns: usize, halves: Vec<u16>) -> Option<Self> {
        let fits = rows.checked_mul(columns) == Some(halves.len());
        let small = Some(Small::Halves(halves));
        fits.then(|| Self { rows, columns, small, whole: OnceLock::new() })
    }

    pub fn rows(&self) -> usize {
        self.rows
    }

    pub fn columns(&self) -> usize {
        self.columns
    }

    /// All of its numbers.
    pub fn whole(&self) -> &Matrix<T> {
        self.whole.get_or_init(|| match &self.small {
            Some(Small::Halves(halves)) => {
                Matrix::from_columns(self.rows, self.columns, half::from_halves(halves))
                    .unwrap_or_else(|| unreachable!("as many halves as numbers"))
            }
            Some(Small::Sparse(entries)) => entries.to_columns(),
            None => unreachable!("made from the whole"),
        })
    }

    /// Its numbers in half precision, where it has them.
    pub fn halves(&self) -> Option<&[u16]> {
        match &self.small {
            Some(Small::Halves(halves)) => Some(halves),
            _ => None,
        }
    }

    /// Its entries that are not zero, where it has them: a row for each column.
    pub fn entries(&self) -> Option<&Csr<T>> {
        match &self.small {
            Some(Small::Sparse(entries)) => Some(entries),
            _ => None,
        }
    }

    /// Adds a multiple of a column. The bits do not depend on how it is kept.
    pub fn add_column(&self, column: usize, factor: T, sum: &mut [T]) {
        match self.entries() {
            Some(entries) => entries.row(column).for_each(|(k, value)| sum[k] += factor * value),
            None => axpy(factor, self.whole().column(column), sum),
        }
    }

    /// How many numbers of each row are not zero.
    pub fn count_nonzeros(&self) -> Vec<usize> {
        let mut counts = vec![0; self.rows];
        match self.entries() {
            Some(entries) => entries.parts().1.iter().for_each(|&k| counts[k as usize] += 1),
            None => {
                let columns = self.whole().iter_columns();
                columns.for_each(|column| for_nonzeros(column, |k, _| counts[k] += 1));
            }
        }
        counts
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Every third number, each of half precision.
    fn matrix() -> Matrix<f32> {
        Matrix::from_fn(5, 7, |k, j| if (k + j) % 3 == 0 { 0.5 + (k * j) as f32 } else { 0.0 })
    }

    #[test]
    fn a_matrix_is_the_same_however_it_is_kept() {
        let whole = matrix();
        let halves = Packed::of_halves(5, 7, half::to_halves(whole.as_slice())).expect("fits");
        let every = [Packed::from(whole.clone()), Csr::of_columns(&whole).into(), halves];
        let counts = every[0].count_nonzeros();
        assert_eq!(counts.iter().sum::<usize>(), Csr::of_columns(&whole).entries());
        for packed in every {
            assert_eq!((packed.rows(), packed.columns()), (5, 7));
            assert_eq!(packed.count_nonzeros(), counts);
            let mut sum = vec![1.0; 5];
            packed.add_column(4, 0.3, &mut sum);
            let mut expected = vec![1.0; 5];
            axpy(0.3, whole.column(4), &mut expected);
            assert_eq!(sum, expected);
            assert_eq!(packed.whole(), &whole);
        }
        assert!(Packed::<f32>::of_halves(5, 7, vec![0; 34]).is_none());
        assert!(Packed::<f32>::of_halves(usize::MAX, 2, vec![0; 34]).is_none());
    }
}
