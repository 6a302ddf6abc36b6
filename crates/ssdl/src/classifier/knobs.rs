//! The knobs of a classifier that is learnt with the codes.

use super::{ActivePoints, Prior};
use crate::knobs::AutoOr;

crate::choice! {
    /// How unlabelled samples take part in the classifier's loss.
    pub enum Voting {
        /// With a weight and class shares that the labels support.
        Measured = "measured",
        /// The paper's: every sample counts as much as a label, memberships follow the scores alone.
        Paper = "paper",
    }
}

crate::knobs! {
    /// How the classes act on the codes.
    pub struct MarginKnobs as MarginSetters {
        /// Weight of the classifier's loss on the codes.
        discrimination "γ gamma": f64 = 0.5, From(0.0);
        /// Weight of the classifier's squared norm; `auto`: by leaving labels out, at least twice `discrimination`.
        ridge "μ mu": AutoOr = AutoOr::Auto, AutoOrAbove(0.0);
        /// How undecided memberships may be: 1 picks a single class, larger values spread the vote.
        sharpness "r": f64 = 1.7, From(1.0);
        /// How unlabelled samples vote: `measured`, by the next three knobs, or `paper`, all of them fully.
        voting "": Voting = Voting::Measured, OneOf(Voting::WORDS);
        /// Weight of an unlabelled sample in the loss, a label's being 1; `auto`: less where they are many or err.
        unlabelled_weight "u": AutoOr = AutoOr::Auto, AutoOrNumber(0.0);
        /// How far class shares of votes and labels are moved towards `prior`: 0 leaves them, 1 makes them equal.
        balance "": f64 = 1.0, Within(0.0, 1.0);
        /// Expected class shares of unlabelled samples: `estimated`, `recounted`, `even`, `labelled`, or a number per class.
        prior "": Prior = Prior::Estimated, WordOrSeveral(Prior::WORDS);
        /// How the loss is approximated: `majorised`, which never rises, or `frozen`, as in the paper.
        active_points "": ActivePoints = ActivePoints::Majorised, OneOf(ActivePoints::WORDS);
    }
}

impl MarginKnobs {
    /// $\rho=\mu/\gamma$, all that the classifier step depends on; the paper's ratio of 2 where
    /// `ridge` is left to the samples, and where γ = 0 and the classifier is fitted separately.
    #[must_use]
    pub fn rho(&self) -> f64 {
        match self.ridge {
            AutoOr::Exactly(ridge) if self.discrimination > 0.0 => ridge / self.discrimination,
            _ => 2.0,
        }
    }
}
