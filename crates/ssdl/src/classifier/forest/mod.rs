//! A random forest: labelled training samples vote on a new sample wherever they share a leaf with it.
//!
//! $$F(x)=\frac1T\sum_t\frac{\sum_{j\in\ell_t(x)}w_jy_j}{\sum_{j\in\ell_t(x)}w_j},$$
//!
//! with $\ell_t(x)$ the leaf of $x$ in tree $t$: a mean of labels, in which a label counts by how often its sample
//! and the new one fall together. Trees ask for one feature at a time, whether it is above a threshold. So the
//! scale of features and their tails mean nothing to them, while the length that a preparation takes from a
//! sample means much: they see samples with their length given back ([`Coded::lengths`](super::Coded)).

mod grow;

use std::borrow::Cow;

use serde::{Deserialize, Serialize};

use self::grow::{Grown, Ground};
use crate::stored::{Source, Stored};
use crate::threads::Loops;
use crate::{Labels, Matrix, Real, Result};

/// How a forest grows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Growth {
    /// $T$.
    pub n_trees: usize,
    /// Draws in a leaf, at least.
    pub min_leaf: usize,
}

/// Trees, and the training samples in their leaves.
#[derive(Clone, Debug, PartialEq)]
pub struct Forest<T> {
    /// Features of a prepared sample, $n$.
    n_features: usize,
    /// All nodes, as [`Grown`] has them.
    plan: Vec<u32>,
    cuts: Vec<T>,
    /// The training samples drawn, leaf after leaf.
    voters: Vec<u32>,
    /// How much each training sample's vote counts; `None`: all the same.
    weights: Option<Vec<T>>,
    /// The length of each training sample before its preparation took it.
    lengths: Option<Vec<T>>,
    walk: Walk,
}

/// What follows from the nodes.
#[derive(Clone, Debug, Default, PartialEq)]
struct Walk {
    /// The first node of each tree.
    roots: Vec<u32>,
    /// For a cut the node above it, for a leaf its number.
    next: Vec<u32>,
    /// Where the voters of each leaf end.
    ends: Vec<u32>,
    /// Where the shares of each leaf end.
    shares_end: Vec<u32>,
    /// Classes with their shares, leaf after leaf.
    shares: Vec<(u32, f64)>,
}

/// A forest in the header of a model file.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(crate) struct SavedForest {
    /// Whether votes count differently.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    weighted: bool,
    /// Whether the preparation takes the length of samples.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    lengths: bool,
}

impl<T: Real> Forest<T> {
    /// A forest on the labelled ones of these prepared samples ($n\times N$), whose lengths and weights are given for
    /// all, or not. Cost $O(T\sqrt nN_l\log^2N_l)$; the same bits for any number of threads.
    #[must_use]
    #[inline(never)]
    pub fn grow(
        (labelled, labels): (&Matrix<T>, &Labels),
        (weights, lengths): (Option<&[T]>, Option<&[T]>),
        growth: Growth,
        seed: u64,
    ) -> Self {
        let places = labels.labelled();
        let mut samples = labelled.clone();
        if let Some(lengths) = lengths {
            let columns = samples.columns_mut().zip(&places);
            columns.for_each(|(x, &place)| lengthen(x, lengths[place]));
        }
        let own: Vec<T> = match weights {
            Some(all) => places.iter().map(|&place| all[place]).collect(),
            None => vec![T::one(); places.len()],
        };
        let ground = Ground {
            samples: &samples,
            classes: &labels.known_classes(),
            weights: &own,
            n_classes: labels.classes().len(),
            min_leaf: growth.min_leaf.max(1),
        };
        let trees = (0..growth.n_trees as u32).gather(|number| ground.grow(seed, number));
        let (mut plan, mut cuts, mut voters) = (Vec::new(), Vec::new(), Vec::new());
        for Grown { plan: nodes, cuts: own, drawn } in trees {
            plan.extend(nodes);
            cuts.extend(own);
            voters.extend(drawn.into_iter().map(|at| places[at as usize] as u32));
        }
        let n_features = labelled.rows();
        let walk = Walk::new(&plan, &voters, n_features, labels, weights).unwrap_or_default();
        let (weights, lengths) = (weights.map(<[T]>::to_vec), lengths.map(<[T]>::to_vec));
        Self { n_features, plan, cuts, voters, weights, lengths, walk }
    }

