//! Probabilities that mean what they say: of predictions with 0.8, four of five are right.
//!
//! $$p_k=(1-\varepsilon)\frac{e^{tz_k}}{\sum_ce^{tz_c}}+\frac{\varepsilon}{C},$$
//!
//! with $z$ the scores, or the logarithms of votes. The slope $t$ and the floor ε are fitted to samples
//! whose labels were hidden from the fit that scored them; the most likely class never changes.
//!
//! $$\min_{t,\varepsilon}\ -\sum_{i\text{ hidden}}\log p_{y_i}(x_i)
//! +\frac{(\log t-\log t_0)^2}{2\sigma^2}.$$
//!
//! A dozen hidden labels that are all predicted right would fit any steep slope, and a few that are not none at
//! all; scores in units of their spread, though, deserve much the same slope on any data, which is what
//! the second term says. With many labels it counts for nothing.
//!
//! Unlabelled samples say something, too. Classifiers that saw different labels agree on about as many
//! of them as they get right, so the mean highest probability $\bar p$ on unlabelled samples is drawn to
//! that agreement $a$ by a third term, $(\operatorname{logit}\bar p-\operatorname{logit}a)^2/2\tau^2$.

use serde::{Deserialize, Serialize};

use super::{Decision, Verdict};
use crate::{Matrix, Real};

/// Votes below this count as this: their logarithm would have no bound.
const LEAST_VOTE: f64 = 1e-3;
/// Slopes that are tried: each a quarter larger than the one before.
const SLOPES: usize = 40;
const FIRST_SLOPE: f64 = 0.05;
const STEP: f64 = 1.25;
/// Probability of the best class of a typical sample, before labels say otherwise.
const TYPICAL: f64 = 0.93;
/// Floors that are tried, beside the one that the number of hidden labels supports.
const FLOORS: [f64; 5] = [0.01, 0.02, 0.05, 0.1, 0.2];
/// The floor where no label could be hidden, so that nothing is known about mistakes.
const UNKNOWN: f64 = 0.05;
/// τ: how far the log-odds of a right prediction are from those of agreement, on data that were made up.
const AGREEMENT_DEVIATION: f64 = 0.35;
/// Agreement that is no better than chance still counts as this much better.
const ABOVE_CHANCE: f64 = 0.02;

/// What is expected of a slope before any label is hidden: its logarithm is normal around
/// $\log t_0$ with deviation σ.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Expected {
    slope: f64,
    deviation: f64,
}

impl Expected {
    /// For scores in units of their spread: a typical sample, whose best score is one spread above the
    /// mean and whose other scores are alike, belongs to the best class with 0.93,
    /// $t_0=\frac{C-1}C\log\frac{0.93\,(C-1)}{0.07}$.
    #[must_use]
    pub fn of_scores(n_classes: usize) -> Self {
        let others = (n_classes as f64 - 1.0).max(1.0);
        let odds = TYPICAL / (1.0 - TYPICAL) * others;
        Self { slope: others / (others + 1.0) * odds.ln(), deviation: 0.65 }
    }

    /// For logarithms of a mean of calibrated probabilities, which is less sure than it could be.
    #[must_use]
    pub fn of_means() -> Self {
        Self { slope: 1.7, deviation: 0.3 }
    }

    /// How unexpected a slope is: $(\log t-\log t_0)^2/2\sigma^2$.
    fn surprise(&self, slope: f64) -> f64 {
        ((slope / self.slope).ln() / self.deviation).powi(2) / 2.0
    }
}

/// Unlabelled samples as a decision sees them, and how many of them it gets right by all that is known
/// without their labels.
#[derive(Clone, Debug, PartialEq)]
pub struct Unlabelled {
    /// The logits to calibrate, $C\times M$.
    pub logits: Matrix<f64>,
    /// $a$: the share on which fits with different labels agree.
    pub agreement: f64,
}

impl Unlabelled {
    /// For fits that saw different labels, the class that each gives to the same samples: the mean share of
    /// samples on which two of them agree. `None` without samples or with fewer than two fits.
    ///
    /// Its expectation is the accuracy where the fits together are calibrated (Jiang, Nagarajan, Baek,
    /// Kolter, 2022).
    #[must_use]
    pub fn agreement(classes: &[Vec<usize>]) -> Option<f64> {
        let n = classes.first().map_or(0, Vec::len);
        let same = |a: &[usize], b: &[usize]| a.iter().zip(b).filter(|(a, b)| a == b).count();
        let pairs: Vec<usize> = (0..classes.len())
            .flat_map(|i| (0..i).map(move |j| same(&classes[i], &classes[j])))
            .collect();
        let all = pairs.len() * n;
        (all > 0).then(|| pairs.iter().sum::<usize>() as f64 / all as f64)
    }

