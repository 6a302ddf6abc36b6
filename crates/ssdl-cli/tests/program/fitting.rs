//! `ssdl fit` and `ssdl inspect` when all is well.

use serde_json::Value;

use crate::run::{Bench, flowers, noise, npy};

const FIT: &str = "fit flowers.csv --label-column kind --model m.ssdl --set n_atoms=20";

/// The text without line breaks.
fn unwrapped(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// The numbers of a model file, without its header, which holds times.
fn tensors(bytes: &[u8]) -> &[u8] {
    let (length, _) = bytes.split_first_chunk::<8>().expect("a length");
    &bytes[8 + u64::from_le_bytes(*length) as usize..]
}

#[test]
fn a_table_becomes_a_model_that_can_be_inspected() {
    let bench = Bench::with_flowers();
    let printed = bench.done(&format!("{FIT} --trace t.csv"));
    for part in [
        "60 samples of 4 features from flowers.csv",
        "15 labelled, 45 unlabelled; 3 classes: lily of the valley (5), rose (5), tulip (5)",
        "needed",
        "reconstruction",
        "total",
        "20 used, 0 dead",
        "rose (15)",
        "mean top probability",
        "ssdl predict m.ssdl",
    ] {
        assert!(unwrapped(&printed).contains(part), "`{part}` is not in\n{printed}");
    }
    assert!(printed.lines().all(|line| line.chars().count() <= 80), "{printed}");

    let trace = bench.text("t.csv");
    let mut lines = trace.lines();
    assert_eq!(
        lines.next(),
        Some(
            "iteration,step,reconstruction,sparsity,manifold,discrimination,ridge,total,\
             surrogate,flips,seconds"
        )
    );
    assert!(lines.next().is_some_and(|line| line.starts_with("0,start,")));
    assert!(trace.lines().all(|line| line.split(',').count() == 11), "{trace}");

    let shown = bench.done("inspect m.ssdl");
    for part in
        ["ssdl-ga", "sparsity=0.3", "standardise", "60 samples", "seed 0", "f32", "not zero"]
    {
        assert!(unwrapped(&shown).contains(part), "`{part}` is not in\n{shown}");
    }
}

#[test]
fn json_has_the_documented_fields() {
    let bench = Bench::with_flowers();
    let fit = bench.json(&format!("{FIT} --set beta=0.7"));
    assert_eq!(fit["method"], "ssdl-ga");
    assert_eq!(fit["knobs"]["n_atoms"], 20);
    assert_eq!(fit["knobs"]["manifold"], 0.7);
    assert_eq!((&fit["n_samples"], &fit["n_features"]), (&60.into(), &4.into()));
    assert_eq!(fit["n_labelled"], 15);
    assert_eq!(fit["classes"].as_array().map(Vec::len), Some(3));
    assert!(fit["iterations"].as_u64().is_some_and(|n| n > 0));
    assert!(["converged", "limit"].contains(&fit["stop"].as_str().expect("a word")));
    let terms: f64 = ["reconstruction", "sparsity", "manifold", "discrimination", "ridge"]
        .iter()
        .map(|term| fit["objective"][term].as_f64().expect("a number"))
        .sum();
    assert!((terms - fit["objective"]["total"].as_f64().expect("a number")).abs() < 1e-9 * terms);
    let steps = "read prepare graph start membership codes dictionary classifier save";
    for step in steps.split(' ') {
        assert!(fit["seconds_by_step"][step].as_f64().is_some_and(|s| s >= 0.0), "{step}");
    }
    assert!(fit["seconds"].as_f64().is_some_and(|s| s > 0.0));
    assert!(fit["memory_needed_bytes"].as_u64().is_some_and(|bytes| bytes > 1000));
    // It is that of the prepared samples.
    let wide = FIT.replace("m.ssdl", "wide.ssdl --set beta=0.7 --prepare join=[none|none|none]");
    let wide = bench.json(&wide);
    let needed = |fit: &Value| fit["memory_needed_bytes"].as_u64();
    assert!(needed(&wide) > needed(&fit));
    if cfg!(target_os = "linux") {
        assert!(fit["peak_memory_bytes"].as_u64().is_some_and(|bytes| bytes > 100_000));
    }
    assert!(fit["dead_atoms"].is_u64() && fit["revived_atoms"].is_u64());
    assert_eq!(fit["notices"], Value::Array(Vec::new()));
    let found = fit["transduction"]["unlabelled"].as_array().expect("labels");
    assert_eq!(found.len(), 45);
    assert_eq!(found[..3], ["rose", "tulip", "lily of the valley"]);
    assert_eq!(fit["transduction"]["probability"].as_array().map(Vec::len), Some(45));
    assert_eq!(fit["model"], "m.ssdl");

    let inspected = bench.json("inspect m.ssdl");
    assert_eq!(inspected["knobs"], fit["knobs"]);
    assert_eq!(inspected["objective"], fit["objective"]);
    assert_eq!(inspected["prepare"], serde_json::json!(["standardise", "lift=5"]));
    assert_eq!(inspected["precision"], "f32");
}

#[test]
fn threads_change_nothing_and_seeds_do() {
    let bench = Bench::new();
    bench.write("flowers.csv", flowers(300, 15));
    bench.write("test.csv", flowers(90, 0));
    for (name, extra) in [("one", "--threads 1"), ("two", "--threads 2"), ("other", "--seed 5")] {
        bench.done(&format!(
            "fit flowers.csv --label-column kind --model {name} --set n_atoms=40 {extra}"
        ));
        bench.done(&format!(
            "predict {name} test.csv --label-column kind --proba --out {name}.csv {extra}"
        ));
    }
    let (one, two, other) = (bench.bytes("one"), bench.bytes("two"), bench.bytes("other"));
    assert_eq!(tensors(&one), tensors(&two));
    assert_eq!(bench.text("one.csv"), bench.text("two.csv"));
    assert_ne!(tensors(&one), tensors(&other));
}

#[test]
fn arrays_with_a_file_of_labels_work_in_both_precisions() {
    let bench = Bench::new();
    let rows: Vec<Vec<f64>> = (0..40)
        .map(|i| {
            (0..6).map(|j| f64::from(u8::from(j % 2 == i % 2)) + 0.2 * noise(6 * i + j)).collect()
        })
        .collect();
    bench.write("x.npy", npy(&rows));
    let labels: Vec<&str> =
        (0..40).map(|i| if i < 8 { ["even", "odd"][i % 2] } else { "?" }).collect();
    bench.write("y.csv", labels.join("\n"));
    for precision in ["single", "double"] {
        let fit = bench.json(&format!(
            "fit x.npy --labels y.csv --unlabelled ? --model m --precision {precision} \
             --set n_atoms=10 --image 2x3"
        ));
        assert_eq!(fit["n_labelled"], 8);
        let predicted = bench.json("predict m x.npy --codes a.npy");
        assert_eq!(predicted["labels"][9], "odd");
        let width = if precision == "single" { 4 } else { 8 };
        assert_eq!(bench.bytes("a.npy").len(), 128 + 40 * 10 * width);
        let inspected = bench.json("inspect m");
        bench.done("atoms m --png atoms.png");
        assert_eq!(inspected["precision"], format!("f{}", 8 * width));
        assert_eq!(inspected["image"], serde_json::json!([2, 3]));
        assert!(bench.bytes("atoms.png").starts_with(b"\x89PNG"));
    }
}

#[test]
fn progress_goes_to_stderr_and_quiet_silences_it() {
    let bench = Bench::with_flowers();
    let ran = bench.run(&format!("{FIT} --set n_neighbors=100"));
    assert!(ran.stderr.contains("iteration 1 of at most 15: objective "), "{}", ran.stderr);
    assert!(ran.stderr.contains("note: n_neighbors cut from 100 to 59"), "{}", ran.stderr);
    assert!(!ran.stdout.contains("iteration 1 of"), "{}", ran.stdout);
    let quiet = bench.run(&format!("{FIT} --set n_neighbors=100 --quiet"));
    assert_eq!(quiet.stderr, "");
    assert!(quiet.stdout.contains("objective"));
}

#[test]
fn preparation_can_be_omitted_or_chained() {
    let bench = Bench::with_flowers();
    bench.done(&format!("{FIT} --prepare none"));
    assert_eq!(bench.json("inspect m.ssdl")["prepare"], serde_json::json!([]));
    bench.done(&format!("{FIT} --prepare standardise --prepare pca=2 --prepare scale=5"));
    let inspected = bench.json("inspect m.ssdl");
    assert_eq!(inspected["prepare"], serde_json::json!(["standardise", "pca=2", "scale=5"]));
    assert_eq!(inspected["n_prepared"], 2);
}

#[test]
fn few_or_degenerate_samples_still_make_a_model() {
    let bench = Bench::new();
    bench.write("three.csv", "a,b,kind\n1,2,x\n3,1,y\n5,6,\n");
    bench.write("constant.csv", "a,b,kind\n1,1,x\n1,1,y\n1,1,\n");
    bench.write("twins.csv", "a,b,kind\n1,2,x\n1,2,x\n1,2,\n3,1,y\n3,1,y\n3,1,\n");
    for name in ["three", "constant", "twins"] {
        let fit = bench.json(&format!("fit {name}.csv --label-column kind --model m"));
        assert!(fit["objective"]["total"].as_f64().is_some_and(f64::is_finite), "{name}");
        let sure = fit["transduction"]["probability"].as_array().expect("numbers");
        let shares = |p: &Value| p.as_f64().is_some_and(|p| (0.0..=1.0).contains(&p));
        assert!(sure.iter().all(shares), "{name}: {sure:?}");
    }
}

#[test]
fn every_method_fits_by_its_name() {
    let bench = Bench::with_flowers();
    let register = bench.json("methods");
    for method in register["methods"].as_array().expect("a list") {
        let name = method["name"].as_str().expect("a name");
        let knobs = method["knobs"].as_array().expect("a list");
        // A method without a dictionary has no number of atoms to set.
        let with_atoms = knobs.iter().any(|knob| knob["name"] == "n_atoms");
        let call = if with_atoms { FIT } else { FIT.trim_end_matches(" --set n_atoms=20") };
        let fit = bench.json(&format!("{call} --method {name}"));
        assert_eq!(fit["method"], name);
        bench.done("predict m.ssdl test.csv --label-column kind --out p.csv");
    }
}

#[test]
fn samples_and_classes_may_be_weighed() {
    let bench = Bench::with_flowers();
    let all = flowers(60, 15);
    let weighed = |weight: &dyn Fn(usize) -> &'static str| {
        let lines = all.lines().enumerate().map(|(line, text)| match line {
            0 => format!("count,{text}"),
            _ => format!("{},{text}", weight(line)),
        });
        lines.collect::<Vec<_>>().join("\n")
    };
    bench.write("same.csv", weighed(&|_| "2.5"));
    bench.write("some.csv", weighed(&|line| if line % 5 == 4 { "0" } else { "1" }));
    let rest: Vec<&str> =
        all.lines().enumerate().filter(|(line, _)| line % 5 != 4).map(|(_, text)| text).collect();
    bench.write("rest.csv", rest.join("\n"));
    let fit = |file: &str, more: &str| {
        bench.done(&format!(
            "fit {file} --label-column kind --model w.ssdl --set n_atoms=12 {more} --quiet"
        ));
        tensors(&bench.bytes("w.ssdl")).to_vec()
    };
    let plain = fit("flowers.csv", "");
    assert_eq!(fit("same.csv", "--weight-column count"), plain, "equal weights change nothing");
    assert_ne!(fit("flowers.csv", "--class-weight rose=3"), plain, "a class that counts more");
    assert_eq!(
        fit("some.csv", "--weight-column count"),
        fit("rest.csv", ""),
        "weight zero leaves a sample out"
    );
    for (arguments, words) in [
        ("same.csv --weight-column size", "no column `size` of weights"),
        ("same.csv --weight-column count --class-weight iris=2", "weight of class `iris`"),
        ("same.csv --weight-column count --class-weight even", "write `balanced`"),
    ] {
        let ran = bench.run(&format!("fit {arguments} --label-column kind --model w.ssdl"));
        assert!(ran.code != Some(0) && ran.stderr.contains(words), "{arguments}: {}", ran.stderr);
    }
}

