//! Label spreading: labels diffuse over a graph of neighbours until neighbours agree as far as possible.
//!
//! Zhou et al. (2003); with `clamp` the label propagation of Zhu, Ghahramani, Lafferty (2003). The
//! system is solved, not iterated, so the result does not depend on when the iteration stops.

use super::{Description, Learner, cut_neighbours};
use crate::classifier::{Balance, BalanceKnobs, Decision, Spread, Vote, Voters, scale_columns};
use crate::fit::parts::Crew;
use crate::fit::spreading::{PairWeight, Spreading};
use crate::fit::{Given, Learnt, Objective, Sizes, Stop, Turns};
use crate::graph::{
    Attachment, Connected, Equal, Graph, Heat, Neighbours, Rule, Search, Width, radii_of,
};
use crate::knobs::{Allowed, check};
use crate::{Error, Matrix, Real, Result};

crate::choice! {
    /// How much a pair of neighbours counts.
    pub enum Kernel {
        /// By a heat kernel: the nearer, the more.
        Heat = "heat",
        /// All the same.
        Neighbours = "neighbours",
    }
}

crate::knobs! {
    /// The knobs of label spreading, and the way to fit it from code.
    ///
    /// ```
    /// use ssdl::methods::{Kernel, LabelSpreading};
    /// let method = LabelSpreading::new().kernel(Kernel::Neighbours).spreading(0.9);
    /// ```
    pub struct LabelSpreading {
        /// Weight of a pair of neighbours: `heat` falls with their distance, `neighbours` is one.
        kernel "": Kernel = Kernel::Heat, OneOf(Kernel::WORDS);
        /// Neighbours per sample, counted from either side; at most the number of samples less one.
        n_neighbors "k": usize = 5, WholeFrom(1);
        /// Search for neighbours: `auto` is exact up to 20,000 samples, approximate beyond.
        neighbours "": Search = Search::Auto, OneOf(Search::WORDS);
        /// Width of the `heat` kernel; `0.2x` is a fifth of the mean distance.
        width "σ sigma": Width = Width::Relative(0.2), Above(0.0);
        /// Share that comes from the neighbours rather than from a sample's own label.
        spreading "α alpha": f64 = 0.8, Between(0.0, 1.0);
        /// Whether given labels stay fixed (label propagation); `spreading` is then unused.
        clamp "": bool = false, Switch;
        /// The class shares of unlabelled samples.
        shares: BalanceKnobs = BalanceKnobs::new();
        /// Residual, relative to the labels, at which the solver stops.
        tolerance "": f64 = 1e-10, Above(0.0);
        /// Maximum number of iterations of the solver.
        max_iterations "": usize = 1000, WholeFrom(1);
    }
}

const DESCRIPTION: Description = Description {
    name: "label-spreading",
    class: "LabelSpreading",
    title: "Label spreading over a graph of neighbours",
    reference: "Zhou, Bousquet, Lal, Weston, Schölkopf (2003)",
    link: "https://papers.nips.cc/paper/2506-learning-with-local-and-global-consistency",
    objective: r"\min_F\ \tfrac12\sum_{ij}W_{ij}\Bigl\lVert\frac{F_i}{\sqrt{d_i}}
-\frac{F_j}{\sqrt{d_j}}\Bigr\rVert^2+\frac{1-\alpha}{\alpha}\lVert F-Y\rVert^2
\;\Rightarrow\;F=(1-\alpha)(I-\alpha D^{-1/2}WD^{-1/2})^{-1}Y",
    objective_text: "1/2 sum_ij W_ij |F_i / sqrt d_i - F_j / sqrt d_j|^2\n\
+ (1 - spreading) / spreading |F - Y|^2, so F = (1 - spreading) (I - spreading S)^-1 Y",
    summary: "Labels flow along the edges of a graph between all samples; each sample ends up with \
shares of the classes that agree with its neighbours and, if it has one, with its label. New \
samples take the weighted mean of the shares of their neighbours. Samples that no label reaches \
take the label of the labelled sample nearest to them. With `balance`, the class shares of the \
unlabelled samples are moved towards `prior` (class-mass normalisation).",
    semi_supervised: true,
    inductive: true,
    uses_graph: true,
    coding: "none",
    published: &[],
};

