//! Dual coordinate descent with shrinking, for one class against the others.
//!
//! $$\min_\alpha\;\tfrac12\alpha^\top(Q+\operatorname{diag}\delta)\alpha-\mathbf 1^\top\alpha,\quad
//! 0\le\alpha_i\le u_i,\qquad Q_{ij}=y_iy_j\tilde a_i^\top\tilde a_j,\quad
//! \tilde w=\sum_i\alpha_iy_i\tilde a_i,$$
//!
//! with $u_i=Bw_i,\ \delta_i=0$ for the hinge and $u_i=\infty,\ \delta_i=1/(2Bw_i)$ for its square,
//! $w_i$ being the weight of a sample. One variable is
//! minimised over exactly at a time; as $\tilde w$ is kept, that costs one sparse product and, if the
//! variable moves, one sparse sum.

use rand::Rng;

use super::{Loss, Targets};
use crate::random::shuffle;
use crate::sparse::Csr;
use crate::wide::wide;
use crate::{Matrix, Real};

/// How far the projected gradients of the active variables must shrink, relative to those last seen
/// over all variables, before all are checked again.
///
/// Paper: Hsieh et al. first solve for the active variables to the end. That is wasted where some
/// were set aside too early, and the epoch limit may then be reached far from the solution.
const RECHECK: f64 = 0.1;

/// Samples $\tilde a=(a,1)$ as rows; the one is not stored.
pub(super) struct CodeRows<T> {
    codes: Csr<T>,
    squared_norms: Vec<f64>,
}

impl<T: Real> CodeRows<T> {
    pub fn of(codes: &Matrix<T>) -> Self {
        let codes = Csr::of_columns(codes);
        let squared_norms = (0..codes.rows())
            .map(|i| 1.0 + codes.row(i).map(|(_, a)| a.wide() * a.wide()).sum::<f64>())
            .collect();
        Self { codes, squared_norms }
    }

    /// Length of $\tilde w$.
    pub fn width(&self) -> usize {
        self.codes.columns() + 1
    }

    /// $\tilde w^\top\tilde a_i$.
    #[inline(always)]
    pub fn score(&self, i: usize, weights: &[f64]) -> f64 {
        let (columns, values) = self.codes.row_slices(i);
        let p = self.codes.columns();
        let (weights, bias) = (&weights[..p], weights[p]);
        // A full row lists its columns in order: no need to look them up. Several sums side by
        // side, because a single one would wait for each addition.
        let mut lanes = [0.0; 8];
        let mut tail = bias;
        if values.len() == p {
            let (a, w) = (values.chunks_exact(8), weights.chunks_exact(8));
            for (a, w) in a.remainder().iter().zip(w.remainder()) {
                tail += a.wide() * w;
            }
            for (a, w) in a.zip(w) {
                for lane in 0..8 {
                    lanes[lane] += a[lane].wide() * w[lane];
                }
            }
        } else {
            let (a, k) = (values.chunks_exact(4), columns.chunks_exact(4));
            for (a, &k) in a.remainder().iter().zip(k.remainder()) {
                tail += a.wide() * weights[k as usize];
            }
            for (a, k) in a.zip(k) {
                for lane in 0..4 {
                    lanes[lane] += a[lane].wide() * weights[k[lane] as usize];
                }
            }
        }
        lanes.iter().fold(tail, |sum, lane| sum + lane)
    }

    /// $\tilde w\leftarrow\tilde w+c\,\tilde a_i$.
    #[inline(always)]
    fn add(&self, i: usize, c: f64, weights: &mut [f64]) {
        let (columns, values) = self.codes.row_slices(i);
        let p = self.codes.columns();
        weights[p] += c;
        let weights = &mut weights[..p];
        if values.len() == p {
            weights.iter_mut().zip(values).for_each(|(w, a)| *w += c * a.wide());
        } else {
            columns.iter().zip(values).for_each(|(&k, a)| weights[k as usize] += c * a.wide());
        }
    }
}

/// One class against the others, over some of the samples.
pub(super) struct Binary<'a, T> {
    rows: &'a CodeRows<T>,
    members: &'a [usize],
    /// $y$, one entry per member.
    signs: Vec<f64>,
    /// $w$, one entry per member.
    weights: Vec<f64>,
    loss: Loss,
    box_constraint: f64,
}

