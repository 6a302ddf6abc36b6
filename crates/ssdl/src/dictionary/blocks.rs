//! Atoms in class blocks, $D=[D_1,\dots,D_C]$: the first atoms of each class, and sums within blocks.

use std::ops::Range;

use super::Statistics;
use crate::codes::moments::{cross_moments, squares};
use crate::matrix::squared_norm;
use crate::random::{Purpose, shuffle, substream};
use crate::samples::Labels;
use crate::sparse::Csr;
use crate::threads::Loops;
use crate::{Matrix, Real, order};

/// Which atoms belong to which class: those of a class lie side by side.
#[derive(Clone, Debug, PartialEq)]
pub struct Blocks {
    /// The atoms of each class; empty for a class without any.
    ranges: Vec<Range<usize>>,
}

/// How well the classes explain each sample, from products with the Gram matrix alone.
#[derive(Clone, Debug, PartialEq)]
pub struct Energies {
    /// $\lVert x_i-D_ca_{ic}\rVert^2$, $C\times N$.
    pub left: Matrix<f64>,
    /// $\lVert D_ca_{ic}\rVert^2$, $C\times N$.
    pub explained: Matrix<f64>,
}

impl Blocks {
    /// Blocks of these sizes, one for each class.
    #[must_use]
    pub fn of_sizes(sizes: &[usize]) -> Self {
        let mut start = 0;
        let ranges = sizes.iter().map(|size| {
            let range = start..start + size;
            start = range.end;
            range
        });
        Self { ranges: ranges.collect() }
    }

    /// The first atoms of each class, of length one: its labelled samples, drawn at random where there
    /// are more than `per_class`; then the unlabelled samples that `nearness` ($C\times N$) ranks
    /// highest, ties by index. A class without a labelled sample, and one without enough samples, gets
    /// fewer atoms. Zero samples are not taken, but a class with no other labelled sample has one zero
    /// atom: it explains nothing.
    #[must_use]
    pub fn first_atoms<T: Real>(
        samples: &Matrix<T>,
        labels: &Labels,
        per_class: usize,
        nearness: &Matrix<f64>,
        seed: u64,
    ) -> (Matrix<T>, Self) {
        let usable = |j: usize| samples.column(j).iter().any(|x| *x != T::zero());
        let unlabelled: Vec<usize> =
            labels.unlabelled().into_iter().filter(|&j| usable(j)).collect();
        let mut chosen = Vec::new();
        let mut sizes = Vec::new();
        for class in 0..labels.classes().len() {
            let of_class = (0..labels.len()).filter(|&j| labels.assigned()[j] == Some(class));
            let mut own: Vec<usize> = of_class.filter(|&j| usable(j)).collect();
            // The stream follows the first sample of a class, not its place among the classes: other
            // names draw the same atoms.
            let part = own.first().map_or(0, |&j| j as u32);
            shuffle(&mut own, &mut substream(seed, Purpose::Atoms, part));
            own.truncate(per_class);
            if own.is_empty() {
                own.extend(labels.assigned().iter().position(|label| *label == Some(class)));
                sizes.push(own.len());
                chosen.extend(own);
                continue;
            }
            if own.len() < per_class {
                let mut rest = unlabelled.clone();
                let rank = |j: usize| nearness.column(j)[class];
                order::places_by(&mut rest, |a, b| rank(b).total_cmp(&rank(a)).then(a.cmp(&b)));
                rest.truncate(per_class - own.len());
                own.extend(rest);
            }
            sizes.push(own.len());
            chosen.extend(own);
        }
        let mut atoms = samples.select_columns(&chosen);
        (0..atoms.columns()).for_each(|k| to_length_one(atoms.column_mut(k)));
        (atoms, Self::of_sizes(&sizes))
    }

    /// The atoms of a class.
    #[must_use]
    pub fn of_class(&self, class: usize) -> Range<usize> {
        self.ranges[class].clone()
    }

    /// Number of classes.
    #[must_use]
    pub fn n_classes(&self) -> usize {
        self.ranges.len()
    }

    /// Number of atoms.
    #[must_use]
    pub fn n_atoms(&self) -> usize {
        self.ranges.last().map_or(0, |last| last.end)
    }

    /// The class of each atom.
    #[must_use]
    pub fn class_of_atoms(&self) -> Vec<Option<usize>> {
        let of = |(class, range): (usize, &Range<usize>)| vec![Some(class); range.len()];
        self.ranges.iter().enumerate().flat_map(of).collect()
    }

    /// The Gram matrix with zeros between the blocks.
    #[must_use]
    pub fn within<T: Real>(&self, gram: &Matrix<T>) -> Matrix<T> {
        let mut out = Matrix::zeros(gram.rows(), gram.columns());
        for range in &self.ranges {
            for k in range.clone() {
                out.column_mut(k)[range.clone()].copy_from_slice(&gram.column(k)[range.clone()]);
            }
        }
        out
    }

