//! The dual problem over candidate pairs: its value's gradient and its active pairs at a point.
//!
//! In units of $2\beta_L$ the potentials are the degrees, $d_i=y_i/2\beta_L$, and with
//! $u_i=d_i-\nu/4\beta_L$ the pull on a pair, twice its weight, is
//! $$s_{ij}=\Bigl[-\tfrac{z_{ij}}{2\beta_L}-u_i-u_j\Bigr]_+ .$$
//! The degrees sum to $N$, so $\nu$ follows from $u$: $d_i=1+u_i-\bar u$. What is left to minimise is
//! convex, piecewise quadratic and free of constraints, with the gradient $2d_i-\sum_js_{ij}$:
//! $$h(u)=\lVert u\rVert^2-\tfrac1N\Bigl(\sum_iu_i-N\Bigr)^2+\tfrac12\sum_{i<j}s_{ij}^2 .$$

use crate::threads::Loops;

/// Minimum number of candidate pairs for an evaluation in several threads.
const MIN_PARALLEL: usize = 1 << 17;
/// Rows that one thread then takes at once.
const ROWS: usize = 64;

/// Candidate pairs as rows in both directions, with $(z_{ij}-z_0)/2\beta_L$ for a common $z_0$.
///
/// Subtracting $z_0$, the nearest pair's distance, first keeps all digits of the pulls where
/// $\beta_L$ is tiny beside the distances.
#[derive(Clone, Debug)]
pub(super) struct Pairs {
    starts: Vec<usize>,
    others: Vec<u32>,
    gaps: Vec<f64>,
}

impl Pairs {
    /// From rows of (other, gap), ascending, that hold every pair in both directions.
    pub(super) fn from_rows(rows: &[Vec<(u32, f64)>]) -> Self {
        let mut starts = Vec::with_capacity(rows.len() + 1);
        starts.push(0);
        starts.extend(rows.iter().scan(0, |end, row| {
            *end += row.len();
            Some(*end)
        }));
        let others = rows.iter().flatten().map(|&(j, _)| j).collect();
        let gaps = rows.iter().flatten().map(|&(_, gap)| gap).collect();
        Self { starts, others, gaps }
    }

    pub(super) fn n_nodes(&self) -> usize {
        self.starts.len() - 1
    }

    /// Stored entries, two per pair.
    pub(super) fn entries(&self) -> usize {
        self.others.len()
    }

    pub(super) fn row(&self, i: usize) -> (&[u32], &[f64]) {
        let range = self.starts[i]..self.starts[i + 1];
        (&self.others[range.clone()], &self.gaps[range])
    }
}

/// The problem on candidate pairs, with one more node beyond them if there is a border.
#[derive(Clone, Copy)]
pub(super) struct Dual<'a> {
    pairs: &'a Pairs,
    /// Added to every gap of `pairs`.
    shift: f64,
    /// Gaps between the last node and all others; empty if there is no such node.
    border: &'a [f64],
}

/// A point, with its gradient and active pairs.
#[derive(Clone, Debug, Default)]
pub(super) struct State {
    pub(super) u: Vec<f64>,
    pub(super) gradient: Vec<f64>,
    /// Active pairs of every node.
    pub(super) degrees: Vec<u32>,
    /// The other ends of active pairs, each row at the offset of its candidates.
    others: Vec<u32>,
    mean: f64,
    /// Largest violation of $d_i=\sum_jw_{ij}$ over the largest degree.
    pub(super) residual: f64,
}

impl State {
    /// $d_i$, the degree at the dual point.
    pub(super) fn degree(&self, i: usize) -> f64 {
        1.0 + (self.u[i] - self.mean)
    }

    /// $\nu/4\beta_L$, with distances counted from $z_0$.
    pub(super) fn half_level(&self) -> f64 {
        1.0 - self.mean
    }

    pub(super) fn is_empty(&self) -> bool {
        self.degrees.iter().all(|&degree| degree == 0)
    }
}

/// The pull on a pair before it is cut at zero.
#[inline(always)]
pub(super) fn pull(gap: f64, a: f64, b: f64) -> f64 {
    -(gap + (a + b))
}

impl<'a> Dual<'a> {
    pub(super) fn new(pairs: &'a Pairs) -> Self {
        Self { pairs, shift: 0.0, border: &[] }
    }

    /// One more node, at `border` from the others; all gaps of the pairs grow by `shift`.
    pub(super) fn bordered(pairs: &'a Pairs, shift: f64, border: &'a [f64]) -> Self {
        Self { pairs, shift, border }
    }

