//! A comparison runs what is missing, keeps what it has, and refuses what cannot be.

use std::path::Path;

use crate::common::{Counter, write_clouds};
use ssdl_experiments::comparison::{Choice, Row, curves, example, overview, report, run, tables};
use ssdl_experiments::{Along, AnyPlan, Error, Judged, RowFile};

const PLAN: &str = r#"
kind = "comparison"
title = "Clouds"

[[data]]
name = "clouds"
files = ["clouds.txt"]
label_column = "0"

[[split]]
name = "few"
labelled = 3
unlabelled = 6
test = 10
seeds = [0, 1]

[[split]]
name = "the rest is test"
labelled = 4
unlabelled = 0
seeds = [5]

[[run]]
name = "ours"
method = "ssdl-ga"
prepare = ["scale=5"]
knobs = { n_atoms = 9, n_neighbors = 3, max_iterations = 3 }

[[run]]
name = "svm"
method = "linear-svm"
prepare = ["scale=5"]

[[paper]]
run = "ours"
data = "clouds"
split = "few"
accuracy = 88.5
spread = 1.5

[[paper]]
run = "theirs"
data = "clouds"
accuracy = 70.0
"#;

fn plan(text: &str) -> ssdl_experiments::comparison::Plan {
    match AnyPlan::parse(text, Path::new("plan.toml")).unwrap() {
        AnyPlan::Comparison(plan) => plan,
        AnyPlan::Graphs(_) => panic!("a comparison"),
    }
}

fn folder() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    write_clouds(&folder.path().join("clouds.txt"), 90, 1);
    folder
}

fn all(folder: &Path, choice: &Choice) -> Vec<Row> {
    let rows = RowFile::open(&folder.join("rows.csv")).unwrap();
    run(&plan(PLAN), choice, folder, &rows, &Counter::new(usize::MAX)).unwrap();
    rows.all()
}

#[test]
fn every_split_seed_and_run_has_a_row_and_the_table_compares_with_the_paper() {
    let folder = folder();
    let rows = all(folder.path(), &Choice { threads: 1, ..Choice::default() });
    assert_eq!(rows.len(), 6);
    for row in &rows {
        assert!(row.test_accuracy > 60.0 && row.test_accuracy <= 100.0, "{row:?}");
        assert_eq!(row.recall.split(' ').count(), 3);
        assert!(row.unlabelled_accuracy.is_nan() == (row.n_unlabelled == 0), "{row:?}");
        let sizes = (row.n_labelled, row.n_unlabelled, row.n_test);
        assert_eq!(sizes, if row.split == "few" { (9, 18, 30) } else { (12, 0, 78) });
    }
    let table = report(&plan(PLAN), &rows, &[]);
    assert!(table.contains("### clouds, few (9 labelled, 18 unlabelled, 30 test)"), "{table}");
    assert!(table.contains("88.5 ± 1.5") && table.contains("| theirs (paper)"), "{table}");
    assert!(table.contains("| svm |"), "{table}");
    let overview = overview(&plan(PLAN), &rows, &[]);
    assert!(overview.contains("| run | clouds, few | clouds, the rest is test |"), "{overview}");
    assert!(
        overview.contains(" (88.5) |") && overview.contains("| theirs | – (70.0) |"),
        "{overview}"
    );
}

#[test]
fn test_samples_may_have_separate_files() {
    let folder = folder();
    write_clouds(&folder.path().join("new.txt"), 30, 2);
    let text =
        PLAN.replace("[[split]]", "test_files = [\"new.txt\"]\nformat = \"text\"\n\n[[split]]");
    let text = text.replacen(
        "test_files = [\"new.txt\"]\nformat = \"text\"\n\n[[split]]\nname = \"the",
        "[[split]]\nname = \"the",
        1,
    );
    assert!(refusal(&text).contains("omit `test`"), "{}", refusal(&text));
    let text = text.replace("unlabelled = 6\ntest = 10\n", "");
    let rows = RowFile::open(&folder.path().join("rows.csv")).unwrap();
    let choice = Choice { threads: 1, methods: vec!["svm".into()], ..Choice::default() };
    run(&plan(&text), &choice, folder.path(), &rows, &Counter::new(usize::MAX)).unwrap();
    for row in rows.all() {
        let sizes = (row.n_labelled, row.n_unlabelled, row.n_test);
        assert_eq!(sizes, if row.split == "few" { (9, 81, 30) } else { (12, 0, 30) });
    }
}

