//! `cargo xtask test`: every check a change must pass, in order, stopping at the first failure.

mod ahead;
mod beside;
mod counts;
pub mod progress;

use std::fs;
use std::io::Write;
use std::path::PathBuf;
use std::time::Duration;

use xtask::outcome::{Outcome, While};
use xtask::table::Table;
use xtask::workspace;

use crate::python::{self, Versions};
use crate::run::Run;
use crate::{browser, generate};
use ahead::Ahead;
use beside::{Attempt, Beside, Taken};
use counts::Counts;
use progress::Progress;

const HELP: &str = "\
Usage: cargo xtask test [--verbose]

Runs the format check, the lints, the documentation, all tests, the check of generated files, the tests
of the report pages in a browser, and the tests of the Python package with the newest and the oldest
versions of what it needs. The last three need Python 3.11 or later, the pages Chromium (see `cargo xtask
browser --help`); where they are missing, the step says so. What they need is fetched while cargo compiles;
the browser, which mostly waits, is tested while the Python package is.
Stops at the first step that fails and names the command that repeats it. No step and no test can hang:
each has a time limit, and a test that exceeds it is named. The last line counts all tests.

Options:
  --verbose   show the output of the steps while they run; otherwise it is kept in
              target/xtask/<step>.log and shown only for a step that fails";

const MINUTE: Duration = Duration::from_secs(60);

/// A step that is one call of cargo.
struct Step {
    name: &'static str,
    arguments: &'static [&'static str],
    variable: Option<(&'static str, &'static str)>,
    minutes: u32,
}

const STEPS: &[Step] = &[
    Step { name: "format", arguments: &["fmt", "--all", "--check"], variable: None, minutes: 5 },
    Step {
        name: "lints",
        arguments: &["clippy", "--workspace", "--all-targets", "--", "-D", "warnings"],
        variable: None,
        minutes: 30,
    },
    Step {
        name: "documentation",
        arguments: &["doc", "--workspace", "--no-deps"],
        variable: Some(("RUSTDOCFLAGS", "-D warnings -D rustdoc::broken_intra_doc_links")),
        minutes: 30,
    },
    Step {
        name: "tests",
        arguments: &["test", "--workspace", "--no-fail-fast"],
        variable: None,
        minutes: 60,
    },
];
/// For every step that pip has a part in: it may have to fetch a lot.
const MINUTES_WITH_PIP: u32 = 30;

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
    let ahead = Ahead::start(Run::new(logs.join("ahead.log"), MINUTES_WITH_PIP * MINUTE)?);
    let mut steps =
        Steps { logs, verbose, table: Table::new(&["step", "seconds", "result"]), counts: None };
    let result = all(&mut steps, ahead);
    println!("\n{}", steps.table.render());
    if let Some(Counts { passed, failed, .. }) = steps.counts {
        println!("{passed} passed, {failed} failed");
    }
    result.map_err(|command| format!("a step failed; to repeat or mend it:\n  {command}").into())
}

/// Every step in order; the error is the command that repeats the first that failed.
fn all(steps: &mut Steps, ahead: Ahead) -> Result<(), String> {
    for step in STEPS {
        let done = steps.take(step.name, step.minutes, || again(step), |run| call(step, run));
        if done.is_err() {
            ahead.stop();
            return done;
        }
    }
    workspace::program_is_built();
    let again = || "cargo xtask generate".to_owned();
    let generated = steps.take("generated files", 10, again, |_| generate::check());
    if generated.is_err() {
        ahead.stop();
        return generated;
    }
    ahead.wait();
    let pages = Beside::start(Attempt::new("browser", MINUTES_WITH_PIP, steps), browser::check);
    let package = package(steps);
    if package.is_err() {
        pages.stop();
        return package;
    }
    let again = || "cargo xtask browser".to_owned();
    steps.report(pages.wait(), again)
}

/// The steps of the Python package.
fn package(steps: &mut Steps) -> Result<(), String> {
    let mut wheel = None;
    let again = || "cargo xtask python".to_owned();
    steps.take("wheel", MINUTES_WITH_PIP, again, |run| {
        wheel = python::wheel_if_possible(run)?;
        Ok(if wheel.is_some() { "" } else { "skipped" }.to_owned())
    })?;
    for versions in [Versions::Newest, Versions::Oldest] {
        let again = || versions.command().to_owned();
        let check = |run: &mut Run| python::check(versions, wheel.as_deref(), run);
        steps.take(versions.name(), MINUTES_WITH_PIP, again, check)?;
    }
    Ok(())
}

/// What was done so far.
struct Steps {
    logs: PathBuf,
    verbose: bool,
    table: Table,
    /// `None` before the first test.
    counts: Option<Counts>,
}

impl Steps {
    /// Takes one step, prints its line and adds its row; where it fails, gives back how to repeat it.
    fn take(
        &mut self,
        name: &'static str,
        minutes: u32,
        again: impl FnOnce() -> String,
        step: impl FnOnce(&mut Run) -> Outcome<String>,
    ) -> Result<(), String> {
        print!("{name}: ");
        // Steps take minutes on a fresh machine: the name has to be there while one waits.
        let _ = std::io::stdout().flush();
        let taken = Attempt::new(name, minutes, self).take(step);
        self.close(taken, again)
    }

    /// The line and the row of a step that was taken beside others.
    fn report(&mut self, taken: Taken, again: impl FnOnce() -> String) -> Result<(), String> {
        print!("{}: ", taken.name);
        self.close(taken, again)
    }

    /// Ends the line of a step and adds its row.
    fn close(&mut self, taken: Taken, again: impl FnOnce() -> String) -> Result<(), String> {
        let Taken { name, seconds, result, counts } = taken;
        let note = match &result {
            Err(_) => "FAILED".to_owned(),
            Ok(said) => {
                let parts = ["ok".to_owned(), said.clone(), counts.note()];
                parts.into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join(", ")
            }
        };
        println!("{note} ({seconds:.1} s)");
        if let Err(error) = &result {
            eprintln!("{error}");
        }
        self.table.row([name.to_owned(), format!("{seconds:.1}"), note]);
        if counts != Counts::default() {
            *self.counts.get_or_insert_default() += counts;
        }
        result.map(drop).map_err(|_| again())
    }
}

fn call(step: &Step, run: &mut Run) -> Outcome<String> {
    let mut command = workspace::cargo(step.arguments);
    // What is read along has no colours.
    command.env("CARGO_TERM_COLOR", "never");
    if let Some((name, value)) = step.variable {
        command.env(name, value);
    }
    run.read_by(Progress::new(progress::LIMIT, progress::NOTICED_AFTER));
    match run.status(&mut command)? {
        true => Ok(String::new()),
        false => Err(format!("{} failed", step.name).into()),
    }
}

fn again(step: &Step) -> String {
    let command = format!("cargo {}", step.arguments.join(" "));
    match step.variable {
        None => command,
        Some((name, value)) => format!("{name}=\"{value}\" {command}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_failed_step_is_repeated_with_its_variable() {
        assert_eq!(again(&STEPS[0]), "cargo fmt --all --check");
        assert!(again(&STEPS[2]).starts_with("RUSTDOCFLAGS=\"-D warnings"));
    }
}
