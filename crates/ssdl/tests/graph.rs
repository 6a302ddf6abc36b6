//! Contracts of every graph: the two-pass form is a positive semidefinite Laplacian, weights are
//! barycentres, and degenerate samples never break it.

#![allow(clippy::unwrap_used)]

mod common;

use std::sync::Arc;

use common::{
    apart, assert_close, clouds, dense_factor, fixture, lle_weights, matrix, noise, numbers,
};
use ssdl::graph::{Given, Graph, Laplacian, Lle, Neighbours, lle::barycentres};
use ssdl::matrix::inner;
use ssdl::methods::{Options, SsdlGa};
use ssdl::sparse::Csr;
use ssdl::{Error, Matrix, Real, Samples};

/// Every implementer, built to describe the same relation.
fn graphs<T: Real>(samples: &Matrix<T>, k: usize) -> Vec<(&'static str, Box<dyn Graph<T>>)> {
    let lists = Neighbours::within(samples, k);
    let mut all: Vec<(&str, Box<dyn Graph<T>>)> = vec![("lle", Box::new(Lle { n_neighbors: k }))];
    if lists.k() > 0 {
        let weights = Given::weights(lle_weights(samples, &lists)).unwrap();
        all.push(("given lists", Box::new(Given::neighbours(lists))));
        all.push(("given weights", Box::new(weights)));
    }
    all
}

/// E-form against dense products, rows of M, diagonal, bound, trace and groups.
#[track_caller]
fn check_laplacian<T: Real>(laplacian: &Laplacian<T>, rows_sum_to_one: bool, what: &str) {
    let tolerance = if T::NAME == "f64" { 1e-10 } else { 2e-4 };
    let n = laplacian.n_samples();
    let m = dense_factor(laplacian);
    let l = Matrix::of_product(m.transposed(), m.view());
    let size = (0..n).fold(1e-300, |top: f64, j| top.max(l.column(j)[j]));
    let a = noise::<T>(3, n, 5);
    let (mut e, mut al) = (Matrix::zeros(3, laplacian.factor().rows()), Matrix::zeros(3, n));
    laplacian.residuals(&a, &mut e);
    laplacian.pull(&e, &mut al);
    let expected = Matrix::of_product(a.cast::<f64>().view(), l.view());
    for (x, y) in al.as_slice().iter().zip(expected.as_slice()) {
        assert!((x.wide() - y).abs() <= tolerance * size * 3.0, "{what}: {x} is not {y}");
    }
    let energy = inner(al.as_slice(), a.as_slice());
    assert!((energy - e.squared_norm()).abs() <= tolerance * size * n as f64, "{what}: energy");
    assert!(energy >= -tolerance * size, "{what}: energy {energy}");
    for j in 0..n {
        let diagonal = laplacian.diagonal()[j].wide();
        assert!((diagonal - l.column(j)[j]).abs() <= tolerance * size, "{what}: diagonal {j}");
        let reach: f64 = l.column(j).iter().map(|v| v.abs()).sum();
        assert!(laplacian.bound()[j].wide() >= reach - tolerance * size, "{what}: bound {j}");
        if rows_sum_to_one {
            let sum: f64 = l.column(j).iter().sum();
            assert!(sum.abs() <= tolerance * size * 3.0, "{what}: L·1 is {sum} at {j}");
        }
    }
    let trace: f64 = (0..n).map(|j| l.column(j)[j]).sum();
    assert!((laplacian.trace() - trace).abs() <= tolerance * (trace + 1e-300), "{what}: trace");
    let mut seen: Vec<u32> = laplacian.independent_groups().concat();
    seen.sort_unstable();
    assert_eq!(seen, (0..n as u32).collect::<Vec<u32>>(), "{what}: groups");
}

/// Rows of I − V hold a one for the sample and weights that sum to one, or nothing at all.
#[track_caller]
fn check_rows<T: Real>(laplacian: &Laplacian<T>, what: &str) {
    for i in 0..laplacian.n_samples() {
        let row: Vec<(usize, T)> = laplacian.factor().row(i).collect();
        if row.is_empty() {
            continue;
        }
        assert_eq!(row[0], (i, T::one()), "{what}");
        let size: f64 = row.iter().map(|(_, w)| w.wide().abs()).sum();
        let sum: f64 = row.iter().map(|(_, w)| w.wide()).sum();
        assert!(sum.abs() <= 32.0 * T::epsilon().wide() * size, "{what}: row {i} sums to {sum}");
    }
}

fn every_graph_in<T: Real>() {
    for (count, k, seed) in [(40, 5, 1), (17, 3, 2), (25, 9, 3)] {
        let (samples, _) = clouds::<T>(3, 6, count, seed);
        for (name, graph) in graphs(&samples, k) {
            let laplacian = graph.build(&samples).unwrap();
            check_laplacian(&laplacian, true, name);
            check_rows(&laplacian, name);
        }
    }
}

#[test]
fn the_two_pass_form_is_a_semidefinite_laplacian_whose_constants_are_free() {
    every_graph_in::<f64>();
    every_graph_in::<f32>();
}

