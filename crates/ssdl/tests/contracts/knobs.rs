//! Contracts of the way in: knobs by name, watching and cancelling a fit, the limit on memory.

use crate::common::{
    Recorder, assert_distributions, clouds, fit_with, has, options, pairs, rows_of_the_loop, small,
    small_problem, steps_of_iteration,
};
use ssdl::fit::{Silent, Stop};
use ssdl::graph::{GraphChoice, GraphKnobs};
use ssdl::knobs::Allowed;
use ssdl::knobs::Grid;
use ssdl::methods::{self, FitOptions, GraphSc, LinearSvm, Method, SsdlGa};
use ssdl::prelude::*;
use ssdl::{Error, Real};

/// Values that a knob of this kind must refuse.
fn outside(allowed: Allowed) -> Vec<String> {
    let mut bad = vec![String::new(), " ".to_owned(), "nonsense".to_owned(), "NaN".to_owned()];
    match allowed {
        Allowed::WholeFrom(least) | Allowed::AutoOrFrom(least) => {
            bad.extend(
                ["-1", "1.5", "1e3", "2000000000", "99999999999999999999"].map(str::to_owned),
            );
            bad.extend(least.checked_sub(1).map(|below| below.to_string()));
        }
        Allowed::AutoOrNumber(least) => {
            bad.extend(["inf".into(), "AUTO".into(), (least - 1e-9).to_string()]);
        }
        Allowed::AutoOrAbove(bound) => {
            bad.extend(["inf".into(), "AUTO".into(), bound.to_string(), "-3".into()]);
        }
        Allowed::Within(low, high) => {
            bad.extend([(low - 1e-9).to_string(), (high + 1e-9).to_string(), "inf".into()]);
        }
        Allowed::WordOrSeveral(words) => {
            bad.extend([",", "1,", "1;2", "inf,1", "0,1", "-1,1"].map(str::to_owned));
            bad.push(words[0].to_uppercase());
        }
        Allowed::From(least) => {
            bad.extend(["inf".into(), "-inf".into(), "1e999".into(), (least - 1e-9).to_string()]);
        }
        Allowed::Above(bound) => bad.extend(["inf".into(), bound.to_string(), "-3".into()]),
        Allowed::SeveralAbove(bound) => {
            bad.extend(
                [",", "1,", "1,,2", "1;2", "1,two", "inf", "1,NaN", "-1,1"].map(str::to_owned),
            );
            bad.extend([bound.to_string(), format!("1,{bound}")]);
            bad.push((1..=17).map(|v| v.to_string()).collect::<Vec<_>>().join(","));
        }
        Allowed::Between(low, high) => {
            bad.extend([low, high, low - 0.1, high + 0.1].map(|v| v.to_string()));
            bad.extend(["inf".into(), "-inf".into()]);
        }
        Allowed::Switch => bad.extend(["yes".into(), "1".into(), "True".into()]),
        Allowed::OneOf(words) => bad.push(words[0].to_uppercase()),
        other => panic!("a new kind of knob needs bad values here: {other}"),
    }
    bad
}

/// The same numbers, in any order.
fn same_numbers(a: &str, b: &str) -> bool {
    let read = |text: &str| -> Option<Vec<f64>> {
        let numbers: Option<Vec<f64>> = text.split(',').map(|v| v.parse().ok()).collect();
        let mut numbers = numbers?;
        numbers.sort_by(f64::total_cmp);
        Some(numbers)
    };
    // As bits: a NaN is the same as itself here.
    let bits = |text| read(text).map(|v| v.into_iter().map(f64::to_bits).collect::<Vec<_>>());
    bits(a).is_some() && bits(a) == bits(b)
}

#[test]
fn values_out_of_range_are_refused_by_name_with_the_range() {
    for method in methods::all::<f64>() {
        for knob in method.knobs() {
            for text in outside(knob.allowed) {
                match method.check(&pairs(&[(knob.name, &text)])) {
                    Err(Error::Knob { name, got, allowed }) => {
                        assert_eq!((name.as_str(), allowed), (knob.name, knob.allowed.to_string()));
                        let shown = if text.trim().is_empty() { "empty" } else { &text };
                        // A number may be shown as it was understood.
                        let same = same_numbers(&text, &got);
                        assert!(got == shown || same || got == "NaN", "{got} for `{text}`");
                    }
                    other => panic!("{} = `{text}`: {other:?}", knob.name),
                }
            }
        }
    }
}

