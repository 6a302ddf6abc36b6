//! The heat and threshold graphs against their formulas, pair by pair, at every strength.

use crate::common::graphs::{built, dense, squared};
use crate::common::{Recorder, assert_close, clouds, noise, options};
use ssdl::graph::GraphChoice;
use ssdl::graph::{Connected, Graph, Heat, Portrait, Search, Threshold, Width};
use ssdl::methods::GraphSc;
use ssdl::prelude::*;
use ssdl::{Matrix, Real};

/// Indices of all but `skip`, nearest to `x` first, ties to the smaller index.
fn by_distance<T: Real>(samples: &Matrix<T>, x: &[T], skip: Option<usize>) -> Vec<usize> {
    let mut order: Vec<usize> = (0..samples.columns()).filter(|j| Some(*j) != skip).collect();
    let distance = |j: usize| squared(samples.column(j), x);
    order.sort_by(|&a, &b| distance(a).total_cmp(&distance(b)).then(a.cmp(&b)));
    order
}

/// Distances of all pairs, ascending.
fn distances<T: Real>(samples: &Matrix<T>) -> Vec<f64> {
    let n = samples.columns();
    let pair = |i: usize, j: usize| squared(samples.column(i), samples.column(j)).sqrt();
    let mut all: Vec<f64> = (0..n).flat_map(|i| (0..i).map(move |j| pair(i, j))).collect();
    all.sort_by(f64::total_cmp);
    all
}

fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}

/// Weights by the formula between the pairs that `joined` names, as a Laplacian.
fn expected<T: Real>(
    samples: &Matrix<T>,
    width: f64,
    joined: impl Fn(usize, usize) -> bool,
) -> Matrix<f64> {
    let n = samples.columns();
    let weight = |i: usize, j: usize| {
        let z = squared(samples.column(i), samples.column(j));
        if i != j && joined(i, j) { (-z / (2.0 * width * width)).exp() } else { 0.0 }
    };
    Matrix::from_fn(
        n,
        n,
        |i, j| {
            if i == j { (0..n).map(|k| weight(i, k)).sum() } else { -weight(i, j) }
        },
    )
}

/// Each entry to a share of itself: a small weight must be as right as a large one.
#[track_caller]
fn assert_same(found: &Matrix<f64>, expected: &Matrix<f64>, within: f64, what: &str) {
    for (x, y) in found.as_slice().iter().zip(expected.as_slice()) {
        assert!((x - y).abs() <= within * y.abs(), "{what}: {x} is not {y}");
    }
}

fn within<T: Real>() -> f64 {
    if T::NAME == "f64" { 1e-9 } else { 1e-4 }
}

fn heat_in<T: Real>() {
    let (samples, _) = clouds::<T>(3, 5, 40, 1);
    let mean = mean(&distances(&samples));
    for k in [1, 4, 9] {
        let near: Vec<Vec<usize>> = (0..40)
            .map(|i| by_distance(&samples, samples.column(i), Some(i))[..k].to_vec())
            .collect();
        let joined = |i: usize, j: usize| near[i].contains(&j) || near[j].contains(&i);
        for width in [Width::Absolute(1.3), Width::Relative(0.4)] {
            let sigma = if let Width::Relative(times) = width { times * mean } else { 1.3 };
            let graph = Heat { n_neighbors: k, width, search: Search::Auto };
            let plain = built(&graph, &samples).at_strength(false);
            let formula = expected(&samples, sigma, joined);
            let what = format!("k {k}, {width:?}, {}", T::NAME);
            assert_same(&dense(&plain.laplacian), &formula, within::<T>(), &what);
            check_normalised(&graph, &samples, &formula, &what);
        }
    }
}

/// At trace N the graph is the formula's but for one factor.
#[track_caller]
fn check_normalised<T: Real>(
    graph: &dyn Graph<T>,
    samples: &Matrix<T>,
    formula: &Matrix<f64>,
    what: &str,
) {
    let n = samples.columns();
    let trace: f64 = (0..n).map(|i| formula.column(i)[i]).sum();
    let omega = n as f64 / trace;
    let scaled = Matrix::from_fn(n, n, |i, j| omega * formula.column(j)[i]);
    let found = dense(&built(graph, samples).at_strength(true).laplacian);
    assert_same(&found, &scaled, within::<T>(), &format!("{what}, normalised"));
}

#[test]
fn heat_weights_are_those_of_the_formula_between_neighbours_of_either() {
    heat_in::<f64>();
    heat_in::<f32>();
}