    /// How unexpected it is that the highest probability is `mean` on average, with this much room below
    /// one.
    fn surprise(&self, mean: f64, room: f64) -> f64 {
        let chance = 1.0 / self.logits.rows() as f64;
        let odds = |p: f64| (p / (1.0 - p)).ln();
        let agreement = self.agreement.clamp(chance + ABOVE_CHANCE, 1.0 - room);
        let mean = mean.clamp(chance, 1.0 - 1e-6);
        ((odds(mean) - odds(agreement)) / AGREEMENT_DEVIATION).powi(2) / 2.0
    }

    /// The mean of the highest softmax with this slope.
    fn mean_top(&self, slope: f64) -> f64 {
        let top = |z: &[f64]| {
            let top = z.iter().copied().fold(f64::NEG_INFINITY, f64::max);
            1.0 / z.iter().map(|z| (slope * (z - top)).exp()).sum::<f64>()
        };
        self.logits.iter_columns().map(top).sum::<f64>() / self.logits.columns() as f64
    }
}

/// How scores become probabilities.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Calibration {
    /// $t$; `None` keeps the probabilities of the decision above the floor.
    pub slope: Option<f64>,
    /// ε: shared by all classes alike, so no probability is 0 or 1.
    pub floor: f64,
    /// Labels that were hidden to find both.
    pub n_hidden: usize,
}

impl Calibration {
    /// Where no label could be hidden.
    #[must_use]
    pub fn unknown() -> Self {
        Self { slope: None, floor: UNKNOWN, n_hidden: 0 }
    }

    /// The slope and the floor with the least log-loss on hidden labels, near the slope that is
    /// `expected`: `logits` is $C\times M$, `truth` the class of each column. Cost: about 250 passes
    /// over the logits.
    #[must_use]
    #[inline(never)]
    pub fn fit(logits: &Matrix<f64>, truth: &[usize], expected: Expected) -> Self {
        Self::fit_beside(logits, truth, expected, None)
    }

    /// The same with a look at unlabelled samples. Cost: 40 passes over theirs besides.
    #[must_use]
    #[inline(never)]
    pub fn fit_beside(
        logits: &Matrix<f64>,
        truth: &[usize],
        expected: Expected,
        open: Option<&Unlabelled>,
    ) -> Self {
        let n = truth.len();
        let open = open.filter(|open| open.logits.columns() > 0);
        if n == 0 || logits.rows() < 2 {
            return Self::unknown();
        }
        // A few labels that are all predicted right do not prove certainty.
        let least = 1.0 / (2.0 * (n as f64 + 1.0));
        let mut best = (f64::INFINITY, Self::unknown());
        let mut p = vec![0.0; logits.rows()];
        let slopes = (0..SLOPES).map(|at| FIRST_SLOPE * STEP.powi(at as i32));
        for slope in slopes {
            let top = open.map(|open| (open, open.mean_top(slope)));
            for floor in [least].into_iter().chain(FLOORS.into_iter().filter(|&f| f > least)) {
                let calibration = Self { slope: Some(slope), floor, n_hidden: n };
                let mut loss = expected.surprise(slope);
                if let Some((open, top)) = top {
                    let mean = (1.0 - floor) * top + floor / logits.rows() as f64;
                    loss += open.surprise(mean, least);
                }
                for (j, &class) in truth.iter().enumerate() {
                    calibration.of_logits(logits.column(j), &mut p);
                    loss -= p[class].ln();
                }
                if loss < best.0 {
                    best = (loss, calibration);
                }
            }
        }
        best.1
    }

    /// The logits of a verdict of this decision.
    #[must_use]
    pub fn logits<T: Real>(decision: &Decision<T>, verdict: &Verdict<T>) -> Matrix<f64> {
        Self::logits_of(decision.gives_shares(), verdict)
    }

    fn logits_of<T: Real>(votes: bool, verdict: &Verdict<T>) -> Matrix<f64> {
        let mut logits: Matrix<f64> = verdict.scores.cast();
        if votes {
            logits.as_mut_slice().iter_mut().for_each(|vote| *vote = vote.max(LEAST_VOTE).ln());
        }
        logits
    }

