//! `cargo xtask fuzz`: hands over to a program of its own.

use xtask::outcome::{Outcome, While};
use xtask::workspace;

pub fn run(arguments: &[String]) -> Outcome<()> {
    let mut command = workspace::cargo(&["run", "--quiet", "--release", "--package", "ssdl-fuzz"]);
    command.arg("--").args(arguments).current_dir(workspace::top());
    let status = command.status().during(|| "cargo run --package ssdl-fuzz")?;
    if status.success() { Ok(()) } else { Err("fuzz found something".into()) }
}
