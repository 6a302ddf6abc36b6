//! The Laplacian $L$ of a graph in sparse form, never formed as a matrix.

use std::sync::OnceLock;

use crate::matrix::{Matrix, axpy, inner};
use crate::sparse::Csr;
use crate::threads::Loops;
use crate::wide::wide;
use crate::{Real, order};

/// A positive semidefinite graph operator over the samples (columns).
///
/// Two forms, one contract. A graph of *mixtures* (LLE) keeps the factor $M$ of $L=M^\top M$: with
/// $E=AM^\top$ the energy is $\operatorname{tr}(ALA^\top)=\lVert E\rVert_F^2$ and the pull $AL=EM$. A
/// graph of *affinities* keeps its weights $W$: $L=\operatorname{diag}(d)-W$. Either way a product
/// costs $p$ multiply-adds per stored entry; nothing of size $N\times N$ exists unless the graph
/// itself has that many edges.
#[derive(Clone, Debug)]
pub struct Laplacian<T> {
    form: Form<T>,
    diagonal: Vec<T>,
    bound: Vec<T>,
    groups: OnceLock<Vec<Vec<u32>>>,
}

#[derive(Clone, Debug)]
pub(super) enum Form<T> {
    /// $M$ and $M^\top$ of $L=M^\top M$.
    Mixtures { factor: Csr<T>, transposed: Csr<T> },
    /// $W$ of $L=\operatorname{diag}(d)-W$, symmetric, without a diagonal.
    Affinities(Csr<T>),
}

/// The sum over each row of what `of` makes of its entries.
fn sums_of_rows<T: Real>(matrix: &Csr<T>, of: &(dyn Fn(usize, T) -> T + Sync)) -> Vec<T> {
    let mut sums = vec![T::zero(); matrix.rows()];
    sums.iter_mut().enumerate().runs_of(4096).each(|(row, sum)| {
        *sum = matrix.row(row).map(|(column, weight)| of(column, weight)).sum();
    });
    sums
}

impl<T: Real> Laplacian<T> {
    /// $L=M^\top M$ from the factor $M$ (any number of rows, one column per sample).
    #[must_use]
    pub fn from_factor(factor: Csr<T>) -> Self {
        let transposed = factor.transpose();
        let row_sums = sums_of_rows(&factor, &|_, w| w.abs());
        let per_sample = |f: &(dyn Fn(usize, T) -> T + Sync)| sums_of_rows(&transposed, f);
        let diagonal = per_sample(&|_, w| w * w);
        let bound = per_sample(&|m, w| w.abs() * row_sums[m]);
        let form = Form::Mixtures { factor, transposed };
        Self { form, diagonal, bound, groups: OnceLock::new() }
    }

    /// $L=\operatorname{diag}(W1)-W$ from weights $W$, which must be symmetric, at least zero and
    /// without a diagonal: $\operatorname{tr}(ALA^\top)=\tfrac12\sum_{ij}W_{ij}\lVert a_i-a_j\rVert^2$.
    #[must_use]
    pub fn from_affinities(weights: Csr<T>) -> Self {
        let degrees = (0..weights.rows()).map(|i| weights.row(i).map(|(_, w)| w).sum()).collect();
        Self::with_diagonal(weights, degrees)
    }

    /// $L=\operatorname{diag}(d)-W$ with a diagonal of at least the row sums of $W$.
    pub(super) fn with_diagonal(weights: Csr<T>, diagonal: Vec<T>) -> Self {
        let reach = |i: usize| weights.row(i).map(|(_, w)| w.abs()).sum::<T>();
        let bound = diagonal.iter().enumerate().map(|(i, &d)| d + reach(i)).collect();
        Self { form: Form::Affinities(weights), diagonal, bound, groups: OnceLock::new() }
    }

    /// $\omega L$ for $\omega\ge0$.
    #[must_use]
    pub fn scaled(self, omega: f64) -> Self {
        let times = |values: Vec<T>| values.into_iter().map(|v| v * T::of(omega)).collect();
        let form = match self.form {
            Form::Mixtures { factor, transposed } => {
                let root = T::of(omega.sqrt());
                Form::Mixtures { factor: factor.scaled(root), transposed: transposed.scaled(root) }
            }
            Form::Affinities(weights) => Form::Affinities(weights.scaled(T::of(omega))),
        };
        Self { form, diagonal: times(self.diagonal), bound: times(self.bound), groups: self.groups }
    }

    pub(super) fn form(&self) -> &Form<T> {
        &self.form
    }