/// A dual solution and the weights that belong to it.
pub(super) struct Solution {
    /// $\alpha$, one entry per member.
    pub dual: Vec<f64>,
    /// $\tilde w$: the weights, then the bias.
    pub weights: Vec<f64>,
    pub epochs: usize,
    pub converged: bool,
}

/// The state of the descent.
struct State {
    dual: Vec<f64>,
    weights: Vec<f64>,
    /// Positions among the members; the first `active` are visited.
    order: Vec<u32>,
    active: usize,
}

/// The range of projected gradients of an epoch; it always holds 0, their value at the solution.
///
/// Paper: Hsieh et al. omit 0, and equal gradients far from it would pass for a solution.
#[derive(Clone, Copy)]
struct Range {
    least: f64,
    largest: f64,
}

impl Range {
    const ZERO: Self = Self { least: 0.0, largest: 0.0 };
    const EVERYTHING: Self = Self { least: f64::NEG_INFINITY, largest: f64::INFINITY };

    /// The bounds for the next epoch. A side without any gradient is unbounded.
    fn as_bounds(self) -> Self {
        Self {
            least: if self.least < 0.0 { self.least } else { f64::NEG_INFINITY },
            largest: if self.largest > 0.0 { self.largest } else { f64::INFINITY },
        }
    }
}

impl<'a, T: Real> Binary<'a, T> {
    pub fn new(
        rows: &'a CodeRows<T>,
        members: &'a [usize],
        targets: Targets<'_>,
        class: usize,
        loss: Loss,
        box_constraint: f64,
    ) -> Self {
        let sign = |&i: &usize| if targets.classes[i] == class { 1.0 } else { -1.0 };
        let signs = members.iter().map(sign).collect();
        let weights = members.iter().map(|&i| targets.weights[i]).collect();
        Self { rows, members, signs, weights, loss, box_constraint }
    }

    /// $u_i$, the largest value of a dual variable.
    #[inline(always)]
    fn upper(&self, position: usize) -> f64 {
        match self.loss {
            Loss::Hinge => self.box_constraint * self.weights[position],
            Loss::SquaredHinge => f64::INFINITY,
        }
    }

    /// $\delta_i$, what the loss adds to the diagonal.
    #[inline(always)]
    fn diagonal(&self, position: usize) -> f64 {
        match self.loss {
            Loss::Hinge => 0.0,
            Loss::SquaredHinge => 0.5 / (self.box_constraint * self.weights[position]),
        }
    }

    /// Descends from `start`, clipped to the box, until the projected gradients of all variables lie
    /// within `tolerance`, for at most `max_epochs` epochs.
    pub fn solve(
        &self,
        mut start: Vec<f64>,
        tolerance: f64,
        max_epochs: usize,
        rng: &mut impl Rng,
    ) -> Solution {
        for (position, a) in start.iter_mut().enumerate() {
            *a = a.clamp(0.0, self.upper(position));
        }
        let count = self.members.len();
        let weights = self.weights_of(&start);
        let order = (0..count as u32).collect();
        let mut state = State { dual: start, weights, order, active: count };
        let (mut epochs, mut converged) = (0, false);
        let (mut bounds, mut goal) = (Range::EVERYTHING, tolerance);
        while epochs < max_epochs && !converged {
            epochs += 1;
            shuffle(&mut state.order[..state.active], rng);
            let seen = wide(
                #[inline(always)]
                || self.epoch(&mut state, bounds),
            );
            bounds = seen.as_bounds();
            let spread = seen.largest - seen.least;
            if state.active == count {
                goal = tolerance.max(RECHECK * spread);
                converged = spread < tolerance;
            } else if spread < goal {
                // The variables set aside have not been checked since. The next epoch visits all,
                // sets none aside and so can tell whether the whole problem is solved.
                state.active = count;
                bounds = Range::EVERYTHING;
            }
        }
        // Thousands of small steps leave rounding errors in the running sum.
        let weights = self.weights_of(&state.dual);
        Solution { dual: state.dual, weights, epochs, converged }
    }

    /// $\sum_i\alpha_iy_i\tilde a_i$.
    fn weights_of(&self, dual: &[f64]) -> Vec<f64> {
        let mut weights = vec![0.0; self.rows.width()];
        for ((&i, &a), &y) in self.members.iter().zip(dual).zip(&self.signs) {
            if a != 0.0 {
                self.rows.add(i, a * y, &mut weights);
            }
        }
        weights
    }

