//! The peers that code with few atoms: what each promises of its objective, and what bad input gives.

use crate::common::{Recorder, agreement, class_names, clouds, fit_with, noise, options, pairs};
use crate::common::{label_first, small_problem};
use ssdl::fit::{DictionaryLearner, Silent, Step};
use ssdl::knobs::Knobbed;
use ssdl::methods::{self, LcKsvd, SupGraphDl};
use ssdl::prelude::*;
use ssdl::{Labels, Matrix, Model, Real, Samples};

const PEERS: [&str; 6] = ["jdl", "ossdl", "lc-rlsdla", "ksvd", "lc-ksvd", "sup-graph-dl"];

/// A fit by name with small sizes, and its notices.
fn watched<T: Real>(
    name: &str,
    knobs: &[(&str, &str)],
    samples: Samples<T>,
) -> (Model<T>, Vec<String>) {
    let mut recorder = Recorder::default();
    let method = methods::find::<T>(name).unwrap();
    let model = fit_with(method, knobs, samples, &options(), &mut recorder).unwrap();
    (model, recorder.notices)
}

#[test]
fn the_objective_of_jdl_never_rises() {
    for (seed, discrimination) in [(1, "0"), (2, "2.5"), (3, "100")] {
        let (samples, _) = small_problem::<f64>(seed);
        let knobs = [("discrimination", discrimination), ("n_nonzero", "4"), ("tolerance", "0")];
        let (model, _) = watched("jdl", &knobs, samples);
        let totals: Vec<f64> =
            model.report().trace.iter().map(|row| row.objective.total()).collect();
        assert!(totals.len() > 12);
        for pair in totals.windows(2) {
            assert!(pair[1] <= pair[0] * (1.0 + 1e-9), "{totals:?}");
        }
    }
}

#[test]
fn the_coding_step_with_graphs_never_raises_the_objective() {
    let (samples, _) = small_problem::<f64>(4);
    for learn in ["false", "true"] {
        let knobs = [("n_nonzero", "4"), ("learn_features", learn), ("tolerance", "0")];
        let (model, _) = watched("sup-graph-dl", &knobs, samples.clone());
        let trace = &model.report().trace;
        for pair in trace.windows(2).filter(|pair| pair[1].step != Step::Dictionary) {
            let (before, after) = (pair[0].objective.total(), pair[1].objective.total());
            assert!(after <= before * (1.0 + 1e-9), "{}: {before} {after}", pair[1].step.name());
        }
    }
}

#[test]
fn codes_never_have_more_atoms_than_asked() {
    for name in PEERS {
        let (samples, _) = small_problem::<f32>(5);
        let (model, _) = watched(name, &[("n_nonzero", "3")], samples);
        let new = model.predict(noise(12, 20, 6)).unwrap().codes;
        for code in new.iter_columns().chain(model.codes().iter_columns()) {
            assert!(code.iter().filter(|a| **a != 0.0).count() <= 3, "{name}");
        }
    }
}

#[test]
fn knobs_that_the_samples_do_not_allow_are_cut_with_a_note() {
    for name in PEERS {
        // More atoms than samples, and more of them in a code than features.
        let (samples, _) = small_problem::<f64>(6);
        let (model, notes) = watched(name, &[("n_atoms", "500"), ("n_nonzero", "400")], samples);
        assert!(
            notes.iter().any(|note| note.contains("n_atoms cut from 500")),
            "{name}: {notes:?}"
        );
        assert!(notes.iter().any(|note| note.contains("n_nonzero cut from 400 to 12")), "{name}");
        assert!(model.atoms().unwrap().columns() <= 90);
        // Atoms that classes cannot share equally, fewer than classes, and a single one.
        for n_atoms in ["7", "2", "1"] {
            let (samples, _) = small_problem::<f64>(6);
            let (model, _) = watched(name, &[("n_atoms", n_atoms)], samples);
            assert_eq!(model.atoms().unwrap().columns().to_string(), n_atoms, "{name}");
        }
    }
}

#[test]
fn classes_with_one_label_and_samples_that_are_all_labelled_are_learnt() {
    for name in PEERS {
        let (features, truth) = clouds::<f64>(3, 12, 60, 7);
        for per_class in [1, 60] {
            let labels = label_first(&truth, 3, per_class);
            let few = if per_class == 1 { "3" } else { "12" };
            let samples = Samples::new(features.clone(), labels).unwrap();
            let (model, _) = watched(name, &[("n_atoms", few)], samples);
            let found = model.predict(features.clone()).unwrap().classes;
            let least = if per_class == 1 { 0.6 } else { 0.9 };
            assert!(agreement(&found, &truth) > least, "{name}, {per_class} labels per class");
        }
        // A class with a name and no label never wins by a score of zero.
        let assigned = truth.iter().map(|&class| (class < 2).then_some(class)).collect();
        let labels = Labels::new(class_names(3), assigned).unwrap();
        let (model, notes) = watched(name, &[], Samples::new(features.clone(), labels).unwrap());
        assert!(notes.iter().any(|note| note.contains("class 2")), "{name}: {notes:?}");
        let found = model.predict(features).unwrap().classes;
        assert!(found.iter().all(|&class| class < 2), "{name}");
    }
}

