//! Class shares of unlabelled samples: the votes of a classifier, corrected by how it errs on labels that it has
//! not seen.
//!
//! With $m_{kc}$ the probability that a sample of class $c$ is taken for class $k$, votes come in the shares
//! $q=M\pi$ (black-box shift estimation, Lipton, Wang and Smola 2018). A few labels per class hardly tell $M$, and
//! $M^{-1}q$ would be mostly noise. So what is known is weighed by how uncertain it is: $q=M\pi+\varepsilon$ with the
//! covariance that $M$ from $n_c$ labels and $q$ from $N_u$ votes have, and $\pi$ is expected to be even, or uneven
//! to a degree that the votes themselves tell. The shares are the mean of what is then likely.

use crate::matrix::{Matrix, inner, symmetric_eigen};

/// Labels whose worth the errors of all classes together have when those of one class are judged.
const POOLED: f64 = 10.0;
/// Labels that are presumed to be predicted right beside those that were: errors are believed as far as labels prove them.
const PRESUMED: f64 = 20.0;
/// How many of these make the errors of a class as certain as labels of its own would: classes differ.
const CERTAIN: f64 = 5.0;
/// Degrees of unevenness that are weighed: the spread of the shares is up to as large as an even share.
const DEGREES: usize = 20;
/// How likely even shares are beside all degrees together.
const EVEN: f64 = 0.25;
/// The smallest share, as a part of an even one.
const LEAST: f64 = 0.05;
/// Labels chosen class by class do not differ so much in number.
const SEVERAL: f64 = 4.0;
/// Deviations that chance hardly ever reaches.
const FAR: f64 = 4.0;
/// Deviations from which errors are beyond doubt, and what then is left of [`POOLED`] and [`PRESUMED`].
const BEYOND_DOUBT: f64 = 3.0;
const LITTLE: f64 = 0.2;
/// Deviations from which errors are no chance.
const PROVEN: f64 = 2.0;
/// The covariance depends on the shares; after so many rounds both hardly change.
const ROUNDS: usize = 3;

/// The share of each class that these votes speak for. `confusion` ($C\times C$) counts the labels of each class
/// (column) that were taken for each class (row); classes without a label (`counts`) have no share.
///
/// Cost: $O(C^3)$.
pub(super) fn recounted(votes: &[f64], confusion: &Matrix<f64>, counts: &[usize]) -> Vec<f64> {
    let present: Vec<usize> = (0..counts.len()).filter(|&class| counts[class] > 0).collect();
    let even = 1.0 / present.len() as f64;
    let mut shares = vec![even; present.len()];
    if let Some(recount) = Recount::new(votes, confusion, &present) {
        for _ in 0..ROUNDS {
            shares = recount.likely(&shares).unwrap_or(shares);
        }
    }
    of_all_classes(&shares, &present, counts.len())
}

/// Shares of the classes that are present, with nothing for the others.
fn of_all_classes(shares: &[f64], present: &[usize], n_classes: usize) -> Vec<f64> {
    let mut all = vec![0.0; n_classes];
    present.iter().zip(shares).for_each(|(&class, &share)| all[class] = share);
    all
}

/// How far labels prove that errors favour a class: by how many deviations of what a fair coin would do it gains more
/// labels of others than it loses to them, or fewer (McNemar 1947); the most of any class. A class that lies between others
/// loses all of its votes to them, and plain counts of votes would take it for rare.
fn favour(confusion: &Matrix<f64>) -> f64 {
    let gained = |class: usize| confusion.iter_columns().map(|column| column[class]).sum::<f64>();
    let lost = |class: usize| confusion.column(class).iter().sum::<f64>();
    let of_class = |class: usize| {
        let kept = confusion.column(class)[class];
        let (gained, lost) = (gained(class) - kept, lost(class) - kept);
        (gained - lost).abs() / (gained + lost).max(1.0).sqrt()
    };
    (0..confusion.rows()).map(of_class).fold(0.0, f64::max)
}

/// Whether votes should be recounted: labels prove that errors favour a class.
pub(super) fn favours(confusion: &Matrix<f64>) -> bool {
    favour(confusion) >= PROVEN
}

