//! The problem of `objective.json` and random ones of the same make, as the library sees them.

use serde_json::Value;
use ssdl::classifier::{Active, ActivePoints, LinearClassifier, Shares};
use ssdl::codes::{Coding, Margin};
use ssdl::dictionary::project;
use ssdl::graph::{Graph, Laplacian, Lle, Search};
use ssdl::samples::Held;
use ssdl::{Matrix, Real};

use super::{clouds, fixture, flip, matrix, noise, numbers, sparse_noise};

/// Everything that the stages take, at one point of a fit.
pub struct Tiny<T> {
    pub samples: Matrix<T>,
    pub assigned: Vec<Option<usize>>,
    pub laplacian: Laplacian<T>,
    pub atoms: Matrix<T>,
    pub gram: Matrix<T>,
    pub codes: Matrix<T>,
    pub classifier: LinearClassifier<T>,
    pub cross: Matrix<T>,
    /// Scores at which memberships and active points are taken.
    pub start: Matrix<T>,
    pub shares: Shares<T>,
    pub frozen: Active<T>,
    pub majorised: Active<T>,
    pub sparsity: f64,
    pub manifold: f64,
    pub discrimination: f64,
    pub ridge: f64,
    pub sharpness: f64,
}

/// Which active points a coding problem has.
pub const POINTS: [Option<ActivePoints>; 3] =
    [None, Some(ActivePoints::Frozen), Some(ActivePoints::Majorised)];

impl<T: Real> Tiny<T> {
    /// The fixture.
    pub fn stored() -> (Self, Value) {
        let stored = fixture("objective");
        let knob = |name: &str| stored["knobs"][name].as_f64().unwrap();
        let samples: Matrix<T> = matrix(&stored["samples"]);
        let mut assigned = vec![None; samples.columns()];
        for (j, class) in super::indices(&stored["labels"]).into_iter().enumerate() {
            assigned[j] = Some(class);
        }
        let weights: Matrix<f64> = matrix(&stored["classifier_weights"]);
        let bias = numbers(&stored["bias"]).into_iter().map(T::of).collect();
        let tiny = Self::assemble(
            samples,
            assigned,
            matrix(&stored["dictionary"]),
            matrix(&stored["codes"]),
            LinearClassifier { weights: flip(&weights).cast(), bias },
            matrix(&stored["frozen_scores"]),
            [
                knob("sparsity"),
                knob("manifold"),
                knob("discrimination"),
                knob("ridge"),
                knob("n_neighbors"),
                knob("sharpness"),
            ],
        );
        (tiny, stored)
    }

    /// A random problem; two thirds of the samples are unlabelled.
    pub fn random(n: usize, p: usize, count: usize, n_classes: usize, seed: u64) -> Self {
        let (samples, truth) = clouds::<T>(n_classes, n, count, seed);
        let assigned = truth.iter().enumerate().map(|(j, &c)| (j % 3 == 0).then_some(c)).collect();
        let mut atoms = noise::<T>(n, p, seed + 1);
        (0..p).for_each(|k| project(atoms.column_mut(k), T::one()));
        let weights = Matrix::from_fn(p, n_classes, {
            let draw = noise::<T>(p, n_classes, seed + 2);
            move |i, j| draw.column(j)[i] * T::of(0.6)
        });
        let bias = noise::<T>(n_classes, 1, seed + 3).into_vec();
        let classifier = LinearClassifier { weights, bias };
        let codes = sparse_noise(p, count, seed + 4);
        let start = classifier.scores(&codes);
        let knobs = [0.4, 0.5, 0.6, 0.9, 4.0, 1.7];
        Self::assemble(samples, assigned, atoms, codes, classifier, start, knobs)
    }

    fn assemble(
        samples: Matrix<T>,
        assigned: Vec<Option<usize>>,
        atoms: Matrix<T>,
        codes: Matrix<T>,
        classifier: LinearClassifier<T>,
        start: Matrix<T>,
        [sparsity, manifold, discrimination, ridge, k, sharpness]: [f64; 6],
    ) -> Self {
        let shares = Shares::new(&start, &assigned, sharpness);
        let weights = &classifier.weights;
        Self {
            laplacian: Lle { n_neighbors: k as usize, search: Search::Auto }
                .build(&samples)
                .unwrap()
                .laplacian,
            gram: atoms.gram(),
            cross: Matrix::of_product(weights.view(), weights.transposed()),
            frozen: Active::new(ActivePoints::Frozen, &start, &shares),
            majorised: Active::new(ActivePoints::Majorised, &start, &shares),
            samples,
            assigned,
            atoms,
            codes,
            classifier,
            start,
            shares,
            sparsity,
            manifold,
            discrimination,
            ridge,
            sharpness,
        }
    }

    pub fn active(&self, kind: ActivePoints) -> &Active<T> {
        match kind {
            ActivePoints::Frozen => &self.frozen,
            ActivePoints::Majorised => &self.majorised,
        }
    }

    /// The coding problem with or without graph and margin.
    pub fn coding(&self, graph: bool, points: Option<ActivePoints>) -> Coding<'_, T> {
        Coding {
            samples: Held::from(&self.samples),
            atoms: &self.atoms,
            gram: &self.gram,
            graph: graph.then_some((T::of(self.manifold), &self.laplacian)),
            margin: points.map(|kind| Margin {
                discrimination: T::of(self.discrimination),
                weights: &self.classifier.weights,
                bias: &self.classifier.bias,
                cross: &self.cross,
                weight: &self.active(kind).weight,
                target: &self.active(kind).target,
            }),
            sparsity: T::of(self.sparsity),
        }
    }

    /// What `Quadratic::value` leaves out of the objective: all that does not depend on the codes.
    pub fn constant(&self, points: Option<ActivePoints>) -> f64 {
        let bias = &self.classifier.bias;
        let loss = points.map_or(0.0, |kind| {
            let flat = Matrix::from_fn(bias.len(), self.samples.columns(), |c, _| bias[c]);
            self.discrimination * self.active(kind).value(&flat)
        });
        self.samples.squared_norm() + loss
    }
}
