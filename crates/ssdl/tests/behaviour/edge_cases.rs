//! Whatever samples and labels come in: a model with sound predictions, or an error with a reason.

use crate::common::{
    Recorder, agreement, assert_distributions, class_names, clouds, fit, fit_with, has,
    label_first, noise, options, small_problem,
};
use ssdl::fit::Silent;
use ssdl::methods::{self, FitOptions, Method};
use ssdl::{Error, Labels, Matrix, Model, Real, Samples};

fn finite<T: Real>(m: &Matrix<T>) -> bool {
    m.as_slice().iter().all(|v| v.is_finite())
}

/// All parts finite, atoms in the ball, probabilities sound for training and for new samples.
#[track_caller]
fn assert_sound<T: Real>(model: &Model<T>, what: &str) {
    let what = format!("{what}, {} in {}", model.method(), T::NAME);
    assert!(model.atoms().is_none_or(finite) && finite(model.codes()), "{what}: atoms or codes");
    assert!(model.classifier().is_none_or(|linear| finite(&linear.weights)), "{what}: weights");
    assert!(model.report().objective.total().is_finite(), "{what}: objective");
    for atom in model.atoms().into_iter().flat_map(Matrix::iter_columns) {
        let norm = ssdl::matrix::squared_norm(atom).sqrt();
        assert!(norm <= 1.0 + 8.0 * T::epsilon().wide(), "{what}: an atom of length {norm}");
    }
    let own = model.transduction();
    assert!(finite(&own.scores), "{what}: own scores");
    assert_distributions(&own.probabilities);
    let new = model.predict(strange(model.n_features())).unwrap();
    assert!(finite(&new.scores) && finite(&new.codes), "{what}: new scores");
    assert_distributions(&new.probabilities);
}

/// New samples of every unpleasant kind: ordinary, zero, far, huge, tiny, twice the same.
fn strange<T: Real>(n: usize) -> Matrix<T> {
    let mut new = noise::<T>(n, 8, 77);
    let factors = [1.0, 0.0, 1e3, 1e8, 1e-8, 1e-30, 1.0, 1.0];
    for (j, factor) in factors.into_iter().enumerate() {
        new.column_mut(j).iter_mut().for_each(|x| *x *= T::of(factor));
    }
    let twin = new.column(6).to_vec();
    new.column_mut(7).copy_from_slice(&twin);
    new
}

fn samples_of<T: Real>(
    features: Matrix<T>,
    labelled: &[(usize, usize)],
    classes: usize,
) -> Samples<T> {
    let mut assigned = vec![None; features.columns()];
    labelled.iter().for_each(|&(j, class)| assigned[j] = Some(class));
    Samples::new(features, Labels::new(class_names(classes), assigned).unwrap()).unwrap()
}

fn strange_new_samples<T: Real>(method: &dyn Method<T>) {
    // Scaled to one length, and raw: only the second lets lengths through to the coder.
    for prepare in [options::<T>().prepare, Vec::new()] {
        let (samples, _) = small_problem::<T>(1);
        let trained = samples.features().clone();
        let options = FitOptions { prepare, ..options() };
        let model = fit_with(method, &[], samples, &options, &mut Silent).unwrap();
        assert_sound(&model, "strange new samples");
        let again = model.predict(trained).unwrap();
        assert_distributions(&again.probabilities);
        assert!(agreement(&again.labels, &model.transduction().labels) > 0.85);
    }
}

#[test]
fn zero_far_huge_tiny_and_repeated_new_samples_get_distributions() {
    for_every_method!(strange_new_samples);
}

fn extreme_new_samples<T: Real>(method: &dyn Method<T>) {
    let (samples, _) = small_problem::<T>(1);
    for prepare in [options::<T>().prepare, Vec::new()] {
        let options = FitOptions { prepare, ..options() };
        let model = fit_with(method, &[], samples.clone(), &options, &mut Silent).unwrap();
        let mut new = noise::<T>(12, 3, 5);
        let top = T::max_value() * T::of(0.1);
        for (j, scale) in [top, top.sqrt(), T::min_positive_value()].into_iter().enumerate() {
            new.column_mut(j).iter_mut().for_each(|x| *x = x.signum() * scale);
        }
        // Refusing is fine; a prediction that is not a distribution is not.
        if let Ok(prediction) = model.predict(new) {
            assert_distributions(&prediction.probabilities);
        }
    }
}

