//! The paper's batch-and-epoch strategy (appendix): FISTA on a few samples at a time.
//!
//! Working memory is $O(p\cdot\text{batch})$ instead of $O(pN)$; the rest of the codes are held
//! fixed and enter through the graph.

use rand::Rng;

use super::super::{Coding, Quadratic};
use super::{Descended, Descent, Fista};
use crate::random::{Purpose, shuffle, stream};
use crate::{Matrix, Real};

/// Random batches, several epochs, FISTA inside each batch.
#[derive(Clone, Copy, Debug)]
pub struct Batches {
    /// Samples per batch.
    pub size: usize,
    /// Maximum number of passes over all samples.
    pub epochs: usize,
    /// The solver within a batch.
    pub inner: Fista,
    /// Seed of the order of samples.
    pub seed: u64,
}

impl<T: Real> Descent<T> for Batches {
    #[inline(never)]
    fn code(&self, problem: &Coding<'_, T>, codes: &mut Matrix<T>) -> Descended {
        let mut rng = stream(self.seed, Purpose::Batches);
        let mut done = Descended { steps: 0, gap: f64::INFINITY, graph_energy: None };
        while done.steps < self.epochs && done.gap > self.inner.tolerance {
            let gap = self.epoch(problem, codes, &mut rng);
            (done.steps, done.gap) = (done.steps + 1, gap);
        }
        done
    }
}

impl Batches {
    /// One pass; returns the largest gap that a batch had before its solve.
    fn epoch<T: Real>(
        &self,
        problem: &Coding<'_, T>,
        codes: &mut Matrix<T>,
        rng: &mut impl Rng,
    ) -> f64 {
        let mut order: Vec<usize> = (0..codes.columns()).collect();
        shuffle(&mut order, rng);
        let mut worst = 0.0f64;
        for batch in order.chunks_mut(self.size.max(1)) {
            batch.sort_unstable();
            worst = worst.max(self.batch(problem, codes, batch));
        }
        worst
    }

    fn batch<T: Real>(
        &self,
        problem: &Coding<'_, T>,
        codes: &mut Matrix<T>,
        batch: &[usize],
    ) -> f64 {
        let samples = problem.samples.select(batch);
        let mut rhs = Matrix::of_product(problem.atoms.transposed(), samples.view());
        let weight = problem.margin.map(|margin| margin.weight.select(batch));
        if let (Some(margin), Some(weight)) = (&problem.margin, &weight) {
            margin.add_to(&mut rhs, &margin.target.select_columns(batch), weight);
        }
        let graph = problem.graph.map(|(strength, laplacian)| {
            let (smaller, pull) = laplacian.restrict(batch, codes);
            crate::matrix::axpy(-strength, pull.as_slice(), rhs.as_mut_slice());
            (strength, smaller)
        });
        let smaller = Quadratic {
            gram: problem.gram,
            shifts: Vec::new(),
            graph: graph.as_ref().map(|(beta, laplacian)| (*beta, laplacian)),
            margin: problem.margin.as_ref().zip(weight.as_ref()).map(|(m, w)| m.operator(w)),
            rhs,
            penalty: problem.penalty(),
        };
        let mut inside = codes.select_columns(batch);
        let before = smaller.gap(&inside);
        self.inner.minimise(&smaller, &mut inside);
        for (at, &j) in batch.iter().enumerate() {
            codes.column_mut(j).copy_from_slice(inside.column(at));
        }
        before
    }
}
