//! How well labels predict each other: ridge classifiers that have not seen the label they predict.
//!
//! For ridge regression, leaving a sample out needs no second fit: with $K=\tilde A^\top\tilde A$ and
//! $\alpha=(K+\rho I)^{-1}Y$, the error at sample $i$ of the classifier fitted to all others is
//! $\alpha_i/[(K+\rho I)^{-1}]_{ii}$. So the strength of the ridge and the trust in votes cost one
//! eigendecomposition.

use super::best;
use crate::Real;
use crate::matrix::{Matrix, symmetric_eigen};

/// Labels that are looked at; more change little and cost the cube of their number.
const MAX_LABELS: usize = 500;

/// What one strength of the ridge gives.
#[derive(Clone, Debug, PartialEq)]
pub struct LeftOut {
    /// ρ.
    pub strength: f64,
    /// Mean squared error of the scores, classes counting alike.
    pub error: f64,
    /// How much better than chance the classes are predicted, 0 to 1, classes counting alike.
    pub skill: f64,
    /// Whether each label was predicted right.
    pub right: Vec<bool>,
    /// The labels of each class (column) that were taken for each class (row), $C\times C$. A class with a single
    /// label has none here: nothing is left to predict it from.
    pub confusion: Matrix<f64>,
}

impl LeftOut {
    /// The strength with the least error; the smaller one where several have it.
    #[must_use]
    pub fn least(seen: Vec<Self>) -> Option<Self> {
        seen.into_iter().reduce(|a, b| if b.error < a.error { b } else { a })
    }
}

/// What the nearest other sample gives.
#[derive(Clone, Debug, PartialEq)]
pub struct NearestLeftOut {
    /// How much better than chance the classes are predicted, 0 to 1, classes counting alike.
    pub skill: f64,
    /// Whether each label was predicted right.
    pub right: Vec<bool>,
}

/// Some labelled samples to look at: at most 500, evenly spread.
struct Seen {
    places: Vec<usize>,
    classes: Vec<usize>,
    /// Number of samples of each class.
    counts: Vec<usize>,
    /// The classes that have a sample.
    present: Vec<usize>,
}

impl Seen {
    /// `None` with fewer than two classes.
    fn new(classes: &[usize], n_classes: usize) -> Option<Self> {
        let step = classes.len().div_ceil(MAX_LABELS).max(1);
        let places: Vec<usize> = (0..classes.len()).step_by(step).collect();
        let classes: Vec<usize> = places.iter().map(|&place| classes[place]).collect();
        let mut counts = vec![0; n_classes];
        classes.iter().for_each(|&class| counts[class] += 1);
        let present: Vec<usize> = (0..n_classes).filter(|&class| counts[class] > 0).collect();
        (present.len() > 1).then_some(Self { places, classes, counts, present })
    }

    fn right(&self, guesses: &[usize]) -> Vec<bool> {
        guesses.iter().zip(&self.classes).map(|(guess, class)| guess == class).collect()
    }

    fn confusion(&self, guesses: &[usize]) -> Matrix<f64> {
        let mut confusion = Matrix::zeros(self.counts.len(), self.counts.len());
        let pairs = guesses.iter().zip(&self.classes);
        let pairs = pairs.filter(|&(_, &class)| self.counts[class] > 1);
        pairs.for_each(|(&guess, &class)| confusion.column_mut(class)[guess] += 1.0);
        confusion
    }

    /// How much better than chance these guesses are, 0 to 1, classes counting alike.
    ///
    /// As if one more label of each class had been guessed right: a class with a single label could
    /// otherwise only fail.
    fn skill(&self, guesses: &[usize]) -> f64 {
        let mut right = vec![1.0; self.counts.len()];
        let pairs = guesses.iter().zip(&self.classes).filter(|(guess, class)| guess == class);
        pairs.for_each(|(_, &class)| right[class] += 1.0);
        let shares =
            self.present.iter().map(|&class| right[class] / (self.counts[class] + 1) as f64);
        let n = self.present.len() as f64;
        ((shares.sum::<f64>() / n - 1.0 / n) / (1.0 - 1.0 / n)).clamp(0.0, 1.0)
    }
}

