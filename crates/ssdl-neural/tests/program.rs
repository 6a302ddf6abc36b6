//! The program: what it prints, writes and refuses.

use std::fmt::Write;
use std::path::Path;
use std::process::{Command, Output};

fn run(folder: &Path, arguments: &str) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_ssdl-neural"));
    command.args(arguments.split_whitespace()).current_dir(folder).output().expect("it runs")
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// Digits of two classes, five labelled of each: training samples and test samples.
fn write_digits(folder: &Path) {
    let table = ssdl_data::digits();
    let truth: Vec<String> = table.labels.expect("labelled").into_iter().flatten().collect();
    let two: Vec<usize> =
        (0..truth.len()).filter(|&j| ["0", "1"].contains(&truth[j].as_str())).collect();
    let (train, test) = two.split_at(120);
    let csv = |chosen: &[usize], n_labelled: usize| {
        let mut csv = String::from("kind");
        (0..64).for_each(|pixel| write!(csv, ",p{pixel}").expect("text"));
        for (at, &j) in chosen.iter().enumerate() {
            csv.push('\n');
            csv.push_str(if at < n_labelled { &truth[j] } else { "" });
            for value in table.features.column(j) {
                write!(csv, ",{value}").expect("text");
            }
        }
        csv
    };
    std::fs::write(folder.join("train.csv"), csv(train, 10)).expect("written");
    std::fs::write(folder.join("test.csv"), csv(test, test.len())).expect("written");
}

const QUICK: &str = "--set epochs=12 --set batch=20 --label-column kind --image 8x8";

#[test]
fn fit_and_predict() {
    let folder = tempfile::tempdir().expect("a folder");
    let folder = folder.path();
    write_digits(folder);
    for method in ["cnn", "ladder"] {
        let fitted = run(folder, &format!("fit train.csv --method {method} --model a.net {QUICK}"));
        let (out, err) = (text(&fitted.stdout), text(&fitted.stderr));
        assert!(fitted.status.success(), "{out}{err}");
        assert!(out.contains("12 epochs") && out.contains("a.net"), "{out}");
        assert!(err.contains("12 of 12: epochs, objective"), "{err}");
        let found =
            run(folder, "predict a.net test.csv --label-column kind --proba --out found.csv");
        let err = text(&found.stderr);
        let accuracy: f64 = err
            .split_whitespace()
            .nth(1)
            .and_then(|word| word.parse().ok())
            .unwrap_or_else(|| panic!("{err}"));
        assert!(accuracy > 90.0, "{method}: {accuracy}");
        let csv = std::fs::read_to_string(folder.join("found.csv")).expect("written");
        assert!(csv.lines().next().is_some_and(|line| line.contains('0') && line.contains('1')));
        let quiet =
            run(folder, &format!("fit train.csv --method {method} --model b.net --quiet {QUICK}"));
        assert!(quiet.stderr.is_empty(), "{}", text(&quiet.stderr));
        let read = |name: &str| std::fs::read(folder.join(name)).expect("there");
        assert_eq!(read("a.net"), read("b.net"), "{method}");
    }
}

#[test]
fn a_net_has_a_page_of_its_fit_and_of_other_samples() {
    let folder = tempfile::tempdir().expect("a folder");
    let folder = folder.path();
    write_digits(folder);
    let fit = format!("fit train.csv --method cnn --model a.net --report fit.html --quiet {QUICK}");
    let fitted = run(folder, &fit);
    assert!(fitted.status.success(), "{}", text(&fitted.stderr));
    assert!(text(&fitted.stdout).contains("report: fit.html"));
    let judged = "predict a.net test.csv --label-column kind --out p.csv --report test.html";
    assert!(run(folder, judged).status.success());
    let read = |name: &str| std::fs::read_to_string(folder.join(name)).expect("written");
    let (fit, test) = (read("fit.html"), read("test.html"));
    for page in [&fit, &test] {
        for part in ["<title>cnn on ", "Objective by epoch", "12 epochs", "least certain samples"] {
            assert!(page.contains(part), "{part}");
        }
        assert!(page.contains("16, 32 maps on 8 x 8 pixels"), "the net in words");
        assert!(!page.contains("http:") && !page.contains("https:"), "nothing is fetched");
    }
    assert!(fit.contains("10 of 10 labelled training samples, which the fit has seen"));
    assert!(test.contains(" samples, correct: ") && !test.contains("which the fit has seen"));
    let same = run(folder, "predict a.net test.csv --out x.csv --report x.csv");
    assert!(text(&same.stderr).contains("same file"), "{}", text(&same.stderr));
    let lost = run(folder, "predict a.net test.csv --report a.net");
    assert!(text(&lost.stderr).contains("would be replaced"), "{}", text(&lost.stderr));
}

#[test]
fn a_model_of_ssdl_is_named_with_the_program_that_reads_it() {
    use ssdl::prelude::*;
    let folder = tempfile::tempdir().expect("a folder");
    let folder = folder.path();
    write_digits(folder);
    let features = ssdl::Matrix::from_fn(3, 12, |i, j| ((i * 7 + j * 5) % 11) as f64);
    let names: Vec<_> = (0..12).map(|j| Some(["a", "b"][j % 2])).collect();
    let samples = ssdl::Samples::new(features, ssdl::Labels::from_names(&names)).expect("samples");
    let model = ssdl::methods::Ridge::new().fit(samples).expect("fitted");
    model.save(&folder.join("m.ssdl")).expect("saved");
    let refused = run(folder, "predict m.ssdl test.csv");
    let err = text(&refused.stderr);
    assert_eq!(refused.status.code(), Some(1), "{err}");
    assert!(err.contains("m.ssdl: is a model of ssdl") && err.contains("`ssdl predict`"), "{err}");
}

