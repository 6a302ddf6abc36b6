//! A graph given by the user.

use std::collections::HashMap;

use super::lle::laplacian;
use super::{Attachment, Connected, Graph, Laplacian, Neighbours, Rule};
use crate::sparse::Csr;
use crate::{Error, Matrix, Real, Result, order};

/// Two weights of a pair that differ by more than this share of the larger one are not the same.
const ASYMMETRY: f64 = 1e-5;

/// Neighbour lists or finished weights from elsewhere, instead of our own search.
///
/// New samples are tied to the training samples by distance, with LLE weights: the user's relation
/// is known for the training samples only.
#[derive(Clone, Debug)]
pub struct Given<T> {
    source: Source<T>,
    n_neighbors: usize,
}

#[derive(Clone, Debug)]
enum Source<T> {
    Lists(Neighbours),
    Mixtures(Csr<T>),
    Affinities(Csr<T>),
}

impl<T: Real> Given<T> {
    /// LLE weights on these neighbour lists (from an approximate index, another metric, …).
    #[must_use]
    #[inline(never)]
    pub fn neighbours(lists: Neighbours) -> Self {
        let n_neighbors = lists.k().max(1);
        Self { source: Source::Lists(lists), n_neighbors }
    }

    /// Row $i$ holds the weights $v_{ij}$ with which sample $i$ is mixed from the others; the term
    /// is $\sum_i\lVert a_i-\sum_jv_{ij}a_j\rVert^2$. If rows sum to one, constant codes cost
    /// nothing; an empty row leaves its sample out of the graph.
    ///
    /// # Errors
    /// If the matrix is not square, a sample has a weight on itself, or a weight is not finite.
    #[inline(never)]
    pub fn mixtures(weights: Csr<T>) -> Result<Self> {
        check_square_and_finite(&weights)?;
        if let Some(i) = (0..weights.rows()).find(|&i| weights.row(i).any(|(j, _)| j == i)) {
            return Err(Error::Graph(format!("sample {i} has a weight on itself")));
        }
        let n_neighbors = widest(&weights);
        Ok(Self { source: Source::Mixtures(weights), n_neighbors })
    }

    /// Symmetric weights $W\ge0$: the term is $\tfrac12\sum_{ij}W_{ij}\lVert a_i-a_j\rVert^2$. Weights
    /// on the diagonal do not change it and are omitted.
    ///
    /// # Errors
    /// If the matrix is not square or not symmetric, or a weight is negative or not finite.
    #[inline(never)]
    pub fn affinities(weights: Csr<T>) -> Result<Self> {
        check_square_and_finite(&weights)?;
        let turned = weights.transpose();
        for i in 0..weights.rows() {
            if let Some((j, w)) = weights.row(i).find(|(_, w)| *w < T::zero()) {
                return Err(Error::Graph(format!("weight {w} of samples {i} and {j} is negative")));
            }
            check_row_symmetric(i, &weights, &turned)?;
        }
        // The mean of both directions, in one order: symmetric to the bit, however the weights were
        // rounded.
        let sorted = turned.transpose();
        let rows = (0..weights.rows()).map(|i| {
            let there = sorted.row(i).filter(|(_, w)| *w > T::zero());
            let back = turned.row(i).filter(|(_, w)| *w > T::zero());
            let pairs = there.zip(back).filter(|((j, _), _)| *j != i);
            pairs.map(|((j, to), (_, from))| (j, (to + from) / T::of(2.0))).collect::<Vec<_>>()
        });
        let weights = Csr::from_rows(weights.columns(), rows);
        let typical = weights.entries().div_ceil(weights.rows().max(1)).clamp(1, 10);
        Ok(Self { source: Source::Affinities(weights), n_neighbors: typical })
    }

