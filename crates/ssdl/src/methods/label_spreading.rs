//! Label spreading: labels diffuse over a graph of neighbours until all agree as well as they can.
//!
//! Zhou et al. (2003); with `clamp` the label propagation of Zhu, Ghahramani, Lafferty (2003). The
//! system is solved, not iterated, so nothing depends on when one stops.

use std::time::Instant;

use super::request::{Admitted, Found, announce, bytes_of, cut_neighbours, fit_without_atoms};
use super::{Description, Options, register};
use crate::classifier::{Decision, Spread, Vote, Voters, labelled};
use crate::fit::{Objective, Step, Stop, Watch};
use crate::graph::{Connected, Equal, Graph, Heat, Neighbours, Width};
use crate::knobs::{choice, knobs};
use crate::model::Model;
use crate::{Error, Matrix, Real, Result, Samples};

choice! {
    /// How much a pair of neighbours counts.
    pub enum Kernel {
        /// The nearer the more, by a heat kernel.
        Heat = "heat",
        /// All the same.
        Neighbours = "neighbours",
    }
}

knobs! {
    /// The knobs of label spreading, and the way to fit it from code.
    ///
    /// ```
    /// use ssdl::methods::{Kernel, LabelSpreading};
    /// let method = LabelSpreading::new().kernel(Kernel::Neighbours).spreading(0.9);
    /// ```
    pub struct LabelSpreading {
        /// Weight of a pair of neighbours: `heat` falls with their distance, `neighbours` is one.
        kernel "": Kernel = Kernel::Heat, OneOf(Kernel::WORDS);
        /// Neighbours of a sample, counted from either side; cut to one less than the samples.
        n_neighbors "k": usize = 5, WholeFrom(1);
        /// Width of the `heat` kernel; `0.2x` is a fifth of the mean distance.
        width "σ": Width = Width::Relative(0.2), Above(0.0);
        /// What comes from the neighbours rather than from the own label.
        spreading "α": f64 = 0.8, Between(0.0, 1.0);
        /// Whether given labels are held (label propagation); `spreading` has no meaning then.
        clamp "": bool = false, Switch;
        /// Residual, relative to the labels, at which the solver stops.
        tolerance "": f64 = 1e-10, Above(0.0);
        /// Iterations of the solver, at the most.
        max_iterations "": usize = 1000, WholeFrom(1);
    }
}

const DESCRIPTION: Description = Description {
    name: "label-spreading",
    title: "Label spreading over a graph of neighbours",
    reference: "Zhou, Bousquet, Lal, Weston, Schölkopf (2003)",
    link: "https://papers.nips.cc/paper/2506-learning-with-local-and-global-consistency",
    objective: r"\min_F\ \tfrac12\sum_{ij}W_{ij}\Bigl\lVert\frac{F_i}{\sqrt{d_i}}
-\frac{F_j}{\sqrt{d_j}}\Bigr\rVert^2+\frac{1-\alpha}{\alpha}\lVert F-Y\rVert^2
\;\Rightarrow\;F=(1-\alpha)(I-\alpha D^{-1/2}WD^{-1/2})^{-1}Y",
    objective_text: "1/2 sum_ij W_ij |F_i / sqrt d_i - F_j / sqrt d_j|^2\n\
+ (1 - spreading) / spreading |F - Y|^2, so F = (1 - spreading) (I - spreading S)^-1 Y",
    summary: "Labels flow along the edges of a graph between all samples; each sample ends with \
shares of the classes that agree with its neighbours and, if it has one, with its label. New \
samples take the weighted mean of the shares of their neighbours. Samples that no label reaches \
take the label of the labelled sample nearest to them.",
    semi_supervised: true,
    inductive: true,
    uses_graph: true,
    coding: "none",
    published: &[],
};

register!(LabelSpreading);

