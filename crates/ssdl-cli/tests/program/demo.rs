//! `ssdl demo`, and that what it proposes to try next works.

use serde_json::Value;

use crate::run::Bench;

#[test]
fn the_demo_beats_the_baselines_and_writes_files_for_further_trials() {
    let bench = Bench::new();
    let printed = bench.done("demo");
    assert!(printed.contains("100 labelled, 1197 unlabelled, 500 held out"), "{printed}");
    assert!(printed.lines().all(|line| line.chars().count() <= 80), "{printed}");
    assert!(bench.bytes("digits-atoms.png").starts_with(b"\x89PNG"));
    let page = bench.text("digits-report.html");
    assert!(page.starts_with("<!doctype html>") && page.len() < 300_000, "{}", page.len());
    assert!(page.contains("SSDL-GA") && page.contains("of 500 samples correct"), "{page}");

    let next: Vec<&str> =
        printed.lines().filter_map(|line| line.trim().strip_prefix("ssdl ")).collect();
    assert_eq!(next.len(), 4, "{printed}");
    for command in next {
        let limit = if command.starts_with("fit") { " --set max_iterations=2" } else { "" };
        bench.done(&format!("{command}{limit}"));
    }

    let again = bench.json("demo --quiet");
    let held_out = |at: usize| again["results"][at]["held_out_accuracy"].as_f64().expect("a share");
    assert!(held_out(0) > 0.9, "{again}");
    assert!(held_out(0) > held_out(1) && held_out(1) > held_out(2), "{again}");
    let same = bench.json("predict digits.ssdl digits-test.csv --label-column label --out p.csv");
    assert_eq!(same["accuracy"], Value::from(held_out(0)));
    let picture = bench.json("atoms digits.ssdl --png again.png");
    assert_eq!(picture["image"], serde_json::json!([8, 8]));
    assert_eq!(bench.bytes("again.png"), bench.bytes("digits-atoms.png"));
}

#[test]
fn the_demo_does_not_replace_samples_of_the_user() {
    let bench = Bench::new();
    bench.write("digits-train.csv", "1,2,3\n");
    bench.refused(1, "demo", &["digits-train.csv", "--out"]);
    assert_eq!(bench.text("digits-train.csv"), "1,2,3\n");
    assert!(!bench.exists("digits.ssdl"));
    bench.refused(1, "demo --out digits-train.csv", &["digits-train.csv", "--out"]);
}
