//! Label spreading against scikit-learn, against dense solves, and on graphs that fall apart.

use crate::common::{
    Recorder, apart, assert_distributions, clouds, fit_with, fixture, label_first, matrix, noise,
    numbers, options, pairs,
};
use ssdl::classifier::Spread;
use ssdl::fit::Silent;
use ssdl::graph::{Equal, Given, Graph, Heat, Search, Width};
use ssdl::matrix::Cholesky;
use ssdl::methods::{self, FitOptions};
use ssdl::{Labels, Matrix, Model, Real, Samples};

/// Fits prepared samples as they are.
fn fit<T: Real>(knobs: &[(&str, &str)], features: &Matrix<T>, labels: &Labels) -> Model<T> {
    watched(knobs, features, labels, &mut Recorder::default())
}

fn watched<T: Real>(
    knobs: &[(&str, &str)],
    features: &Matrix<T>,
    labels: &Labels,
    recorder: &mut Recorder,
) -> Model<T> {
    let samples = Samples::new(features.clone(), labels.clone()).unwrap();
    let options = FitOptions { prepare: Vec::new(), ..options() };
    let method = methods::find("label-spreading").unwrap();
    method.fit(&pairs(knobs), samples, &options, recorder).unwrap()
}

fn agrees_with_scikit_learn<T: Real>(allowed: f64) {
    let stored = fixture("label_spreading");
    let (features, new) = (matrix::<T>(&stored["samples"]), matrix::<T>(&stored["new_samples"]));
    let assigned = numbers(&stored["labels"]).into_iter().map(|v| (v >= 0.0).then_some(v as usize));
    let labels = Labels::new(crate::common::class_names(3), assigned.collect()).unwrap();
    for case in stored["cases"].as_array().unwrap() {
        let (width, k) = (stored["width"].to_string(), stored["n_neighbors"].to_string());
        let mut knobs = vec![("width", width.as_str()), ("n_neighbors", k.as_str())];
        knobs.push(("kernel", case["kernel"].as_str().unwrap()));
        let spreading = case["spreading"].to_string();
        if case["spreading"].is_null() {
            knobs.push(("clamp", "true"));
        } else {
            knobs.push(("spreading", spreading.as_str()));
        }
        let model = fit(&knobs, &features, &labels);
        let shares = model.transduction().probabilities;
        let away = apart(shares.as_slice(), matrix::<T>(&case["shares"]).as_slice());
        assert!(away < allowed, "{knobs:?} in {}: training samples {away:e}", T::NAME);
        let found = model.predict(new.clone()).unwrap().probabilities;
        let away = apart(found.as_slice(), matrix::<T>(&case["new_shares"]).as_slice());
        assert!(away < allowed, "{knobs:?} in {}: new samples {away:e}", T::NAME);
    }
}

#[test]
fn scikit_learn_finds_the_same_shares() {
    agrees_with_scikit_learn::<f64>(1e-8);
    agrees_with_scikit_learn::<f32>(1e-5);
}

/// The shares by a dense solve in `f64`: $(I-\alpha S)F=Y$, or $(D-W)_{uu}F_u=W_{ul}Y_l$.
fn dense<T: Real>(
    graph: &dyn Graph<T>,
    features: &Matrix<T>,
    labels: &Labels,
    alpha: Option<f64>,
) -> Matrix<f64> {
    let connected = graph.build(features).unwrap();
    let weights = connected.laplacian.affinities().unwrap();
    let (n, n_classes) = (labels.len(), labels.classes().len());
    let mut w = Matrix::<f64>::zeros(n, n);
    for i in 0..n {
        weights.row(i).for_each(|(j, weight)| w.column_mut(j)[i] = weight.wide());
    }
    let degree: Vec<f64> = w.iter_columns().map(|column| column.iter().sum()).collect();
    let assigned = labels.assigned();
    let known = |j: usize, c: usize| f64::from(u8::from(assigned[j] == Some(c)));
    let free: Vec<usize> = match alpha {
        Some(_) => (0..n).collect(),
        None => (0..n).filter(|&i| assigned[i].is_none()).collect(),
    };
    let system = Matrix::from_fn(free.len(), free.len(), |a, b| {
        let (i, j) = (free[a], free[b]);
        let own = f64::from(u8::from(i == j));
        match alpha {
            Some(alpha) => own - alpha * w.column(j)[i] / (degree[i] * degree[j]).sqrt(),
            None => own * degree[i] - w.column(j)[i],
        }
    });
    let mut found = Matrix::from_fn(free.len(), n_classes, |a, c| match alpha {
        Some(_) => known(free[a], c),
        None => (0..n).map(|j| w.column(j)[free[a]] * known(j, c)).sum(),
    });
    Cholesky::new(&system).unwrap().solve_in_place(&mut found);
    let mut shares = Matrix::from_fn(n_classes, n, |c, j| known(j, c));
    for (a, &i) in free.iter().enumerate() {
        let sum: f64 = (0..n_classes).map(|c| found.column(c)[a]).sum();
        (0..n_classes).for_each(|c| shares.column_mut(i)[c] = found.column(c)[a] / sum);
    }
    shares
}