    /// Features of a prepared sample.
    #[must_use]
    pub fn n_features(&self) -> usize {
        self.n_features
    }

    /// Trees.
    #[must_use]
    pub fn n_trees(&self) -> usize {
        self.walk.roots.len()
    }

    /// Shares of the classes ($C\times M$) in prepared samples ($n\times M$) of these lengths, each independent of the
    /// others; columns sum to one.
    #[must_use]
    pub fn judge(&self, n_classes: usize, new: &Matrix<T>, lengths: Option<&[T]>) -> Matrix<T> {
        let mut out = Matrix::zeros(n_classes, new.columns());
        out.columns_mut().enumerate().runs_of(64).each_with(
            || (Vec::new(), vec![0.0; n_classes]),
            |(x, sums), (j, column)| {
                self.see(new.column(j), lengths.map(|all| all[j]), x);
                sums.fill(0.0);
                for &root in &self.walk.roots {
                    let leaf = self.leaf(root, x);
                    let shares = &self.walk.shares[range(&self.walk.shares_end, leaf)];
                    shares.iter().for_each(|&(class, share)| sums[class as usize] += share);
                }
                let all: f64 = sums.iter().sum();
                let columns = column.iter_mut().zip(&*sums);
                columns.for_each(|(out, sum)| *out = T::of(sum / all));
            },
        );
        out
    }

    /// Shares of the classes in the training samples, $C\times N$.
    #[must_use]
    pub fn of_training(&self, n_classes: usize, samples: &Matrix<T>) -> Matrix<T> {
        self.judge(n_classes, samples, self.lengths.as_deref())
    }

    /// The training samples that vote on a prepared sample and how much each counts, in their order; together one.
    #[must_use]
    pub fn voters(&self, sample: &[T], length: Option<T>) -> Vec<(usize, f64)> {
        let mut x = Vec::new();
        self.see(sample, length, &mut x);
        let weight = |j: u32| self.weights.as_ref().map_or(1.0, |all| all[j as usize].wide());
        let mut found: Vec<(usize, f64)> = Vec::new();
        for &root in &self.walk.roots {
            let own = &self.voters[range(&self.walk.ends, self.leaf(root, &x))];
            let all = own.iter().map(|&j| weight(j)).sum::<f64>() * self.n_trees() as f64;
            found.extend(own.iter().map(|&j| (j as usize, weight(j) / all)));
        }
        found.sort_by_key(|(sample, _)| *sample);
        found.dedup_by(|more, first| {
            let is_same = more.0 == first.0;
            first.1 += if is_same { more.1 } else { 0.0 };
            is_same
        });
        found
    }

    /// The same for a training sample.
    #[must_use]
    pub fn voters_on_training(&self, samples: &Matrix<T>, place: usize) -> Vec<(usize, f64)> {
        self.voters(samples.column(place), self.lengths.as_ref().map(|all| all[place]))
    }

    /// A sample as the trees see it.
    fn see(&self, sample: &[T], length: Option<T>, x: &mut Vec<T>) {
        x.clear();
        x.extend_from_slice(sample);
        // A model whose preparation takes no length ignores one.
        length.filter(|_| self.lengths.is_some()).into_iter().for_each(|by| lengthen(x, by));
    }

    /// The number of the leaf that a sample falls into.
    fn leaf(&self, root: u32, x: &[T]) -> usize {
        let mut node = root as usize;
        while let Some(&value) = x.get(self.plan[node] as usize) {
            node = if value <= self.cuts[node] { node + 1 } else { self.walk.next[node] as usize };
        }
        self.walk.next[node] as usize
    }

    /// The part for the header.
    pub(crate) fn saved(&self) -> SavedForest {
        SavedForest { weighted: self.weights.is_some(), lengths: self.lengths.is_some() }
    }

