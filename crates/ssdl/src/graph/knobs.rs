//! The choice of a graph by knobs, for every method that has one.

use super::{
    Connected, Expressive, Graph, Heat, LearntGraph, Lle, Neighbours, Search, Threshold, Width,
};
use crate::knobs::Knobbed;
use crate::{Matrix, Real, Result};

/// Others that a sample is written with in an expressive graph, to count memory.
const EXPRESSED: usize = 64;
/// Multiplications for the systems of an `lle` graph that take so long that a user should hear of it.
const LONG: f64 = 1e12;

crate::choice! {
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
        /// Each sample written with few others.
        Expressive = "expressive",
    }
}

crate::knobs! {
    /// The knobs of a graph; each kind of graph uses some of them.
    ///
    /// ```
    /// use ssdl::graph::{GraphChoice, GraphKnobs, Portrait};
    ///
    /// # fn main() -> ssdl::Result<()> {
    /// let samples = ssdl::Matrix::from_fn(2, 30, |i, j| ((i + 1) * j % 7) as f64);
    /// let knobs = GraphKnobs::new().graph(GraphChoice::Heat).n_neighbors(4);
    /// let built = knobs.build(&samples)?;
    /// assert_eq!(Portrait::of(&built.laplacian, &[None; 30]).nodes, 30);
    /// # Ok(())
    /// # }
    /// ```
    pub struct GraphKnobs as GraphSetters {
        /// Graph between the samples.
        graph "": GraphChoice = GraphChoice::Lle, OneOf(GraphChoice::WORDS);
        /// Neighbours per sample in an `lle` or `heat` graph; at most the number of samples less one.
        n_neighbors "k": usize = 8, WholeFrom(1);
        /// Search for neighbours: `auto` is exact up to 20,000 samples, approximate beyond.
        neighbours "": Search = Search::Auto, OneOf(Search::WORDS);
        /// Width of the kernel of a `heat` or `threshold` graph; `0.5x` is half the mean distance.
        width "σ sigma": Width = Width::Relative(1.0), Above(0.0);
        /// Share of all pairs of samples that a `threshold` graph joins.
        percentile "ζ zeta": f64 = 0.02, Between(0.0, 1.0);
        /// How evenly a `learnt` graph spreads its weights; scales with squared distances.
        smoothness "β_L beta_l": f64 = 5.0, Above(0.0);
        /// Weight of the l1 norm with which an `expressive` graph writes samples with others; scales with squared lengths.
        self_sparsity "κ kappa": f64 = 7.5, Above(0.0);
        /// Whether to scale the graph so that its trace is the number of samples.
        normalise_trace "": bool = false, Switch;
    }
}

impl GraphKnobs {
    /// Connects samples (columns) according to the knobs.
    ///
    /// # Errors
    /// If a knob is out of range.
    #[inline(never)]
    pub fn build<T: Real>(&self, samples: &Matrix<T>) -> Result<Connected<T>> {
        self.check()?;
        Ok(self.choose().build(samples)?.at_strength(self.normalise_trace))
    }

    /// The graph at the strength of its formula, or with a trace of $N$ if so chosen; `given` is a
    /// graph to use instead of the one that the knobs choose.
    pub(crate) fn connect<T: Real>(
        &self,
        given: Option<&dyn Graph<T>>,
        samples: &Matrix<T>,
    ) -> Result<Connected<T>> {
        match given {
            Some(graph) => Ok(graph.build(samples)?.at_strength(self.normalise_trace)),
            None => self.build(samples),
        }
    }

    /// The kind of graph that the knobs choose.
    #[must_use]
    #[inline(never)]
    pub fn choose<T: Real>(&self) -> Box<dyn Graph<T>> {
        let Self {
            n_neighbors,
            neighbours: search,
            width,
            percentile,
            smoothness,
            self_sparsity,
            ..
        } = *self;
        match self.graph {
            GraphChoice::Lle => Box::new(Lle { n_neighbors, search }),
            GraphChoice::Heat => Box::new(Heat { n_neighbors, width, search }),
            GraphChoice::Threshold => Box::new(Threshold { percentile, width }),
            GraphChoice::Learnt => Box::new(LearntGraph { smoothness }),
            GraphChoice::Expressive => Box::new(Expressive { sparsity: self_sparsity }),
        }
    }

    /// Cuts the number of neighbours to what this many samples allow, and reports it.
    pub(crate) fn reduce(&mut self, n_samples: usize, notice: &mut dyn FnMut(&str)) {
        let (requested, max) = (self.n_neighbors, n_samples.saturating_sub(1).max(1));
        if requested > max {
            notice(&format!(
                "n_neighbors cut from {requested} to {max}: a sample has no more neighbours"
            ));
            self.n_neighbors = max;
        }
        let k = self.n_neighbors as f64;
        if self.graph == GraphChoice::Lle && k.powi(3) / 3.0 * n_samples as f64 > LONG {
            notice(&format!(
                "n_neighbors is {k}: an `lle` graph solves a system of {k} equations for each of {n_samples} samples, \
                 which may take minutes; 5 to 50 neighbours are usual"
            ));
        }
    }

    /// Bytes of the neighbour search, beside the samples.
    pub(crate) fn search_bytes(&self, n_features: usize, n_samples: usize) -> u64 {
        match self.graph {
            GraphChoice::Lle | GraphChoice::Heat | GraphChoice::Learnt => {
                Neighbours::search_bytes((n_features, n_samples), self.n_neighbors, self.neighbours)
            }
            GraphChoice::Threshold | GraphChoice::Expressive => 0,
        }
    }

    /// The maximum number of entries in a row of this graph, to count memory.
    pub(crate) fn widest(&self, n_samples: usize) -> usize {
        match self.graph {
            GraphChoice::Lle => self.n_neighbors,
            GraphChoice::Heat => 2 * self.n_neighbors,
            // Unknown before the distances are; a full graph is the worst case.
            GraphChoice::Threshold | GraphChoice::Learnt => n_samples,
            // A support is rarely larger than the sample is long.
            GraphChoice::Expressive => n_samples.min(EXPRESSED),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_of_neighbours_that_take_long_are_said() {
        let said = |knobs: GraphKnobs, n_samples: usize| {
            let mut sentences = Vec::new();
            let mut knobs = knobs;
            knobs.reduce(n_samples, &mut |sentence: &str| sentences.push(sentence.to_owned()));
            sentences.len()
        };
        assert_eq!(said(GraphKnobs::new().n_neighbors(8), 1_000_000), 0);
        assert_eq!(said(GraphKnobs::new().n_neighbors(1_999), 2_000), 1);
        assert_eq!(said(GraphKnobs::new().n_neighbors(2_000), 2_000), 2);
        assert_eq!(said(GraphKnobs::new().graph(GraphChoice::Heat).n_neighbors(1_999), 2_000), 0);
    }
}
