//! One-against-all squared hinge on active points: the classifier update.
//!
//! $$\min_{W,b}\;\sum_j\sum_kP_{kj}^re_k(W^\top a_j+b)+\rho(\lVert W\rVert^2+\lVert b\rVert^2),
//! \qquad\rho=\mu/\gamma.$$
//!
//! The second term may have another centre than zero ([`Pull`]).

use super::{Active, ActivePoints, Ballot, LinearClassifier, Shares};
use crate::codes::moments::second_moments;
use crate::matrix::{Cholesky, Matrix};
use crate::sparse::Csr;
use crate::{Error, Real, Result};

/// Relative gain of a majorise–minimise round below which further rounds are not worth their time.
const MIN_GAIN: f64 = 1e-3;

/// What holds a classifier: $\rho(\lVert W-W_0\rVert^2+\lVert b-b_0\rVert^2)$.
#[derive(Clone, Copy, Debug)]
pub struct Pull<'a, T> {
    /// ρ.
    pub rho: T,
    /// $W_0$ and $b_0$; zero where there is none.
    pub centre: Option<&'a LinearClassifier<T>>,
}

impl<T: Real> From<T> for Pull<'_, T> {
    /// Towards zero.
    fn from(rho: T) -> Self {
        Self { rho, centre: None }
    }
}

impl<T: Real> Pull<'_, T> {
    /// Its value at a classifier.
    fn value(&self, classifier: &LinearClassifier<T>) -> f64 {
        let squares = match self.centre {
            Some(centre) => classifier.squared_distance(centre),
            None => classifier.squared_norm(),
        };
        self.rho.wide() * squares
    }

    /// Adds $\rho[w_{0c};b_{0c}]$ to the columns of the right-hand sides, the first being that of class `first`.
    fn add_to(&self, targets: &mut Matrix<T>, first: usize) {
        let Some(LinearClassifier { weights, bias }) = self.centre else { return };
        for (c, column) in targets.columns_mut().enumerate() {
            let centre = weights.column(first + c).iter().chain(&bias[first + c..=first + c]);
            column.iter_mut().zip(centre).for_each(|(sum, &entry)| *sum += self.rho * entry);
        }
    }
}

/// The sums over samples that a classifier is learnt from, wherever the samples are.
pub trait Points<T: Real> {
    /// Scores of all samples by this classifier; the other methods refer to them.
    fn score(&mut self, classifier: &LinearClassifier<T>);

    /// The true loss $\sum_j\sum_kP_{kj}^re_k(s_j)$ at the current scores.
    fn loss(&self) -> f64;

    /// $\sum_jw_j\tilde a_j\tilde a_j^\top+\rho I$, $\tilde a=(a,1)$, with $w_j=\pi_j$, or for one class of
    /// the frozen quadratic $w_j=\Omega_{cj}$; `None` if the class has no active point.
    fn system(&self, class: Option<usize>, rho: T) -> Option<Matrix<T>>;

    /// Column $c$: $\sum_j\mathcal G_{cj}\tilde a_j$, of the majoriser at the current scores or, for one class,
    /// of the frozen quadratic.
    fn targets(&self, class: Option<usize>) -> Matrix<T>;
}

/// Updates the classifier for one outer iteration, at the start of which the points were active.
///
/// [`ActivePoints::Frozen`] solves the frozen quadratic exactly, one $(p+1)^2$ system per class.
/// [`ActivePoints::Majorised`] factors one system for all classes and repeats up to `rounds` cheap
/// majorise–minimise steps, each of which lowers the true loss.
///
/// # Errors
/// If a system is singular, which needs $\rho=0$ or values that are not finite.
pub fn learn<T: Real>(
    classifier: &mut LinearClassifier<T>,
    points: &mut dyn Points<T>,
    kind: ActivePoints,
    pull: Pull<'_, T>,
    rounds: usize,
) -> Result<()> {
    match kind {
        ActivePoints::Frozen => frozen(classifier, points, pull),
        ActivePoints::Majorised => majorised(classifier, points, pull, rounds),
    }
}

/// As [`learn`], on codes in memory; returns their scores.
///
/// # Errors
/// As [`learn`].
#[inline(never)]
pub fn update<T: Real>(
    classifier: &mut LinearClassifier<T>,
    codes: &Matrix<T>,
    (kind, active, shares): (ActivePoints, &Active<T>, &Shares<T>),
    pull: Pull<'_, T>,
    rounds: usize,
) -> Result<Matrix<T>> {
    let (sparse, scores) = (Csr::of_columns(codes), Matrix::zeros(0, 0));
    let mut points = InMemory { codes, sparse, active, shares, scores };
    learn(classifier, &mut points, kind, pull, rounds)?;
    Ok(points.scores)
}

/// Majorise–minimise rounds of a classifier update; later ones gain next to nothing.
pub const ROUNDS: usize = 8;

/// Fits the classifier to finished codes that were learnt without the classes: memberships and
/// classifier in turn.
///
/// # Errors
/// If a system is singular, which needs $\rho=0$ or values that are not finite.
#[inline(never)]
pub fn fit_apart<T: Real>(
    classifier: &mut LinearClassifier<T>,
    codes: &Matrix<T>,
    (ballot, assigned): (&Ballot<T>, &[Option<usize>]),
    kind: ActivePoints,
    rho: T,
) -> Result<()> {
    for _ in 0..ROUNDS {
        let scores = classifier.scores(codes);
        let shares = ballot.shares(&scores, assigned);
        let active = Active::new(kind, &scores, &shares);
        update(classifier, codes, (kind, &active, &shares), rho.into(), ROUNDS)?;
    }
    Ok(())
}

