//! `ssdl experiment` and `ssdl tune`: rows, tables, knobs, and what is refused.

use crate::run::{Bench, flowers};

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
fn a_small_version_has_rows_of_its_own() {
    let bench = Bench::with_flowers();
    bench.write("plan.toml", PLAN);
    bench.done("experiment plan.toml --data . --methods svm --quiet");
    let full = bench.text("results/plan.csv");
    let printed = bench.done("experiment plan.toml --data . --quick --report page.html");
    assert!(printed.contains("2 rows in results/plan-quick.csv"), "{printed}");
    assert!(printed.contains("small version of the plan (--quick)"), "{printed}");
    assert!(bench.text("results/plan-quick.csv").lines().count() == 3, "one seed, two runs");
    assert_eq!(bench.text("results/plan.csv"), full, "full rows are as they were");
    let page = bench.text("page.html");
    assert!(!page.contains(" ± "), "one seed has no spread");
    for part in ["small version", "test.csv", "results/plan-quick.csv", "seconds to fit"] {
        assert!(page.contains(part), "{part}");
    }
    assert_eq!(bench.json("experiment plan.toml --tables --quick")["quick"], true);
}

/// A folder in which only one data set of the plans is there, and not even the whole of its plan.
fn with_sonar() -> Bench {
    let bench = Bench::new();
    std::fs::create_dir_all(bench.path("data/tables")).expect("made");
    let text = flowers(90, 90).replace("kind", "label").replace("lily of the valley", "rose");
    bench.write("data/tables/sonar.csv.gz", text);
    bench
}

#[test]
fn all_plans_run_on_what_is_there_and_name_what_is_not() {
    let bench = with_sonar();
    let all = "experiment all --quick --data data --out rows --report pages --quiet";
    let ran = bench.run(all);
    assert_eq!(ran.code, Some(1), "{}", ran.stderr);
    for part in ["10 of 10 plans are not whole", "tables", "ssdl data get usps", "ask its makers"] {
        assert!(ran.stderr.contains(part), "{part}: {}", ran.stderr);
    }
    assert_eq!(ran.stderr.lines().count(), 1, "{}", ran.stderr);
    assert!(ran.stdout.contains("missing: USPS (data/usps/zip.train.gz); get it with"));
    assert!(ran.stdout.contains("not run: its data are missing"), "{}", ran.stdout);
    assert!(ran.stdout.contains("22 rows in rows/tables-quick.csv"), "{}", ran.stdout);
    assert!(ran.stdout.contains("1 of 10 plans: 22 rows in rows/NAME-quick.csv, apart from"));
    let files = std::fs::read_dir(bench.path("rows")).expect("made").count();
    assert_eq!(files, 1, "a plan that does not run leaves nothing");
    let index = bench.text("pages/index.html");
    assert!(index.contains("href=\"tables.html\"") && !index.contains("href=\"digits.html\""));
    assert!(index.contains("<code>ssdl data get yaleb</code>"), "{index}");
    let page = bench.text("pages/tables.html");
    for part in [
        "href=\"index.html\"",
        "wine is missing",
        "ssdl experiment tables --quick --data DATA",
        "experiments/tables.toml",
        "tables/sonar.csv.gz",
        "One model in detail",
    ] {
        assert!(page.contains(part), "{part}");
    }
    let rows = bench.text("rows/tables-quick.csv");
    let again = bench.run(&format!("{all} --json"));
    assert_eq!((again.code, bench.text("rows/tables-quick.csv")), (Some(1), rows));
    let answer: serde_json::Value = serde_json::from_str(&again.stdout).expect("JSON");
    let plans = answer["plans"].as_array().expect("a list");
    assert_eq!((plans.len(), &answer["quick"]), (10, &true.into()));
    let digits = &plans[0];
    assert_eq!((&digits["name"], &digits["n_rows"]), (&"digits".into(), &serde_json::Value::Null));
    assert_eq!(digits["missing"][0]["remedy"], "get it with `ssdl data get usps`");
}

#[cfg(unix)]
#[test]
fn an_interrupt_ends_all_of_it_and_the_same_command_continues() {
    let bench = with_sonar();
    let words = "experiment all --quick --data data --quiet";
    let child = bench.command(words.split(' ')).spawn().expect("the program starts");
    let rows = bench.path("results/tables-quick.csv");
    let count = || std::fs::read_to_string(&rows).map_or(0, |text| text.lines().count());
    let started = std::time::Instant::now();
    while count() < 2 {
        assert!(started.elapsed().as_secs() < 60, "there is no row yet");
        std::thread::sleep(std::time::Duration::from_millis(2));
    }
    let id = child.id().to_string();
    assert!(
        std::process::Command::new("kill").args(["-INT", &id]).status().expect("sent").success()
    );
    let ended = child.wait_with_output().expect("it ends");
    let stderr = String::from_utf8_lossy(&ended.stderr);
    assert_eq!(ended.status.code(), Some(1), "{stderr}");
    assert!(stderr.contains("the same command continues from there"), "{stderr}");
    let kept = std::fs::read_to_string(&rows).expect("kept");
    assert!(kept.lines().count() < 23, "it was in the middle");
    let ran = bench.run(words);
    assert!(ran.stderr.contains("not whole"), "{}", ran.stderr);
    let whole = bench.text("results/tables-quick.csv");
    assert!(whole.starts_with(&kept) && whole.lines().count() == 23, "{whole}");
}

#[test]
fn the_rows_that_are_kept_give_a_page_for_every_plan() {
    let bench = Bench::new();
    let rows = concat!(env!("CARGO_MANIFEST_DIR"), "/../../results");
    let printed = bench.done(&format!("experiment all --tables --out {rows} --report pages"));
    assert!(printed.contains("10 of 10 plans"), "{printed}");
    let index = bench.text("pages/index.html");
    for plan in std::fs::read_dir(bench.path("pages")).expect("made") {
        let name = plan.expect("a page").file_name().into_string().expect("text");
        if name == "index.html" {
            continue;
        }
        assert!(index.contains(&format!("href=\"{name}\"")), "{name}");
        let page = bench.text(&format!("pages/{name}"));
        for part in [" ± ", "econds", "What was run", "ssdl experiment "] {
            assert!(page.contains(part), "{name}: {part}");
        }
    }
    assert_eq!(index.matches("<li>").count(), 10);
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
        ("experiment all --data . --seeds 0..1", 2, "one plan"),
        ("experiment all --data . --report page.html", 2, "give a folder"),
        ("experiment all --data . --quick --out rows.csv", 2, "give a folder"),
        ("experiment faces-ar --data . --out new.csv", 1, "ask its makers"),
        ("experiment laplacians --data . --quick --out new.csv", 1, "ssdl data get usps"),
        ("experiment plan.toml --data . --seeds 3..1", 2, "FROM..TO"),
        ("experiment laplacians --data . --again", 2, "graphs"),
        ("experiment digits --data . --methods CNN,ladder --out new.csv", 2, "ssdl-neural"),
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
