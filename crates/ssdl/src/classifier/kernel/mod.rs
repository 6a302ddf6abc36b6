//! Least squares with a Gaussian kernel: every labelled sample speaks for its class around itself.
//!
//! $$s_c(x)=b_c+\sum_j\alpha_{jc}\,e^{-\lVert x-x_j\rVert^2/2h^2},\qquad
//! \min\ \sum_jw_j\bigl(s_c(x_j)-y_{jc}\bigr)^2+\lambda\lVert s_c\rVert_K^2,$$
//!
//! with $y_{jc}=\pm1$ and all classes counting alike. The width $h$ and the ridge λ are those with which labels predict
//! each other: for least squares, what the fit without one sample says of it follows from the fit with it,
//! $y_j-\alpha_j/P_{jj}$, $P$ the matrix that takes $y$ to α. Distances need the length that a preparation takes
//! from a sample, so it is given back, as for [`Forest`](super::Forest).

mod squares;

use std::borrow::Cow;

use serde::{Deserialize, Serialize};

use self::squares::{Problem, some_of};
use crate::graph::each_query;
use crate::matrix::axpy;
use crate::samples::prepare::lengthen;
use crate::stored::{Source, Stored};
use crate::{Error, Labels, Matrix, Real, Result};

/// Samples by which width and ridge are chosen, about. Each width costs the eigenvectors of a matrix of this side.
const MAX_CHOICE: usize = 500;
/// Squared distances are at least and at most this where it matters: no width is 0 or without bound.
const NEAR: f64 = 1e-280;
const FAR: f64 = 1e280;

/// Scores by distances to labelled samples.
#[derive(Clone, Debug, PartialEq)]
pub struct KernelClassifier<T> {
    /// The labelled samples with their lengths, $n\times S$.
    support: Matrix<T>,
    /// α, $S\times C$.
    coefficients: Matrix<T>,
    bias: Vec<T>,
    /// $h$.
    width: f64,
    /// The length of each training sample before its preparation took it.
    lengths: Option<Vec<T>>,
}

/// In the header of a model file.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(crate) struct SavedKernel {
    width: f64,
    n_support: usize,
    /// Whether the preparation takes the length of samples.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    lengths: bool,
}

impl<T: Real> KernelClassifier<T> {
    /// On the labelled ones of prepared samples ($n\times N$), about `n_support` at most, evenly from all classes;
    /// weights are those of labelled samples, lengths those of all. Cost $S^3+nS^2$, and 6 times the eigenvectors of
    /// a matrix of side 500 at most.
    ///
    /// # Errors
    /// If a system cannot be solved, which needs values that are not finite.
    #[inline(never)]
    pub fn train(
        (labelled, labels): (&Matrix<T>, &Labels),
        (weights, lengths): (&[T], Option<&[T]>),
        n_support: usize,
    ) -> Result<Self> {
        let (places, classes) = (labels.labelled(), labels.known_classes());
        let n_classes = labels.classes().len();
        let mut samples = labelled.clone();
        if let Some(lengths) = lengths {
            let columns = samples.columns_mut().zip(&places);
            columns.for_each(|(x, &place)| lengthen(x, lengths[place]));
        }
        let problem = |of: &[usize]| Problem::new(&samples, (&classes, n_classes), weights, of);
        let failed = || Error::Diverged {
            step: "classifier",
            iteration: 0,
            what: "the system of the kernel is not positive definite".into(),
        };
        let few = problem(&some_of(&classes, n_classes, MAX_CHOICE));
        let (width, ridge) = few.choose().ok_or_else(failed)?;
        let chosen = some_of(&classes, n_classes, n_support);
        let whole = if chosen.len() == few.classes.len() { few } else { problem(&chosen) };
        let (mut coefficients, mut bias) = whole.solve(width, ridge).ok_or_else(failed)?;
        silence_absent(&mut coefficients, &mut bias, &labels.counts());
        Ok(Self {
            support: samples.select_columns(&chosen),
            coefficients: coefficients.cast(),
            bias: bias.into_iter().map(T::of).collect(),
            width,
            lengths: lengths.map(<[T]>::to_vec),
        })
    }

    /// Features of a prepared sample.
    #[must_use]
    pub fn n_features(&self) -> usize {
        self.support.rows()
    }

