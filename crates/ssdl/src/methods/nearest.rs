//! The nearest labelled sample decides: the simplest baseline.

use super::{Description, Learner, cut_neighbours};
use crate::classifier::{Decision, Vote, Voters, indicators};
use crate::fit::{Given, Learnt, Objective, Sizes, Stop, Turns};
use crate::graph::{Attachment, Rule};
use crate::{Real, Result};

crate::knobs! {
    /// The knobs of the nearest neighbours, and the way to fit them from code.
    ///
    /// ```
    /// use ssdl::methods::Nearest;
    /// let method = Nearest::new().n_neighbors(3);
    /// ```
    pub struct Nearest {
        /// Number of nearest labelled samples that vote; ties go to the nearest.
        n_neighbors "k": usize = 1, WholeFrom(1);
    }
}

const DESCRIPTION: Description = Description {
    name: "nearest",
    class: "Nearest",
    title: "Nearest labelled samples",
    reference: "Cover, Hart (1967)",
    link: "https://doi.org/10.1109/TIT.1967.1053964",
    objective: r"\hat y(x)=\operatorname*{arg\,max}_c\ \bigl|\{i\in\mathrm{knn}(x):y_i=c\}\bigr|",
    objective_text: "the class of most of the k nearest labelled samples",
    summary: "Each sample takes the class of the labelled sample nearest to it, or the majority of \
the k nearest. A baseline without training; unlabelled samples are not used.",
    semi_supervised: false,
    inductive: true,
    uses_graph: false,
    coding: "none",
    published: &[],
};

impl Learner for Nearest {
    const DESCRIPTION: Description = DESCRIPTION;

    fn reduce(&mut self, sizes: &Sizes, notice: &mut dyn FnMut(&str)) {
        cut_neighbours(&mut self.n_neighbors, sizes.n_labelled, notice);
    }

    fn uses_weights(&self) -> bool {
        true
    }

    fn bytes(&self, sizes: &Sizes) -> u64 {
        // The search works on a copy of the samples in single precision, and of the labelled ones.
        let copies = sizes.bytes(2 * sizes.n_classes).saturating_mul(2);
        let search = Sizes { scalar: 4, ..*sizes }.bytes(self.n_neighbors.min(sizes.n_samples));
        copies.saturating_add(search.saturating_mul(2))
    }

    fn learn<T: Real>(&self, given: &Given<'_, T>, turns: &mut Turns<'_>) -> Result<Learnt<T>> {
        let Given { samples, labels, .. } = given;
        let rule = Rule::Neighbours { n_neighbors: self.n_neighbors, both_ways: false };
        let mut vote = Vote {
            shares: indicators(labels),
            voters: Voters::Labelled,
            weights: given.weights.given.then(|| given.weights.of_samples.clone()),
            attachment: Attachment::new(rule),
        };
        let open = labels.unlabelled();
        if !open.is_empty() {
            let found = vote.judge(samples, labels, &samples.select_columns(&open))?;
            for (&i, column) in open.iter().zip(found.iter_columns()) {
                vote.shares.column_mut(i).copy_from_slice(column);
            }
        }
        turns.end(1, Objective::default());
        Ok(Learnt::without_atoms(Decision::vote(vote), Stop::Converged))
    }
}
