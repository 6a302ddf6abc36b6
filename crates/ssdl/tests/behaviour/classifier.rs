//! Contracts of the classifier stage: memberships, active points and both updates against the
//! oracle, differences and the true loss.

use crate::common::tiny::Tiny;
use crate::common::{
    apart, assert_close, assert_distributions, fixture, flip, matrix, noise, numbers,
};
use proptest::prelude::*;
use serde_json::Value;
use ssdl::classifier::{
    Active, ActivePoints, LinearClassifier, Shares, best, margin, memberships, ridge,
};
use ssdl::codes::Weight;
use ssdl::{Matrix, Real};

const BOTH: [(ActivePoints, &str); 2] =
    [(ActivePoints::Frozen, "frozen"), (ActivePoints::Majorised, "majorised")];

fn memberships_in<T: Real>(tolerance: f64) {
    let stored = fixture("membership");
    let scores: Matrix<T> = matrix(&stored["scores"]);
    for case in stored["cases"].as_array().unwrap() {
        let r = case["sharpness"].as_f64().unwrap();
        let found = memberships(&scores, r);
        let expected: Matrix<T> = matrix(&case["membership"]);
        assert!(apart(found.as_slice(), expected.as_slice()) < tolerance, "r = {r}");
        assert_distributions(&found);
        let shares = Shares::new(&scores, &vec![None; scores.columns()], r);
        let mut powers = expected.clone();
        powers.as_mut_slice().iter_mut().for_each(|p| *p = p.powf(T::of(r)));
        assert!(apart(shares.of_class.as_slice(), powers.as_slice()) < tolerance, "r = {r}");
        let value: f64 = numbers(&case["value"]).iter().sum();
        assert_close(shares.loss(&scores), value, tolerance);
        for (j, total) in shares.total.iter().enumerate() {
            let sum: f64 = shares.of_class.column(j).iter().map(|p| p.wide()).sum();
            assert_close(total.wide(), sum, tolerance);
        }
    }
}

#[test]
fn memberships_and_their_least_loss_are_those_of_the_oracle() {
    memberships_in::<f64>(1e-11);
    memberships_in::<f32>(2e-5);
}

#[test]
fn errors_are_those_of_the_oracle_and_the_best_score_has_the_least() {
    let stored = fixture("membership");
    let scores: Matrix<f64> = matrix(&stored["scores"]);
    let expected: Matrix<f64> = matrix(&stored["errors"]);
    let mut errors = vec![0.0; scores.rows()];
    for j in 0..scores.columns() {
        ssdl::classifier::membership::class_errors(scores.column(j), &mut errors);
        assert!(apart(&errors, expected.column(j)) < 1e-13, "column {j}");
        let least = errors.iter().fold(f64::MAX, |a, b| a.min(*b));
        assert_close(errors[best(scores.column(j))], least, 1e-13);
    }
}

fn active_points_in<T: Real>(tolerance: f64) {
    let (tiny, stored) = Tiny::<T>::stored();
    let gamma = tiny.discrimination;
    let scores = tiny.classifier.scores(&tiny.codes);
    let expected: Matrix<T> = matrix(&stored["scores"]);
    assert!(apart(scores.as_slice(), expected.as_slice()) < tolerance);
    let at_start = stored["loss_at_frozen_scores"].as_f64().unwrap();
    assert_close(tiny.shares.loss(&tiny.start), at_start, tolerance);
    let loss = |block: &Value| block["terms"]["discrimination"].as_f64().unwrap() / gamma;
    assert_close(tiny.shares.loss(&scores), loss(&stored["true"]), tolerance);
    let refreshed = Shares::new(&scores, &tiny.assigned, tiny.sharpness);
    let block = &stored["true_with_membership_refreshed"];
    assert_close(refreshed.loss(&scores), loss(block), tolerance);
    for (kind, name) in BOTH {
        let active = tiny.active(kind);
        let block = &stored[name];
        let omega = Matrix::from_fn(3, tiny.codes.columns(), |c, j| active.weight.of(c, j));
        assert!(apart(omega.as_slice(), matrix::<T>(&block["omega"]).as_slice()) < tolerance);
        assert!(apart(active.target.as_slice(), matrix::<T>(&block["g"]).as_slice()) < tolerance);
        assert_close(active.constant, block["constant"].as_f64().unwrap(), tolerance);
        assert_close(active.value(&scores), loss(block), tolerance);
        // Both quadratics touch the loss where they were built.
        assert_close(active.value(&tiny.start), at_start, tolerance);
        for j in 0..omega.columns() {
            let largest = omega.column(j).iter().copied().fold(T::zero(), T::max);
            assert_eq!(active.weight.largest(j), largest);
        }
    }
    assert!(matches!(tiny.majorised.weight, Weight::Shared(_)));
    assert!(matches!(tiny.frozen.weight, Weight::PerClass(_)));
}