    /// Scores ($C\times M$) of prepared samples ($n\times M$) of these lengths, each independent of the others.
    #[must_use]
    pub fn scores(&self, new: &Matrix<T>, lengths: Option<&[T]>) -> Matrix<T> {
        // A model whose preparation takes no length ignores one.
        let lengths = lengths.filter(|_| self.lengths.is_some());
        let seen = lengths.map(|lengths| {
            let mut long = new.clone();
            long.columns_mut().zip(lengths).for_each(|(x, &length)| lengthen(x, length));
            long
        });
        let columns = each_query(&self.support, seen.as_ref().unwrap_or(new), |_, squared| {
            let near: Vec<f64> = squared.iter().map(|&d| gauss(d, self.width)).collect();
            let of = |(alpha, &bias): (&[T], &T)| {
                let sum: f64 = alpha.iter().zip(&near).map(|(a, k)| a.wide() * k).sum();
                T::of(bias.wide() + sum)
            };
            self.coefficients.iter_columns().zip(&self.bias).map(of).collect::<Vec<T>>()
        });
        let (n_classes, n) = (self.bias.len(), new.columns());
        Matrix::from_columns(n_classes, n, columns.concat())
            .unwrap_or_else(|| Matrix::zeros(n_classes, n))
    }

    /// Scores of the training samples, $C\times N$.
    #[must_use]
    pub fn of_training(&self, samples: &Matrix<T>) -> Matrix<T> {
        self.scores(samples, self.lengths.as_deref())
    }

    /// The part for the header.
    pub(crate) fn saved(&self) -> SavedKernel {
        let n_support = self.support.columns();
        SavedKernel { width: self.width, n_support, lengths: self.lengths.is_some() }
    }

    /// The numbers.
    pub(super) fn stored(&self) -> Vec<(&'static str, Stored<'_, T>)> {
        let mut all = vec![
            ("kernel_support", Stored::Matrix(Cow::Borrowed(&self.support))),
            ("kernel_coefficients", Stored::Matrix(Cow::Borrowed(&self.coefficients))),
            ("kernel_bias", Stored::List(&self.bias)),
        ];
        all.extend(self.lengths.iter().map(|list| ("kernel_lengths", Stored::List(list))));
        all
    }

    /// From a file, for prepared samples of `n_features`.
    pub(super) fn restore(
        saved: SavedKernel,
        source: &dyn Source<T>,
        labels: &Labels,
        n_features: usize,
    ) -> Result<Self> {
        let SavedKernel { width, n_support, lengths } = saved;
        let is_sound = (NEAR.sqrt() / 10.0..=FAR.sqrt() * 10.0).contains(&width);
        if !is_sound || !(1..=labels.len()).contains(&n_support) {
            return Err(source.refuse("the width or the size of its kernel is out of range"));
        }
        let n_classes = labels.classes().len();
        let lengths = lengths.then(|| source.list("kernel_lengths", labels.len()));
        Ok(Self {
            support: source.matrix("kernel_support", n_features, n_support)?,
            coefficients: source.matrix("kernel_coefficients", n_support, n_classes)?,
            bias: source.list("kernel_bias", n_classes)?,
            width,
            lengths: lengths.transpose()?,
        })
    }
}

/// $e^{-d/2h^2}$ of a squared distance, never NaN: what is too far to be a number is far.
fn gauss(squared: f64, width: f64) -> f64 {
    (-squared.min(FAR) / (2.0 * width * width)).exp()
}

