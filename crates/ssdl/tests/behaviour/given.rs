//! Graphs given by a user: what they mean, and what is refused.

use std::sync::Arc;

use crate::common::graphs::{dense, lle_weights};
use crate::common::{Recorder, noise};
use ssdl::graph::{Given, Graph, Neighbours, Portrait, Rule};
use ssdl::methods::{FitOptions, SsdlGa};
use ssdl::prelude::*;
use ssdl::sparse::Csr;
use ssdl::{Error, Matrix, Samples};

#[test]
fn a_method_given_its_own_graph_gives_the_same_fit() {
    let (samples, _) = crate::common::small_problem::<f64>(1);
    let knobs = SsdlGa::new().n_atoms(16).n_neighbors(5).max_iterations(4);
    // Samples prepared already: the lists must be those of what the method sees.
    let options = FitOptions { prepare: Vec::new(), ..crate::common::options() };
    let fit = |graph: Option<Arc<dyn Graph<f64> + Send>>| {
        let options = FitOptions { graph, ..options.clone() };
        let samples = Samples::new(samples.features().clone(), samples.labels().clone()).unwrap();
        knobs.fit_with(samples, &options, &mut ssdl::fit::Silent).unwrap()
    };
    let own = fit(None);
    let lists = Neighbours::within(samples.features(), 5);
    let weights = lle_weights(samples.features(), &lists);
    let by_lists = fit(Some(Arc::new(Given::neighbours(lists))));
    let by_weights = fit(Some(Arc::new(Given::mixtures(weights).unwrap())));
    for other in [by_lists, by_weights] {
        assert_eq!(other.codes(), own.codes());
        assert_eq!(other.atoms(), own.atoms());
        assert_eq!(other.classifier(), own.classifier());
    }
}

#[test]
fn bad_graphs_are_refused_with_a_reason() {
    let refused = |starts: Vec<usize>, indices: Vec<u32>, values: Vec<f64>, columns| {
        Csr::new(columns, starts, indices, values).and_then(|csr| Given::mixtures(csr).map(drop))
    };
    assert!(reason(refused(vec![0, 1, 2], vec![1, 0], vec![1.0, 1.0], 3)).contains("square"));
    assert!(reason(refused(vec![0, 1, 2], vec![1, 1], vec![1.0, 1.0], 2)).contains("itself"));
    assert!(reason(refused(vec![0, 1, 2], vec![2, 0], vec![1.0, 1.0], 2)).contains("index 2"));
    assert!(reason(refused(vec![0, 1, 2], vec![1, 0], vec![f64::NAN, 1.0], 2)).contains("NaN"));
    assert!(reason(refused(vec![0, 2, 1], vec![1], vec![1.0], 2)).contains("offsets"));
    for lists in [vec![vec![1], vec![1]], vec![vec![1], vec![0, 1]], vec![vec![2], vec![0]]] {
        assert!(matches!(Neighbours::given(&lists), Err(Error::Graph(_))), "{lists:?}");
    }
    let graph = Given::<f64>::neighbours(Neighbours::given(&[vec![1], vec![0]]).unwrap());
    let error = graph.build(&noise(2, 3, 1)).unwrap_err();
    assert!(matches!(error, Error::Shape { expected: 3, got: 2, .. }), "{error}");
}

#[track_caller]
fn reason(result: ssdl::Result<()>) -> String {
    match result.unwrap_err() {
        Error::Graph(reason) => reason,
        other => panic!("{other}"),
    }
}

/// Affinities from the rows of a small array.
fn affinities<const N: usize>(rows: [[f64; N]; N]) -> ssdl::Result<Given<f64>> {
    Given::affinities(Csr::of_columns(&Matrix::from_fn(N, N, |i, j| rows[j][i])))
}

#[test]
fn affinities_must_be_square_symmetric_finite_and_not_negative() {
    let refused = |rows: [[f64; 3]; 3]| reason(affinities(rows).map(drop));
    let message = refused([[0.0, 1.0, 0.0], [2.0, 0.0, 0.0], [0.0; 3]]);
    assert!(message.contains("symmetric") && message.contains("sample 0 to 1"), "{message}");
    let one_way = refused([[0.0, 0.0, 0.0], [0.0; 3], [0.0, 1e-12, 0.0]]);
    assert!(one_way.contains("symmetric"), "{one_way}");
    let message = refused([[0.0, -1.0, 0.0], [-1.0, 0.0, 0.0], [0.0; 3]]);
    assert!(message.contains("negative") && message.contains("0 and 1"), "{message}");
    for value in [f64::NAN, f64::INFINITY] {
        let message = refused([[0.0; 3], [0.0, 0.0, value], [0.0, value, 0.0]]);
        assert!(message.contains(&value.to_string()), "{message}");
        let mixtures = Matrix::from_fn(2, 2, |i, j| if i == j { 0.0 } else { value });
        let message = reason(Given::mixtures(Csr::of_columns(&mixtures)).map(drop));
        assert!(message.contains(&value.to_string()), "{message}");
    }
    let wide = Csr::of_columns(&Matrix::<f64>::zeros(3, 2));
    assert!(reason(Given::affinities(wide).map(drop)).contains("2 x 3"));
}

