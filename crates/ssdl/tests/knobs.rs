//! Contracts of the way in: knobs by name, watching and cancelling a fit, the limit on memory.

#![allow(clippy::unwrap_used)]

mod common;

use common::{Witness, assert_distributions, clouds, fit_with, options, pairs, small_problem};
use ssdl::fit::{Silent, Stop};
use ssdl::knobs::Allowed;
use ssdl::methods::{self, Method, Options, SsdlGa};
use ssdl::{Error, Real};

/// Values that a knob of this kind must refuse.
fn outside(allowed: Allowed) -> Vec<String> {
    let mut bad = vec![String::new(), " ".to_owned(), "nonsense".to_owned(), "NaN".to_owned()];
    match allowed {
        Allowed::WholeFrom(least) => {
            bad.extend(
                ["-1", "1.5", "1e3", "2000000000", "99999999999999999999"].map(str::to_owned),
            );
            bad.extend(least.checked_sub(1).map(|below| below.to_string()));
        }
        Allowed::From(least) => {
            bad.extend(["inf".into(), "-inf".into(), "1e999".into(), (least - 1e-9).to_string()]);
        }
        Allowed::Above(bound) => bad.extend(["inf".into(), bound.to_string(), "-3".into()]),
        Allowed::Switch => bad.extend(["yes".into(), "1".into(), "True".into()]),
        Allowed::OneOf(words) => bad.push(words[0].to_uppercase()),
        other => panic!("a new kind of knob needs bad values here: {other}"),
    }
    bad
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
                        let same = text.parse::<f64>().is_ok_and(|v| Ok(v) == got.parse());
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
}

#[test]
fn a_method_without_a_graph_has_no_knobs_for_one() {
    let ussdl = methods::find::<f64>("ussdl").unwrap();
    for name in ["manifold", "beta", "β", "n_neighbors", "k", "n-neighbors"] {
        let error = ussdl.check(&pairs(&[(name, "1")])).unwrap_err();
        assert!(matches!(error, Error::Unknown { .. }), "{name}: {error}");
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

fn cancelled<T: Real>(method: &dyn Method<T>) {
    for discrimination in ["0.5", "0"] {
        let knobs =
            [("tolerance", "0"), ("max_iterations", "3"), ("discrimination", discrimination)];
        let (samples, _) = small_problem::<T>(2);
        let (new, _) = clouds::<T>(3, 12, 5, 3);
        let mut patient = Witness::default();
        let whole = fit_with(method, &knobs, samples.clone(), &options(), &mut patient).unwrap();
        assert_eq!(whole.report().stop, Stop::Limit);
        // Graph, start, and four steps in each of three iterations.
        assert_eq!(patient.steps, 2 + 4 * 3, "{}", method.describe().name);
        for last in 0..patient.steps {
            let mut witness = Witness { stop_after: Some(last), ..Witness::default() };
            let stopped = fit_with(method, &knobs, samples.clone(), &options(), &mut witness);
            assert_eq!(witness.steps, last + 1, "nothing runs on after a stop");
            if last == 0 {
                assert!(matches!(stopped, Err(Error::Cancelled)));
                continue;
            }
            let model = stopped.unwrap();
            assert_eq!(model.report().stop, Stop::Cancelled, "step {last}");
            assert_eq!(model.report().iterations, (last + 2) / 4);
            assert_eq!(model.report().trace.len(), last);
            assert_distributions(&model.transduction().probabilities);
            assert_distributions(&model.predict(new.clone()).unwrap().probabilities);
        }
    }
}

#[test]
fn a_fit_can_be_cancelled_after_every_step_and_still_gives_a_model() {
    for method in methods::all::<f64>() {
        cancelled::<f64>(method);
    }
    for method in methods::all::<f32>() {
        cancelled::<f32>(method);
    }
}

#[test]
fn the_memory_limit_refuses_before_anything_is_computed() {
    for method in methods::all::<f64>() {
        let (samples, _) = small_problem::<f64>(4);
        let knobs = SsdlGa::new().n_atoms(18).n_neighbors(5);
        let knobs = if method.describe().name == "ussdl" { knobs.manifold(0.0) } else { knobs };
        let needed = knobs.memory_needed::<f64>(12, 90, 3);
        let run = |limit: u64, witness: &mut Witness| {
            let options = Options { memory_limit: Some(limit), ..options() };
            fit_with(method, &[], samples.clone(), &options, witness)
        };
        let mut witness = Witness::default();
        match run(needed - 1, &mut witness) {
            Err(Error::Memory { needed: said, allowed }) => {
                assert_eq!((said, allowed), (needed, needed - 1));
            }
            other => panic!("{:?}", other.map(|model| model.report().stop)),
        }
        assert_eq!(witness.steps, 0, "not even the graph");
        assert!(run(needed, &mut witness).is_ok());
    }
}

#[test]
fn single_precision_and_batches_are_said_to_need_less() {
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
fn names_of_the_method_and_the_knobs_after_cuts_are_in_the_model() {
    let (samples, _) = small_problem::<f64>(5);
    let chosen = [("n_atoms", "5000"), ("sparsity", "0.25")];
    let ssdl_ga = methods::find("ssdl-ga").unwrap();
    let model = fit_with(ssdl_ga, &chosen, samples, &options(), &mut Silent).unwrap();
    assert_eq!(model.method(), "ssdl-ga");
    assert!(model.knobs().contains(&("n_atoms".into(), "90".into())));
    assert!(model.knobs().contains(&("sparsity".into(), "0.25".into())));
}