#[test]
fn defaults_and_published_settings_are_within_range() {
    for method in methods::all::<f64>() {
        for knob in method.knobs() {
            method.check(&pairs(&[(knob.name, &knob.default)])).unwrap();
            assert!(!knob.sentence.is_empty(), "{}", knob.name);
        }
        for (data, settings) in method.describe().published {
            assert!(method.check(&pairs(settings)).is_ok(), "{data}");
        }
    }
}

#[test]
fn letters_of_the_paper_and_dashes_name_the_same_knobs() {
    let names = [
        ("λ", "lambda", "sparsity", "0.25"),
        ("β", "beta", "manifold", "0.25"),
        ("γ", "gamma", "discrimination", "0.25"),
        ("μ", "mu", "ridge", "0.25"),
        ("α", "alpha", "atom-norm", "0.25"),
        ("k", "n-neighbors", "n_neighbors", "3"),
        ("p", "n-atoms", "n_atoms", "3"),
        ("r", "r", "sharpness", "2.5"),
        ("σ", "sigma", "width", "0.25x"),
        ("ζ", "zeta", "percentile", "0.25"),
        ("β_L", "beta_l", "smoothness", "0.25"),
    ];
    for (letter, spelt, word, value) in names {
        let set = |name: &str| {
            let mut knobs = SsdlGa::new();
            knobs.set(name, value).unwrap();
            knobs
        };
        assert_ne!(set(letter), SsdlGa::new(), "{letter}");
        assert_eq!(set(letter), set(word));
        assert_eq!(set(spelt), set(word));
    }
    let mut knobs = SsdlGa::new();
    for wrong in ["", "Λ", "sparse", "Sparsity", "kk"] {
        let error = knobs.set(wrong, "1").unwrap_err();
        assert!(matches!(&error, Error::Unknown { what: "knob", .. }), "{error}");
        assert!(error.to_string().contains("sparsity, manifold"), "{error}");
    }
    assert_eq!(knobs, SsdlGa::new());
}

#[test]
fn values_written_out_read_back_the_same() {
    let mut knobs = SsdlGa::new().sparsity(0.1 + 0.2).n_atoms(7).revive(false);
    knobs.set("coder", "batches").unwrap();
    let mut again = SsdlGa::new();
    for (name, value) in knobs.values() {
        again.set(name, &value).unwrap();
    }
    assert_eq!(again, knobs);
    let boxes = Grid::new(&[3.0, 0.1 + 0.2, 3.0]).unwrap();
    assert_eq!(boxes.values(), [0.1 + 0.2, 3.0]);
    let knobs = GraphSc::new().box_constraints(boxes).graph(GraphChoice::Learnt).denoise(3);
    let mut again = GraphSc::new();
    for (name, value) in knobs.values() {
        again.set(name, &value).unwrap();
    }
    assert_eq!(again, knobs);
}

#[test]
fn invalid_widths_are_refused() {
    for text in ["0", "-1", "0x", "-1x", "abc", "x", "NaN", "NaNx", "inf", "infx", "1e999", "1 x x"]
    {
        for method in methods::all::<f64>().into_iter().filter(|method| has(*method, "width")) {
            let error = method.check(&pairs(&[("width", text)])).unwrap_err();
            assert!(matches!(&error, Error::Knob { name, .. } if name == "width"), "{error}");
        }
        let error = GraphKnobs::new().set("sigma", text).unwrap_err();
        assert!(matches!(&error, Error::Knob { name, .. } if name == "width"), "{error}");
    }
    for text in ["0.5x", " 2 x", "1e-300", "30"] {
        GraphKnobs::new().set("width", text).unwrap();
    }
}

#[test]
fn a_method_without_a_graph_has_no_knobs_for_one() {
    let names = ["manifold", "beta", "β", "n_neighbors", "k", "n-neighbors", "graph", "width", "σ"];
    let more = ["percentile", "smoothness", "normalise_trace", "halve_new", "denoise"];
    // A graph of self-representation has no number of neighbours.
    let without =
        |method: &dyn Method<f64>| !has(method, "n_neighbors") && !has(method, "self_sparsity");
    for method in methods::all::<f64>().into_iter().filter(|m| without(*m)) {
        for name in names.into_iter().chain(more) {
            let error = method.check(&pairs(&[(name, "1")])).unwrap_err();
            assert!(matches!(error, Error::Unknown { .. }), "{name}: {error}");
        }
    }
}