#[test]
fn affinities_are_used_as_given_and_the_diagonal_is_not() {
    let graph = affinities([[7.0, 2.0, 0.0], [2.0, 0.0, 0.5], [0.0, 0.5, 1.0]]).unwrap();
    let connected = graph.build(&noise::<f64>(2, 3, 1)).unwrap();
    let expected = [2.0, -2.0, 0.0, -2.0, 2.5, -0.5, 0.0, -0.5, 0.5];
    assert_eq!(dense(&connected.laplacian).as_slice(), expected);
    let a = [1.0, 3.0, 7.0];
    let energy = connected.laplacian.energy(&Matrix::from_fn(1, 3, |_, j| a[j]));
    assert_eq!(energy, 2.0 * 4.0 + 0.5 * 16.0);
    // A new sample is held as strongly as a training sample is on average.
    assert_eq!(connected.attachment.scale, 5.0 / 3.0);
    assert!(matches!(connected.attachment.rule, Rule::Lle { n_neighbors: 2 }));
}

#[test]
fn rounding_between_the_two_directions_is_evened_out() {
    let graph = affinities([[0.0, 1.0], [1.000_001, 0.0]]).unwrap();
    let l = dense(&graph.build(&noise::<f64>(2, 2, 1)).unwrap().laplacian);
    assert_eq!(l.column(0)[1], l.column(1)[0]);
    assert_eq!(l.column(0)[1], -(1.0 + 1.000_001) / 2.0);
}

#[test]
fn bad_edges_are_refused_by_number() {
    let refused = |edges: &[(usize, usize, f64)]| reason(Given::edges(3, edges).map(drop));
    let message = refused(&[(0, 1, 1.0), (1, 3, 1.0)]);
    assert!(message.contains("edge 2") && message.contains("sample 3"), "{message}");
    let message = refused(&[(0, 1, 1.0), (2, 1, 1.0), (0, 1, 1.0)]);
    assert!(message.contains("edge 3") && message.contains("twice"), "{message}");
    let message = refused(&[(0, 1, 1.0), (1, 0, 2.0)]);
    assert!(
        message.contains("symmetric") && message.contains("1") && message.contains('2'),
        "{message}"
    );
    for weight in [f64::NAN, f64::NEG_INFINITY] {
        let message = refused(&[(0, 1, weight)]);
        assert!(message.contains("edge 1"), "{message}");
    }
    assert!(refused(&[(0, 1, -0.5)]).contains("negative"));
}

#[test]
fn edges_count_once_whether_listed_in_one_direction_or_both() {
    let samples = noise::<f64>(2, 4, 1);
    let build = |edges: &[(usize, usize, f64)]| {
        Given::edges(4, edges).unwrap().build(&samples).unwrap().laplacian
    };
    let one = build(&[(0, 1, 2.0), (2, 1, 0.5)]);
    let both = build(&[(1, 0, 2.0), (1, 2, 0.5), (0, 1, 2.0), (2, 1, 0.5), (3, 3, 9.0)]);
    assert_eq!(dense(&one), dense(&both));
    // Sample 3 is tied to none, which is legal.
    let portrait = Portrait::of(&one, &[Some(0), Some(0), Some(1), None]);
    assert_eq!((portrait.edges, portrait.isolated), (2, 1));
    assert_eq!(portrait.components, [3, 1]);
    assert_eq!(portrait.same_class, Some(0.5));
    assert_eq!((portrait.degrees.least, portrait.degrees.most), (0, 2));
    let none = build(&[]);
    assert_eq!((none.trace(), Portrait::of(&none, &[None; 4]).isolated), (0.0, 4));
}

#[test]
fn isolated_samples_and_useless_graphs_give_a_notice_and_a_fit() {
    let fit = |graph: Given<f64>, manifold: f64| {
        let (samples, _) = crate::common::small_problem::<f64>(2);
        let options = FitOptions { graph: Some(Arc::new(graph)), ..crate::common::options() };
        let mut recorder = Recorder::default();
        let knobs = SsdlGa::new().n_atoms(12).max_iterations(2).manifold(manifold);
        let model = knobs.fit_with(samples, &options, &mut recorder).unwrap();
        assert!(model.report().objective.total().is_finite());
        recorder.notices
    };
    let some = Given::edges(90, &[(0, 1, 1.0), (1, 2, 1.0)]).unwrap();
    let notices = fit(some.clone(), 0.5);
    assert!(
        notices.iter().any(|n| n.contains("87 of 90 samples have no neighbour")),
        "{notices:?}"
    );
    let notices = fit(Given::edges(90, &[]).unwrap(), 0.5);
    assert!(notices.iter().any(|n| n.contains("no edge")), "{notices:?}");
    let notices = fit(some, 0.0);
    assert!(notices.iter().any(|n| n.contains("not used")), "{notices:?}");
}
