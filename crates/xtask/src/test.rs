//! `cargo xtask test`: every check a change must pass, in order, stopping at the first failure.

use std::fs::{self, File};
use std::io::Write;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Instant;

use crate::outcome::{Outcome, While};
use crate::python::{self, Versions};
use crate::table::Table;
use crate::workspace;
use crate::{browser, generate};

const HELP: &str = "\
Usage: cargo xtask test [--verbose]

Runs the format check, the lints, the documentation, all tests, the check of generated files, the tests
of the report pages in a browser, and the tests of the Python package with the newest and the oldest
versions of what it needs. The last three need Python 3.11 or later, the pages Chromium (see `cargo xtask
browser --help`); where they are missing, the step says so.
Stops at the first step that fails and names the command that repeats it.

Options:
  --verbose   show the output of the steps while they run; otherwise it is kept in
              target/xtask/<step>.log and shown only for a step that fails";

/// A step that is one call of cargo.
struct Step {
    name: &'static str,
    arguments: &'static [&'static str],
    variable: Option<(&'static str, &'static str)>,
}

const STEPS: &[Step] = &[
    Step { name: "format", arguments: &["fmt", "--all", "--check"], variable: None },
    Step {
        name: "lints",
        arguments: &["clippy", "--workspace", "--all-targets", "--", "-D", "warnings"],
        variable: None,
    },
    Step {
        name: "documentation",
        arguments: &["doc", "--workspace", "--no-deps"],
        variable: Some(("RUSTDOCFLAGS", "-D warnings -D rustdoc::broken_intra_doc_links")),
    },
    Step { name: "tests", arguments: &["test", "--workspace", "--no-fail-fast"], variable: None },
];

pub fn run(arguments: &[String]) -> Outcome<()> {
    let mut verbose = false;
    for argument in arguments {
        match argument.as_str() {
            "--verbose" => verbose = true,
            "--help" | "-h" => {
                println!("{HELP}");
                return Ok(());
            }
            other => return Err(format!("test does not know '{other}'\n\n{HELP}").into()),
        }
    }
    let logs = workspace::target()?.join("xtask");
    fs::create_dir_all(&logs).during(|| logs.display().to_string())?;

    let mut table = Table::new(&["step", "seconds", "result"]);
    let mut failure = None;
    for step in STEPS {
        let log = logs.join(format!("{}.log", step.name));
        if !record(&mut table, step.name, || call(step, &log, verbose)) {
            failure = Some(again(step));
            break;
        }
    }
    if failure.is_none() {
        workspace::program_is_built();
    }
    if failure.is_none() && !record(&mut table, "generated files", generate::check) {
        failure = Some("cargo xtask generate".to_owned());
    }
    let log = logs.join("browser.log");
    if failure.is_none() && !record(&mut table, "browser", || browser::check(&log)) {
        failure = Some("cargo xtask browser".to_owned());
    }
    for (name, versions, command) in [
        ("python", Versions::Newest, "cargo xtask python"),
        ("python, oldest versions", Versions::Oldest, "cargo xtask python --oldest"),
    ] {
        let log = logs.join(format!("{name}.log"));
        if failure.is_none() && !record(&mut table, name, || python::check(versions, &log)) {
            failure = Some(command.to_owned());
        }
    }
    println!("\n{}", table.render());
    match failure {
        None => Ok(()),
        Some(command) => Err(format!("a step failed; to repeat or mend it:\n  {command}").into()),
    }
}

/// Runs one step, prints its line and adds its row; false if it failed.
fn record(table: &mut Table, name: &str, step: impl FnOnce() -> Outcome<String>) -> bool {
    print!("{name}: ");
    // Steps take minutes on a fresh machine: the name has to be there while one waits.
    let _ = std::io::stdout().flush();
    let start = Instant::now();
    let result = step();
    let seconds = format!("{:.1}", start.elapsed().as_secs_f64());
    let note = match &result {
        Ok(note) if note.is_empty() => "ok".to_owned(),
        Ok(note) => format!("ok, {note}"),
        Err(_) => "FAILED".to_owned(),
    };
    println!("{note} ({seconds} s)");
    if let Err(error) = &result {
        eprintln!("{error}");
    }
    table.row([name.to_owned(), seconds, note]);
    result.is_ok()
}

fn call(step: &Step, log: &Path, verbose: bool) -> Outcome<String> {
    let mut command = workspace::cargo(step.arguments);
    if let Some((name, value)) = step.variable {
        command.env(name, value);
    }
    if verbose {
        let status = command.status().during(|| step.name)?;
        return if status.success() { Ok(String::new()) } else { Err(status.to_string().into()) };
    }
    let passed = call_into(&mut command, log).during(|| step.name)?;
    let bytes = fs::read(log).during(|| log.display().to_string())?;
    let text = String::from_utf8_lossy(&bytes);
    if passed { Ok(count_tests(&text)) } else { Err(text.into_owned().into()) }
}

/// Both streams go to one file, so that messages and the lines they belong to stay together.
fn call_into(command: &mut Command, log: &Path) -> std::io::Result<bool> {
    let file = File::create(log)?;
    command.stdin(Stdio::null()).stdout(file.try_clone()?).stderr(file);
    Ok(command.status()?.success())
}

fn again(step: &Step) -> String {
    let command = format!("cargo {}", step.arguments.join(" "));
    match step.variable {
        None => command,
        Some((name, value)) => format!("{name}=\"{value}\" {command}"),
    }
}

/// Adds up the summary lines of the test harness; empty if there are none.
fn count_tests(text: &str) -> String {
    let (mut passed, mut ignored, mut seen) = (0, 0, false);
    for line in text.lines().filter(|line| line.starts_with("test result:")) {
        seen = true;
        passed += count_before(line, " passed");
        ignored += count_before(line, " ignored");
    }
    if seen { format!("{passed} passed, {ignored} ignored") } else { String::new() }
}

fn count_before(line: &str, word: &str) -> usize {
    line.split(word)
        .next()
        .and_then(|head| head.rsplit(' ').next())
        .and_then(|number| number.parse().ok())
        .unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn test_summaries_are_added_up() {
        let text = "test result: ok. 12 passed; 0 failed; 1 ignored; 0 measured; 0 filtered out\n\
                    Doc-tests ssdl\n\
                    test result: ok. 3 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out\n";
        assert_eq!(count_tests(text), "15 passed, 1 ignored");
        assert_eq!(count_tests("Finished\n"), "");
    }

    #[test]
    fn a_failed_step_is_repeated_with_its_variable() {
        assert_eq!(again(&STEPS[0]), "cargo fmt --all --check");
        assert!(again(&STEPS[2]).starts_with("RUSTDOCFLAGS=\"-D warnings"));
    }
}
