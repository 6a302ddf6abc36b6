//! K-SVD: each atom and the coefficients of its users together, atom after atom.
//!
//! Aharon, Elad, Bruckstein (2006); the approximate step is that of Rubinstein, Zibulevsky, Elad (2008).

use crate::matrix::{
    Matrix, axpy, dot, four_products, squared_norm, symmetric_eigen, weighted_sum,
};
use crate::sparse::Csr;
use crate::threads::Loops;
use crate::wide::wide;
use crate::{Real, order};

/// Two atoms are the same if the cosine between them is larger.
const COHERENT: f64 = 0.99;

/// $\min_{d,a}\lVert E_k-da^\top\rVert^2$ over $\lVert d\rVert=1$ for each atom in turn, where $E_k$ is what
/// the other atoms leave of the samples that use atom $k$. Supports stay as they are, so codes keep their
/// number of nonzero coefficients; $\lVert X-DA\rVert^2$ never rises.
///
/// Cost of a pass $4n\,\mathrm{nnz}(A)$ if approximate; exact adds an eigendecomposition for each atom, of
/// the smaller of $n$ and its number of users.
#[derive(Clone, Copy, Debug)]
pub struct Ksvd {
    /// Whether each pair $(d,a)$ is minimised, or improved by one step of the power method.
    pub exact: bool,
}

impl Ksvd {
    /// One pass over atoms ($n\times p$) and codes ($p\times N$); unused atoms are left alone. Atoms need
    /// not have length one before, they have it afterwards. Returns what is left of the samples,
    /// $X-DA$.
    #[inline(never)]
    pub fn update<T: Real>(
        &self,
        samples: &Matrix<T>,
        atoms: &mut Matrix<T>,
        codes: &mut Matrix<T>,
    ) -> Matrix<T> {
        let sparse = Csr::of_columns(codes);
        let mut left = remainder(samples, atoms, &sparse);
        let by_atom = sparse.transpose();
        for k in 0..atoms.columns() {
            let (users, values) = by_atom.row_slices(k);
            if users.is_empty() {
                continue;
            }
            let mut values = values.to_vec();
            wide(
                #[inline(always)]
                || self.move_atom(atoms.column_mut(k), &mut left, users, &mut values),
            );
            for (&i, &value) in users.iter().zip(&values) {
                codes.column_mut(i as usize)[k] = value;
            }
        }
        left
    }

    /// What the other atoms leave, $E=L+da^\top$ with what all leave, is never written down: $Ea=La+\lVert
    /// a\rVert^2d$.
    #[inline(always)]
    fn move_atom<T: Real>(
        &self,
        atom: &mut [T],
        left: &mut Matrix<T>,
        users: &[u32],
        values: &mut [T],
    ) {
        let mut next = weighted_sum(left, users, values);
        let own: T = values.iter().map(|&a| a * a).sum();
        axpy(own, atom, &mut next);
        if self.exact
            && let Some(best) = leading(left, (users, values), atom, &next)
        {
            next = best;
        }
        let length = T::of(squared_norm(&next).sqrt());
        if length > T::min_positive_value() && length.is_finite() {
            next.iter_mut().for_each(|d| *d /= length);
        } else {
            // Nothing is left to explain: any direction is as good, and the coefficients become zero.
            let own = T::of(squared_norm(atom).sqrt());
            next.iter_mut().zip(&*atom).for_each(|(next, &d)| *next = d / own);
        }
        let along = along(left, (atom, &next), users, values);
        for (&i, (value, &new)) in users.iter().zip(values.iter_mut().zip(&along)) {
            exchange(left.column_mut(i as usize), (*value, atom), (new, &next));
            *value = new;
        }
        atom.copy_from_slice(&next);
    }
}

/// What the other atoms leave of the users, along the new atom: $E^\top d'=L^\top d'+(d^\top d')a$ with what all
/// atoms leave of them, $L=E-da^\top$.
#[inline(always)]
pub(super) fn along<T: Real>(
    left: &Matrix<T>,
    (atom, next): (&[T], &[T]),
    users: &[u32],
    values: &[T],
) -> Vec<T> {
    let turn = dot(atom, next);
    let mut out = Vec::with_capacity(users.len());
    for (users, values) in users.chunks(4).zip(values.chunks(4)) {
        // Without a group of its own the last users are joined by copies of the last one.
        let of = |at: usize| left.column(users[at.min(users.len() - 1)] as usize);
        let products = four_products(next, [of(0), of(1), of(2), of(3)]);
        out.extend(products.iter().zip(values).map(|(&own, &a)| own + turn * a));
    }
    out
}