    /// Visits the active variables once. A variable at its bound whose gradient points outwards by
    /// more than any projected gradient of the last epoch (`bounds`) will most likely stay: it is
    /// set aside.
    #[inline(always)]
    fn epoch(&self, state: &mut State, bounds: Range) -> Range {
        let mut seen = Range::ZERO;
        let mut at = 0;
        while at < state.active {
            let position = state.order[at] as usize;
            let (i, sign) = (self.members[position], self.signs[position]);
            let (upper, diagonal) = (self.upper(position), self.diagonal(position));
            let old = state.dual[position];
            let gradient = sign * self.rows.score(i, &state.weights) - 1.0 + diagonal * old;
            let (projected, aside) = if old <= 0.0 {
                (gradient.min(0.0), gradient > bounds.largest)
            } else if old >= upper {
                (gradient.max(0.0), gradient < bounds.least)
            } else {
                (gradient, false)
            };
            if aside {
                state.active -= 1;
                state.order.swap(at, state.active);
                continue;
            }
            seen.least = seen.least.min(projected);
            seen.largest = seen.largest.max(projected);
            if projected != 0.0 {
                let curvature = self.rows.squared_norms[i] + diagonal;
                let new = (old - gradient / curvature).clamp(0.0, upper);
                state.dual[position] = new;
                self.rows.add(i, (new - old) * sign, &mut state.weights);
            }
            at += 1;
        }
        seen
    }

