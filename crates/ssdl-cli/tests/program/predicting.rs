//! `ssdl predict` when all is well.

use std::io::Read;

use crate::run::{Bench, Ran};

fn fitted() -> Bench {
    let bench = Bench::with_flowers();
    bench.done("fit flowers.csv --label-column kind --model m.ssdl --set n_atoms=20 --quiet");
    bench
}

#[test]
fn labels_and_probabilities_are_written_with_a_header() {
    let bench = fitted();
    let printed = bench.done("predict m.ssdl test.csv --label-column kind --out p.csv --proba");
    assert!(printed.contains("100.0 % of 30 known labels"), "{printed}");
    let table = bench.text("p.csv");
    let mut lines = table.lines();
    assert_eq!(lines.next(), Some("label,lily of the valley,rose,tulip"));
    let first: Vec<&str> = lines.next().expect("a row").split(',').collect();
    assert_eq!(first[0], "rose");
    let sum: f64 = first[1..].iter().map(|cell| cell.parse::<f64>().expect("a number")).sum();
    assert!((sum - 1.0).abs() < 1e-6);
    assert_eq!(table.lines().count(), 31);
}

#[test]
fn columns_are_found_by_their_names() {
    let bench = fitted();
    // Turned round, with a column of text in front; nothing is said about it.
    let turn = |line: &str| {
        let cells: Vec<&str> = line.split(',').rev().collect();
        format!("no. {},{}\n", line.len(), cells.join(","))
    };
    bench.write("turned.csv", bench.text("test.csv").lines().map(turn).collect::<String>());
    bench.done("predict m.ssdl test.csv --label-column kind --out p.csv --proba");
    bench.done("predict m.ssdl turned.csv --out q.csv --proba");
    assert_eq!(bench.text("p.csv"), bench.text("q.csv"));
}

#[test]
fn labels_go_to_stdout_and_the_summary_to_stderr() {
    let bench = fitted();
    for out in ["", "--out -"] {
        let ran = bench.run(&format!("predict m.ssdl test.csv --label-column kind {out}"));
        assert_eq!(ran.code, Some(0), "{}", ran.stderr);
        assert!(ran.stdout.starts_with("label\nrose\ntulip\nlily of the valley\nrose\n"));
        assert_eq!(ran.stdout.lines().count(), 31);
        assert!(ran.stderr.contains("accuracy"), "{}", ran.stderr);
    }
}

#[test]
fn json_holds_the_labels_when_no_file_does() {
    let bench = fitted();
    let answer = bench.json("predict m.ssdl test.csv --label-column kind --proba");
    assert_eq!(answer["accuracy"], 1.0);
    assert_eq!(answer["n_known_labels"], 30);
    assert_eq!(answer["counts"]["rose"], 10);
    assert_eq!(answer["labels"][1], "tulip");
    assert_eq!(answer["probabilities"][0].as_array().map(Vec::len), Some(3));
    let answer = bench.json("predict m.ssdl test.csv --label-column kind --out p.csv");
    assert_eq!(answer["out"], "p.csv");
    assert!(answer.get("labels").is_none());
}

#[test]
fn a_label_column_may_be_missing_and_its_labels_unknown() {
    let bench = fitted();
    let all = bench.text("test.csv");
    let bare: Vec<&str> =
        all.lines().map(|line| line.rsplit_once(',').expect("two cells").0).collect();
    bench.write("bare.csv", bare.join("\n"));
    let with = bench.done("predict m.ssdl test.csv --label-column kind --quiet");
    assert_eq!(bench.done("predict m.ssdl bare.csv --label-column kind --quiet"), with);
    assert_eq!(bench.done("predict m.ssdl bare.csv --quiet"), with);
    bench.write("unknown.csv", all.replace("rose", "daisy"));
    let printed = bench.done("predict m.ssdl unknown.csv --label-column kind --out p.csv");
    assert!(printed.contains("66.7 % of 30 known labels; 10 of them are no classes"), "{printed}");
}

#[test]
fn a_sample_alone_gets_the_same_prediction_as_among_others() {
    let bench = fitted();
    let all = bench.done("predict m.ssdl test.csv --label-column kind --proba --quiet");
    let rows = bench.text("test.csv");
    let rows: Vec<&str> = rows.lines().collect();
    bench.write("alone.csv", format!("{}\n{}\n", rows[0], rows[5]));
    let alone = bench.done("predict m.ssdl alone.csv --label-column kind --proba --quiet");
    assert_eq!(alone.lines().nth(1), all.lines().nth(5));
}

#[test]
fn a_closed_pipe_is_not_a_failure() {
    let bench = fitted();
    for arguments in ["predict m.ssdl test.csv --label-column kind", "methods --markdown"] {
        let mut child = bench.command(arguments.split(' ')).spawn().expect("the program starts");
        let mut stdout = child.stdout.take().expect("a pipe");
        let mut one = [0; 1];
        if arguments.starts_with("methods") {
            stdout.read_exact(&mut one).expect("a byte");
        }
        drop(stdout);
        let ran = Ran::from(child.wait_with_output().expect("it ends"));
        assert_eq!(ran.code, Some(0), "{}", ran.stderr);
        assert!(!ran.stderr.contains("bug"), "{}", ran.stderr);
    }
}

