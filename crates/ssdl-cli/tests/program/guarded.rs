//! What survives: hostile names, numbers out of range, torn rows, a second writer.

use std::process::Command;

use crate::run::{Bench, Ran, flowers};

/// Class names that a terminal would obey, and one with everything that CSV needs quotes for.
const NAMES: [&str; 3] = ["\u{1b}[31mred\u{7}", "right\u{202e}left\u{9b}2J", "a, \"b\" = 1"];

fn named(bench: &Bench) {
    let kinds = ["rose", "tulip", "lily of the valley"];
    let mut text = flowers(60, 15);
    for (kind, name) in kinds.iter().zip(NAMES) {
        text =
            text.replace(&format!(",{kind}\n"), &format!(",\"{}\"\n", name.replace('"', "\"\"")));
    }
    bench.write("named.csv", text);
}

fn is_shown_safely(text: &str) -> bool {
    !text.chars().any(ssdl::shown::is_obeyed)
}

#[test]
fn names_from_files_and_arguments_are_escaped_and_survive_a_round_trip() {
    let bench = Bench::new();
    named(&bench);
    let fit = "fit named.csv --label-column kind --model m.ssdl --method ridge";
    for line in
        [fit, "inspect m.ssdl", "inspect m.ssdl --sample 1", "graph named.csv --label-column kind"]
    {
        let ran = bench.run(line);
        assert_eq!(ran.code, Some(0), "{line}: {}", ran.stderr);
        assert!(is_shown_safely(&ran.stdout) && is_shown_safely(&ran.stderr), "{line}: {ran:?}");
        let json = bench.done(&format!("{line} --json"));
        assert!(is_shown_safely(&json), "{line}: {json}");
    }
    let classes = bench.json("inspect m.ssdl")["classes"].clone();
    let mut expected = NAMES;
    let found = classes.as_array().expect("a list");
    let mut found: Vec<&str> = found.iter().filter_map(|name| name.as_str()).collect();
    found.sort_unstable();
    expected.sort_unstable();
    assert_eq!(found, expected, "JSON holds the names themselves");

    bench.done("predict m.ssdl named.csv --label-column kind --out p.csv");
    let table = flowers(60, 0);
    let features = table.lines().filter_map(|line| line.rsplit_once(','));
    bench.write("x.csv", features.map(|(cells, _)| format!("{cells}\n")).collect::<String>());
    let again = bench.json("predict m.ssdl x.csv --labels p.csv");
    assert_eq!(again["accuracy"], 1.0, "predictions read back as the same classes");
    let piped = bench.done("predict m.ssdl named.csv --label-column kind --quiet");
    assert_eq!(piped, bench.text("p.csv"), "a pipe gets the file as it is");

    for arguments in [
        vec!["fit", "\u{1b}]0;title\u{7}.csv", "--label-column", "x", "--model", "n.ssdl"],
        vec!["methods", "\u{202e}"],
        vec!["\u{9b}2J"],
        vec!["fit", "named.csv", "--label-column", "\u{1b}[2J", "--model", "n.ssdl"],
    ] {
        let ran = Ran::from(bench.command(&arguments).output().expect("the program starts"));
        assert_ne!(ran.code, Some(0), "{arguments:?}");
        assert!(is_shown_safely(&ran.stderr), "{:?}", ran.stderr);
    }
}

#[test]
fn drawings_of_hostile_names_are_well_formed() {
    let bench = Bench::new();
    named(&bench);
    let fit = "fit named.csv --label-column kind --model m.ssdl --set n_atoms=6 --quiet";
    bench.done(&format!("{fit} --set max_iterations=2"));
    bench.done("atoms m.ssdl --svg a.svg");
    bench.done("inspect m.ssdl --sample 0 --svg s.svg");
    for name in ["a.svg", "s.svg"] {
        let text = bench.text(name);
        let is_allowed = |c: char| c == '\n' || c == '\t' || (!c.is_control() && c != '\u{fffe}');
        assert!(text.chars().all(is_allowed), "{name}");
    }
}

#[test]
fn a_fit_without_finite_numbers_leaves_the_old_model() {
    let bench = Bench::with_flowers();
    bench.done("fit flowers.csv --label-column kind --model m.ssdl --method ridge --quiet");
    let before = bench.bytes("m.ssdl");
    let far = flowers(60, 15).replacen("\n", "\n1e20,1e20,1e20,1e20,rose\n", 1);
    bench.write("far.csv", far);
    let tiny: String = flowers(60, 15)
        .lines()
        .map(|line| line.replace(".", "").replace(',', "e-44,") + "\n")
        .collect();
    bench.write(
        "tiny.csv",
        tiny.replacen("lengthe-44,widthe-44,heighte-44,weighte-44", "a,b,c,d", 1),
    );
    for line in [
        "fit far.csv --label-column kind --model m.ssdl --prepare none --method label-spreading",
        "fit tiny.csv --label-column -1 --model m.ssdl --prepare none --method graph-sc",
    ] {
        let ran = bench.run(line);
        if ran.code == Some(0) {
            // Whatever is saved can be used.
            bench.done("inspect m.ssdl");
            bench.write("m.ssdl", &before);
        } else {
            assert!(ran.stderr.contains("rescale the samples"), "{}", ran.stderr);
            assert_eq!(bench.bytes("m.ssdl"), before);
        }
    }
}

