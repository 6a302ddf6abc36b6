//! Sums over samples that the dictionary and the classifier are learnt from.
//!
//! Codes are sparse: these sums touch nonzero coefficients only. Each entry is summed in the order
//! of the samples by one thread, so the bits do not depend on how many threads there are.

use crate::Real;
use crate::matrix::{Matrix, axpy};
use crate::samples::Held;
use crate::sparse::{Csr, for_nonzeros};
use crate::threads::Loops;
use crate::wide::wide;

/// Parts that the atoms are divided into, a task each.
const PARTS: usize = 4;
/// Bytes of a sample that a task sums: what registers hold.
const STRIP_BYTES: usize = 256;
/// Samples summed at once: their strips stay in a near cache while all atoms pass.
const NEAR: usize = 512;
/// Above this share of nonzero coefficients the dense products are faster.
const DENSE: f64 = 0.4;

fn is_dense<T: Real>(codes: &Csr<T>) -> bool {
    codes.entries() as f64 > DENSE * (codes.rows() * codes.columns()) as f64
}

/// $\sum_jw_ja_ja_j^\top$ ($p\times p$) over the rows $a_j$ of `codes`; all $w_j=1$ if `None`.
pub(crate) fn second_moments<T: Real>(codes: &Csr<T>, weight: Option<&[T]>) -> Matrix<T> {
    let p = codes.columns();
    let mut out = Matrix::zeros(p, p);
    let width = p.div_ceil(PARTS).max(1);
    out.as_mut_slice().chunks_mut(p.max(1) * width).enumerate().each(|(part, out)| {
        let first = part * width;
        wide(
            #[inline(always)]
            || {
                for j in 0..codes.rows() {
                    let weight = weight.map_or(T::one(), |w| w[j]);
                    let (indices, values) = codes.row_slices(j);
                    let from = indices.partition_point(|&k| (k as usize) < first);
                    for at in from..indices.len() {
                        let local = indices[at] as usize - first;
                        if local * p >= out.len() {
                            break;
                        }
                        let factor = weight * values[at];
                        let column = &mut out[local * p..][..p];
                        // The upper part of the symmetric sum; mirrored below.
                        for (&k, &value) in indices[..=at].iter().zip(values) {
                            column[k as usize] += factor * value;
                        }
                    }
                }
            },
        );
    });
    for column in 0..p {
        for row in 0..column {
            let value = out.column(column)[row];
            out.column_mut(row)[column] = value;
        }
    }
    out
}

/// $\sum_jx_ja_j^\top$ ($n\times p$) for samples $x_j$ (columns) and codes $a_j$ (rows of `codes`).
pub(crate) fn cross_moments<T: Real>(samples: Held<'_, T>, codes: &Csr<T>) -> Matrix<T> {
    let (n, p) = (samples.rows(), codes.columns());
    let by_atom = codes.transpose();
    let width = STRIP_BYTES / size_of::<T>();
    let rows_of = |strip: usize| strip * width..((strip + 1) * width).min(n);
    let mut strips: Vec<Matrix<T>> =
        (0..n.div_ceil(width)).map(|strip| Matrix::zeros(rows_of(strip).len(), p)).collect();
    samples.each_block(|first, block| {
        strips.iter_mut().enumerate().each(|(strip, out)| {
            let near = Near { block, first, row: rows_of(strip).start };
            wide(
                #[inline(always)]
                || near.add_users(&by_atom, out),
            );
        });
    });
    let mut out = Matrix::zeros(n, p);
    out.columns_mut().enumerate().runs_of(16).each(|(k, out)| {
        for (strip, sums) in strips.iter().enumerate() {
            let sums = sums.column(k);
            out[strip * width..][..sums.len()].copy_from_slice(sums);
        }
    });
    out
}

/// A strip of the samples of a block.
struct Near<'a, T> {
    block: &'a Matrix<T>,
    /// The number of the first sample of the block.
    first: usize,
    /// The first feature of the strip.
    row: usize,
}

impl<T: Real> Near<'_, T> {
    /// Adds the users of each atom, weighted by their coefficients, to its column of `out`; a few samples at
    /// a time, which all atoms find in the nearest cache.
    #[inline(always)]
    fn add_users(&self, by_atom: &Csr<T>, out: &mut Matrix<T>) {
        let last = self.first + self.block.columns();
        let begin = |k: usize| {
            by_atom.row_slices(k).0.partition_point(|&user| (user as usize) < self.first)
        };
        let mut next: Vec<usize> = (0..out.columns()).map(begin).collect();
        for start in (self.first..last).step_by(NEAR) {
            let end = (start + NEAR).min(last);
            for (k, next) in next.iter_mut().enumerate() {
                let (users, values) = by_atom.row_slices(k);
                let from = *next;
                while *next < users.len() && (users[*next] as usize) < end {
                    *next += 1;
                }
                let own = (&users[from..*next], &values[from..*next]);
                match size_of::<T>() {
                    4 => self.add::<64>(own, out.column_mut(k)),
                    _ => self.add::<32>(own, out.column_mut(k)),
                }
            }
        }
    }

    #[inline(always)]
    fn add<const WIDTH: usize>(&self, (users, values): (&[u32], &[T]), out: &mut [T]) {
        if let Some(whole) = out.first_chunk_mut::<WIDTH>() {
            *whole = self.sum(*whole, (users, values));
        } else {
            for (&j, &value) in users.iter().zip(values) {
                let x = &self.block.column(j as usize - self.first)[self.row..];
                axpy(value, &x[..out.len()], out);
            }
        }
    }

    /// By value: only then do all sums stay in registers.
    #[inline(always)]
    fn sum<const WIDTH: usize>(
        &self,
        mut sums: [T; WIDTH],
        (users, values): (&[u32], &[T]),
    ) -> [T; WIDTH] {
        for (&j, &value) in users.iter().zip(values) {
            let x = &self.block.column(j as usize - self.first)[self.row..];
            if let Some(x) = x.first_chunk::<WIDTH>() {
                for lane in 0..WIDTH {
                    sums[lane] += value * x[lane];
                }
            }
        }
        sums
    }
}