#[test]
fn knobs_set_in_code_are_checked_before_the_fit() {
    let cases = [
        ("sparsity", SsdlGa::new().sparsity(-0.1)),
        ("manifold", SsdlGa::new().manifold(f64::NAN)),
        ("discrimination", SsdlGa::new().discrimination(f64::INFINITY)),
        ("ridge", SsdlGa::new().ridge(0.0)),
        ("sharpness", SsdlGa::new().sharpness(0.99)),
        ("atom_norm", SsdlGa::new().atom_norm(0.0)),
        ("n_atoms", SsdlGa::new().n_atoms(0)),
        ("n_atoms", SsdlGa::new().n_atoms(usize::MAX)),
        ("n_neighbors", SsdlGa::new().n_neighbors(0)),
        ("max_iterations", SsdlGa::new().max_iterations(0)),
        ("batch_size", SsdlGa::new().batch_size(0)),
        ("tolerance", SsdlGa::new().tolerance(-1.0)),
        ("coder_tolerance", SsdlGa::new().coder_tolerance(-1.0)),
    ];
    for (expected, knobs) in cases {
        let (samples, _) = small_problem::<f64>(1);
        match knobs.fit(samples) {
            Err(Error::Knob { name, .. }) => assert_eq!(name, expected),
            other => panic!("{expected}: {:?}", other.map(|model| model.report().stop)),
        }
    }
}

#[test]
fn knobs_of_graphs_and_svm_set_in_code_are_checked_before_the_fit() {
    use ssdl::graph::Width;
    let negative = Grid::new(&[1.0, -1.0]).unwrap();
    assert_eq!(Grid::new(&[]), None, "a grid is never empty");
    let cases = [
        ("manifold", GraphSc::new().manifold(-1.0)),
        ("width", GraphSc::new().width(Width::Absolute(0.0))),
        ("width", GraphSc::new().width(Width::Relative(f64::NAN))),
        ("percentile", GraphSc::new().percentile(0.0)),
        ("percentile", GraphSc::new().percentile(1.0)),
        ("smoothness", GraphSc::new().smoothness(0.0)),
        ("box_constraints", GraphSc::new().box_constraints(negative)),
        ("folds", GraphSc::new().folds(1)),
    ];
    for (expected, knobs) in cases {
        let (samples, _) = small_problem::<f64>(1);
        match knobs.fit_with(samples, &options(), &mut Silent) {
            Err(Error::Knob { name, .. }) => assert_eq!(name, expected),
            other => panic!("{expected}: {:?}", other.map(|model| model.report().stop)),
        }
    }
    let cases = [
        ("box_constraints", LinearSvm::new().box_constraints(negative)),
        ("folds", LinearSvm::new().folds(0)),
        ("tolerance", LinearSvm::new().tolerance(0.0)),
        ("max_epochs", LinearSvm::new().max_epochs(0)),
    ];
    for (expected, knobs) in cases {
        let (samples, _) = small_problem::<f64>(1);
        match knobs.fit_with(samples, &options(), &mut Silent) {
            Err(Error::Knob { name, .. }) => assert_eq!(name, expected),
            other => panic!("{expected}: {:?}", other.map(|model| model.report().stop)),
        }
    }
}

fn cancelled<T: Real>(method: &dyn Method<T>) {
    // A method without atoms has no outer iterations, between whose steps it could stop.
    if !has(method, "n_atoms") {
        return;
    }
    for discrimination in ["0.5", "0"] {
        let knobs =
            [("tolerance", "0"), ("max_iterations", "3"), ("discrimination", discrimination)];
        let (samples, _) = small_problem::<T>(2);
        let (new, _) = clouds::<T>(3, 12, 5, 3);
        let mut patient = Recorder::default();
        let whole = fit_with(method, &knobs, samples.clone(), &options(), &mut patient).unwrap();
        assert_eq!(whole.report().stop, Stop::Limit);
        // What comes before the first row (graph, start of another method), start, and the steps of each
        // iteration.
        let steps = steps_of_iteration(&whole);
        let rows = 1 + steps * whole.report().iterations;
        assert_eq!(rows_of_the_loop(&whole).len(), rows, "{}", method.describe().name);
        let before = patient.steps - rows;
        for last in 0..patient.steps {
            let mut recorder = Recorder { stop_after: Some(last), ..Recorder::default() };
            let stopped = fit_with(method, &knobs, samples.clone(), &options(), &mut recorder);
            assert_eq!(recorder.steps, last + 1, "nothing runs on after a stop");
            if last < before {
                assert!(matches!(stopped, Err(Error::Cancelled)));
                continue;
            }
            let model = stopped.unwrap();
            assert_eq!(model.report().stop, Stop::Cancelled, "step {last}");
            assert_eq!(model.report().iterations, (last - before).div_ceil(steps));
            assert_eq!(rows_of_the_loop(&model).len(), last - before + 1);
            assert_distributions(&model.transduction().probabilities);
            assert_distributions(&model.predict(new.clone()).unwrap().probabilities);
        }
    }
}

