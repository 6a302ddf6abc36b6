//! Everything that is refused: in one line, with the place and the remedy, before harm is done.

use crate::run::Bench;

const TO_MODEL: &str = "--label-column kind --model m.ssdl";

#[test]
fn bad_cells_and_tables_are_named_by_line_and_column() {
    let bench = Bench::new();
    let cases: &[(&str, &str, &[&str])] = &[
        ("nan.csv", "a,b,kind\n1,2,x\n3,nan,y\n", &["line 3, column 2 (`b`)", "remove the row"]),
        ("gap.csv", "a,b,kind\n1,,x\n3,1,y\n", &["line 2, column 2", "empty"]),
        ("ragged.csv", "a,b,kind\n1,2,x\n3,4\n", &["line 3 has 2 columns", "3 were expected"]),
        ("text.csv", "a,b,kind\n1,2,x\nfoo,4,y\n", &["line 3, column 1 (`a`)", "`foo`"]),
        ("none.csv", "a,b,kind\n1,2,\n3,4,\n", &["no sample is labelled"]),
        ("one.csv", "a,b,kind\n1,2,x\n3,4,x\n5,6,\n", &["one class, `x`", "two classes"]),
        ("rows.csv", "a,b,kind\n", &["no row of numbers"]),
        ("zero.csv", "a,b,kind\n0,0,x\n0,0,y\n", &["every sample is zero"]),
        ("empty.csv", "", &["the file is empty"]),
        ("cut.npy", "\u{1}", &["not a valid NPY file"]),
    ];
    for (name, content, parts) in cases {
        bench.write(name, content);
        let mut parts = parts.to_vec();
        parts.push(name);
        bench.refused(1, &format!("fit {name} {TO_MODEL}"), &parts);
    }
    bench.refused(1, &format!("fit nowhere.csv {TO_MODEL}"), &["nowhere.csv", "check the path"]);
    assert!(!bench.exists("m.ssdl"));
}

#[test]
fn a_truncated_array_is_refused() {
    let bench = Bench::new();
    let whole = crate::run::npy(&[vec![1.0, 2.0], vec![3.0, 4.0]]);
    bench.write("x.npy", &whole[..whole.len() - 3]);
    bench.write("y.csv", "a\nb\n");
    bench.refused(1, "fit x.npy --labels y.csv --model m", &["x.npy", "not a valid NPY file"]);
}

#[test]
fn misuse_is_reported_before_anything_is_read() {
    let bench = Bench::new();
    // The file does not exist: whatever is wrong with the options is found first.
    let fit = format!("fit nowhere.csv {TO_MODEL}");
    let cases: &[(&str, &[&str])] = &[
        ("--set sparsity=-1", &["knob `sparsity` is -1", "a number, 0 or more"]),
        ("--set sparsity=lots", &["knob `sparsity` is lots"]),
        (
            "--set sparsty=1",
            &["unknown knob `sparsty`; did you mean `sparsity`?", "known: n_atoms, sparsity"],
        ),
        ("--set max_iter=9", &["unknown knob `max_iter`; did you mean `max_iterations`?"]),
        ("--set zzz=9", &["unknown knob `zzz`; known: "]),
        ("--method label-spread", &["did you mean `label-spreading`?"]),
        ("--set sparsity", &["knob=value"]),
        ("--method svm", &["unknown method `svm`", "ssdl-ga, auto"]),
        ("--method ussdl --set n_neighbors=3", &["unknown knob `n_neighbors`", "known: n_atoms"]),
        ("--prepare whiten", &["unknown preparation step `whiten`", "scale=FACTOR"]),
        ("--prepare scale=0", &["`scale` is 0", "a number > 0"]),
        ("--prepare none --prepare scale=5", &["give it alone"]),
        ("--memory-limit lots", &["--memory-limit", "2GB"]),
        ("--image 28", &["--image", "28x28"]),
        ("--format doc", &["--format", "csv, tsv"]),
        ("--threads many", &["--threads"]),
        ("--trace m.ssdl", &["m.ssdl", "two results"]),
        ("--labels y.csv", &["--labels", "--label-column"]),
        ("--modle x", &["--modle", "--model", "ssdl fit --help"]),
    ];
    for (extra, parts) in cases {
        bench.refused(2, &format!("{fit} {extra}"), parts);
    }
    bench.refused(2, "fit x.csv --model m", &["x.csv", "--label-column", "--labels", "npz"]);
    bench.refused(2, "fit x.csv", &["--model", "ssdl fit --help"]);
    bench.refused(2, "", &["a command is missing", "demo"]);
    bench.refused(2, "fti", &["fti", "ssdl --help"]);
    bench.refused(2, "methods svm", &["unknown method `svm`"]);
    bench.refused(2, "predict m x.csv --json --out -", &["--json", "--out -"]);
}

