//! A random forest on the labelled samples: trees that cut one feature at a time.

use super::{Description, Learner, Nearest};
use crate::classifier::{Decision, Forest as Trees, Growth};
use crate::fit::{Given, Learnt, Objective, Sizes, Stop, Turns, array};
use crate::{Real, Result};

crate::knobs! {
    /// The knobs of the random forest, and the way to fit it from code.
    ///
    /// ```
    /// use ssdl::methods::Forest;
    /// let method = Forest::new().n_trees(500);
    /// ```
    pub struct Forest {
        /// Number of trees; each draws labels with replacement, 2,000 at most.
        n_trees "T": usize = 300, WholeFrom(1);
        /// Fewest of the drawn labels in a leaf.
        min_leaf "": usize = 1, WholeFrom(1);
    }
}

impl Learner for Forest {
    const DESCRIPTION: Description = Description {
        name: "forest",
        class: "Forest",
        title: "Random forest",
        reference: "Breiman (2001)",
        link: "https://doi.org/10.1023/A:1010933404324",
        objective: r"F(x)=\frac1T\sum_t\frac{1}{|\ell_t(x)|}\sum_{j\in\ell_t(x)}y_j",
        objective_text: "the mean over trees of the labels in the leaf of the sample",
        summary: "Trees cut one feature at a time, each on labels drawn with replacement, at every node the best of \
a few features. The labelled samples that share leaves with a sample vote on it. The baseline for features that act \
by thresholds or have long tails; unlabelled samples are not used. Trees see a sample before `scale` takes its length.",
        ..Nearest::DESCRIPTION
    };

    fn uses_weights(&self) -> bool {
        true
    }

    fn bytes(&self, sizes: &Sizes) -> u64 {
        // Copies of the labelled samples, and their ranks; two nodes and some numbers for each draw.
        let draws = array(self.n_trees, sizes.n_samples.min(2000), 64);
        sizes.bytes(2 * sizes.n_classes).saturating_mul(4).saturating_add(draws)
    }

    /// Cost: $T\sqrt nN_l\log^2N_l$.
    fn learn<T: Real>(&self, given: &Given<'_, T>, turns: &mut Turns<'_>) -> Result<Learnt<T>> {
        let (known, _) = given.labelled();
        let weights = given.weights.given.then_some(&*given.weights.of_samples);
        let growth = Growth { n_trees: self.n_trees, min_leaf: self.min_leaf };
        let of_samples = (weights, given.lengths.as_deref());
        let trees = Trees::grow((&known, &given.labels), of_samples, growth, given.seed);
        turns.end(1, Objective::default());
        Ok(Learnt::without_atoms(Decision::forest(trees), Stop::Converged))
    }
}
