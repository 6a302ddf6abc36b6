//! The learnt graph: the Laplacian on which the samples vary least.
//!
//! Dong, Thanou, Frossard and Vandergheynst, *Learning Laplacian matrix in smooth graph signal
//! representations*, IEEE Transactions on Signal Processing, 2016:
//! $$\min_L\operatorname{tr}(XLX^\top)+\beta_L\lVert L\rVert_F^2\quad\text{with}\quad
//! \operatorname{tr}L=N,\;L1=0,\;L_{ij}=L_{ji}\le0 .$$
//! In edge weights $w_{ij}=-L_{ij}$, squared distances $z_{ij}$ and degrees $d_i=\sum_jw_{ij}$ it is
//! $\min_{w\ge0}\sum_{i<j}w_{ij}z_{ij}+\beta_L(\sum_id_i^2+2\sum_{i<j}w_{ij}^2)$ with
//! $\sum_{i<j}w_{ij}=N/2$, and the solution has one potential $y_i$ per node and one level $\nu$:
//! $$w_{ij}=\frac{[\nu-z_{ij}-y_i-y_j]_+}{4\beta_L},\qquad y_i=2\beta_Ld_i .$$
//!
//! Paper: a general quadratic program in $N(N+1)/2$ unknowns. Here its dual in $N$ unknowns is
//! solved by Newton's method over the pairs that may have a weight: the nearest neighbours first,
//! then all pairs that must join by the solution so far, until there are none. So the memory is that
//! of the solution, however it is spread over the nodes.

mod cloud;
mod dual;
mod join;
mod newton;

pub use join::Joiner;

use cloud::Cloud;
use dual::{Dual, Pairs, State, answer, pull};
use newton::{Newton, SOLVED};

use super::{Attachment, Connected, Graph, Laplacian, Neighbours, Rule, Search};
use crate::knobs::{Allowed, check};
use crate::sparse::Csr;
use crate::{Error, Matrix, Real, Result};

/// Nearest neighbours of a sample that are candidates from the start.
const N_NEIGHBOURS: usize = 16;
/// Every round adds pairs; most graphs need three.
const MAX_ROUNDS: usize = 200;
/// A pair that is missing is one whose pull exceeds this share of the largest degree.
const MISSING: f64 = 1e-12;

/// The learnt graph as one of the graphs: the rule for new samples is [`Joiner`]'s.
#[derive(Clone, Copy, Debug)]
pub struct LearntGraph {
    /// $\beta_L$, in units of squared distances: small gives few edges, large a full graph.
    pub smoothness: f64,
}

impl<T: Real> Graph<T> for LearntGraph {
    #[inline(never)]
    fn build(&self, samples: &Matrix<T>) -> Result<Connected<T>> {
        let found = learn(samples, self.smoothness)?;
        let rule = Rule::Learnt { smoothness: self.smoothness, level: found.level };
        let memory = found.potentials.iter().map(|y| T::of(*y)).collect();
        Ok(Connected {
            laplacian: Laplacian::from_affinities(found.weights.cast()),
            attachment: Attachment { memory, ..Attachment::new(rule) },
        })
    }
}

/// A learnt graph over the training samples, with what ties new samples to it.
#[derive(Clone, Debug)]
pub struct Solution {
    /// $w_{ij}>0$, symmetric, $N\times N$, each pair stored twice and summing to $N/2$ if counted
    /// once. A row may be empty: where $\beta_L$ is small beside the distances, most are.
    pub weights: Csr<f64>,
    /// $y_i$, the potential of each sample.
    pub potentials: Vec<f64>,
    /// $\nu$, the common level.
    pub level: f64,
    /// Times that the dual was solved, each over more pairs than the last.
    pub n_rounds: usize,
    /// Newton steps of all rounds together.
    pub n_iterations: usize,
    /// Largest violation of $y_i=2\beta_L\sum_jw_{ij}$ over the largest $y_i$.
    pub residual: f64,
}

