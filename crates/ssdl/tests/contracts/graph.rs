//! Contracts of every graph: a positive semidefinite Laplacian whose constants are free, whatever the
//! samples, at the requested strength.

use crate::common::graphs::{built, dense, graphs, lle_weights};
use crate::common::{apart, assert_close, clouds, fixture, matrix, noise, numbers};
use ssdl::graph::lle::barycentres;
use ssdl::graph::{Anchors, Connected, Given, Graph, Laplacian, Lle, Neighbours, Portrait, Search};
use ssdl::matrix::{inner, symmetric_eigen};
use ssdl::sparse::Csr;
use ssdl::{Matrix, Real, threads};

fn tolerance<T: Real>() -> f64 {
    if T::NAME == "f64" { 1e-10 } else { 2e-4 }
}

/// Symmetric, semidefinite, and every property of $L$ against $L$ itself.
#[track_caller]
fn check_laplacian<T: Real>(laplacian: &Laplacian<T>, rows_sum_to_zero: bool, what: &str) {
    let (n, tolerance) = (laplacian.n_samples(), tolerance::<T>());
    let l = dense(laplacian);
    let size = (0..n).fold(1e-300, |top: f64, j| top.max(l.column(j)[j]));
    let near = |x: f64, y: f64| (x - y).abs() <= tolerance * size;
    for j in 0..n {
        assert!((0..n).all(|i| near(l.column(j)[i], l.column(i)[j])), "{what}: not symmetric");
        assert!(near(laplacian.diagonal()[j].wide(), l.column(j)[j]), "{what}: diagonal {j}");
        let reach: f64 = l.column(j).iter().map(|v| v.abs()).sum();
        assert!(laplacian.bound()[j].wide() >= reach - tolerance * size, "{what}: bound {j}");
        let sum: f64 = l.column(j).iter().sum();
        let free = sum.abs() <= 3.0 * tolerance * size;
        assert!(free || !rows_sum_to_zero, "{what}: L·1 is {sum} at {j}");
    }
    let trace: f64 = (0..n).map(|j| l.column(j)[j]).sum();
    assert!((laplacian.trace() - trace).abs() <= tolerance * (trace + 1e-300), "{what}: trace");
    // Scaled to a largest entry of one, so that squares of tiny graphs do not underflow.
    let even = Matrix::from_fn(n, n, |i, j| 0.5 * (l.column(j)[i] + l.column(i)[j]) / size);
    let (values, _) = symmetric_eigen(&even).unwrap();
    assert!(values.iter().all(|v| *v >= -tolerance), "{what}: eigenvalue {}", values[0]);
    check_products(laplacian, &l, size, what);
    check_groups(laplacian, &l, what);
}

/// $AL$ and the energy against dense products.
#[track_caller]
fn check_products<T: Real>(laplacian: &Laplacian<T>, l: &Matrix<f64>, size: f64, what: &str) {
    let (n, tolerance) = (laplacian.n_samples(), tolerance::<T>());
    let a = noise::<T>(3, n, 5);
    let mut al = Matrix::zeros(3, n);
    laplacian.pull(&a, &mut Matrix::zeros(0, 0), &mut al);
    let expected = Matrix::of_product(a.cast::<f64>().view(), l.view());
    for (x, y) in al.as_slice().iter().zip(expected.as_slice()) {
        assert!((x.wide() - y).abs() <= tolerance * size * 3.0, "{what}: {x} is not {y}");
    }
    let energy = inner(expected.as_slice(), a.cast::<f64>().as_slice());
    let found = laplacian.energy(&a);
    assert!((energy - found).abs() <= tolerance * size * n as f64, "{what}: energy {found}");
    assert!(found >= 0.0, "{what}: energy {found}");
}

/// Every sample once, and no two of a group that act on each other.
#[track_caller]
fn check_groups<T: Real>(laplacian: &Laplacian<T>, l: &Matrix<f64>, what: &str) {
    let groups = laplacian.independent_groups();
    let mut seen: Vec<u32> = groups.concat();
    seen.sort_unstable();
    assert_eq!(seen, (0..laplacian.n_samples() as u32).collect::<Vec<u32>>(), "{what}: groups");
    for group in groups {
        for (at, &i) in group.iter().enumerate() {
            let alone = |j: &u32| l.column(i as usize)[*j as usize] == 0.0;
            assert!(group[..at].iter().all(alone), "{what}: {i} is not free of its group");
        }
    }
}

