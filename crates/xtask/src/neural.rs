//! `cargo xtask neural`: the checks of the nets, which are a workspace of their own.

use xtask::outcome::{Outcome, While};
use xtask::workspace;

const HELP: &str = "\
Usage: cargo xtask neural

Runs the format check, the lints, the documentation and the tests of crates/ssdl-neural, the convolutional
and the Ladder network. It is a workspace of its own, so that nothing else compiles its libraries: the
first time takes some minutes, and `cargo xtask test` leaves it out.";

/// Where it is.
const MANIFEST: &str = "crates/ssdl-neural/Cargo.toml";

/// The checks in order. Nets are trained in tests, which is slow unless it is optimised.
const STEPS: [&[&str]; 4] = [
    &["fmt", "--check"],
    &["clippy", "--locked", "--release", "--all-targets", "--", "-D", "warnings"],
    &["doc", "--locked", "--release", "--no-deps", "--lib"],
    &["test", "--locked", "--release"],
];

pub fn run(arguments: &[String]) -> Outcome<()> {
    match arguments {
        [] => STEPS.iter().try_for_each(|step| call(step)),
        [flag] if flag == "--help" || flag == "-h" => {
            println!("{HELP}");
            Ok(())
        }
        _ => Err(format!("there are no arguments\n\n{HELP}").into()),
    }
}

fn call(step: &[&str]) -> Outcome<()> {
    // The lints' own arguments come last.
    let (command, rest) = step.split_first().ok_or("an empty step")?;
    let mut call = workspace::cargo(&[command, "--manifest-path", MANIFEST]);
    call.args(rest).env("RUSTDOCFLAGS", "-D warnings -D rustdoc::broken_intra_doc_links");
    println!("cargo {} of {MANIFEST}", step.join(" "));
    match call.status().during(|| "cargo")?.success() {
        true => Ok(()),
        false => Err(format!("cargo {command} --manifest-path {MANIFEST} failed").into()),
    }
}