#[test]
fn active_points_are_those_of_the_oracle() {
    active_points_in::<f64>(1e-12);
    active_points_in::<f32>(1e-5);
}

proptest! {
    #![proptest_config(crate::common::fixed_cases(48))]

    #[test]
    fn the_majoriser_lies_above_the_loss_and_touches_it(
        n_classes in 2usize..6, seed in 0u64..10_000, r in prop_oneof![Just(1.0), 1.01f64..4.0],
        step in 0.0f64..3.0,
    ) {
        let start = noise::<f64>(n_classes, 12, seed);
        let assigned: Vec<Option<usize>> =
            (0..12).map(|j| (j < 4).then_some(j % n_classes)).collect();
        let shares = Shares::new(&start, &assigned, r);
        let active = Active::new(ActivePoints::Majorised, &start, &shares);
        let frozen = Active::new(ActivePoints::Frozen, &start, &shares);
        let here = shares.loss(&start);
        prop_assert!((active.value(&start) - here).abs() <= 1e-10 * (1.0 + here));
        prop_assert!((frozen.value(&start) - here).abs() <= 1e-10 * (1.0 + here));
        let mut other = noise::<f64>(n_classes, 12, seed + 1);
        for (o, s) in other.as_mut_slice().iter_mut().zip(start.as_slice()) {
            *o = s + step * *o;
        }
        let there = shares.loss(&other);
        prop_assert!(active.value(&other) >= there - 1e-10 * (1.0 + there));
    }

    #[test]
    fn the_majorised_update_never_raises_the_true_loss(
        p in 1usize..9, count in 2usize..40, n_classes in 2usize..5, seed in 0u64..10_000,
        rho in prop_oneof![Just(1e-3), Just(0.3), Just(2.0), Just(50.0)], rounds in 1usize..9,
    ) {
        never_rises::<f64>(p, count, n_classes, seed, rho, rounds, 1e-12);
        never_rises::<f32>(p, count, n_classes, seed, rho, rounds, 1e-5);
    }
}

fn never_rises<T: Real>(
    p: usize,
    count: usize,
    n_classes: usize,
    seed: u64,
    rho: f64,
    rounds: usize,
    slack: f64,
) {
    let codes = crate::common::sparse_noise::<T>(p, count, seed);
    let mut classifier = LinearClassifier {
        weights: noise::<T>(p, n_classes, seed + 1),
        bias: noise::<T>(n_classes, 1, seed + 2).into_vec(),
    };
    let assigned: Vec<Option<usize>> =
        (0..count).map(|j| (j % 3 == 0).then_some(j % n_classes)).collect();
    let scores = classifier.scores(&codes);
    let shares = Shares::new(&scores, &assigned, 1.7);
    let active = Active::new(ActivePoints::Majorised, &scores, &shares);
    let value = |classifier: &LinearClassifier<T>| {
        shares.loss(&classifier.scores(&codes)) + rho * classifier.squared_norm()
    };
    let mut before = value(&classifier);
    for _ in 0..5 {
        let points = (ActivePoints::Majorised, &active, &shares);
        margin::update(&mut classifier, &codes, points, T::of(rho).into(), rounds).unwrap();
        let after = value(&classifier);
        assert!(after <= before * (1.0 + slack), "{}: {before} rises to {after}", T::NAME);
        before = after;
    }
}

/// γ·quadratic + μ‖·‖² at a classifier.
fn quadratic_value(tiny: &Tiny<f64>, active: &Active<f64>, at: &LinearClassifier<f64>) -> f64 {
    tiny.discrimination * active.value(&at.scores(&tiny.codes)) + tiny.ridge * at.squared_norm()
}

