//! Every graph by name, and graphs as dense matrices.

use ssdl::graph::lle::barycentres;
use ssdl::graph::{
    Connected, Given, Graph, Heat, Laplacian, LearntGraph, Lle, Neighbours, Search, Threshold,
    Width,
};
use ssdl::sparse::Csr;
use ssdl::{Matrix, Real};

/// σ of the heat kernels in these tests.
pub const WIDTH: Width = Width::Relative(0.7);

/// A graph with its name.
pub type Named<T> = (&'static str, Box<dyn Graph<T>>);

/// Every graph on these samples, with those given by a user in all forms.
pub fn graphs<T: Real>(samples: &Matrix<T>, k: usize) -> Vec<Named<T>> {
    let heat = Heat { n_neighbors: k, width: WIDTH, search: Search::Auto };
    let ties = built(&heat, samples).laplacian.ties();
    let edges: Vec<(usize, usize, T)> = (0..ties.rows())
        .flat_map(|i| ties.row(i).filter(move |(j, _)| *j < i).map(move |(j, w)| (i, j, w)))
        .collect();
    let mut all: Vec<Named<T>> = vec![
        ("lle", Box::new(Lle { n_neighbors: k, search: Search::Auto })),
        ("heat", Box::new(heat)),
        ("threshold", Box::new(Threshold { percentile: 0.4, width: WIDTH })),
        ("learnt", Box::new(LearntGraph { smoothness: 3.0 })),
        ("given edges", Box::new(Given::edges(samples.columns(), &edges).unwrap())),
        ("given affinities", Box::new(Given::affinities(ties).unwrap())),
    ];
    let lists = Neighbours::within(samples, k);
    // Empty lists and mixtures are not graphs.
    if lists.k() > 0 {
        let mixtures = Given::mixtures(lle_weights(samples, &lists)).unwrap();
        all.push(("given mixtures", Box::new(mixtures)));
        all.push(("given lists", Box::new(Given::neighbours(lists))));
    }
    all
}

/// The graph on these samples.
pub fn built<T: Real>(graph: &dyn Graph<T>, samples: &Matrix<T>) -> Connected<T> {
    graph.build(samples).unwrap()
}

/// The LLE weights of every sample on its neighbours, as a user would give them.
pub fn lle_weights<T: Real>(samples: &Matrix<T>, neighbours: &Neighbours) -> Csr<T> {
    let (n, k) = (samples.columns(), neighbours.k());
    let starts = (0..=n).map(|i| i * k).collect();
    let lists: Vec<u32> = (0..n).flat_map(|i| neighbours.of(i).to_vec()).collect();
    Csr::new(n, starts, lists, barycentres(samples, samples, neighbours)).unwrap()
}

/// $L$ as a dense matrix, in `f64`.
pub fn dense<T: Real>(laplacian: &Laplacian<T>) -> Matrix<f64> {
    let n = laplacian.n_samples();
    let unit = |i: usize, j: usize| if i == j { T::one() } else { T::zero() };
    let mut out = Matrix::zeros(n, n);
    laplacian.pull(&Matrix::from_fn(n, n, unit), &mut Matrix::zeros(0, 0), &mut out);
    out.cast()
}

/// Squared distance, in `f64`.
pub fn squared<T: Real>(x: &[T], y: &[T]) -> f64 {
    x.iter().zip(y).map(|(a, b)| (a.wide() - b.wide()).powi(2)).sum()
}