    pub(super) fn n_nodes(&self) -> usize {
        self.pairs.n_nodes() + usize::from(!self.border.is_empty())
    }

    /// Where the row of a node starts among the active pairs; the border has a place in each row.
    fn start(&self, i: usize) -> usize {
        match self.border.len() {
            0 => self.pairs.starts[i],
            n if i <= n => self.pairs.starts[i] + i,
            n => self.pairs.entries() + 2 * n,
        }
    }

    /// The active pairs of a node.
    pub(super) fn active<'s>(&self, state: &'s State, i: usize) -> &'s [u32] {
        &state.others[self.start(i)..][..state.degrees[i] as usize]
    }

    /// (other end, gap) of all candidate pairs of a node.
    pub(super) fn candidates(&self, i: usize) -> impl Iterator<Item = (usize, f64)> {
        let n = self.pairs.n_nodes();
        let (others, gaps): (&[u32], &[f64]) = if i < n { self.pairs.row(i) } else { (&[], &[]) };
        let inner = others.iter().zip(gaps).map(|(&j, gap)| (j as usize, gap + self.shift));
        let edge = self.border.get(i).map(|&gap| (n, gap));
        let row: &[f64] = if i < n { &[] } else { self.border };
        inner.chain(edge).chain(row.iter().copied().enumerate())
    }

    /// Fills the rest of `state` for its `u`.
    pub(super) fn evaluate(&self, state: &mut State) {
        let n = self.n_nodes();
        let State { u, gradient, degrees, others, mean, residual } = state;
        *mean = u.iter().sum::<f64>() / n as f64;
        gradient.resize(n, 0.0);
        degrees.resize(n, 0);
        others.resize(self.start(n), 0);
        let width = if self.pairs.entries() < MIN_PARALLEL { n } else { ROWS };
        let mut rest = &mut others[..];
        let places: Vec<&mut [u32]> = (0..n)
            .step_by(width)
            .map(|first| {
                let len = self.start((first + width).min(n)) - self.start(first);
                rest.split_off_mut(..len).unwrap_or_default()
            })
            .collect();
        let sums = gradient.chunks_mut(width).zip(degrees.chunks_mut(width));
        sums.zip(places).enumerate().each(|(part, ((sums, degrees), place))| {
            let first = part * width;
            for (at, (sum, degree)) in sums.iter_mut().zip(degrees).enumerate() {
                let place = &mut place[self.start(first + at) - self.start(first)..];
                (*sum, *degree) = self.row(first + at, u, place);
            }
        });
        let (mut worst, mut largest) = (0.0f64, 0.0f64);
        for (slope, u) in gradient.iter_mut().zip(u.iter()) {
            let degree = 1.0 + (u - *mean);
            *slope = 2.0 * degree - *slope;
            // `max` would swallow a NaN.
            worst = if slope.is_nan() { f64::NAN } else { worst.max(slope.abs()) };
            largest = largest.max(degree);
        }
        *residual = worst / (2.0 * largest);
    }

    /// Sum of the pulls on one node and the number of pairs that have one; `place` names them.
    #[inline(always)]
    fn row(&self, i: usize, u: &[f64], place: &mut [u32]) -> (f64, u32) {
        let (mut sum, mut count) = (0.0, 0);
        let own = u[i];
        // Without a branch: near the solution half of the candidates pull, in no order.
        let mut meet = |j: u32, gap: f64, other: f64| {
            let pull = pull(gap, own, other);
            place[count] = j;
            count += usize::from(pull > 0.0);
            sum += pull.max(0.0);
        };
        let n = self.pairs.n_nodes();
        if i < n {
            let (others, gaps) = self.pairs.row(i);
            for (&j, gap) in others.iter().zip(gaps) {
                meet(j, gap + self.shift, u[j as usize]);
            }
            if let Some(&gap) = self.border.get(i) {
                meet(n as u32, gap, u[n]);
            }
        } else {
            for (j, (&gap, &other)) in self.border.iter().zip(u).enumerate() {
                meet(j as u32, gap, other);
            }
        }
        (sum, count as u32)
    }

    /// `out` $=(2I-\tfrac2N11^\top+K)p$, $K$ the signless Laplacian of the active pairs: the
    /// Hessian of $h$.
    pub(super) fn curve(&self, state: &State, p: &[f64], out: &mut [f64]) {
        let n = p.len();
        let twice_mean = 2.0 * p.iter().sum::<f64>() / n as f64;
        let width = if self.pairs.entries() < MIN_PARALLEL { n } else { ROWS };
        out.chunks_mut(width).enumerate().each(|(part, out)| {
            for (at, out) in out.iter_mut().enumerate() {
                let i = part * width + at;
                let others = self.active(state, i);
                let sum: f64 = others.iter().map(|&j| p[j as usize]).sum();
                *out = (2.0 + others.len() as f64) * p[i] - twice_mean + sum;
            }
        });
    }

    /// Lowers all $u$ by the same amount until the pulls sum to $N$: the best $\nu$ for these
    /// degrees, and the way out where nothing pulls. False if there is no pair to raise it for.
    pub(super) fn raise_level(&self, u: &mut [f64]) -> bool {
        let n = self.n_nodes();
        let all = |u: &[f64], below: f64| {
            let (mut sum, mut count) = (0.0, 0.0);
            for i in 0..n {
                for (j, gap) in self.candidates(i) {
                    let bound = -pull(gap, u[i], u[j]);
                    if bound < below {
                        sum += bound;
                        count += 1.0;
                    }
                }
            }
            // Every pair is counted from both ends.
            (2.0 * n as f64 + sum) / count
        };
        // Newton's method on a convex increasing function: from the right, in finitely many steps.
        let mut level = all(u, f64::INFINITY);
        loop {
            let next = all(u, level);
            if next >= level || next.is_nan() {
                break;
            }
            level = next;
        }
        if level.is_finite() {
            u.iter_mut().for_each(|u| *u -= level / 2.0);
        }
        level.is_finite()
    }
}

