//! Methods whose atoms belong to classes, and their controls: falling objectives, unpleasant labels, and
//! random small tables with random knobs, over every method of the register.

use crate::common::{
    Recorder, agreement, assert_distributions, class_names, clouds, fit, fit_with, fixed_cases,
    has, label_first, noise, options, small_problem,
};
use proptest::prelude::*;
use ssdl::fit::{Silent, Step};
use ssdl::knobs::Allowed;
use ssdl::methods::{self, Method};
use ssdl::{Error, Labels, Matrix, Model, Real, Samples};

const NAMES: [&str; 7] = ["s2d2", "ssd-lp", "ssr-d", "ssp-dl", "pssdl", "src", "src-by-class"];

fn find<T: Real>(name: &str) -> &'static dyn Method<T> {
    methods::find(name).unwrap()
}

/// Steps that minimise the objective itself; the others bound it from above, or spread labels.
fn falls(name: &str, iteration: usize, step: Step) -> bool {
    match name {
        "ssd-lp" => step != Step::Membership,
        // Scales follow the codes once, in the first iteration.
        "pssdl" => iteration > 1 || step != Step::Codes,
        // The bound of rows that vanish is smoothed, less from iteration to iteration.
        "ssr-d" => step == Step::Dictionary,
        _ => true,
    }
}

#[test]
fn every_step_lowers_what_it_minimises() {
    for name in ["s2d2", "ssd-lp", "ssp-dl", "pssdl", "ssr-d"] {
        for seed in [1, 2, 3] {
            let (samples, _) = small_problem::<f64>(seed);
            let knobs = [("tolerance", "0"), ("atoms_per_class", "6")];
            let model = fit(find(name), &knobs, samples).unwrap();
            let trace = &model.report().trace;
            assert!(trace.len() > 6, "{name}");
            for pair in trace.windows(2) {
                let (before, after) = (pair[0].objective.total(), pair[1].objective.total());
                let (iteration, step) = (pair[1].iteration, pair[1].step);
                if falls(name, iteration, step) {
                    let slack = 1e-4 * before.abs();
                    assert!(
                        after <= before + slack,
                        "{name}, seed {seed}, {iteration} {}: {before} {after}",
                        step.name()
                    );
                }
            }
            let (first, last) = (&trace[0], &trace[trace.len() - 1]);
            if name != "pssdl" {
                assert!(last.objective.total() < first.objective.total(), "{name}");
            }
        }
    }
}

#[test]
fn unlabelled_samples_help_or_at_least_do_no_harm() {
    for name in ["s2d2", "ssd-lp", "ssp-dl", "ssr-d", "pssdl"] {
        let (features, truth) = clouds::<f64>(3, 12, 150, 21);
        let samples = Samples::new(features, label_first(&truth, 3, 3)).unwrap();
        let model = fit(find(name), &[], samples).unwrap();
        let (new, truth) = clouds::<f64>(3, 12, 90, 21);
        let found = model.predict(new).unwrap().classes;
        assert!(agreement(&found, &truth) >= 0.9, "{name}: {}", agreement(&found, &truth));
    }
}

#[track_caller]
fn assert_sound<T: Real>(model: &Model<T>, n: usize, what: &str) {
    let finite = |m: &Matrix<T>| m.as_slice().iter().all(|v| v.is_finite());
    assert!(model.atoms().is_none_or(finite) && finite(model.codes()), "{what}: atoms or codes");
    assert!(model.report().objective.total().is_finite(), "{what}: objective");
    let own = model.transduction();
    assert!(finite(&own.scores), "{what}: scores");
    assert_distributions(&own.probabilities);
    let new = model.predict(noise(n, 7, 5)).unwrap();
    assert!(finite(&new.scores) && finite(&new.codes), "{what}: new samples");
    assert_distributions(&new.probabilities);
}