#[test]
fn the_same_seed_gives_the_same_file() {
    let bench = Bench::with_flowers();
    for name in ["one.ssdl", "two.ssdl"] {
        bench.done(&format!(
            "fit flowers.csv --label-column kind --model {name} --quiet --threads 2"
        ));
    }
    assert_eq!(bench.bytes("one.ssdl"), bench.bytes("two.ssdl"));
}

#[test]
fn the_next_command_is_quoted_as_a_shell_needs_it() {
    let bench = Bench::with_flowers();
    let arguments = [
        "fit",
        "flowers.csv",
        "--label-column",
        "kind",
        "--model",
        "my model.ssdl",
        "--method",
        "ridge",
    ];
    let ran = Ran::from(bench.command(arguments).output().expect("the program starts"));
    assert!(ran.stdout.contains("ssdl predict 'my model.ssdl' NEW-DATA"), "{}", ran.stdout);
}

#[cfg(unix)]
#[test]
fn files_follow_the_umask_links_and_modes() {
    use std::os::unix::fs::PermissionsExt;
    let bench = Bench::with_flowers();
    let mode = |name: &str| {
        std::fs::metadata(bench.path(name)).expect("there").permissions().mode() & 0o777
    };
    let program = env!("CARGO_BIN_EXE_ssdl");
    let fit = "fit flowers.csv --label-column kind --method ridge --quiet";
    let line = format!("umask 077; {program} {fit} --model private.ssdl --trace t.csv");
    let ran = Command::new("sh").args(["-c", &line]).current_dir(bench.path(".")).output();
    assert!(ran.is_ok_and(|output| output.status.success()));
    assert_eq!((mode("private.ssdl"), mode("t.csv")), (0o600, 0o600));
    std::os::unix::fs::symlink("private.ssdl", bench.path("link.ssdl")).expect("linked");
    bench.done(&format!("{fit} --model link.ssdl --seed 1"));
    assert_eq!(mode("private.ssdl"), 0o600, "a private model stays private");
    assert!(std::fs::symlink_metadata(bench.path("link.ssdl")).expect("there").is_symlink());
}

const PLAN: &str = "kind = \"comparison\"\ntitle = \"\\u001b[31mFlowers\"\n\
    [[data]]\nname = \"flowers\"\nfiles = [\"clouds.csv\"]\nlabel_column = \"kind\"\n\
    [[split]]\nname = \"few\"\nlabelled = 3\nunlabelled = 3\ntest = 2\nseeds = [0, 1, 2, 3]\n\
    [[run]]\nname = \"ridge\"\nmethod = \"ridge\"\n";

#[test]
fn a_torn_row_is_measured_again_and_a_title_is_escaped() {
    let bench = Bench::new();
    bench.write("clouds.csv", flowers(60, 60));
    bench.write("plan.toml", PLAN);
    let line = "experiment plan.toml --data . --out rows.csv";
    let shown = bench.done(line);
    assert!(is_shown_safely(&shown), "{shown:?}");
    let whole = bench.text("rows.csv");
    assert_eq!(whole.lines().count(), 5);
    bench.write("rows.csv", &whole.as_bytes()[..whole.len() - 7]);
    let ran = bench.run(line);
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    assert!(ran.stderr.contains("note: rows.csv: the last row was cut off"), "{}", ran.stderr);
    assert_eq!(bench.text("rows.csv").lines().count(), 5);
    assert!(bench.exists("rows.csv.torn"));
}

#[test]
fn of_two_experiments_on_one_file_no_row_is_written_twice() {
    let bench = Bench::new();
    bench.write("clouds.csv", flowers(60, 60));
    bench.write("plan.toml", PLAN);
    let line = "experiment plan.toml --data . --out rows.csv --quiet";
    let children: Vec<_> = (0..4)
        .map(|_| bench.command(line.split(' ')).spawn().expect("the program starts"))
        .collect();
    let mut done = 0;
    for child in children {
        let ran = Ran::from(child.wait_with_output().expect("it ends"));
        done += usize::from(ran.code == Some(0));
        let is_refused = ran.stderr.contains("another experiment writes to it");
        assert!(ran.code == Some(0) || is_refused, "{}", ran.stderr);
    }
    assert!(done > 0);
    bench.done(line);
    let rows = bench.text("rows.csv");
    assert_eq!(rows.lines().count(), 5, "{rows}");
    assert_eq!(rows.matches("test_accuracy").count(), 1, "one header: {rows}");
}

#[test]
fn licences_are_printed_with_their_texts() {
    let bench = Bench::new();
    assert!(bench.done("licences").contains("safetensors"));
    let full = bench.done("licences --full");
    assert!(full.contains("Permission is hereby granted") && full.contains("Apache License"));
    let listed = bench.json("licences");
    assert!(listed["libraries"].as_array().is_some_and(|list| list.len() > 50));
    // What the help says about Ctrl-C is what happens.
    let help = bench.done("fit --help");
    assert!(help.contains("before the first") && help.contains("saves nothing"), "{help}");
}
