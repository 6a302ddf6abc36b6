//! Tables of uneven classes: draws that keep their shares, index lists, contenders and the summary.

use std::fmt::Write as _;
use std::path::Path;

use crate::common::Counter;
use ssdl_experiments::comparison::{
    Choice, Plan, Row, contenders, overview, report, run, tables, write_splits,
};
use ssdl_experiments::{AnyPlan, RowFile};

const PLAN: &str = r#"
kind = "comparison"
title = "Uneven"

[contenders]
file = "CONTENDERS"
log_loss = "theirs"
baselines = ["nearest"]

[[data]]
name = "uneven"
files = ["uneven.csv"]
label_column = "kind"

[[split]]
name = "even"
labelled = 4
test_share = 0.25
max_unlabelled = 40
seeds = [0, 1, 2, 3]

[[split]]
name = "two to one"
labelled = 8
uneven = 2
test_share = 0.25
max_test = 20
seeds = [0, 1, 2, 3]

[[run]]
name = "ridge"
method = "ridge"
prepare = ["standardise", "scale=5"]

[[run]]
name = "nearest"
method = "nearest"
prepare = ["standardise", "scale=5"]
"#;

/// 120 samples, three of four of the first class.
fn folder() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    let mut text = String::from("a,b,kind\n");
    for at in 0..120u32 {
        let rare = at % 4 == 3;
        let wave = f64::from(at * 37 % 101) / 101.0;
        let other = f64::from(at * 53 % 97) / 97.0;
        let along = if rare { 0.4 } else { 0.0 } + wave;
        writeln!(text, "{along},{other},{}", if rare { "rare" } else { "common" }).unwrap();
    }
    std::fs::write(folder.path().join("uneven.csv"), text).unwrap();
    folder
}

fn plan(text: &str, folder: &Path) -> Plan {
    let file = folder.join("theirs.csv").display().to_string();
    // Backslashes of a path would be escapes in TOML.
    let text = text.replace("\"CONTENDERS\"", &format!("'{file}'"));
    match AnyPlan::parse(&text, Path::new("plan.toml")).unwrap() {
        AnyPlan::Comparison(plan) => plan,
        AnyPlan::Graphs(_) => panic!("a comparison"),
    }
}

fn choice() -> Choice {
    Choice { threads: 1, ..Choice::default() }
}

fn rows_of(folder: &Path, choice: &Choice) -> Vec<Row> {
    let rows = RowFile::open(&folder.join("rows.csv")).unwrap();
    run(&plan(PLAN, folder), choice, folder, &rows, &Counter::new(usize::MAX)).unwrap();
    rows.all()
}

#[test]
fn draws_keep_the_class_shares_and_lists_are_those_of_the_fits() {
    let folder = folder();
    let drawn = plan(PLAN, folder.path());
    let lists = folder.path().join("lists");
    assert_eq!(write_splits(&drawn, &choice(), folder.path(), &lists).unwrap(), 2);
    let read = |name: &str| -> serde_json::Value {
        serde_json::from_str(&std::fs::read_to_string(lists.join(name)).unwrap()).unwrap()
    };
    let count = |part: &serde_json::Value, rare: bool| {
        let samples = part.as_array().unwrap().iter().map(|at| at.as_u64().unwrap());
        samples.filter(|at| (at % 4 == 3) == rare).count()
    };
    let even = read("uneven-0.json");
    assert_eq!((&even["data"], &even["split"]), (&"uneven".into(), &"even".into()));
    assert_eq!((&even["files"][0], &even["label_column"]), (&"uneven.csv".into(), &"kind".into()));
    for draw in even["runs"].as_array().unwrap() {
        let both = |part: &str| (count(&draw[part], false), count(&draw[part], true));
        assert_eq!(both("test"), (23, 7), "30 of 120, the first of equal remainders up");
        assert_eq!(both("labelled"), (4, 4));
        assert_eq!(both("unlabelled"), (31, 9), "40 of 63 and 19");
    }
    let mut fewer = Vec::new();
    for draw in read("uneven-1.json")["runs"].as_array().unwrap() {
        let both = |part: &str| (count(&draw[part], false), count(&draw[part], true));
        assert_eq!(both("test"), (15, 5), "at most 20");
        let (common, rare) = both("labelled");
        assert!((common, rare) == (8, 4) || (common, rare) == (4, 8));
        assert_eq!(both("unlabelled"), (75 - common, 25 - rare), "all the rest");
        fewer.push(rare == 4);
    }
    assert!(fewer.contains(&true) && fewer.contains(&false), "the seed decides: {fewer:?}");
    for row in rows_of(folder.path(), &choice()) {
        let sizes = (row.n_labelled, row.n_unlabelled, row.n_test);
        assert_eq!(sizes, if row.split == "even" { (8, 40, 30) } else { (12, 88, 20) });
    }
    // The lists give the same rows as the draws.
    let file = lists.join("uneven-0.json").display().to_string();
    let keys = "labelled = 4\ntest_share = 0.25\nmax_unlabelled = 40\nseeds = [0, 1, 2, 3]";
    let listed = plan(&PLAN.replace(keys, &format!("file = '{file}'")), folder.path());
    let rows = RowFile::open(&folder.path().join("listed.csv")).unwrap();
    run(&listed, &choice(), folder.path(), &rows, &Counter::new(usize::MAX)).unwrap();
    let accuracies = |rows: Vec<Row>| rows.iter().map(|r| r.test_accuracy).collect::<Vec<_>>();
    assert_eq!(accuracies(rows.all()), accuracies(rows_of(folder.path(), &choice())));
}

