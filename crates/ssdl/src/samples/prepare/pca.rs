//! `pca=COUNT`: the directions along which the training samples vary most.

use std::ops::Range;

use rand::Rng;

use super::standardise::means_in_units;
use super::{Description, Layout, PreparationStep, StepChoice, Tensors, binary_unit};
use crate::matrix::{axpy, inner, squared_norm, symmetric_eigen};
use crate::{Error, Matrix, Real, Result};

pub(super) const DESCRIPTION: Description = Description {
    name: "pca",
    usage: "pca=COUNT",
    sentence: "the COUNT leading principal components of the training samples",
    check: |plan| plan.count().map(drop),
};

/// The $K$ leading principal components: $x' = V^\top (x - m)$ with the mean
/// $m \in \mathbb{R}^n$ and orthonormal $V \in \mathbb{R}^{n \times K}$, variance descending.
///
/// The entry of largest magnitude of each component is positive (the first one where several tie),
/// so that a fit has one answer. Computed in `f64`; cost $O(Nn\min(n,N) + \min(n,N)^3)$.
#[derive(Debug)]
pub(super) struct Pca<T> {
    plan: StepChoice,
    mean: Matrix<T>,
    components: Matrix<T>,
}

impl<T: Real> PreparationStep<T> for Pca<T> {
    fn fit(plan: &StepChoice, features: &Matrix<T>, _: Layout, _: &mut dyn Rng) -> Result<Self> {
        let (n, n_samples, count) = (features.rows(), features.columns(), plan.count()?);
        if count > n.min(n_samples) {
            return Err(plan.refuse(format!(
                "1 to {} (the smaller of {n} features and {n_samples} samples)",
                n.min(n_samples)
            )));
        }
        let centred = Centred::new(features);
        let components =
            if n <= n_samples { centred.by_covariance(count) } else { centred.by_gram(count) };
        let mut components = components.ok_or_else(|| {
            Error::Samples(format!("the eigenvalues of the step `{plan}` were not found"))
        })?;
        fix_signs(&mut components);
        let mean = Matrix::from_fn(n, 1, |i, _| T::of(centred.mean[i] * centred.unit));
        Ok(Self { plan: plan.clone(), mean, components: components.cast() })
    }

    fn restore(plan: &StepChoice, layout: Layout, tensors: &mut Tensors<'_, T>) -> Result<Self> {
        let n_in = layout.n_features();
        let mean = tensors.take("mean", n_in, 1)?;
        let components = tensors.take("components", n_in, plan.count()?)?;
        Ok(Self { plan: plan.clone(), mean, components })
    }

    fn plan(&self) -> &StepChoice {
        &self.plan
    }

    fn n_in(&self) -> usize {
        self.components.rows()
    }

    fn n_out(&self) -> usize {
        self.components.columns()
    }

    fn tensors(&self) -> Vec<(String, Matrix<T>)> {
        vec![("mean".into(), self.mean.clone()), ("components".into(), self.components.clone())]
    }

    fn map(&self, features: Matrix<T>) -> Matrix<T> {
        Matrix::of_each(self.components.transposed(), &features, Some(self.mean.as_slice()))
    }
}

/// The training samples minus their mean, divided by a power of two near their peak so that squares
/// neither overflow nor vanish.
struct Centred<'a, T> {
    features: &'a Matrix<T>,
    mean: Vec<f64>,
    unit: f64,
}

impl<'a, T: Real> Centred<'a, T> {
    fn new(features: &'a Matrix<T>) -> Self {
        let values = features.as_slice().iter();
        let unit = binary_unit(values.fold(0.0, |peak: f64, x| peak.max(x.wide().abs())));
        let mean = means_in_units(features, &vec![unit; features.rows()]);
        Self { features, mean, unit }
    }

    fn block(&self, samples: Range<usize>) -> Matrix<f64> {
        let mut block = Matrix::zeros(self.features.rows(), samples.len());
        for (k, j) in samples.enumerate() {
            let sample = self.features.column(j).iter().zip(&self.mean);
            for (out, (x, mean)) in block.column_mut(k).iter_mut().zip(sample) {
                *out = x.wide() / self.unit - mean;
            }
        }
        block
    }