    /// The coefficients of one class, $p_c\times N$.
    #[must_use]
    pub fn codes_of<T: Real>(&self, codes: &Matrix<T>, class: usize) -> Matrix<T> {
        let rows = self.of_class(class);
        let mut out = Matrix::zeros(rows.len(), codes.columns());
        out.columns_mut().enumerate().runs_of(256).each(|(j, column)| {
            column.copy_from_slice(&codes.column(j)[rows.clone()]);
        });
        out
    }

    /// Residuals and energies of all samples in all classes; `correlations` are $D^\top X$ and `norms`
    /// the squared lengths of the samples. Cost $\sum_cp_c$ for each nonzero coefficient.
    #[must_use]
    pub fn energies<T: Real>(
        &self,
        gram: &Matrix<T>,
        correlations: &Matrix<T>,
        codes: &Matrix<T>,
        norms: &[f64],
    ) -> Energies {
        let (n_classes, n) = (self.n_classes(), codes.columns());
        let mut left = Matrix::zeros(n_classes, n);
        let mut explained = Matrix::zeros(n_classes, n);
        let columns = left.columns_mut().zip(explained.columns_mut()).enumerate();
        columns.runs_of(16).each(|(j, (left, explained))| {
            let (code, rhs) = (codes.column(j), correlations.column(j));
            for (class, range) in self.ranges.iter().enumerate() {
                let (mut cross, mut square) = (0.0, 0.0);
                for k in range.clone().filter(|&k| code[k] != T::zero()) {
                    let own = &code[range.clone()];
                    let image = crate::matrix::dot(&gram.column(k)[range.clone()], own);
                    cross += code[k].wide() * rhs[k].wide();
                    square += code[k].wide() * image.wide();
                }
                explained[class] = square.max(0.0);
                left[class] = (norms[j] - 2.0 * cross + square).max(0.0);
            }
        });
        Energies { left, explained }
    }

    /// Sums of the samples with codes whose coefficients count differently by class. With weights
    /// $u_{ci}$ and $v_{ci}$ ($C\times N$):
    /// $$S=AA^\top+\operatorname{blockdiag}_c\Bigl(\sum_iu_{ci}a_{ic}a_{ic}^\top\Bigr),\qquad
    /// R=XA^\top+\Bigl[\sum_iv_{ci}x_ia_{ic}^\top\Bigr]_c.$$
    /// Without `shared` the first summand of both is left out.
    #[must_use]
    pub fn statistics<T: Real>(
        &self,
        samples: &Matrix<T>,
        codes: &Matrix<T>,
        (u, v): (&Matrix<f64>, &Matrix<f64>),
        shared: bool,
    ) -> Statistics<T> {
        let base = if shared { 1.0 } else { 0.0 };
        let mut second = if shared {
            squares(codes, &Csr::of_columns(codes))
        } else {
            Matrix::zeros(codes.rows(), codes.rows())
        };
        for (class, range) in self.ranges.iter().enumerate() {
            let own = self.codes_of(codes, class);
            let mut weighted = own.clone();
            weighted.columns_mut().enumerate().runs_of(256).each(|(j, column)| {
                let weight = T::of(u.column(j)[class]);
                column.iter_mut().for_each(|a| *a *= weight);
            });
            let sum = Matrix::of_product(weighted.view(), own.transposed());
            for (at, k) in range.clone().enumerate() {
                let into = &mut second.column_mut(k)[range.clone()];
                into.iter_mut().zip(sum.column(at)).for_each(|(s, &w)| *s += w);
            }
        }
        let mut scaled = codes.clone();
        scaled.columns_mut().enumerate().runs_of(256).each(|(j, column)| {
            for (class, range) in self.ranges.iter().enumerate() {
                let weight = T::of(base + v.column(j)[class]);
                column[range.clone()].iter_mut().for_each(|a| *a *= weight);
            }
        });
        let correlations = cross_moments(samples.into(), &Csr::of_columns(&scaled));
        Statistics { moments: second, correlations, energy: 0.0 }
    }
}

/// Scales a vector to length one; zero stays zero.
pub(crate) fn to_length_one<T: Real>(atom: &mut [T]) {
    let length = T::of(squared_norm(atom).sqrt());
    if length > T::zero() {
        atom.iter_mut().for_each(|d| *d /= length);
    }
}