/// The program where no other one can be found.
fn without_nets(bench: &Bench, words: &[&str]) -> Ran {
    let output = bench.command(words).env("PATH", bench.path("nothing")).output();
    Ran::from(output.expect("it runs"))
}

#[cfg(unix)]
#[test]
fn nets_are_handed_over_to_their_program_where_it_is_installed() {
    use std::os::unix::fs::PermissionsExt;
    let bench = fitted();
    let fit = ["fit", "test.csv", "--model", "m", "--method", "cnn", "--set", "epochs=3"];
    let ran = without_nets(&bench, &fit);
    assert_eq!(ran.code, Some(2));
    assert!(ran.stderr.contains("`ssdl-neural fit`"), "{}", ran.stderr);
    std::fs::create_dir(bench.path("programs")).expect("a folder");
    bench.write("programs/ssdl-neural", "#!/bin/sh\necho \"asked: $*\"\nexit 7\n");
    let mode = std::fs::Permissions::from_mode(0o755);
    std::fs::set_permissions(bench.path("programs/ssdl-neural"), mode).expect("executable");
    let path = format!("{}:/usr/bin:/bin", bench.path("programs").display());
    let ran = Ran::from(bench.command(fit).env("PATH", path).output().expect("it runs"));
    assert_eq!(ran.code, Some(7), "{}", ran.stderr);
    assert_eq!(ran.stdout.trim(), format!("asked: {}", fit.join(" ")));
    assert!(!bench.exists("m"));
}

#[test]
fn a_net_is_named_with_the_program_that_reads_it() {
    let bench = fitted();
    let array =
        |name: &str| ssdl::model::Array { name: name.into(), shape: vec![1], values: vec![1.0] };
    let net = bench.path("digits.net");
    ssdl::model::save_arrays(&net, "{\"format\": \"ssdl-net\"}", &[&array("weight")])
        .expect("saved");
    bench.refused(1, "inspect digits.net", &["digits.net: is a net", "`ssdl-neural predict`"]);
    let ran = without_nets(&bench, &["predict", "digits.net", "test.csv"]);
    assert_eq!(ran.code, Some(1));
    assert!(ran.stderr.contains("`ssdl-neural predict`"), "{}", ran.stderr);
    ssdl::model::save_arrays(&net, "{\"format\": \"other\"}", &[&array("weight")]).expect("saved");
    bench.refused(1, "predict digits.net test.csv", &["give a model saved by `ssdl fit`"]);
}

/// People of two kinds: the words of a column tell them apart, numbers say little; some cells are empty.
fn people(n: usize, n_labelled: usize) -> String {
    let row = |j: usize| {
        let (kind, job) = match j % 4 {
            0 => ("yes", "nurse"),
            1 => ("no", "clerk"),
            2 => ("yes", "teacher"),
            _ => ("no", "pilot"),
        };
        let age = if j % 7 == 6 { String::new() } else { (20 + (j * 13) % 40).to_string() };
        let kind = if j < n_labelled { kind } else { "" };
        format!("{age},{job},{},{kind}\n", if j.is_multiple_of(3) { "f" } else { "m" })
    };
    "age,job,sex,kind\n".to_owned() + &(0..n).map(row).collect::<String>()
}

#[test]
fn words_and_gaps_are_read_as_in_the_fit() {
    let bench = Bench::new();
    bench.write("people.csv", people(80, 24));
    let fit = "fit people.csv --label-column kind --model m.ssdl";
    bench.refused(1, fit, &["line 2, column 2 (`job`) is `nurse`", "fit with --words"]);
    let gap = ["line 8, column 1 (`age`) is empty", "fit with --fill-gaps"];
    bench.refused(1, &format!("{fit} --words"), &gap);
    bench.refused(1, &format!("{fit} --fill-gaps"), &["`nurse`, which is not a number"]);
    let ran = bench.run(&format!("{fit} --words --fill-gaps"));
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    assert!(ran.stderr.contains("column `job` (4), column `sex` (1)"), "{}", ran.stderr);
    assert!(ran.stderr.contains("gaps are filled: column `age` (11 as"), "{}", ran.stderr);
    let shown = bench.done("inspect m.ssdl").split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(shown.contains("job: clerk, nurse, pilot, teacher; sex: f, m"), "{shown}");
    // In another order, with a gap and a word that nobody knows.
    bench.write("new.csv", "sex,job,dealer,age\nf,nurse,x,\nm,clerk,y,30\nf,astronaut,z,33\n");
    let ran = bench.run("predict m.ssdl new.csv");
    assert!(ran.stdout.starts_with("label\nyes\nno\n"), "{}", ran.stdout);
    assert!(ran.stderr.contains("column `job` (`astronaut`)"), "{}", ran.stderr);
    assert!(!ran.stderr.contains("become features"), "{}", ran.stderr);
    let page = bench.run("predict m.ssdl new.csv --report page.html --quiet");
    assert_eq!((page.code, page.stderr.as_str()), (Some(0), ""));
    assert!(bench.text("page.html").contains("job=nurse"));
    bench.write("few.csv", "sex,age\nf,3\n");
    bench.refused(1, "predict m.ssdl few.csv", &["not there: `job`", "the training file"]);
    bench.refused(2, "predict m.ssdl new.csv --words", &["--words is for the fit"]);
}
