//! The least squares of a kernel, and the choice of its width and ridge by leaving out one label at a time.

use super::{FAR, NEAR, gauss};
use crate::graph::each_query;
use crate::matrix::{Cholesky, symmetric_eigen};
use crate::{Matrix, Real};

/// Widths that are tried, in medians of the distance between labelled samples. Of equals the first is taken.
const WIDTHS: [f64; 6] = [0.7, 1.0, 0.5, 1.4, 0.35, 2.0];
/// Ridges that are tried.
const RIDGES: [f64; 4] = [0.1, 0.01, 1.0, 0.001];
/// Slopes of the softmax in which a choice is judged: the best of them counts.
const SLOPES: [f64; 5] = [0.5, 1.0, 2.0, 4.0, 8.0];
/// A choice must be better by this share.
const BETTER: f64 = 1e-9;

/// Labelled samples, seen by their distances.
pub(super) struct Problem {
    /// Squared distances, $S\times S$.
    squared: Matrix<f64>,
    pub classes: Vec<usize>,
    /// $\pm1$, $S\times C$.
    targets: Matrix<f64>,
    /// $\sqrt{w_j}$; $w$ is one on average, and all classes weigh the same.
    roots: Vec<f64>,
}

impl Problem {
    /// Of some of the labelled samples.
    pub fn new<T: Real>(
        samples: &Matrix<T>,
        (classes, n_classes): (&[usize], usize),
        weights: &[T],
        chosen: &[usize],
    ) -> Self {
        let samples = samples.select_columns(chosen);
        let rows = each_query(&samples, &samples, |_, squared| squared.to_vec());
        let n = chosen.len();
        // The same to and fro, whatever the rounding, and nothing between a sample and itself.
        let between = |i: usize, j: usize| rows[i.max(j)][i.min(j)].min(FAR);
        let squared = Matrix::from_fn(n, n, |i, j| if i == j { 0.0 } else { between(i, j) });
        let classes: Vec<usize> = chosen.iter().map(|&at| classes[at]).collect();
        let mut counts = vec![0.0; n_classes];
        classes.iter().for_each(|&class| counts[class] += 1.0);
        let each = chosen.iter().zip(&classes).map(|(&at, &c)| weights[at].wide() / counts[c]);
        let mut weights: Vec<f64> = each.collect();
        let mean = weights.iter().sum::<f64>() / n.max(1) as f64;
        let is_sound = mean.is_finite() && mean > 0.0;
        weights.iter_mut().for_each(|w| *w = if is_sound { *w / mean } else { 1.0 });
        let roots = weights.into_iter().map(f64::sqrt).collect();
        let sign = |j: usize, c: usize| if classes[j] == c { 1.0 } else { -1.0 };
        let targets = Matrix::from_fn(n, n_classes, sign);
        Self { squared, classes, targets, roots }
    }

    /// The median of the distances between two samples; of twins, their mean.
    fn median(&self) -> f64 {
        let columns = self.squared.iter_columns().enumerate();
        let mut pairs: Vec<f64> = columns.flat_map(|(j, d)| d[..j].iter().copied()).collect();
        if pairs.is_empty() {
            return 1.0;
        }
        let middle = pairs.len() / 2;
        let (_, &mut median, _) = pairs.select_nth_unstable_by(middle, f64::total_cmp);
        let mean = || pairs.iter().sum::<f64>() / pairs.len() as f64;
        let typical = if median > 0.0 { median } else { mean() };
        if typical > 0.0 { typical.clamp(NEAR, FAR).sqrt() } else { 1.0 }
    }

    /// $\sqrt{w_iw_j}\,k(x_i,x_j)$.
    fn weighed(&self, width: f64) -> Matrix<f64> {
        let n = self.roots.len();
        let entry = |i: usize, j: usize| {
            self.roots[i] * self.roots[j] * gauss(self.squared.column(j)[i], width)
        };
        Matrix::from_fn(n, n, entry)
    }

    /// Targets and, in the last column, ones; both times $\sqrt{w_j}$.
    fn sides(&self) -> Matrix<f64> {
        let n_classes = self.targets.columns();
        Matrix::from_fn(self.roots.len(), n_classes + 1, |j, c| {
            self.roots[j] * if c < n_classes { self.targets.column(c)[j] } else { 1.0 }
        })
    }

