//! Contracts of weights, for every method: zero leaves a sample out, equal ones change nothing, others
//! change the result, or the user is told.

use crate::common::{
    Recorder, agreement, clouds, fit, fit_with, has, label_first, noise, options, small_problem,
};
use ssdl::fit::Silent;
use ssdl::methods::{self, FitOptions, Method};
use ssdl::samples::weights::ClassWeight;
use ssdl::{Model, Real, Samples};

fn label<T: Real>(method: &dyn Method<T>) -> String {
    format!("{} in {}", method.describe().name, T::NAME)
}

#[track_caller]
fn assert_same<T: Real>(a: &Model<T>, b: &Model<T>, what: &str) {
    assert_eq!(a.atoms(), b.atoms(), "{what}: atoms");
    assert_eq!(a.codes(), b.codes(), "{what}: codes");
    assert_eq!(a.training_labels(), b.training_labels(), "{what}: labels");
    let (new, _) = clouds::<T>(3, 12, 30, 77);
    let (p, q) = (a.predict(new.clone()).unwrap(), b.predict(new).unwrap());
    assert_eq!(p.probabilities, q.probabilities, "{what}: new samples");
    assert_eq!(a.transduction().probabilities, b.transduction().probabilities, "{what}");
}

fn zero_leaves_out<T: Real>(method: &dyn Method<T>) {
    let (samples, _) = small_problem::<T>(21);
    let n = samples.n_samples();
    // Labelled and unlabelled ones, the first and the last among them; every class keeps labels.
    let is_out = |j: usize| j == 0 || j % 7 == 5 || j == n - 1;
    let kept: Vec<usize> = (0..n).filter(|&j| !is_out(j)).collect();
    let rest =
        Samples::new(samples.features().select_columns(&kept), samples.labels().select(&kept))
            .unwrap();
    for weight in [1.0, 4.0] {
        let weights = (0..n).map(|j| if is_out(j) { 0.0 } else { weight }).collect();
        let weighed = FitOptions { sample_weight: Some(weights), ..options() };
        let a = fit_with(method, &[], samples.clone(), &weighed, &mut Silent).unwrap();
        let b = fit(method, &[], rest.clone()).unwrap();
        assert_same(&a, &b, &label(method));
    }
}

#[test]
fn a_weight_of_zero_leaves_a_sample_out() {
    for_every_method!(zero_leaves_out);
}

fn equal_weights_change_nothing<T: Real>(method: &dyn Method<T>) {
    let (samples, _) = small_problem::<T>(22);
    let plain = fit(method, &[], samples.clone()).unwrap();
    let equal = ClassWeight::Given(
        samples.labels().classes().iter().map(|name| (name.clone(), 0.3)).collect(),
    );
    for (sample_weight, class_weight) in
        [(Some(vec![0.1; 90]), None), (Some(vec![3.0; 90]), None), (None, Some(equal))]
    {
        let weighed = FitOptions { sample_weight, class_weight, ..options() };
        let mut watch = Recorder::default();
        let model = fit_with(method, &[], samples.clone(), &weighed, &mut watch).unwrap();
        assert_same(&plain, &model, &label(method));
        assert!(watch.notices.iter().all(|notice| !notice.contains("weights")));
    }
}

#[test]
fn equal_weights_change_no_bit() {
    for_every_method!(equal_weights_change_nothing);
}

fn weights_act_or_are_refused<T: Real>(method: &dyn Method<T>) {
    let (samples, _) = small_problem::<T>(23);
    let knobs = [("n_neighbors", "5"), ("box_constraints", "0.1")];
    let plain = fit(method, &knobs, samples.clone()).unwrap();
    let by_sample = (0..90).map(|j| 1.0 + f64::from(j % 2 == 0) * 30.0).collect();
    let by_class = ClassWeight::Given(vec![("class 1".into(), 30.0)]);
    for (sample_weight, class_weight) in [(Some(by_sample), None), (None, Some(by_class))] {
        let weighed = FitOptions { sample_weight, class_weight, ..options() };
        let mut watch = Recorder::default();
        let model = fit_with(method, &knobs, samples.clone(), &weighed, &mut watch).unwrap();
        let told = watch.notices.iter().any(|notice| notice.contains("weights are not used"));
        let (new, _) = clouds::<T>(3, 12, 60, 78);
        let (p, q) = (plain.predict(new.clone()).unwrap(), model.predict(new).unwrap());
        let same = p.probabilities == q.probabilities;
        // Votes among samples of one class stay what they are, whatever they weigh.
        let votes = model.decision().voting().is_some();
        let name = label(method);
        assert!(same == told || votes, "{name}: weights act, or the user is told");
    }
}

#[test]
fn weights_act_or_the_user_is_told() {
    for_every_method!(weights_act_or_are_refused);
}

fn balanced_leaves_even_labels_alone<T: Real>(method: &dyn Method<T>) {
    let (samples, _) = small_problem::<T>(24);
    // Methods that hold labels near expected shares do not do so where the user balances them; `auto`
    // has no knobs for its member that does.
    if method.describe().name == "auto" {
        return;
    }
    let knobs = [("balance", "0"), ("prior", "even")];
    let balanced = FitOptions { class_weight: Some(ClassWeight::Balanced), ..options() };
    let plain = fit(method, &knobs, samples.clone()).unwrap();
    let model = fit_with(method, &knobs, samples, &balanced, &mut Silent).unwrap();
    assert_same(&plain, &model, &label(method));
}