/// Labels of every unpleasant kind on the same samples.
fn unpleasant() -> Vec<(&'static str, Vec<Option<usize>>, usize)> {
    let n = 24;
    let mut one_open: Vec<Option<usize>> = (0..n).map(|j| Some(j % 3)).collect();
    one_open[5] = None;
    let few = (0..n).map(|j| (j < 3).then_some(j)).collect();
    let lonely = (0..n).map(|j| if j == 2 { Some(2) } else { (j < 12).then_some(j % 2) }).collect();
    let absent = (0..n).map(|j| (j < 12).then_some(j % 2)).collect();
    vec![
        ("one unlabelled sample", one_open, 3),
        ("all labelled", (0..n).map(|j| Some(j % 3)).collect(), 3),
        ("one label a class", few, 3),
        ("a class of one sample", lonely, 3),
        ("a class without labels", absent, 3),
    ]
}

fn survives_labels<T: Real>() {
    for name in NAMES {
        for (what, assigned, n_classes) in unpleasant() {
            let what = format!("{name} in {}: {what}", T::NAME);
            let (mut features, _) = clouds::<T>(3, 6, 24, 8);
            // Twins with other labels.
            let twin = features.column(0).to_vec();
            features.column_mut(1).copy_from_slice(&twin);
            let labels = Labels::new(class_names(n_classes), assigned).unwrap();
            let samples = Samples::new(features, labels).unwrap();
            // More atoms than any class has samples.
            let knobs = [("atoms_per_class", "40"), ("n_atoms", "40")];
            let mut recorder = Recorder::default();
            let model =
                fit_with(find(name), &knobs, samples, &options::<T>(), &mut recorder).unwrap();
            assert_sound(&model, 6, &what);
            if has(find::<T>(name), "atoms_per_class") || has(find::<T>(name), "n_atoms") {
                assert!(!recorder.notices.is_empty(), "{what}: a cut is reported");
            }
            if what.ends_with("without labels") {
                let found = model.transduction().classes;
                assert!(found.iter().all(|&class| class < 2), "{what}: nothing speaks for it");
            }
        }
    }
}

#[test]
fn few_all_or_no_labels_of_a_class_and_twins_give_sound_models() {
    survives_labels::<f64>();
    survives_labels::<f32>();
}

#[test]
fn samples_that_others_cannot_express_are_reported_or_refused_with_the_knob_to_change() {
    for (name, graph) in [("ssp-dl", ""), ("ssd-lp", "spread_graph"), ("ssdl-ga", "graph")] {
        let (samples, _) = small_problem::<f64>(2);
        let knobs = [("self_sparsity", "1e6"), (graph, "expressive")];
        let mut recorder = Recorder::default();
        match fit_with(find(name), &knobs, samples, &options::<f64>(), &mut recorder) {
            Ok(model) => {
                assert_sound(&model, 12, name);
                let told = recorder.notices.iter().any(|notice| notice.contains("self_sparsity"));
                assert!(told && name != "ssdl-ga", "{name}: {:?}", recorder.notices);
            }
            Err(error) => {
                assert!(matches!(error, Error::Graph(_)) && name == "ssdl-ga", "{name}: {error}");
                assert!(error.to_string().contains("self_sparsity"), "{error}");
            }
        }
    }
}

#[test]
fn scales_that_follow_the_codes_without_end_stay_within_bounds() {
    for updates in ["0", "1", "50"] {
        let (samples, _) = small_problem::<f32>(3);
        let knobs = [("scale_updates", updates), ("max_iterations", "50"), ("tolerance", "0")];
        let model = fit(find("pssdl"), &knobs, samples).unwrap();
        assert_sound(&model, 12, "pssdl");
    }
}

#[test]
fn a_graph_of_self_representation_serves_every_method_with_a_graph() {
    for name in ["ssdl-ga", "graph-sc", "ssd-lp"] {
        let (samples, truth) = small_problem::<f64>(4);
        let knobs = [("graph", "expressive"), ("spread_graph", "expressive")];
        let model = fit(find(name), &knobs, samples).unwrap();
        assert!(agreement(&model.transduction().classes, &truth) > 0.9, "{name}");
        let again = Model::<f64>::from_bytes(&model.to_bytes().unwrap()).unwrap();
        let new = noise(12, 5, 6);
        let (a, b) = (model.predict(new.clone()).unwrap(), again.predict(new).unwrap());
        assert_eq!((a.scores, a.codes), (b.scores, b.codes), "{name}");
    }
}