#[test]
fn weights_that_do_not_sum_to_one_and_empty_rows_are_taken_as_they_are() {
    let weights =
        Csr::new(4, vec![0, 2, 2, 3, 5], vec![1, 3, 0, 2, 0], vec![0.4, 0.9, -2.0, 0.5, 0.1]);
    let graph = Given::weights(weights.unwrap()).unwrap();
    let laplacian = graph.build(&noise::<f64>(3, 4, 1)).unwrap();
    check_laplacian(&laplacian, false, "user weights");
    assert_eq!(laplacian.factor().row(1).len(), 0);
    // Sample 1 is left out by itself but sample 0 still leans on it.
    assert_close(laplacian.diagonal()[1], 0.16, 1e-12);
}

#[test]
fn barycentres_and_laplacians_agree_with_the_oracle() {
    for case in fixture("barycentres")["cases"].as_array().unwrap() {
        let name = case["name"].as_str().unwrap();
        let samples: Matrix<f64> = matrix(&case["samples"]);
        let k = case["n_neighbors"].as_u64().unwrap() as usize;
        let found = Neighbours::within(&samples, k);
        let weights = barycentres(&samples, &samples, &found);
        let found_k = found.k();
        for i in 0..samples.columns() {
            let row: Vec<(usize, f64)> = found
                .of(i)
                .iter()
                .map(|&j| j as usize)
                .zip(weights[i * found_k..][..found_k].iter().copied())
                .collect();
            compare_rows(&row, &case["neighbours"][i], &case["weights"][i], name);
        }
        let laplacian = Lle { n_neighbors: k }.build(&samples).unwrap();
        let m = dense_factor::<f64>(&laplacian);
        let l = Matrix::of_product(m.transposed(), m.view());
        let expected: Matrix<f64> = matrix(&case["laplacian"]);
        assert!(apart(l.as_slice(), expected.as_slice()) < 1e-8, "{name}");
        let Some(queries) = case.get("queries") else { continue };
        let new: Matrix<f64> = matrix(&queries["samples"]);
        for (kind, graph) in graphs(&samples, k) {
            let anchors = graph.anchor(&samples, &new);
            for i in 0..new.columns() {
                let row: Vec<(usize, f64)> = anchors.of(i).collect();
                if kind == "lle" || row.len() == queries["weights"][i].as_array().unwrap().len() {
                    compare_rows(&row, &queries["neighbours"][i], &queries["weights"][i], name);
                }
            }
        }
    }
}

/// Same neighbours in any order, same weights to 1e-8 of the largest.
fn compare_rows(
    row: &[(usize, f64)],
    lists: &serde_json::Value,
    weights: &serde_json::Value,
    name: &str,
) {
    let mut found = row.to_vec();
    let mut expected: Vec<(usize, f64)> =
        common::indices(lists).into_iter().zip(numbers(weights)).collect();
    found.sort_by_key(|entry| entry.0);
    expected.sort_by_key(|entry| entry.0);
    let size = expected.iter().fold(0.0f64, |top, (_, w)| top.max(w.abs()));
    assert_eq!(found.len(), expected.len(), "{name}");
    for ((j, w), (i, v)) in found.iter().zip(&expected) {
        assert_eq!(j, i, "{name}");
        assert!((w - v).abs() <= 1e-8 * size, "{name}: {w} is not {v}");
    }
}

fn twins_in<T: Real>() {
    for seed in 0..5 {
        // Two more neighbours in general position: 1e-3 of the trace leaves them about 0.003.
        let mut samples = noise::<T>(20, 40, seed);
        let twin = samples.column(3).to_vec();
        samples.column_mut(30).copy_from_slice(&twin);
        let laplacian = Lle { n_neighbors: 3 }.build(&samples).unwrap();
        for (i, other) in [(3, 30), (30, 3)] {
            let weight = laplacian.factor().row(i).find(|(j, _)| *j == other).unwrap().1;
            assert!((-weight.wide() - 0.997).abs() < 2e-3, "{weight}");
        }
        let anchors = Lle { n_neighbors: 3 }.anchor(&samples, &samples.select_columns(&[7]));
        let own = anchors.of(0).find(|(j, _)| *j == 7).unwrap().1.wide();
        assert!((own - 0.997).abs() < 2e-3, "{own}");
    }
}

#[test]
fn a_twin_takes_nearly_all_the_weight_as_neighbour_and_as_anchor() {
    twins_in::<f64>();
    twins_in::<f32>();
}