#[test]
fn rows_of_another_version_are_not_mixed_with_ours() {
    let folder = folder();
    let choice = Choice { threads: 1, methods: vec!["svm".into()], ..Choice::default() };
    all(folder.path(), &choice);
    let path = folder.path().join("rows.csv");
    let older = std::fs::read_to_string(&path).unwrap().replace(env!("CARGO_PKG_VERSION"), "0.0.1");
    std::fs::write(&path, &older).unwrap();
    let rows = RowFile::open(&path).unwrap();
    let outcome = run(&plan(PLAN), &choice, folder.path(), &rows, &Counter::new(usize::MAX));
    let error = outcome.unwrap_err().to_string();
    assert!(error.contains("rows of version 0.0.1") && error.contains("--out"), "{error}");
    assert_eq!(std::fs::read_to_string(&path).unwrap(), older, "nothing is overwritten");
    assert!(!report(&plan(PLAN), &rows.all(), &[]).is_empty(), "tables of old rows can be made");
}

#[test]
fn rows_that_exist_are_not_run_again_unless_requested() {
    let folder = folder();
    let path = folder.path().join("rows.csv");
    let first = all(folder.path(), &Choice { threads: 1, ..Choice::default() });
    let before = std::fs::read_to_string(&path).unwrap();
    assert_eq!(all(folder.path(), &Choice { threads: 1, ..Choice::default() }).len(), 6);
    assert_eq!(std::fs::read_to_string(&path).unwrap(), before);
    let again =
        Choice { seeds: vec![1], methods: vec!["linear-svm".into()], threads: 1, again: true };
    let rows = all(folder.path(), &again);
    assert_eq!(rows.len(), 6);
    assert_eq!(std::fs::read_to_string(&path).unwrap().lines().count(), before.lines().count() + 1);
    for (one, other) in first.iter().zip(&rows) {
        assert_eq!(one.test_accuracy, other.test_accuracy, "the same seed gives the same bits");
    }
}

#[test]
fn an_interrupted_run_continues_where_it_stopped() {
    let folder = folder();
    let rows = RowFile::open(&folder.path().join("rows.csv")).unwrap();
    let choice = Choice { threads: 1, ..Choice::default() };
    let stopped = run(&plan(PLAN), &choice, folder.path(), &rows, &Counter::new(2));
    assert!(matches!(stopped, Err(Error::Interrupted { .. })), "{stopped:?}");
    let kept = rows.all().len();
    assert!(kept > 0 && kept < 6, "{kept}");
    // A second writer would be refused.
    drop(rows);
    assert_eq!(all(folder.path(), &choice).len(), 6);
}

#[test]
fn a_search_for_knobs_uses_the_labels_of_the_split_alone() {
    let folder = folder();
    let text = PLAN.replace("name = \"ours\"\n", "name = \"ours\"\ntune = 4\n");
    let text = text.replace("seeds = [0, 1]", "seeds = [0]");
    let rows = RowFile::open(&folder.path().join("rows.csv")).unwrap();
    let choice = Choice { methods: vec!["ours".into()], threads: 1, ..Choice::default() };
    run(&plan(&text), &choice, folder.path(), &rows, &Counter::new(usize::MAX)).unwrap();
    assert!(rows.all().iter().all(|row: &Row| row.found.contains("n_atoms=9")), "{:?}", rows.all());
}

fn refusal(text: &str) -> String {
    AnyPlan::parse(text, Path::new("plan.toml")).err().map_or_else(String::new, |e| e.to_string())
}

