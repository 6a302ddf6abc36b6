//! The small version of a plan: fewer fits of the same kind, and the numbers of the paper that belong to
//! them.

use std::path::Path;

use crate::common::{Counter, write_clouds};
use ssdl_experiments::comparison::{Choice, Plan, Row, report, run};
use ssdl_experiments::{AnyPlan, KNOWN, RowFile};

const PLAN: &str = r#"
kind = "comparison"
title = "Clouds"

[quick]
seeds = 2
splits = ["few"]
runs = ["svm", "nearest"]

[[data]]
name = "clouds"
files = ["clouds.txt"]
label_column = "0"

[[data]]
name = "other clouds"
files = ["other.txt"]
label_column = "0"
get = "make it with `write_clouds`"

[[split]]
name = "few"
labelled = 3
unlabelled = 6
test = 10
seeds = [4, 5, 6]

[[split]]
name = "more"
labelled = 6
unlabelled = 6
test = 10
seeds = [0]

[[run]]
name = "svm"
method = "linear-svm"

[[run]]
name = "searched"
method = "ssdl-ga"
tune = 20

[[run]]
name = "nearest"
method = "nearest"

[[paper]]
run = "svm"
data = "clouds"
accuracy = 70.0
other_protocol = true

[[paper]]
run = "searched"
data = "clouds"
accuracy = 71.25

[[paper]]
run = "theirs"
data = "other clouds"
split = "more"
accuracy = 72.5
"#;

fn plan(text: &str) -> Plan {
    match AnyPlan::parse(text, Path::new("plan.toml")).unwrap() {
        AnyPlan::Comparison(plan) => plan,
        AnyPlan::Graphs(_) => panic!("a comparison"),
    }
}

fn refusal(text: &str) -> String {
    AnyPlan::parse(text, Path::new("plan.toml")).map_or_else(|e| e.to_string(), |_| String::new())
}

fn rows_of(plan: &Plan, folder: &Path) -> Vec<Row> {
    let rows = RowFile::open(&folder.join("rows.csv")).unwrap();
    let choice = Choice { threads: 1, ..Choice::default() };
    run(plan, &choice, folder, &rows, &Counter::new(usize::MAX)).unwrap();
    rows.all()
}

#[test]
fn few_seeds_splits_and_runs_are_kept_with_their_numbers() {
    let folder = tempfile::tempdir().unwrap();
    for name in ["clouds.txt", "other.txt"] {
        write_clouds(&folder.path().join(name), 90, 1);
    }
    let small = plan(PLAN).quick();
    let rows = rows_of(&small, folder.path());
    assert_eq!(rows.len(), 2 * 2 * 2, "data, seeds, runs");
    assert!(rows.iter().all(|row| row.split == "few" && [4, 5].contains(&row.seed)), "{rows:?}");
    let table = report(&small, &rows, &[]);
    assert!(table.contains(" (70.0*) |") && table.contains("| 70* |"), "{table}");
    assert!(table.contains("by another protocol, not comparable"), "{table}");
    assert!(!table.contains("71.25") && !table.contains("72.5"), "{table}");
    // The same fits as in full: the small version changes none of their rows.
    let full = tempfile::tempdir().unwrap();
    std::fs::copy(folder.path().join("clouds.txt"), full.path().join("clouds.txt")).unwrap();
    let mut whole = plan(PLAN).without(&["other clouds".into()]);
    whole.run.retain(|run| run.name == "svm");
    let whole = rows_of(&whole, full.path());
    for row in rows.iter().filter(|row| row.run == "svm" && row.data == "clouds") {
        let same = whole.iter().find(|one| one.seed == row.seed && one.split == row.split).unwrap();
        assert_eq!(same.test_accuracy, row.test_accuracy);
    }
}

#[test]
fn without_a_word_about_it_the_first_seed_is_run_and_nothing_is_searched() {
    let text =
        PLAN.replace("[quick]\nseeds = 2\nsplits = [\"few\"]\nruns = [\"svm\", \"nearest\"]", "");
    let small = plan(&text).quick();
    let names: Vec<&str> = small.run.iter().map(|run| run.name.as_str()).collect();
    assert_eq!((names, small.split.len()), (vec!["svm", "nearest"], 2));
    let folder = tempfile::tempdir().unwrap();
    for name in ["clouds.txt", "other.txt"] {
        write_clouds(&folder.path().join(name), 90, 1);
    }
    assert_eq!(rows_of(&small, folder.path()).len(), 2 * 2 * 2, "data, splits, runs");
}

#[test]
fn a_small_version_that_cannot_be_is_refused() {
    for (from, to, words) in [
        ("seeds = 2", "seeds = 0", "at least 1"),
        ("splits = [\"few\"]", "splits = [\"fewer\"]", "no `fewer`"),
        ("runs = [\"svm\", ", "runs = [\"svn\", ", "known: svm"),
        ("runs = [\"svm\", \"nearest\"]", "runs = []", "nothing to run"),
        ("seeds = 2", "data = [\"clouds\", \"rain\"]", "no `rain`"),
        ("seeds = 2", "seed = 2", "did you mean `seeds`"),
    ] {
        let refused = refusal(&PLAN.replace(from, to));
        assert!(refused.contains(words), "{to}: {refused}");
    }
}

#[test]
fn what_a_plan_needs_is_known_and_the_rest_runs_without_it() {
    let whole = AnyPlan::Comparison(plan(PLAN));
    let needs = whole.needs();
    assert_eq!((needs.len(), needs[0].get.as_deref()), (2, None));
    assert_eq!(needs[1].get.as_deref(), Some("make it with `write_clouds`"));
    let rest = whole.without(&["other clouds".into()]).expect("one is left").needs();
    assert_eq!(rest, needs[..1]);
    assert!(whole.without(&["clouds".into(), "other clouds".into()]).is_none());
}

#[test]
fn every_plan_of_the_program_has_a_small_version_of_its_own() {
    for (name, _) in KNOWN {
        match AnyPlan::find(name).unwrap() {
            AnyPlan::Graphs(plan) => {
                let fits = |plan: &ssdl_experiments::graphs::Plan| {
                    plan.columns().len() * plan.grid().fits()
                };
                assert!(fits(&plan.quick()) * 20 <= fits(&plan), "{name}");
            }
            AnyPlan::Comparison(plan) => {
                let small = plan.quick();
                assert!(plan.quick.is_some(), "{name} says what is quick");
                assert!(small.run.iter().all(|run| run.tune == 0), "{name} searches nothing");
                let fits = |plan: &Plan| plan.data.len() * plan.run.len() * plan.split.len();
                assert!(fits(&small) > 0 && fits(&small) <= fits(&plan), "{name}");
            }
        }
    }
}