#[test]
fn votes_of_atoms_sum_to_the_scores_where_codes_have_a_cost() {
    let (samples, _) = small_problem::<f64>(5);
    let model = fit(find("src-by-class"), &[], samples).unwrap();
    let seen = model.see(noise(12, 4, 9)).unwrap();
    let prediction = model.judge(&seen).unwrap();
    for explained in model.explain_seen(&seen, &prediction, &[0, 1, 2, 3]).unwrap() {
        let mut sums = [0.0; 3];
        for part in &explained.parts {
            sums.iter_mut().zip(&part.votes).for_each(|(sum, vote)| *sum += *vote);
        }
        for (sum, score) in sums.iter().zip(&explained.scores) {
            assert!((sum - score).abs() < 1e-8 * (1.0 + score.abs()), "{sum} {score}");
        }
    }
}

/// A value of each kind of knob, from a number between 0 and 1.
fn value_of(allowed: Allowed, draw: f64) -> Option<String> {
    let wide = [0.0, 1e-6, 0.03, 0.4, 3.0, 50.0, 1e4][(draw * 6.99) as usize];
    Some(match allowed {
        Allowed::WholeFrom(least) | Allowed::AutoOrFrom(least) => {
            (least + [0, 1, 2, 5, 30][(draw * 4.99) as usize]).to_string()
        }
        Allowed::From(least) => (least + wide).to_string(),
        Allowed::Above(least) => (least + wide.max(1e-6)).to_string(),
        Allowed::Between(low, high) => (low + (high - low) * (0.001 + 0.998 * draw)).to_string(),
        Allowed::OneOf(words) => words[(draw * (words.len() as f64 - 0.01)) as usize].to_owned(),
        Allowed::Switch => (draw < 0.5).to_string(),
        _ => return None,
    })
}

proptest! {
    #![proptest_config(fixed_cases(300))]

    #[test]
    fn random_tables_and_knobs_give_sound_models_or_a_reason(
        pick in 0usize..1000,
        (n, count, n_classes) in (1usize..6, 4usize..16, 2usize..4),
        seed in 0u64..1000,
        draws in prop::collection::vec(0.0f64..1.0, 40),
        scale in prop_oneof![Just(1.0), Just(1e-4), Just(1e4)],
    ) {
        let all = methods::all::<f64>();
        let method = all[pick % all.len()];
        let mut features = noise::<f64>(n, count, seed);
        features.as_mut_slice().iter_mut().for_each(|x| *x *= scale);
        // Zero samples and twins.
        features.column_mut(count - 1).fill(0.0);
        let twin = features.column(0).to_vec();
        features.column_mut(1).copy_from_slice(&twin);
        let assigned: Vec<Option<usize>> = (0..count)
            .map(|j| (j < 2 || draws[j] < 0.4).then_some(if j < 2 { j } else { j % n_classes }))
            .collect();
        let labels = Labels::new(class_names(n_classes), assigned).unwrap();
        let samples = Samples::new(features, labels).unwrap();
        let mut knobs: Vec<(String, String)> = method
            .knobs()
            .iter()
            .zip(draws.iter().cycle().skip(16))
            .filter(|(_, draw)| (**draw * 1e3).fract() < 0.6)
            .filter_map(|(knob, draw)| {
                value_of(knob.allowed, *draw).map(|value| (knob.name.to_owned(), value))
            })
            .collect();
        knobs.retain(|(name, _)| name != "max_iterations");
        let prepare = if draws[15] < 0.5 { options::<f64>().prepare } else { Vec::new() };
        let options = ssdl::methods::FitOptions { prepare, ..options() };
        let name = method.describe().name;
        match method.fit(&knobs, samples, &options, &mut Silent) {
            Ok(model) => assert_sound(&model, n, &format!("{name} {knobs:?}")),
            Err(error) => prop_assert!(!error.to_string().contains("NaN"), "{name}: {error}"),
        }
    }
}