fn singular() -> Error {
    Error::Diverged { step: "classifier", iteration: 0, what: "its system is singular".into() }
}

/// $M_c\tilde w_c=q_c$ with $M_c=\sum_i\Omega_{ci}\tilde a_i\tilde a_i^\top+\rho I$,
/// $q_c=\sum_i\mathcal G_{ci}\tilde a_i$.
///
/// Paper: the closed form taken from Wang et al. keeps only unlabelled samples that are active for
/// every candidate class; that is not the minimiser of the displayed objective. This is.
fn frozen<T: Real>(
    classifier: &mut LinearClassifier<T>,
    points: &mut dyn Points<T>,
    pull: Pull<'_, T>,
) -> Result<()> {
    let p = classifier.weights.rows();
    for c in 0..classifier.bias.len() {
        // With no active point the minimiser is zero, and the class could never recover.
        let Some(system) = points.system(Some(c), pull.rho) else { continue };
        let mut solution = points.targets(Some(c));
        pull.add_to(&mut solution, c);
        Cholesky::new(&system).ok_or_else(singular)?.solve_in_place(&mut solution);
        classifier.weights.column_mut(c).copy_from_slice(&solution.column(0)[..p]);
        classifier.bias[c] = solution.column(0)[p];
    }
    points.score(classifier);
    Ok(())
}

fn majorised<T: Real>(
    classifier: &mut LinearClassifier<T>,
    points: &mut dyn Points<T>,
    pull: Pull<'_, T>,
    rounds: usize,
) -> Result<()> {
    let system = points.system(None, pull.rho).ok_or_else(singular)?;
    let factor = Cholesky::new(&system).ok_or_else(singular)?;
    points.score(classifier);
    let value = |points: &dyn Points<T>, classifier: &LinearClassifier<T>| {
        points.loss() + pull.value(classifier)
    };
    let mut before = value(points, classifier);
    for _ in 0..rounds {
        let mut solution = points.targets(None);
        pull.add_to(&mut solution, 0);
        factor.solve_in_place(&mut solution);
        let next = LinearClassifier::from_augmented(&solution);
        points.score(&next);
        let after = value(points, &next);
        if after > before {
            points.score(classifier);
            break;
        }
        *classifier = next;
        if before - after <= MIN_GAIN * before {
            break;
        }
        before = after;
    }
    Ok(())
}

/// Samples in memory.
struct InMemory<'a, T> {
    codes: &'a Matrix<T>,
    sparse: Csr<T>,
    active: &'a Active<T>,
    shares: &'a Shares<T>,
    scores: Matrix<T>,
}

impl<T: Real> Points<T> for InMemory<'_, T> {
    fn score(&mut self, classifier: &LinearClassifier<T>) {
        self.scores = classifier.scores(self.codes);
    }

    fn loss(&self) -> f64 {
        self.shares.loss(&self.scores)
    }

    fn system(&self, class: Option<usize>, rho: T) -> Option<Matrix<T>> {
        let Some(class) = class else {
            return Some(weighted_gram(&self.sparse, &self.shares.total, rho));
        };
        let weight: Vec<T> =
            (0..self.codes.columns()).map(|j| self.active.weight.of(class, j)).collect();
        let is_active = weight.iter().any(|w| *w != T::zero());
        is_active.then(|| weighted_gram(&self.sparse, &weight, rho))
    }

    fn targets(&self, class: Option<usize>) -> Matrix<T> {
        let Some(class) = class else {
            let active = Active::new(ActivePoints::Majorised, &self.scores, self.shares);
            return augmented_targets(self.codes, &active.target);
        };
        let target = &self.active.target;
        let goal = Matrix::from_fn(1, target.columns(), |_, j| target.column(j)[class]);
        augmented_targets(self.codes, &goal)
    }
}

/// $\sum_iw_i\tilde a_i\tilde a_i^\top+\rho I$, $\tilde a=[a;1]$. Cost $s_i^2/2$ per sample with $s_i$
/// nonzero coefficients.
pub(crate) fn weighted_gram<T: Real>(codes: &Csr<T>, weight: &[T], rho: T) -> Matrix<T> {
    let p = codes.columns();
    let inner = second_moments(codes, Some(weight));
    let mut sums = vec![T::zero(); p + 1];
    for (j, &weight) in weight.iter().enumerate() {
        codes.row(j).for_each(|(k, a)| sums[k] += weight * a);
        sums[p] += weight;
    }
    Matrix::from_fn(p + 1, p + 1, |i, j| {
        let value = if i < p && j < p { inner.column(j)[i] } else { sums[i.min(j)] };
        if i == j { if i == p { sums[p] + rho } else { value + rho } } else { value }
    })
}

/// Column $c$: $\sum_j\mathcal G_{cj}\tilde a_j$.
pub(crate) fn augmented_targets<T: Real>(codes: &Matrix<T>, target: &Matrix<T>) -> Matrix<T> {
    let p = codes.rows();
    // In this order the result is wide, and its panels keep several threads busy.
    let product = Matrix::of_product(target.view(), codes.transposed());
    let sums: Vec<T> = (0..target.rows())
        .map(|c| (0..target.columns()).map(|j| target.column(j)[c]).sum())
        .collect();
    Matrix::from_fn(p + 1, target.rows(), |k, c| if k < p { product.column(k)[c] } else { sums[c] })
}
