//! The rows that are kept with the code: every fit of every plan has one.

use std::collections::HashSet;
use std::path::PathBuf;

use ssdl_experiments::comparison::Row;
use ssdl_experiments::{AnyPlan, KNOWN, RowFile, graphs};

/// Runs without rows: 150 epochs of the net of `mnist-100` (docs/neural.md has the command), and those of
/// `tables`, which no table of the paper has, were never run.
const NOT_RUN: [(&str, &str); 4] = [
    ("mnist-100", "Ladder"),
    ("tables", "USSDL"),
    ("tables", "self-training"),
    ("tables", "linear SVM"),
];

fn rows_file(name: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../results").join(format!("{name}.csv"))
}

#[test]
fn every_table_of_every_plan_is_whole() {
    for (name, _) in KNOWN {
        match AnyPlan::find(name).unwrap() {
            AnyPlan::Graphs(plan) => {
                let rows = RowFile::<graphs::Row>::read(&rows_file(name)).unwrap().all();
                assert_eq!(rows.len(), plan.columns().len() * plan.grid().fits(), "{name}");
                let tables = graphs::report(&plan, &rows);
                assert!(!tables.contains("not run") && tables.contains(" ± "), "{name}");
            }
            AnyPlan::Comparison(plan) => {
                let rows = RowFile::<Row>::read(&rows_file(name)).unwrap().all();
                let seeds = |row: &Row| (row.data.clone(), row.split.clone(), row.seed);
                let drawn: HashSet<_> = rows.iter().map(seeds).collect();
                for split in &plan.split {
                    // Lists of a file have their own seeds: there are at least five.
                    let found = drawn.iter().filter(|(_, name, _)| *name == split.name).count();
                    assert!(found >= split.seeds.len().max(1), "{name}, {}", split.name);
                }
                for run in plan.run.iter().filter(|run| !NOT_RUN.contains(&(name, &run.name))) {
                    let is_of =
                        |data: &String| run.data.as_ref().is_none_or(|names| names.contains(data));
                    let own: HashSet<_> =
                        rows.iter().filter(|row| row.run == run.name).map(seeds).collect();
                    let lost: Vec<_> = drawn
                        .iter()
                        .filter(|(data, ..)| is_of(data))
                        .filter(|d| !own.contains(d))
                        .collect();
                    assert!(lost.is_empty(), "{name}, {}: {lost:?}", run.name);
                }
            }
        }
    }
}