#[test]
fn balanced_classes_leave_even_labels_alone() {
    for_every_method!(balanced_leaves_even_labels_alone);
}

/// Unlabelled samples that a model puts into each class.
fn elected<T: Real>(model: &Model<T>) -> Vec<usize> {
    let (found, labels) = (model.transduction().classes, model.training_labels());
    let mut counts = vec![0; labels.classes().len()];
    labels.unlabelled().into_iter().for_each(|j| counts[found[j]] += 1);
    counts
}

fn expected_shares_are_followed<T: Real>(method: &dyn Method<T>) {
    if !has(method, "balance") {
        return;
    }
    // Nothing tells these classes apart, so votes go where they are expected.
    let labels = label_first(&[0, 1, 2].repeat(30), 3, 4);
    let samples = Samples::new(noise::<T>(6, 90, 26), labels).unwrap();
    let with = |prior: &str| {
        let knobs = [("balance", "1"), ("prior", prior), ("threshold", "0.4")];
        elected(&fit(method, &knobs, samples.clone()).unwrap())
    };
    let (first, last) = (with("8,1,1"), with("1,1,8"));
    let name = label(method);
    assert!(first[0] >= last[0] + 10, "{name}: {first:?} {last:?}");
    assert!(last[2] >= first[2] + 10, "{name}: {first:?} {last:?}");
    let refused = fit(method, &[("balance", "1"), ("prior", "1,2")], samples.clone());
    assert!(refused.unwrap_err().to_string().contains("one number per class, 3 in all"), "{name}");
}

#[test]
fn votes_follow_the_shares_that_are_expected() {
    for_every_method!(expected_shares_are_followed);
}

fn classes_that_count_more_get_more<T: Real>(method: &dyn Method<T>) {
    if !has(method, "voting") {
        return;
    }
    let labels = label_first(&[0, 1, 2].repeat(30), 3, 4);
    let samples = Samples::new(noise::<T>(6, 90, 26), labels).unwrap();
    let with = |class: &str| {
        let by_class = ClassWeight::Given(vec![(class.into(), 8.0)]);
        let weighed = FitOptions { class_weight: Some(by_class), ..options() };
        elected(&fit_with(method, &[], samples.clone(), &weighed, &mut Silent).unwrap())
    };
    let (first, last) = (with("class 0"), with("class 2"));
    let name = label(method);
    assert!(first[0] >= last[0] + 10, "{name}: {first:?} {last:?}");
    assert!(last[2] >= first[2] + 10, "{name}: {first:?} {last:?}");
}

#[test]
fn votes_follow_the_weights_of_classes() {
    for_every_method!(classes_that_count_more_get_more);
}

fn balance_leaves_even_data_alone<T: Real>(method: &dyn Method<T>) {
    if !has(method, "balance") {
        return;
    }
    let (samples, truth) = small_problem::<T>(27);
    let right = |balance, prior| {
        let knobs = [("balance", balance), ("prior", prior)];
        let model = fit(method, &knobs, samples.clone()).unwrap();
        agreement(&model.transduction().classes, &truth)
    };
    let plain = right("0", "estimated");
    for (balance, prior) in [("0.5", "estimated"), ("1", "estimated"), ("1", "recounted")] {
        let found = right(balance, prior);
        assert!(found >= plain - 0.02, "{}: {balance} {prior}, {plain}", label(method));
    }
}

#[test]
fn balance_leaves_clear_even_classes_alone() {
    for_every_method!(balance_leaves_even_data_alone);
}

#[test]
fn a_model_with_weighted_votes_survives_its_file() {
    let method = methods::find::<f64>("nearest").unwrap();
    let (samples, _) = small_problem::<f64>(25);
    let by_class = ClassWeight::Given(vec![("class 0".into(), 9.0)]);
    let weighed = FitOptions { class_weight: Some(by_class), ..options() };
    let model = fit_with(method, &[("n_neighbors", "5")], samples, &weighed, &mut Silent).unwrap();
    let again = Model::<f64>::from_bytes(&model.to_bytes().unwrap()).unwrap();
    assert_same(&model, &again, "nearest");
}

#[test]
fn mistakes_in_weights_are_named() {
    let method = methods::find::<f64>("ridge").unwrap();
    let (features, truth) = clouds::<f64>(2, 5, 20, 26);
    let samples = Samples::new(features, label_first(&truth, 2, 3)).unwrap();
    let refused = |sample_weight: Option<Vec<f64>>, class_weight: Option<&str>| {
        let class_weight = class_weight.map(|text| text.parse().unwrap());
        let options = FitOptions { sample_weight, class_weight, ..options() };
        let found = fit_with(method, &[], samples.clone(), &options, &mut Silent);
        found.unwrap_err().to_string()
    };
    assert!(refused(Some(vec![1.0; 19]), None).contains("expected 20, got 19"));
    assert!(refused(Some(vec![-1.0; 20]), None).contains("sample 1 is -1"));
    assert!(refused(Some(vec![0.0; 20]), None).contains("all have weight zero"));
    assert!(refused(None, Some("tree=2")).contains("`tree`: the classes are class 0, class 1"));
    assert!(refused(None, Some("class 0=-2")).contains("above 0"));
}
