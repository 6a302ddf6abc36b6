//! Bad arguments and bad data over every command: the exit code, one clear line, nothing written.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use crate::run::{Bench, Ran, flowers, npy};

/// A command line, its exit code, and a part of what it says.
type Case = (String, i32, &'static str);

/// Every file below a folder, with its content.
fn content(folder: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let mut found = BTreeMap::new();
    for entry in std::fs::read_dir(folder).expect("a folder").flatten() {
        let path = entry.path();
        if path.is_dir() {
            found.extend(content(&path));
            found.insert(path, Vec::new());
        } else {
            let bytes = std::fs::read(&path).unwrap_or_default();
            found.insert(path, bytes);
        }
    }
    found
}

/// Runs all cases; every one is refused as it should be.
fn all_refused(bench: &Bench, cases: &[Case]) {
    let before = content(&bench.path("."));
    let mut wrong = Vec::new();
    for (line, code, part) in cases {
        let ran = Ran::from(bench.command(words(line)).output().expect("the program starts"));
        let after = content(&bench.path("."));
        let changed = after.iter().filter(|(path, now)| before.get(*path) != Some(now));
        let changed: Vec<_> = changed.map(|(path, _)| path).collect();
        let mut faults = faults(&ran, *code, part);
        if !changed.is_empty() || after.len() != before.len() {
            faults.push(format!("changed {changed:?}"));
        }
        if !faults.is_empty() {
            wrong.push(format!("ssdl {line}\n  {}\n  said: {}", faults.join("; "), ran.stderr));
        }
    }
    assert!(wrong.is_empty(), "{} of {} cases:\n{}", wrong.len(), cases.len(), wrong.join("\n"));
}

/// What is wrong with a refusal.
fn faults(ran: &Ran, code: i32, part: &str) -> Vec<String> {
    let said = &ran.stderr;
    let last = said.lines().last().unwrap_or_default();
    let mut faults = Vec::new();
    if ran.code != Some(code) {
        faults.push(format!("exit code {:?}, not {code}", ran.code));
    }
    // Notes about the samples may precede the refusal of a fit.
    let notes = said.lines().filter(|line| line.starts_with("note: ")).count();
    if said.lines().count() != notes + 1 || !last.starts_with("ssdl: ") || !said.ends_with('\n') {
        faults.push("not one line".into());
    }
    if last.len() > 900 || last.contains("bug in ssdl") {
        faults.push("not a clear line".into());
    }
    if said.chars().any(|c| c != '\n' && c.is_control()) {
        faults.push("control characters".into());
    }
    if !last.contains(part) {
        faults.push(format!("`{part}` is not in it"));
    }
    faults
}

/// Words separated by spaces; `^` stands for an escape character.
fn words(line: &str) -> Vec<String> {
    line.split_whitespace().map(|word| word.replace('^', "\u{1b}")).collect()
}

/// A folder with samples, a model, images, a plan and knobs.
fn furnished() -> Bench {
    let bench = Bench::with_flowers();
    bench.done("fit flowers.csv --label-column kind --model m.ssdl --method ridge --quiet");
    bench.write("y.csv", "label\n".to_owned() + &"rose\ntulip\n\n".repeat(20));
    bench.write("plan.toml", PLAN);
    bench.write("knobs.toml", "method = \"ridge\"\nprepare = []\n\n[knobs]\n");
    for class in ["cats", "dogs"] {
        std::fs::create_dir_all(bench.path("images").join(class)).expect("made");
        for at in 0..3 {
            bench.write(&format!("images/{class}/{at}.pgm"), format!("P2 2 2 9\n{at} 1 2 3\n"));
        }
    }
    bench.write("clouds.csv", flowers(30, 30));
    bench
}

const PLAN: &str = r#"
kind = "comparison"
title = "Flowers"
[[data]]
name = "flowers"
files = ["clouds.csv"]
label_column = "kind"
[[split]]
name = "few"
labelled = 3
unlabelled = 3
test = 2
seeds = [0]
[[run]]
name = "ridge"
method = "ridge"
"#;

/// A sound command line for every command.
const SOUND: [&str; 13] = [
    "demo --out demo",
    "fit flowers.csv --label-column kind --model new.ssdl",
    "predict m.ssdl test.csv --label-column kind --out p.csv",
    "inspect m.ssdl",
    "atoms m.ssdl --png a.png",
    "graph flowers.csv --label-column kind",
    "methods",
    "experiment plan.toml --data . --out rows.csv",
    "tune flowers.csv --label-column kind",
    "data list",
    "data get digits",
    "data path",
    "licences",
];

#[test]
fn options_of_every_command() {
    let bench = furnished();
    let wrong = [
        ("--seed -1", "whole number from 0"),
        ("--seed 1.5", "--seed"),
        ("--seed 18446744073709551616", "whole number from 0"),
        ("--threads -1", "--threads"),
        ("--threads 1025", "--threads"),
        ("--threads many", "--threads"),
        ("--nonsense", "--nonsense"),
        ("--nonsense^[31m", "--nonsense"),
        ("--json --json", "--json"),
    ];
    let mut cases: Vec<Case> = Vec::new();
    for line in SOUND {
        cases.extend(wrong.iter().map(|(extra, part)| (format!("{line} {extra}"), 2, *part)));
    }
    let alone = ["", "--quiet", "data", "data --quiet", "--json"];
    cases.extend(alone.iter().map(|line| ((*line).to_owned(), 2, "a command is missing")));
    for line in ["fti", "Fit", "help nothing", "data lst", "fit^"] {
        cases.push((line.to_owned(), 2, "see `ssdl"));
    }
    assert!(cases.len() > 120, "{}", cases.len());
    all_refused(&bench, &cases);
}

#[test]
fn knobs_and_steps() {
    let bench = furnished();
    let methods = [
        "ssdl-ga",
        "ussdl",
        "graph-sc",
        "linear-svm",
        "ridge",
        "nearest",
        "label-spreading",
        "self-training",
    ];
    let mut cases: Vec<Case> = Vec::new();
    for command in [
        "fit flowers.csv --label-column kind --model new.ssdl",
        "tune flowers.csv --label-column kind",
    ] {
        for method in methods {
            let line = format!("{command} --method {method} --set");
            cases.push((format!("{line} nonsense=1"), 2, "unknown knob `nonsense`"));
            cases.push((format!("{line} =1"), 2, "knob=value"));
        }
        for knob in [
            "sparsity=-1",
            "sparsity=nan",
            "sparsity=inf",
            "sparsity=lots",
            "sparsity=",
            "sparsity",
            "n_atoms=0",
            "n_atoms=-1",
            "n_atoms=1.5",
            "n_atoms=99999999999999999999",
            "max_iterations=-3",
            "tolerance=x",
            "graph=magic",
            "n_neighbors=0",
            "manifold=-2",
            "sharpness=0.5",
        ] {
            cases.push((format!("{command} --set {knob}"), 2, ""));
        }
        cases.push((format!("{command} --set sparsity=1 --set sparsity=2"), 2, "set twice"));
        for step in [
            "whiten",
            "scale=0",
            "scale=-1",
            "scale=nan",
            "scale=x",
            "pca=0",
            "pca=-1",
            "pca=x",
            "projection=0",
            "power=0",
            "join=[",
            "join=[scale",
            "gradients=0/0/0",
            "gradients=9",
            "contrast=x",
            "resize=0x0",
            "none --prepare scale=5",
            "=",
            "scale=5=5",
        ] {
            cases.push((format!("{command} --prepare {step}"), 2, ""));
        }
    }
    for knob in ["graph=magic", "n_neighbors=0", "width=-1", "nonsense=1", "percentile=200"] {
        cases.push((format!("graph flowers.csv --label-column kind --set {knob}"), 2, ""));
    }
    cases.push(("graph flowers.csv --set width=1x --set width=2x".into(), 2, "set twice"));
    cases.push(("methods magic".into(), 2, "unknown method"));
    cases.push(("methods ridge --markdown".into(), 2, "--markdown"));
    assert!(cases.len() > 90, "{}", cases.len());
    all_refused(&bench, &cases);
}

/// Files that are no samples, and what is said of them.
fn bad_files(bench: &Bench) -> Vec<(&'static str, &'static str)> {
    let whole = npy(&[vec![1.0, 2.0], vec![3.0, 4.0]]);
    let files: Vec<(&str, Vec<u8>, &str)> = vec![
        ("empty.csv", b"".to_vec(), "empty"),
        ("blank.csv", b"\n\n\n".to_vec(), "no rows"),
        ("header.csv", b"a,b,kind\n".to_vec(), "no row of numbers"),
        ("nan.csv", b"a,b,kind\n1,nan,x\n2,1,y\n".to_vec(), "line 2, column 2"),
        ("inf.csv", b"a,b,kind\n1,1,x\n2,-inf,y\n".to_vec(), "line 3, column 2"),
        ("gap.csv", b"a,b,kind\n1,,x\n2,1,y\n".to_vec(), "column 2"),
        ("huge.csv", b"a,b,kind\n1e999,1,x\n2,1,y\n".to_vec(), "column 1"),
        ("word.csv", b"a,b,kind\n1,2,x\nfoo,1,y\n".to_vec(), "`foo`"),
        ("comma.csv", b"a;b;kind\n1,5;2;x\n2;1;y\n".to_vec(), "with a point"),
        ("ragged.csv", b"a,b,kind\n1,2,x\n3,y\n".to_vec(), "line 3 has 2 columns"),
        ("long.csv", b"a,b,kind\n1,2,x\n3,4,y,z\n".to_vec(), "line 3 has 4 columns"),
        ("latin.csv", b"a,b,kind\n1,2,\xe9\n3,4,y\n".to_vec(), "UTF-8"),
        ("escape.csv", b"a,b,kind\n\x1b[31m,2,x\n3,4,y\n".to_vec(), "not a number"),
        ("cut.npy", whole[..whole.len() - 1].to_vec(), "not a valid NPY"),
        ("magic.npy", b"\x93NUMPY".to_vec(), "not a valid NPY"),
        ("text.npy", b"hello".to_vec(), "not a valid NPY"),
        ("bad.npz", b"PK\x03\x04nothing".to_vec(), "not a valid NPZ"),
        ("bad.mat", b"MATLAB 5.0 MAT-file".to_vec(), "MATLAB"),
        ("bad.idx", vec![0, 0, 8, 3, 0], "IDX"),
        ("bad.safetensors", vec![255; 12], "not a valid safetensors"),
        ("bad.csv.gz", vec![0x1f, 0x8b, 8, 0, 1, 2], "gzip"),
        ("strange", b"hello".to_vec(), "unknown format"),
    ];
    files.iter().for_each(|(name, bytes, _)| bench.write(name, bytes));
    files.into_iter().map(|(name, _, part)| (name, part)).collect()
}

#[test]
fn files_that_are_no_samples() {
    let bench = furnished();
    let files = bad_files(&bench);
    let mut cases: Vec<Case> = Vec::new();
    for (name, part) in &files {
        let code = if *part == "unknown format" { 2 } else { 1 };
        let fit = format!("fit {name} --label-column kind --model new.ssdl --quiet");
        let indexed = !name.ends_with(".csv");
        let fit = if indexed { fit.replace("kind", "0") } else { fit };
        cases.push((fit.clone(), code, part));
        cases.push((fit.replace("fit ", "tune ").replace("--model", "--out"), code, part));
        cases.push((format!("graph {name} --label-column -1"), code, part));
        cases.push((format!("predict m.ssdl {name} --label-column -1 --out p.csv"), code, part));
    }
    for name in ["nowhere.csv", "no/where.npy", "/dev/zero", "/dev/null"] {
        let part = if name.starts_with("/dev") { "a device" } else { name };
        cases.push((format!("fit {name} --labels y.csv --model new.ssdl"), 1, part));
        cases.push((format!("predict m.ssdl {name} --out p.csv"), 1, part));
        cases.push((format!("graph {name}"), 1, part));
    }
    cases.push(("graph .".to_owned(), 1, "image"));
    cases.push(("predict m.ssdl . --out p.csv".to_owned(), 2, "in the folder of the samples"));
    assert!(cases.len() > 95, "{}", cases.len());
    all_refused(&bench, &cases);
}

#[test]
fn labels_columns_arrays_and_images() {
    let bench = furnished();
    bench.write("two.csv", "a,b\nx,y\n");
    bench.write("short.csv", "a\nb\n");
    bench.write("one.csv", "a,b,kind\n1,2,x\n3,4,x\n");
    bench.write("none.csv", "a,b,kind\n1,2,\n3,4,\n");
    bench.write("single.csv", "a,b,kind\n1,2,x\n3,4,y\n");
    bench.write("cats.pgm", "P2 2 2 9\n1 2 3 4\n");
    std::fs::create_dir(bench.path("vast")).expect("made");
    bench.write("vast/large.ppm", "P6 60000 60000 255\n");
    let fit = "fit flowers.csv --model new.ssdl";
    let plain = "fit plain.csv --model new.ssdl";
    bench.write("plain.csv", "1,2\n3,4\n5,7\n");
    let folder = "fit images --model new.ssdl";
    let cases: Vec<Case> = [
        (fit.to_string(), 2, "where are the labels?"),
        (format!("{fit} --label-column 99"), 2, "`length`"),
        (format!("{fit} --label-column -99"), 2, "`length`"),
        (format!("{fit} --label-column nothing"), 2, "`length`"),
        (format!("{fit} --label-column length"), 1, "kind"),
        (format!("{fit} --label-column kind --labels y.csv"), 2, "--labels"),
        (format!("{plain} --labels two.csv"), 1, "keep the labels alone"),
        (format!("{plain} --labels short.csv"), 1, "2 labels for 3 samples"),
        (format!("{plain} --labels nowhere.csv"), 1, "nowhere.csv"),
        (format!("{plain} --labels /dev/zero"), 1, "a device"),
        (format!("{fit} --label-column kind --header maybe"), 2, "--header"),
        (format!("{fit} --label-column kind --header no"), 2, "no label column"),
        (format!("{fit} --label-column kind --format doc"), 2, "--format"),
        (format!("{fit} --label-column kind --format npy"), 1, "NPY"),
        (format!("{fit} --label-column kind --precision half"), 2, "--precision"),
        (format!("{fit} --label-column kind --memory-limit 1kB"), 1, "needs about"),
        (format!("{fit} --label-column kind --memory-limit 0"), 2, "--memory-limit"),
        (format!("{fit} --label-column kind --memory-limit -1"), 2, "--memory-limit"),
        (format!("{fit} --label-column kind --unpack-limit x"), 2, "--unpack-limit"),
        (format!("{fit} --label-column kind --image 2x3"), 2, "2x3 has 6 pixels"),
        (format!("{fit} --label-column kind --image 0x4"), 2, "--image"),
        (format!("{fit} --label-column kind --image 4"), 2, "--image"),
        (format!("{fit} --label-column kind --image 99999x99999"), 2, "--image"),
        (format!("{fit} --label-column kind --graph nowhere.csv"), 1, "nowhere.csv"),
        (format!("{fit} --label-column kind --graph short.csv"), 1, "short.csv"),
        (format!("{fit} --label-column kind --knobs nowhere.toml"), 1, "ssdl tune --out"),
        (format!("{fit} --label-column kind --knobs flowers.csv"), 1, "ssdl tune --out"),
        (format!("{fit} --label-column kind --knobs /dev/zero"), 1, "not a file"),
        (format!("{fit} --label-column kind --knobs images"), 1, "not a file"),
        (format!("{fit} --label-column kind --knobs knobs.toml --method ridge"), 2, "--knobs"),
        ("fit one.csv --label-column kind --model new.ssdl".into(), 1, "one class"),
        ("fit none.csv --label-column kind --model new.ssdl".into(), 1, "no sample is labelled"),
        ("tune none.csv --label-column kind".into(), 1, "no sample is labelled"),
        ("tune single.csv --label-column kind".into(), 1, "label"),
        ("tune flowers.csv --label-column kind --fits 0".into(), 2, "at least one fit"),
        ("tune flowers.csv --label-column kind --fits -1".into(), 2, "whole number"),
        ("tune flowers.csv --label-column kind --seconds 0".into(), 2, "more than 0 seconds"),
        ("tune flowers.csv --label-column kind --seconds -1".into(), 2, "more than 0 seconds"),
        ("tune flowers.csv --label-column kind --seconds nan".into(), 2, "more than 0 seconds"),
        (format!("{folder} --label-column kind"), 2, "--label-column is for files"),
        (format!("{folder} --array X"), 2, "--array is for files"),
        (format!("{folder} --format csv"), 2, "--format is for files"),
        (format!("{folder} --header yes"), 2, "--header is for files"),
        (format!("{folder} --image 60000x60000"), 1, "60000x60000"),
        ("fit vast --model new.ssdl --labels y.csv".into(), 1, "more than the limit"),
        ("graph vast".into(), 1, "more than the limit"),
        ("inspect m.ssdl --sample -1".into(), 2, "whole number"),
        ("inspect m.ssdl --sample 60".into(), 1, "no training sample 60"),
        ("inspect m.ssdl --svg s.svg".into(), 2, "--sample"),
        ("inspect m.ssdl --sample 1 --report r.html".into(), 2, "--report"),
        ("atoms m.ssdl".into(), 2, "--png"),
        ("atoms m.ssdl --png a.png".into(), 1, "no atoms"),
        ("data get nothing".into(), 2, "no data set `nothing`"),
        ("data get".into(), 2, "NAME"),
        ("data path nothing".into(), 2, "no data set"),
        ("demo --out flowers.csv".into(), 1, "flowers.csv"),
        ("licences extra".into(), 2, "extra"),
    ]
    .into();
    all_refused(&bench, &cases);
}

#[test]
fn what_unpacks_to_too_much_is_refused_with_the_one_option_that_helps() {
    let bench = furnished();
    let images = include_bytes!("../../../ssdl-data/tests/fixtures/images-idx3-short.gz");
    bench.write("packed.gz", images);
    let fit = "fit packed.gz --labels flowers.csv --model new.ssdl --unpack-limit 20B";
    bench.refused(1, fit, &["20 bytes", "raise the limit with --unpack-limit\n"]);
}

#[test]
fn models_that_are_none() {
    let bench = furnished();
    let whole = bench.bytes("m.ssdl");
    let mut bent = whole.clone();
    bent[whole.len() - 9] ^= 4;
    let files: [(&str, Vec<u8>); 7] = [
        ("empty.ssdl", Vec::new()),
        ("text.ssdl", b"hello, this is no model".to_vec()),
        ("cut.ssdl", whole[..whole.len() / 2].to_vec()),
        ("longer.ssdl", [&whole[..], b"x"].concat()),
        ("bent.ssdl", bent),
        ("claim.ssdl", vec![255; 64]),
        ("zeros.ssdl", vec![0; 64]),
    ];
    let mut cases: Vec<Case> = Vec::new();
    for (name, bytes) in files {
        bench.write(name, bytes);
        let part = "not a usable ssdl model";
        cases.push((format!("predict {name} test.csv --out p.csv"), 1, part));
        cases.push((format!("inspect {name} --report r.html"), 1, part));
        cases.push((format!("atoms {name} --png a.png"), 1, part));
    }
    for name in ["nowhere.ssdl", "images", "/dev/zero", "flowers.csv"] {
        cases.push((format!("predict {name} test.csv"), 1, "saved by `ssdl fit`"));
        cases.push((format!("inspect {name}"), 1, "saved by `ssdl fit`"));
    }
    all_refused(&bench, &cases);
}

#[test]
fn outputs_that_would_destroy_something() {
    let bench = furnished();
    #[cfg(unix)]
    {
        std::os::unix::fs::symlink("flowers.csv", bench.path("link.csv")).expect("linked");
        std::os::unix::fs::symlink(".", bench.path("here")).expect("linked");
    }
    // Its own lists would replace it.
    bench.write("flowers-0.json", PLAN);
    let absolute = bench.path("new.ssdl").display().to_string();
    let fit = "fit flowers.csv --label-column kind --model";
    let predict = "predict m.ssdl test.csv --label-column kind";
    let experiment = "experiment plan.toml --data .";
    let (input, twice) = ("is an input file", "two results cannot go to the same file");
    let mut cases: Vec<Case> = [
        (format!("{fit} flowers.csv"), 2, input),
        (format!("{fit} ./flowers.csv"), 2, input),
        (format!("{fit} images/../flowers.csv"), 2, input),
        (format!("{fit} new.ssdl --trace new.ssdl"), 2, twice),
        (format!("{fit} new.ssdl --trace ./new.ssdl"), 2, twice),
        (format!("{fit} new.ssdl --report images/../new.ssdl"), 2, twice),
        (format!("{fit} {absolute} --trace new.ssdl"), 2, twice),
        (format!("{fit} new.ssdl --trace t.csv --report ./t.csv"), 2, twice),
        (format!("{fit} new.ssdl --trace flowers.csv"), 2, input),
        (format!("{fit} new.ssdl --report flowers.csv"), 2, input),
        (format!("{fit} new.ssdl --knobs knobs.toml --trace ./knobs.toml"), 2, input),
        ("fit flowers.csv --labels y.csv --model y.csv".into(), 2, input),
        ("fit images --model images/cats/0.pgm".into(), 2, "in the folder of the samples"),
        ("fit images --model images/new.ssdl".into(), 2, "in the folder of the samples"),
        ("fit images --model new.ssdl --trace images/cats/t.csv".into(), 2, "in the folder"),
        ("predict m.ssdl images --out images/cats/0.pgm".into(), 2, "in the folder"),
        (format!("{predict} --out m.ssdl"), 2, input),
        (format!("{predict} --out ./test.csv"), 2, input),
        (format!("{predict} --out p.csv --codes ./p.csv"), 2, twice),
        (format!("{predict} --out p.csv --report ./p.csv"), 2, twice),
        (format!("{predict} --codes c.npy --report images/../c.npy"), 2, twice),
        (format!("{predict} --out no/p.csv"), 1, "no/p.csv"),
        (format!("{predict} --out ."), 1, "not a folder"),
        (format!("{predict} --out images"), 1, "not a folder"),
        (format!("{predict} --out - --json"), 2, "--json"),
        ("inspect m.ssdl --report m.ssdl".into(), 2, input),
        ("inspect m.ssdl --report ./m.ssdl".into(), 2, input),
        ("inspect m.ssdl --sample 0 --svg images/../m.ssdl".into(), 2, input),
        ("atoms m.ssdl --png o --svg ./o".into(), 2, twice),
        ("atoms m.ssdl --png m.ssdl".into(), 2, input),
        ("tune flowers.csv --label-column kind --out ./flowers.csv".into(), 2, input),
        ("tune images --out images/knobs.toml".into(), 2, "in the folder of the samples"),
        (format!("{experiment} --out rows.csv --report plan.toml"), 2, input),
        (format!("{experiment} --out rows.csv --report ./plan.toml"), 2, input),
        (format!("{experiment} --out rows.csv --report clouds.csv"), 2, input),
        (format!("{experiment} --out rows.csv --report ./rows.csv"), 2, input),
        (format!("{experiment} --out plan.toml"), 2, input),
        ("experiment flowers-0.json --data . --splits .".into(), 2, input),
        (format!("{experiment} --out ./clouds.csv"), 2, input),
        (format!("{experiment} --out flowers.csv"), 1, "not rows of this experiment"),
        (format!("{fit} no/m.ssdl"), 1, "no/m.ssdl"),
        (format!("{fit} images"), 1, "not a folder"),
    ]
    .into();
    if cfg!(unix) {
        cases.extend([
            (format!("{fit} link.csv"), 2, input),
            (format!("{fit} here/flowers.csv"), 2, input),
            (format!("{fit} new.ssdl --trace here/new.ssdl"), 2, twice),
            (format!("{fit} /dev/null"), 1, "not a file"),
            (format!("{predict} --out /dev/full"), 1, "not a file"),
            (format!("{experiment} --out /dev/full"), 1, "not a plain file"),
            (format!("{experiment} --out /dev/zero --tables"), 1, "not a plain file"),
        ]);
    }
    all_refused(&bench, &cases);
}

#[test]
fn plans_seeds_and_rows() {
    let bench = furnished();
    let plans: [(&str, String, &str); 16] = [
        ("empty.toml", String::new(), "`kind`"),
        ("kind.toml", PLAN.replace("comparison", "other"), "`kind`"),
        ("word.toml", "hello".into(), "line 1"),
        ("key.toml", PLAN.replace("labelled =", "labeled ="), "did you mean `labelled`"),
        ("zero.toml", PLAN.replace("labelled = 3\nu", "labelled = 0\nu"), "at least 1"),
        ("negative.toml", PLAN.replace("test = 2", "test = -2"), "line"),
        ("none.toml", PLAN.replace("seeds = [0]", "seeds = []"), "`seeds`"),
        ("method.toml", PLAN.replace("method = \"ridge\"", "method = \"x\""), "unknown method"),
        ("files.toml", PLAN.replace("[\"clouds.csv\"]", "[]"), "no `files`"),
        ("missing.toml", PLAN.replace("clouds.csv", "nowhere.csv"), "nowhere.csv"),
        ("range.toml", PLAN.replace("[[split]]", "range = [1.0, 0.0]\n[[split]]"), "`range`"),
        (
            "image.toml",
            PLAN.replace("[[split]]", "image = [4294967296, 4294967296]\n[[split]]"),
            "sides must be",
        ),
        ("pixels.toml", PLAN.replace("[[split]]", "image = [3, 3]\n[[split]]"), "9"),
        ("format.toml", PLAN.replace("[[split]]", "format = \"doc\"\n[[split]]"), "doc"),
        ("many.toml", PLAN.replace("labelled = 3\nu", "labelled = 999\nu"), "999"),
        ("title.toml", PLAN.replace("\"Flowers\"", "3"), "line"),
    ];
    let mut cases: Vec<Case> = Vec::new();
    for (name, text, part) in plans {
        bench.write(name, text);
        cases.push((format!("experiment {name} --data . --out x/y/rows.csv --quiet"), 1, part));
    }
    let experiment = "experiment plan.toml --data . --out x/y/rows.csv";
    for seeds in ["-1", "a", "5..2", "0..", "..", "0..-3", "1e3", "0..=x"] {
        cases.push((format!("{experiment} --seeds {seeds}"), 2, "FROM..TO"));
    }
    for seeds in ["0..=18446744073709551615", "0..99999999999999", "0..10001"] {
        cases.push((format!("{experiment} --seeds {seeds}"), 2, "at most 10000 seeds"));
    }
    for (line, code, part) in [
        ("experiment nothing", 2, "unknown experiment"),
        ("experiment nowhere.toml", 1, "nowhere.toml"),
        ("experiment images", 1, "not a file"),
        ("experiment /dev/zero", 1, "not a file"),
        ("experiment", 2, "NAME"),
    ] {
        cases.push((line.to_owned(), code, part));
    }
    cases.push((format!("{experiment} --methods nothing"), 2, "nothing"));
    cases.push((format!("{experiment}/z.csv --data nowhere"), 2, "--data"));
    let nowhere = "experiment plan.toml --data nowhere --out x/y/rows.csv".to_owned();
    cases.push((nowhere, 1, "nowhere"));
    cases.push(("experiment laplacians --data . --seeds 0..1 --out r.csv".into(), 2, "graphs"));
    all_refused(&bench, &cases);
}
