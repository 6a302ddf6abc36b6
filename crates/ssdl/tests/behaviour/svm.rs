//! The linear support vector machine: against scikit-learn, a slow reference and its own dual, and
//! how the box constraint is chosen.

use crate::common::{
    apart, assert_close, clouds, fixture, indices, matrix, noise, numbers, sparse_noise,
};
use proptest::prelude::*;
use ssdl::classifier::svm::{Loss, SvmTrainer, Trained, stratified_folds};
use ssdl::classifier::{LinearClassifier, best};
use ssdl::knobs::KnobValue;
use ssdl::{Error, Matrix, Real};

const LOSSES: [Loss; 2] = [Loss::Hinge, Loss::SquaredHinge];

/// To the end.
fn tight(loss: Loss) -> SvmTrainer {
    SvmTrainer { loss, tolerance: 1e-8, max_epochs: 1_000_000, ..SvmTrainer::default() }
}

/// Overlapping classes on sparse codes.
fn codes<T: Real>(n_classes: usize, p: usize, n: usize, seed: u64) -> (Matrix<T>, Vec<usize>) {
    let (features, classes) = clouds::<f64>(n_classes, p, n, seed);
    let gate = noise::<f64>(p, n, seed + 50);
    let codes = Matrix::from_fn(p, n, |k, i| {
        T::of(if gate.column(i)[k] > 0.3 { features.column(i)[k] } else { 0.0 })
    });
    (codes, classes)
}

/// The objective by its definition.
fn objective<T: Real>(
    classifier: &LinearClassifier<T>,
    (codes, classes): (&Matrix<T>, &[usize]),
    class: usize,
    loss: Loss,
    box_constraint: f64,
) -> f64 {
    let mut value = classifier.bias[class].wide().powi(2) / 2.0;
    value += classifier.weights.column(class).iter().map(|w| w.wide().powi(2) / 2.0).sum::<f64>();
    for (code, &own) in codes.iter_columns().zip(classes) {
        let products =
            code.iter().zip(classifier.weights.column(class)).map(|(a, w)| a.wide() * w.wide());
        let score = products.sum::<f64>() + classifier.bias[class].wide();
        let short = (1.0 - if own == class { score } else { -score }).max(0.0);
        value += box_constraint * if loss == Loss::Hinge { short } else { short * short };
    }
    value
}

fn oracle_in<T: Real>(tolerance: f64) {
    let stored = fixture("svm");
    let (codes, new_codes): (Matrix<T>, Matrix<T>) =
        (matrix(&stored["codes"]), matrix(&stored["new_codes"]));
    let classes = indices(&stored["classes"]);
    for case in stored["cases"].as_array().unwrap() {
        let loss = Loss::read(case["loss"].as_str().unwrap()).unwrap();
        let box_constraint = case["box_constraint"].as_f64().unwrap();
        let found = tight(loss).fit(&codes, &classes, 4, box_constraint).unwrap();
        assert!(found.converged);
        for (found, expected) in found.objective.iter().zip(numbers(&case["objective"])) {
            assert_close(*found, expected, tolerance);
        }
        let distance = |found: &Matrix<T>, name: &str| {
            apart(found.as_slice(), matrix::<T>(&case[name]).as_slice())
        };
        assert!(distance(&found.classifier.weights, "weights") < tolerance);
        assert!(distance(&found.classifier.scores(&codes), "scores") < tolerance);
        assert!(distance(&found.classifier.scores(&new_codes), "new_scores") < tolerance);
        let bias: Vec<T> = numbers(&case["bias"]).into_iter().map(T::of).collect();
        assert!(apart(&found.classifier.bias, &bias) < tolerance);
    }
}

#[test]
fn weights_and_decision_values_are_those_of_scikit_learn() {
    oracle_in::<f64>(1e-6);
    oracle_in::<f32>(1e-5);
}

