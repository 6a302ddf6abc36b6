//! The nearest labelled sample decides: the simplest baseline there is.

use super::request::{Found, bytes_of, cut_neighbours, fit_without_atoms};
use super::{Description, Options, register};
use crate::classifier::{Decision, Vote, Voters, indicators};
use crate::fit::{Objective, Stop, Watch};
use crate::graph::{Attachment, Rule};
use crate::knobs::knobs;
use crate::model::Model;
use crate::{Real, Result, Samples};

knobs! {
    /// The knobs of the nearest neighbours, and the way to fit them from code.
    ///
    /// ```
    /// use ssdl::methods::Nearest;
    /// let method = Nearest::new().n_neighbors(3);
    /// ```
    pub struct Nearest {
        /// Nearest labelled samples that vote; ties go to the nearest of them.
        n_neighbors "k": usize = 1, WholeFrom(1);
    }
}

const DESCRIPTION: Description = Description {
    name: "nearest",
    title: "Nearest labelled samples",
    reference: "Cover, Hart (1967)",
    link: "https://doi.org/10.1109/TIT.1967.1053964",
    objective: r"\hat y(x)=\operatorname*{arg\,max}_c\ \bigl|\{i\in\mathrm{knn}(x):y_i=c\}\bigr|",
    objective_text: "the class of most of the k nearest labelled samples",
    summary: "Each sample takes the class of the labelled sample nearest to it, or the majority of \
the k nearest. A baseline without training; unlabelled samples have no say.",
    semi_supervised: false,
    inductive: true,
    uses_graph: false,
    coding: "none",
    published: &[],
};

register!(Nearest);

impl Nearest {
    /// Fits raw samples, watched, with preparation, seed and threads of your own.
    ///
    /// # Errors
    /// If a knob, the labels or the samples do not allow it, or the memory limit is too low.
    pub fn fit_with<T: Real>(
        &self,
        samples: Samples<T>,
        options: &Options<T>,
        watch: &mut dyn Watch,
    ) -> Result<Model<T>> {
        self.check()?;
        fit_without_atoms(self, samples, options, watch, |admitted, watch| {
            let k = cut_neighbours(self.n_neighbors, admitted.labels.n_labelled(), watch);
            let rule = Rule::Neighbours { n_neighbors: k, both_ways: false };
            let mut vote = Vote {
                shares: indicators(&admitted.labels),
                voters: Voters::Labelled,
                attachment: Attachment::new(rule),
            };
            let assigned = admitted.labels.assigned();
            let open: Vec<usize> = (0..assigned.len()).filter(|&i| assigned[i].is_none()).collect();
            if !open.is_empty() {
                let unlabelled = admitted.features.select_columns(&open);
                let said = vote.on(&admitted.features, &admitted.labels, &unlabelled)?;
                for (&i, column) in open.iter().zip(said.iter_columns()) {
                    vote.shares.column_mut(i).copy_from_slice(column);
                }
            }
            let found = Found {
                decision: Decision::Vote(vote),
                objective: Objective::default(),
                iterations: 1,
                stop: Stop::Converged,
                graph_seconds: 0.0,
            };
            Ok((self.n_neighbors(k).values(), found))
        })
    }

    /// Bytes that a fit of this size will need at its peak, samples included.
    #[must_use]
    pub fn memory_needed<T: Real>(
        &self,
        n_features: usize,
        n_samples: usize,
        n_classes: usize,
    ) -> u64 {
        // The search works on a copy of the samples in single precision, and of the labelled ones.
        let copies = bytes_of::<T>(n_features, n_samples, 2 * n_classes);
        let search = bytes_of::<f32>(n_features, n_samples, self.n_neighbors.min(n_samples));
        copies.saturating_mul(2).saturating_add(search.saturating_mul(2))
    }
}