impl LabelSpreading {
    /// Fits raw samples, watched, with preparation, seed, threads and graph of your own. The graph
    /// must be one of affinities.
    ///
    /// Cost: $nN^2$ once for the neighbours, then $C$ multiply-adds per edge and iteration.
    ///
    /// # Errors
    /// If a knob, the labels, the samples or the graph do not allow it, or the memory limit is too
    /// low.
    pub fn fit_with<T: Real>(
        &self,
        samples: Samples<T>,
        options: &Options<T>,
        watch: &mut dyn Watch,
    ) -> Result<Model<T>> {
        self.check()?;
        fit_without_atoms(self, samples, options, watch, |admitted, watch| {
            let most = (admitted.features.columns() - 1).max(1);
            let cut = self.n_neighbors(cut_neighbours(self.n_neighbors, most, watch));
            let begun = Instant::now();
            let connected = cut.connect(&admitted.features, options)?;
            let graph_seconds = begun.elapsed().as_secs_f64();
            announce(Step::Graph, self.max_iterations, watch)?;
            Ok((cut.values(), Found { graph_seconds, ..cut.spread(admitted, connected, watch)? }))
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
        // The samples, a copy in single precision for the search, arrays of the solver, and the graph:
        // pairs with distances, weights, and the balanced ones, all with an index.
        let k = self.n_neighbors.min(n_samples);
        let edges = k.saturating_mul(8);
        let solver = bytes_of::<T>(
            n_features,
            n_samples,
            n_classes.saturating_mul(6).saturating_add(edges.saturating_mul(2)),
        );
        // A relative width looks at pairs of at most 4,096 samples.
        let seen = n_samples.min(4096);
        let pairs = match (self.kernel, self.width) {
            (Kernel::Heat, Width::Relative(_)) => bytes_of::<f64>(n_features, 3 * seen, seen),
            _ => 0,
        };
        let search = bytes_of::<f32>(n_features, n_samples, k);
        solver.saturating_add(search).saturating_add(pairs)
    }

    fn connect<T: Real>(&self, features: &Matrix<T>, options: &Options<T>) -> Result<Connected<T>> {
        let Self { n_neighbors, width, .. } = *self;
        match (&options.graph, self.kernel) {
            (Some(graph), _) => graph.build(features),
            (None, Kernel::Heat) => Heat { n_neighbors, width }.build(features),
            (None, Kernel::Neighbours) => Equal { n_neighbors }.build(features),
        }
    }

    fn spread<T: Real>(
        &self,
        admitted: &Admitted<T>,
        Connected { laplacian, attachment }: Connected<T>,
        watch: &mut dyn Watch,
    ) -> Result<Found<T>> {
        let Some(weights) = laplacian.affinities() else {
            return Err(Error::Graph(
                "labels spread along weights between pairs of samples; neighbour lists and \
                 mixtures have none: bring affinities or edges"
                    .into(),
            ));
        };
        let Self { spreading, clamp, tolerance, max_iterations, .. } = *self;
        let spread = Spread { spreading, clamp, tolerance, max_iterations };
        let mut found = spread.over(weights, &admitted.labels);
        if !found.converged {
            watch.notice(&format!(
                "the solver stopped after {max_iterations} iterations, unfinished; raise \
                 max_iterations or tolerance"
            ));
        }
        if !found.unreached.is_empty() {
            watch.notice(&format!(
                "{} of {} samples are reached by no label; each takes that of the nearest labelled \
                 sample",
                found.unreached.len(),
                admitted.labels.len()
            ));
            follow_nearest(admitted, &found.unreached, &mut found.shares);
        }
        let objective = Objective {
            manifold: found.roughness,
            discrimination: (1.0 - spreading) / spreading * found.misfit,
            ..Objective::default()
        };
        let vote = Vote { shares: found.shares, voters: Voters::All, attachment };
        Ok(Found {
            decision: Decision::Vote(vote),
            objective,
            iterations: found.iterations,
            stop: if found.converged { Stop::Converged } else { Stop::Limit },
            graph_seconds: 0.0,
        })
    }
}

/// Gives the chosen samples the label of the labelled sample nearest to each.
fn follow_nearest<T: Real>(admitted: &Admitted<T>, chosen: &[usize], shares: &mut Matrix<T>) {
    let (features, labels) = (&admitted.features, &admitted.labels);
    let known = labelled(labels);
    let (known_features, open) = (features.select_columns(&known), features.select_columns(chosen));
    let nearest = Neighbours::between(&known_features, &open, 1);
    for (at, &i) in chosen.iter().enumerate() {
        let label = labels.assigned()[known[nearest.of(at)[0] as usize]];
        label.into_iter().for_each(|class| shares.column_mut(i)[class] = T::one());
    }
}