fn gaps_in<T: Real>(rounding: f64) {
    for (loss, seed) in [(Loss::Hinge, 1), (Loss::SquaredHinge, 2)] {
        let (codes, classes) = codes::<T>(4, 10, 90, seed);
        for box_constraint in [0.1, 1.0, 10.0] {
            // Large boxes take more epochs than the default allows.
            let quick = SvmTrainer { loss, max_epochs: 100_000, ..SvmTrainer::default() };
            for (svm, largest) in [(quick, 1e-3), (tight(loss), 1e-6)] {
                let found = svm.fit(&codes, &classes, 4, box_constraint).unwrap();
                assert!(found.converged && found.epochs <= svm.max_epochs);
                assert!(found.gap < largest, "{svm:?}, {box_constraint}: {}", found.gap);
                for class in 0..4 {
                    let (above, below) = (found.objective[class], found.lower_bound[class]);
                    assert!(below <= above * (1.0 + 1e-12) && (above - below) <= largest * above);
                    let data = (&codes, &classes[..]);
                    let value = objective(&found.classifier, data, class, loss, box_constraint);
                    assert_close(value, above, rounding);
                }
            }
        }
    }
}

#[test]
fn the_duality_gap_closes_and_the_objective_is_the_one_defined() {
    gaps_in::<f64>(1e-12);
    gaps_in::<f32>(1e-5);
}

/// The dual one variable after the other, in order, none ever set aside; $[w;b]$ of one class.
fn reference(
    (codes, classes): (&Matrix<f64>, &[usize]),
    class: usize,
    loss: Loss,
    box_constraint: f64,
) -> Vec<f64> {
    let p = codes.rows();
    let augmented: Vec<Vec<f64>> =
        codes.iter_columns().map(|code| [code, &[1.0]].concat()).collect();
    let (upper, diagonal) = match loss {
        Loss::Hinge => (box_constraint, 0.0),
        Loss::SquaredHinge => (f64::INFINITY, 0.5 / box_constraint),
    };
    let mut dual = vec![0.0; classes.len()];
    let mut weights = vec![0.0; p + 1];
    for _ in 0..200_000 {
        let mut moved = 0.0f64;
        for (i, a) in augmented.iter().enumerate() {
            let sign = if classes[i] == class { 1.0 } else { -1.0 };
            let score: f64 = a.iter().zip(&weights).map(|(a, w)| a * w).sum();
            let curvature = a.iter().map(|a| a * a).sum::<f64>() + diagonal;
            let step = (1.0 - sign * score - diagonal * dual[i]) / curvature;
            let next = (dual[i] + step).clamp(0.0, upper);
            let change = next - dual[i];
            dual[i] = next;
            weights.iter_mut().zip(a).for_each(|(w, a)| *w += change * sign * a);
            moved = moved.max(change.abs() * curvature);
        }
        if moved < 1e-11 {
            break;
        }
    }
    weights
}

proptest! {
    #![proptest_config(crate::common::fixed_cases(24))]

    #[test]
    fn shrinking_and_random_order_do_not_change_the_solution(
        p in 1usize..8, n in 2usize..40, seed in 0u64..1000, dense: bool, squared: bool,
        box_constraint in prop_oneof![Just(0.01), Just(0.3), Just(3.0)],
    ) {
        let loss = LOSSES[usize::from(squared)];
        let codes = if dense { noise::<f64>(p, n, seed) } else { sparse_noise(p, n, seed) };
        let classes: Vec<usize> = (0..n).map(|i| (i * i + i / 3) % 2).collect();
        let svm = SvmTrainer { tolerance: 1e-9, seed, ..tight(loss) };
        let found = svm.fit(&codes, &classes, 2, box_constraint).unwrap();
        prop_assert!(found.converged);
        for class in 0..2 {
            let expected = reference((&codes, &classes), class, loss, box_constraint);
            if !classes.contains(&class) {
                continue;
            }
            let weights = [found.classifier.weights.column(class), &[found.classifier.bias[class]]];
            for (a, b) in weights.concat().iter().zip(&expected) {
                prop_assert!((a - b).abs() < 1e-6, "{:?} is not {:?}", weights, expected);
            }
        }
    }

    #[test]
    fn folds_are_balanced_in_size_and_in_every_class(
        sizes in prop::collection::vec(0usize..12, 1..6), folds in 1usize..7, seed: u64,
    ) {
        let mut classes: Vec<usize> =
            sizes.iter().enumerate().flat_map(|(class, &size)| vec![class; size]).collect();
        classes.reverse();
        let fold_of = stratified_folds(&classes, folds, seed);
        prop_assert_eq!(&stratified_folds(&classes, folds, seed), &fold_of);
        prop_assert!(fold_of.iter().all(|&fold| fold < folds));
        let even = |keep: &dyn Fn(usize) -> bool| {
            let mut counts = vec![0usize; folds];
            (0..classes.len()).filter(|&i| keep(i)).for_each(|i| counts[fold_of[i]] += 1);
            counts.iter().max().unwrap() - counts.iter().min().unwrap() <= 1
        };
        prop_assert!(even(&|_| true));
        for class in 0..sizes.len() {
            prop_assert!(even(&|i| classes[i] == class));
        }
    }
}