impl Learner for LabelSpreading {
    const DESCRIPTION: Description = DESCRIPTION;

    fn reduce(&mut self, sizes: &Sizes, notice: &mut dyn FnMut(&str)) {
        let max = sizes.n_samples.saturating_sub(1).max(1);
        cut_neighbours(&mut self.n_neighbors, max, notice);
    }

    /// Labels that stay fixed cannot count more or less.
    fn uses_weights(&self) -> bool {
        !self.clamp
    }

    fn can_be_in_parts(&self) -> bool {
        true
    }

    fn bytes(&self, sizes: &Sizes) -> u64 {
        // The samples, arrays of the solver, what the search needs, and the graph: pairs with distances, weights, and the balanced ones, all with an index.
        let Sizes { n_features, n_samples, n_classes, .. } = *sizes;
        let k = self.n_neighbors.min(n_samples);
        let edges = k.saturating_mul(16);
        let solver = sizes.bytes(n_classes.saturating_mul(6).saturating_add(edges));
        // A relative width looks at pairs of at most 4,096 samples.
        let seen = n_samples.min(4096);
        let pairs = match (self.kernel, self.width) {
            (Kernel::Heat, Width::Relative(_)) => {
                Sizes { n_features, n_samples: 3 * seen, scalar: 8, ..*sizes }.bytes(seen)
            }
            _ => 0,
        };
        let search = Neighbours::search_bytes((n_features, n_samples), k, self.neighbours);
        solver.saturating_add(search).saturating_add(pairs)
    }

    /// A given graph must be one of affinities. Cost: $nN^2$ once for the neighbours, then $C$
    /// multiply-adds per edge and iteration.
    fn learn<T: Real>(&self, given: &Given<'_, T>, turns: &mut Turns<'_>) -> Result<Learnt<T>> {
        if let Some(crew) = given.crew {
            return self.learn_in_parts(crew, given, turns);
        }
        let Connected { laplacian, attachment } =
            turns.graph(self.max_iterations, |_| self.connect(given))?;
        let Some(weights) = laplacian.affinities() else {
            return Err(Error::Graph(
                "labels spread along weights between pairs of samples; neighbour lists and \
                 mixtures have none: give affinities or edges"
                    .into(),
            ));
        };
        let mut found =
            self.spread().spread_weighted(weights, &given.labels, &given.weights.of_samples);
        self.tell(found.converged, (found.unreached.len(), given.labels.len()), turns);
        if !found.unreached.is_empty() {
            follow_nearest(given, &found.unreached, &mut found.shares);
        }
        if let Some(balance) = Balance::new(&self.shares, &given.samples, &given.labels)? {
            move_shares(&balance, &given.labels.unlabelled(), &mut found.shares);
        }
        turns.end(found.iterations, self.objective(found.roughness, found.misfit));
        let vote = Vote { shares: found.shares, voters: Voters::All, weights: None, attachment };
        let stop = if found.converged { Stop::Converged } else { Stop::Limit };
        Ok(Learnt::without_atoms(Decision::vote(vote), stop))
    }
}

impl LabelSpreading {
    fn spread(&self) -> Spread {
        let Self { spreading, clamp, tolerance, max_iterations, .. } = *self;
        Spread { spreading, clamp, tolerance, max_iterations }
    }

    fn objective(&self, roughness: f64, misfit: f64) -> Objective {
        let discrimination = (1.0 - self.spreading) / self.spreading * misfit;
        Objective::new([("manifold", roughness), ("discrimination", discrimination)])
    }

    /// What the user should know of the solution.
    fn tell(&self, converged: bool, (unreached, all): (usize, usize), turns: &mut Turns<'_>) {
        if !converged {
            let limit = self.max_iterations;
            turns.notice(&format!(
                "the solver stopped after {limit} iterations before it converged; raise \
                 max_iterations or tolerance"
            ));
        }
        if unreached > 0 {
            turns.notice(&format!(
                "no label reaches {unreached} of {all} samples; each takes the label of the nearest \
                 labelled sample"
            ));
        }
    }