/// Slopes of that value: p×C for the weights, then the bias, by central differences.
fn slopes(
    tiny: &Tiny<f64>,
    active: &Active<f64>,
    at: &LinearClassifier<f64>,
) -> (Vec<f64>, Vec<f64>) {
    let step = 1e-2;
    let difference = |change: &dyn Fn(&mut LinearClassifier<f64>, f64)| {
        let side = |by: f64| {
            let mut moved = at.clone();
            change(&mut moved, by);
            quadratic_value(tiny, active, &moved)
        };
        (side(step) - side(-step)) / (2.0 * step)
    };
    let weights = (0..at.weights.as_slice().len())
        .map(|k| difference(&|c, by| c.weights.as_mut_slice()[k] += by))
        .collect();
    let bias = (0..at.bias.len()).map(|k| difference(&|c, by| c.bias[k] += by)).collect();
    (weights, bias)
}

#[test]
fn slopes_in_weights_and_bias_are_those_of_the_oracle() {
    let (tiny, stored) = Tiny::<f64>::stored();
    for (kind, name) in BOTH {
        let (weights, bias) = slopes(&tiny, tiny.active(kind), &tiny.classifier);
        let expected = flip(&matrix::<f64>(&stored[name]["gradient_weights"]));
        assert!(apart(&weights, expected.as_slice()) < 1e-9, "{name}");
        assert!(apart(&bias, &numbers(&stored[name]["gradient_bias"])) < 1e-9, "{name}");
    }
}

fn stored_classifier<T: Real>(block: &Value) -> LinearClassifier<T> {
    LinearClassifier {
        weights: flip(&matrix::<T>(&block["classifier_weights"])),
        bias: numbers(&block["bias"]).into_iter().map(T::of).collect(),
    }
}

#[track_caller]
fn assert_same<T: Real>(found: &LinearClassifier<T>, expected: &LinearClassifier<T>, by: f64) {
    let distance = apart(found.weights.as_slice(), expected.weights.as_slice());
    assert!(distance < by, "weights {distance:e} apart");
    assert!(apart(&found.bias, &expected.bias) < by, "bias");
}

fn quadratic_minimum_in<T: Real>(tolerance: f64) {
    let (tiny, _) = Tiny::<T>::stored();
    let stored = fixture("minimum");
    let rho = T::of(tiny.ridge / tiny.discrimination);
    for (kind, name) in BOTH {
        let active = tiny.active(kind);
        let mut classifier = tiny.classifier.clone();
        // The frozen update minimises whatever quadratic it is handed.
        let points = (ActivePoints::Frozen, active, &tiny.shares);
        margin::update(&mut classifier, &tiny.codes, points, rho.into(), 1).unwrap();
        let block = &stored["classifier"][name];
        assert_same(&classifier, &stored_classifier(block), tolerance);
        let value = tiny.discrimination * active.value(&classifier.scores(&tiny.codes))
            + tiny.ridge * classifier.squared_norm();
        assert_close(value, block["value"].as_f64().unwrap(), tolerance);
    }
}

#[test]
fn the_frozen_update_is_the_exact_minimiser_of_the_oracle() {
    quadratic_minimum_in::<f64>(1e-10);
    quadratic_minimum_in::<f32>(1e-4);
}

#[test]
fn the_frozen_update_is_stationary() {
    for seed in 0..4 {
        let tiny = Tiny::<f64>::random(6, 9, 25, 4, 50 + seed);
        let mut classifier = tiny.classifier.clone();
        let rho = tiny.ridge / tiny.discrimination;
        let points = (ActivePoints::Frozen, &tiny.frozen, &tiny.shares);
        margin::update(&mut classifier, &tiny.codes, points, rho.into(), 1).unwrap();
        let (weights, bias) = slopes(&tiny, &tiny.frozen, &classifier);
        let worst = weights.iter().chain(&bias).fold(0.0f64, |top, s| top.max(s.abs()));
        assert!(worst < 1e-9, "slope {worst}");
    }
}