/// Looks at each label from the others, for each strength; empty where there is nothing to see: fewer
/// than two classes, or values that are not finite.
///
/// `codes` ($p\times N_l$) are those of the labelled samples, `classes` their classes.
#[must_use]
#[inline(never)]
pub fn left_out<T: Real>(
    codes: &Matrix<T>,
    classes: &[usize],
    n_classes: usize,
    strengths: &[f64],
) -> Vec<LeftOut> {
    let Some(seen) = Seen::new(classes, n_classes) else { return Vec::new() };
    let (own, present) = (&seen.classes, &seen.present);
    // Each class counts as much as any other, however many labels it has.
    let even = own.len() as f64 / present.len() as f64;
    let roots: Vec<f64> =
        own.iter().map(|&class| (even / seen.counts[class] as f64).sqrt()).collect();
    let known: Matrix<f64> = codes.select_columns(&seen.places).cast();
    let kernel = known.gram();
    let kernel = Matrix::from_fn(own.len(), own.len(), |i, j| {
        roots[i] * roots[j] * (kernel.column(j)[i] + 1.0)
    });
    let Some((values, vectors)) = symmetric_eigen(&kernel) else { return Vec::new() };
    let targets = Matrix::from_fn(own.len(), present.len(), |i, c| {
        if own[i] == present[c] { roots[i] } else { -roots[i] }
    });
    let turned = Matrix::of_product(vectors.transposed(), targets.view());
    let look = |&strength: &f64| {
        let inverse: Vec<f64> = values.iter().map(|v| 1.0 / (v.max(0.0) + strength)).collect();
        let scaled =
            Matrix::from_fn(values.len(), present.len(), |k, c| inverse[k] * turned.column(c)[k]);
        let dual = Matrix::of_product(vectors.view(), scaled.view());
        let mut error = 0.0;
        let mut guess = |i: usize| {
            let squares = (0..values.len()).map(|k| vectors.column(k)[i].powi(2) * inverse[k]);
            let leverage: f64 = squares.sum();
            let scores: Vec<f64> = (0..present.len())
                .map(|c| {
                    let miss = dual.column(c)[i] / leverage;
                    error += miss * miss;
                    targets.column(c)[i] - miss
                })
                .collect();
            present[best(&scores)]
        };
        let guesses: Vec<usize> = (0..own.len()).map(&mut guess).collect();
        let error = error / (own.len() * present.len()) as f64;
        let (skill, right) = (seen.skill(&guesses), seen.right(&guesses));
        LeftOut { strength, error, skill, right, confusion: seen.confusion(&guesses) }
    };
    let all: Vec<LeftOut> = strengths.iter().map(look).collect();
    let is_sound = all.iter().all(|one| one.error.is_finite());
    if is_sound { all } else { Vec::new() }
}

/// Looks at each label from the nearest other labelled sample; `None` with fewer than two classes.
///
/// `samples` ($n\times N_l$) are the labelled ones, `classes` their classes.
#[must_use]
#[inline(never)]
pub fn nearest_left_out<T: Real>(
    samples: &Matrix<T>,
    classes: &[usize],
    n_classes: usize,
) -> Option<NearestLeftOut> {
    let seen = Seen::new(classes, n_classes)?;
    let known: Matrix<f64> = samples.select_columns(&seen.places).cast();
    let gram = known.gram();
    let nearest = |i: usize| {
        // Up to ‖x_i‖², which is the same for all.
        let distance = |j: usize| gram.column(j)[j] - 2.0 * gram.column(j)[i];
        let others = (0..seen.classes.len()).filter(|&j| j != i);
        others.min_by(|&a, &b| distance(a).total_cmp(&distance(b)))
    };
    let guesses: Option<Vec<usize>> =
        (0..seen.classes.len()).map(|i| nearest(i).map(|j| seen.classes[j])).collect();
    let guesses = guesses?;
    Some(NearestLeftOut { skill: seen.skill(&guesses), right: seen.right(&guesses) })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::classifier::ridge;

    #[test]
    fn leaving_out_is_what_a_fit_to_the_others_gives() {
        let codes = Matrix::from_fn(4, 9, |k, i| ((k * 5 + i * i * 3 + i) % 7) as f64 / 3.0 - 1.0);
        let classes = [0, 1, 2, 0, 1, 2, 0, 1, 2];
        let found = left_out(&codes, &classes, 3, &[0.5, 4.0]);
        for one in found {
            let mut error = 0.0;
            for out in 0..9 {
                let rest: Vec<usize> = (0..9).filter(|&i| i != out).collect();
                let own: Vec<usize> = rest.iter().map(|&i| classes[i]).collect();
                let fitted = ridge(&codes.select_columns(&rest), &own, &[1.0; 8], 3, one.strength)
                    .expect("definite");
                let scores = fitted.scores(&codes.select_columns(&[out]));
                for c in 0..3 {
                    let target = if classes[out] == c { 1.0 } else { -1.0 };
                    error += (scores.column(0)[c] - target).powi(2) / 27.0;
                }
            }
            assert!((one.error / error - 1.0).abs() < 1e-9, "{} {error}", one.error);
        }
    }

    #[test]
    fn clear_classes_are_trusted_and_noise_is_not() {
        let clear =
            Matrix::from_fn(2, 40, |k, i| if k == i % 2 { 5.0 } else { 0.1 * i as f64 % 0.7 });
        let noise = Matrix::from_fn(2, 40, |k, i| ((i * 37 + k * 11) % 29) as f64 / 5.0);
        let classes: Vec<usize> = (0..40).map(|i| i % 2).collect();
        let skill = |codes: &Matrix<f64>| left_out(codes, &classes, 2, &[2.0])[0].skill;
        assert!(skill(&clear) > 0.95 && skill(&noise) < 0.5, "{} {}", skill(&clear), skill(&noise));
        assert!(left_out(&clear, &[0; 40], 2, &[2.0]).is_empty());
    }
}