/// Samples that break a careless graph.
fn awkward<T: Real>() -> Vec<(&'static str, Matrix<T>, usize)> {
    let line = |count: usize| Matrix::from_fn(2, count, |i, j| T::of((i + 3 * j) as f64));
    let mut with_zeros = noise::<T>(4, 15, 2);
    [2, 5, 6, 9].iter().for_each(|&j| with_zeros.column_mut(j).fill(T::zero()));
    vec![
        ("more neighbours than features", noise(3, 20, 1), 8),
        ("more neighbours than samples", noise(5, 6, 1), 50),
        (
            "every sample three times",
            noise::<T>(4, 30, 1).select_columns(&[1, 2, 3, 4].repeat(3)),
            5,
        ),
        ("all samples the same", Matrix::from_fn(3, 12, |i, _| T::of(i as f64 - 1.0)), 4),
        ("all samples zero", Matrix::zeros(3, 9), 4),
        ("several zero samples", with_zeros, 4),
        ("samples on a line", line(14), 5),
        ("one feature", noise(1, 20, 3), 4),
        ("one sample", line(1), 3),
        ("two samples", line(2), 3),
        (
            "tiny samples",
            Matrix::from_fn(3, 12, |i, j| T::of(1e-30 * ((i * 7 + j * 5) % 11) as f64)),
            4,
        ),
        (
            "huge samples",
            Matrix::from_fn(3, 12, |i, j| T::of(1e17 * ((i * 7 + j * 5) % 11) as f64)),
            4,
        ),
    ]
}

fn awkward_in<T: Real>() {
    for (what, samples, k) in awkward::<T>() {
        for (name, graph) in graphs(&samples, k) {
            let what = format!("{what}, {name}, {}", T::NAME);
            let laplacian = graph.build(&samples).unwrap();
            assert_eq!(laplacian.n_samples(), samples.columns(), "{what}");
            let entries = (0..laplacian.factor().rows()).flat_map(|i| laplacian.factor().row(i));
            assert!(entries.map(|(_, w)| w).all(|w| w.is_finite()), "{what}");
            check_laplacian(&laplacian, true, &what);
            check_rows(&laplacian, &what);
            let mut new = noise::<T>(samples.rows(), 6, 9);
            new.column_mut(1).fill(T::zero());
            new.column_mut(2).copy_from_slice(samples.column(0));
            new.column_mut(3).iter_mut().for_each(|x| *x *= T::of(1e8));
            new.column_mut(4).iter_mut().for_each(|x| *x *= T::of(1e-12));
            let anchors = graph.anchor(&samples, &new);
            for i in 0..new.columns() {
                let row: Vec<(usize, T)> = anchors.of(i).collect();
                assert_eq!(row.is_empty(), samples.columns() == 0, "{what}");
                let size: f64 = row.iter().map(|(_, w)| w.wide().abs()).sum();
                let sum: f64 = row.iter().map(|(_, w)| w.wide()).sum();
                let slack = 32.0 * T::epsilon().wide() * (1.0 + size);
                assert!((sum - 1.0).abs() <= slack, "{what}: anchor {i} sums to {sum}");
            }
        }
    }
}

#[test]
fn degenerate_samples_give_finite_weights_that_sum_to_one() {
    awkward_in::<f64>();
    awkward_in::<f32>();
}

#[test]
fn far_apart_groups_stay_apart_in_graph_and_anchors() {
    let mut samples = noise::<f64>(4, 24, 4);
    (12..24).for_each(|j| samples.column_mut(j).iter_mut().for_each(|x| *x += 100.0));
    let mut new = noise::<f64>(4, 2, 8);
    new.column_mut(1).iter_mut().for_each(|x| *x += 100.0);
    for (name, graph) in graphs(&samples, 5) {
        let laplacian = graph.build(&samples).unwrap();
        for i in 0..24 {
            assert!(laplacian.factor().row(i).all(|(j, _)| (j < 12) == (i < 12)), "{name}");
        }
        let anchors = graph.anchor(&samples, &new);
        assert!(anchors.of(0).all(|(j, _)| j < 12) && anchors.of(1).all(|(j, _)| j >= 12));
    }
}

#[test]
fn the_own_graph_given_back_gives_the_same_fit() {
    let (samples, _) = common::small_problem::<f64>(1);
    let knobs = SsdlGa::new().n_atoms(16).n_neighbors(5).max_iterations(4);
    // Samples prepared already: the lists must be those of what the method sees.
    let options = Options { prepare: Vec::new(), ..common::options() };
    let fit = |graph: Option<Arc<dyn Graph<f64> + Send>>| {
        let options = Options { graph, ..options.clone() };
        let samples = Samples::new(samples.features().clone(), samples.labels().clone()).unwrap();
        knobs.fit_with(samples, &options, &mut ssdl::fit::Silent).unwrap()
    };
    let own = fit(None);
    let lists = Neighbours::within(samples.features(), 5);
    let weights = lle_weights(samples.features(), &lists);
    let by_lists = fit(Some(Arc::new(Given::neighbours(lists))));
    let by_weights = fit(Some(Arc::new(Given::weights(weights).unwrap())));
    for other in [by_lists, by_weights] {
        assert_eq!(other.codes(), own.codes());
        assert_eq!(other.atoms(), own.atoms());
        assert_eq!(other.classifier(), own.classifier());
    }
}

#[test]
fn bad_graphs_are_refused_with_a_reason() {
    let refused = |starts: Vec<usize>, indices: Vec<u32>, values: Vec<f64>, columns| {
        Csr::new(columns, starts, indices, values).and_then(|csr| Given::weights(csr).map(drop))
    };
    let reason = |result: ssdl::Result<()>| match result.unwrap_err() {
        Error::Graph(reason) => reason,
        other => panic!("{other}"),
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