#[test]
fn samples_at_the_ends_of_the_number_range_are_refused_or_get_distributions() {
    for_every_method!(extreme_new_samples);
}

fn few_labels<T: Real>(method: &dyn Method<T>) {
    let (features, truth) = clouds::<T>(3, 12, 60, 2);
    let one_each = Samples::new(features.clone(), label_first(&truth, 3, 1)).unwrap();
    assert_sound(&fit(method, &[], one_each).unwrap(), "one label per class");
    let all = Samples::new(features.clone(), label_first(&truth, 3, 60)).unwrap();
    let model = fit(method, &[], all).unwrap();
    assert_sound(&model, "all labelled");
    assert!(agreement(&model.transduction().classes, &truth) > 0.95);
    // Four classes named, three seen.
    let mut recorder = Recorder::default();
    let assigned = label_first(&truth, 3, 4).assigned().to_vec();
    let labels = Labels::new(class_names(4), assigned).unwrap();
    let unseen = Samples::new(features, labels).unwrap();
    let model = fit_with(method, &[], unseen, &options(), &mut recorder).unwrap();
    assert_sound(&model, "a class without labels");
    assert_eq!(model.classes().len(), 4);
    assert!(recorder.notices.iter().any(|n| n.contains("`class 3`")), "{:?}", recorder.notices);
}

#[test]
fn few_labels_all_labels_and_a_class_without_labels_are_legal() {
    for_every_method!(few_labels);
}

fn no_labels<T: Real>(method: &dyn Method<T>) {
    let features = noise::<T>(4, 10, 3);
    let refused = |labels: Labels| {
        let samples = Samples::new(features.clone(), labels).unwrap();
        match fit(method, &[], samples).unwrap_err() {
            Error::Labels(reason) => reason,
            other => panic!("{other}"),
        }
    };
    assert!(refused(Labels::none(10)).contains("labelled"));
    assert!(refused(Labels::new(class_names(3), vec![None; 10]).unwrap()).contains("labelled"));
    let one: Vec<Option<&str>> = (0..10).map(|j| (j < 4).then_some("only")).collect();
    assert!(refused(Labels::from_names(&one)).contains("`only`"));
}

#[test]
fn no_labels_and_one_class_are_refused() {
    for_every_method!(no_labels);
}

fn hardly_any_samples<T: Real>(method: &dyn Method<T>) {
    for count in [2, 3, 4] {
        let samples = samples_of(noise::<T>(5, count, 4), &[(0, 0), (1, 1)], 2);
        assert_sound(&fit(method, &[], samples).unwrap(), &format!("{count} samples"));
    }
    let single = samples_of(noise::<T>(5, 1, 4), &[(0, 1)], 2);
    assert_sound(&fit(method, &[], single).unwrap(), "one sample, two classes named");
    let narrow = samples_of(noise::<T>(1, 20, 4), &[(0, 0), (1, 1)], 2);
    assert_sound(&fit(method, &[], narrow).unwrap(), "one feature");
}

#[test]
fn one_to_four_samples_and_one_feature_are_enough() {
    for_every_method!(hardly_any_samples);
}