    /// $W$ of a graph of affinities; `None` for one of mixtures, which has no such weights.
    #[must_use]
    pub fn affinities(&self) -> Option<&Csr<T>> {
        match &self.form {
            Form::Mixtures { .. } => None,
            Form::Affinities(weights) => Some(weights),
        }
    }

    /// $M$ and $M^\top$ of a graph of mixtures; `None` for one of affinities.
    #[must_use]
    pub fn factor(&self) -> Option<(&Csr<T>, &Csr<T>)> {
        match &self.form {
            Form::Mixtures { factor, transposed } => Some((factor, transposed)),
            Form::Affinities(_) => None,
        }
    }

    /// $V$ of a graph of mixtures, whose row $i$ holds the weights that sample $i$ is mixed with
    /// ($M=I-V$, whatever its scale); `None` for a graph of affinities.
    #[must_use]
    pub fn mixtures(&self) -> Option<Csr<T>> {
        let Form::Mixtures { factor, .. } = &self.form else { return None };
        let rows = (0..factor.rows()).map(|i| {
            let own = factor.row(i).find(|(j, _)| *j == i).map_or(T::one(), |(_, m)| m);
            let others = factor.row(i).filter(move |(j, _)| *j != i);
            others.map(move |(j, m)| (j, -m / own)).collect::<Vec<_>>()
        });
        Some(Csr::from_rows(self.n_samples(), rows))
    }

    /// Number of samples.
    #[must_use]
    pub fn n_samples(&self) -> usize {
        self.diagonal.len()
    }

    /// $L_{jj}$.
    #[must_use]
    pub fn diagonal(&self) -> &[T] {
        &self.diagonal
    }

    /// $d_j\ge\sum_i|L_{ij}|$: the diagonal matrix of these dominates $L$ (Gershgorin), so each is a
    /// safe step constant for its column.
    #[must_use]
    pub fn bound(&self) -> &[T] {
        &self.bound
    }

    /// $\operatorname{tr} L$.
    #[must_use]
    pub fn trace(&self) -> f64 {
        self.diagonal.iter().map(|d| d.wide()).sum()
    }

    /// Pairs of samples that are tied to each other directly (a sample and what it is mixed from, or
    /// an affinity above zero), each in both directions: row $j$ lists the partners of sample $j$.
    #[must_use]
    pub fn ties(&self) -> Csr<T> {
        match &self.form {
            // A weight that a change of strength made zero is no tie.
            Form::Affinities(weights) => {
                let rows = (0..weights.rows())
                    .map(|j| weights.row(j).filter(|(_, w)| *w > T::zero()).collect::<Vec<_>>());
                Csr::from_rows(self.n_samples(), rows)
            }
            Form::Mixtures { factor, transposed } => {
                let rows = (0..self.n_samples()).map(|j| {
                    let mixed = (j < factor.rows()).then(|| factor.row(j)).into_iter().flatten();
                    let mut row: Vec<(usize, T)> = mixed
                        .chain(transposed.row(j))
                        .filter(|(i, w)| *i != j && *w != T::zero())
                        .collect();
                    row.iter_mut().for_each(|(_, w)| *w = w.abs());
                    order::by_column(&mut row);
                    row.dedup_by(|later, kept| {
                        let same = later.0 == kept.0;
                        if same {
                            kept.1 = kept.1.max(later.1);
                        }
                        same
                    });
                    row
                });
                Csr::from_rows(self.n_samples(), rows)
            }
        }
    }

    /// $\operatorname{tr}(ALA^\top)$.
    #[must_use]
    pub fn energy(&self, codes: &Matrix<T>) -> f64 {
        self.energy_beside(codes, &self.residuals(codes))
    }

    /// The energy, where the residuals of the codes are already known.
    pub(crate) fn energy_beside(&self, codes: &Matrix<T>, residuals: &Matrix<T>) -> f64 {
        match &self.form {
            Form::Mixtures { .. } => residuals.squared_norm(),
            Form::Affinities(_) => {
                let mut pull = Matrix::zeros(codes.rows(), codes.columns());
                self.pull(codes, &mut Matrix::zeros(0, 0), &mut pull);
                inner(pull.as_slice(), codes.as_slice()).max(0.0)
            }
        }
    }

