//! A time limit for every test of Rust, which their harness does not have: it is read along.

use std::time::{Duration, Instant};

use crate::run::Reader;

/// How long a test may take, and how long nothing may be heard of any.
pub const LIMIT: Duration = Duration::from_secs(5 * 60);
/// After this time the harness says that a test is still running.
pub const NOTICED_AFTER: Duration = Duration::from_secs(60);

/// What the harness has printed so far. What cargo prints before the first test is compiling, which
/// takes as long as it takes.
pub struct Progress {
    limit: Duration,
    noticed_after: Duration,
    /// The tests that run, as cargo names them, and when they last said something.
    running: Option<(String, Instant)>,
    /// Tests that the harness calls slow, and since when.
    slow: Vec<(String, Instant)>,
}

impl Progress {
    /// Nothing has been printed yet.
    pub fn new(limit: Duration, noticed_after: Duration) -> Self {
        Self { limit, noticed_after, running: None, slow: Vec::new() }
    }

    fn read_line(&mut self, line: &str, now: Instant) {
        let words = line.trim_start();
        if words.starts_with("Running ") || words.starts_with("Doc-tests ") {
            self.running = Some((words.to_owned(), now));
            self.slow.clear();
        } else if let Some((_, heard)) = &mut self.running {
            *heard = now;
        }
        let Some(rest) = line.strip_prefix("test ") else { return };
        if let Some((name, _)) = rest.split_once(" has been running for over") {
            self.slow.push((name.to_owned(), now));
        } else if let Some((name, _)) = rest.split_once(" ... ") {
            self.slow.retain(|(slow, _)| slow != name);
        }
    }
}

impl Reader for Progress {
    fn read(&mut self, lines: &str, now: Instant) {
        lines.lines().for_each(|line| self.read_line(line, now));
    }

    fn stuck(&self, now: Instant) -> Option<String> {
        let (running, heard) = self.running.as_ref()?;
        let silent = now.duration_since(*heard) > self.limit;
        let since = self.limit.saturating_sub(self.noticed_after);
        let late = self.slow.iter().any(|(_, from)| now.duration_since(*from) > since);
        (silent || late).then(|| {
            let names: Vec<&str> = self.slow.iter().map(|(name, _)| name.as_str()).collect();
            let names = match names[..] {
                [] => "a test that its harness does not name".to_owned(),
                _ => names.join(", "),
            };
            let limit = self.limit.as_secs();
            format!("of \"{running}\" these did not end within {limit} s: {names}")
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: Duration = Duration::from_secs(1);

    fn at(lines: &[(u32, &str)], now: u32) -> Option<String> {
        let start = Instant::now();
        let mut progress = Progress::new(LIMIT, NOTICED_AFTER);
        for (seconds, line) in lines {
            progress.read(line, start + *seconds * SECOND);
        }
        progress.stuck(start + now * SECOND)
    }

    const BEGUN: &str = "   Compiling a\n     Running tests/a.rs (target/debug/deps/a-1)\n";

    #[test]
    fn compiling_may_be_silent() {
        assert_eq!(at(&[(0, "   Compiling faer v0.24.4\n")], 3000), None);
    }

    #[test]
    fn silence_of_tests_is_ended() {
        assert_eq!(at(&[(0, BEGUN)], 299), None);
        let reason = at(&[(0, BEGUN), (10, "test a ... ok\n")], 311).expect("silence");
        assert!(reason.contains("Running tests/a.rs"), "{reason}");
        assert!(reason.contains("does not name"), "{reason}");
    }

    #[test]
    fn a_slow_test_is_ended_while_others_go_on() {
        let slow = (60, "test a::b has been running for over 60 seconds\n");
        let other = (290, "test c ... ok\n");
        assert_eq!(at(&[(0, BEGUN), slow, other], 299), None);
        let reason = at(&[(0, BEGUN), slow, other], 301).expect("too long");
        assert!(reason.ends_with(": a::b"), "{reason}");
        assert_eq!(at(&[(0, BEGUN), slow, (290, "test a::b ... ok\n")], 400), None);
    }
}