/// The shares of the labels themselves, where nobody can have chosen them class by class: one class has several times
/// the labels of another, by more than chance, and the votes do not speak against it. `None` elsewhere.
pub(super) fn as_drawn(
    votes: &[f64],
    confusion: &Matrix<f64>,
    counts: &[usize],
) -> Option<Vec<f64>> {
    let present: Vec<usize> = (0..counts.len()).filter(|&class| counts[class] > 0).collect();
    let (n, all) = (present.len() as f64, counts.iter().sum::<usize>() as f64);
    let labels: Vec<f64> = present.iter().map(|&class| counts[class] as f64).collect();
    let most = labels.iter().copied().fold(0.0, f64::max);
    let least = labels.iter().copied().fold(f64::INFINITY, f64::min);
    let uneven: f64 = labels.iter().map(|count| (count - all / n).powi(2) / (all / n)).sum();
    if most < SEVERAL * least || uneven <= far(n - 1.0) {
        return None;
    }
    // One more of each: a class with few labels is not expected to be as rare as they say.
    let shares: Vec<f64> = labels.iter().map(|count| (count + 1.0) / (all + n)).collect();
    let distance = Recount::new(votes, confusion, &present)?.distance(&shares, all)?;
    (distance <= far(n - 1.0)).then(|| of_all_classes(&shares, &present, counts.len()))
}

/// What a sum of so many squared deviations hardly ever exceeds by chance.
fn far(degrees: f64) -> f64 {
    degrees + FAR * (2.0 * degrees).sqrt()
}

/// Votes and errors among the classes that have a label.
struct Recount {
    /// $q$.
    votes: Vec<f64>,
    /// $N_u$.
    n_votes: f64,
    /// $M$.
    taken: Matrix<f64>,
    /// The number of labels that each column of $M$ is worth.
    worth: Vec<f64>,
}

impl Recount {
    /// `None` where there are no votes, a single class, or no label that was predicted right.
    fn new(votes: &[f64], confusion: &Matrix<f64>, present: &[usize]) -> Option<Self> {
        let n = present.len();
        let n_votes: f64 = present.iter().map(|&class| votes[class]).sum();
        let seen: Vec<f64> =
            present.iter().map(|&class| confusion.column(class).iter().sum()).collect();
        let all: f64 = seen.iter().sum();
        if n < 2 || n_votes < 1.0 || all < 1.0 {
            return None;
        }
        // Where labels prove that classes differ, each is judged by its own.
        let doubt = if favour(confusion) >= BEYOND_DOUBT { LITTLE } else { 1.0 };
        let (pooled, presumed) = (doubt * POOLED, doubt * PRESUMED);
        let right: f64 = present.iter().map(|&class| confusion.column(class)[class]).sum();
        // One more that was not: no classifier is without errors. Worse than chance is chance.
        let right = ((right + presumed) / (all + presumed + 1.0)).max(1.0 / n as f64);
        let wrong = (1.0 - right) / (n - 1) as f64;
        let taken = Matrix::from_fn(n, n, |k, c| {
            let expected = pooled * if k == c { right } else { wrong };
            (confusion.column(present[c])[present[k]] + expected) / (seen[c] + pooled)
        });
        let votes = present.iter().map(|&class| votes[class] / n_votes).collect();
        let worth = seen.iter().map(|seen| seen + CERTAIN).collect();
        Some(Self { votes, n_votes, taken, worth })
    }

    /// The mean of the likely shares, where errors are as uncertain as they are with the given ones.
    fn likely(&self, shares: &[f64]) -> Option<Vec<f64>> {
        let n = shares.len();
        let even = 1.0 / n as f64;
        let (values, vectors) = symmetric_eigen(&self.covariance(shares))?;
        let whiten = Matrix::from_fn(n, n, |i, k| {
            vectors.column(i)[k] / values[i].max(f64::MIN_POSITIVE).sqrt()
        });
        // What even shares leave to explain, and what a change of the shares, which sums to zero, explains.
        let means: Vec<f64> = (0..n)
            .map(|k| self.taken.iter_columns().map(|column| column[k]).sum::<f64>() * even)
            .collect();
        let moved = Matrix::from_fn(n, n, |k, c| self.taken.column(c)[k] - means[k]);
        let open = Matrix::from_fn(n, 1, |k, _| self.votes[k] - means[k]);
        let moved = Matrix::of_product(whiten.view(), moved.view());
        let open = Matrix::of_product(whiten.view(), open.view());
        let (gains, turn) = symmetric_eigen(&Matrix::of_product(moved.view(), moved.transposed()))?;
        let open = Matrix::of_product(turn.transposed(), open.view());
        let factors = mean_factors(&gains, open.column(0), even);
        let scaled = Matrix::from_fn(n, 1, |i, _| factors[i] * open.column(0)[i]);
        let back = Matrix::of_product(turn.view(), scaled.view());
        let raw: Vec<f64> = moved
            .iter_columns()
            .map(|column| (even + inner(column, back.column(0))).max(LEAST * even))
            .collect();
        let sum: f64 = raw.iter().sum();
        sum.is_finite().then(|| raw.into_iter().map(|share| share / sum).collect())
    }

