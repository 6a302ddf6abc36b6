//! The choice of a graph by knobs, for every method that has one.

use std::time::Instant;

use super::Options;
use crate::fit::Watch;
use crate::graph::{Connected, Graph, Heat, Learnt, Lle, Threshold, Width};
use crate::knobs::{choice, knobs};
use crate::{Matrix, Real, Result};

choice! {
    /// How samples are connected.
    pub enum GraphChoice {
        /// Each sample as a mixture of its nearest neighbours.
        Lle = "lle",
        /// Nearest neighbours, weighted by a heat kernel.
        Heat = "heat",
        /// All pairs within a radius, weighted by a heat kernel.
        Threshold = "threshold",
        /// The Laplacian on which the samples are smoothest.
        Learnt = "learnt",
    }
}

knobs! {
    /// The knobs of a graph, of which each kind uses some.
    ///
    /// ```
    /// use ssdl::graph::Portrait;
    /// use ssdl::methods::{GraphChoice, GraphKnobs};
    ///
    /// # fn main() -> ssdl::Result<()> {
    /// let samples = ssdl::Matrix::from_fn(2, 30, |i, j| ((i + 1) * j % 7) as f64);
    /// let knobs = GraphKnobs::new().graph(GraphChoice::Heat).n_neighbors(4);
    /// let built = knobs.build(&samples)?;
    /// assert_eq!(Portrait::of(&built.laplacian, &[None; 30]).nodes, 30);
    /// # Ok(())
    /// # }
    /// ```
    pub struct GraphKnobs {
        /// Graph between the samples.
        graph "": GraphChoice = GraphChoice::Lle, OneOf(GraphChoice::WORDS);
        /// Neighbours of a sample in an `lle` or `heat` graph; cut to one less than the samples.
        n_neighbors "k": usize = 8, WholeFrom(1);
        /// Width of the kernel of a `heat` or `threshold` graph; `0.5x` is half the mean distance.
        width "σ": Width = Width::Relative(1.0), Above(0.0);
        /// Share of all pairs of samples that a `threshold` graph joins.
        percentile "ζ": f64 = 0.02, Between(0.0, 1.0);
        /// How evenly a `learnt` graph spreads its weights; tied to squared distances.
        smoothness "β_L": f64 = 5.0, Above(0.0);
        /// Whether the graph is scaled so that its trace is the number of samples.
        normalise_trace "": bool = false, Switch;
    }
}

impl GraphKnobs {
    /// Connects samples (columns) as the knobs say.
    ///
    /// # Errors
    /// If a knob is out of range.
    pub fn build<T: Real>(&self, samples: &Matrix<T>) -> Result<Connected<T>> {
        self.check()?;
        Ok(self.choose().build(samples)?.at_strength(self.normalise_trace))
    }

    fn choose<T: Real>(&self) -> Box<dyn Graph<T>> {
        let Self { n_neighbors, width, percentile, smoothness, .. } = *self;
        match self.graph {
            GraphChoice::Lle => Box::new(Lle { n_neighbors }),
            GraphChoice::Heat => Box::new(Heat { n_neighbors, width }),
            GraphChoice::Threshold => Box::new(Threshold { percentile, width }),
            GraphChoice::Learnt => Box::new(Learnt { smoothness }),
        }
    }

    /// Entries that a row of this graph holds, at the most, for the count of memory.
    pub(super) fn widest(&self, n_samples: usize) -> usize {
        match self.graph {
            GraphChoice::Lle => self.n_neighbors,
            GraphChoice::Heat => 2 * self.n_neighbors,
            // Not known before the distances are; a full graph is the worst.
            GraphChoice::Threshold | GraphChoice::Learnt => n_samples,
        }
    }
}

/// Builds the user's graph, or else the one of the knobs; the seconds come second.
pub(super) fn connect<T: Real>(
    samples: &Matrix<T>,
    knobs: &GraphKnobs,
    options: &Options<T>,
    watch: &mut dyn Watch,
) -> Result<(Connected<T>, f64)> {
    let started = Instant::now();
    let built = match &options.graph {
        Some(graph) => graph.build(samples)?.at_strength(knobs.normalise_trace),
        None => knobs.build(samples)?,
    };
    report(&built, watch);
    Ok((built, started.elapsed().as_secs_f64()))
}

/// Legal, but worth a word: samples that the graph leaves alone, and a graph without any edge.
fn report<T: Real>(built: &Connected<T>, watch: &mut dyn Watch) {
    let alone = built.laplacian.diagonal().iter().filter(|d| **d == T::zero()).count();
    let n = built.laplacian.n_samples();
    if alone == n && n > 1 {
        watch.notice(
            "the graph has no edge that counts: `manifold` does nothing; raise `width`, \
             `percentile` or `smoothness`, or set `normalise_trace`",
        );
    } else if alone > 0 && n > 1 {
        watch.notice(&format!("{alone} of {n} samples have no neighbour in the graph"));
    }
}