/// How far a node's degree rises over `own` if it alone responds to these pulls: $\tau\ge0$ with
/// $\sum_j[s_j-\tau]_+=2(\mathrm{own}+\tau)$.
pub(super) fn answer(own: f64, pulls: impl Iterator<Item = f64> + Clone) -> f64 {
    // Newton's method on a convex decreasing function: from the left, in finitely many steps.
    let mut rise = 0.0;
    loop {
        let (mut sum, mut count) = (-2.0 * own, 2.0);
        for pull in pulls.clone().filter(|&pull| pull > rise) {
            sum += pull;
            count += 1.0;
        }
        let next = sum / count;
        if next <= rise || next.is_nan() {
            return rise;
        }
        rise = next;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_node_responds_to_the_pulls_that_outlast_its_response() {
        // [3 − τ] + [5 − τ] = 2τ at τ = 2; the pull of 1 is gone by then.
        assert_eq!(answer(0.0, [1.0, 3.0, 5.0].into_iter()), 2.0);
        assert_eq!(answer(4.0, [3.0, 5.0].into_iter()), 0.0);
        assert_eq!(answer(0.0, [-1.0].into_iter()), 0.0);
    }

    #[test]
    fn a_border_is_the_same_as_one_more_row() {
        let gap = |i: usize, j: usize| ((i + 1) * (j + 1) % 5) as f64 / 2.0;
        let rows = |n: usize| -> Vec<Vec<(u32, f64)>> {
            let row = |i| (0..n).filter(move |&j| j != i).map(move |j| (j as u32, gap(i, j)));
            (0..n).map(|i| row(i).collect()).collect()
        };
        let (small, large) = (Pairs::from_rows(&rows(5)), Pairs::from_rows(&rows(6)));
        let border: Vec<f64> = (0..5).map(|j| gap(5, j)).collect();
        let (bordered, plain) = (Dual::bordered(&small, 0.0, &border), Dual::new(&large));
        let u: Vec<f64> = (0..6).map(|i| f64::from(i) / 4.0 - 1.0).collect();
        let (mut a, mut b) = (State { u: u.clone(), ..State::default() }, State::default());
        b.u.clone_from(&u);
        bordered.evaluate(&mut a);
        plain.evaluate(&mut b);
        assert_eq!((&a.gradient, &a.degrees), (&b.gradient, &b.degrees));
        assert!(!a.is_empty() && a.residual == b.residual);
        let (mut p, mut q) = ([0.0; 6], [0.0; 6]);
        bordered.curve(&a, &u, &mut p);
        plain.curve(&b, &u, &mut q);
        assert_eq!(p, q);
        let (mut p, mut q) = (u.clone(), u);
        assert!(bordered.raise_level(&mut p) && plain.raise_level(&mut q));
        assert_eq!(p, q);
    }
}
