//! New samples: the learnt graph over the training samples and one more.

use super::cloud::Cloud;
use super::dual::{Dual, Pairs, answer, pull};
use super::newton::Newton;
use super::{row_weights, unit};
use crate::threads::Loops;
use crate::{Error, Matrix, Real, Result};

/// Pairs without a weight are kept up to this share of the mean pull: a new sample seldom reaches
/// further.
const MARGIN: f64 = 1.0;
/// Factor by which the margin grows for the samples that do.
const WIDEN: f64 = 8.0;

/// Ties new samples to a learnt graph, each as if the graph had been learnt with it.
///
/// The potentials of all nodes move when a sample joins, but not far: the solution starts from those
/// of the training graph and looks only at pairs that are within a margin of having a weight. If the
/// potentials moved so far that another pair might have got one, the margin is widened and the
/// sample solved again. So the result is exact, and only its cost depends on the margin.
#[derive(Clone, Debug)]
pub struct Joiner {
    cloud: Cloud,
    unit: f64,
    /// The training solution, as `dual` has it.
    u: Vec<f64>,
    half_level: f64,
    /// Distance of the nearest training pair that has a weight, infinite if there is none.
    nearest: f64,
    /// The distance that gaps are counted from.
    origin: f64,
    margin: f64,
    pairs: Pairs,
}

impl Joiner {
    /// Prepares the training `samples` and their learnt graph, which `potentials` and `level`
    /// describe fully (see [`Solution`](super::Solution)), for new samples.
    ///
    /// Cost $2nN^2$ multiply-adds; memory two copies of the samples and about twice the graph.
    ///
    /// # Errors
    /// If `smoothness` is not positive, a number is not finite, or there is not one potential per
    /// sample.
    pub fn new<T: Real>(
        samples: &Matrix<T>,
        smoothness: f64,
        potentials: &[f64],
        level: f64,
    ) -> Result<Self> {
        let unit = unit(smoothness)?;
        if potentials.len() != samples.columns() {
            return Err(Error::Shape {
                what: "potentials of the learnt graph".into(),
                expected: samples.columns(),
                got: potentials.len(),
            });
        }
        if !potentials.iter().all(|y| y.is_finite()) || !level.is_finite() {
            return Err(Error::Graph("its potentials or its level are not finite".into()));
        }
        let cloud = Cloud::new(samples)?;
        let reach: Vec<f64> = potentials.iter().map(|y| level / 2.0 - y).collect();
        let active = cloud.rows(&reach, |_, near| {
            (near.len(), near.iter().fold(f64::INFINITY, |least, &(_, z)| least.min(z)))
        });
        let entries: usize = active.iter().map(|(count, _)| count).sum();
        let nearest = active.iter().fold(f64::INFINITY, |least, &(_, z)| least.min(z));
        let origin = if nearest.is_finite() { nearest } else { level };
        let half_level = (level - origin) / unit / 2.0;
        let u = potentials.iter().map(|y| y / unit - half_level).collect();
        // The pulls on all pairs, each counted once, sum to the number of nodes.
        let mean_pull = 2.0 * cloud.len() as f64 / entries.max(1) as f64;
        let empty = Pairs::from_rows(&[]);
        let mut joiner =
            Self { cloud, unit, u, half_level, nearest, origin, margin: 0.0, pairs: empty };
        joiner.margin = MARGIN * mean_pull;
        joiner.pairs = joiner.within(joiner.margin);
        Ok(joiner)
    }

    /// For each new sample (column), the training samples that it is tied to, ascending, with
    /// weights $w_j>0$: the last row of the graph learnt over $N+1$ samples, of trace $N+1$.
    ///
    /// Each is independent of the others. Without training samples there are no ties, and a far
    /// sample may have none.
    ///
    /// # Panics
    /// If the new samples have a different number of features.
    #[must_use]
    pub fn join<T: Real>(&self, new: &Matrix<T>) -> Vec<Vec<(u32, f64)>> {
        assert_eq!(new.rows(), self.cloud.n_features(), "features of new samples");
        let mut ties = vec![Vec::new(); new.columns()];
        if self.u.is_empty() {
            return ties;
        }
        let mut waiting: Vec<usize> = (0..new.columns()).collect();
        let mut margin = self.margin;
        let mut wider = None;
        while !waiting.is_empty() {
            let pairs = wider.as_ref().unwrap_or(&self.pairs);
            let found = waiting.iter().gather_with(Newton::default, |newton, &i| {
                let x: Vec<f64> = new.column(i).iter().map(|v| v.wide()).collect();
                self.solve(&x, pairs, margin, newton)
            });
            // Every sample goes through the same margins, whatever the others need.
            let mut again = Vec::new();
            for (i, found) in waiting.into_iter().zip(found) {
                match found {
                    Some(found) => ties[i] = found,
                    None => again.push(i),
                }
            }
            waiting = again;
            if !waiting.is_empty() {
                margin *= WIDEN;
                wider = Some(self.within(margin));
            }
        }
        ties
    }

