//! `ssdl experiment` and `ssdl tune`: rows, tables, knobs, and what is refused.

use crate::run::Bench;

pub const PLAN: &str = r#"
kind = "comparison"
title = "Flowers"

[[data]]
name = "flowers"
files = ["test.csv"]
label_column = "kind"

[[split]]
name = "few"
labelled = 3
unlabelled = 2
test = 4
seeds = [0, 1]

[[run]]
name = "svm"
method = "linear-svm"

[[run]]
name = "ours"
method = "ssdl-ga"
prepare = ["scale=5"]
knobs = { n_atoms = 6, max_iterations = 2, n_neighbors = 3 }
"#;

#[test]
fn a_user_plan_gives_rows_and_a_table_and_continues_where_it_stopped() {
    let bench = Bench::with_flowers();
    bench.write("plan.toml", PLAN);
    let printed = bench.done("experiment plan.toml --data . --seeds 0..1");
    assert!(
        printed.contains("## Flowers") && printed.contains("2 rows in results/plan.csv"),
        "{printed}"
    );
    assert!(printed.contains("| svm |") && printed.contains("| ours |"), "{printed}");
    let first = bench.text("results/plan.csv");
    let answer = bench.json("experiment plan.toml --data .");
    assert_eq!(answer["n_rows"], 4);
    assert!(bench.text("results/plan.csv").starts_with(&first), "rows are appended");
    let tables = bench.done("experiment plan.toml --tables");
    assert!(tables.contains("(9 labelled, 6 unlabelled, 12 test)"), "{tables}");
    let chosen = bench.done("experiment plan.toml --data . --methods linear-svm --out other.csv");
    assert!(chosen.contains("| svm |") && !chosen.contains("| ours |"), "{chosen}");
}

#[test]
fn contenders_on_the_same_draws_stand_beside_ours() {
    let bench = Bench::with_flowers();
    let contenders = "[contenders]\nfile = \"theirs.csv\"\nlog_loss = \"theirs\"\n\n[[data]]";
    bench.write("plan.toml", PLAN.replace("[[data]]", contenders));
    let printed = bench.done("experiment plan.toml --data . --seeds 1..2 --splits lists");
    assert!(printed.contains("1 file of index lists in lists"), "{printed}");
    let lists: serde_json::Value =
        serde_json::from_str(&bench.text("lists/flowers-0.json")).expect("JSON");
    assert_eq!((&lists["split"], &lists["runs"][0]["seed"]), (&"few".into(), &1.into()));
    assert_eq!(lists["runs"][0]["test"].as_array().map(Vec::len), Some(12));
    assert!(lists["runs"].as_array().is_some_and(|runs| runs.len() == 1), "only that seed");
    let printed = bench.done("experiment plan.toml --data . --seeds 0..1");
    assert!(!printed.contains("\n| theirs |"), "{printed}");
    assert!(printed.contains("no contenders: there are no rows in theirs.csv"), "{printed}");
    let rows = bench.text("results/plan.csv");
    let svm = |line: &&str| !line.contains(",ours,");
    let theirs: Vec<&str> = rows.lines().filter(svm).collect();
    bench.write("theirs.csv", theirs.join("\n").replace(",svm,", ",theirs,") + "\n");
    let printed = bench.done("experiment plan.toml --tables --brief");
    assert!(printed.contains("to the best contender"), "{printed}");
    assert!(printed.contains("| theirs |") && printed.contains("| svm | +0.0 |"), "{printed}");
    let refused = bench.run("experiment laplacians --data . --splits lists");
    assert!(refused.code == Some(2) && refused.stderr.contains("--splits"), "{}", refused.stderr);
}

#[test]
fn impossible_experiments_are_refused_in_one_line() {
    let bench = Bench::with_flowers();
    bench.write("plan.toml", PLAN);
    bench.write("typo.toml", PLAN.replace("unlabelled = 2", "unlabeled = 2"));
    bench.write("greedy.toml", PLAN.replace("test = 4", "test = 40"));
    bench.write("rows.csv", "a,b\n1,2\n");
    for (arguments, code, words) in [
        ("experiment nonsense --data .", 2, "digits"),
        ("experiment typo.toml --data .", 1, "unlabeled"),
        ("experiment greedy.toml --data .", 1, "has 10 samples"),
        ("experiment plan.toml --data nowhere", 1, "test.csv"),
        ("experiment plan.toml --data . --out rows.csv", 1, "rows.csv"),
        ("experiment plan.toml --data . --methods theirs", 2, "theirs"),
        ("experiment plan.toml --data . --quick", 2, "--seeds"),
        ("experiment plan.toml --data . --seeds 3..1", 2, "FROM..TO"),
        ("experiment laplacians --data . --again", 2, "graphs"),
        ("experiment digits --data . --methods CNN,ladder --out new.csv", 2, "ssdl-neural"),
        ("fit flowers.csv --label-column kind --model m --method cnn", 2, "ssdl-neural fit"),
    ] {
        let ran = bench.run(arguments);
        assert_eq!(ran.code, Some(code), "{arguments}: {}", ran.stderr);
        assert!(ran.stderr.contains(words), "{arguments}: {}", ran.stderr);
        assert_eq!(ran.stderr.trim_end().lines().count(), 1, "{arguments}: {}", ran.stderr);
    }
    assert_eq!(bench.text("rows.csv"), "a,b\n1,2\n", "nothing is overwritten");
}

#[test]
fn a_fit_uses_the_knobs_that_were_found() {
    let bench = Bench::with_flowers();
    let search = "tune flowers.csv --label-column kind --set n_atoms=9 --set max_iterations=2";
    let printed = bench.done(&format!("{search} --fits 12 --out knobs.toml --quiet"));
    assert_eq!(printed.trim_end(), bench.text("knobs.toml").trim_end());
    assert!(
        printed.contains("method = \"ssdl-ga\"") && printed.contains("n_atoms = 9"),
        "{printed}"
    );
    let fit = "fit flowers.csv --label-column kind --knobs knobs.toml --model m";
    let answer = bench.json(fit);
    assert_eq!(answer["knobs"]["n_atoms"], 9);
    let answer = bench.json(&format!("{fit} --set n_atoms=7"));
    assert_eq!(answer["knobs"]["n_atoms"], 7, "the command line overrides the file");
    let answer = bench.json(&format!("{search} --fits 6"));
    assert!(answer["accuracy"].as_f64() >= answer["accuracy_before"].as_f64(), "{answer}");
    assert!(answer["is_better"].is_boolean() && answer["beats_nearest"].is_boolean(), "{answer}");
    let ran = bench.run(&format!("{search} --fits 12 --by log-loss --prepare scale=5"));
    assert!(ran.stderr.contains("log-loss") && ran.stderr.contains("gain"), "{}", ran.stderr);
    assert!(ran.stdout.contains("prepare = [\"scale=5\"]"), "{}", ran.stdout);
    for (arguments, words) in [
        (format!("{search} --fits 0"), "at least one fit"),
        ("tune flowers.csv --label-column kind --method linear-svm".into(), "linear-svm"),
        ("tune flowers.csv".into(), "--label-column"),
        (format!("{fit} --prepare none"), "--knobs"),
    ] {
        let ran = bench.run(&arguments);
        assert_eq!(ran.code, Some(2), "{arguments}: {}", ran.stderr);
        assert!(ran.stderr.contains(words), "{arguments}: {}", ran.stderr);
    }
}
