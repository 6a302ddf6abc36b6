//! `ssdl graph`, and the methods that take a graph or an SVM, when all is well.

use serde_json::Value;

use crate::run::{Bench, flowers};

const KINDS: [&str; 4] = ["lle", "heat", "threshold", "learnt"];

/// The text of a named fact, or all of the output if it is missing.
fn fact<'a>(sheet: &'a str, name: &str) -> &'a str {
    let line = sheet.lines().find_map(|line| line.strip_prefix(name));
    line.map_or(sheet, str::trim)
}

#[test]
fn every_kind_of_graph_is_described_within_80_columns() {
    let bench = Bench::with_flowers();
    for kind in KINDS {
        let knobs = format!("--set graph={kind} --set percentile=0.2");
        let call = format!("graph flowers.csv --label-column kind {knobs}");
        let printed = bench.done(&call);
        assert!(printed.lines().all(|line| line.chars().count() <= 80), "{printed}");
        assert!(fact(&printed, "graph").starts_with(kind), "{printed}");
        assert_eq!(fact(&printed, "nodes"), "60", "{printed}");
        assert!(fact(&printed, "parts").contains("connected part"), "{printed}");
        let labelled = bench.json(&call)["labelled_edges"].as_u64().expect("a number");
        let purity = fact(&printed, "same class");
        assert_eq!(purity.starts_with("too few to tell"), labelled < 30, "{printed}");
        assert_eq!(purity.contains("% of the edges"), labelled >= 30, "{printed}");

        let answer = bench.json(&call);
        assert_eq!(answer["graph"], kind);
        assert_eq!(answer["knobs"]["graph"], kind);
        assert_eq!(answer["nodes"], 60);
        assert_eq!(fact(&printed, "edges"), answer["edges"].to_string());
        let sizes = answer["components"].as_array().expect("sizes");
        let total: u64 = sizes.iter().map(|size| size.as_u64().expect("a size")).sum();
        assert_eq!(total, 60);
        let number = |name: &str| answer[name].as_f64().expect("a number");
        assert!(number("trace") > 0.0 && number("same_class") > 0.5, "{answer}");
        assert!(number("largest_eigenvalue") <= 1.02 * number("spectral_bound"), "{answer}");
        let mean = answer["neighbours"]["mean"].as_f64().expect("a number");
        assert!((mean - number("edges") / 30.0).abs() < 1e-9, "{answer}");
        assert!(answer["hubs"].is_array() && answer["seconds"].is_f64(), "{answer}");
    }
}

#[test]
fn labels_are_optional_and_preparation_is_as_requested() {
    let bench = Bench::with_flowers();
    let all = flowers(60, 0);
    let bare: Vec<&str> =
        all.lines().map(|line| line.rsplit_once(',').expect("two cells").0).collect();
    bench.write("bare.csv", bare.join("\n"));
    let printed = bench.done("graph bare.csv");
    assert!(fact(&printed, "same class").starts_with("unknown"), "{printed}");
    assert_eq!(bench.json("graph bare.csv")["same_class"], Value::Null);
    let raw = bench.json("graph bare.csv --set graph=heat --set width=1 --prepare none");
    let scaled = bench.json("graph bare.csv --set graph=heat --set width=1");
    assert_ne!(raw["trace"], scaled["trace"]);
    let even = bench.json("graph bare.csv --set graph=heat --set normalise_trace=true");
    assert!((even["trace"].as_f64().expect("a number") - 60.0).abs() < 1e-9, "{even}");
    for threads in [1, 2] {
        let call = format!("graph bare.csv --set graph=learnt --threads {threads}");
        assert_eq!(
            bench.json(&call)["edges"],
            bench.json("graph bare.csv --set graph=learnt")["edges"]
        );
    }
}

#[test]
fn the_knobs_of_a_graph_are_checked_before_anything_is_read() {
    let bench = Bench::new();
    let cases: &[(&str, &[&str])] = &[
        ("--set graph=magic", &["knob `graph` is magic", "lle, heat, threshold, learnt"]),
        ("--set width=0", &["knob `width` is 0", "a number above 0"]),
        ("--set width=-1x", &["knob `width` is -1x"]),
        ("--set width=abc", &["knob `width` is abc"]),
        ("--set percentile=1", &["knob `percentile` is 1", "between 0 and 1"]),
        ("--set smoothness=0", &["knob `smoothness` is 0"]),
        ("--set n_neighbors=0", &["knob `n_neighbors` is 0"]),
        ("--set sparsity=1", &["unknown knob `sparsity`", "known: graph, n_neighbors"]),
        ("--prepare whiten", &["unknown preparation step `whiten`"]),
    ];
    for (extra, parts) in cases {
        bench.refused(2, &format!("graph nowhere.csv {extra}"), parts);
    }
    bench.refused(1, "graph nowhere.csv", &["nowhere.csv", "check the path"]);
}