    /// $AL$; `scratch` is a buffer for the first pass, kept between calls.
    #[inline(never)]
    pub fn pull(&self, codes: &Matrix<T>, scratch: &mut Matrix<T>, out: &mut Matrix<T>) {
        match &self.form {
            Form::Mixtures { factor, transposed } => {
                scratch.reshape(codes.rows(), factor.rows());
                combine(factor, codes, scratch);
                combine(transposed, scratch, out);
            }
            Form::Affinities(weights) => {
                combine(weights, codes, out);
                out.columns_mut().enumerate().runs_of(32).each(|(j, out)| {
                    let own = codes.column(j).iter();
                    out.iter_mut().zip(own).for_each(|(o, &a)| *o = self.diagonal[j] * a - *o);
                });
            }
        }
    }

    /// Adds $\beta AL$ to `out`, for codes that are mostly zero, a row of `codes` for each sample; `scratch` is
    /// a buffer for the first pass, kept between calls.
    pub(crate) fn add_sparse_pull(
        &self,
        beta: T,
        codes: &Csr<T>,
        scratch: &mut Matrix<T>,
        out: &mut Matrix<T>,
    ) {
        let add = |weight: T, j: usize, into: &mut [T]| {
            let (places, values) = codes.row_slices(j);
            places.iter().zip(values).for_each(|(&k, &a)| into[k as usize] += weight * a);
        };
        match &self.form {
            Form::Mixtures { factor, transposed } => {
                scratch.reshape(codes.columns(), factor.rows());
                scratch.columns_mut().enumerate().runs_of(32).each(|(m, into)| {
                    into.fill(T::zero());
                    factor.row(m).for_each(|(j, weight)| add(weight, j, into));
                });
                out.columns_mut().enumerate().runs_of(32).each(|(j, out)| {
                    wide(
                        #[inline(always)]
                        || {
                            for (m, weight) in transposed.row(j) {
                                axpy(beta * weight, scratch.column(m), out);
                            }
                        },
                    );
                });
            }
            Form::Affinities(weights) => {
                out.columns_mut().enumerate().runs_of(32).each(|(j, out)| {
                    add(beta * self.diagonal[j], j, out);
                    weights.row(j).for_each(|(i, weight)| add(-beta * weight, i, out));
                });
            }
        }
    }

    /// $E=AM^\top$, which coordinate descent keeps up to date; empty for affinities, which need only
    /// the codes.
    pub(crate) fn residuals(&self, codes: &Matrix<T>) -> Matrix<T> {
        match &self.form {
            Form::Mixtures { factor, .. } => {
                let mut out = Matrix::zeros(codes.rows(), factor.rows());
                combine(factor, codes, &mut out);
                out
            }
            Form::Affinities(_) => Matrix::zeros(codes.rows(), 0),
        }
    }

    /// The residuals that sample $j$ enters, with what weight: column $j$ of $M$.
    pub(crate) fn enters(&self, j: usize) -> impl Iterator<Item = (usize, T)> + '_ {
        let column = match &self.form {
            Form::Mixtures { transposed, .. } => Some(transposed.row(j)),
            Form::Affinities(_) => None,
        };
        column.into_iter().flatten()
    }

    /// `pull += (AL)_j - L_jj a_j`: the pull of the others on sample $j$.
    #[inline(always)]
    pub(crate) fn add_pull_of_others(
        &self,
        j: usize,
        codes: &Matrix<T>,
        residuals: &Matrix<T>,
        pull: &mut [T],
    ) {
        match &self.form {
            Form::Mixtures { transposed, .. } => {
                for (m, weight) in transposed.row(j) {
                    axpy(weight, residuals.column(m), pull);
                }
                axpy(-self.diagonal[j], codes.column(j), pull);
            }
            Form::Affinities(weights) => {
                for (i, weight) in weights.row(j) {
                    axpy(-weight, codes.column(i), pull);
                }
            }
        }
    }

    /// Groups of samples such that no two of a group act on each other: a group can be updated side
    /// by side with the result of updating one after another.
    ///
    /// Greedy, hubs first, each into the smallest group allowed; the same for any thread count.
    #[must_use]
    pub fn independent_groups(&self) -> &[Vec<u32>] {
        self.groups.get_or_init(|| self.colour())
    }

    fn colour(&self) -> Vec<Vec<u32>> {
        let n = self.n_samples();
        let reach = |j: usize| match &self.form {
            Form::Mixtures { transposed, .. } => transposed.row(j).len(),
            Form::Affinities(weights) => weights.row(j).len(),
        };
        let mut order: Vec<u32> = (0..n as u32).collect();
        order.sort_by_key(|&j| std::cmp::Reverse(reach(j as usize)));
        let mut groups: Vec<Vec<u32>> = Vec::new();
        let mut group_of = vec![usize::MAX; n];
        let mut barred_for: Vec<u32> = Vec::new();
        for &j in &order {
            self.for_each_partner(j as usize, |i| {
                if let Some(mark) = barred_for.get_mut(group_of[i]) {
                    *mark = j;
                }
            });
            let free = (0..groups.len()).filter(|&g| barred_for[g] != j);
            let chosen = free.min_by_key(|&g| groups[g].len()).unwrap_or_else(|| {
                groups.push(Vec::new());
                barred_for.push(u32::MAX);
                groups.len() - 1
            });
            groups[chosen].push(j);
            group_of[j as usize] = chosen;
        }
        // Ascending within a group, for neighbouring memory, whatever the order of the greedy choice.
        groups.iter_mut().for_each(|group| group.sort_unstable());
        groups
    }

    /// Every sample whose step changes what sample $j$ sees.
    fn for_each_partner(&self, j: usize, mut act: impl FnMut(usize)) {
        match &self.form {
            Form::Mixtures { factor, transposed } => {
                for (m, _) in transposed.row(j) {
                    factor.row(m).for_each(|(i, _)| act(i));
                }
            }
            Form::Affinities(weights) => weights.row(j).for_each(|(i, _)| act(i)),
        }
    }
}