#[test]
fn plans_that_cannot_be_run_are_refused_with_the_reason() {
    for (from, to, expected) in [
        ("label_column", "label_colum", "`label_colum`; did you mean `label_column`?"),
        ("label_column", "format = \"cvs\"\nlabel_column", "unknown file format `cvs`"),
        ("labelled = 3", "labeled = 3", "`labeled`; did you mean `labelled`?"),
        ("method = \"linear-svm\"", "method = \"liner-svm\"", "liner-svm"),
        ("n_atoms = 9", "n_atom = 9", "n_atom"),
        ("prepare = [\"scale=5\"]", "prepare = [\"scail=5\"]", "scail"),
        ("name = \"svm\"", "name = \"ours\"", "two [[run]]"),
        ("seeds = [5]", "", "seeds"),
        ("labelled = 4", "labelled = 0", "at least 1"),
        ("labelled = 4", "labelled = 4\nfile = \"x.json\"", "not both"),
        ("data = \"clouds\"\nsplit", "data = \"cloud\"\nsplit", "no data set `cloud`"),
        ("kind = \"comparison\"", "", "kind"),
    ] {
        let error = refusal(&PLAN.replace(from, to));
        assert!(error.contains(expected) && error.contains("plan.toml"), "{to}: {error}");
    }
}

#[test]
fn impossible_splits_and_missing_files_are_named() {
    let folder = folder();
    let choice = Choice { threads: 1, ..Choice::default() };
    let error = |text: &str| {
        let rows = RowFile::open(&folder.path().join("other.csv")).unwrap();
        let outcome = run(&plan(text), &choice, folder.path(), &rows, &Counter::new(usize::MAX));
        outcome.unwrap_err().to_string()
    };
    assert!(error(&PLAN.replace("clouds.txt", "missing.txt")).contains("missing.txt"));
    assert!(error(&PLAN.replace("test = 10", "test = 100")).contains("has 30 samples"));
    let lists = folder.path().join("lists.json");
    let with_file = |text: &str| {
        std::fs::write(&lists, text).unwrap();
        let file = format!("file = {:?}", lists.display().to_string());
        PLAN.replace("labelled = 3\nunlabelled = 6\ntest = 10\nseeds = [0, 1]", &file)
    };
    let twice = r#"{"runs": [{"seed": 0, "labelled": [0, 1, 2], "unlabelled": [2], "test": [5]}]}"#;
    assert!(error(&with_file(twice)).contains("two lists"));
    let beyond =
        r#"{"runs": [{"seed": 0, "labelled": [0, 1, 900], "unlabelled": [], "test": [5]}]}"#;
    assert!(error(&with_file(beyond)).contains("sample 900 of 90"));
    assert!(error(&with_file("{}")).contains("not a file of index lists"));
    std::fs::write(folder.path().join("rows.csv"), "a,b\n1,2\n").unwrap();
    let other = RowFile::<Row>::open(&folder.path().join("rows.csv")).err().unwrap().to_string();
    assert!(other.contains("rows.csv") && other.contains("--out"), "{other}");
}

#[test]
fn the_better_of_two_numbers_is_marked() {
    let folder = folder();
    let mut rows = all(folder.path(), &Choice { threads: 1, ..Choice::default() });
    for (accuracy, ours, papers) in [(90.0, true, false), (80.0, false, true), (88.5, false, false)]
    {
        rows.iter_mut().for_each(|row| row.test_accuracy = accuracy);
        let tables = tables(&plan(PLAN), &rows, &[]);
        let (_, cells) = tables[0].lines.iter().find(|(name, _)| name == "ours").unwrap();
        let beside = cells[0].beside.as_ref().unwrap();
        assert_eq!((cells[0].number.better, beside.better), (ours, papers), "{accuracy}");
        let (_, cells) = tables[1].lines.iter().find(|(name, _)| name == "ours").unwrap();
        let paper = tables[1].columns.iter().position(|name| name.contains("paper")).unwrap();
        assert_eq!(
            (cells[0].number.better, cells[paper].number.better),
            (ours, papers),
            "{accuracy}"
        );
    }
}