    /// [`Given::affinities`] from a list of edges (sample, sample, weight), counted from 0. An edge
    /// listed once counts in both directions; listed in both, its weights must agree.
    ///
    /// # Errors
    /// If a sample is not among the `n_samples`, an edge is listed twice in one direction, or a
    /// weight is negative or not finite.
    #[inline(never)]
    pub fn edges(n_samples: usize, edges: &[(usize, usize, T)]) -> Result<Self> {
        let mut directed: HashMap<(usize, usize), T> = HashMap::new();
        for (line, &(i, j, weight)) in edges.iter().enumerate() {
            let refuse = |what: String| Err(Error::Graph(format!("edge {}: {what}", line + 1)));
            if i.max(j) >= n_samples {
                return refuse(format!(
                    "sample {}, but there are only {n_samples}, counted from 0",
                    i.max(j)
                ));
            }
            if !weight.is_finite() {
                return refuse(format!("weight {weight} is not finite"));
            }
            if directed.insert((i, j), weight).is_some() {
                return refuse(format!("from {i} to {j} is listed twice"));
            }
        }
        let mut rows: Vec<Vec<(usize, T)>> = vec![Vec::new(); n_samples];
        for (&(i, j), &weight) in &directed {
            rows[i].push((j, weight));
            if i != j && !directed.contains_key(&(j, i)) {
                rows[j].push((i, weight));
            }
        }
        rows.iter_mut().for_each(|row| order::by_column(row));
        Self::affinities(Csr::from_rows(n_samples, rows))
    }

    fn n_samples(&self) -> usize {
        match &self.source {
            Source::Lists(lists) => lists.len(),
            Source::Mixtures(weights) | Source::Affinities(weights) => weights.rows(),
        }
    }
}

fn check_square_and_finite<T: Real>(weights: &Csr<T>) -> Result<()> {
    for i in 0..weights.rows() {
        if let Some((j, w)) = weights.row(i).find(|(_, w)| !w.is_finite()) {
            return Err(Error::Graph(format!("weight {w} of samples {i} and {j} is not finite")));
        }
    }
    if weights.rows() == weights.columns() {
        return Ok(());
    }
    Err(Error::Graph(format!(
        "weights must be square, one row and one column per sample; they are {} x {}",
        weights.rows(),
        weights.columns()
    )))
}

/// Row $i$ of the weights against row $i$ of their transpose.
fn check_row_symmetric<T: Real>(i: usize, weights: &Csr<T>, turned: &Csr<T>) -> Result<()> {
    let sorted = |rows: &Csr<T>| {
        let mut row: Vec<(usize, T)> = rows.row(i).filter(|(_, w)| *w != T::zero()).collect();
        order::by_column(&mut row);
        row
    };
    let (there, back) = (sorted(weights), sorted(turned));
    let find = |row: &[(usize, T)], j: usize| {
        row.binary_search_by_key(&j, |(k, _)| *k).map_or(T::zero(), |at| row[at].1)
    };
    for &(j, _) in there.iter().chain(&back) {
        let (to, from) = (find(&there, j), find(&back, j));
        if (to - from).abs().wide() > ASYMMETRY * to.max(from).wide() {
            return Err(Error::Graph(format!(
                "weights must be symmetric: {to} from sample {i} to {j}, but {from} back; use the \
                 larger of the two, or their mean"
            )));
        }
    }
    Ok(())
}

fn widest<T: Real>(weights: &Csr<T>) -> usize {
    (0..weights.rows()).map(|i| weights.row(i).len()).max().unwrap_or(1).max(1)
}

impl<T: Real> Graph<T> for Given<T> {
    #[inline(never)]
    fn build(&self, samples: &Matrix<T>) -> Result<Connected<T>> {
        if self.n_samples() != samples.columns() {
            return Err(Error::Shape {
                what: "samples in the graph".into(),
                expected: samples.columns(),
                got: self.n_samples(),
            });
        }
        let mut attachment = Attachment::new(Rule::Lle { n_neighbors: self.n_neighbors });
        let laplacian = match &self.source {
            Source::Lists(lists) => laplacian(samples, lists),
            Source::Mixtures(weights) => {
                let rows = (0..weights.rows()).map(|i| {
                    let own = (weights.row(i).len() > 0).then_some((i, T::one()));
                    own.into_iter().chain(weights.row(i).map(|(j, w)| (j, -w)))
                });
                Laplacian::from_factor(Csr::from_rows(weights.columns(), rows))
            }
            Source::Affinities(weights) => {
                let laplacian = Laplacian::from_affinities(weights.clone());
                // A new sample is held as strongly as a training sample is on average.
                let mean = laplacian.trace() / laplacian.n_samples().max(1) as f64;
                attachment = attachment.scaled(mean);
                laplacian
            }
        };
        Ok(Connected { laplacian, attachment })
    }
}