/// $-\tfrac1{N_c}\sum_{i\in c}\lVert x_j-x_i\rVert^2$ for each class and sample, $C\times N$: how near a
/// sample is to the labelled samples of a class. Cost $nCN$.
#[must_use]
pub fn nearness_to_classes<T: Real>(samples: &Matrix<T>, labels: &Labels) -> Matrix<f64> {
    let counts = labels.counts();
    let mut means = Matrix::<f64>::zeros(samples.rows(), counts.len());
    let mut sizes = vec![0.0; counts.len()];
    for (x, class) in samples.iter_columns().zip(labels.assigned()) {
        let Some(class) = *class else { continue };
        let share = 1.0 / counts[class] as f64;
        means.column_mut(class).iter_mut().zip(x).for_each(|(m, x)| *m += share * x.wide());
        sizes[class] += share * squared_norm(x);
    }
    // The mean squared distance is the distance to the mean and the scatter around it.
    let mut out = Matrix::zeros(counts.len(), samples.columns());
    out.columns_mut().enumerate().runs_of(16).each(|(j, column)| {
        let x = samples.column(j);
        for (class, value) in column.iter_mut().enumerate() {
            let mean = means.column(class);
            let cross: f64 = x.iter().zip(mean).map(|(x, m)| x.wide() * m).sum();
            *value = 2.0 * cross - squared_norm(x) - sizes[class];
        }
    });
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn labels(assigned: &[i32]) -> Labels {
        let assigned = assigned.iter().map(|&c| usize::try_from(c).ok()).collect();
        Labels::new(vec!["a".into(), "b".into(), "c".into()], assigned).expect("valid")
    }

    #[test]
    fn a_class_starts_with_its_labelled_samples_then_with_the_nearest() {
        let samples = Matrix::from_fn(2, 6, |i, j| {
            [[1.0, 0.0], [0.0, 2.0], [3.0, 0.5], [0.2, 1.0], [0.0, 0.0], [1.0, 0.1]][j][i]
        });
        let labels = labels(&[0, 1, -1, -1, -1, -1]);
        let near = nearness_to_classes(&samples, &labels);
        assert!((near.column(2)[0] - -4.25f64).abs() < 1e-12);
        let (atoms, blocks) = Blocks::first_atoms(&samples, &labels, 3, &near, 1);
        // Class c has no labelled sample, and the zero sample is no atom.
        assert_eq!(blocks.class_of_atoms(), [0, 0, 0, 1, 1, 1].map(Some));
        assert_eq!((blocks.n_classes(), blocks.of_class(2)), (3, 6..6));
        let expected = samples.select_columns(&[0, 5, 3, 1, 3, 5]);
        for (atom, sample) in atoms.iter_columns().zip(expected.iter_columns()) {
            let length = squared_norm(sample).sqrt();
            assert!(atom.iter().zip(sample).all(|(d, x)| (d * length - x).abs() < 1e-12));
        }
    }

    #[test]
    fn energies_and_sums_are_those_of_their_formulas() {
        let (n, count) = (4, 5);
        let blocks = Blocks::of_sizes(&[2, 0, 1]);
        let atoms = Matrix::from_fn(n, 3, |i, k| ((i * 3 + k * 5) % 7) as f64 - 2.5);
        let samples = Matrix::from_fn(n, count, |i, j| ((i * 2 + j * 3) % 5) as f64 - 1.5);
        let codes = Matrix::from_fn(3, count, |k, j| ((k + 2 * j) % 4) as f64 - 1.0);
        let norms: Vec<f64> = samples.iter_columns().map(squared_norm).collect();
        let rhs = Matrix::of_product(atoms.transposed(), samples.view());
        let found = blocks.energies(&atoms.gram(), &rhs, &codes, &norms);
        for j in 0..count {
            for (class, range) in [0..2, 2..2, 2..3].into_iter().enumerate() {
                let part: Vec<f64> = (0..n)
                    .map(|i| range.clone().map(|k| atoms.column(k)[i] * codes.column(j)[k]).sum())
                    .collect();
                let left: Vec<f64> =
                    samples.column(j).iter().zip(&part).map(|(x, y)| x - y).collect();
                assert!((found.left.column(j)[class] - squared_norm(&left)).abs() < 1e-10);
                assert!((found.explained.column(j)[class] - squared_norm(&part)).abs() < 1e-10);
            }
        }
        let u = Matrix::from_fn(3, count, |c, j| (c + j) as f64);
        let v = Matrix::from_fn(3, count, |c, j| (2 * c + j) as f64 * 0.5);
        let of = [0, 0, 2];
        for shared in [false, true] {
            let base = f64::from(u8::from(shared));
            let sums = blocks.statistics(&samples, &codes, (&u, &v), shared);
            for k in 0..3 {
                for l in 0..3 {
                    let weight = |j: usize| if of[k] == of[l] { u.column(j)[of[k]] } else { 0.0 };
                    let terms = (0..count)
                        .map(|j| (base + weight(j)) * codes.column(j)[k] * codes.column(j)[l]);
                    assert!((sums.moments.column(k)[l] - terms.sum::<f64>()).abs() < 1e-10);
                }
                for i in 0..n {
                    let terms = (0..count).map(|j| {
                        (base + v.column(j)[of[k]]) * samples.column(j)[i] * codes.column(j)[k]
                    });
                    assert!((sums.correlations.column(k)[i] - terms.sum::<f64>()).abs() < 1e-10);
                }
            }
        }
    }
}
