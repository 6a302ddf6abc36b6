//! How a new sample joins the training graph: pulled to a mean $m$ of codes with a strength $\kappa$.
//!
//! Every graph ends in the same problem for a new sample,
//! $$\min_a\lVert x-Da\rVert^2+\kappa\lVert a-m\rVert^2+\lambda\lVert a\rVert_1,$$
//! and differs only in $(\kappa, m)$.

use std::sync::{Arc, OnceLock};

use serde::{Deserialize, Serialize};

use super::distances::each_query;
use super::expressive::express;
use super::learnt::Joiner;
use super::lle::{barycentres, mixed_elsewhere};
use super::nearby::Cells;
use super::neighbours::Neighbours;
use crate::matrix::squared_distance;
use crate::sparse::Csr;
use crate::threads::Loops;
use crate::{Matrix, Real, Result, device};

/// Beyond this strength a code is the mean of its anchors to more digits than matter, and single
/// precision still holds the rest of the problem.
const MAX_STRENGTH: f64 = 1e6;

/// The rule by which new samples join, with the numbers it must keep about the training samples.
#[derive(Clone, Debug, PartialEq)]
pub struct Attachment<T> {
    /// The graph's rule.
    pub rule: Rule,
    /// Factor on every strength: the $\omega$ of the training graph, and the paper's ½ if requested.
    pub scale: f64,
    /// One number per training sample, where the rule needs it: squared radii for heat and
    /// neighbours, potentials for learnt.
    pub memory: Vec<T>,
    /// How much of the true neighbours the search of the training graph has found, from 0 to 1, where it
    /// was approximate: new samples are then searched through an index. `None`: all are exact.
    pub recall: Option<f64>,
    pub(super) index: Index,
}

/// The index of the training samples, built when new samples first ask for it.
#[derive(Clone, Default)]
pub(super) struct Index(Arc<OnceLock<Cells>>);

impl std::fmt::Debug for Index {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(if self.0.get().is_some() { "built" } else { "not yet built" })
    }
}

/// An index follows from the samples; it adds nothing of its own.
impl PartialEq for Index {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

/// Which training samples a new one is tied to, and how.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "graph", rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Rule {
    /// $\kappa=\omega$, $m$ the barycentre of the $k$ nearest.
    Lle {
        /// $k$.
        n_neighbors: usize,
    },
    /// $\kappa=\omega\sum_jw_j$, $m=\sum_jw_ja_j/\sum_jw_j$ over the $k$ nearest and over those that
    /// would count the new sample among their own $k$ nearest.
    Heat {
        /// $k$.
        n_neighbors: usize,
        /// σ.
        width: f64,
        /// Squared distance at which the weight is one.
        shift: f64,
    },
    /// $\kappa=\omega m$ with the plain mean of $m$ training samples: the $k$ nearest, nearest first.
    Neighbours {
        /// $k$.
        n_neighbors: usize,
        /// Whether those that would count the new sample among their own $k$ nearest join in.
        both_ways: bool,
    },
    /// As `Heat`, over all training samples within a radius.
    Threshold {
        /// The radius.
        radius: f64,
        /// σ.
        width: f64,
        /// Squared distance at which the weight is one.
        shift: f64,
    },
    /// $\kappa=\omega\sum_jw_j$, $m=\sum_jw_ja_j/\sum_jw_j$ with the weights that the new sample has
    /// in the graph learnt on all training samples and itself.
    Learnt {
        /// $\beta_L$.
        smoothness: f64,
        /// ν of the training graph, where the search starts.
        level: f64,
    },
    /// $\kappa=\omega$, $m=\sum_jv_ja_j$ with the few training samples that the new one is written
    /// with; the weights need not sum to one.
    Expressive {
        /// κ of the self-representation.
        sparsity: f64,
    },
}

impl Rule {
    /// Whether its numbers could have come from a graph; a file may hold anything.
    pub(crate) fn is_sound(&self) -> bool {
        let positive = |v: f64| v.is_finite() && v > 0.0;
        let length = |v: f64| v.is_finite() && v >= 0.0;
        match *self {
            Self::Lle { n_neighbors } | Self::Neighbours { n_neighbors, .. } => n_neighbors > 0,
            Self::Heat { n_neighbors, width, shift } => {
                n_neighbors > 0 && positive(width) && length(shift)
            }
            Self::Threshold { radius, width, shift } => {
                length(radius) && positive(width) && length(shift)
            }
            Self::Learnt { smoothness, level } => positive(smoothness) && level.is_finite(),
            Self::Expressive { sparsity } => positive(sparsity),
        }
    }

