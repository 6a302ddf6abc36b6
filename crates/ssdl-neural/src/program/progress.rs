//! Progress of fits: a bar on a terminal, lines in a pipe, nothing if quiet.

use std::io::IsTerminal;
use std::sync::Mutex;
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use ssdl::Signal;
use ssdl::fit::{Flow, Progress, Watch};
use ssdl_experiments::Monitor;

use super::{cancel, print};

/// Follows fits, and stops them on Ctrl-C.
pub enum View {
    Bar(ProgressBar),
    Lines(Mutex<Option<Instant>>),
    Nothing,
}

impl View {
    /// Chooses the view that suits stderr.
    pub fn new(quiet: bool) -> Self {
        if quiet {
            return Self::Nothing;
        }
        if !std::io::stderr().is_terminal() {
            return Self::Lines(Mutex::new(None));
        }
        let bar = ProgressBar::with_draw_target(None, ProgressDrawTarget::stderr());
        let template = "{spinner} [{bar:20}] {pos}/{len} {wide_msg} {elapsed:>4}";
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

    fn show(&self, done: usize, total: usize, message: &str) {
        match self {
            Self::Bar(bar) => {
                bar.set_length(total as u64);
                bar.set_position(done as u64);
                bar.set_message(ssdl::shown::escaped(message).into_owned());
            }
            Self::Lines(last) => {
                let Ok(mut last) = last.lock() else { return };
                let is_due = last.is_none_or(|at| at.elapsed() > Duration::from_secs(5));
                if is_due || done == total {
                    print::to_stderr(&format!("{done} of {total}: {message}"));
                    *last = Some(Instant::now());
                }
            }
            Self::Nothing => {}
        }
    }
}

impl Watch for View {
    fn step(&mut self, progress: &Progress<'_>) -> Flow {
        let total = progress.objective.map_or(f64::NAN, ssdl::fit::Objective::total);
        self.show(
            progress.iteration,
            progress.max_iterations,
            &format!("epochs, objective {total:.4}"),
        );
        if cancel::is_requested() { Flow::Stop } else { Flow::Continue }
    }

    fn signal(&self) -> Option<Signal> {
        Some(cancel::signal())
    }

    fn notice(&mut self, sentence: &str) {
        let line = format!("note: {sentence}");
        match self {
            Self::Bar(bar) => bar.suspend(|| print::to_stderr(&line)),
            Self::Lines(_) => print::to_stderr(&line),
            Self::Nothing => {}
        }
    }
}

impl Monitor for View {
    fn done(&self, fits: usize, total: usize, current: &str) {
        self.show(fits, total, &format!("fits, {current}"));
    }

    fn stop(&self) -> bool {
        cancel::is_requested()
    }
}
