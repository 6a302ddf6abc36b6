//! The objective, term by term.

use serde::{Deserialize, Serialize};

/// How much each term counts.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Weights {
    /// λ.
    pub sparsity: f64,
    /// β.
    pub manifold: f64,
    /// γ.
    pub discrimination: f64,
    /// μ.
    pub ridge: f64,
}

impl Weights {
    /// $\rho=\mu/\gamma$, all that the classifier step depends on. With γ = 0 the classifier is
    /// fitted apart from everything else, with the paper's ratio of 2.
    #[must_use]
    pub fn rho(&self) -> f64 {
        if self.discrimination > 0.0 { self.ridge / self.discrimination } else { 2.0 }
    }
}

/// The value of each term, weights included.
///
/// $$J=\lVert X-DA\rVert^2+\lambda\lVert A\rVert_1+\beta\operatorname{tr}(ALA^\top)
/// +\gamma\sum_j\sum_kP_{kj}^re_k(s_j)+\mu(\lVert W\rVert^2+\lVert b\rVert^2)$$
///
/// The loss is the true squared hinge: active points are those of the scores it is evaluated at.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Objective {
    /// $\lVert X-DA\rVert^2$.
    pub reconstruction: f64,
    /// $\lambda\lVert A\rVert_1$.
    pub sparsity: f64,
    /// $\beta\operatorname{tr}(ALA^\top)$.
    pub manifold: f64,
    /// $\gamma$ times the loss.
    pub discrimination: f64,
    /// $\mu(\lVert W\rVert^2+\lVert b\rVert^2)$.
    pub ridge: f64,
}

impl Objective {
    /// The sum.
    #[must_use]
    pub fn total(&self) -> f64 {
        self.terms().iter().map(|(_, value)| value).sum()
    }

    /// Names and values.
    #[must_use]
    pub fn terms(&self) -> [(&'static str, f64); 5] {
        [
            ("reconstruction", self.reconstruction),
            ("sparsity", self.sparsity),
            ("manifold", self.manifold),
            ("discrimination", self.discrimination),
            ("ridge", self.ridge),
        ]
    }
}