    /// The numbers.
    pub(super) fn stored(&self) -> Vec<(&'static str, Stored<'_, T>)> {
        let mut all = vec![
            ("forest_plan", Stored::Whole(Cow::Borrowed(&self.plan))),
            ("forest_cuts", Stored::List(&self.cuts)),
            ("forest_voters", Stored::Whole(Cow::Borrowed(&self.voters))),
        ];
        all.extend(self.weights.iter().map(|list| ("forest_weights", Stored::List(list))));
        all.extend(self.lengths.iter().map(|list| ("forest_lengths", Stored::List(list))));
        all
    }

    /// From a file, for prepared samples of `n_features`.
    pub(super) fn restore(
        saved: SavedForest,
        source: &dyn Source<T>,
        labels: &Labels,
        n_features: usize,
    ) -> Result<Self> {
        let plan = source.whole("forest_plan")?;
        let cuts = source.list("forest_cuts", plan.len())?;
        let voters = source.whole("forest_voters")?;
        let list = |is: bool, name| is.then(|| source.list(name, labels.len())).transpose();
        let weights = list(saved.weighted, "forest_weights")?;
        let lengths = list(saved.lengths, "forest_lengths")?;
        if weights.iter().flatten().any(|weight| *weight <= T::zero()) {
            return Err(source.refuse("the weight of a vote is not above zero"));
        }
        let walk = Walk::new(&plan, &voters, n_features, labels, weights.as_deref());
        let walk = walk.ok_or_else(|| source.refuse("its trees are not whole"))?;
        Ok(Self { n_features, plan, cuts, voters, weights, lengths, walk })
    }
}

impl Walk {
    /// Follows all nodes; `None` if they are not whole trees with labelled samples in every leaf.
    fn new<T: Real>(
        plan: &[u32],
        voters: &[u32],
        n_features: usize,
        labels: &Labels,
        weights: Option<&[T]>,
    ) -> Option<Self> {
        let mut walk = Self { next: vec![0; plan.len()], ..Self::default() };
        // Cuts whose upper part has not begun.
        let mut open: Vec<usize> = Vec::new();
        let mut is_root = true;
        for (node, &entry) in plan.iter().enumerate() {
            if is_root {
                walk.roots.push(u32::try_from(node).ok()?);
            }
            if (entry as usize) < n_features {
                open.push(node);
                is_root = false;
                continue;
            }
            walk.next[node] = walk.ends.len() as u32;
            walk.add_leaf(entry as usize - n_features, voters, labels, weights)?;
            is_root = open.is_empty();
            if let Some(cut) = open.pop() {
                walk.next[cut] = u32::try_from(node + 1).ok()?;
            }
        }
        let is_whole = is_root && !plan.is_empty();
        (is_whole && walk.ends.last().is_some_and(|&end| end as usize == voters.len())).then_some(walk)
    }

    fn add_leaf<T: Real>(
        &mut self,
        size: usize,
        voters: &[u32],
        labels: &Labels,
        weights: Option<&[T]>,
    ) -> Option<()> {
        let start = self.ends.last().map_or(0, |&end| end as usize);
        let own = voters.get(start..start.checked_add(size)?).filter(|own| !own.is_empty())?;
        let first = self.shares.len();
        for &voter in own {
            let class = (*labels.assigned().get(voter as usize)?)? as u32;
            let weight = weights.map_or(1.0, |all| all[voter as usize].wide());
            match self.shares[first..].iter_mut().find(|(known, _)| *known == class) {
                Some((_, share)) => *share += weight,
                None => self.shares.push((class, weight)),
            }
        }
        let all: f64 = self.shares[first..].iter().map(|(_, share)| share).sum();
        self.shares[first..].iter_mut().for_each(|(_, share)| *share /= all);
        self.ends.push((start + size) as u32);
        self.shares_end.push(u32::try_from(self.shares.len()).ok()?);
        Some(())
    }
}

/// The part of a list that belongs to an entry, by where those of all entries end.
fn range(ends: &[u32], at: usize) -> std::ops::Range<usize> {
    let start = at.checked_sub(1).map_or(0, |before| ends[before] as usize);
    start..ends[at] as usize
}

fn lengthen<T: Real>(x: &mut [T], length: T) {
    let long = |value: T| T::of(value.wide() * length.wide());
    x.iter_mut().for_each(|value| *value = long(*value).max(T::min_value()).min(T::max_value()));
}