    /// Leading eigenvectors of the n×n matrix $XX^\top$.
    fn by_covariance(&self, count: usize) -> Option<Matrix<f64>> {
        // Enough columns to feed the product, few enough not to copy all samples in f64.
        const BLOCK: usize = 1024;
        let (n, n_samples) = (self.features.rows(), self.features.columns());
        let mut covariance = Matrix::zeros(n, n);
        for start in (0..n_samples).step_by(BLOCK) {
            let block = self.block(start..n_samples.min(start + BLOCK));
            covariance.add_product(1.0, block.view(), block.transposed());
        }
        leading_eigenvectors(&covariance, count)
    }

    /// $XU$ for the leading eigenvectors $U$ of the N×N matrix $X^\top X$, made orthonormal.
    fn by_gram(&self, count: usize) -> Option<Matrix<f64>> {
        let all = self.block(0..self.features.columns());
        let gram = Matrix::of_product(all.transposed(), all.view());
        let vectors = leading_eigenvectors(&gram, count)?;
        let mut components = Matrix::of_product(all.view(), vectors.view());
        make_orthonormal(&mut components);
        Some(components)
    }
}

fn leading_eigenvectors(symmetric: &Matrix<f64>, count: usize) -> Option<Matrix<f64>> {
    let (values, vectors) = symmetric_eigen(symmetric)?;
    let order: Vec<usize> = (0..values.len()).rev().take(count).collect();
    Some(vectors.select_columns(&order))
}

/// Gram–Schmidt; a column that lies within the ones before it, as happens when the samples span
/// fewer directions than requested, is replaced by a direction the samples do not have.
fn make_orthonormal(columns: &mut Matrix<f64>) {
    let n = columns.rows();
    // Below this share of the first column, the Gram matrix has squared a direction into noise.
    let floor = 1e-8 * squared_norm(columns.column(0)).sqrt();
    for j in 0..columns.columns() {
        let (before, rest) = columns.as_mut_slice().split_at_mut(j * n);
        let column = &mut rest[..n];
        let mut norm = take_away(before, column);
        if norm <= floor {
            column.fill(0.0);
            column[least_covered(before, n)] = 1.0;
            norm = take_away(before, column);
        }
        column.iter_mut().for_each(|v| *v /= norm);
    }
}

/// Takes the directions `before` (orthonormal, one after another) out of `column`; returns the norm
/// of what is left.
fn take_away(before: &[f64], column: &mut [f64]) -> f64 {
    // Twice, as one pass leaves rounding errors of the size of what it removed.
    for _ in 0..2 {
        for direction in before.chunks_exact(column.len()) {
            axpy(-inner(direction, column), direction, column);
        }
    }
    squared_norm(column).sqrt()
}

/// The coordinate axis that is farthest from the span of `before`.
fn least_covered(before: &[f64], n: usize) -> usize {
    let mut covered = vec![0.0; n];
    for direction in before.chunks_exact(n) {
        covered.iter_mut().zip(direction).for_each(|(sum, v)| *sum += v * v);
    }
    (0..n).min_by(|&a, &b| covered[a].total_cmp(&covered[b])).unwrap_or(0)
}