/// Learns the graph of `samples` (columns); `smoothness` is $\beta_L>0$, in units of squared
/// distances.
///
/// A single sample has no pair, so $\operatorname{tr}L=N$ cannot hold: its graph is empty,
/// its potential and the level are zero.
///
/// Cost $nN^2$ multiply-adds per round, a few rounds, and per Newton step a few dozen passes over the
/// pairs; memory in proportion to the pairs that have a weight.
///
/// # Errors
/// If `smoothness` is not a positive number, or the samples are not finite or so large that their
/// distances are not.
pub fn learn<T: Real>(samples: &Matrix<T>, smoothness: f64) -> Result<Solution> {
    let unit = unit(smoothness)?;
    let cloud = Cloud::new(samples)?;
    let n = cloud.len();
    if n < 2 {
        return Ok(Solution {
            weights: Csr::from_rows(n, vec![Vec::new(); n]),
            potentials: vec![0.0; n],
            level: 0.0,
            n_rounds: 0,
            n_iterations: 0,
            residual: 0.0,
        });
    }
    let (mut rows, nearest) = nearest_pairs(samples, &cloud, unit);
    let mut newton = Newton::default();
    newton.state.u = vec![0.0; n];
    let mut n_iterations = 0;
    for n_rounds in 1..=MAX_ROUNDS {
        let pairs = Pairs::from_rows(&rows);
        let dual = Dual::new(&pairs);
        n_iterations += newton.minimise(&dual);
        let state = &newton.state;
        if state.residual.is_nan() || state.residual > SOLVED {
            return Err(diverged(n_rounds, state.residual));
        }
        let missing = missing_pairs(&cloud, &pairs, state, nearest, unit);
        if missing.iter().all(Vec::is_empty) {
            return Ok(Solution {
                weights: weights(&dual, state),
                potentials: (0..n).map(|i| unit * state.degree(i)).collect(),
                level: nearest + 2.0 * unit * state.half_level(),
                n_rounds,
                n_iterations,
                residual: state.residual,
            });
        }
        add_pairs(&mut rows, &missing);
    }
    Err(diverged(MAX_ROUNDS, newton.state.residual))
}

/// $2\beta_L$, the unit in which distances are counted.
fn unit(smoothness: f64) -> Result<f64> {
    check("smoothness", smoothness, Allowed::Above(0.0))?;
    Ok(2.0 * smoothness)
}

fn diverged(iteration: usize, residual: f64) -> Error {
    let what = format!("the learnt graph has not converged: its residual is {residual:e}");
    Error::Diverged { step: "graph", iteration, what }
}

/// Lists of (other, gap) for each node.
type EdgeLists = Vec<Vec<(u32, f64)>>;

/// The nearest neighbours of every sample, both ways, and the distance of the nearest pair of all.
fn nearest_pairs<T: Real>(samples: &Matrix<T>, cloud: &Cloud, unit: f64) -> (EdgeLists, f64) {
    // A start: pairs that an approximate search misses are found below.
    let (lists, _) = Neighbours::search(samples, N_NEIGHBOURS, Search::Auto);
    let found: EdgeLists = (0..cloud.len())
        .map(|i| lists.of(i).iter().map(|&j| (j, cloud.distance(i, j as usize))).collect())
        .collect();
    let nearest = found.iter().flatten().fold(f64::INFINITY, |least, &(_, z)| least.min(z));
    let mut rows = vec![Vec::new(); cloud.len()];
    add_pairs(&mut rows, &found);
    for (_, z) in rows.iter_mut().flatten() {
        *z = (*z - nearest) / unit;
    }
    (rows, nearest)
}

/// Pairs that are not yet candidates but must have a weight, found from one end or both.
///
/// Far from the solution nearly all pairs can be of this kind. A node that gets that many new pairs
/// will respond with a higher potential; only those that pull even then are taken, and always the
/// strongest.
fn missing_pairs(
    cloud: &Cloud,
    pairs: &Pairs,
    state: &State,
    nearest: f64,
    unit: f64,
) -> EdgeLists {
    let least = MISSING * (0..cloud.len()).map(|i| state.degree(i)).fold(1.0, f64::max);
    let reach: Vec<f64> = state.u.iter().map(|u| nearest / 2.0 - unit * u).collect();
    cloud.rows(&reach, |i, near| {
        let pulls: Vec<(u32, f64, f64)> = near
            .iter()
            .map(|&(j, z)| {
                let gap = (z - nearest) / unit;
                (j, gap, pull(gap, state.u[i], state.u[j as usize]))
            })
            .filter(|&(_, _, pull)| pull > 0.0)
            .collect();
        let rise = answer(state.degree(i), pulls.iter().map(|&(_, _, pull)| pull));
        let known = pairs.row(i).0;
        pulls
            .into_iter()
            .filter(|&(j, _, pull)| pull > rise.max(least) && known.binary_search(&j).is_err())
            .map(|(j, gap, _)| (j, gap))
            .collect()
    })
}

/// Adds the pairs to the rows of both ends.
fn add_pairs(rows: &mut EdgeLists, pairs: &EdgeLists) {
    for (i, list) in pairs.iter().enumerate() {
        for &(j, gap) in list {
            rows[i].push((j, gap));
            rows[j as usize].push((i as u32, gap));
        }
    }
    for row in rows {
        row.sort_unstable_by_key(|&(j, _)| j);
        row.dedup_by_key(|&mut (j, _)| j);
    }
}

/// The weights of the active pairs: half their pulls.
fn weights(dual: &Dual, state: &State) -> Csr<f64> {
    let rows = (0..dual.n_nodes()).map(|i| row_weights(dual, state, i));
    Csr::from_rows(dual.n_nodes(), rows)
}

fn row_weights(dual: &Dual, state: &State, i: usize) -> impl Iterator<Item = (usize, f64)> {
    dual.candidates(i)
        .map(move |(j, gap)| (j, pull(gap, state.u[i], state.u[j]) / 2.0))
        .filter(|&(_, weight)| weight > 0.0)
}