    /// α and the bias from $G[Y,1]$ with $G=(K+\lambda W^{-1})^{-1}$: the bias makes each column of α sum to zero.
    fn with_bias(&self, solved: &Matrix<f64>) -> (Matrix<f64>, Vec<f64>) {
        let n_classes = self.targets.columns();
        let ones = solved.column(n_classes);
        let all = ones.iter().sum::<f64>().max(f64::MIN_POSITIVE);
        let of = |c: usize| solved.column(c).iter().sum::<f64>() / all;
        let bias: Vec<f64> = (0..n_classes).map(of).collect();
        let alpha = |j: usize, c: usize| solved.column(c)[j] - ones[j] * bias[c];
        (Matrix::from_fn(ones.len(), n_classes, alpha), bias)
    }

    /// α ($S\times C$) and the bias for this width and ridge; `None` if the system is not positive definite.
    pub fn solve(&self, width: f64, ridge: f64) -> Option<(Matrix<f64>, Vec<f64>)> {
        let mut system = self.weighed(width);
        (0..system.columns()).for_each(|j| system.column_mut(j)[j] += ridge);
        let mut solved = self.sides();
        Cholesky::new(&system)?.solve_in_place(&mut solved);
        self.times_roots(&mut solved);
        Some(self.with_bias(&solved))
    }

    fn times_roots(&self, matrix: &mut Matrix<f64>) {
        let scale = |column: &mut [f64]| {
            column.iter_mut().zip(&self.roots).for_each(|(value, root)| *value *= root);
        };
        matrix.columns_mut().for_each(scale);
    }

    /// The width and the ridge with which labels that are left out are predicted best, by their probability. Accuracy
    /// says less of a few labels, and squares punish scores that are beyond their target.
    pub fn choose(&self) -> Option<(f64, f64)> {
        let (median, sides) = (self.median(), self.sides());
        let mut best = (f64::INFINITY, (WIDTHS[0] * median, RIDGES[0]));
        for width in WIDTHS {
            let width = width * median;
            let (values, vectors) = symmetric_eigen(&self.weighed(width))?;
            let within = Matrix::of_product(vectors.transposed(), sides.view());
            for ridge in RIDGES {
                let loss = self.loss(&self.left_out((&values, &vectors), &within, ridge));
                if loss < best.0 - BETTER * loss {
                    best = (loss, (width, ridge));
                }
            }
        }
        Some(best.1)
    }

    /// Scores of each sample by the fit without it, $S\times C$: $y_j-\alpha_j/P_{jj}$.
    fn left_out(
        &self,
        (values, vectors): (&[f64], &Matrix<f64>),
        within: &Matrix<f64>,
        ridge: f64,
    ) -> Matrix<f64> {
        let shrink: Vec<f64> = values.iter().map(|value| 1.0 / (value.max(0.0) + ridge)).collect();
        let mut shrunk = within.clone();
        let each = |column: &mut [f64]| column.iter_mut().zip(&shrink).for_each(|(v, s)| *v *= s);
        shrunk.columns_mut().for_each(each);
        let mut solved = Matrix::of_product(vectors.view(), shrunk.view());
        self.times_roots(&mut solved);
        let (alpha, _) = self.with_bias(&solved);
        let mut own = vec![0.0; self.roots.len()];
        for (vector, s) in vectors.iter_columns().zip(&shrink) {
            own.iter_mut().zip(vector).for_each(|(own, v)| *own += s * v * v);
        }
        let ones = solved.column(self.targets.columns());
        let all = ones.iter().sum::<f64>().max(f64::MIN_POSITIVE);
        for ((own, root), one) in own.iter_mut().zip(&self.roots).zip(ones) {
            *own = (*own * root * root - one * one / all).max(1e-12);
        }
        let miss = |j: usize, c: usize| alpha.column(c)[j] / own[j];
        Matrix::from_fn(own.len(), self.targets.columns(), |j, c| {
            self.targets.column(c)[j] - miss(j, c)
        })
    }

    /// The log-loss of scores, with the best of some slopes.
    fn loss(&self, scores: &Matrix<f64>) -> f64 {
        let with = |slope: f64| -> f64 {
            let of = |(j, (&class, root)): (usize, (&usize, &f64))| {
                let z = |c: usize| slope * scores.column(c)[j];
                let top = (0..scores.columns()).map(z).fold(f64::NEG_INFINITY, f64::max);
                let sum: f64 = (0..scores.columns()).map(|c| (z(c) - top).exp()).sum();
                root * root * (top + sum.ln() - z(class))
            };
            self.classes.iter().zip(&self.roots).enumerate().map(of).sum()
        };
        SLOPES.into_iter().map(with).fold(f64::INFINITY, f64::min)
    }
}