    /// The same where the samples lie in several parts: those given are the ones that the model keeps. The width
    /// comes from these, and new samples are tied to these.
    fn learn_in_parts<T: Real>(
        &self,
        crew: &dyn Crew,
        given: &Given<'_, T>,
        turns: &mut Turns<'_>,
    ) -> Result<Learnt<T>> {
        let (n_neighbors, n_kept) = (self.n_neighbors, given.labels.len());
        let mut parts = Spreading::new(crew, given.labels.classes().len());
        let (weight, rule) = turns.graph(self.max_iterations, |_| {
            Ok(match self.kernel {
                Kernel::Heat => {
                    check("width", self.width, Allowed::Above(0.0))?;
                    let (width, shift) = (self.width.resolve(&given.samples), parts.least()?);
                    let rule = Rule::Heat { n_neighbors, width, shift };
                    (PairWeight::Heat { width, shift }, rule)
                }
                Kernel::Neighbours => {
                    (PairWeight::One, Rule::Neighbours { n_neighbors, both_ways: true })
                }
            })
        })?;
        let (known, classes) = given.labelled();
        let of_classes = &given.weights.of_classes;
        let found = parts.spread(&self.spread(), weight, of_classes, (known, &classes))?;
        self.tell(found.converged, (found.n_unreached, crew.counts().0), turns);
        if let Some(balance) = Balance::new(&self.shares, &given.samples, &given.labels)? {
            parts.balance(&balance)?;
        }
        let (shares, radii) = parts.kept(n_kept)?;
        turns.end(found.iterations, self.objective(found.roughness, found.misfit));
        // Where the model keeps fewer, a sample's neighbours among those lie farther.
        let memory = match n_kept == crew.counts().0 {
            true => radii,
            false => radii_of(&given.samples, n_neighbors),
        };
        let attachment = Attachment::remembering(rule, memory);
        let vote = Vote { shares, voters: Voters::All, weights: None, attachment };
        let stop = if found.converged { Stop::Converged } else { Stop::Limit };
        Ok(Learnt::without_atoms(Decision::vote(vote), stop))
    }

    fn connect<T: Real>(&self, given: &Given<'_, T>) -> Result<Connected<T>> {
        let Self { n_neighbors, width, neighbours: search, .. } = *self;
        match (given.graph, self.kernel) {
            (Some(graph), _) => graph.build(&given.samples),
            (None, Kernel::Heat) => Heat { n_neighbors, width, search }.build(&given.samples),
            (None, Kernel::Neighbours) => Equal { n_neighbors, search }.build(&given.samples),
        }
    }
}

/// Class-mass normalisation (Zhu, Ghahramani, Lafferty 2003), with as many rounds as the shares need.
fn move_shares<T: Real>(balance: &Balance, open: &[usize], shares: &mut Matrix<T>) {
    let mut votes = shares.select_columns(open);
    let factors = balance.factors(&votes, &vec![1.0; open.len()]);
    scale_columns(&mut votes, &factors);
    for (at, &j) in open.iter().enumerate() {
        shares.column_mut(j).copy_from_slice(votes.column(at));
    }
}

/// Gives the chosen samples the label of the labelled sample nearest to each.
fn follow_nearest<T: Real>(given: &Given<'_, T>, chosen: &[usize], shares: &mut Matrix<T>) {
    let (features, labels) = (&given.samples, &given.labels);
    let known = labels.labelled();
    let (known_features, open) = (features.select_columns(&known), features.select_columns(chosen));
    let nearest = Neighbours::between(&known_features, &open, 1);
    for (at, &i) in chosen.iter().enumerate() {
        let label = labels.assigned()[known[nearest.of(at)[0] as usize]];
        label.into_iter().for_each(|class| shares.column_mut(i)[class] = T::one());
    }
}