#[test]
fn knobs_out_of_range_are_refused_by_name() {
    for (name, knob, value) in [
        ("jdl", "n_nonzero", "0"),
        ("jdl", "unlabelled_weight", "-1"),
        ("ossdl", "batch_size", "0"),
        ("lc-rlsdla", "forgetting", "1.5"),
        ("lc-ksvd", "ridge", "0"),
        ("sup-graph-dl", "smoothness", "0"),
    ] {
        let method = methods::find::<f64>(name).unwrap();
        let error = method.check(&pairs(&[(knob, value)])).unwrap_err().to_string();
        assert!(error.contains(knob) && error.contains("allowed"), "{error}");
    }
}

#[test]
fn unlabelled_samples_change_nothing_in_supervised_peers() {
    let (features, truth) = clouds::<f64>(3, 12, 60, 8);
    let labels = label_first(&truth, 3, 6);
    let all = Samples::new(features.clone(), labels.clone()).unwrap();
    let known = labels.labelled();
    let few = Samples::new(features.select_columns(&known), labels.select(&known)).unwrap();
    let graphs = SupGraphDl::new().n_atoms(9).n_nonzero(4);
    let consistent = LcKsvd::new().n_atoms(9).n_nonzero(4);
    let (a, b) = (consistent.fit(all.clone()).unwrap(), consistent.fit(few.clone()).unwrap());
    assert_eq!(a.atoms(), b.atoms());
    let (a, b) = (graphs.fit(all).unwrap(), graphs.fit(few).unwrap());
    assert_eq!(a.atoms(), b.atoms());
}

#[test]
fn lc_ksvd_without_discrimination_fits_its_classifier_afterwards() {
    let (samples, truth) = small_problem::<f64>(9);
    let knobs = LcKsvd::new().n_atoms(12).n_nonzero(4);
    let second = knobs.fit(samples.clone()).unwrap();
    let first = knobs.discrimination(0.0).fit(samples.clone()).unwrap();
    assert_ne!(first.classifier(), second.classifier());
    assert_eq!(first.report().objective.term("discrimination"), 0.0);
    assert!(second.report().objective.term("discrimination") > 0.0);
    for model in [first, second] {
        let found = model.predict(samples.features().clone()).unwrap().classes;
        assert!(agreement(&found, &truth) > 0.85);
    }
    // Neither term: K-SVD alone, with a classifier on its codes.
    let plain = knobs.discrimination(0.0).consistency(0.0).fit(samples).unwrap();
    assert_eq!(plain.report().objective.term("consistency"), 0.0);
}

/// ‖X − DA‖² of a learner's atoms on its own samples.
fn left<T: Real>(learner: &DictionaryLearner, samples: &Matrix<T>) -> f64 {
    let learnt = learner.fit(samples, 3, &mut Silent).unwrap();
    assert_eq!(learnt.objective.term("sparsity"), 0.0);
    learnt.objective.term("reconstruction")
}

#[test]
fn atoms_without_labels_are_learnt_with_few_atoms_a_code() {
    let directions = noise::<f64>(15, 10, 1);
    let weights = Matrix::from_fn(10, 200, |k, j| {
        if (k + j) % 5 == 0 { 1.0 + ((k * j) % 7) as f64 * 0.2 } else { 0.0 }
    });
    let samples = Matrix::of_product(directions.view(), weights.view());
    let mut start = DictionaryLearner::new().n_atoms(12).n_nonzero(2).tolerance(0.0);
    start.max_iterations = 1;
    for update in ["block", "ksvd", "exact-ksvd"] {
        let mut learner = start;
        learner.set("update", update).unwrap();
        let first = left(&learner, &samples);
        learner.max_iterations = 25;
        let last = left(&learner, &samples);
        assert!(last < 0.7 * first, "{update}: {first} only falls to {last}");
    }
}

#[test]
fn knobs_of_a_learner_that_exclude_each_other_are_refused() {
    let samples = noise::<f64>(4, 20, 1);
    let refused = |knobs: &[(&str, &str)], word: &str| {
        let learner = DictionaryLearner::from_pairs(&pairs(knobs)).unwrap();
        let error = learner.fit(&samples, 0, &mut Silent).unwrap_err().to_string();
        assert!(error.contains(word), "{error}");
    };
    refused(&[("update", "ksvd")], "n_nonzero");
    refused(&[("n_nonzero", "2"), ("nonnegative_codes", "true")], "nonnegative_codes");
    let ksvd = [("update", "ksvd"), ("n_nonzero", "2")];
    refused(&[ksvd[0], ksvd[1], ("nonnegative_atoms", "true")], "nonnegative_atoms");
    refused(&[ksvd[0], ksvd[1], ("atom_norm", "2")], "atom_norm");
    let learner = DictionaryLearner::from_pairs(&pairs(&ksvd)).unwrap();
    let error = learner.learn_more(None, &samples, 0, &mut Silent).unwrap_err().to_string();
    assert!(error.contains("stream"), "{error}");
}