#[test]
fn three_sizes_of_a_split_make_a_curve_and_two_do_not() {
    let folder = folder();
    let sizes = |sizes: &[usize]| {
        let split = |size: &usize| {
            format!(
                "[[split]]\nname = \"{size}\"\nlabelled = 3\nunlabelled = {size}\ntest = 10\nseeds = [0, 1]\n"
            )
        };
        let (head, tail) = (PLAN.split("[[split]]").next().unwrap(), PLAN.find("[[run]]").unwrap());
        let text = PLAN[tail..].replace("split = \"few\"", "split = \"6\"");
        format!("{head}{}{text}", sizes.iter().map(split).collect::<String>())
    };
    let rows = RowFile::open(&folder.path().join("curve.csv")).unwrap();
    let plan_of = |text: &str| plan(text);
    let three = plan_of(&sizes(&[6, 0, 12]));
    let choice = Choice { threads: 1, ..Choice::default() };
    run(&three, &choice, folder.path(), &rows, &Counter::new(usize::MAX)).unwrap();
    let found = curves(&three, &rows.all());
    assert_eq!(found.len(), 1);
    let names: Vec<&str> = found[0].series.iter().map(|series| series.name.as_str()).collect();
    assert_eq!(names, ["ours", "ours, the paper's", "svm"]);
    let along: Vec<f64> = found[0].series[0].points.iter().map(|point| point.x).collect();
    assert_eq!(along, [0.0, 18.0, 36.0], "from left to right, in samples");
    assert_eq!(found[0].series[1].points.len(), 1, "the paper has one of them");
    assert_eq!(found[0].along, Along::Unlabelled);
    assert!(curves(&plan_of(&sizes(&[6, 0])), &rows.all()).is_empty());
    // Where the paper shows the unlabelled samples, so do we; without any there is no point.
    let both = sizes(&[6, 0, 12]).replace("accuracy = 88.5", "accuracy = 88.5\nunlabelled = 87.0");
    let both = plan_of(&both);
    let shown = curves(&both, &rows.all());
    assert_eq!(
        shown.iter().map(|c| c.judged).collect::<Vec<_>>(),
        [Judged::Test, Judged::Unlabelled]
    );
    assert_eq!((&shown[0], shown[1].series[0].points.len()), (&found[0], 2));
    assert_eq!((shown[1].series[1].points[0].x, shown[1].series[1].points[0].y), (18.0, 87.0));
    let table = report(&both, &rows.all(), &[]);
    assert!(table.contains("| paper's unlabelled % |") && table.contains("| 87 |"), "{table}");
    // Where the labels differ, too, it is they that count.
    let mut rows = rows.all();
    rows.iter_mut().for_each(|row| row.n_labelled = 90 - row.n_unlabelled);
    let found = curves(&three, &rows);
    let along: Vec<f64> = found[0].series[0].points.iter().map(|point| point.x).collect();
    assert_eq!((found[0].along, along), (Along::Labelled, vec![54.0, 72.0, 90.0]));
}

#[test]
fn the_model_in_detail_is_the_one_with_most_unlabelled_samples() {
    let folder = folder();
    let choice = Choice { threads: 1, ..Choice::default() };
    let shown = example(&plan(PLAN), &choice, folder.path()).unwrap().unwrap();
    assert_eq!(shown.name, "ours on clouds, few, seed 0");
    assert_eq!((shown.training.columns(), shown.test.columns(), shown.truth.len()), (27, 30, 30));
    let predicted = shown.model.predict(shown.test).unwrap().labels;
    let pairs = predicted.iter().zip(&shown.truth);
    let right = pairs.filter(|(predicted, truth)| Some(*predicted) == truth.as_ref());
    let rows = all(folder.path(), &choice);
    let row = rows.iter().find(|row| row.split == "few" && row.seed == 0 && row.run == "ours");
    let share = 100.0 * right.count() as f64 / 30.0;
    assert!((row.unwrap().test_accuracy - share).abs() < 0.01, "the fit is that of its row");
    let svm = Choice { methods: vec!["svm".into()], seeds: vec![1], ..choice };
    assert_eq!(
        example(&plan(PLAN), &svm, folder.path()).unwrap().unwrap().name,
        "svm on clouds, few, seed 1"
    );
}