#[test]
fn graph_sc_is_fitted_inspected_and_predicts_with_every_graph() {
    let bench = Bench::with_flowers();
    for kind in KINDS {
        let fit = bench.json(&format!(
            "fit flowers.csv --label-column kind --model m.ssdl --method graph-sc \
             --set n_atoms=20 --set graph={kind} --set percentile=0.2"
        ));
        assert_eq!((&fit["method"], &fit["knobs"]["graph"]), (&"graph-sc".into(), &kind.into()));
        assert!(fit["objective"]["manifold"].as_f64().is_some_and(|v| v > 0.0), "{fit}");
        let shown = bench.json("inspect m.ssdl");
        assert_eq!((&shown["graph"]["graph"], &shown["n_atoms"]), (&kind.into(), &20.into()));
        let answer = bench.json("predict m.ssdl test.csv --label-column kind");
        assert_eq!(answer["accuracy"], 1.0, "{kind}");
    }
}

#[test]
fn the_linear_svm_is_fitted_inspected_and_predicts_but_has_no_atoms_to_draw() {
    let bench = Bench::with_flowers();
    let printed = bench
        .done("fit flowers.csv --label-column kind --model m.ssdl --method linear-svm --image 2x2");
    assert!(printed.contains("none; the prepared samples are classified as they are"), "{printed}");
    assert!(printed.lines().all(|line| line.chars().count() <= 80), "{printed}");
    let shown = bench.done("inspect m.ssdl");
    assert!(shown.contains("linear-svm") && !shown.contains("not zero"), "{shown}");
    let shown = bench.json("inspect m.ssdl");
    assert_eq!((&shown["n_atoms"], &shown["atoms_used"]), (&0.into(), &0.into()));
    assert_eq!(shown["graph"], Value::Null);
    let answer = bench.json("predict m.ssdl test.csv --label-column kind --codes a.npy");
    assert_eq!(answer["accuracy"], 1.0);
    bench.refused(1, "atoms m.ssdl --png a.png", &["m.ssdl", "linear-svm has no atoms"]);
    assert!(!bench.exists("a.png"));
    let fit = "fit flowers.csv --label-column kind --model m.ssdl --method linear-svm";
    for (extra, part) in [
        ("box_constraints=", "knob `box_constraints` is empty"),
        ("box_constraints=0,1", "knob `box_constraints` is 0,1"),
        ("box_constraints=few", "knob `box_constraints` is few"),
        ("folds=1", "knob `folds` is 1"),
        ("manifold=1", "unknown knob `manifold`"),
    ] {
        bench.refused(2, &format!("{fit} --set {extra}"), &[part]);
    }
}

#[test]
fn a_few_labelled_edges_tell_nothing() {
    let bench = Bench::new();
    let all = flowers(60, 60);
    bench.write("all.csv", &all);
    // Two labels of a class next to each other.
    let few: Vec<String> = all
        .lines()
        .enumerate()
        .map(|(line, text)| match line {
            0..=4 => text.to_owned(),
            _ => format!("{},", text.rsplit_once(',').expect("two cells").0),
        })
        .collect();
    bench.write("few.csv", few.join("\n"));
    let printed = bench.done("graph all.csv --label-column kind");
    assert!(fact(&printed, "same class").contains("with labels"), "{printed}");
    let answer = bench.json("graph all.csv --label-column kind");
    assert_eq!(answer["labelled_edges"], answer["edges"], "all samples have labels");
    let printed =
        bench.done("graph few.csv --label-column kind --set graph=threshold --set percentile=0.5");
    let purity = fact(&printed, "same class");
    assert!(purity.starts_with("too few to tell") || purity.starts_with("unknown"), "{printed}");
    assert!(printed.lines().all(|line| line.chars().count() <= 80), "{printed}");
}