fn every_graph_in<T: Real>() {
    for (count, k, seed) in [(40, 5, 1), (17, 3, 2), (25, 9, 3)] {
        let (samples, _) = clouds::<T>(3, 6, count, seed);
        for (name, graph) in graphs(&samples, k) {
            let connected = built(&*graph, &samples);
            check_laplacian(&connected.laplacian, true, name);
            for normalise in [false, true] {
                let connected = connected.clone().at_strength(normalise);
                check_laplacian(&connected.laplacian, true, &format!("{name}, {normalise}"));
                if normalise {
                    assert_close(connected.laplacian.trace(), count as f64, 1e-5);
                }
            }
        }
    }
}

#[test]
fn every_graph_is_a_semidefinite_laplacian_whose_constants_are_free() {
    every_graph_in::<f64>();
    every_graph_in::<f32>();
}

#[test]
fn threads_change_no_bit_of_a_graph() {
    let (samples, _) = clouds::<f32>(3, 20, 300, 4);
    let (new, _) = clouds::<f32>(3, 20, 150, 5);
    for (name, graph) in graphs(&samples, 6) {
        let run = |n_threads: usize| {
            threads::run(n_threads, || {
                let connected = built(&*graph, &samples);
                let anchors = connected.attachment.anchor(&samples, &new).unwrap();
                let ties: Vec<Vec<(usize, f32)>> =
                    (0..new.columns()).map(|i| anchors.of(i).collect()).collect();
                let strengths: Vec<f32> = (0..new.columns()).map(|i| anchors.strength(i)).collect();
                (dense(&connected.laplacian), connected.attachment, ties, strengths)
            })
        };
        assert!(run(1) == run(2), "{name}");
    }
}