    /// How far the best logit is above the mean of a sample's logits, on average. Fits with other labels
    /// may choose another ridge, so their scores compare only as multiples of it.
    #[must_use]
    pub fn spread(logits: &Matrix<f64>) -> f64 {
        let of_sample = |z: &[f64]| {
            let top = z.iter().copied().fold(f64::NEG_INFINITY, f64::max);
            top - z.iter().sum::<f64>() / z.len() as f64
        };
        let sum: f64 = logits.iter_columns().map(of_sample).sum();
        let mean = sum / logits.columns().max(1) as f64;
        if mean.is_finite() && mean > 1e-12 { mean } else { 1.0 }
    }

    /// For logits that are `spread` times as large as those it was fitted to.
    #[must_use]
    pub fn stretched(self, spread: f64) -> Self {
        Self { slope: self.slope.map(|slope| slope / spread), ..self }
    }

    /// Replaces the probabilities of a verdict; the highest stays where the highest score is.
    pub fn apply<T: Real>(&self, decision: &Decision<T>, verdict: &mut Verdict<T>) {
        self.apply_to(decision.gives_shares(), verdict);
    }

    /// The same for scores that are `votes`, or not.
    pub(super) fn apply_to<T: Real>(&self, votes: bool, verdict: &mut Verdict<T>) {
        if verdict.scores.rows() < 2 {
            return;
        }
        let raw = match self.slope {
            Some(_) => Self::logits_of(votes, verdict),
            None => verdict.probabilities.cast(),
        };
        let mut p = vec![0.0; raw.rows()];
        for j in 0..raw.columns() {
            match self.slope {
                Some(_) => self.of_logits(raw.column(j), &mut p),
                None => self.lift(raw.column(j), &mut p),
            }
            let column = verdict.probabilities.column_mut(j).iter_mut();
            column.zip(&p).for_each(|(out, &p)| *out = T::of(p));
        }
    }

    /// The probabilities of these logits.
    pub(crate) fn of_logits(&self, logits: &[f64], p: &mut [f64]) {
        let slope = self.slope.unwrap_or(1.0);
        let top = logits.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        p.iter_mut().zip(logits).for_each(|(p, z)| *p = (slope * (z - top)).exp());
        let sum: f64 = p.iter().sum();
        p.iter_mut().for_each(|p| *p /= sum);
        let raw = p.to_vec();
        self.lift(&raw, p);
    }

    fn lift(&self, raw: &[f64], p: &mut [f64]) {
        let share = self.floor / raw.len() as f64;
        p.iter_mut().zip(raw).for_each(|(p, raw)| *p = (1.0 - self.floor) * raw + share);
    }

