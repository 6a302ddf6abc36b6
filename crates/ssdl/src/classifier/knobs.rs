//! The knobs of a classifier that is learnt with the codes.

use super::ActivePoints;

crate::knobs! {
    /// How the classes take part in the codes.
    pub struct MarginKnobs as MarginSetters {
        /// Weight of the classifier's loss on the codes.
        discrimination "γ gamma": f64 = 0.5, From(0.0);
        /// Weight of the classifier's own size; only its ratio to `discrimination` matters to it.
        ridge "μ mu": f64 = 1.0, Above(0.0);
        /// How undecided memberships may be: 1 votes for one class only, larger spreads the vote.
        sharpness "r": f64 = 1.7, From(1.0);
        /// Whether the loss is majorised (never rises) or frozen as in the paper.
        active_points "": ActivePoints = ActivePoints::Majorised, OneOf(ActivePoints::WORDS);
    }
}

impl MarginKnobs {
    /// $\rho=\mu/\gamma$, all that the classifier step depends on. With γ = 0 the classifier is
    /// fitted apart from everything else, with the paper's ratio of 2.
    #[must_use]
    pub fn rho(&self) -> f64 {
        if self.discrimination > 0.0 { self.ridge / self.discrimination } else { 2.0 }
    }
}