fn fix_signs(components: &mut Matrix<f64>) {
    for k in 0..components.columns() {
        let component = components.column_mut(k);
        let largest =
            component.iter().fold(0.0, |l: f64, v| if v.abs() > l.abs() { *v } else { l });
        if largest < 0.0 {
            component.iter_mut().for_each(|v| *v = -*v);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::{Purpose, normal, stream};
    use crate::samples::prepare::fixed_cases;
    use proptest::prelude::*;

    fn fitted<T: Real>(count: usize, features: &Matrix<T>) -> Result<Pca<T>> {
        let plan = format!("pca={count}").parse()?;
        let layout = Layout::flat(features.rows());
        Pca::fit(&plan, features, layout, &mut stream(0, Purpose::Projection))
    }

    /// Samples whose feature i spreads like 0.8^i, so that the components are well separated.
    fn draw(n: usize, n_samples: usize, seed: u64) -> Matrix<f64> {
        let mut rng = stream(seed, Purpose::Atoms);
        let mut mix = Matrix::from_fn(n, n, |_, _| normal(&mut rng));
        make_orthonormal(&mut mix);
        let spread =
            Matrix::from_fn(n, n_samples, |i, _| 3.0 + 0.8f64.powi(i as i32) * normal(&mut rng));
        Matrix::of_product(mix.view(), spread.view())
    }

    fn gap(a: &Matrix<f64>, b: &Matrix<f64>) -> f64 {
        let pairs = a.as_slice().iter().zip(b.as_slice());
        pairs.fold(0.0, |gap: f64, (a, b)| gap.max((a - b).abs()))
    }

    fn distance_from_orthonormal(components: &Matrix<f64>) -> f64 {
        let k = components.columns();
        let gram = Matrix::of_product(components.transposed(), components.view());
        gap(&gram, &Matrix::from_fn(k, k, |i, j| f64::from(i == j)))
    }

    #[test]
    fn components_by_hand() -> Result<()> {
        // Around (1, 2), 10 along (3, 4)/5 and 5 along (4, -3)/5, there and back.
        let points = [[7.0, 10.0], [-5.0, -6.0], [5.0, -1.0], [-3.0, 5.0]];
        let features = Matrix::from_fn(2, 4, |i, j| points[j][i]);
        let step = fitted(2, &features)?;
        assert_eq!(step.mean.as_slice(), [1.0, 2.0]);
        let components = Matrix::from_fn(2, 2, |i, k| [[0.6, 0.8], [0.8, -0.6]][k][i]);
        assert!(gap(&step.components, &components) < 1e-14);
        let by_hand = [[10.0, 0.0], [-10.0, 0.0], [0.0, 5.0], [0.0, -5.0]];
        let out = step.map(features);
        assert!(gap(&out, &Matrix::from_fn(2, 4, |i, j| by_hand[j][i])) < 1e-13, "{out:?}");
        Ok(())
    }

    #[test]
    fn the_entry_of_largest_magnitude_is_positive_and_the_first_wins_a_tie() {
        let mut components = Matrix::from_columns(
            3,
            3,
            vec![
                0.1, -0.9, 0.3, //
                -0.5, 0.5, 0.1, //
                0.7, -0.7, 0.2,
            ],
        )
        .expect("length");
        fix_signs(&mut components);
        assert_eq!(components.column(0), [-0.1, 0.9, -0.3]);
        assert_eq!(components.column(1), [0.5, -0.5, -0.1]);
        assert_eq!(components.column(2), [0.7, -0.7, 0.2]);
    }

    #[test]
    fn more_components_than_the_samples_have_are_refused() {
        let error = fitted(4, &draw(5, 3, 0)).expect_err("4 of 3");
        assert_eq!(
            error.to_string(),
            "knob `pca` is 4; allowed: 1 to 3 (the smaller of 5 features and 3 samples)"
        );
        assert!(fitted(3, &draw(5, 3, 0)).is_ok());
    }

    #[test]
    fn directions_the_samples_lack_are_filled_up_orthonormally() -> Result<()> {
        let twins = Matrix::from_fn(6, 4, |i, j| if j < 2 { i as f64 } else { -1.0 });
        let copies = [twins, Matrix::from_fn(6, 4, |_, _| 0.1), draw(6, 1, 1), Matrix::zeros(9, 3)];
        for features in &copies {
            let step = fitted(features.columns(), features)?;
            assert!(distance_from_orthonormal(&step.components) < 1e-14);
            let out = step.map(features.clone());
            for sample in out.iter_columns() {
                assert!(squared_norm(&sample[1..]) < 1e-28, "{sample:?}");
            }
        }
        Ok(())
    }

    #[test]
    fn nearly_parallel_columns_become_orthonormal() {
        let mut columns = Matrix::from_fn(4, 3, |i, j| match i {
            0 => 1.0,
            _ if i == j + 1 => 1e-7,
            _ => 0.0,
        });
        make_orthonormal(&mut columns);
        assert!(distance_from_orthonormal(&columns) < 1e-14);
    }

    #[test]
    fn huge_and_tiny_samples_have_the_components_of_ordinary_ones() -> Result<()> {
        for (n, n_samples) in [(4, 9), (9, 4)] {
            let plain = draw(n, n_samples, 2);
            let components = fitted(3, &plain)?.components;
            for by in [2f64.powi(-900), 2f64.powi(1000)] {
                let mut features = plain.clone();
                features.as_mut_slice().iter_mut().for_each(|x| *x *= by);
                assert_eq!(fitted(3, &features)?.components, components);
            }
        }
        Ok(())
    }

    #[test]
    fn covariance_in_blocks_is_the_whole_covariance() {
        let features = draw(3, 2500, 3);
        let centred = Centred::new(&features);
        let blocks = centred.by_covariance(3).expect("finite");
        let all = centred.block(0..2500);
        let whole = Matrix::of_product(all.view(), all.transposed());
        let mut whole = leading_eigenvectors(&whole, 3).expect("finite");
        let mut blocks = blocks;
        fix_signs(&mut whole);
        fix_signs(&mut blocks);
        assert!(gap(&blocks, &whole) < 1e-12);
    }

    proptest! {
        #![proptest_config(fixed_cases(48))]

        #[test]
        fn components_are_orthonormal_and_variance_descends(
            n in 1usize..14, n_samples in 1usize..20, seed: u64
        ) {
            let features = draw(n, n_samples, seed);
            let step = fitted(n.min(n_samples), &features)?;
            prop_assert!(distance_from_orthonormal(&step.components) < 1e-12);
            let out = step.map(features);
            let variance: Vec<f64> = (0..out.rows())
                .map(|k| out.iter_columns().map(|x| x[k] * x[k]).sum())
                .collect();
            prop_assert!(variance.windows(2).all(|pair| pair[1] <= pair[0] + 1e-9), "{:?}", variance);
            let centred: f64 = out.iter_columns().map(|x| x.iter().sum::<f64>()).sum();
            prop_assert!(centred.abs() < 1e-10);
        }

        #[test]
        fn all_components_rebuild_the_samples(n in 1usize..10, n_samples in 1usize..16, seed: u64) {
            let features = draw(n, n_samples, seed);
            let step = fitted(n.min(n_samples), &features)?;
            let out = step.map(features.clone());
            let mut rebuilt = Matrix::of_product(step.components.view(), out.view());
            for j in 0..n_samples {
                axpy(1.0, step.mean.as_slice(), rebuilt.column_mut(j));
            }
            prop_assert!(gap(&rebuilt, &features) < 1e-10);
        }

        #[test]
        fn both_sides_of_the_gram_matrix_agree(n in 3usize..9, n_samples in 4usize..9, seed: u64) {
            let features = draw(n, n_samples, seed);
            let centred = Centred::new(&features);
            let mut short = centred.by_covariance(2).expect("finite");
            let mut long = centred.by_gram(2).expect("finite");
            fix_signs(&mut short);
            fix_signs(&mut long);
            // Directions of nearly the same variance may turn into each other: compare what the
            // two planes keep of the samples.
            let all = centred.block(0..n_samples);
            let kept = |v: &Matrix<f64>| Matrix::of_product(v.transposed(), all.view()).squared_norm();
            prop_assert!((kept(&short) - kept(&long)).abs() < 1e-11 * all.squared_norm());
            let overlap = Matrix::of_product(short.transposed(), long.view());
            let (values, _) = symmetric_eigen(&Matrix::of_product(all.view(), all.transposed()))
                .expect("finite");
            if values[n - 1] - values[n - 2] > 1e-3 * values[n - 1]
                && values[n - 2] - values[n - 3] > 1e-3 * values[n - 1]
            {
                prop_assert!(gap(&overlap, &Matrix::from_fn(2, 2, |i, j| f64::from(i == j))) < 1e-9);
            }
        }

        #[test]
        fn single_precision_agrees_with_double(n in 2usize..9, extra in 0usize..20, seed: u64) {
            let features = draw(n, n + extra, seed).cast::<f32>();
            let single = fitted(1, &features)?;
            let double = fitted(1, &features.cast::<f64>())?;
            prop_assert_eq!(&single.components, &double.components.cast::<f32>());
            let (a, b) = (single.map(features.clone()).cast(), double.map(features.cast()));
            prop_assert!(gap(&a, &b) < 1e-4);
        }
    }
}