#[test]
fn weights_that_do_not_sum_to_one_and_empty_rows_are_taken_as_they_are() {
    let weights =
        Csr::new(4, vec![0, 2, 2, 3, 5], vec![1, 3, 0, 2, 0], vec![0.4, 0.9, -2.0, 0.5, 0.1]);
    let graph = Given::mixtures(weights.unwrap()).unwrap();
    let laplacian = graph.build(&noise::<f64>(3, 4, 1)).unwrap().laplacian;
    check_laplacian(&laplacian, false, "user weights");
    // Sample 1 is left out by itself but sample 0 still leans on it.
    let factor = [[1.0, -0.4, 0.0, -0.9], [0.0; 4], [2.0, 0.0, 1.0, 0.0], [-0.1, 0.0, -0.5, 1.0]];
    let factor = Matrix::from_fn(4, 4, |i, j| factor[i][j]);
    let expected = Matrix::of_product(factor.transposed(), factor.view());
    assert!(apart(dense(&laplacian).as_slice(), expected.as_slice()) < 1e-12);
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
        let l =
            dense(&Lle { n_neighbors: k, search: Search::Auto }.build(&samples).unwrap().laplacian);
        let expected: Matrix<f64> = matrix(&case["laplacian"]);
        assert!(apart(l.as_slice(), expected.as_slice()) < 1e-8, "{name}");
        let Some(queries) = case.get("queries") else { continue };
        let new: Matrix<f64> = matrix(&queries["samples"]);
        // Graphs given by a user tie new samples by LLE weights too.
        let by_mixtures = ["lle", "given lists", "given mixtures"];
        let all = graphs(&samples, k).into_iter();
        for (kind, graph) in all.filter(|(kind, _)| by_mixtures.contains(kind)) {
            let attachment = built(&*graph, &samples).attachment;
            let anchors = attachment.anchor(&samples, &new).unwrap();
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
        crate::common::indices(lists).into_iter().zip(numbers(weights)).collect();
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
        let lists = Neighbours::within(&samples, 3);
        let weights = lle_weights(&samples, &lists);
        for (i, other) in [(3, 30), (30, 3)] {
            let weight = weights.row(i).find(|(j, _)| *j == other).unwrap().1;
            assert!((weight.wide() - 0.997).abs() < 2e-3, "{weight}");
        }
        let Connected { laplacian, attachment } =
            built(&Lle { n_neighbors: 3, search: Search::Auto }, &samples);
        let tie = laplacian.ties().row(3).find(|(j, _)| *j == 30).unwrap().1;
        assert!((tie.wide() - 0.997).abs() < 2e-3, "{tie}");
        let anchors = attachment.anchor(&samples, &samples.select_columns(&[7])).unwrap();
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

/// Weights of new samples sum to one, or there are none and the strength is zero.
#[track_caller]
fn check_anchors<T: Real>(anchors: &Anchors<T>, count: usize, what: &str) {
    for i in 0..count {
        let row: Vec<(usize, T)> = anchors.of(i).collect();
        let strength = anchors.strength(i);
        assert!(strength >= T::zero() && strength.is_finite(), "{what}: strength {strength}");
        assert!(row.iter().all(|(_, w)| w.is_finite()), "{what}: {row:?}");
        if row.is_empty() {
            assert_eq!(strength, T::zero(), "{what}: without anchors");
            continue;
        }
        let size: f64 = row.iter().map(|(_, w)| w.wide().abs()).sum();
        let sum: f64 = row.iter().map(|(_, w)| w.wide()).sum();
        let slack = 32.0 * T::epsilon().wide() * (1.0 + size);
        assert!((sum - 1.0).abs() <= slack, "{what}: anchor {i} sums to {sum}");
    }
}

fn awkward_in<T: Real>() {
    for (what, samples, k) in awkward::<T>() {
        let lists = Neighbours::within(&samples, k);
        let weights = lle_weights(&samples, &lists);
        for i in (0..samples.columns()).filter(|_| lists.k() > 0) {
            let size: f64 = 1.0 + weights.row(i).map(|(_, w)| w.wide().abs()).sum::<f64>();
            let sum: f64 = weights.row(i).map(|(_, w)| w.wide()).sum();
            let slack = 32.0 * T::epsilon().wide() * size;
            assert!((sum - 1.0).abs() <= slack, "{what}: row {i} sums to {sum}");
        }
        let mut new = noise::<T>(samples.rows(), 6, 9);
        new.column_mut(1).fill(T::zero());
        new.column_mut(2).copy_from_slice(samples.column(0));
        new.column_mut(3).iter_mut().for_each(|x| *x *= T::of(1e8));
        new.column_mut(4).iter_mut().for_each(|x| *x *= T::of(1e-12));
        for (name, graph) in graphs(&samples, k) {
            for normalise in [false, true] {
                let what = format!("{what}, {name}, {normalise}, {}", T::NAME);
                let connected = built(&*graph, &samples).at_strength(normalise);
                let laplacian = &connected.laplacian;
                assert_eq!(laplacian.n_samples(), samples.columns(), "{what}");
                assert!(dense(laplacian).as_slice().iter().all(|w| w.is_finite()), "{what}");
                check_laplacian(laplacian, true, &what);
                let anchors = connected.attachment.anchor(&samples, &new).unwrap();
                check_anchors(&anchors, new.columns(), &what);
                let by_mixtures = name == "lle" || name.starts_with("given");
                let held = (0..new.columns()).all(|i| anchors.of(i).len() > 0);
                assert!(held || !by_mixtures, "{what}: a sample without anchors");
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
    let classes: Vec<Option<usize>> = (0..24).map(|j| (j % 2 == 0).then_some(j / 12)).collect();
    for (name, graph) in graphs(&samples, 5) {
        let connected = built(&*graph, &samples);
        let l = dense(&connected.laplacian);
        for i in 0..24 {
            let apart = |j: &usize| (i < 12) != (*j < 12);
            assert!((0..24).filter(apart).all(|j| l.column(i)[j] == 0.0), "{name}");
        }
        let anchors = connected.attachment.anchor(&samples, &new).unwrap();
        assert!(anchors.of(0).all(|(j, _)| j < 12) && anchors.of(1).all(|(j, _)| j >= 12));
        let portrait = Portrait::of(&connected.laplacian, &classes);
        assert_eq!(portrait.components, [12, 12], "{name}");
        assert_eq!((portrait.nodes, portrait.isolated), (24, 0), "{name}");
        assert_eq!(portrait.same_class, Some(1.0), "{name}");
        assert!(portrait.largest_eigenvalue <= 1.02 * portrait.spectral_bound, "{name}");
        let (values, _) = symmetric_eigen(&l).unwrap();
        assert_close(portrait.largest_eigenvalue, values[23], 0.1);
        // One constant for each part costs nothing.
        assert!(values[1].abs() < 1e-9 * values[23] && values[2] > 1e-6 * values[23], "{name}");
    }
}