fn agrees_with_dense<T: Real>(allowed: f64) {
    for seed in 0..4 {
        let (features, truth) = clouds::<T>(3, 4, 50, seed);
        let labels = label_first(&truth, 3, 2);
        let heat = Heat { n_neighbors: 6, width: Width::Relative(0.4), search: Search::Auto };
        let graphs: [(&str, &dyn Graph<T>); 2] =
            [("heat", &heat), ("neighbours", &Equal { n_neighbors: 6, search: Search::Auto })];
        for (kernel, graph) in graphs {
            let common = [("kernel", kernel), ("n_neighbors", "6"), ("width", "0.4x")];
            for alpha in ["0.01", "0.1", "0.5", "0.9", "0.99", "0.999"] {
                let knobs = [&common[..], &[("spreading", alpha)]].concat();
                let found = fit(&knobs, &features, &labels).transduction().probabilities;
                let expected = dense(graph, &features, &labels, alpha.parse().ok());
                assert_distributions(&found);
                let away = apart(found.cast::<f64>().as_slice(), expected.as_slice());
                assert!(away < allowed, "{kernel}, {alpha}, {}: {away:e}", T::NAME);
            }
            let knobs = [&common[..], &[("clamp", "true")]].concat();
            let found = fit(&knobs, &features, &labels).transduction();
            let expected = dense(graph, &features, &labels, None);
            let away = apart(found.probabilities.cast::<f64>().as_slice(), expected.as_slice());
            assert!(away < allowed, "{kernel}, clamp, {}: {away:e}", T::NAME);
            for (class, given) in found.classes.iter().zip(labels.assigned()) {
                assert!(given.is_none_or(|given| given == *class), "a given label was changed");
            }
        }
    }
}

#[test]
fn the_shares_are_those_of_a_dense_solve() {
    agrees_with_dense::<f64>(1e-8);
    agrees_with_dense::<f32>(1e-6);
}

/// Two half circles that reach into each other; even samples are of the first.
fn moons<T: Real>(n: usize) -> (Matrix<T>, Vec<usize>) {
    let spread = noise::<f64>(2, n, 3);
    let features = Matrix::from_fn(2, n, |i, j| {
        let angle = std::f64::consts::PI * (j / 2) as f64 / (n / 2 - 1) as f64;
        let first = j % 2 == 0;
        let place = match (first, i) {
            (true, 0) => angle.cos(),
            (true, _) => angle.sin(),
            (false, 0) => 1.0 - angle.cos(),
            (false, _) => 0.5 - angle.sin(),
        };
        T::of(place + 0.04 * spread.column(j)[i])
    });
    (features, (0..n).map(|j| j % 2).collect())
}

fn solves_moons<T: Real>() {
    let (features, truth) = moons::<T>(200);
    let labels = label_first(&truth, 2, 1);
    for kernel in ["heat", "neighbours"] {
        for more in [("spreading", "0.99"), ("clamp", "true")] {
            let knobs = [("kernel", kernel), ("width", "0.1x"), more];
            let model = fit(&knobs, &features, &labels);
            assert_eq!(model.transduction().classes, truth, "{knobs:?}");
            assert_eq!(model.predict(features.clone()).unwrap().classes, truth, "{knobs:?}");
        }
    }
}

#[test]
fn two_moons_need_one_label_each() {
    solves_moons::<f64>();
    solves_moons::<f32>();
}

