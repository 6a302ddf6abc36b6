//! Progress of fits and downloads: a bar on a terminal, lines in a pipe, nothing if quiet.

use std::io::IsTerminal;
use std::sync::Mutex;
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use ssdl::fit::{Flow, Progress, Step, Watch};
use ssdl::{Signal, shown};

use crate::print::Sheet;
use crate::{cancel, memory, print};

/// Observer of a fit: shows its progress, collects its notices, and stops it on Ctrl-C.
pub struct ProgressView {
    view: View,
    notices: Vec<String>,
    /// Whether the memory that a fit needs is printed.
    prints_memory: bool,
    /// The bytes that it needs, once that is known.
    memory_needed: Option<u64>,
}

enum View {
    Bar(ProgressBar),
    Lines,
    Nothing,
}

impl ProgressView {
    /// Chooses the view that suits stderr.
    pub fn new(quiet: bool) -> Self {
        let view = if quiet {
            View::Nothing
        } else if std::io::stderr().is_terminal() {
            View::Bar(bar())
        } else {
            View::Lines
        };
        Self { view, notices: Vec::new(), prints_memory: false, memory_needed: None }
    }

    /// The same, which also prints the memory that the fit needs.
    pub fn with_memory(self) -> Self {
        Self { prints_memory: true, ..self }
    }

    /// The bytes that the fit needs; `None` before its samples are prepared.
    pub fn memory_needed(&self) -> Option<u64> {
        self.memory_needed
    }

    /// Clears the bar and returns the notices.
    pub fn finish(self) -> Vec<String> {
        if let View::Bar(bar) = &self.view {
            bar.finish_and_clear();
        }
        self.notices
    }
}

fn bar() -> ProgressBar {
    let bar = ProgressBar::with_draw_target(None, ProgressDrawTarget::stderr());
    if let Ok(style) =
        ProgressStyle::with_template("{spinner} [{bar:20}] {pos}/{len} {wide_msg} {elapsed:>4}")
    {
        bar.set_style(style.progress_chars("=> "));
    }
    bar.set_message("preparing and searching neighbours");
    // The graph of many samples takes a while without progress; the clock shows that it is running.
    bar.enable_steady_tick(Duration::from_millis(200));
    bar
}

impl Watch for ProgressView {
    fn needs(&mut self, bytes: u64) {
        self.memory_needed = Some(bytes);
        memory::suit_a_fit_of(bytes);
        if self.prints_memory {
            let mut sheet = Sheet::default();
            sheet.row("memory", format!("about {} needed", memory::text(bytes)));
            let row = || print::to_stdout(&sheet.text());
            // Output that nobody reads any more is noticed where the result is printed.
            let _ = match &self.view {
                View::Bar(bar) => bar.suspend(row),
                _ => row(),
            };
        }
    }

    fn step(&mut self, progress: &Progress<'_>) -> Flow {
        let Progress { iteration, max_iterations, step, objective } = *progress;
        let total = objective.map(|objective| print::number(objective.total()));
        match &self.view {
            View::Bar(bar) => {
                bar.set_length(max_iterations as u64);
                bar.set_position(iteration as u64);
                bar.set_message(match total {
                    Some(total) => format!("{}, objective {total}", step.name()),
                    None => step.name().to_owned(),
                });
            }
            // The only step that every iteration of every method has.
            View::Lines if step == Step::Dictionary => {
                let total = total.unwrap_or_default();
                print::to_stderr(&format!(
                    "iteration {iteration} of at most {max_iterations}: objective {total}"
                ));
            }
            View::Lines | View::Nothing => {}
        }
        if cancel::is_requested() { Flow::Stop } else { Flow::Continue }
    }

    fn aside(&mut self) -> Flow {
        if let View::Bar(bar) = &self.view {
            bar.set_message("probabilities, with labels hidden in turn");
        }
        if cancel::is_requested() { Flow::Stop } else { Flow::Continue }
    }

    fn signal(&self) -> Option<Signal> {
        Some(cancel::signal())
    }

    fn notice(&mut self, sentence: &str) {
        // A fit made of several fits may repeat a notice.
        if self.notices.iter().any(|earlier| earlier == sentence) {
            return;
        }
        let line = format!("note: {sentence}");
        match &self.view {
            View::Bar(bar) => bar.suspend(|| print::to_stderr(&line)),
            View::Lines => print::to_stderr(&line),
            View::Nothing => {}
        }
        self.notices.push(sentence.to_owned());
    }
}

/// Counts the fits of a plan: a bar with the remaining time on a terminal, some lines in a pipe.
pub enum FitCounter {
    Bar(ProgressBar),
    Lines(Mutex<Instant>),
    Nothing,
}

impl FitCounter {
    /// Chooses the view that suits stderr.
    pub fn new(quiet: bool) -> Self {
        if quiet {
            return Self::Nothing;
        }
        if !std::io::stderr().is_terminal() {
            return Self::Lines(Mutex::new(Instant::now()));
        }
        let bar = ProgressBar::with_draw_target(None, ProgressDrawTarget::stderr());
        let template = "{spinner} [{bar:20}] {pos}/{len} fits {wide_msg} {elapsed}, {eta} left";
        if let Ok(style) = ProgressStyle::with_template(template) {
            bar.set_style(style.progress_chars("=> "));
        }
        bar.enable_steady_tick(Duration::from_millis(200));
        Self::Bar(bar)
    }

    /// Clears the bar.
    pub fn finish(&self) {
        if let Self::Bar(bar) = self {
            bar.finish_and_clear();
        }
    }
}

impl ssdl_experiments::Monitor for FitCounter {
    fn done(&self, fits: usize, total: usize, current: &str) {
        match self {
            Self::Bar(bar) => {
                bar.set_length(total as u64);
                bar.set_position(fits as u64);
                bar.set_message(shown::escaped(current).into_owned());
            }
            Self::Lines(last) => {
                let Ok(mut last) = last.lock() else { return };
                if last.elapsed() > Duration::from_secs(20) || fits == total {
                    print::to_stderr(&format!("{fits} of {total} fits, {current}"));
                    *last = Instant::now();
                }
            }
            Self::Nothing => {}
        }
    }

    fn stop(&self) -> bool {
        cancel::is_requested()
    }
}

/// Counts the bytes of a download: a bar on a terminal, a line for each file in a pipe.
pub enum ByteCounter {
    Bar(ProgressBar),
    Lines,
    Nothing,
}

impl ByteCounter {
    /// Chooses the view that suits stderr.
    pub fn new(quiet: bool) -> Self {
        if quiet {
            return Self::Nothing;
        }
        if !std::io::stderr().is_terminal() {
            return Self::Lines;
        }
        let bar = ProgressBar::with_draw_target(None, ProgressDrawTarget::stderr());
        let template = "[{bar:20}] {bytes}/{total_bytes} {wide_msg} {bytes_per_sec}, {eta} left";
        if let Ok(style) = ProgressStyle::with_template(template) {
            bar.set_style(style.progress_chars("=> "));
        }
        Self::Bar(bar)
    }

    /// Shows that `done` of `total` bytes of a file have arrived.
    pub fn show(&self, file: &str, done: u64, total: u64) {
        match self {
            Self::Bar(bar) => {
                bar.set_length(total);
                bar.set_position(done);
                bar.set_message(file.to_owned());
            }
            Self::Lines if done == total => {
                print::to_stderr(&format!("{file}: {total} bytes downloaded"));
            }
            Self::Lines | Self::Nothing => {}
        }
    }

    /// Clears the bar.
    pub fn finish(&self) {
        if let Self::Bar(bar) = self {
            bar.finish_and_clear();
        }
    }
}