    /// The objective at the weights and the dual value, which is never above it.
    pub fn values(&self, solution: &Solution) -> (f64, f64) {
        let half_norm = 0.5 * crate::matrix::squared_norm(&solution.weights);
        let (mut losses, mut sum, mut squares) = (0.0, 0.0, 0.0);
        for (position, &a) in solution.dual.iter().enumerate() {
            let (i, sign) = (self.members[position], self.signs[position]);
            let weight = self.weights[position];
            let short = (1.0 - sign * self.rows.score(i, &solution.weights)).max(0.0);
            losses += match self.loss {
                Loss::Hinge => weight * short,
                Loss::SquaredHinge => weight * short * short,
            };
            sum += a;
            squares += a * a * self.diagonal(position);
        }
        let primal = half_norm + self.box_constraint * losses;
        (primal, sum - half_norm - 0.5 * squares)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::{Purpose, normal, stream};

    fn problem() -> (Matrix<f64>, Vec<usize>) {
        let mut rng = stream(3, Purpose::Split);
        let classes: Vec<usize> = (0..60).map(|i| i % 3).collect();
        let codes = Matrix::from_fn(6, 60, |k, i| {
            if (i + k) % 3 == 0 { 0.0 } else { normal(&mut rng) + f64::from(k % 3 == i % 3) }
        });
        (codes, classes)
    }

    fn targets<'a>(classes: &'a [usize], weights: &'a [f64]) -> Targets<'a> {
        Targets { classes, weights, n_classes: 3 }
    }

    #[test]
    fn both_kinds_of_rows_agree_with_hand_sums() {
        let codes = Matrix::from_fn(11, 2, |k, i| if i == 0 || k == 3 { k as f64 } else { 0.0 });
        let rows = CodeRows::of(&codes);
        let weights: Vec<f64> = (0..12).map(|k| 1.0 / (1.0 + k as f64)).collect();
        for i in 0..2 {
            let hand: f64 = (0..11).map(|k| codes.column(i)[k] * weights[k]).sum();
            assert!((rows.score(i, &weights) - hand - weights[11]).abs() < 1e-13);
            let mut sum = weights.clone();
            rows.add(i, 2.0, &mut sum);
            for k in 0..11 {
                assert_eq!(sum[k], weights[k] + 2.0 * codes.column(i)[k]);
            }
            assert_eq!(sum[11], weights[11] + 2.0);
        }
    }

    #[test]
    fn the_solution_satisfies_the_optimality_conditions() {
        let (codes, classes) = problem();
        let rows = CodeRows::of(&codes);
        let members: Vec<usize> = (0..60).collect();
        for loss in [Loss::Hinge, Loss::SquaredHinge] {
            for box_constraint in [0.1, 1.0, 10.0] {
                let weights: Vec<f64> = (0..60).map(|i| 0.5 + (i % 4) as f64 / 2.0).collect();
                let targets = targets(&classes, &weights);
                let task = Binary::new(&rows, &members, targets, 1, loss, box_constraint);
                let mut rng = stream(0, Purpose::Order);
                let found = task.solve(vec![0.0; 60], 1e-9, 1_000_000, &mut rng);
                assert!(found.converged);
                let mut bounded = [0, 0, 0];
                for i in 0..60 {
                    let margin = task.signs[i] * rows.score(i, &found.weights);
                    let a = found.dual[i];
                    let gradient = margin - 1.0 + task.diagonal(i) * a;
                    assert!((0.0..=task.upper(i)).contains(&a));
                    let (miss, kind) = match a {
                        0.0 => (gradient.min(0.0), 0),
                        a if a == task.upper(i) => (gradient.max(0.0), 1),
                        _ => (gradient, 2),
                    };
                    assert!(miss.abs() < 1e-8, "{loss:?}, {i}: {a}, {gradient}");
                    bounded[kind] += 1;
                }
                // The problem has variables of every kind, or it would show nothing.
                assert!(bounded[0] > 0 && bounded[2] > 0);
                assert_eq!(bounded[1] > 0, loss == Loss::Hinge);
            }
        }
    }

    #[test]
    fn a_start_outside_the_box_leads_to_the_same_solution() {
        let (codes, classes) = problem();
        let rows = CodeRows::of(&codes);
        let members: Vec<usize> = (0..40).collect();
        for loss in [Loss::Hinge, Loss::SquaredHinge] {
            let task = Binary::new(&rows, &members, targets(&classes, &[1.0; 60]), 0, loss, 0.5);
            let solve = |start: f64| {
                let mut rng = stream(1, Purpose::Order);
                task.solve(vec![start; 40], 1e-10, 1_000_000, &mut rng)
            };
            let (cold, warm) = (solve(0.0), solve(7.0));
            for (a, b) in cold.weights.iter().zip(&warm.weights) {
                assert!((a - b).abs() < 1e-8);
            }
            let (primal, dual) = task.values(&warm);
            assert!(dual <= primal + 1e-12 && primal - dual < 1e-8 * primal);
        }
    }

    #[test]
    fn one_sample_has_the_solution_on_paper() {
        let codes = Matrix::from_fn(1, 1, |_, _| 2.0);
        let rows = CodeRows::of(&codes);
        // min ½‖w̃‖² + B·loss(1 − w̃·[2,1]): α = min(B, 1/5), and 1/(5 + 1/(2B)) for the square.
        for (loss, b, expected) in [
            (Loss::Hinge, 10.0, 0.2),
            (Loss::Hinge, 0.1, 0.1),
            (Loss::SquaredHinge, 0.5, 1.0 / 6.0),
        ] {
            let targets = targets(&[0], &[1.0]);
            let task = Binary::new(&rows, &[0], targets, 0, loss, b);
            let found = task.solve(vec![0.0], 1e-12, 10, &mut stream(0, Purpose::Order));
            assert!((found.dual[0] - expected).abs() < 1e-15 && found.converged);
            assert!((found.weights[0] - 2.0 * expected).abs() < 1e-15);
        }
    }

    #[test]
    fn a_weight_of_two_is_a_sample_given_twice() {
        let (codes, classes) = problem();
        let twice: Vec<usize> = (0..60).chain((0..60).filter(|i| i % 4 == 0)).collect();
        let more: Vec<usize> = twice.iter().map(|&i| classes[i]).collect();
        let weights: Vec<f64> = (0..60).map(|i| if i % 4 == 0 { 2.0 } else { 1.0 }).collect();
        let (rows, repeated) = (CodeRows::of(&codes), CodeRows::of(&codes.select_columns(&twice)));
        let (members, all): (Vec<usize>, Vec<usize>) =
            ((0..60).collect(), (0..twice.len()).collect());
        let ones = vec![1.0; twice.len()];
        for loss in [Loss::Hinge, Loss::SquaredHinge] {
            let solve = |task: Binary<'_, f64>, count: usize| {
                let found =
                    task.solve(vec![0.0; count], 1e-10, 1_000_000, &mut stream(1, Purpose::Order));
                (task.values(&found).0, found.weights)
            };
            let once = Binary::new(&rows, &members, targets(&classes, &weights), 0, loss, 0.5);
            let plain = Binary::new(&repeated, &all, targets(&more, &ones), 0, loss, 0.5);
            let (once, plain) = (solve(once, 60), solve(plain, twice.len()));
            assert!((once.0 - plain.0).abs() < 1e-8 * plain.0);
            for (a, b) in once.1.iter().zip(&plain.1) {
                assert!((a - b).abs() < 1e-7, "{loss:?}: {a} {b}");
            }
        }
    }
}