    /// Whether it needs a number per training sample.
    pub(crate) fn remembers(&self) -> bool {
        let radii = matches!(self, Self::Heat { .. } | Self::Neighbours { both_ways: true, .. });
        radii || matches!(self, Self::Learnt { .. })
    }
}

/// For each new sample, training samples, the weights whose sum of codes it is pulled to, and how
/// strongly.
#[derive(Clone, Debug)]
pub struct Anchors<T> {
    weights: Csr<T>,
    strength: Vec<T>,
}

impl<T: Real> Anchors<T> {
    /// (training sample, weight) pairs of one new sample; they sum to one unless there are none or the
    /// graph is one of self-representation.
    pub fn of(&self, i: usize) -> impl ExactSizeIterator<Item = (usize, T)> + '_ {
        self.weights.row(i)
    }

    /// The weights of all new samples, a row for each.
    #[must_use]
    pub fn weights(&self) -> &Csr<T> {
        &self.weights
    }

    /// κ/β of one new sample; 0 if it has no anchor.
    #[must_use]
    pub fn strength(&self, i: usize) -> T {
        self.strength[i]
    }

    /// The same anchors, counted among all training samples: `landmarks` are those that they were found
    /// among.
    pub(crate) fn of_landmarks(self, landmarks: &[u32], n_training: usize) -> Self {
        let rows = (0..self.weights.rows())
            .map(|i| self.weights.row(i).map(|(j, weight)| (landmarks[j] as usize, weight)));
        Self { weights: Csr::from_rows(n_training, rows), strength: self.strength }
    }

    /// From (training sample, weight) rows that need not sum to one, and their strengths.
    fn new(n_training: usize, rows: Vec<Anchor>, scale: f64) -> Self {
        let strength = rows.iter().map(|row| T::of((scale * row.strength).min(MAX_STRENGTH)));
        let strength = strength.collect();
        let entries = rows.into_iter().map(|row| {
            let entries = row.weights.into_iter();
            entries.map(|(j, w)| (j, T::of(w))).filter(|(_, w)| *w != T::zero()).collect::<Vec<_>>()
        });
        Self { weights: Csr::from_rows(n_training, entries), strength }
    }
}

/// One new sample: mean weights and strength.
struct Anchor {
    weights: Vec<(usize, f64)>,
    strength: f64,
}

impl Anchor {
    /// From exponents: weights $e^{t_j}$, normalised without overflow; their sum is the strength.
    fn of_exponents(mut exponents: Vec<(usize, f64)>) -> Self {
        let top = exponents.iter().fold(f64::NEG_INFINITY, |top, (_, t)| top.max(*t));
        let mut sum = 0.0;
        for (_, t) in &mut exponents {
            *t = (*t - top).exp();
            sum += *t;
        }
        let strength = sum * top.exp();
        if strength <= 0.0 || strength.is_nan() {
            return Self { weights: Vec::new(), strength: 0.0 };
        }
        exponents.iter_mut().for_each(|(_, w)| *w /= sum);
        Self { weights: exponents, strength }
    }

    /// Equal weights; their number is the strength.
    fn equal(tied: Vec<usize>) -> Self {
        let strength = tied.len() as f64;
        let weights = tied.into_iter().map(|j| (j, 1.0 / strength)).collect();
        Self { weights, strength }
    }

    /// From weights; their sum is the strength.
    fn of_weights(weights: Vec<(u32, f64)>) -> Self {
        let strength: f64 = weights.iter().map(|(_, w)| w).sum();
        let share = |(j, w): (u32, f64)| (j as usize, w / strength);
        if strength > 0.0 {
            Self { weights: weights.into_iter().map(share).collect(), strength }
        } else {
            Self { weights: Vec::new(), strength: 0.0 }
        }
    }
}

impl<T: Real> Attachment<T> {
    /// A rule that needs no memory.
    #[must_use]
    pub fn new(rule: Rule) -> Self {
        Self { rule, scale: 1.0, memory: Vec::new(), recall: None, index: Index::default() }
    }

    /// A rule that needs a number for each training sample.
    #[must_use]
    pub(crate) fn remembering(rule: Rule, memory: Vec<T>) -> Self {
        Self { memory, ..Self::new(rule) }
    }

    /// The same rule, with new samples searched through an index where there is a recall.
    #[must_use]
    pub fn with_recall(self, recall: Option<f64>) -> Self {
        Self { recall, ..self }
    }

    /// The same rule, `factor` times as strong.
    #[must_use]
    pub fn scaled(self, factor: f64) -> Self {
        Self { scale: self.scale * factor, ..self }
    }

