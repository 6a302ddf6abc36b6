//! A random forest: labelled training samples vote on a new sample wherever they share a leaf with it.
//!
//! $$F(x)=\frac1T\sum_t\frac1{|\ell_t(x)|}\sum_{j\in\ell_t(x)}y_j,$$
//!
//! with $\ell_t(x)$ the labels drawn for tree $t$ in the leaf of $x$: a mean of labels, in which a label counts by how
//! often its sample and the new one fall together. A label is drawn as often as it counts. Trees ask for one feature at
//! a time, whether it is above a threshold. So the scale of features and their tails mean nothing to them, while the
//! length that a preparation takes from a sample means much: they see samples with their length given back ([`Coded::lengths`](super::Coded)).

mod grow;

use std::borrow::Cow;

use serde::{Deserialize, Serialize};

use self::grow::{Ground, Grown, ranks};
use crate::samples::prepare::lengthen;
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
        let reach: Option<Vec<f64>> = weights.map(|all| {
            let mut sum = 0.0;
            let mut until = |&place: &usize| {
                sum += all[place].wide();
                sum
            };
            places.iter().map(&mut until).collect()
        });
        let rows = Matrix::from_fn(samples.columns(), samples.rows(), |j, i| samples.column(j)[i]);
        let ground = Ground {
            features: &rows,
            ranks: &ranks(&rows),
            classes: &labels.known_classes(),
            reach: reach.as_deref(),
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
        let walk = Walk::new(&plan, &voters, n_features, labels).unwrap_or_default();
        let lengths = lengths.map(<[T]>::to_vec);
        Self { n_features, plan, cuts, voters, lengths, walk }
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
        let mut found: Vec<(usize, f64)> = Vec::new();
        for &root in &self.walk.roots {
            let own = &self.voters[range(&self.walk.ends, self.leaf(root, &x))];
            let all = (own.len() * self.n_trees()) as f64;
            found.extend(own.iter().map(|&j| (j as usize, 1.0 / all)));
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
        SavedForest { lengths: self.lengths.is_some() }
    }

    /// The numbers.
    pub(super) fn stored(&self) -> Vec<(&'static str, Stored<'_, T>)> {
        let mut all = vec![
            ("forest_plan", Stored::Whole(Cow::Borrowed(&self.plan))),
            ("forest_cuts", Stored::List(&self.cuts)),
            ("forest_voters", Stored::Whole(Cow::Borrowed(&self.voters))),
        ];
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
        let lengths = saved.lengths.then(|| source.list("forest_lengths", labels.len()));
        let lengths = lengths.transpose()?;
        let walk = Walk::new(&plan, &voters, n_features, labels);
        let walk = walk.ok_or_else(|| source.refuse("its trees are not whole"))?;
        Ok(Self { n_features, plan, cuts, voters, lengths, walk })
    }
}

