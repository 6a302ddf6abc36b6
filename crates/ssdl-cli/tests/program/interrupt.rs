//! Ctrl-C while a model is fitted.

#![cfg(unix)]

use std::fs::File;
use std::io::{BufRead, BufReader, Read, Write};
use std::process::{Child, ChildStderr, Command};

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
    assert!(rest.contains("stopping after this step"), "{rest}");
    assert!(rest.contains("ssdl: cancelled after "), "{rest}");
    assert!(rest.contains("saved in m.ssdl"), "{rest}");
    assert!(stdout.contains("cancelled after"), "{stdout}");

    assert_eq!(bench.json("inspect m.ssdl")["stop"], "cancelled");
    let score = bench.json("predict m.ssdl test.csv --label-column kind");
    assert_eq!(score["accuracy"], 1.0);
}

/// A fit that waits for its samples; it listens to Ctrl-C by the time the pipe has two ends.
fn waiting(bench: &Bench) -> (Child, BufReader<ChildStderr>, File) {
    let made = Command::new("mkfifo").arg(bench.path("pipe.csv")).status();
    assert!(made.is_ok_and(|status| status.success()));
    let arguments = ["fit", "pipe.csv", "--label-column", "kind", "--model", "m.ssdl"];
    let mut child = bench.command(arguments).spawn().expect("the program starts");
    let stderr = BufReader::new(child.stderr.take().expect("a pipe"));
    let pipe = File::options().write(true).open(bench.path("pipe.csv")).expect("a pipe");
    (child, stderr, pipe)
}

#[test]
fn nothing_is_written_before_there_is_a_model() {
    let bench = Bench::new();
    let (mut child, mut stderr, mut pipe) = waiting(&bench);
    interrupt(&child);
    let mut line = String::new();
    stderr.read_line(&mut line).expect("text");
    assert!(line.starts_with("stopping after this step"), "{line}");
    pipe.write_all(flowers(60, 15).as_bytes()).expect("the program reads");
    drop(pipe);
    let mut rest = String::new();
    stderr.read_to_string(&mut rest).expect("text");
    assert_eq!(rest, "ssdl: cancelled before the first model was ready\n");
    assert_eq!(child.wait().expect("it ends").code(), Some(1));
    assert!(!bench.exists("m.ssdl"));
}

#[test]
fn a_second_interrupt_ends_at_once() {
    let bench = Bench::new();
    let (mut child, mut stderr, _pipe) = waiting(&bench);
    interrupt(&child);
    let mut line = String::new();
    stderr.read_line(&mut line).expect("text");
    interrupt(&child);
    let mut rest = String::new();
    stderr.read_to_string(&mut rest).expect("text");
    assert_eq!(rest, "ssdl: interrupted\n");
    assert_eq!(child.wait().expect("it ends").code(), Some(1));
    assert!(!bench.exists("m.ssdl"));
}