    /// How far the votes are from those expected with these shares, which come from so many labels: the sum of squared
    /// deviations.
    fn distance(&self, shares: &[f64], n_labels: f64) -> Option<f64> {
        let n = shares.len();
        let spread = Matrix::from_fn(n, n, |k, c| {
            let own = if k == c { shares[k] } else { 0.0 };
            (own - shares[k] * shares[c]) / n_labels
        });
        let through = Matrix::of_product(self.taken.view(), spread.view());
        let through = Matrix::of_product(through.view(), self.taken.transposed());
        let mut covariance = self.covariance(shares);
        let pairs = covariance.as_mut_slice().iter_mut().zip(through.as_slice());
        pairs.for_each(|(entry, more)| *entry += more);
        let (values, vectors) = symmetric_eigen(&covariance)?;
        let gap: Vec<f64> = (0..n)
            .map(|k| {
                self.votes[k] - (0..n).map(|c| self.taken.column(c)[k] * shares[c]).sum::<f64>()
            })
            .collect();
        let squares = values.iter().enumerate().map(|(i, value)| {
            inner(vectors.column(i), &gap).powi(2) / value.max(f64::MIN_POSITIVE)
        });
        Some(squares.sum())
    }

    /// The covariance of $q-M\pi$: both are counted, $M$ with few labels.
    fn covariance(&self, shares: &[f64]) -> Matrix<f64> {
        let n = shares.len();
        let of_class: Vec<f64> =
            shares.iter().zip(&self.worth).map(|(share, worth)| share * share / worth).collect();
        let scaled = Matrix::from_fn(n, n, |k, c| of_class[c] * self.taken.column(c)[k]);
        let together = Matrix::of_product(scaled.view(), self.taken.transposed());
        let alone: Vec<f64> =
            (0..n).map(|k| scaled.iter_columns().map(|column| column[k]).sum::<f64>()).collect();
        let mut covariance = Matrix::from_fn(n, n, |k, l| {
            let (own, q) = if k == l { (alone[k], self.votes[k]) } else { (0.0, 0.0) };
            own - together.column(l)[k] + (q - self.votes[k] * self.votes[l]) / self.n_votes
        });
        // Shares sum to one, so it is singular in that one direction, in which nothing else happens either.
        let typical = (0..n).map(|k| covariance.column(k)[k]).sum::<f64>() / n as f64;
        covariance.as_mut_slice().iter_mut().for_each(|entry| *entry += typical / n as f64);
        covariance
    }
}

