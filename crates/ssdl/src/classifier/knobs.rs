//! The knobs of a classifier that is learnt with the codes.

use super::ActivePoints;

crate::knobs! {
    /// How the classes act on the codes.
    pub struct MarginKnobs as MarginSetters {
        /// Weight of the classifier's loss on the codes.
        discrimination "γ gamma": f64 = 0.5, From(0.0);
        /// Weight of the classifier's squared norm; only its ratio to `discrimination` matters.
        ridge "μ mu": f64 = 1.0, Above(0.0);
        /// How undecided memberships may be: 1 picks a single class, larger values spread the vote.
        sharpness "r": f64 = 1.7, From(1.0);
        /// How the loss is approximated: `majorised`, which never rises, or `frozen`, as in the paper.
        active_points "": ActivePoints = ActivePoints::Majorised, OneOf(ActivePoints::WORDS);
    }
}

impl MarginKnobs {
    /// $\rho=\mu/\gamma$, all that the classifier step depends on. With γ = 0 the classifier is
    /// fitted separately, with the paper's ratio of 2.
    #[must_use]
    pub fn rho(&self) -> f64 {
        if self.discrimination > 0.0 { self.ridge / self.discrimination } else { 2.0 }
    }
}