#[test]
fn a_component_without_a_label_takes_the_nearest_label_with_a_notice() {
    // Three pairs and a lone sample on a line; the pair at 10 and the sample at 21 have no label.
    let places = [0.0, 0.1, 10.0, 10.1, 20.0, 20.1, 21.0];
    let features = Matrix::from_fn(1, 7, |_, j| places[j]);
    let names = [Some("a"), None, None, None, Some("b"), None, None];
    let labels = Labels::from_names(&names);
    for clamp in ["false", "true"] {
        let mut recorder = Recorder::default();
        let narrow = [("clamp", clamp), ("n_neighbors", "1"), ("width", "0.001")];
        let model = watched(&narrow, &features, &labels, &mut recorder);
        // The sample at 21 has a neighbour, but an edge that weighs nothing.
        assert_eq!(model.transduction().classes, [0, 0, 0, 1, 1, 1, 1], "clamp {clamp}");
        assert_distributions(&model.transduction().probabilities);
        assert!(recorder.notices.iter().any(|notice| notice.contains("3 of 7 samples")), "{clamp}");
        let far = Matrix::from_fn(1, 3, |_, j| [-50.0, 14.0, 90.0][j]);
        let prediction = model.predict(far).unwrap();
        assert_distributions(&prediction.probabilities);
        assert_eq!(prediction.classes, [0, 1, 1]);
    }
}

#[test]
fn twins_too_many_neighbours_and_a_class_without_labels_are_handled() {
    for kernel in ["heat", "neighbours"] {
        for clamp in ["false", "true"] {
            let knobs = [("kernel", kernel), ("clamp", clamp), ("n_neighbors", "99")];
            // Every sample three times, all of them each other's neighbours.
            let features = Matrix::from_fn(2, 12, |i, j| ((j / 3) * (i + 1)) as f64);
            let mut assigned = vec![None; 12];
            (assigned[0], assigned[11]) = (Some(0), Some(2));
            let labels = Labels::new(crate::common::class_names(3), assigned).unwrap();
            let model = fit(&knobs, &features, &labels);
            assert_eq!(model.knobs()[1].1, "11");
            let found = model.transduction();
            assert_distributions(&found.probabilities);
            assert!(found.probabilities.iter_columns().all(|column| column[1] == 0.0));
            assert_eq!((found.classes[0], found.classes[11]), (0, 2));
            assert_distributions(&model.predict(features).unwrap().probabilities);
            // All samples in one place: no width to speak of.
            let same = Matrix::from_fn(2, 12, |_, _| 1.0);
            assert_distributions(&fit(&knobs, &same, &labels).predict(same).unwrap().probabilities);
        }
    }
}

#[test]
fn given_affinities_are_used_and_mixtures_are_refused() {
    let (features, truth) = clouds::<f64>(2, 3, 30, 1);
    let labels = label_first(&truth, 2, 2);
    let samples = || Samples::new(features.clone(), labels.clone()).unwrap();
    let edges: Vec<(usize, usize, f64)> = (2..30).map(|i| (i - 2, i, 1.0)).collect();
    let with =
        |graph: Given<f64>| FitOptions { graph: Some(std::sync::Arc::new(graph)), ..options() };
    let method = methods::find::<f64>("label-spreading").unwrap();
    let given = with(Given::edges(30, &edges).unwrap());
    let model = fit_with(method, &[], samples(), &given, &mut Silent).unwrap();
    assert_eq!(model.transduction().classes, truth);
    assert_distributions(&model.predict(features.clone()).unwrap().probabilities);
    let lists: Vec<Vec<u32>> = (0..30).map(|i| vec![(i + 1) % 30]).collect();
    let lists = with(Given::neighbours(ssdl::graph::Neighbours::given(&lists).unwrap()));
    let error = fit_with(method, &[], samples(), &lists, &mut Silent).unwrap_err();
    assert!(error.to_string().contains("affinities"), "{error}");
}

#[test]
fn far_from_all_labels_ratios_are_still_right() {
    // A chain with the labels at its ends: at the middle the shares are of the order of 1e-60, and
    // by symmetry equal.
    let n = 41;
    let features = Matrix::from_fn(1, n, |_, j| j as f64);
    let mut assigned = vec![None; n];
    (assigned[0], assigned[n - 1]) = (Some(0), Some(1));
    let labels = Labels::new(crate::common::class_names(2), assigned).unwrap();
    let edges: Vec<(usize, usize, f64)> = (1..n).map(|i| (i - 1, i, 1.0)).collect();
    let built = Given::edges(n, &edges).unwrap().build(&features).unwrap();
    let weights = built.laplacian.affinities().unwrap();
    let spread = Spread { spreading: 0.002, clamp: false, tolerance: 1e-10, max_iterations: 500 };
    let found = spread.spread(weights, &labels);
    assert!(found.converged && found.unreached.is_empty());
    assert!((found.shares.column(n / 2)[0] - 0.5).abs() < 1e-9, "{:?}", found.shares.column(n / 2));
    assert!(found.shares.column(n / 2 - 1)[0] > 0.999);
    let short = Spread { max_iterations: 1, spreading: 0.9, ..spread }.spread(weights, &labels);
    assert!(!short.converged && short.iterations == 1);
}