#[test]
fn impossible_shares_are_refused_with_the_reason() {
    for (from, to, expected) in [
        ("test_share = 0.25", "test_share = 1.5", "`test_share` must be between 0 and 1"),
        ("test_share = 0.25\nmax_un", "max_un", "`max_unlabelled` needs a `test_share`"),
        ("uneven = 2\ntest_share = 0.25\nmax_test = 20", "uneven = 2", "`uneven` needs"),
        ("uneven = 2", "uneven = 1", "at least 2"),
        ("max_test = 20", "unlabelled = 3", "omit `unlabelled`"),
        ("label_column", "test_files = [\"uneven.csv\"]\nlabel_column", "`test_share`"),
        ("baselines = [\"nearest\"]", "baselines = [\"neerest\"]", "baseline `neerest`"),
        ("log_loss", "logloss", "did you mean `log_loss`?"),
    ] {
        let error = AnyPlan::parse(&PLAN.replace(from, to), Path::new("plan.toml")).err();
        let error = error.map_or_else(String::new, |error| error.to_string());
        assert!(error.contains(expected) && error.contains("plan.toml"), "{to}: {error}");
    }
    let folder = folder();
    let greedy = plan(&PLAN.replace("labelled = 8", "labelled = 30"), folder.path());
    let rows = RowFile::open(&folder.path().join("rows.csv")).unwrap();
    let outcome = run(&greedy, &choice(), folder.path(), &rows, &Counter::new(usize::MAX));
    let error = outcome.unwrap_err().to_string();
    assert!(error.contains("class `rare` has 30 samples"), "{error}");
}

#[test]
fn rows_measure_probabilities_and_files_without_the_columns_still_load() {
    let folder = folder();
    let first = Choice { seeds: vec![0], ..choice() };
    for row in rows_of(folder.path(), &first) {
        let recalls: Vec<f64> = row.recall.split(' ').map(|text| text.parse().unwrap()).collect();
        let balanced = row.balanced_accuracy.unwrap();
        assert!((balanced - (recalls[0] + recalls[1]) / 2.0).abs() < 0.1, "{row:?}");
        assert!(row.log_loss.unwrap() > 0.0, "{row:?}");
        assert!((0.0..=1.0).contains(&row.calibration_error.unwrap()), "{row:?}");
        assert!((0.0..=0.5).contains(&row.calibration_floor.unwrap()), "{row:?}");
    }
    let path = folder.path().join("rows.csv");
    let text = std::fs::read_to_string(&path).unwrap();
    let older = |line: &str| line.rsplitn(5, ',').last().unwrap().to_owned() + "\n";
    let older: String = text.lines().map(older).collect();
    assert!(older.lines().next().unwrap().ends_with(",version"), "{older}");
    std::fs::write(&path, &older).unwrap();
    let old = RowFile::<Row>::open(&path).unwrap().all();
    assert!(old.len() == 4 && old.iter().all(|row| row.log_loss.is_none()), "{old:?}");
    let table = report(&plan(PLAN, folder.path()), &old, &[]);
    assert!(table.contains("| test % | unlabelled % |"), "{table}");
    // Rows that are added bring the columns along, for all.
    let all = rows_of(folder.path(), &choice());
    assert_eq!((all.len(), all.iter().filter(|row| row.log_loss.is_none()).count()), (16, 4));
    let again = RowFile::<Row>::open(&path).unwrap().all();
    assert_eq!(again.len(), 16);
    let text = std::fs::read_to_string(&path).unwrap();
    let columns = text.lines().next().unwrap().split(',').count();
    assert!(text.lines().all(|line| line.split(',').count() == columns), "{text}");
}