fn unusual_knobs<T: Real>(method: &dyn Method<T>) {
    let cases: &[&[(&str, &str)]] = &[
        &[("sharpness", "1")],
        &[("sharpness", "1.01")],
        &[("sharpness", "50")],
        &[("discrimination", "0")],
        &[("manifold", "0")],
        &[("discrimination", "0"), ("manifold", "0")],
        &[("sparsity", "0")],
        &[("sparsity", "1000")],
        &[("manifold", "1000")],
        &[("discrimination", "100")],
        &[("ridge", "1e-9")],
        &[("ridge", "1e9")],
        &[("n_atoms", "1")],
        &[("n_neighbors", "1")],
        &[("n_neighbors", "500")],
        &[("atom_norm", "0.001")],
        &[("batch_size", "1"), ("coder", "batches")],
        &[("coder_tolerance", "0"), ("coder_steps", "1")],
        &[("revive", "false"), ("n_atoms", "80")],
        &[("revive", "true"), ("n_atoms", "80")],
    ];
    for points in ["frozen", "majorised"] {
        // Without active points both rounds would be the same.
        if points == "frozen" && !has(method, "active_points") {
            continue;
        }
        for case in cases {
            // A knob that the method does not have cannot be tested.
            if !case.iter().any(|(name, _)| has(method, name)) {
                continue;
            }
            let (samples, _) = small_problem::<T>(5);
            let mut knobs = vec![("active_points", points), ("max_iterations", "3")];
            knobs.extend_from_slice(case);
            let model = fit(method, &knobs, samples).unwrap();
            assert_sound(&model, &format!("{knobs:?}"));
        }
    }
    let (features, truth) = clouds::<T>(2, 12, 60, 6);
    let two = Samples::new(features, label_first(&truth, 2, 3)).unwrap();
    assert_sound(&fit(method, &[], two).unwrap(), "two classes");
}

#[test]
fn unusual_knobs_give_sound_models() {
    for_every_method!(unusual_knobs);
}

fn excessive_sizes<T: Real>(method: &dyn Method<T>) {
    let mut recorder = Recorder::default();
    let (features, truth) = clouds::<T>(2, 6, 14, 7);
    let samples = Samples::new(features, label_first(&truth, 2, 3)).unwrap();
    let knobs = [("n_atoms", "400"), ("n_neighbors", "40")];
    let model = fit_with(method, &knobs, samples, &options(), &mut recorder).unwrap();
    assert_sound(&model, "larger sizes than possible");
    let noticed = |text: &str| recorder.notices.iter().any(|notice| notice.contains(text));
    match method.describe().name {
        // Mixtures of samples stand in for those that are missing.
        "graph-sc" => assert_eq!(model.atoms().unwrap().columns(), 400),
        // Its members have knobs of their own.
        "auto" => {}
        // Only labelled samples become atoms.
        "lc-rlsdla" | "lc-ksvd" | "sup-graph-dl" => {
            assert_eq!(model.atoms().unwrap().columns(), 6);
            assert!(noticed("only 6 atoms instead of 14"), "{:?}", recorder.notices);
        }
        // Each class has at most all samples as atoms.
        _ if !has(method, "n_atoms") => {
            assert!(model.atoms().is_none_or(|atoms| atoms.columns() <= 2 * 14));
        }
        _ => {
            assert_eq!(model.atoms().unwrap().columns(), 14);
            assert!(noticed("n_atoms cut from 400 to 14"), "{:?}", recorder.notices);
        }
    }
    if has(method, "n_neighbors") {
        // Only labelled samples have a vote among the nearest.
        let max = if method.describe().name == "nearest" { "6" } else { "13" };
        let cut = format!("n_neighbors cut from 40 to {max}");
        assert!(noticed(&cut), "{cut}: {:?}", recorder.notices);
        assert!(model.knobs().contains(&("n_neighbors".into(), max.into())));
    }
}

#[test]
fn more_atoms_or_neighbours_than_samples_are_cut_with_a_notice() {
    for_every_method!(excessive_sizes);
}