#[test]
fn folds_are_drawn_at_random() {
    let classes = [0; 40];
    assert_ne!(stratified_folds(&classes, 4, 0), stratified_folds(&classes, 4, 1));
    assert_ne!(stratified_folds(&classes, 4, 0), (0..40).map(|i| i % 4).collect::<Vec<_>>());
}

fn bits_in<T: Real>() {
    for loss in LOSSES {
        let (codes, classes) = codes::<T>(5, 12, 150, 3);
        let svm = SvmTrainer { loss, seed: 9, ..SvmTrainer::default() };
        let work = |threads| {
            ssdl::threads::run(threads, || {
                let chosen = svm.choose_box(&codes, &classes, 5, &[0.1, 1.0, 10.0], 5).unwrap();
                (svm.fit(&codes, &classes, 5, chosen.box_constraint).unwrap(), chosen)
            })
        };
        let one = work(1);
        assert_eq!(one, work(2));
        assert_eq!(one, work(1));
        let other = SvmTrainer { seed: 10, ..svm };
        assert_ne!(one.0, other.fit(&codes, &classes, 5, one.1.box_constraint).unwrap());
    }
}

#[test]
fn threads_do_not_change_a_bit() {
    bits_in::<f64>();
    bits_in::<f32>();
}

fn labels_of<T: Real>(trained: &Trained<T>, codes: &Matrix<T>) -> Vec<usize> {
    trained.classifier.scores(codes).iter_columns().map(best).collect()
}

#[test]
fn separable_classes_are_separated_with_the_widest_margin() {
    // Samples at ±2 and beyond: w̃ = [½, 0] puts the nearest at the margin, and no shorter one does.
    let codes = Matrix::from_columns(1, 4, vec![2.0f64, -2.0, 3.0, -5.0]).unwrap();
    let classes = [0, 1, 0, 1];
    let found = tight(Loss::Hinge).fit(&codes, &classes, 2, 100.0).unwrap();
    for (class, sign) in [(0, 1.0), (1, -1.0)] {
        assert!((found.classifier.weights.column(class)[0] - sign * 0.5).abs() < 1e-7);
        assert!(found.classifier.bias[class].abs() < 1e-7);
        assert_close(found.lower_bound[class], 0.125, 1e-7);
    }
    for loss in LOSSES {
        let found = tight(loss).fit(&codes, &classes, 2, 100.0).unwrap();
        assert_eq!(labels_of(&found, &codes), classes);
    }
}

#[test]
fn doubled_samples_count_like_a_doubled_box() {
    let (codes, classes) = codes::<f64>(3, 6, 40, 4);
    let twice: Vec<usize> = (0..80).map(|i| i / 2).collect();
    let doubled: Vec<usize> = twice.iter().map(|&i| classes[i]).collect();
    for loss in LOSSES {
        let once = tight(loss).fit(&codes, &classes, 3, 2.0).unwrap();
        let both = tight(loss).fit(&codes.select_columns(&twice), &doubled, 3, 1.0).unwrap();
        let (a, b) = (once.classifier, both.classifier);
        assert!(apart(a.weights.as_slice(), b.weights.as_slice()) < 1e-6);
        assert!(apart(&a.bias, &b.bias) < 1e-6);
    }
}

