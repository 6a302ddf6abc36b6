//! A comparison of graphs on a small grid: rows, resumption, tables.

use std::path::Path;

use crate::common::{Counter, write_clouds};
use ssdl_experiments::graphs::{Plan, Row, report, run};
use ssdl_experiments::{AnyPlan, Error, RowFile};

const PLAN: &str = r#"
kind = "graphs"
title = "Clouds"
labelled = [12, 24]
noise = [0.0]

[data]
train = "train.txt"
test = "test.txt"
range = [0.0, 1.0]
prepare = ["scale=5"]
draw = 0

[method]
n_atoms = 15
sparsity = 0.3
box_constraints = [0.1, 1.0]
folds = 3
halve_new = true
seeds = [0, 1]

[grid]
mean_distance = 10.0
manifold = [1.0, 0.1]
n_neighbors = [3]
width = [10.0]
percentile = [0.2]
smoothness = [1.0]

[quick]
mean_distance = 10.0
manifold = [0.5]
n_neighbors = [3]
width = []
percentile = []
smoothness = []
seeds = [0]

[paper]
sc = [10.0, 5.0]
lle = [8.0, nan]
"#;

fn plan(text: &str) -> Plan {
    match AnyPlan::parse(text, Path::new("plan.toml")).unwrap() {
        AnyPlan::Graphs(plan) => *plan,
        AnyPlan::Comparison(_) => panic!("graphs"),
    }
}

fn folder() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    write_clouds(&folder.path().join("train.txt"), 60, 1);
    write_clouds(&folder.path().join("test.txt"), 45, 2);
    folder
}

fn rows_of(folder: &Path, plan: &Plan) -> Vec<Row> {
    let rows = RowFile::open(&folder.join("rows.csv")).unwrap();
    run(plan, folder, &rows, &Counter::new(usize::MAX)).unwrap();
    rows.all()
}

#[test]
fn every_graph_strength_and_seed_has_a_row_and_a_cell() {
    let folder = folder();
    let rows = rows_of(folder.path(), &plan(PLAN));
    // Per column: 2 seeds without a graph, 4 graphs of 2 strengths and 2 seeds.
    assert_eq!(rows.len(), 2 * (2 + 16));
    for row in &rows {
        assert!(row.test_error < 40.0, "{row:?}");
        assert!([0.1, 1.0].contains(&row.box_constraint), "{row:?}");
    }
    let table = report(&plan(PLAN), &rows);
    assert!(!table.contains("not run"), "{table}");
    assert!(table.contains("| graph | 12 labelled | 24 labelled |"), "{table}");
    assert!(table.contains("(10) |") && table.contains("(–) |"), "{table}");
    assert!(table.contains(" ± "), "over two seeds: {table}");
    let before = std::fs::read_to_string(folder.path().join("rows.csv")).unwrap();
    rows_of(folder.path(), &plan(PLAN));
    assert_eq!(std::fs::read_to_string(folder.path().join("rows.csv")).unwrap(), before);
}

#[test]
fn the_small_grid_and_noise_are_used() {
    let folder = folder();
    let text = PLAN.replace("labelled = [12, 24]", "labelled = [12]");
    let text = text.replace("noise = [0.0]", "noise = [0.0, 0.5]");
    let rows = rows_of(folder.path(), &plan(&text).quick());
    assert_eq!(rows.len(), 2 * 2);
    assert!(report(&plan(&text), &rows).contains("12 labelled, noise 0.5"));
}

#[test]
fn the_small_version_keeps_columns_with_their_numbers() {
    let text = PLAN.replace("seeds = [0]\n", "seeds = [0]\nlabelled = [24]\n");
    let small = plan(&text).quick();
    assert_eq!((small.labelled.as_slice(), small.paper("sc")), ([24].as_slice(), [5.0].as_slice()));
    let folder = folder();
    let rows = rows_of(folder.path(), &small);
    assert_eq!(rows.len(), 2, "one seed without a graph and on one graph: {rows:?}");
    let table = report(&small, &rows);
    assert!(table.contains("(5) |") && !table.contains("12 labelled"), "{table}");
    assert!(!table.contains(" ± ") && table.contains("Seconds for a fit"), "{table}");
    let refused = |text: &str| match AnyPlan::parse(text, Path::new("plan.toml")) {
        Err(error) => error.to_string(),
        Ok(_) => String::new(),
    };
    assert!(refused(&text.replace("labelled = [24]", "labelled = [48]")).contains("48 labelled"));
    assert!(refused(&text.replace("labelled = [24]", "labelled = []")).contains("nothing to run"));
    let elsewhere = PLAN.replace("[grid]\n", "[grid]\nlabelled = [12]\n");
    assert!(refused(&elsewhere).contains("[grid]"), "{}", refused(&elsewhere));
}

#[test]
fn sharing_does_not_change_the_problem() {
    let folder = folder();
    let shared = rows_of(folder.path(), &plan(PLAN));
    let apart = tempfile::tempdir().unwrap();
    for name in ["train.txt", "test.txt"] {
        std::fs::copy(folder.path().join(name), apart.path().join(name)).unwrap();
    }
    let text = PLAN.replace("halve_new = true", "halve_new = true\nshare = false");
    for (one, other) in shared.iter().zip(rows_of(apart.path(), &plan(&text))) {
        let difference = (one.objective - other.objective).abs() / other.objective;
        assert!(difference < 0.05, "{one:?} against {other:?}");
    }
}

#[test]
fn an_interrupted_sweep_keeps_its_rows_and_bad_plans_are_refused() {
    let folder = folder();
    let rows = RowFile::<Row>::open(&folder.path().join("rows.csv")).unwrap();
    let stopped = run(&plan(PLAN), folder.path(), &rows, &Counter::new(3));
    assert!(matches!(stopped, Err(Error::Interrupted { .. })), "{stopped:?}");
    assert!(!rows.all().is_empty());
    let uneven = PLAN.replace("labelled = [12, 24]", "labelled = [13, 24]");
    let outcome = run(&plan(&uneven), folder.path(), &rows, &Counter::new(9));
    assert!(outcome.unwrap_err().to_string().contains("evenly"));
    let missing = PLAN.replace("test.txt", "nothing.txt");
    let outcome = run(&plan(&missing), folder.path(), &rows, &Counter::new(9));
    assert!(outcome.unwrap_err().to_string().contains("nothing.txt"));
}