    /// As the paper prints it with `halve`, otherwise consistent with the training samples.
    ///
    /// Paper: new samples on heat and threshold graphs carry a factor ½ that training samples (and
    /// new samples on a learnt graph) do not have.
    #[must_use]
    pub fn for_new_samples(self, halve: bool) -> Self {
        match self.rule {
            Rule::Heat { .. } | Rule::Threshold { .. } if halve => self.scaled(0.5),
            _ => self,
        }
    }

    /// The factor taken out of all weights so that they do not underflow.
    pub(super) fn common_factor(&self) -> f64 {
        match self.rule {
            Rule::Heat { width, shift, .. } | Rule::Threshold { width, shift, .. } => {
                exponent(shift, 0.0, width).exp()
            }
            Rule::Lle { .. }
            | Rule::Neighbours { .. }
            | Rule::Learnt { .. }
            | Rule::Expressive { .. } => 1.0,
        }
    }

    /// The same rule with the weights of its formula, nothing taken out. A new sample can be nearer
    /// than any pair of training samples: its weight need not underflow where theirs do.
    pub(super) fn unshifted(mut self) -> Self {
        if let Rule::Heat { shift, .. } | Rule::Threshold { shift, .. } = &mut self.rule {
            *shift = 0.0;
        }
        self
    }

    /// Ties each new sample to the training samples, independently of the other new samples.
    ///
    /// Cost $nN$ per sample for the distances (through an index, a fraction of it), and a small Newton solve each on a learnt graph.
    ///
    /// # Errors
    /// If the learnt graph of a new sample cannot be found.
    #[inline(never)]
    pub fn anchor(&self, training: &Matrix<T>, new: &Matrix<T>) -> Result<Anchors<T>> {
        let rows = match self.rule {
            Rule::Lle { n_neighbors } => self.lle_rows(training, new, n_neighbors),
            Rule::Heat { n_neighbors, width, shift } => {
                self.both_ways(training, new, n_neighbors, |x, tied| {
                    exponents(training, x, tied.into_iter(), (width, shift))
                })
            }
            Rule::Neighbours { n_neighbors, both_ways: true } => {
                self.both_ways(training, new, n_neighbors, |_, tied| Anchor::equal(tied))
            }
            Rule::Neighbours { n_neighbors, both_ways: false } => {
                let lists = self.nearest(training, new, n_neighbors);
                let row = |i| Anchor::equal(lists.of(i).iter().map(|&j| j as usize).collect());
                (0..lists.len()).map(row).collect()
            }
            Rule::Threshold { radius, width, shift } => each_query(training, new, |i, near| {
                let inside = near.iter().enumerate().filter(|(_, z)| z.sqrt() < radius);
                exponents(training, new.column(i), inside.map(|(j, _)| j), (width, shift))
            }),
            Rule::Learnt { smoothness, level } => {
                let potentials: Vec<f64> = self.memory.iter().map(|y| y.wide()).collect();
                let joiner = Joiner::new(training, smoothness, &potentials, level)?;
                let rows = joiner.join(new).into_iter();
                rows.map(Anchor::of_weights).collect()
            }
            Rule::Expressive { sparsity } => {
                let rows = express(training, new, sparsity, false);
                let row = |i: usize| {
                    let weights: Vec<_> = rows.row(i).map(|(j, v)| (j, v.wide())).collect();
                    Anchor { strength: if weights.is_empty() { 0.0 } else { 1.0 }, weights }
                };
                (0..rows.rows()).map(row).collect()
            }
        };
        Ok(Anchors::new(training.columns(), rows, self.scale))
    }

    /// Calls `tie` for every new sample with its $k$ nearest and with those that would count it
    /// among their own, in the order of their indices.
    fn both_ways(
        &self,
        training: &Matrix<T>,
        new: &Matrix<T>,
        k: usize,
        tie: impl Fn(&[T], Vec<usize>) -> Anchor + Sync,
    ) -> Vec<Anchor> {
        if self.recall.is_some() {
            return self.both_ways_nearby(training, new, k, tie);
        }
        let neighbours = Neighbours::between(training, new, k);
        each_query(training, new, |i, near| {
            let (list, x): (&[u32], _) = match neighbours.k() {
                0 => (&[], new.column(i)),
                _ => (neighbours.of(i), new.column(i)),
            };
            let inside = |j: usize, squared: f64| {
                self.memory.get(j).is_some_and(|radius| squared < radius.wide())
            };
            let all = near.iter().enumerate();
            let counted = all.filter(|&(j, z)| list.contains(&(j as u32)) || inside(j, *z));
            tie(x, counted.map(|(j, _)| j).collect())
        })
    }