/// Column `m` of `out` = the weighted sum of columns of `from` that row `m` of `rows` names.
pub(crate) fn combine<T: Real>(rows: &Csr<T>, from: &Matrix<T>, out: &mut Matrix<T>) {
    assert_eq!((out.columns(), out.rows()), (rows.rows(), from.rows()), "shape of a graph product");
    out.columns_mut().enumerate().runs_of(32).each(|(m, out)| {
        wide(
            #[inline(always)]
            || {
                out.fill(T::zero());
                for (j, weight) in rows.row(m) {
                    axpy(weight, from.column(j), out);
                }
            },
        );
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn groups_hold_every_sample_once_and_never_two_that_interact() {
        let n = 50;
        let rows = (0..n).map(|i| vec![(i, 1.0), ((i + 1) % n, -0.75), ((i + 3) % n, -0.25)]);
        let mixtures = Laplacian::from_factor(Csr::from_rows(n, rows));
        let rows = (0..n).map(|i| vec![((i + 1) % n, 1.0), ((i + n - 1) % n, 1.0)]);
        let affinities = Laplacian::from_affinities(Csr::from_rows(n, rows));
        for laplacian in [mixtures, affinities] {
            let identity = Matrix::from_fn(n, n, |i, j| f64::from(u8::from(i == j)));
            let mut l = Matrix::zeros(n, n);
            laplacian.pull(&identity, &mut Matrix::zeros(0, 0), &mut l);
            let groups = laplacian.independent_groups();
            let mut seen: Vec<u32> = groups.concat();
            seen.sort_unstable();
            assert_eq!(seen, (0..n as u32).collect::<Vec<u32>>());
            for group in groups {
                for &i in group {
                    for &j in group.iter().filter(|&&j| j != i) {
                        assert_eq!(l.column(i as usize)[j as usize], 0.0);
                    }
                }
            }
        }
    }

    #[test]
    fn the_pull_on_sparse_codes_equals_that_on_dense_ones() {
        let n = 50;
        let rows = (0..n).map(|i| vec![(i, 1.0), ((i + 1) % n, -0.75), ((i + 3) % n, -0.25)]);
        let mixtures = Laplacian::from_factor(Csr::from_rows(n, rows));
        let rows = (0..n).map(|i| vec![((i + 1) % n, 1.5), ((i + n - 1) % n, 1.5)]);
        let affinities = Laplacian::from_affinities(Csr::from_rows(n, rows));
        let entry = |k: usize, j: usize| {
            if (k + 3 * j).is_multiple_of(4) { (k + j) as f64 - 9.0 } else { 0.0 }
        };
        let codes = Matrix::from_fn(7, n, entry);
        for laplacian in [mixtures, affinities] {
            let mut expected = Matrix::zeros(7, n);
            laplacian.pull(&codes, &mut Matrix::zeros(0, 0), &mut expected);
            let mut found = Matrix::from_fn(7, n, |_, _| 2.0);
            let scratch = &mut Matrix::zeros(0, 0);
            laplacian.add_sparse_pull(0.5, &Csr::of_columns(&codes), scratch, &mut found);
            for (found, expected) in found.as_slice().iter().zip(expected.as_slice()) {
                assert!((found - (2.0 + 0.5 * expected)).abs() < 1e-12);
            }
        }
    }
}