impl Walk {
    /// Follows all nodes; `None` if they are not whole trees with labelled samples in every leaf.
    fn new(plan: &[u32], voters: &[u32], n_features: usize, labels: &Labels) -> Option<Self> {
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
            walk.add_leaf(entry as usize - n_features, voters, labels)?;
            is_root = open.is_empty();
            if let Some(cut) = open.pop() {
                walk.next[cut] = u32::try_from(node + 1).ok()?;
            }
        }
        let is_whole = is_root && !plan.is_empty();
        (is_whole && walk.ends.last().is_some_and(|&end| end as usize == voters.len()))
            .then_some(walk)
    }

    fn add_leaf(&mut self, size: usize, voters: &[u32], labels: &Labels) -> Option<()> {
        let start = self.ends.last().map_or(0, |&end| end as usize);
        let own = voters.get(start..start.checked_add(size)?).filter(|own| !own.is_empty())?;
        let first = self.shares.len();
        for &voter in own {
            let class = (*labels.assigned().get(voter as usize)?)? as u32;
            match self.shares[first..].iter_mut().find(|(known, _)| *known == class) {
                Some((_, share)) => *share += 1.0,
                None => self.shares.push((class, 1.0)),
            }
        }
        self.shares[first..].iter_mut().for_each(|(_, share)| *share /= size as f64);
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::{self, Purpose, normal};

    const GROWTH: Growth = Growth { n_trees: 40, min_leaf: 1 };

    /// Two classes by the sign of the first of four features, and no noise; one label in `every`.
    fn halves(n: usize, every: usize) -> (Matrix<f64>, Labels, Vec<usize>) {
        let mut rng = random::stream(3, Purpose::Noise);
        let samples = Matrix::from_fn(4, n, |_, _| normal(&mut rng));
        let truth: Vec<usize> = samples.iter_columns().map(|x| usize::from(x[0] > 0.0)).collect();
        let assigned = (0..n).map(|j| (j % every == 0).then_some(truth[j])).collect();
        (samples, Labels::new(vec!["a".into(), "b".into()], assigned).expect("sound"), truth)
    }

    fn grown(samples: &Matrix<f64>, labels: &Labels, lengths: Option<&[f64]>) -> Forest<f64> {
        let known = samples.select_columns(&labels.labelled());
        Forest::grow((&known, labels), (None, lengths), GROWTH, 5)
    }

    fn right(shares: &Matrix<f64>, truth: &[usize]) -> f64 {
        let found = shares.iter_columns().map(super::super::best);
        found.zip(truth).filter(|(a, b)| a == *b).count() as f64 / truth.len() as f64
    }

    #[test]
    fn a_threshold_is_found_whatever_the_scale_of_its_feature() {
        let (samples, labels, truth) = halves(400, 5);
        let shares = grown(&samples, &labels, None).of_training(2, &samples);
        assert!(right(&shares, &truth) > 0.9, "{}", right(&shares, &truth));
        let stretched = Matrix::from_fn(4, 400, |i, j| 1e3 * samples.column(j)[i].sinh());
        let other = grown(&stretched, &labels, None).of_training(2, &stretched);
        assert!(right(&other, &truth) > 0.9, "the order of values is what counts");
    }

    #[test]
    fn lengths_are_given_back() {
        let (samples, labels, _) = halves(200, 4);
        let lengths: Vec<f64> =
            samples.iter_columns().map(|x| crate::matrix::squared_norm(x).sqrt()).collect();
        let short = Matrix::from_fn(4, 200, |i, j| samples.column(j)[i] / lengths[j]);
        let plain = grown(&samples, &labels, None).of_training(2, &samples);
        let forest = grown(&short, &labels, Some(&lengths));
        assert_eq!(forest.of_training(2, &short), plain);
        assert_eq!(forest.judge(2, &short, Some(&lengths)), plain);
    }

    #[test]
    fn shares_are_the_votes_of_labelled_samples() {
        let (samples, labels, _) = halves(90, 3);
        let weights: Vec<f64> = (0..90).map(|j| 1.0 + (j % 5) as f64).collect();
        let known = samples.select_columns(&labels.labelled());
        let forest = Forest::grow((&known, &labels), (Some(&weights), None), GROWTH, 5);
        assert_ne!(
            forest.judge(2, &samples, None),
            grown(&samples, &labels, None).judge(2, &samples, None)
        );
        let shares = forest.of_training(2, &samples);
        for (j, column) in shares.iter_columns().enumerate() {
            let mut votes = [0.0; 2];
            for (voter, weight) in forest.voters_on_training(&samples, j) {
                votes[labels.assigned()[voter].expect("labelled")] += weight;
            }
            assert!((votes[0] - column[0]).abs() < 1e-12 && (votes[1] - column[1]).abs() < 1e-12);
        }
    }

    #[test]
    fn nothing_to_cut_leaves_the_shares_of_the_draws() {
        let labels = Labels::from_names(&[Some("a"), Some("b"), None, Some("a")]);
        for value in [0.0, 7.5, f64::MAX] {
            let samples = Matrix::from_fn(3, 4, |_, _| value);
            let shares = grown(&samples, &labels, Some(&[1.0, f64::MAX, 0.0, 2.0]));
            let shares = shares.of_training(2, &samples);
            assert!(shares.as_slice().iter().all(|share| (0.0..=1.0).contains(share)));
        }
        // Rounding is no difference.
        let same = Matrix::from_fn(1, 4, |_, j| 1.0 + 1e-9 * j as f64);
        let shares = grown(&same, &labels, None).of_training(2, &same);
        assert_eq!(shares.column(0), shares.column(3));
    }

    #[test]
    fn leaves_have_as_many_draws_as_asked_for() {
        let (samples, labels, _) = halves(60, 2);
        let known = samples.select_columns(&labels.labelled());
        let growth = Growth { n_trees: 9, min_leaf: 4 };
        let forest = Forest::grow((&known, &labels), (None, None), growth, 1);
        let sizes = forest.plan.iter().filter(|&&entry| entry >= 4).map(|entry| entry - 4);
        assert_eq!(forest.n_trees(), 9);
        assert_eq!(sizes.clone().sum::<u32>(), 9 * 30);
        assert!(sizes.clone().all(|size| size >= 4), "{:?}", sizes.collect::<Vec<u32>>());
    }

    #[test]
    fn plans_that_are_no_trees_are_refused() {
        let labels = Labels::from_names(&[Some("a"), Some("b"), None]);
        let walk = |plan: &[u32], voters: &[u32]| Walk::new(plan, voters, 2, &labels);
        assert!(walk(&[0, 3, 3, 4], &[0, 1, 0, 1]).is_some(), "a cut with two leaves, and a leaf");
        assert!(walk(&[], &[]).is_none(), "no tree");
        assert!(walk(&[0, 3], &[0]).is_none(), "the second leaf is missing");
        assert!(walk(&[2], &[]).is_none(), "a leaf without draws");
        assert!(walk(&[4], &[0]).is_none() && walk(&[3], &[0, 1]).is_none(), "other draws");
        assert!(walk(&[3], &[2]).is_none(), "a draw without a label");
        assert!(walk(&[3], &[3]).is_none(), "a draw that is no sample");
        assert!(walk(&[u32::MAX], &[0]).is_none());
    }
}