    /// Whether its numbers are those of a fit; files are not trusted.
    #[must_use]
    pub(crate) fn is_sound(&self) -> bool {
        let slope = self.slope.is_none_or(|slope| slope.is_finite() && slope > 0.0);
        slope && self.floor > 0.0 && self.floor < 1.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Two classes; the score of the first is right with the probability that its logit says.
    fn honest(n: usize, stretch: f64) -> (Matrix<f64>, Vec<usize>) {
        let logit = |j: usize| 4.0 * ((j * 7919) % n) as f64 / n as f64 - 2.0;
        let logits = Matrix::from_fn(2, n, |c, j| if c == 0 { stretch * logit(j) } else { 0.0 });
        let truth = (0..n)
            .map(|j| {
                let p = 1.0 / (1.0 + (-logit(j)).exp());
                usize::from(((j * 104_729) % n) as f64 / n as f64 >= p)
            })
            .collect();
        (logits, truth)
    }

    #[test]
    fn a_stretch_of_the_scores_is_undone() {
        for stretch in [0.2, 1.0, 8.0] {
            let (logits, truth) = honest(2003, stretch);
            let found = Calibration::fit(&logits, &truth, Expected::of_scores(2));
            assert!(found.is_sound());
            for logit in [-1.5f64, -0.5, 1.0, 1.8] {
                let mut p = [0.0; 2];
                found.of_logits(&[stretch * logit, 0.0], &mut p);
                let truth = 1.0 / (1.0 + (-logit).exp());
                assert!((p[0] - truth).abs() < 0.05, "{} for {truth}", p[0]);
            }
        }
    }

    #[test]
    fn few_labels_never_make_certain_and_none_leave_a_floor() {
        let logits = Matrix::from_fn(3, 6, |c, j| if c == j % 3 { 9.0 } else { -9.0 });
        let found = Calibration::fit(&logits, &[0, 1, 2, 0, 1, 2], Expected::of_scores(3));
        let mut p = vec![0.0; 3];
        found.of_logits(&[1e6, -1e6, 0.0], &mut p);
        assert!(p[0] < 0.97 && p[1] > 0.005, "{p:?}");
        assert!((p.iter().sum::<f64>() - 1.0).abs() < 1e-12);
        let none = Calibration::fit(&Matrix::zeros(3, 0), &[], Expected::of_scores(3));
        assert_eq!(none, Calibration::unknown());
    }

    #[test]
    fn a_typical_sample_is_expected_to_be_right_with_the_same_probability_for_any_classes() {
        for n_classes in [2usize, 3, 10, 100] {
            let slope = Some(Expected::of_scores(n_classes).slope);
            let plain = Calibration { slope, floor: 1e-12, n_hidden: 1 };
            // The best score is one above the mean of all.
            let others = -1.0 / (n_classes as f64 - 1.0);
            let mut z = vec![others; n_classes];
            z[0] = 1.0;
            let mut p = vec![0.0; n_classes];
            plain.of_logits(&z, &mut p);
            assert!((p[0] - TYPICAL).abs() < 1e-9, "{n_classes} classes: {}", p[0]);
        }
    }

    #[test]
    fn a_few_labels_move_the_slope_a_little_and_many_decide_it() {
        let expected = Expected::of_scores(2);
        let slope = |n: usize, right: bool| {
            let logits =
                Matrix::from_fn(2, n, |c, j| if (c == j % 2) == right { 1.0 } else { -1.0 });
            let truth: Vec<usize> = (0..n).map(|j| j % 2).collect();
            Calibration::fit(&logits, &truth, expected).slope.expect("fitted")
        };
        // All right, or none: six labels leave both within reach of what is expected.
        assert!(slope(6, true) < 3.0 * expected.slope && slope(6, true) >= 0.8 * expected.slope);
        assert!(slope(6, false) < expected.slope);
        assert!(slope(600, false) < 0.5 * slope(6, false));
        assert!(slope(600, true) > slope(6, true));
    }

    /// As many samples of each class, all with the same margin.
    fn open(agreement: f64, n: usize) -> Unlabelled {
        let logits = Matrix::from_fn(2, n, |c, j| if c == j % 2 { 1.0 } else { -1.0 });
        Unlabelled { logits, agreement }
    }

    #[test]
    fn agreement_is_the_share_of_samples_that_two_fits_see_alike() {
        let fits = [vec![0, 0, 1, 1], vec![0, 0, 1, 0], vec![1, 0, 1, 1]];
        let by_hand = (0.75 + 0.75 + 0.5) / 3.0;
        let found = Unlabelled::agreement(&fits).expect("three fits");
        assert!((found - by_hand).abs() < 1e-12, "{found}");
        assert_eq!(Unlabelled::agreement(&fits[..1]), None);
        assert_eq!(Unlabelled::agreement(&[Vec::new(), Vec::new()]), None);
    }

    #[test]
    fn probabilities_of_unlabelled_samples_are_drawn_to_the_agreement() {
        // Six labels, five of them right.
        let logits = Matrix::from_fn(2, 6, |c, j| if c == j % 2 { 1.0 } else { -1.0 });
        let truth = [0, 1, 0, 1, 0, 0];
        let top = |open: Option<&Unlabelled>, n: usize| {
            let many: Vec<usize> = (0..n).flat_map(|_| truth).collect();
            let logits = Matrix::from_fn(2, many.len(), |c, j| logits.column(j % 6)[c]);
            let expected = Expected::of_scores(2);
            let found = Calibration::fit_beside(&logits, &many, expected, open);
            let mut p = [0.0; 2];
            found.of_logits(&[1.0, -1.0], &mut p);
            p[0]
        };
        let (alone, low, high) =
            (top(None, 1), top(Some(&open(0.6, 40)), 1), top(Some(&open(1.0, 40)), 1));
        assert!(low + 0.05 < alone && alone < high, "{low} {alone} {high}");
        // The number of unlabelled samples is not what makes them count; that of the labels is.
        assert_eq!(low, top(Some(&open(0.6, 400)), 1));
        assert_eq!(alone, top(Some(&open(0.6, 0)), 1));
        let (alone, low) = (top(None, 200), top(Some(&open(0.6, 40)), 200));
        assert!((alone - low).abs() < 0.03, "{alone} {low}");
    }
}