#[test]
fn features_of_different_scale_raise_a_doubt() {
    let bench = Bench::with_flowers();
    let large: Vec<String> = flowers(60, 15)
        .lines()
        .enumerate()
        .map(|(line, text)| match line {
            0 => format!("price,{text}"),
            _ => format!("{},{text}", 5000.0 * noise(line)),
        })
        .collect();
    bench.write("large.csv", large.join("\n"));
    let fit = "--label-column kind --model m.ssdl --set n_atoms=12";
    let told =
        |call: &str| bench.run(&format!("fit {call} {fit}")).stderr.contains("different scales");
    assert!(told("large.csv --prepare scale=5"));
    assert!(!told("large.csv"), "auto looks at the features");
    assert!(!told("large.csv --prepare standardise --prepare scale=5"));
    assert!(!told("flowers.csv --prepare scale=5"));
}

#[test]
fn samples_on_disk_give_the_same_model() {
    let bench = Bench::new();
    let row = |at: usize| (0..5).map(|i| noise(5 * at + i) + (at % 4) as f64).collect();
    bench.write("x.npy", npy(&(0..80).map(row).collect::<Vec<_>>()));
    let labels: Vec<&str> = (0..80).map(|at| ["a", "b", "", ""][at % 4]).collect();
    bench.write("y.txt", format!("label\n{}\n", labels.join("\n")));
    let fit = "fit x.npy --labels y.txt --set n_atoms=10";
    bench.done(&format!("{fit} --model memory.ssdl"));
    bench.done(&format!("{fit} --model disk.ssdl --scratch ."));
    assert_eq!(tensors(&bench.bytes("memory.ssdl")), tensors(&bench.bytes("disk.ssdl")));
    bench.refused(1, &format!("{fit} --model m.ssdl --scratch nowhere"), &["nowhere"]);
}

/// The program of the tests is built without cards, as most are.
#[test]
fn a_card_is_not_silently_replaced() {
    let bench = Bench::with_flowers();
    let fit = "fit flowers.csv --label-column kind --set n_atoms=12 --model m.ssdl --device";
    bench.refused(1, &format!("{fit} gpu"), &["graphics cards", "--features gpu"]);
    assert!(!bench.exists("m.ssdl"));
    let ran = bench.run(&format!("{fit} auto"));
    assert!(
        ran.code == Some(0) && ran.stderr.contains("computing on the processor"),
        "{}",
        ran.stderr
    );
    assert!(!bench.run(&format!("{fit} auto --quiet")).stderr.contains("processor"));
    let predict = "predict m.ssdl flowers.csv --label-column kind --out p.csv --device";
    bench.refused(1, &format!("{predict} gpu"), &["graphics cards"]);
    bench.done(&format!("{predict} cpu"));
    bench.refused(2, &format!("{fit} tpu"), &["tpu"]);
}
