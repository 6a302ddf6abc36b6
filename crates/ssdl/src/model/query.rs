//! Which samples to label next: those that decide most of the doubtful samples around them.
//!
//! The most uncertain samples are often alike, so a query of those alone wastes labels. Here sample
//! $i$ has a doubt $u_i\in[0,1]$ and resembles sample $j$ by $s_{ij}$ (1 for itself, a heat kernel for
//! near neighbours, else 0). The samples chosen, $S$, maximise
//! $$\sum_iu_i\max_{j\in S}s_{ij},$$
//! one after another, each the best given those before it: within $1-1/e$ of the best choice, as the
//! sum is submodular.

use super::Model;
use crate::graph::{Connected, Graph, Heat, Search, Width};
use crate::sparse::Csr;
use crate::{Matrix, Prediction, Real, Result};

/// Neighbours that a label also covers; at most about twice as many.
const REACH: usize = 10;
/// Width of the kernel, as a share of the mean distance between all samples.
const WIDTH: f64 = 0.5;

impl<T: Real> Model<T> {
    /// The `n` unlabelled training samples whose labels would help most, best first; fewer if there
    /// are no more. Cost $O(pN^2)$ for the neighbours (up to 20,000 samples, hardly
    /// more than $O(pN)$ beyond), then $O(nN)$.
    ///
    /// # Errors
    /// None is known for a fitted model.
    #[inline(never)]
    pub fn query(&self, n: usize) -> Result<Vec<usize>> {
        let labels = self.training_labels();
        let open = labels.unlabelled();
        let doubts = doubts(&self.transduction());
        let among: Vec<f64> = open.iter().map(|&j| doubts[j]).collect();
        let chosen = representatives(&self.codes().select_columns(&open), &among, n)?;
        Ok(chosen.into_iter().map(|at| open[at]).collect())
    }

    /// The `n` of these raw samples ($n\times N$) whose labels would help most, best first.
    ///
    /// # Errors
    /// If the number of features is wrong or a value is not finite.
    #[inline(never)]
    pub fn query_among(&self, raw: Matrix<T>, n: usize) -> Result<Vec<usize>> {
        let prediction = self.predict(raw)?;
        representatives(&prediction.codes, &doubts(&prediction), n)
    }
}

/// One minus the lead of the best class over the second: 1 is a tie.
fn doubts<T: Real>(prediction: &Prediction<T>) -> Vec<f64> {
    (0..prediction.classes.len()).map(|sample| 1.0 - prediction.lead(sample)).collect()
}

/// The `n` samples (columns) that represent all others best, each sample weighted by its `doubt`;
/// best first. With equal doubts, these are the samples to label first.
///
/// # Errors
/// If a value is not finite.
#[inline(never)]
pub fn representatives<T: Real>(
    samples: &Matrix<T>,
    doubt: &[f64],
    n: usize,
) -> Result<Vec<usize>> {
    let count = samples.columns();
    if count == 0 {
        return Ok(Vec::new());
    }
    let width = Width::Relative(WIDTH);
    let graph = Heat { n_neighbors: REACH, width, search: Search::Auto };
    let Connected { laplacian, .. } = graph.build(samples)?;
    let empty = Csr::from_rows(count, (0..count).map(|_| []));
    let near = laplacian.affinities().unwrap_or(&empty);
    let mut covered = vec![0.0; count];
    let mut free = vec![true; count];
    let mut chosen = Vec::with_capacity(n.min(count));
    while chosen.len() < n.min(count) {
        let gain = |j: usize, doubt: &dyn Fn(usize) -> f64| {
            let own = doubt(j) * (1.0 - covered[j]);
            let others = near.row(j).map(|(i, s)| doubt(i) * (s.wide() - covered[i]).max(0.0));
            own + others.sum::<f64>()
        };
        // Where all doubtful samples are covered, the doubt itself decides; where there is none, how
        // many of the rest a sample covers; then the order of the samples.
        let value = |j: usize| (gain(j, &|i| doubt[i]), doubt[j], gain(j, &|_| 1.0));
        let better = |a: usize, b: usize| value(b) > value(a);
        let first = (0..count).filter(|&j| free[j]);
        let Some(best) = first.reduce(|a, b| if better(a, b) { b } else { a }) else { break };
        (free[best], covered[best]) = (false, 1.0);
        for (i, s) in near.row(best) {
            covered[i] = f64::max(covered[i], s.wide());
        }
        chosen.push(best);
    }
    Ok(chosen)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Three tight clouds of 20, far apart.
    fn clouds() -> Matrix<f64> {
        Matrix::from_fn(2, 60, |i, j| {
            let centre = [[0.0, 0.0], [50.0, 0.0], [0.0, 50.0]][j % 3][i];
            centre + 0.1 * ((7 * j + 3 * i) as f64).sin()
        })
    }

    #[test]
    fn without_any_label_each_cloud_gets_one_before_any_gets_two() {
        let chosen = representatives(&clouds(), &[1.0; 60], 3).expect("finite");
        let mut clouds_met: Vec<usize> = chosen.iter().map(|j| j % 3).collect();
        clouds_met.sort_unstable();
        assert_eq!(clouds_met, [0, 1, 2]);
    }

    #[test]
    fn samples_without_doubt_come_last() {
        let doubt: Vec<f64> = (0..60).map(|j| f64::from(j % 3 == 1)).collect();
        let chosen = representatives(&clouds(), &doubt, 20).expect("finite");
        assert!(chosen.iter().all(|j| j % 3 == 1), "{chosen:?}");
        let all = representatives(&clouds(), &doubt, 1000).expect("finite");
        let mut sorted = all.clone();
        sorted.sort_unstable();
        assert_eq!(sorted, (0..60).collect::<Vec<_>>());
        let sure = representatives(&clouds(), &[0.0; 60], 3).expect("finite");
        assert_eq!(sure, representatives(&clouds(), &[1.0; 60], 3).expect("finite"));
        assert!(representatives(&Matrix::<f64>::zeros(2, 0), &[], 3).expect("empty").is_empty());
    }
}
