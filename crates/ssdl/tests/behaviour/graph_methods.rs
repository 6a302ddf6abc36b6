//! Methods with every graph: fitted, saved, cut to size, denoised, and against the stages alone.

use crate::common::{
    Recorder, agreement, apart, assert_distributions, clouds, fit, fit_with, has, label_first,
    noise, options, small_problem,
};
use ssdl::classifier::svm::{self, Loss};
use ssdl::fit::{Silent, Step};
use ssdl::graph::GraphChoice;
use ssdl::graph::Rule;
use ssdl::knobs::Grid;
use ssdl::methods::{GraphSc, LinearSvm, Method};
use ssdl::prelude::*;
use ssdl::{Labels, Matrix, Model, Real, Samples};

fn every_graph<T: Real>(method: &dyn Method<T>) {
    // Only methods with a graph can choose one.
    if !has(method, "graph") {
        return;
    }
    let (new, truth) = clouds::<T>(3, 12, 60, 1);
    for graph in GraphChoice::WORDS {
        for coder in ["coordinate", "fista", "batches"] {
            let (samples, _) = small_problem::<T>(1);
            let knobs = [("graph", *graph), ("coder", coder), ("tolerance", "0")];
            let model = fit(method, &knobs, samples).unwrap();
            let what = format!("{}, {graph}, {coder}, {}", model.method(), T::NAME);
            let slack = if T::NAME == "f64" { 1e-9 } else { 1e-4 };
            for pair in model.report().trace.windows(2) {
                let (before, after) = (pair[0].objective.total(), pair[1].objective.total());
                assert!(after <= before * (1.0 + slack), "{what}: {before} rises to {after}");
            }
            assert!(model.report().objective.term("manifold") > 0.0, "{what}");
            let prediction = model.predict(new.clone()).unwrap();
            assert_distributions(&prediction.probabilities);
            assert!(agreement(&prediction.classes, &truth) >= 0.9, "{what}: it learns something");
        }
    }
}

#[test]
fn the_objective_never_rises_on_any_graph_and_something_is_learnt() {
    for_every_method!(every_graph);
}

fn one_minimum<T: Real>(method: &dyn Method<T>) {
    if !has(method, "graph") {
        return;
    }
    for graph in GraphChoice::WORDS {
        let end = |coder: &str| {
            let (samples, _) = small_problem::<T>(2);
            let knobs = [
                ("graph", *graph),
                ("coder", coder),
                ("max_iterations", "20"),
                ("tolerance", "0"),
                ("normalise_trace", "true"),
            ];
            fit(method, &knobs, samples).unwrap().report().objective.total()
        };
        let ends = ["coordinate", "fista", "batches"].map(end);
        let least = ends.iter().copied().fold(f64::MAX, f64::min);
        let what = format!("{}, {graph}: {ends:?}", method.describe().name);
        assert!(ends.iter().all(|value| *value <= 1.02 * least), "{what}");
    }
}

#[test]
fn all_coders_end_within_two_per_cent_on_every_graph() {
    ssdl::methods::all::<f64>().into_iter().for_each(one_minimum);
}

fn unusual_graphs<T: Real>(method: &dyn Method<T>) {
    if !has(method, "graph") {
        return;
    }
    let cases: &[&[(&str, &str)]] = &[
        &[("graph", "heat"), ("n_neighbors", "500")],
        &[("graph", "heat"), ("width", "1e-3x"), ("normalise_trace", "true")],
        &[("graph", "heat"), ("width", "1e-3x"), ("normalise_trace", "false")],
        &[("graph", "heat"), ("width", "1e9")],
        &[("graph", "threshold"), ("percentile", "0.999")],
        &[("graph", "threshold"), ("percentile", "1e-9")],
        &[("graph", "learnt"), ("smoothness", "1e-6")],
        &[("graph", "learnt"), ("smoothness", "1e6")],
        &[("graph", "learnt"), ("denoise", "1"), ("manifold", "1000")],
        &[("graph", "lle"), ("denoise", "3"), ("halve_new", "false")],
        &[("denoise", "2"), ("manifold", "0")],
    ];
    for case in cases {
        let (samples, _) = small_problem::<T>(3);
        let mut knobs = case.to_vec();
        knobs.push(("max_iterations", "3"));
        let model = fit(method, &knobs, samples).unwrap();
        let what = format!("{case:?}, {}, {}", model.method(), T::NAME);
        assert!(model.report().objective.total().is_finite(), "{what}");
        assert!(model.codes().as_slice().iter().all(|a| a.is_finite()), "{what}");
        let mut new = noise::<T>(12, 5, 77);
        for (j, factor) in [1.0, 0.0, 1e8, 1e-8, 1e-30].into_iter().enumerate() {
            new.column_mut(j).iter_mut().for_each(|x| *x *= T::of(factor));
        }
        assert_distributions(&model.predict(new).unwrap().probabilities);
    }
}