#[test]
fn mistakes_are_named_with_their_remedy() {
    let folder = tempfile::tempdir().expect("a folder");
    let folder = folder.path();
    write_digits(folder);
    let cases = [
        ("fit train.csv --label-column kind --method cnn --model a.net", "--image"),
        ("fit train.csv --label-column kind --method lstm --model a.net", "cnn, ladder"),
        ("fit train.csv --label-column kind --model a.net --set epoch=3", "epochs"),
        ("fit train.csv --label-column kind --model a.net --prepare nonsense", "nonsense"),
        ("fit train.csv --label-column kind --model train.csv", "would be replaced"),
        ("fit train.csv --label-column kind --model a.net --memory-limit 10", "raise the limit"),
        ("fit missing.csv --label-column kind --model a.net", "missing.csv"),
        ("predict train.csv test.csv", "train.csv"),
        ("experiment nonsense --data .", "digits"),
        ("experiment noise --data .", "graphs"),
    ];
    for (arguments, expected) in cases {
        let output = run(folder, arguments);
        let err = text(&output.stderr);
        assert_eq!(output.status.code(), Some(1), "{arguments}: {err}");
        assert!(err.contains(expected) && err.starts_with("ssdl-neural: "), "{arguments}: {err}");
        assert!(!folder.join("a.net").exists(), "{arguments}");
    }
}

#[cfg(unix)]
#[test]
fn an_interrupt_saves_the_best_net_so_far() {
    use std::io::{BufRead, BufReader};
    use std::process::Stdio;
    let folder = tempfile::tempdir().expect("a folder");
    write_digits(folder.path());
    let mut child = Command::new(env!("CARGO_BIN_EXE_ssdl-neural"))
        .args("fit train.csv --label-column kind --model a.net --set epochs=100000".split(' '))
        .current_dir(folder.path())
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .expect("it runs");
    let mut lines = BufReader::new(child.stderr.take().expect("piped")).lines();
    let first = lines.next().expect("a line").expect("text");
    assert!(first.contains("of 100000: epochs"), "{first}");
    let id = child.id().to_string();
    assert!(Command::new("kill").args(["-INT", &id]).status().expect("sent").success());
    let rest: Vec<String> = lines.map_while(Result::ok).collect();
    assert_eq!(child.wait().expect("ended").code(), Some(1));
    assert!(rest.iter().any(|line| line.contains("best net so far is saved")), "{rest:?}");
    let found = run(folder.path(), "predict a.net test.csv --label-column kind --quiet");
    assert!(found.status.success(), "{}", text(&found.stderr));
}

#[test]
fn rows_of_an_experiment_are_added_and_not_run_again() {
    let folder = tempfile::tempdir().expect("a folder");
    let folder = folder.path();
    write_digits(folder);
    let plan = r#"
kind = "comparison"
title = "Two digits"
[[data]]
name = "two"
files = ["test.csv"]
label_column = "kind"
image = [8, 8]
[[split]]
name = "drawn"
labelled = 5
unlabelled = 20
test = 30
seeds = [0, 1]
[[run]]
name = "ridge"
method = "ridge"
[[run]]
name = "CNN"
method = "cnn"
knobs = { epochs = 8, batch = 5 }
"#;
    std::fs::write(folder.join("plan.toml"), plan).expect("written");
    let first = run(folder, "experiment plan.toml --data . --out rows.csv");
    let out = text(&first.stdout);
    assert!(first.status.success(), "{}", text(&first.stderr));
    assert!(out.contains("seed 1, CNN") && out.contains("2 rows of nets"), "{out}");
    let rows = std::fs::read_to_string(folder.join("rows.csv")).expect("written");
    assert_eq!(rows.lines().count(), 3, "{rows}");
    let again = run(folder, "experiment plan.toml --data . --out rows.csv");
    assert_eq!(text(&again.stdout), out);
    assert_eq!(std::fs::read_to_string(folder.join("rows.csv")).expect("there"), rows);
    let quick = run(folder, "experiment plan.toml --data . --quick");
    assert!(text(&quick.stdout).contains("1 rows of nets in results/plan-quick.csv"), "one seed");
    let wrong = plan.replace("epochs = 8", "epoch = 8");
    std::fs::write(folder.join("plan.toml"), wrong).expect("written");
    let refused = run(folder, "experiment plan.toml --data . --out rows.csv");
    assert!(text(&refused.stderr).contains("epoch"), "{}", text(&refused.stderr));
}

#[test]
fn a_card_that_is_not_there_is_explained_or_passed_over() {
    let folder = tempfile::tempdir().expect("a folder");
    let folder = folder.path();
    write_digits(folder);
    let fit = |device: &str, name: &str| {
        run(folder, &format!("fit train.csv --model {name} {QUICK} --device {device}"))
    };
    let asked = fit("gpu", "card.net");
    if !asked.status.success() {
        let err = text(&asked.stderr);
        assert!(err.contains("no graphics card") && err.contains("omit --device"), "{err}");
        assert!(!folder.join("card.net").exists());
        let err = text(&fit("auto", "auto.net").stderr);
        assert!(err.contains("note: training on the processor"), "{err}");
    } else {
        // The same seed gives the same file on one card, too.
        assert!(fit("gpu", "again.net").status.success());
        let read = |name: &str| std::fs::read(folder.join(name)).expect("saved");
        assert_eq!(read("card.net"), read("again.net"));
    }
    assert!(!fit("tpu", "none.net").status.success());
}
