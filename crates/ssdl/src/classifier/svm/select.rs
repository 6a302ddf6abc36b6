//! The box constraint by stratified cross-validation.

use super::dual::{Binary, CodeRows};
use super::{Loss, SvmTrainer, Targets};
use crate::classifier::best;
use crate::knobs::{Allowed, check};
use crate::random::{self, Purpose};
use crate::threads::Loops;
use crate::{Error, Matrix, Real, Result, order};

/// The outcome of a cross-validation.
#[derive(Clone, Debug, PartialEq)]
pub struct Chosen {
    /// The value of the grid to train with.
    pub box_constraint: f64,
    /// For each value, in the order given: the share of samples whose class was found by classifiers
    /// that had not seen them. Empty if there was no cross-validation.
    pub accuracy: Vec<f64>,
    /// The number of folds: fewer than requested where a class is small, 0 where a class has a
    /// single sample and the middle of the grid was taken unchecked.
    pub folds_used: usize,
}

impl SvmTrainer {
    /// Chooses the box constraint from `grid` by cross-validation over [`stratified_folds`]; ties go
    /// to the smaller value, the simpler classifier.
    ///
    /// Every class must be found in every training part. So if the smallest class (of those that
    /// have samples) has fewer samples than there are folds, there are only that many folds; if it
    /// has one, cross-validation is impossible and the middle value is taken, of two the smaller.
    /// [`Chosen::folds_used`] is the number used. Cost: a [`fit`](Self::fit) per fold and value, each
    /// started from the one before.
    ///
    /// # Errors
    /// As [`fit`](Self::fit), and if `grid` is empty, a value in it is not above 0 and finite, or
    /// `folds` is below 2.
    #[inline(never)]
    pub fn choose_box<T: Real>(
        &self,
        codes: &Matrix<T>,
        classes: &[usize],
        n_classes: usize,
        grid: &[f64],
        folds: usize,
    ) -> Result<Chosen> {
        let weights = vec![1.0; classes.len()];
        let targets = Targets { classes, weights: &weights, n_classes };
        self.choose_weighted_box(codes, targets, grid, folds)
    }

    /// The same where samples count differently, in training and when they are held out.
    ///
    /// # Errors
    /// As [`choose_box`](Self::choose_box), and if a weight is not above 0 and finite.
    #[inline(never)]
    pub fn choose_weighted_box<T: Real>(
        &self,
        codes: &Matrix<T>,
        targets: Targets<'_>,
        grid: &[f64],
        folds: usize,
    ) -> Result<Chosen> {
        self.check(codes, &targets)?;
        let Targets { classes, weights, n_classes } = targets;
        check("folds", folds, Allowed::WholeFrom(2))?;
        let ascending = sorted(grid)?;
        let mut sizes = vec![0; n_classes];
        classes.iter().for_each(|&class| sizes[class] += 1);
        let smallest = sizes.iter().copied().filter(|&size| size > 0).min().unwrap_or(0);
        if smallest < 2 {
            let middle = ascending[(ascending.len() - 1) / 2];
            return Ok(Chosen {
                box_constraint: grid[middle],
                accuracy: Vec::new(),
                folds_used: 0,
            });
        }
        let folds = folds.min(smallest);
        let present: Vec<usize> = (0..n_classes).filter(|&class| sizes[class] > 0).collect();
        let rows = CodeRows::of(codes);
        let fold_of = stratified_folds(classes, folds, self.seed);
        let boxes: Vec<f64> = ascending.iter().map(|&at| grid[at]).collect();
        let right = (0..folds).gather(|fold| {
            let (held_out, members) = (0..classes.len()).partition(|&i| fold_of[i] == fold);
            Part { rows: &rows, targets, present: &present, held_out, members }
                .count_right(self, &boxes)
        });
        // Sums over all folds, not a mean of shares: equal values are equal to the bit.
        let total = |at: usize| right.iter().map(|sums| sums[at]).sum::<f64>();
        let totals: Vec<f64> = (0..boxes.len()).map(total).collect();
        let all: f64 = weights.iter().sum();
        let top =
            (1..boxes.len()).fold(0, |top, at| if totals[at] > totals[top] { at } else { top });
        let mut accuracy = vec![0.0; grid.len()];
        for (&at, &total) in ascending.iter().zip(&totals) {
            accuracy[at] = total / all;
        }
        Ok(Chosen { box_constraint: boxes[top], accuracy, folds_used: folds })
    }
}

/// Indices of the grid in ascending order of its values.
fn sorted(grid: &[f64]) -> Result<Vec<usize>> {
    if grid.is_empty() {
        return Err(Error::Knob {
            name: "box_constraint".into(),
            got: "an empty grid".into(),
            allowed: "at least one number above 0".into(),
        });
    }
    for &value in grid {
        check("box_constraint", value, Allowed::Above(0.0))?;
    }
    let mut ascending: Vec<usize> = (0..grid.len()).collect();
    order::places_by(&mut ascending, |a, b| grid[a].total_cmp(&grid[b]));
    Ok(ascending)
}

/// The fold of each sample: the samples of each class are shuffled and dealt out in turn, and the
/// deal goes on from class to class. So the sizes of the folds differ by at most one, and so do
/// the shares of every class in them. Cost $O(N)$; `folds` is taken as 1 if it is 0.
#[must_use]
pub fn stratified_folds(classes: &[usize], folds: usize, seed: u64) -> Vec<usize> {
    let mut rng = random::stream(seed, Purpose::Folds);
    let mut order: Vec<usize> = (0..classes.len()).collect();
    order::places_by(&mut order, |a, b| classes[a].cmp(&classes[b]));
    for class in order.chunk_by_mut(|&i, &j| classes[i] == classes[j]) {
        random::shuffle(class, &mut rng);
    }
    let mut fold_of = vec![0; classes.len()];
    order.iter().enumerate().for_each(|(turn, &i)| fold_of[i] = turn % folds.max(1));
    fold_of
}

/// One fold held out.
struct Part<'a, T> {
    rows: &'a CodeRows<T>,
    targets: Targets<'a>,
    /// The classes that have samples.
    present: &'a [usize],
    held_out: Vec<usize>,
    members: Vec<usize>,
}

impl<T: Real> Part<'_, T> {
    /// The weight of the held-out samples that get their class, for each box constraint (ascending).
    fn count_right(&self, svm: &SvmTrainer, boxes: &[f64]) -> Vec<f64> {
        let mut duals = vec![vec![0.0; self.members.len()]; self.present.len()];
        let mut sums = Vec::with_capacity(boxes.len());
        for &box_constraint in boxes {
            // The dual variables found are feasible for the next, larger box, and near its solution.
            let weights = duals.iter_mut().zip(self.present).gather(|(dual, &class)| {
                let task = self.task(class, svm.loss, box_constraint);
                let solution = svm.solve(&task, class, std::mem::take(dual));
                *dual = solution.dual;
                solution.weights
            });
            let right = self.held_out.iter().filter(|&&i| {
                let scores: Vec<f64> = weights.iter().map(|w| self.rows.score(i, w)).collect();
                self.present[best(&scores)] == self.targets.classes[i]
            });
            sums.push(right.map(|&i| self.targets.weights[i]).sum());
        }
        sums
    }

    fn task(&self, class: usize, loss: Loss, box_constraint: f64) -> Binary<'_, T> {
        Binary::new(self.rows, &self.members, self.targets, class, loss, box_constraint)
    }
}