fn threshold_in<T: Real>() {
    let (samples, _) = clouds::<T>(3, 5, 40, 2);
    let all = distances(&samples);
    for percentile in [0.001, 0.05, 0.3, 0.99] {
        let radius = all[(percentile * all.len() as f64) as usize];
        let joined = |i: usize, j: usize| {
            squared(samples.column(i), samples.column(j)).sqrt() < radius * (1.0 - 1e-12)
        };
        let width = Width::Absolute(1.3);
        let graph = Threshold { percentile, width };
        let plain = built(&graph, &samples).at_strength(false);
        let formula = expected(&samples, 1.3, joined);
        let what = format!("ζ {percentile}, {}", T::NAME);
        assert_same(&dense(&plain.laplacian), &formula, within::<T>(), &what);
        let edges = Portrait::of(&plain.laplacian, &[None; 40]).edges;
        assert_eq!(edges, (percentile * all.len() as f64) as usize, "{what}");
        if edges > 0 {
            check_normalised(&graph, &samples, &formula, &what);
        }
    }
}

#[test]
fn threshold_weights_are_those_of_the_formula_within_the_percentile() {
    threshold_in::<f64>();
    threshold_in::<f32>();
}

#[test]
fn pairs_at_exactly_the_radius_are_not_joined() {
    // Numbers whose differences are exact: of the 28 pairs of 8 samples on a line, 7 are at the smallest
    // distance and 6 at the next. The root of two rounds, and so does its square.
    for step in [1.0, 3.0, 0.5, 7.75] {
        let line = Matrix::from_fn(2, 8, |i, j| step * (i + j) as f64);
        let edges = |percentile: f64| {
            let graph = Threshold { percentile, width: Width::Relative(0.5) };
            Portrait::of(&built(&graph, &line).laplacian, &[None; 8]).edges
        };
        assert_eq!((edges(0.1), edges(0.3)), (0, 7), "step {step}");
    }
}

