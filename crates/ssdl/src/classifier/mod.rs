//! 5. From codes to classes: linear scores with active points and class memberships, votes of training
//!    samples, trees, distances to labelled samples, or class residuals. A [`Decision`] is the one that a model uses.

mod active;
mod balance;
mod ballot;
mod calibration;
mod decision;
pub(crate) mod diffusion;
mod forest;
mod kernel;
mod knobs;
mod left_out;
pub mod margin;
pub mod membership;
mod mixture;
mod outlook;
mod prior;
mod recount;
mod residual;
mod ridge;
pub mod simplex;
pub mod softmax;
mod spread;
pub mod svm;
pub mod targets;
mod vote;

pub use active::{Active, ActivePoints};
pub use balance::as_shares;
pub use balance::{Balance, BalanceKnobs, BalanceSetters};
pub(crate) use balance::{class_sums, scale, scale_columns};
pub use ballot::Ballot;
pub use calibration::{Calibration, Expected, Unlabelled};
pub(crate) use decision::SavedDecision;
pub use decision::{Coded, Decision, Known, Verdict};
pub use forest::{Forest, Growth};
pub use kernel::KernelClassifier;
pub use knobs::{MarginKnobs, MarginSetters, Voting};
pub use left_out::{LeftOut, NearestLeftOut, left_out, nearest_left_out};
pub use membership::{Shares, best, memberships};
pub use mixture::{Member, MemberRule, mixture_weights};
pub use outlook::Outlook;
pub(crate) use outlook::votes_for_classes;
pub use prior::Prior;
pub use residual::Residual;
pub use ridge::ridge;
pub(crate) use spread::shares_of;
pub use spread::{Spread, SpreadLabels, spread_shares};
pub use targets::{Misfit, Targets};
pub(crate) use vote::indicators;
pub use vote::{Vote, Voters};

use crate::{Matrix, Real};

/// $r$ of memberships where there is no knob for it: the default of SSDL-GA.
pub(crate) const SHARPNESS: f64 = 1.7;

/// One linear score per class: $s=W^\top a+b$.
#[derive(Clone, Debug, PartialEq)]
pub struct LinearClassifier<T> {
    /// $W$, $p\times C$: column $c$ is $w_c$ (the paper's $W$ is the transpose).
    pub weights: Matrix<T>,
    /// $b$, one entry per class.
    pub bias: Vec<T>,
}

impl<T: Real> LinearClassifier<T> {
    /// Scores $C\times N$ of codes $p\times N$.
    #[must_use]
    #[inline(never)]
    pub fn scores(&self, codes: &Matrix<T>) -> Matrix<T> {
        let mut scores = Matrix::from_fn(self.bias.len(), codes.columns(), |c, _| self.bias[c]);
        scores.add_product(T::one(), self.weights.transposed(), codes.view());
        scores
    }

    /// $\lVert W\rVert^2+\lVert b\rVert^2$.
    #[must_use]
    pub fn squared_norm(&self) -> f64 {
        self.weights.squared_norm() + crate::matrix::squared_norm(&self.bias)
    }

    /// $\lVert W-W_0\rVert^2+\lVert b-b_0\rVert^2$ to another of the same size.
    #[must_use]
    pub fn squared_distance(&self, other: &Self) -> f64 {
        let apart = |a: &[T], b: &[T]| -> f64 {
            a.iter().zip(b).map(|(a, b)| (a.wide() - b.wide()).powi(2)).sum()
        };
        apart(self.weights.as_slice(), other.weights.as_slice()) + apart(&self.bias, &other.bias)
    }

    /// The class that each atom supports most, and how strongly.
    fn class_of_weights(&self) -> Vec<Option<(usize, f64)>> {
        let strongest = |atom: usize| {
            let row: Vec<T> = self.weights.iter_columns().map(|column| column[atom]).collect();
            let class = best(&row);
            row.get(class).map(|weight| (class, weight.wide()))
        };
        (0..self.weights.rows()).map(strongest).collect()
    }

    /// Gives every class without a labelled sample the mean of the other classes, minus one: its own
    /// problem has only counterexamples, and a score near −1 can win where all others are lower;
    /// the mean minus one is below the best score everywhere.
    pub(crate) fn silence_absent(&mut self, counts: &[usize]) {
        let (n_classes, p) = (self.bias.len(), self.weights.rows());
        let present: Vec<usize> = (0..n_classes).filter(|&class| counts[class] > 0).collect();
        let share = T::one() / T::of(present.len() as f64);
        let mut mean = vec![T::zero(); p];
        for &class in &present {
            crate::matrix::axpy(share, self.weights.column(class), &mut mean);
        }
        let bias = present.iter().map(|&class| self.bias[class] * share).sum::<T>() - T::one();
        for class in (0..n_classes).filter(|&class| counts[class] == 0) {
            self.weights.column_mut(class).copy_from_slice(&mean);
            self.bias[class] = bias;
        }
    }

    /// Splits solutions of the augmented system, $[w_c;b_c]$ in column $c$.
    pub(crate) fn from_augmented(solution: &Matrix<T>) -> Self {
        let p = solution.rows() - 1;
        let weights = Matrix::from_fn(p, solution.columns(), |k, c| solution.column(c)[k]);
        Self { weights, bias: solution.iter_columns().map(|column| column[p]).collect() }
    }
}