/// Gives a column its share of the old atom back and takes that of the new one.
#[inline(always)]
pub(super) fn exchange<T: Real>(column: &mut [T], old: (T, &[T]), new: (T, &[T])) {
    for ((x, &before), &after) in column.iter_mut().zip(old.1).zip(new.1) {
        *x += old.0 * before - new.0 * after;
    }
}

/// $X-DA$ for codes with a row for each sample.
pub(crate) fn remainder<T: Real>(
    samples: &Matrix<T>,
    atoms: &Matrix<T>,
    codes: &Csr<T>,
) -> Matrix<T> {
    let mut left = samples.clone();
    left.columns_mut().enumerate().runs_of(16).each(|(i, left)| {
        wide(
            #[inline(always)]
            || codes.row(i).for_each(|(k, value)| axpy(-value, atoms.column(k), left)),
        );
    });
    left
}

/// The first left singular vector of the columns of the users with their share of the atom, turned towards
/// `guess`; `None` if they are not finite.
fn leading<T: Real>(
    left: &Matrix<T>,
    (users, values): (&[u32], &[T]),
    atom: &[T],
    guess: &[T],
) -> Option<Vec<T>> {
    let users: Vec<usize> = users.iter().map(|&i| i as usize).collect();
    let mut columns = left.select_columns(&users);
    values.iter().enumerate().for_each(|(at, &a)| axpy(a, atom, columns.column_mut(at)));
    let columns = columns.cast::<f64>();
    let wide_side = columns.columns() > columns.rows();
    let gram = if wide_side {
        Matrix::of_product(columns.view(), columns.transposed())
    } else {
        columns.gram()
    };
    let (_, vectors) = symmetric_eigen(&gram)?;
    let last = vectors.column(vectors.columns().checked_sub(1)?);
    let mut best = vec![0.0; columns.rows()];
    if wide_side {
        best.copy_from_slice(last);
    } else {
        for (column, &share) in columns.iter_columns().zip(last) {
            axpy(share, column, &mut best);
        }
    }
    // Directions are compared, so that the atom does not turn round from pass to pass.
    let along: f64 = best.iter().zip(guess).map(|(b, g)| b * g.wide()).sum();
    let sign = if along < 0.0 { -1.0 } else { 1.0 };
    Some(best.into_iter().map(|b| T::of(sign * b)).collect())
}

/// Replaces atoms that are not worth their place by samples that are badly reconstructed: those with fewer
/// than `min_users` users, and one of two atoms with a cosine above 0.99. Returns how many.
///
/// Samples are taken worst first (ties by index), each once, scaled to length one; the Gram matrix of the atoms
/// follows. `left` is $X-DA$. The
/// coefficients of a replaced atom no longer fit it: code again afterwards.
#[inline(never)]
pub fn replace_weak<T: Real>(
    (atoms, gram): (&mut Matrix<T>, &mut Matrix<T>),
    samples: &Matrix<T>,
    codes: &Matrix<T>,
    left: &Matrix<T>,
    min_users: usize,
) -> usize {
    let p = atoms.columns();
    let mut users = vec![0; p];
    for code in codes.iter_columns() {
        users.iter_mut().zip(code).for_each(|(count, a)| *count += usize::from(*a != T::zero()));
    }
    let mut worst: Vec<(f64, usize)> = left.iter_columns().map(squared_norm).zip(0..).collect();
    order::largest_first(&mut worst);
    let floor = 1e-10 * samples.squared_norm() / samples.columns().max(1) as f64;
    let mut worst = worst.into_iter().filter(|(residual, _)| *residual > floor).map(|(_, i)| i);
    let lengths: Vec<f64> = (0..p).map(|k| gram.column(k)[k].wide().sqrt()).collect();
    let mut replaced = vec![false; p];
    for k in 0..p {
        let same = |l: usize| {
            let cosine = gram.column(k)[l].wide().abs();
            l != k && !replaced[l] && cosine > COHERENT * lengths[k] * lengths[l]
        };
        if users[k] >= min_users.max(1) && !(0..p).any(same) {
            continue;
        }
        let Some(i) = worst.next() else { break };
        let length = T::of(squared_norm(samples.column(i)).sqrt());
        let source = samples.column(i).iter();
        atoms.column_mut(k).iter_mut().zip(source).for_each(|(d, &x)| *d = x / length);
        replaced[k] = true;
    }
    let new: Vec<usize> = (0..p).filter(|&k| replaced[k]).collect();
    let products = Matrix::of_product(atoms.transposed(), atoms.select_columns(&new).view());
    for (&k, products) in new.iter().zip(products.iter_columns()) {
        gram.column_mut(k).copy_from_slice(products);
        products.iter().enumerate().for_each(|(l, &product)| gram.column_mut(l)[k] = product);
    }
    new.len()
}