#[test]
fn contradicting_labels_and_single_samples_are_handled() {
    let codes = Matrix::from_fn(2, 7, |k, i| if k == i % 2 { 1.0 } else { 0.0 });
    for loss in LOSSES {
        // Columns 0, 2 and 4 are one and the same code with three classes; class 3 has one sample.
        let found = tight(loss).fit(&codes, &[0, 3, 1, 1, 2, 2, 0], 4, 1.0).unwrap();
        assert!(found.converged && found.gap < 1e-6);
        let alone = tight(loss).fit(&codes.select_columns(&[0]), &[0], 1, 1.0).unwrap();
        assert!(alone.converged && alone.classifier.scores(&codes).column(0)[0] > 0.5);
        // The square of such a code overflows: nothing is learnt, but nothing breaks.
        let huge = Matrix::from_fn(2, 4, |_, i| if i < 2 { 1e200 } else { 1.0 });
        let found = SvmTrainer { loss, ..SvmTrainer::default() }.fit(&huge, &[0, 1, 0, 1], 2, 1.0);
        assert!(found.unwrap().classifier.squared_norm().is_finite());
    }
}

#[test]
fn codes_without_coefficients_are_decided_by_the_bias() {
    for (p, classes) in [(3, [1, 1, 0, 1, 2]), (0, [1, 1, 0, 1, 2])] {
        let codes = Matrix::<f64>::zeros(p, 5);
        for loss in LOSSES {
            let found = tight(loss).fit(&codes, &classes, 3, 1.0).unwrap();
            assert!(found.converged && found.gap < 1e-6);
            assert!(found.classifier.weights.as_slice().iter().all(|w| *w == 0.0));
            assert_eq!(labels_of(&found, &codes), [1; 5]);
            // Two of three samples in each half have class 1, which is all there is to learn.
            let six = Matrix::<f64>::zeros(p, 6);
            let chosen = tight(loss).choose_box(&six, &[0, 0, 1, 1, 1, 1], 2, &[1.0], 2).unwrap();
            assert_eq!(chosen.accuracy, [4.0 / 6.0]);
        }
    }
}

#[test]
fn a_class_without_samples_never_wins() {
    let (codes, truth) = codes::<f64>(3, 5, 60, 5);
    let classes: Vec<usize> = truth.iter().map(|&class| [0, 2, 3][class]).collect();
    let found = SvmTrainer::default().fit(&codes, &classes, 5, 1.0).unwrap();
    // Far from the samples, where every class may say no.
    let mut anywhere = noise::<f64>(5, 500, 6);
    anywhere.as_mut_slice().iter_mut().for_each(|a| *a *= 20.0);
    let scores = found.classifier.scores(&anywhere);
    assert!(scores.iter_columns().any(|s| s[best(s)] < -1.0), "no sample shows the point");
    assert!(scores.iter_columns().all(|s| ![1, 4].contains(&best(s))));
    for empty in [1, 4] {
        assert_eq!((found.objective[empty], found.lower_bound[empty]), (0.0, 0.0));
    }
    let same = SvmTrainer::default().choose_box(&codes, &classes, 5, &[0.1, 1.0], 5).unwrap();
    assert_eq!(same.folds_used, 5);
}

#[test]
fn the_accuracies_are_those_of_fits_on_the_other_folds() {
    // Dense: biases can tie, and with them the scores of a code without coefficients.
    let (codes, classes) = clouds::<f64>(3, 3, 75, 7);
    let grid = [10.0, 0.001, 0.5];
    for loss in LOSSES {
        let svm = SvmTrainer { seed: 4, ..tight(loss) };
        let chosen = svm.choose_box(&codes, &classes, 3, &grid, 5).unwrap();
        let fold_of = stratified_folds(&classes, 5, 4);
        for (at, &box_constraint) in grid.iter().enumerate() {
            let mut right = 0;
            for fold in 0..5 {
                let (out, rest): (Vec<usize>, Vec<usize>) =
                    (0..75).partition(|&i| fold_of[i] == fold);
                let known: Vec<usize> = rest.iter().map(|&i| classes[i]).collect();
                let fitted = svm.fit(&codes.select_columns(&rest), &known, 3, box_constraint);
                let found = labels_of(&fitted.unwrap(), &codes.select_columns(&out));
                right += out.iter().zip(found).filter(|(i, found)| classes[**i] == *found).count();
            }
            assert_eq!(chosen.accuracy[at], right as f64 / 75.0, "{loss:?}, {box_constraint}");
        }
        let top = chosen.accuracy.iter().copied().fold(0.0, f64::max);
        let at = grid.iter().position(|&b| b == chosen.box_constraint).unwrap();
        assert_eq!((chosen.accuracy[at], chosen.folds_used), (top, 5));
        assert!(chosen.accuracy.iter().any(|&a| a < top), "nothing to choose between");
    }
}