    /// The ties of one sample; `None` if a pair beyond the margin may have got a weight.
    fn solve(
        &self,
        x: &[f64],
        pairs: &Pairs,
        margin: f64,
        newton: &mut Newton,
    ) -> Option<Vec<(u32, f64)>> {
        let n = self.u.len();
        let mut border = self.cloud.distances_to(x);
        // Counted from the nearest of all pairs, as learning does; the training solution moves along.
        let nearest = border.iter().fold(self.nearest, |least, &z| least.min(z));
        let origin = if nearest.is_finite() { nearest } else { self.origin };
        let shift = (self.origin - origin) / self.unit;
        border.iter_mut().for_each(|z| *z = (*z - origin) / self.unit);
        let half_level = self.half_level + shift / 2.0;
        let u = &mut newton.state.u;
        u.clear();
        u.extend(self.u.iter().map(|u| u - shift / 2.0));
        // The new node's degree if the others did not move.
        let pulls = border.iter().zip(u.iter()).map(|(&gap, &u)| pull(gap, u, -half_level));
        let degree = answer(0.0, pulls);
        u.push(degree - half_level);
        let dual = Dual::bordered(pairs, shift, &border);
        newton.minimise(&dual);
        let state = &newton.state;
        // An omitted pair: its pull grew by as much as both potentials fell.
        let mut fell = [f64::NEG_INFINITY; 2];
        for (u, before) in state.u[..n].iter().zip(&self.u) {
            let by = before - shift / 2.0 - u;
            if by > fell[0] {
                fell = [by, fell[0]];
            } else if by > fell[1] {
                fell[1] = by;
            }
        }
        let all = pairs.entries() == n * (n - 1);
        (all || fell[0] + fell[1] <= margin)
            .then(|| row_weights(&dual, state, n).map(|(j, weight)| (j as u32, weight)).collect())
    }

    /// The training pairs that lack at most `margin` of having a weight.
    fn within(&self, margin: f64) -> Pairs {
        let reach: Vec<f64> =
            self.u.iter().map(|u| self.origin / 2.0 + self.unit * (margin / 2.0 - u)).collect();
        let rows = self.cloud.rows(&reach, |_, near| {
            near.iter().map(|&(j, z)| (j, (z - self.origin) / self.unit)).collect()
        });
        Pairs::from_rows(&rows)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::graph::learnt::learn;
    use crate::random::{Purpose, normal, stream};

    #[test]
    fn the_margin_changes_the_cost_and_not_the_result() {
        let mut rng = stream(3, Purpose::Split);
        let samples = Matrix::from_fn(3, 60, |_, _| normal(&mut rng));
        let new = Matrix::from_fn(3, 12, |_, _| normal(&mut rng));
        for smoothness in [0.01, 0.3, 3.0] {
            let learnt = learn(&samples, smoothness).expect("learnt");
            let mut joiner = Joiner::new(&samples, smoothness, &learnt.potentials, learnt.level)
                .expect("prepared");
            let usual = joiner.join(&new);
            // From a margin that nothing keeps to, and with all pairs from the start.
            for margin in [1e-9, f64::INFINITY] {
                joiner.margin = margin;
                joiner.pairs = joiner.within(margin);
                for (found, usual) in joiner.join(&new).iter().zip(&usual) {
                    assert_eq!(found.len(), usual.len());
                    for ((j, w), (k, v)) in found.iter().zip(usual) {
                        assert!(j == k && (w - v).abs() < 1e-10, "{w} is not {v}");
                    }
                }
            }
        }
    }
}