/// Gives every class without a labelled sample the mean of the other classes, minus one, as
/// [`LinearClassifier`](super::LinearClassifier) does.
fn silence_absent(coefficients: &mut Matrix<f64>, bias: &mut [f64], counts: &[usize]) {
    let present: Vec<usize> = (0..counts.len()).filter(|&class| counts[class] > 0).collect();
    let share = 1.0 / present.len().max(1) as f64;
    let mut mean = vec![0.0; coefficients.rows()];
    present.iter().for_each(|&class| axpy(share, coefficients.column(class), &mut mean));
    let below = present.iter().map(|&class| bias[class] * share).sum::<f64>() - 1.0;
    for class in (0..counts.len()).filter(|&class| counts[class] == 0) {
        coefficients.column_mut(class).copy_from_slice(&mean);
        bias[class] = below;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::{self, Purpose, normal};

    /// A cloud within another, told apart by length alone; one label in `every`.
    fn ring(n: usize, every: usize) -> (Matrix<f64>, Labels, Vec<usize>) {
        let mut rng = random::stream(4, Purpose::Noise);
        let wide = |j: usize| if j.is_multiple_of(2) { 1.0 } else { 3.0 };
        let samples = Matrix::from_fn(6, n, |_, j| wide(j) * normal(&mut rng));
        let truth: Vec<usize> = (0..n).map(|j| j % 2).collect();
        let assigned = (0..n).map(|j| (j / 2).is_multiple_of(every).then_some(truth[j])).collect();
        (samples, Labels::new(vec!["in".into(), "out".into()], assigned).expect("sound"), truth)
    }

    fn trained<T: Real>(
        samples: &Matrix<T>,
        labels: &Labels,
        lengths: Option<&[T]>,
    ) -> KernelClassifier<T> {
        let known = samples.select_columns(&labels.labelled());
        let ones = vec![T::one(); known.columns()];
        KernelClassifier::train((&known, labels), (&ones, lengths), 2000).expect("definite")
    }

    fn right<T: Real>(scores: &Matrix<T>, truth: &[usize]) -> f64 {
        let found = scores.iter_columns().map(super::super::best);
        found.zip(truth).filter(|(a, b)| a == *b).count() as f64 / truth.len() as f64
    }

    #[test]
    fn a_cloud_within_another_is_found_in_both_precisions() {
        let (samples, labels, truth) = ring(400, 10);
        let scores = trained(&samples, &labels, None).of_training(&samples);
        assert!(right(&scores, &truth) > 0.9, "{}", right(&scores, &truth));
        let short: Matrix<f32> = samples.cast();
        let scores = trained(&short, &labels, None).of_training(&short);
        assert!(right(&scores, &truth) > 0.9);
    }

    #[test]
    fn lengths_are_given_back() {
        let (samples, labels, truth) = ring(300, 5);
        let lengths: Vec<f64> =
            samples.iter_columns().map(|x| crate::matrix::squared_norm(x).sqrt()).collect();
        let short = Matrix::from_fn(6, 300, |i, j| samples.column(j)[i] / lengths[j]);
        let kernel = trained(&short, &labels, Some(&lengths));
        let scores = kernel.of_training(&short);
        assert_eq!(scores, kernel.scores(&short, Some(&lengths)));
        assert!(right(&scores, &truth) > 0.9);
        assert!(right(&trained(&short, &labels, None).of_training(&short), &truth) < 0.8);
    }

    #[test]
    fn a_sample_has_the_same_scores_alone_and_among_others() {
        let (samples, labels, _) = ring(150, 5);
        let kernel = trained(&samples, &labels, None);
        let all = kernel.scores(&samples, None);
        for j in [0, 70, 149] {
            let alone = kernel.scores(&samples.select_columns(&[j]), None);
            assert_eq!(alone.column(0), all.column(j));
        }
    }

    #[test]
    fn nothing_to_tell_apart_is_no_harm() {
        let names = [Some("a"), Some("b"), None, Some("a")];
        for value in [0.0, 7.5, 1e-300, f64::MAX] {
            let samples = Matrix::from_fn(3, 4, |i, j| if i == j { -value } else { value });
            let same = Matrix::from_fn(3, 4, |_, _| value);
            for labels in [Labels::from_names(&names), Labels::from_names(&names[..3])] {
                for samples in [&samples, &same] {
                    let some = samples.select_columns(&(0..labels.len()).collect::<Vec<_>>());
                    for lengths in [None, Some(&[1.0, f64::MAX, 0.0, 2.0][..labels.len()])] {
                        let scores = trained(&some, &labels, lengths).of_training(&some);
                        assert!(scores.as_slice().iter().all(|s| s.is_finite()), "{value}");
                    }
                }
            }
        }
    }

    #[test]
    fn a_class_without_labels_never_wins() {
        let (samples, labels, _) = ring(80, 4);
        let names = vec!["in".into(), "out".into(), "none".into()];
        let labels = Labels::new(names, labels.assigned().to_vec()).expect("sound");
        let scores = trained(&samples, &labels, None).of_training(&samples);
        assert!(scores.iter_columns().all(|column| super::super::best(column) != 2));
    }

    /// A file with numbers of the sizes asked for.
    struct Zeros;

    impl Source<f64> for Zeros {
        fn matrix(&self, _: &str, rows: usize, columns: usize) -> Result<Matrix<f64>> {
            Ok(Matrix::zeros(rows, columns))
        }
        fn list(&self, _: &str, len: usize) -> Result<Vec<f64>> {
            Ok(vec![0.0; len])
        }
        fn whole(&self, _: &str) -> Result<Vec<u32>> {
            Ok(Vec::new())
        }
        fn refuse(&self, reason: &str) -> Error {
            Error::Samples(reason.to_owned())
        }
    }

    #[test]
    fn a_width_or_a_size_that_cannot_be_is_refused() {
        let labels = Labels::from_names(&[Some("a"), Some("b"), None]);
        let restored = |width: f64, n_support: usize| {
            let saved = SavedKernel { width, n_support, lengths: true };
            KernelClassifier::restore(saved, &Zeros, &labels, 4)
        };
        assert_eq!(restored(1.0, 2).expect("sound").saved().n_support, 2);
        for width in [0.0, -1.0, f64::NAN, f64::INFINITY, 1e-200, 1e200] {
            assert!(restored(width, 2).is_err(), "{width}");
        }
        assert!(restored(1.0, 0).is_err() && restored(1.0, usize::MAX).is_err());
    }
}