#[test]
fn repeated_majorised_updates_reach_the_squared_hinge_minimum_of_the_oracle() {
    let (tiny, _) = Tiny::<f64>::stored();
    let block = &fixture("minimum")["classifier"]["true"];
    let mut classifier = tiny.classifier.clone();
    let rho = tiny.ridge / tiny.discrimination;
    for _ in 0..2000 {
        let points = (ActivePoints::Majorised, &tiny.majorised, &tiny.shares);
        margin::update(&mut classifier, &tiny.codes, points, rho.into(), 8).unwrap();
    }
    let value = tiny.discrimination * tiny.shares.loss(&classifier.scores(&tiny.codes))
        + tiny.ridge * classifier.squared_norm();
    assert_close(value, block["value"].as_f64().unwrap(), 1e-9);
    assert_same(&classifier, &stored_classifier(block), 1e-5);
}

#[test]
fn a_pull_to_a_centre_is_a_pull_to_zero_for_what_is_left_and_ends_there_where_it_is_strong() {
    let tiny = Tiny::<f64>::random(6, 9, 25, 4, 7);
    let centre = Tiny::<f64>::random(6, 9, 25, 4, 8).classifier;
    for (kind, active) in
        [(ActivePoints::Frozen, &tiny.frozen), (ActivePoints::Majorised, &tiny.majorised)]
    {
        let update = |rho: f64, centre: Option<&LinearClassifier<f64>>, rounds: usize| {
            let mut found = tiny.classifier.clone();
            let points = (kind, active, &tiny.shares);
            let pull = margin::Pull { rho, centre };
            margin::update(&mut found, &tiny.codes, points, pull, rounds).unwrap();
            found
        };
        let strong = update(1e9, Some(&centre), 1);
        assert_same(&strong, &centre, 1e-6);
        let none = LinearClassifier { weights: Matrix::zeros(9, 4), bias: vec![0.0; 4] };
        let plain = update(2.0, None, 3);
        assert_same(&update(2.0, Some(&none), 3), &plain, 1e-12);
        let held = update(2.0, Some(&centre), 3);
        assert!(held.squared_distance(&centre) < plain.squared_distance(&centre));
    }
}

#[test]
fn a_class_without_active_points_keeps_its_weights() {
    let tiny = Tiny::<f64>::random(6, 5, 18, 3, 3);
    let mut active = tiny.frozen.clone();
    let Weight::PerClass(weight) = &mut active.weight else { panic!("frozen is per class") };
    for j in 0..18 {
        weight.column_mut(j)[1] = 0.0;
        active.target.column_mut(j)[1] = 0.0;
    }
    let mut classifier = tiny.classifier.clone();
    let points = (ActivePoints::Frozen, &active, &tiny.shares);
    margin::update(&mut classifier, &tiny.codes, points, 2.0.into(), 1).unwrap();
    for c in 0..3 {
        let kept = classifier.weights.column(c) == tiny.classifier.weights.column(c)
            && classifier.bias[c] == tiny.classifier.bias[c];
        assert_eq!(kept, c == 1, "class {c}");
    }
}

#[test]
fn the_order_of_classes_does_not_matter() {
    let tiny = Tiny::<f64>::random(6, 5, 30, 3, 4);
    let turn = [2, 0, 1];
    let labelled: Vec<usize> = (0..30).filter(|&j| tiny.assigned[j].is_some()).collect();
    let codes = tiny.codes.select_columns(&labelled);
    let classes: Vec<usize> = tiny.assigned.iter().flatten().copied().collect();
    let turned: Vec<usize> = classes.iter().map(|&c| turn[c]).collect();
    let ones = vec![1.0; classes.len()];
    let (first, second) = (
        ridge(&codes, &classes, &ones, 3, 0.5).unwrap(),
        ridge(&codes, &turned, &ones, 3, 0.5).unwrap(),
    );
    let (scores, turned_scores) = (first.scores(&tiny.codes), second.scores(&tiny.codes));
    let (p, q) = (memberships(&scores, 1.7), memberships(&turned_scores, 1.7));
    for j in 0..30 {
        assert_eq!(turn[best(scores.column(j))], best(turned_scores.column(j)));
        for (c, &place) in turn.iter().enumerate() {
            assert_close(q.column(j)[place], p.column(j)[c], 1e-9);
        }
    }
}
