//! `cargo xtask gpu`: the tests of the graphics card, where there is one.

use xtask::outcome::{Outcome, While};
use xtask::workspace;

const HELP: &str = "\
Usage: cargo xtask gpu [--measure]

Runs the tests of crates/ssdl-gpu on an NVIDIA card and fails without one; `cargo xtask test` runs them
everywhere and leaves out what needs a card. With --measure it also times fits of 20,000, 100,000 and
1,000,000 samples (docs/gpu.md).";

/// Samples, features and atoms that are timed.
const MEASURED: [[&str; 4]; 4] = [
    ["20000", "784", "200", "exact"],
    ["100000", "784", "200", "exact"],
    ["1000000", "784", "512", "card"],
    ["1000000", "64", "200", "both"],
];

pub fn run(arguments: &[String]) -> Outcome<()> {
    match arguments {
        [] => test(),
        [flag] if flag == "--measure" => test().and_then(|()| measure()),
        [flag] if flag == "--help" || flag == "-h" => {
            println!("{HELP}");
            Ok(())
        }
        _ => Err(format!("unknown arguments\n\n{HELP}").into()),
    }
}

fn test() -> Outcome<()> {
    let mut call = workspace::cargo(&["test", "--locked", "--profile", "dist", "-p", "ssdl-gpu"]);
    succeed(call.env("SSDL_GPU_TESTS", "required"), "the tests")
}

fn measure() -> Outcome<()> {
    let start =
        ["run", "--locked", "--profile", "dist", "-p", "ssdl-gpu", "--example", "measure", "--"];
    MEASURED.iter().try_for_each(|sizes| {
        succeed(workspace::cargo(&start).args(sizes), "the program that measures")
    })
}

fn succeed(call: &mut std::process::Command, what: &str) -> Outcome<()> {
    match call.status().during(|| "cargo")?.success() {
        true => Ok(()),
        false => Err(format!("{what} failed").into()),
    }
}
