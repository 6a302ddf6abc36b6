//! One step, and a step that is taken while others are.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::Instant;

use xtask::outcome::Outcome;

use super::counts::Counts;
use super::{MINUTE, Steps};
use crate::run::Run;

/// A step that has a log, but is still to be taken.
pub struct Attempt {
    name: &'static str,
    run: Result<Run, String>,
    shown: bool,
}

/// What came of a step.
pub struct Taken {
    pub name: &'static str,
    pub seconds: f64,
    /// What a step that passed has to say, or all that one printed which did not.
    pub result: Result<String, String>,
    pub counts: Counts,
}

impl Attempt {
    /// The time of the step runs from now.
    pub fn new(name: &'static str, minutes: u32, steps: &Steps) -> Self {
        let run = Run::new(steps.logs.join(format!("{name}.log")), minutes * MINUTE);
        let run = run.map(|run| run.shown(steps.verbose)).map_err(|error| error.to_string());
        Self { name, run, shown: steps.verbose }
    }

    pub fn take(self, step: impl FnOnce(&mut Run) -> Outcome<String>) -> Taken {
        let start = Instant::now();
        let (result, counts) = match self.run {
            Err(error) => (Err(error), Counts::default()),
            Ok(mut run) => {
                let result = step(&mut run).map_err(|error| error.to_string());
                judge(result, run.text(), self.shown)
            }
        };
        Taken { name: self.name, seconds: start.elapsed().as_secs_f64(), result, counts }
    }
}

/// Counts the tests in what was printed, and puts that before an error unless it was shown already.
fn judge(
    result: Result<String, String>,
    text: String,
    shown: bool,
) -> (Result<String, String>, Counts) {
    let mut counts = Counts::in_text(&text);
    if result.is_err() && counts != Counts::default() {
        // A test that did not end is in no summary.
        counts.failed = counts.failed.max(1);
    }
    let text = if shown { String::new() } else { text };
    (result.map_err(|error| format!("{text}{error}")), counts)
}

/// A step in a thread of its own.
pub struct Beside {
    thread: JoinHandle<Taken>,
    stop: Option<Arc<AtomicBool>>,
}

impl Beside {
    pub fn start(attempt: Attempt, step: fn(&mut Run) -> Outcome<String>) -> Self {
        let stop = attempt.run.as_ref().ok().map(Run::stop);
        Self { thread: std::thread::spawn(move || attempt.take(step)), stop }
    }

    pub fn wait(self) -> Taken {
        self.thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
    }

    /// Nobody wants to know any more.
    pub fn stop(self) {
        if let Some(stop) = &self.stop {
            stop.store(true, Ordering::Relaxed);
        }
        let _ = self.thread.join();
    }
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;
    use std::process::Command;
    use xtask::table::Table;

    fn attempt(name: &'static str) -> Attempt {
        let table = Table::new(&["step", "seconds", "result"]);
        let steps = Steps { logs: std::env::temp_dir(), verbose: false, table, counts: None };
        Attempt::new(name, 1, &steps)
    }

    fn sleep(run: &mut Run) -> Outcome<String> {
        run.status(Command::new("sleep").arg("50")).map(|_| String::new())
    }

    #[test]
    fn a_step_beside_others_ends_when_another_failed() {
        let start = Instant::now();
        let beside = Beside::start(attempt("xtask-beside-stopped"), sleep);
        beside.stop();
        assert!(start.elapsed().as_secs() < 20);
    }

    #[test]
    fn what_a_failed_step_printed_comes_before_its_error() {
        let taken = attempt("xtask-beside-failed").take(|run| {
            run.status(Command::new("echo").arg("1 passed, 2 failed in 3 s"))?;
            Err("it failed".into())
        });
        assert_eq!(taken.result, Err("1 passed, 2 failed in 3 s\nit failed".to_owned()));
    }
}