/// For each direction the factor $t^2/(1+t^2s_i)$ that takes what is open in it to the change of the shares, in the
/// mean over the degrees of unevenness $t$, each as likely as it makes what is open.
fn mean_factors(gains: &[f64], open: &[f64], even: f64) -> Vec<f64> {
    let squares: Vec<f64> =
        (0..=DEGREES).map(|at| (even * at as f64 / DEGREES as f64).powi(2)).collect();
    let spread = |square: f64, gain: f64| 1.0 + square * gain.max(0.0);
    let logs: Vec<f64> = squares
        .iter()
        .map(|&square| {
            let of_one = |(&gain, &open): (&f64, &f64)| {
                let spread = spread(square, gain);
                -0.5 * (spread.ln() + open * open / spread)
            };
            gains.iter().zip(open).map(of_one).sum()
        })
        .collect();
    let most = logs.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let expected = |at: usize| if at == 0 { EVEN * DEGREES as f64 } else { 1.0 };
    let weights: Vec<f64> =
        logs.iter().enumerate().map(|(at, log)| expected(at) * (log - most).exp()).collect();
    let sum: f64 = weights.iter().sum();
    let of_gain = |&gain: &f64| {
        let terms = squares.iter().zip(&weights);
        terms.map(|(&square, weight)| weight / sum * square / spread(square, gain)).sum()
    };
    gains.iter().map(of_gain).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Of each class, `n` labels of which `right` were predicted right; the others went to the next class.
    fn confusion(n_classes: usize, n: f64, right: f64) -> Matrix<f64> {
        Matrix::from_fn(n_classes, n_classes, |k, c| match (k + n_classes - c) % n_classes {
            0 => right,
            1 => n - right,
            _ => 0.0,
        })
    }

    #[test]
    fn many_labels_undo_the_errors() {
        // Shares 0.8 and 0.2, with 80 and 90 per cent right, give 66 votes of 100.
        let taken = Matrix::from_fn(2, 2, |k, c| [[160.0, 40.0], [20.0, 180.0]][c][k]);
        let shares = recounted(&[6600.0, 3400.0], &taken, &[200, 200]);
        assert!((shares[0] - 0.8).abs() < 0.02, "{shares:?}");
        let shares = recounted(&[660.0, 340.0], &confusion(2, 5.0, 4.0), &[5, 5]);
        assert!(shares[0] > 0.55 && shares[0] < 0.7, "few labels prove less: {shares:?}");
    }

    #[test]
    fn a_class_that_loses_its_labels_to_others_is_found_out() {
        let between = Matrix::from_fn(3, 3, |k, c| {
            [[20.0, 0.0, 0.0], [9.0, 2.0, 9.0], [0.0, 0.0, 20.0]][c][k]
        });
        assert!(favours(&between));
        let shares = recounted(&[500.0, 30.0, 470.0], &between, &[20; 3]);
        assert!(shares[1] > 0.15, "{shares:?}");
        // Errors both ways, or one alone, prove nothing.
        assert!(!favours(&confusion(3, 20.0, 12.0)));
        let one = Matrix::from_fn(2, 2, |k, c| [[5.0, 0.0], [1.0, 4.0]][c][k]);
        assert!(!favours(&one) && !favours(&Matrix::zeros(2, 2)));
    }

    #[test]
    fn labels_drawn_from_all_samples_stand_for_them_unless_votes_say_no() {
        let taken = Matrix::from_fn(2, 2, |k, c| [[50.0, 7.0], [1.0, 2.0]][c][k]);
        let drawn = as_drawn(&[850.0, 150.0], &taken, &[57, 3]).expect("19 to 1, and votes agree");
        assert!((drawn[0] - 58.0 / 62.0).abs() < 1e-12, "{drawn:?}");
        let sure = Matrix::from_fn(2, 2, |k, c| [[98.0, 2.0], [0.0, 10.0]][c][k]);
        assert_eq!(as_drawn(&[500.0, 500.0], &sure, &[100, 10]), None, "votes contradict");
        assert_eq!(as_drawn(&[670.0, 330.0], &confusion(2, 20.0, 18.0), &[20, 10]), None);
        // Six labels a class, by lot: what chance makes uneven is even.
        let counts = [10, 2, 6, 5, 8, 4, 7, 6, 9, 3];
        assert_eq!(as_drawn(&[100.0; 10], &confusion(10, 6.0, 4.0), &counts), None);
    }

    #[test]
    fn what_errors_explain_is_even() {
        for n_classes in [2, 3, 10] {
            let even = 1.0 / n_classes as f64;
            let counts = vec![5; n_classes];
            let mut votes = vec![1000.0; n_classes];
            let shares = recounted(&votes, &confusion(n_classes, 5.0, 3.0), &counts);
            assert!(shares.iter().all(|share| (share - even).abs() < 1e-9), "{shares:?}");
            votes[0] = 1200.0;
            let shares = recounted(&votes, &confusion(n_classes, 5.0, 3.0), &counts);
            let most = (1200.0 / (1200.0 + 1000.0 * (n_classes - 1) as f64) - even).abs();
            assert!(shares.iter().all(|share| (share - even).abs() < 0.7 * most), "{shares:?}");
        }
        // A single label of each class cannot be predicted, so nothing is known of the errors.
        let shares = recounted(&[90.0, 10.0], &Matrix::zeros(2, 2), &[1, 1]);
        assert_eq!(shares, [0.5, 0.5]);
    }

    #[test]
    fn the_order_of_classes_does_not_matter_and_absent_ones_have_no_share() {
        let taken = Matrix::from_fn(3, 3, |k, c| {
            [[9.0, 1.0, 0.0], [2.0, 7.0, 1.0], [0.0, 4.0, 16.0]][c][k]
        });
        let shares = recounted(&[500.0, 200.0, 300.0], &taken, &[10, 10, 20]);
        assert!((shares.iter().sum::<f64>() - 1.0).abs() < 1e-12, "{shares:?}");
        // The first class becomes the last, and one without labels comes first.
        let place = |class: usize| (class + 2) % 3 + 1;
        let mut turned = Matrix::zeros(4, 4);
        for c in 0..3 {
            (0..3).for_each(|k| turned.column_mut(place(c))[place(k)] = taken.column(c)[k]);
        }
        let again = recounted(&[0.0, 200.0, 300.0, 500.0], &turned, &[0, 10, 20, 10]);
        assert_eq!(again[0], 0.0);
        for (class, share) in shares.iter().enumerate() {
            assert!((again[place(class)] - share).abs() < 1e-9, "{again:?} {shares:?}");
        }
    }
}