    /// As `both_ways`, through the index: those that would count the new sample are looked for among
    /// twice as many as it counts itself, and some more.
    fn both_ways_nearby(
        &self,
        training: &Matrix<T>,
        new: &Matrix<T>,
        k: usize,
        tie: impl Fn(&[T], Vec<usize>) -> Anchor + Sync,
    ) -> Vec<Anchor> {
        let (kept, found) = self.index(training).nearest(training, new, k);
        (0..new.columns()).gather(|i| {
            let near = found[i * kept..][..kept].iter().enumerate();
            let counted = near.filter(|(at, (squared, j))| {
                let radius = self.memory.get(*j as usize);
                *at < k || radius.is_some_and(|radius| *squared < radius.wide())
            });
            let mut tied: Vec<usize> = counted.map(|(_, (_, j))| *j as usize).collect();
            tied.sort_unstable();
            tie(new.column(i), tied)
        })
    }

    /// The `k` nearest training samples of new ones, by the search that the graph was built with.
    pub(crate) fn nearest(&self, training: &Matrix<T>, new: &Matrix<T>, k: usize) -> Neighbours {
        if self.recall.is_none() || training.columns() == 0 || device::is_lent(new.columns()) {
            return Neighbours::between(training, new, k);
        }
        let k = k.min(training.columns());
        let (kept, found) = self.index(training).nearest(training, new, k);
        Neighbours::sorted(k, found.chunks(kept.max(1)).map(|list| &list[..k]))
    }

    /// The index of the training samples; it is kept, so they must be the same in every call.
    fn index(&self, training: &Matrix<T>) -> &Cells {
        self.index.0.get_or_init(|| Cells::new(training))
    }

    /// The same rule among some of the training samples.
    #[must_use]
    pub(crate) fn among(&self, places: &[usize]) -> Self {
        let memory = match self.memory.is_empty() {
            true => Vec::new(),
            false => places.iter().map(|&place| self.memory[place]).collect(),
        };
        Self { memory, index: Index::default(), ..self.clone() }
    }

    /// From a file.
    pub(crate) fn restored(rule: Rule, scale: f64, memory: Vec<T>, recall: Option<f64>) -> Self {
        Self { scale, memory, recall, ..Self::new(rule) }
    }

    fn lle_rows(&self, training: &Matrix<T>, new: &Matrix<T>, n_neighbors: usize) -> Vec<Anchor> {
        let (neighbours, weights) = match mixed_elsewhere(training, Some(new), n_neighbors) {
            Some(found) => found,
            None => {
                let neighbours = self.nearest(training, new, n_neighbors);
                let weights = barycentres(training, new, &neighbours);
                (neighbours, weights)
            }
        };
        mixture_rows(&neighbours, &weights, new.columns())
    }

    /// How many training samples are mixed, and κ/β of the mixture; `None` for other rules.
    pub(crate) fn mixture(&self, n_training: usize) -> Option<(usize, T)> {
        let Rule::Lle { n_neighbors } = self.rule else { return None };
        let k = n_neighbors.min(n_training);
        (k > 0).then(|| (k, T::of(self.scale.min(MAX_STRENGTH))))
    }

    /// The anchors of mixtures that were found elsewhere: `k` training samples of each new one.
    pub(crate) fn mixed(
        &self,
        n_training: usize,
        k: usize,
        (lists, weights): (Vec<u32>, Vec<T>),
    ) -> Anchors<T> {
        let count = lists.len() / k.max(1);
        let rows = mixture_rows(&Neighbours::listed(k, lists), &weights, count);
        Anchors::new(n_training, rows, self.scale)
    }
}

/// Mixtures of training samples as anchors.
fn mixture_rows<T: Real>(neighbours: &Neighbours, weights: &[T], count: usize) -> Vec<Anchor> {
    let k = neighbours.k();
    let row = |i: usize| {
        let weights = weights[i * k..][..k].iter().map(|w| w.wide());
        let list: &[u32] = if k > 0 { neighbours.of(i) } else { &[] };
        let weights: Vec<_> = list.iter().map(|&j| j as usize).zip(weights).collect();
        Anchor { strength: if weights.is_empty() { 0.0 } else { 1.0 }, weights }
    };
    (0..count).runs_of(256).gather(row)
}

fn exponents<T: Real>(
    training: &Matrix<T>,
    x: &[T],
    chosen: impl Iterator<Item = usize>,
    (width, shift): (f64, f64),
) -> Anchor {
    let exponent = |j| exponent(squared_distance(training.column(j), x), shift, width);
    Anchor::of_exponents(chosen.map(|j| (j, exponent(j))).collect())
}

/// $-(z-z_0)/2\sigma^2$. Divided one by one: the square of a very small width would be zero.
pub(super) fn exponent(squared: f64, shift: f64, width: f64) -> f64 {
    (shift - squared) / width / width / 2.0
}