/// Rows of two contenders: `theirs` has 90 on even labels and 70 on uneven ones, `others` the reverse.
fn beside(rows: &[Row]) -> Vec<Row> {
    let mut made = Vec::new();
    for row in rows.iter().filter(|row| row.run == "ridge") {
        let (high, low) = if row.split == "even" { (90.0, 70.0) } else { (70.0, 90.0) };
        for (run, accuracy, loss) in [("theirs", high, 0.5), ("others", low, 9.0)] {
            made.push(Row {
                run: run.into(),
                test_accuracy: accuracy,
                log_loss: Some(loss),
                calibration_error: Some(0.25),
                ..row.clone()
            });
        }
    }
    made
}

#[test]
fn the_summary_compares_with_the_best_contender_of_each_split() {
    let folder = folder();
    let plan = plan(PLAN, folder.path());
    let mut rows = rows_of(folder.path(), &choice());
    for row in &mut rows {
        let nearest = f64::from(u8::from(row.run == "nearest"));
        let uneven = f64::from(u8::from(row.split != "even"));
        row.test_accuracy = 88.0 - 4.0 * uneven + 3.0 * nearest;
        row.log_loss = Some(0.7);
        row.calibration_error = Some(0.1 + 0.2 * uneven);
        row.calibration_floor = Some(0.05);
    }
    assert!(contenders(&plan).unwrap().is_empty(), "there is no file yet");
    std::fs::write(folder.path().join("theirs.csv"), csv_of(&beside(&rows))).unwrap();
    let theirs = contenders(&plan).unwrap();
    assert_eq!(theirs.len(), 16);
    let found = tables(&plan, &rows, &theirs);
    assert_eq!(found[0].lines.len(), 4, "both runs and both contenders");
    let summary = &found[1];
    let texts = |name: &str| -> Vec<String> {
        let (_, cells) = summary.lines.iter().find(|(line, _)| line == name).unwrap();
        cells.iter().map(|cell| cell.text()).collect()
    };
    assert_eq!(
        texts("ridge"),
        [
            "-4.0",
            "-6.0 (uneven, two to one)",
            "-3.0 (uneven, even)",
            "0.200",
            "0.050",
            "0.700",
            "+0.200"
        ]
    );
    assert_eq!(texts("nearest")[..2], ["-1.0", "-3.0 (uneven, two to one)"]);
    assert_eq!(texts("theirs")[..2], ["-10.0", "-20.0 (uneven, two to one)"]);
    // Only seeds that the run has are compared, and only contenders that have them.
    let mut fewer = theirs.clone();
    fewer.retain(|row| row.run != "others" || row.seed > 0);
    fewer.iter_mut().filter(|row| row.seed == 3).for_each(|row| row.test_accuracy = 0.0);
    rows.retain(|row| row.seed < 3);
    let found = tables(&plan, &rows, &fewer);
    let (_, cells) = found[1].lines.iter().find(|(line, _)| line == "ridge").unwrap();
    assert_eq!(cells[0].text(), "+6.0", "-2 on even labels, +14 on uneven ones");
    let text = overview(&plan, &rows, &theirs);
    assert!(text.contains("to the best contender") && text.contains("less that of theirs"));
    let text = report(&plan, &rows, &theirs);
    let columns = "| test % | balanced % | log-loss | calibration error | unlabelled % | seconds";
    assert!(text.contains(columns) && text.contains("| others | 70.00 ± 0.00 |"), "{text}");
}

#[test]
fn a_contender_with_the_name_of_a_run_is_refused() {
    let folder = folder();
    let rows = rows_of(folder.path(), &Choice { seeds: vec![0], ..choice() });
    std::fs::write(folder.path().join("theirs.csv"), csv_of(&rows)).unwrap();
    let error = contenders(&plan(PLAN, folder.path())).unwrap_err().to_string();
    assert!(error.contains("`nearest`") || error.contains("`ridge`"), "{error}");
    std::fs::write(folder.path().join("theirs.csv"), "a,b\n1,2\n").unwrap();
    assert!(contenders(&plan(PLAN, folder.path())).is_err());
}

/// The rows as a file of them.
fn csv_of(rows: &[Row]) -> String {
    let mut writer = csv::Writer::from_writer(Vec::new());
    rows.iter().for_each(|row| writer.serialize(row).unwrap());
    String::from_utf8(writer.into_inner().unwrap()).unwrap()
}
