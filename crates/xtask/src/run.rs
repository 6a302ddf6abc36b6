//! Commands whose output goes to a log, and that may not take for ever.

use std::fs::{self, File, OpenOptions};
use std::io::{Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::sleep;
use std::time::{Duration, Instant};

use xtask::outcome::{Outcome, While};

use crate::processes;

const BETWEEN_LOOKS: Duration = Duration::from_millis(50);

/// Reads along what is printed, and says when nothing more is to be expected of it.
pub trait Reader {
    /// Takes whole lines.
    fn read(&mut self, lines: &str, now: Instant);
    /// Why it is not worth waiting any longer.
    fn stuck(&self, now: Instant) -> Option<String>;
}

/// Commands one after another, with one log and one time limit for all of them.
pub struct Run {
    log: PathBuf,
    /// How much of the log has been read along.
    place: u64,
    begun: Instant,
    limit: Duration,
    shown: bool,
    reader: Option<Box<dyn Reader + Send>>,
    stop: Arc<AtomicBool>,
}

impl Run {
    /// Begins an empty log; the time runs from now.
    pub fn new(log: PathBuf, limit: Duration) -> Outcome<Self> {
        fs::write(&log, "").during(|| log.display().to_string())?;
        let stop = Arc::new(AtomicBool::new(false));
        let (place, begun) = (0, Instant::now());
        Ok(Self { log, place, begun, limit, shown: false, reader: None, stop })
    }

    /// Shows the output as well, if so wanted.
    pub fn shown(self, shown: bool) -> Self {
        Self { shown, ..self }
    }

    /// Has somebody read along.
    pub fn read_by(&mut self, reader: impl Reader + Send + 'static) {
        self.reader = Some(Box::new(reader));
    }

    /// What ends the command at hand when it is set, from another thread.
    pub fn stop(&self) -> Arc<AtomicBool> {
        self.stop.clone()
    }

    /// Runs a command; whether it succeeded. Both streams go to one file, so that messages and the
    /// lines they belong to stay together.
    pub fn status(&mut self, command: &mut Command) -> Outcome<bool> {
        let named = command.get_program().to_string_lossy().into_owned();
        let log = OpenOptions::new().append(true).open(&self.log).during(|| self.place_of_log())?;
        let both = log.try_clone().during(|| self.place_of_log())?;
        command.stdin(Stdio::null()).stdout(log).stderr(both);
        let mut child = command.spawn().during(|| named)?;
        loop {
            let ended = child.try_wait().during(|| "waiting")?;
            self.read_on()?;
            if let Some(status) = ended {
                return Ok(status.success());
            }
            if let Some(reason) = self.reason_to_end() {
                processes::end(&mut child);
                return Err(format!("ended: {reason}; the log is {}", self.place_of_log()).into());
            }
            sleep(BETWEEN_LOOKS);
        }
    }

    /// Everything in the log.
    pub fn text(&self) -> String {
        fs::read(&self.log).map_or_else(
            |error| format!("{}: {error}", self.place_of_log()),
            |bytes| String::from_utf8_lossy(&bytes).into_owned(),
        )
    }

    fn place_of_log(&self) -> String {
        self.log.display().to_string()
    }

    fn reason_to_end(&self) -> Option<String> {
        if self.stop.load(Ordering::Relaxed) {
            return Some("another step failed".to_owned());
        }
        let now = Instant::now();
        if now.duration_since(self.begun) > self.limit {
            return Some(format!("it took more than {:?}", self.limit));
        }
        self.reader.as_ref().and_then(|reader| reader.stuck(now))
    }

    /// Reads the whole lines that have come since the last time.
    fn read_on(&mut self) -> Outcome<()> {
        if !self.shown && self.reader.is_none() {
            return Ok(());
        }
        let new = read_from(&self.log, self.place).during(|| self.place_of_log())?;
        let Some(end) = new.iter().rposition(|byte| *byte == b'\n') else { return Ok(()) };
        let lines = &new[..=end];
        self.place += lines.len() as u64;
        if self.shown {
            let _ = std::io::stdout().write_all(lines);
        }
        if let Some(reader) = &mut self.reader {
            reader.read(&String::from_utf8_lossy(lines), Instant::now());
        }
        Ok(())
    }
}

fn read_from(path: &Path, place: u64) -> std::io::Result<Vec<u8>> {
    let mut file = File::open(path)?;
    file.seek(SeekFrom::Start(place))?;
    let mut bytes = Vec::new();
    file.read_to_end(&mut bytes)?;
    Ok(bytes)
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;
    use crate::test::progress::Progress;

    fn script(words: &str) -> Command {
        let mut command = Command::new("sh");
        command.args(["-c", words]);
        command
    }

    fn log(name: &str) -> PathBuf {
        let own = format!("xtask-{}-{name}.log", std::process::id());
        std::env::temp_dir().join(own)
    }

    #[test]
    fn commands_share_a_log() {
        let mut run = Run::new(log("share"), Duration::from_secs(60)).expect("a log");
        assert!(run.status(&mut script("echo one; echo two >&2")).expect("it runs"));
        assert!(!run.status(&mut script("echo three; exit 3")).expect("it runs"));
        assert_eq!(run.text(), "one\ntwo\nthree\n");
        let _ = fs::remove_file(&run.log);
    }

    #[test]
    fn the_time_limit_ends_what_a_command_has_started() {
        let mut run = Run::new(log("limit"), Duration::from_millis(300)).expect("a log");
        let started = Instant::now();
        let words = "sh -c 'while :; do echo tick; sleep 0.1; done' & wait";
        let error = run.status(&mut script(words)).expect_err("it goes on").to_string();
        assert!(error.contains("took more than 300ms"), "{error}");
        assert!(started.elapsed() < Duration::from_secs(30));
        // It is gone if it says nothing more; the process table may show it for some time.
        let pause = || sleep(Duration::from_millis(500));
        pause();
        let said = run.text();
        pause();
        assert_eq!(run.text(), said);
        let _ = fs::remove_file(&run.log);
    }

    #[test]
    fn a_test_that_hangs_is_ended_and_named() {
        let progress = Progress::new(Duration::from_millis(400), Duration::ZERO);
        let mut run = Run::new(log("hang"), Duration::from_secs(60)).expect("a log");
        run.read_by(progress);
        let words = "echo '     Running unittests src/lib.rs (target/debug/deps/a-1)'
            echo 'test quick ... ok'
            echo 'test waits has been running for over 60 seconds'
            sleep 60";
        let error = run.status(&mut script(words)).expect_err("it hangs").to_string();
        assert!(error.contains("unittests src/lib.rs"), "{error}");
        assert!(error.contains("waits") && !error.contains("quick"), "{error}");
        let _ = fs::remove_file(&run.log);
    }

    #[test]
    fn another_thread_can_stop_it() {
        let mut run = Run::new(log("stop"), Duration::from_secs(60)).expect("a log");
        run.stop().store(true, Ordering::Relaxed);
        let error = run.status(&mut script("sleep 60")).expect_err("it sleeps").to_string();
        assert!(error.contains("another step failed"), "{error}");
        let _ = fs::remove_file(&run.log);
    }
}