#[test]
fn a_fit_can_be_cancelled_after_every_step_and_still_gives_a_model() {
    for_every_method!(cancelled);
}

#[test]
fn the_memory_limit_refuses_before_anything_is_computed() {
    for method in methods::all::<f64>() {
        let (samples, _) = small_problem::<f64>(4);
        let needed = method.memory_needed(&small(method, &[]), 12, 90, 3).unwrap();
        let knobs = SsdlGa::new().n_atoms(18).n_neighbors(5);
        match method.describe().name {
            "ssdl-ga" => assert_eq!(needed, knobs.memory_needed::<f64>(12, 90, 3)),
            "ussdl" => assert_eq!(needed, knobs.manifold(0.0).memory_needed::<f64>(12, 90, 3)),
            _ => {}
        }
        let run = |limit: u64, recorder: &mut Recorder| {
            let options = FitOptions { memory_limit: Some(limit), ..options() };
            fit_with(method, &[], samples.clone(), &options, recorder)
        };
        let mut recorder = Recorder::default();
        let mut refused = |limit: u64| match run(limit, &mut recorder) {
            Err(Error::Memory { needed, allowed }) => {
                assert_eq!(allowed, limit);
                needed
            }
            other => panic!("{:?}", other.map(|model| model.report().stop)),
        };
        let own = refused(1);
        // Where labelled samples are the atoms, asking without labels counts all samples.
        let by_labels = method.describe().name.starts_with("src");
        assert!(own == needed || (by_labels && own < needed), "{own} {needed}");
        assert_eq!(refused(own - 1), own);
        assert_eq!(recorder.steps, 0, "not even the graph");
        assert!(run(own, &mut recorder).is_ok());
    }
}

#[test]
fn the_estimate_is_lower_for_single_precision_and_batches() {
    let whole = SsdlGa::new();
    let mut fista = whole;
    fista.set("coder", "fista").unwrap();
    let mut batches = whole;
    batches.set("coder", "batches").unwrap();
    let needed = |knobs: SsdlGa| knobs.memory_needed::<f64>(256, 20_000, 10);
    assert!(needed(batches) < needed(whole) && needed(whole) < needed(fista));
    assert!(2 * fista.memory_needed::<f32>(256, 20_000, 10) < 11 * needed(fista) / 10);
    assert!(needed(whole.manifold(0.0)) < needed(whole));
    // Asking costs nothing, whatever the size.
    assert!(whole.memory_needed::<f64>(1 << 30, 1 << 30, 1000) > 1 << 60);
}

#[test]
fn the_largest_knobs_allowed_do_not_overflow_the_memory_estimate() {
    let largest = SsdlGa::new().n_atoms(1_000_000_000).n_neighbors(1_000_000_000);
    largest.check().unwrap();
    let needed = largest.memory_needed::<f64>(784, 1_000_000_000, 10);
    assert!(needed > 1 << 63, "{needed}");
}

#[test]
fn the_model_holds_the_method_and_the_reduced_knobs() {
    let (samples, _) = small_problem::<f64>(5);
    let chosen = [("n_atoms", "5000"), ("sparsity", "0.25")];
    let ssdl_ga = methods::find("ssdl-ga").unwrap();
    let model = fit_with(ssdl_ga, &chosen, samples, &options(), &mut Silent).unwrap();
    assert_eq!(model.method(), "ssdl-ga");
    assert!(model.knobs().contains(&("n_atoms".into(), "90".into())));
    assert!(model.knobs().contains(&("sparsity".into(), "0.25".into())));
}
