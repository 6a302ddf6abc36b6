//! Ctrl-C while a model is fitted.

#![cfg(unix)]

use std::fs::File;
use std::io::{BufRead, BufReader, Read};
use std::process::{Child, ChildStderr, Command};
use std::time::{Duration, Instant};

use crate::run::{Bench, flowers};

/// A fit that would go on for minutes.
const ENDLESS: &str = "fit flowers.csv --label-column kind --model m.ssdl --set n_atoms=150 \
                       --set max_iterations=1000000 --set tolerance=0";

fn interrupt(child: &Child) {
    let sent = Command::new("kill").args(["-INT", &child.id().to_string()]).status();
    assert!(sent.is_ok_and(|status| status.success()));
}

#[test]
fn the_model_so_far_is_saved() {
    let bench = Bench::with_flowers();
    bench.write("flowers.csv", flowers(600, 30));
    let mut child = bench.command(ENDLESS.split_whitespace()).spawn().expect("the program starts");
    let mut stderr = BufReader::new(child.stderr.take().expect("a pipe"));
    let mut line = String::new();
    while !line.starts_with("iteration 2 ") {
        line.clear();
        assert!(stderr.read_line(&mut line).expect("text") > 0, "it ended too early");
    }
    interrupt(&child);
    let mut rest = String::new();
    stderr.read_to_string(&mut rest).expect("text");
    let output = child.wait_with_output().expect("it ends");
    let stdout = String::from_utf8_lossy(&output.stdout);
    assert_eq!(output.status.code(), Some(1), "{rest}");
    assert!(rest.contains("stopping; press Ctrl-C again"), "{rest}");
    assert!(rest.contains("ssdl: cancelled after "), "{rest}");
    assert!(rest.contains("saved in m.ssdl"), "{rest}");
    assert!(stdout.contains("cancelled after"), "{stdout}");

    assert_eq!(bench.json("inspect m.ssdl")["stop"], "cancelled");
    let score = bench.json("predict m.ssdl test.csv --label-column kind");
    assert_eq!(score["accuracy"], 1.0);
}

/// As long as samples are read there is nothing to keep: the program ends at once.
#[test]
fn reading_ends_at_once() {
    let bench = Bench::new();
    let made = Command::new("mkfifo").arg(bench.path("pipe.csv")).status();
    assert!(made.is_ok_and(|status| status.success()));
    let arguments = ["fit", "pipe.csv", "--label-column", "kind", "--model", "m.ssdl"];
    let mut child = bench.command(arguments).spawn().expect("the program starts");
    // It reads by the time the pipe has two ends.
    let _pipe = File::options().write(true).open(bench.path("pipe.csv")).expect("a pipe");
    // Unlike Ctrl-C, this is not ignored in programs that a shell runs in the background.
    let sent = Command::new("kill").args(["-TERM", &child.id().to_string()]).status();
    assert!(sent.is_ok_and(|status| status.success()));
    assert!(!child.wait().expect("it ends").success());
    assert!(!bench.exists("m.ssdl"));
}

/// A fit in the middle of its neighbour search.
fn searching(bench: &Bench) -> (Child, BufReader<ChildStderr>) {
    bench.write("many.csv", flowers(20_000, 30));
    let arguments = "fit many.csv --label-column kind --model m.ssdl --precision double";
    let mut child = bench.command(arguments.split(' ')).spawn().expect("the program starts");
    let stderr = BufReader::new(child.stderr.take().expect("a pipe"));
    let mut stdout = BufReader::new(child.stdout.take().expect("a pipe"));
    let mut line = String::new();
    while !line.starts_with("memory") {
        line.clear();
        assert!(stdout.read_line(&mut line).expect("text") > 0, "it ended too early");
    }
    std::thread::sleep(Duration::from_millis(100));
    (child, stderr)
}

#[test]
fn a_fit_without_a_first_model_ends_soon_and_saves_nothing() {
    // A busy machine may be late once.
    let late = (0..3).map(|_| {
        let bench = Bench::new();
        let (mut child, mut stderr) = searching(&bench);
        let asked = Instant::now();
        interrupt(&child);
        let mut said = String::new();
        stderr.read_to_string(&mut said).expect("text");
        assert_eq!(child.wait().expect("it ends").code(), Some(1), "{said}");
        assert!(said.ends_with("ssdl: cancelled before the first model was ready\n"), "{said}");
        assert!(!bench.exists("m.ssdl"));
        asked.elapsed()
    });
    assert!(late.into_iter().any(|late| late < Duration::from_millis(1000)));
}

#[test]
fn a_second_interrupt_ends_at_once() {
    let bench = Bench::with_flowers();
    bench.write("flowers.csv", flowers(600, 30));
    // The first is noticed after a step; a fit of one long step would need a second.
    let mut child = bench.command(ENDLESS.split_whitespace()).spawn().expect("the program starts");
    let mut stderr = BufReader::new(child.stderr.take().expect("a pipe"));
    let mut line = String::new();
    stderr.read_line(&mut line).expect("text");
    interrupt(&child);
    interrupt(&child);
    let mut rest = String::new();
    stderr.read_to_string(&mut rest).expect("text");
    assert_eq!(child.wait().expect("it ends").code(), Some(1));
    assert!(rest.contains("ssdl: interrupted") || rest.contains("ssdl: cancelled"), "{rest}");
}