#[test]
fn unusual_knobs_of_graphs_give_sound_models() {
    for_every_method!(unusual_graphs);
}

#[test]
fn neighbours_are_cut_to_the_samples_on_graphs_that_count_them() {
    for choice in [GraphChoice::Lle, GraphChoice::Heat] {
        let (features, truth) = clouds::<f64>(2, 6, 14, 7);
        let samples = Samples::new(features, label_first(&truth, 2, 3)).unwrap();
        let mut recorder = Recorder::default();
        let knobs = GraphSc::new().n_atoms(8).graph(choice).n_neighbors(14).max_iterations(2);
        let model = knobs.fit_with(samples, &options(), &mut recorder).unwrap();
        let noticed = recorder.notices.iter().any(|n| n.contains("n_neighbors cut from 14 to 13"));
        assert!(noticed, "{choice:?}: {:?}", recorder.notices);
        assert!(model.knobs().contains(&("n_neighbors".into(), "13".into())));
    }
}

#[test]
fn the_denoised_graph_is_between_reconstructions() {
    let fit = |denoise: usize| {
        let (samples, _) = small_problem::<f64>(4);
        let knobs = GraphSc::new().n_atoms(18).n_neighbors(5).denoise(denoise).tolerance(0.0);
        let knobs = knobs.graph(GraphChoice::Heat).max_iterations(3);
        let mut recorder = Recorder::default();
        (knobs.fit_with(samples, &options(), &mut recorder).unwrap(), recorder.steps)
    };
    let ((plain, steps), (denoised, more)) = (fit(0), fit(4));
    assert!(!plain.out_of_sample().denoise && denoised.out_of_sample().denoise);
    // Start and four iterations of codes and atoms come before the graph is built.
    assert_eq!(more, steps + 1 + 4 * 2);
    assert_eq!(denoised.report().trace[0].step, Step::Start);
    assert_ne!(plain.codes(), denoised.codes());
    // Reconstructions lie closer together than samples: their noise is gone.
    let width = |model: &Model<f64>| match model.attachment().unwrap().rule {
        Rule::Heat { width, .. } => width,
        other => panic!("{other:?}"),
    };
    assert!(width(&denoised) < width(&plain));
    let (new, truth) = clouds::<f64>(3, 12, 60, 4);
    let prediction = denoised.predict(new).unwrap();
    assert_distributions(&prediction.probabilities);
    assert!(agreement(&prediction.classes, &truth) >= 0.9);
    // A graph that has no weight is not worth preparing for.
    let (samples, _) = small_problem::<f64>(4);
    let free = GraphSc::new().n_atoms(18).denoise(4).manifold(0.0).max_iterations(3);
    let free = free.fit_with(samples, &options(), &mut Silent).unwrap();
    assert!(!free.out_of_sample().denoise && free.attachment().is_none());
}

#[test]
fn too_few_samples_are_filled_up_with_mixtures() {
    let (features, truth) = clouds::<f64>(2, 10, 16, 8);
    let samples = Samples::new(features.clone(), label_first(&truth, 2, 16)).unwrap();
    let mut recorder = Recorder::default();
    let knobs = GraphSc::new().n_atoms(40).n_neighbors(3).max_iterations(3);
    let model = knobs.fit_with(samples, &options(), &mut recorder).unwrap();
    let atoms = model.atoms().unwrap();
    assert_eq!((atoms.columns(), model.codes().rows()), (40, 40));
    assert!(recorder.notices.iter().all(|n| !n.contains("atoms")), "{:?}", recorder.notices);
    for atom in atoms.iter_columns() {
        assert!(ssdl::matrix::squared_norm(atom) <= 1.0 + 1e-12);
    }
    assert!(agreement(&model.predict(features).unwrap().classes, &truth) >= 0.9);
}

/// The labelled columns and their classes.
fn labelled<T: Real>(features: &Matrix<T>, labels: &Labels) -> (Matrix<T>, Vec<usize>) {
    let known: Vec<usize> = (0..labels.len()).filter(|&j| labels.assigned()[j].is_some()).collect();
    let classes = labels.assigned().iter().flatten().copied().collect();
    (features.select_columns(&known), classes)
}