/// About `most` samples, evenly from each class in proportion to its size, at least one of each; in their order.
pub(super) fn some_of(classes: &[usize], n_classes: usize, most: usize) -> Vec<usize> {
    if classes.len() <= most {
        return (0..classes.len()).collect();
    }
    let mut members: Vec<Vec<usize>> = vec![Vec::new(); n_classes];
    classes.iter().enumerate().for_each(|(at, &class)| members[class].push(at));
    let some = |own: &Vec<usize>| {
        let count = (own.len() * most).div_ceil(classes.len());
        (0..count).map(|k| own[k * own.len() / count]).collect::<Vec<usize>>()
    };
    let mut chosen: Vec<usize> = members.iter().flat_map(some).collect();
    chosen.sort_unstable();
    chosen
}

#[cfg(test)]
mod tests {
    use super::*;

    fn problem(without: Option<usize>) -> Problem {
        let samples = Matrix::from_fn(3, 12, |i, j| ((i * 7 + j * 5 + i * j) % 11) as f64 / 3.0);
        let classes: Vec<usize> = (0..12).map(|j| j * j % 3).collect();
        let chosen: Vec<usize> = (0..12).filter(|&j| Some(j) != without).collect();
        let mut all = Problem::new(&samples, (&classes, 3), &[1.0; 12], &chosen);
        // The same weights in both, though classes have lost a sample.
        all.roots = chosen.iter().map(|&j| 1.0 + 0.1 * j as f64).collect();
        all
    }

    #[test]
    fn scores_without_a_sample_are_those_of_a_fit_without_it() {
        let whole = problem(None);
        let (width, ridge) = (1.5, 0.1);
        let (values, vectors) = symmetric_eigen(&whole.weighed(width)).expect("finite");
        let within = Matrix::of_product(vectors.transposed(), whole.sides().view());
        let found = whole.left_out((&values, &vectors), &within, ridge);
        for j in 0..12 {
            let (alpha, bias) = problem(Some(j)).solve(width, ridge).expect("definite");
            for (c, bias) in bias.iter().enumerate() {
                let others = (0..12).filter(|&i| i != j).zip(alpha.column(c));
                let near = |i: usize| gauss(whole.squared.column(j)[i], width);
                let score = bias + others.map(|(i, a)| a * near(i)).sum::<f64>();
                let other = found.column(c)[j];
                assert!((score - other).abs() < 1e-9, "{j} {c}: {score} {other}");
            }
        }
    }

    #[test]
    fn the_solution_is_least_in_its_squares() {
        let problem = problem(None);
        let (width, ridge) = (1.0, 0.3);
        let (alpha, bias) = problem.solve(width, ridge).expect("definite");
        let value = |alpha: &[f64], bias: f64| {
            let kernel = |i: usize, j: usize| gauss(problem.squared.column(j)[i], width);
            let smooth = |i: usize| (0..12).map(|j| kernel(i, j) * alpha[j]).sum::<f64>();
            let miss = |i: usize| smooth(i) + bias - problem.targets.column(1)[i];
            (0..12)
                .map(|i| (problem.roots[i] * miss(i)).powi(2) + ridge * alpha[i] * smooth(i))
                .sum::<f64>()
        };
        let least = value(alpha.column(1), bias[1]);
        for step in [-1e-3, 1e-3] {
            assert!(value(alpha.column(1), bias[1] + step) > least);
            for j in 0..12 {
                let mut moved = alpha.column(1).to_vec();
                moved[j] += step;
                assert!(value(&moved, bias[1]) > least);
            }
        }
    }

    #[test]
    fn fewer_samples_come_evenly_from_all_classes() {
        let classes: Vec<usize> =
            (0..1000).map(|j| if j == 999 { 2 } else { usize::from(j % 4 == 0) }).collect();
        let chosen = some_of(&classes, 4, 100);
        let count = |class: usize| chosen.iter().filter(|&&at| classes[at] == class).count();
        assert_eq!((count(0), count(1), count(2), count(3)), (75, 25, 1, 0));
        assert!(chosen.is_sorted() && some_of(&classes, 4, 1000).len() == 1000);
    }
}
