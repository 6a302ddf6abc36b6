//! `cargo xtask bench`: hands over to the measurements, a program of their own that only those who
//! measure need to compile.

use xtask::outcome::{Outcome, While};
use xtask::workspace;

pub fn run(arguments: &[String]) -> Outcome<()> {
    let manifest = workspace::top().join("Cargo.toml").display().to_string();
    let here = std::env::current_dir().during(|| "the current folder")?;
    // It only starts other programs, and builds those it measures optimised itself.
    let mut command = workspace::cargo(&["run", "--quiet", "--manifest-path", &manifest]);
    command.args(["--package", "ssdl-bench", "--"]).args(arguments);
    // Folders among the arguments are meant from where the command is given.
    let status = command.current_dir(here).status().during(|| "cargo run --package ssdl-bench")?;
    if status.success() { Ok(()) } else { Err("bench failed".into()) }
}