fn svm_in<T: Real>() {
    for loss in [Loss::Hinge, Loss::SquaredHinge] {
        let (samples, _) = small_problem::<T>(5);
        let knobs = LinearSvm::new().loss(loss).folds(3);
        let model = knobs.fit_with(samples.clone(), &options(), &mut Silent).unwrap();
        assert!(model.atoms().is_none() && model.attachment().is_none());
        let (known, classes) = labelled(model.codes(), samples.labels());
        let trainer = svm::SvmTrainer { loss, ..svm::SvmTrainer::default() };
        let chosen = trainer.choose_box(&known, &classes, 3, &[0.1, 1.0, 10.0], 3).unwrap();
        let trained = trainer.fit(&known, &classes, 3, chosen.box_constraint).unwrap();
        assert_eq!(model.classifier(), Some(&trained.classifier), "{loss:?}, {}", T::NAME);
        let total: f64 = trained.objective.iter().sum();
        let reported = model.report().objective.total();
        assert!((reported - total).abs() <= 1e-5 * total, "{reported} is not {total}");
        // The codes are the prepared samples.
        let prepared = model.preparation().apply(samples.features().clone()).unwrap();
        assert_eq!(model.codes(), &prepared);
        assert_eq!(model.predict(samples.features().clone()).unwrap().codes, prepared);
    }
}

#[test]
fn the_linear_svm_is_the_classifier_on_prepared_samples() {
    svm_in::<f64>();
    svm_in::<f32>();
}

#[test]
fn graph_sc_ends_with_the_svm_on_its_codes() {
    let (samples, _) = small_problem::<f64>(6);
    let knobs = GraphSc::new().n_atoms(18).n_neighbors(5).max_iterations(3).folds(4);
    let model = knobs.fit_with(samples.clone(), &options(), &mut Silent).unwrap();
    let (known, classes) = labelled(model.codes(), samples.labels());
    let trainer = svm::SvmTrainer::default();
    let chosen = trainer.choose_box(&known, &classes, 3, &[0.1, 1.0, 10.0], 4).unwrap();
    let trained = trainer.fit(&known, &classes, 3, chosen.box_constraint).unwrap();
    assert_eq!(model.classifier(), Some(&trained.classifier));
    // Labels are not used for atoms and codes, except to choose the first atoms.
    let terms = &model.report().objective;
    assert_eq!((terms.term("discrimination"), terms.term("ridge")), (0.0, 0.0));
}

fn few_for_folds<T: Real>(method: &dyn Method<T>) {
    // Only methods that end in an SVM have folds.
    if !has(method, "folds") {
        return;
    }
    let notices = |per_class: usize, knobs: &[(&str, &str)]| {
        let (features, truth) = clouds::<T>(3, 12, 60, 9);
        let samples = Samples::new(features, label_first(&truth, 3, per_class)).unwrap();
        let mut recorder = Recorder::default();
        fit_with(method, knobs, samples, &options(), &mut recorder).unwrap();
        recorder.notices
    };
    let noticed = |notices: &[String], text: &str| notices.iter().any(|n| n.contains(text));
    let three = notices(3, &[]);
    assert!(noticed(&three, "folds cut from 5 to 3"), "{three:?}");
    let one = notices(1, &[]);
    assert!(noticed(&one, "box constraint 1 is used without cross-validation"), "{one:?}");
    let single = notices(1, &[("box_constraints", "2")]);
    assert!(
        !noticed(&single, "box") && !noticed(&single, "folds"),
        "nothing to choose: {single:?}"
    );
    let enough = notices(5, &[]);
    assert!(!noticed(&enough, "folds"), "{enough:?}");
}

#[test]
fn folds_are_cut_to_the_smallest_class_with_a_notice() {
    for_every_method!(few_for_folds);
}

#[test]
fn the_order_of_a_grid_does_not_matter() {
    let fit = |boxes: &[f64]| {
        let (samples, _) = small_problem::<f64>(7);
        let knobs = LinearSvm::new().box_constraints(Grid::new(boxes).unwrap());
        knobs.fit_with(samples, &options(), &mut Silent).unwrap()
    };
    let (a, b) = (fit(&[10.0, 0.1, 1.0]), fit(&[0.1, 1.0, 10.0, 1.0]));
    assert!(
        apart(
            a.classifier().unwrap().weights.as_slice(),
            b.classifier().unwrap().weights.as_slice()
        ) == 0.0
    );
    assert_eq!(a.knobs(), b.knobs());
}