#[test]
fn ties_go_to_the_smaller_box_and_small_classes_cut_the_folds() {
    // Two classes far apart: every value is right everywhere.
    let codes = Matrix::from_fn(2, 14, |k, i| if k == i % 2 { 5.0 } else { 0.0 });
    let even: Vec<usize> = (0..14).map(|i| i % 2).collect();
    let svm = SvmTrainer::default();
    let choose = |classes: &[usize], grid: &[f64], folds| {
        let columns: Vec<usize> = (0..classes.len()).collect();
        svm.choose_box(&codes.select_columns(&columns), classes, 3, grid, folds).unwrap()
    };
    let chosen = choose(&even, &[10.0, 0.5, 1.0], 5);
    assert_eq!((chosen.box_constraint, chosen.folds_used), (0.5, 5));
    assert_eq!(chosen.accuracy, [1.0; 3]);
    // Three samples of class 1: three folds, each with one of them.
    assert_eq!(choose(&even[..7], &[1.0], 5).folds_used, 3);
    assert_eq!(choose(&even[..4], &[1.0], 5).folds_used, 2);
    // One sample of class 1: nothing to learn from. The middle value, whatever the order.
    for (grid, middle) in [(&[10.0, 0.1, 1.0][..], 1.0), (&[4.0, 3.0, 2.0, 1.0], 2.0)] {
        let chosen = choose(&even[..3], grid, 5);
        assert_eq!((chosen.box_constraint, chosen.folds_used), (middle, 0));
        assert!(chosen.accuracy.is_empty());
    }
}

#[test]
fn bad_knobs_and_samples_are_refused_by_name() {
    let codes = Matrix::from_fn(2, 4, |k, i| (k + i) as f64);
    let (classes, svm) = ([0, 1, 0, 1], SvmTrainer::default());
    let knob = |error: Error| match error {
        Error::Knob { name, .. } => name,
        other => panic!("{other}"),
    };
    for bad in [0.0, -1.0, f64::NAN, f64::INFINITY] {
        assert_eq!(knob(svm.fit(&codes, &classes, 2, bad).unwrap_err()), "box_constraint");
        let error = svm.choose_box(&codes, &classes, 2, &[1.0, bad], 2).unwrap_err();
        assert_eq!(knob(error), "box_constraint");
        let loose = SvmTrainer { tolerance: bad, ..svm };
        assert_eq!(knob(loose.fit(&codes, &classes, 2, 1.0).unwrap_err()), "tolerance");
    }
    let empty = svm.choose_box(&codes, &classes, 2, &[], 2).unwrap_err();
    assert_eq!(knob(empty), "box_constraint");
    assert_eq!(knob(svm.choose_box(&codes, &classes, 2, &[1.0], 1).unwrap_err()), "folds");
    let idle = SvmTrainer { max_epochs: 0, ..svm };
    assert_eq!(knob(idle.fit(&codes, &classes, 2, 1.0).unwrap_err()), "max_epochs");

    let fit = |codes: &Matrix<f64>, classes: &[usize]| svm.fit(codes, classes, 2, 1.0).unwrap_err();
    assert!(matches!(fit(&Matrix::zeros(2, 0), &[]), Error::Samples(_)));
    assert!(matches!(fit(&codes, &[0, 1]), Error::Shape { expected: 4, got: 2, .. }));
    assert!(matches!(fit(&codes, &[0, 1, 2, 0]), Error::Labels(_)));
    let mut broken = codes.clone();
    broken.column_mut(2)[1] = f64::NAN;
    assert!(matches!(fit(&broken, &classes), Error::NotFinite { row: 3, column: 2, .. }));
    assert!(svm.choose_box(&Matrix::<f64>::zeros(2, 0), &[], 2, &[1.0], 2).is_err());
}

#[test]
fn stopping_at_the_epoch_limit_is_reported() {
    let (codes, classes) = codes::<f64>(3, 6, 60, 8);
    let hasty = SvmTrainer { max_epochs: 2, ..tight(Loss::Hinge) };
    let found = hasty.fit(&codes, &classes, 3, 10.0).unwrap();
    assert!(!found.converged && found.epochs == 2 && found.gap > 1e-6);
}