/// Both kernels at this width.
fn kernels<T: Real>(width: Width) -> [(&'static str, Box<dyn Graph<T>>); 2] {
    [
        ("heat", Box::new(Heat { n_neighbors: 4, width, search: Search::Auto })),
        ("threshold", Box::new(Threshold { percentile: 0.2, width })),
    ]
}

fn narrow_in<T: Real>() {
    let samples = noise::<T>(6, 30, 3);
    let least = distances(&samples)[0];
    let width = Width::Absolute(least / 60.0);
    for (name, graph) in kernels::<T>(width) {
        let what = format!("{name}, {}", T::NAME);
        let normalised = built(&*graph, &samples).at_strength(true);
        assert_close(normalised.laplacian.trace(), 30.0, 1e-5);
        assert!(Portrait::of(&normalised.laplacian, &[None; 30]).edges > 0, "{what}");
        let plain = built(&*graph, &samples).at_strength(false);
        assert_eq!(plain.laplacian.trace(), 0.0, "{what}");
        let portrait = Portrait::of(&plain.laplacian, &[None; 30]);
        assert_eq!((portrait.edges, portrait.isolated), (0, 30), "{what}");
        // A twin of a training sample has a weight of one by the same formula.
        let twin = samples.select_columns(&[7]);
        let anchors = plain.attachment.anchor(&samples, &twin).unwrap();
        assert_eq!(anchors.strength(0), T::one(), "{what}");
        assert_eq!(anchors.of(0).collect::<Vec<_>>(), [(7, T::one())], "{what}");
        let far = plain.attachment.anchor(&samples, &noise(6, 1, 9)).unwrap();
        assert_eq!((far.strength(0), far.of(0).len()), (T::zero(), 0), "{what}");
    }
}

#[test]
fn a_kernel_too_narrow_for_the_numbers_works_normalised_and_is_empty_otherwise() {
    narrow_in::<f64>();
    narrow_in::<f32>();
}

#[test]
fn a_graph_that_underflows_gives_a_notice_and_normalising_helps() {
    for choice in [GraphChoice::Heat, GraphChoice::Threshold] {
        for normalise in [false, true] {
            let (samples, _) = crate::common::small_problem::<f64>(3);
            let knobs = GraphSc::new().n_atoms(12).max_iterations(2).graph(choice);
            let knobs = knobs.width(Width::Relative(1e-3)).normalise_trace(normalise);
            let mut recorder = Recorder::default();
            let model = knobs.fit_with(samples, &options(), &mut recorder).unwrap();
            let noticed = recorder.notices.iter().any(|n| n.contains("no edge that counts"));
            assert_eq!(noticed, !normalise, "{choice:?}: {:?}", recorder.notices);
            assert_eq!(model.report().objective.term("manifold") > 0.0, normalise, "{choice:?}");
        }
    }
}

#[test]
fn widths_at_the_ends_of_the_number_range_give_finite_graphs() {
    let mut samples = noise::<f64>(4, 20, 5);
    let twin = samples.column(2).to_vec();
    samples.column_mut(11).copy_from_slice(&twin);
    for width in [1e-200, 1e-160, 1e200] {
        for (name, graph) in kernels::<f64>(Width::Absolute(width)) {
            for normalise in [false, true] {
                let Connected { laplacian, attachment } =
                    built(&*graph, &samples).at_strength(normalise);
                let what = format!("{name}, width {width:e}, {normalise}");
                let l = dense(&laplacian);
                assert!(l.as_slice().iter().all(|v| v.is_finite()), "{what}");
                // The two that coincide are tied at any width.
                assert!(l.column(2)[11] < 0.0, "{what}");
                let new = samples.select_columns(&[2, 5]);
                let anchors = attachment.anchor(&samples, &new).unwrap();
                assert!(anchors.strength(0).is_finite() && anchors.strength(0) > 0.0, "{what}");
                assert!(anchors.of(0).all(|(_, w)| w.is_finite()), "{what}");
            }
        }
    }
}

fn out_of_sample_in<T: Real>() {
    let (all, _) = clouds::<T>(3, 5, 100, 6);
    let samples = all.select_columns(&(0..40).collect::<Vec<_>>());
    let new = all.select_columns(&(40..100).collect::<Vec<_>>());
    let (k, sigma) = (3, 1.1);
    let graph = Heat { n_neighbors: k, width: Width::Absolute(sigma), search: Search::Auto };
    let plain = built(&graph, &samples).at_strength(false);
    let anchors = plain.attachment.anchor(&samples, &new).unwrap();
    let radius = |j: usize| {
        let last = by_distance(&samples, samples.column(j), Some(j))[k - 1];
        squared(samples.column(j), samples.column(last))
    };
    let mut by_others = 0;
    for i in 0..new.columns() {
        let x = new.column(i);
        let near = &by_distance(&samples, x, None)[..k];
        let tied = |j: &usize| near.contains(j) || squared(samples.column(*j), x) < radius(*j);
        let chosen: Vec<usize> = (0..40).filter(tied).collect();
        by_others += chosen.len() - k;
        let weight = |j: usize| (-squared(samples.column(j), x) / (2.0 * sigma * sigma)).exp();
        let total: f64 = chosen.iter().map(|&j| weight(j)).sum();
        check_tie(&anchors.of(i).collect::<Vec<_>>(), &chosen, |j| weight(j) / total);
        assert_close(anchors.strength(i).wide(), total, within::<T>());
    }
    assert!(by_others > 0, "some are tied by the neighbourhood of the training sample alone");
}

/// These training samples, with these shares.
#[track_caller]
fn check_tie<T: Real>(row: &[(usize, T)], chosen: &[usize], share: impl Fn(usize) -> f64) {
    let found: Vec<usize> = row.iter().map(|(j, _)| *j).collect();
    assert_eq!(found, chosen);
    for (j, w) in row {
        assert_close(w.wide(), share(*j), within::<T>());
    }
}

#[test]
fn a_new_sample_joins_the_heat_graph_by_its_neighbours_or_by_theirs() {
    out_of_sample_in::<f64>();
    out_of_sample_in::<f32>();
}

#[test]
fn a_new_sample_joins_the_threshold_graph_within_the_radius() {
    let (all, _) = clouds::<f64>(3, 5, 65, 8);
    let samples = all.select_columns(&(0..40).collect::<Vec<_>>());
    let new = all.select_columns(&(40..65).collect::<Vec<_>>());
    let all = distances(&samples);
    let radius = all[(0.1 * all.len() as f64) as usize];
    let graph = Threshold { percentile: 0.1, width: Width::Absolute(0.9) };
    let normalised = built(&graph, &samples).at_strength(true);
    let plain = built(&graph, &samples).at_strength(false);
    let omega = normalised.laplacian.trace() / plain.laplacian.trace();
    let (anchors, held) = (
        plain.attachment.anchor(&samples, &new).unwrap(),
        normalised.attachment.anchor(&samples, &new).unwrap(),
    );
    for i in 0..new.columns() {
        let z = |j: usize| squared(samples.column(j), new.column(i));
        let chosen: Vec<usize> = (0..40).filter(|&j| z(j).sqrt() < radius).collect();
        let weight = |j: usize| (-z(j) / (2.0 * 0.9 * 0.9)).exp();
        let total: f64 = chosen.iter().map(|&j| weight(j)).sum();
        check_tie(&anchors.of(i).collect::<Vec<_>>(), &chosen, |j| weight(j) / total);
        assert_close(anchors.strength(i), total, 1e-9);
        // Normalising makes every tie stronger by the same factor, and nothing else.
        assert_close(held.strength(i), omega * total, 1e-9);
    }
}