#[test]
fn outputs_that_cannot_be_written_are_reported_before_the_work() {
    let bench = Bench::with_flowers();
    let fit = "fit flowers.csv --label-column kind";
    bench.refused(1, &format!("{fit} --model no/m.ssdl"), &["no/m.ssdl", "cannot be written"]);
    bench.refused(1, &format!("{fit} --model ."), &["give a file, not a folder"]);
    bench.refused(1, &format!("{fit} --model m --trace no/t.csv"), &["no/t.csv"]);
    bench.refused(1, &format!("{fit} --model m --report no/r.html"), &["no/r.html"]);
    bench.refused(1, &format!("{fit} --model m --report ."), &["give a file, not a folder"]);
    bench.refused(2, &format!("{fit} --model m --report flowers.csv"), &["another name"]);
    bench.refused(2, &format!("{fit} --model flowers.csv"), &["flowers.csv", "another name"]);
    if cfg!(unix) {
        bench.refused(1, &format!("{fit} --model /dev/null"), &["/dev/null", "not a file"]);
    }
    assert!(!bench.exists("m"));
    bench.done(&format!("{fit} --model m.ssdl --quiet"));
    let predict = "predict m.ssdl test.csv --label-column kind";
    bench.refused(1, &format!("{predict} --out no/p.csv"), &["no/p.csv", "cannot be written"]);
    bench.refused(1, &format!("{predict} --codes no/a.npy"), &["no/a.npy"]);
    bench.refused(2, &format!("{predict} --out m.ssdl"), &["m.ssdl", "another name"]);
    bench.refused(1, &format!("{predict} --report no/p.html"), &["no/p.html"]);
    bench.refused(1, "atoms m.ssdl --png no/a.png", &["no/a.png"]);
    bench.refused(2, "atoms m.ssdl --svg m.ssdl", &["m.ssdl", "another name"]);
    bench.refused(1, "inspect m.ssdl --sample 3 --svg no/s.svg", &["no/s.svg"]);
    bench.refused(1, "inspect m.ssdl --report no/r.html", &["no/r.html"]);
}

#[test]
fn a_model_survives_a_fit_that_fails() {
    let bench = Bench::with_flowers();
    bench.done(&format!("fit flowers.csv {TO_MODEL} --quiet"));
    let before = bench.bytes("m.ssdl");
    bench.write("bad.csv", "a,b,kind\n1,2,x\n3,4,x\n");
    bench.refused(1, &format!("fit bad.csv {TO_MODEL}"), &["one class"]);
    bench.refused(
        1,
        &format!("fit flowers.csv {TO_MODEL} --memory-limit 1kB"),
        &["needs about", "1000 are allowed"],
    );
    assert_eq!(bench.bytes("m.ssdl"), before);
    let left: Vec<_> = std::fs::read_dir(bench.path(".")).expect("a folder").collect();
    assert_eq!(left.len(), 4, "{left:?}");
}

#[test]
fn labels_must_match_the_samples() {
    let bench = Bench::new();
    bench.write("x.csv", "1,2\n3,1\n5,6\n");
    bench.write("two.csv", "a\nb\n");
    bench.write("headed.csv", "species\na\nb\na\n");
    bench.refused(
        1,
        "fit x.csv --labels two.csv --model m",
        &["two.csv", "2 labels for 3 samples"],
    );
    bench.refused(1, "fit x.csv --labels headed.csv --model m", &["header, call it `label`"]);
    bench.refused(2, "fit x.csv --label-column kind --model m", &["no label column `kind`"]);
    bench.refused(2, "fit x.csv --label-column 7 --model m", &["no label column 7"]);
    bench.write("y.csv", "a\nb\na\n");
    let image = "fit x.csv --labels y.csv --model m --image 2x2";
    bench.refused(2, image, &["2x2 has 4 pixels", "2 features"]);
}

#[test]
fn the_wrong_file_for_a_model_is_refused() {
    let bench = Bench::with_flowers();
    bench.done(&format!("fit flowers.csv {TO_MODEL} --quiet"));
    bench.refused(1, "predict none.ssdl test.csv", &["none.ssdl", "saved by `ssdl fit`"]);
    bench.refused(1, "inspect test.csv", &["test.csv", "not a usable ssdl model"]);
    let whole = bench.bytes("m.ssdl");
    for length in [0, 5, 100, whole.len() / 2, whole.len() - 1] {
        bench.write("cut.ssdl", &whole[..length]);
        bench.refused(1, "predict cut.ssdl test.csv", &["cut.ssdl", "not a usable ssdl model"]);
    }
}

#[test]
fn the_wrong_number_of_features_is_reported_with_a_hint() {
    let bench = Bench::with_flowers();
    bench.done(&format!("fit flowers.csv {TO_MODEL} --quiet"));
    bench.write("five.csv", "1,2,3,4,5\n");
    let hint = &["five.csv", "expects 4 features, got 5", "--label-column"];
    bench.refused(1, "predict m.ssdl five.csv", hint);
    bench.write("three.csv", "1,2,3\n");
    bench.refused(1, "predict m.ssdl three.csv", &["expects 4 features, got 3"]);
}

#[test]
fn numbers_too_large_for_single_precision_are_reported() {
    let bench = Bench::new();
    bench.write("large.csv", "1e300,2,x\n3,1,y\n");
    bench.refused(
        1,
        "fit large.csv --label-column -1 --model m --precision single",
        &["sample 1, feature 1", "--precision double"],
    );
}