fn degenerate_samples<T: Real>(method: &dyn Method<T>) {
    let labelled = [(0, 0), (1, 1), (2, 0), (3, 1)];
    let mut cases: Vec<(&str, Matrix<T>)> = Vec::new();
    let mut some_zero = noise::<T>(5, 20, 8);
    [1, 5, 6, 7, 19].iter().for_each(|&j| some_zero.column_mut(j).fill(T::zero()));
    cases.push(("zero samples among others", some_zero));
    let mut labelled_zero = noise::<T>(5, 20, 8);
    (0..4).for_each(|j| labelled_zero.column_mut(j).fill(T::zero()));
    cases.push(("all labelled samples zero", labelled_zero));
    let mut only_one = Matrix::<T>::zeros(5, 20);
    only_one.column_mut(9).fill(T::one());
    cases.push(("all but one sample zero", only_one));
    cases.push(("all samples equal", Matrix::from_fn(5, 20, |i, _| T::of(i as f64 - 1.5))));
    let spread = noise::<T>(5, 20, 9);
    let constant = |i: usize, j: usize| if i < 3 { T::of(2.0) } else { spread.column(j)[i] };
    cases.push(("constant features", Matrix::from_fn(5, 20, constant)));
    let line = |i: usize, j: usize| T::of((i as f64 + 1.0) * (j as f64 - 9.5));
    cases.push(("samples on a line through zero", Matrix::from_fn(5, 20, line)));
    let repeated: Vec<usize> = (0..20).map(|j| j % 4).collect();
    cases.push(("every sample five times", spread.select_columns(&repeated)));
    let sizes = |i: usize, j: usize| spread.column(j)[i] * T::of(10f64.powi(j as i32 - 10));
    cases.push(("samples of all sizes", Matrix::from_fn(5, 20, sizes)));
    for prepare in [options::<T>().prepare, Vec::new()] {
        for (what, features) in &cases {
            if *what == "samples of all sizes" && prepare.is_empty() {
                continue;
            }
            let options = FitOptions { prepare: prepare.clone(), ..options() };
            let samples = samples_of(features.clone(), &labelled, 2);
            let model = fit_with(method, &[], samples, &options, &mut Silent).unwrap();
            assert_sound(&model, what);
        }
        let nothing = samples_of(Matrix::<T>::zeros(5, 20), &labelled, 2);
        let options = FitOptions { prepare, ..options() };
        let name = method.describe().name;
        match fit_with(method, &[], nothing, &options, &mut Silent) {
            // No atoms to find: everything is decided by the biases.
            Ok(model) if !has(method, "n_atoms") => assert_sound(&model, "only zeros"),
            Err(Error::Samples(_)) if has(method, "n_atoms") || name == "auto" => {}
            other => panic!("{:?}", other.map(|model| model.report().stop)),
        }
    }
}

#[test]
fn zero_equal_constant_and_repeated_samples_give_sound_models() {
    for_every_method!(degenerate_samples);
}

fn scale_extremes<T: Real>(method: &dyn Method<T>) {
    // Raw samples far too long or too short: refusal or a sound model, and a notice.
    for factor in [1e-12, 1e-3, 1e3, 1e6, 1e12] {
        let (samples, _) = small_problem::<T>(9);
        let mut features = samples.features().clone();
        features.as_mut_slice().iter_mut().for_each(|x| *x *= T::of(factor));
        let samples = Samples::new(features, samples.labels().clone()).unwrap();
        let mut recorder = Recorder::default();
        let options = FitOptions { prepare: Vec::new(), ..options() };
        match fit_with(method, &[("max_iterations", "3")], samples, &options, &mut recorder) {
            Ok(model) => {
                assert!(finite(model.codes()) && model.atoms().is_none_or(finite), "{factor}");
                assert_distributions(&model.transduction().probabilities);
            }
            Err(error) => assert!(matches!(error, Error::Diverged { .. }), "{factor}: {error}"),
        }
        assert!(recorder.notices.iter().any(|n| n.contains("scale=5")), "{:?}", recorder.notices);
    }
}

#[test]
fn raw_samples_of_extreme_length_are_warned_about_and_never_break_a_fit() {
    for_every_method!(scale_extremes);
}

#[test]
fn wrong_sizes_and_values_that_are_not_finite_are_refused() {
    let (samples, _) = small_problem::<f64>(10);
    let model = fit(methods::find("ssdl-ga").unwrap(), &[], samples).unwrap();
    let error = model.predict(noise(11, 3, 1)).unwrap_err();
    assert!(matches!(error, Error::Shape { expected: 12, got: 11, .. }), "{error}");
    let mut broken = noise(12, 3, 1);
    broken.column_mut(2)[4] = f64::INFINITY;
    let error = model.predict(broken).unwrap_err();
    assert!(matches!(error, Error::NotFinite { row: 3, column: 5, .. }), "{error}");
    assert!(matches!(model.predict(Matrix::zeros(12, 0)), Err(Error::Samples(_))));
}