/// $\lVert x_j-Da_j\rVert^2=\lVert x_j\rVert^2-2r_j^\top a_j+a_j^\top Ga_j$ of each sample from `norms`
/// ($\lVert x_j\rVert^2$), $G$ and $r_j=D^\top x_j$; never below zero. Cost for each sample: the square of its
/// number of nonzero coefficients.
pub(crate) fn residuals<T: Real>(
    norms: &[f64],
    gram: &Matrix<T>,
    correlations: &Matrix<T>,
    codes: &Matrix<T>,
) -> Vec<f64> {
    let of = |used: &mut Vec<(usize, T)>, j: usize| {
        used.clear();
        for_nonzeros(codes.column(j), |k, a| used.push((k, a)));
        let (rhs, mut value) = (correlations.column(j), norms[j]);
        for (at, &(k, a)) in used.iter().enumerate() {
            let column = gram.column(k);
            let others = used[..at].iter().map(|&(l, b)| column[l] * b).sum::<T>().wide();
            value += a.wide() * (2.0 * (others - rhs[k].wide()) + column[k].wide() * a.wide());
        }
        value.max(0.0)
    };
    (0..codes.columns()).runs_of(32).gather_with(Vec::new, of)
}

/// $AA^\top$, by whichever way is faster for codes of this density.
pub(crate) fn squares<T: Real>(dense: &Matrix<T>, codes: &Csr<T>) -> Matrix<T> {
    if is_dense(codes) {
        Matrix::of_product(dense.view(), dense.transposed())
    } else {
        second_moments(codes, None)
    }
}

/// $AA^\top$ and $XA^\top$, by whichever way is faster for codes of this density.
pub(crate) fn moments<T: Real>(
    samples: Held<'_, T>,
    dense: &Matrix<T>,
    codes: &Csr<T>,
) -> (Matrix<T>, Matrix<T>) {
    if !is_dense(codes) {
        return (second_moments(codes, None), cross_moments(samples, codes));
    }
    let mut cross = Matrix::zeros(samples.rows(), dense.rows());
    samples.each_block(|first, block| {
        let own = dense.column_range(first..first + block.columns()).flip();
        if first == 0 {
            cross.set_product(block.view(), own);
        } else {
            cross.add_product(T::one(), block.view(), own);
        }
    });
    (Matrix::of_product(dense.view(), dense.transposed()), cross)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sparse_sums_equal_dense_products() {
        for (n, p, count) in [(3, 5, 7), (150, 37, 90), (64, 1, 4)] {
            let dense = Matrix::from_fn(p, count, |k, j| {
                if (k * 7 + j * 5) % 4 == 0 { (k + 2 * j) as f64 - 3.5 } else { 0.0 }
            });
            let samples = Matrix::from_fn(n, count, |i, j| ((i * 3 + j) % 11) as f64 - 5.0);
            let codes = Csr::of_columns(&dense);
            let (second, cross) =
                (second_moments(&codes, None), cross_moments(Held::from(&samples), &codes));
            assert_eq!(second, Matrix::of_product(dense.view(), dense.transposed()));
            assert_eq!(cross, Matrix::of_product(samples.view(), dense.transposed()));
            let weight: Vec<f64> = (0..count).map(|j| j as f64).collect();
            let weighted = Matrix::from_fn(p, count, |k, j| weight[j] * dense.column(j)[k]);
            let expected = Matrix::of_product(weighted.view(), dense.transposed());
            assert_eq!(second_moments(&codes, Some(&weight)), expected);
        }
    }

    #[test]
    fn residuals_equal_those_of_the_samples_themselves() {
        let (n, p, count) = (6, 40, 9);
        let atoms = Matrix::from_fn(n, p, |i, k| ((i * 5 + k * 3) % 7) as f64 * 0.3 - 0.8);
        let samples = Matrix::from_fn(n, count, |i, j| ((i * 3 + j) % 11) as f64 - 5.0);
        // The last sample has no code.
        let codes = Matrix::from_fn(p, count, |k, j| {
            if (k * 7 + j * 5) % 6 == 0 && j + 1 < count { (k + j) as f64 * 0.1 - 1.0 } else { 0.0 }
        });
        let mut left = samples.clone();
        left.add_product(-1.0, atoms.view(), codes.view());
        let norms: Vec<f64> = samples.iter_columns().map(crate::matrix::squared_norm).collect();
        let correlations = Matrix::of_product(atoms.transposed(), samples.view());
        let found = residuals(&norms, &atoms.gram(), &correlations, &codes);
        assert_eq!(found.len(), count);
        for (found, left) in found.iter().zip(left.iter_columns()) {
            let expected = crate::matrix::squared_norm(left);
            assert!((found - expected).abs() < 1e-9 * (1.0 + expected), "{found} {expected}");
        }
    }
}
