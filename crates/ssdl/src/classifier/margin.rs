//! One-against-all squared hinge on active points: the classifier update.
//!
//! $$\min_{W,b}\;\sum_j\sum_kP_{kj}^re_k(W^\top a_j+b)+\rho(\lVert W\rVert^2+\lVert b\rVert^2),
//! \qquad\rho=\mu/\gamma.$$

use super::{Active, ActivePoints, Ballot, LinearClassifier, Shares};
use crate::codes::moments::second_moments;
use crate::matrix::{Cholesky, Matrix};
use crate::sparse::Csr;
use crate::{Error, Real, Result};

/// Relative gain of a majorise–minimise round below which further rounds are not worth their time.
const MIN_GAIN: f64 = 1e-3;

/// Updates the classifier for one outer iteration; `active` was built at its start.
///
/// [`ActivePoints::Frozen`] solves the frozen quadratic exactly, one $(p+1)^2$ system per class.
/// [`ActivePoints::Majorised`] factors one system for all classes and repeats up to `rounds` cheap
/// majorise–minimise steps, each of which lowers the true loss.
///
/// # Errors
/// If a system is singular, which needs $\rho=0$ or values that are not finite.
#[inline(never)]
pub fn update<T: Real>(
    classifier: &mut LinearClassifier<T>,
    codes: &Matrix<T>,
    (kind, active, shares): (ActivePoints, &Active<T>, &Shares<T>),
    rho: T,
    rounds: usize,
) -> Result<()> {
    match kind {
        ActivePoints::Frozen => frozen(classifier, codes, active, rho),
        ActivePoints::Majorised => majorised(classifier, codes, shares, rho, rounds),
    }
}

/// Majorise–minimise rounds of a classifier update; later ones gain next to nothing.
pub(crate) const ROUNDS: usize = 8;

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
        update(classifier, codes, (kind, &active, &shares), rho, ROUNDS)?;
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
    codes: &Matrix<T>,
    active: &Active<T>,
    rho: T,
) -> Result<()> {
    let p = codes.rows();
    let sparse = Csr::of_columns(codes);
    for c in 0..classifier.bias.len() {
        let weight: Vec<T> = (0..codes.columns()).map(|j| active.weight.of(c, j)).collect();
        // With no active point the minimiser is zero, and the class could never recover.
        if weight.iter().all(|w| *w == T::zero()) {
            continue;
        }
        let goal = Matrix::from_fn(1, codes.columns(), |_, j| active.target.column(j)[c]);
        let system = weighted_gram(&sparse, &weight, rho);
        let mut solution = augmented_targets(codes, &goal);
        Cholesky::new(&system).ok_or_else(singular)?.solve_in_place(&mut solution);
        classifier.weights.column_mut(c).copy_from_slice(&solution.column(0)[..p]);
        classifier.bias[c] = solution.column(0)[p];
    }
    Ok(())
}

fn majorised<T: Real>(
    classifier: &mut LinearClassifier<T>,
    codes: &Matrix<T>,
    shares: &Shares<T>,
    rho: T,
    rounds: usize,
) -> Result<()> {
    let factor = Cholesky::new(&weighted_gram(&Csr::of_columns(codes), &shares.total, rho))
        .ok_or_else(singular)?;
    let mut scores = classifier.scores(codes);
    let value = |scores: &Matrix<T>, classifier: &LinearClassifier<T>| {
        shares.loss(scores) + rho.wide() * classifier.squared_norm()
    };
    let mut before = value(&scores, classifier);
    for _ in 0..rounds {
        let active = Active::new(ActivePoints::Majorised, &scores, shares);
        let mut solution = augmented_targets(codes, &active.target);
        factor.solve_in_place(&mut solution);
        let next = LinearClassifier::from_augmented(&solution);
        scores = next.scores(codes);
        let after = value(&scores, &next);
        if after > before {
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

/// $\sum_iw_i\tilde a_i\tilde a_i^\top+\rho I$, $\tilde a=[a;1]$. Cost $s_i^2/2$ per sample with $s_i$
/// nonzero coefficients.
fn weighted_gram<T: Real>(codes: &Csr<T>, weight: &[T], rho: T) -> Matrix<T> {
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
fn augmented_targets<T: Real>(codes: &Matrix<T>, target: &Matrix<T>) -> Matrix<T> {
    let p = codes.rows();
    // In this order the result is wide, and its panels keep several threads busy.
    let product = Matrix::of_product(target.view(), codes.transposed());
    let sums: Vec<T> = (0..target.rows())
        .map(|c| (0..target.columns()).map(|j| target.column(j)[c]).sum())
        .collect();
    Matrix::from_fn(p + 1, target.rows(), |k, c| if k < p { product.column(k)[c] } else { sums[c] })
}
