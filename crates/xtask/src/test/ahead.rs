//! What the later steps need from the network, fetched while cargo compiles for the first ones.

use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;

use crate::browser;
use crate::python::{self, Versions};
use crate::run::Run;

/// A thread that installs browser and packages. The steps ask for the same again, which is quick once
/// it is there, and tell what is wrong where it is not; so nothing here can fail.
pub struct Ahead {
    thread: JoinHandle<()>,
    stop: Arc<AtomicBool>,
}

impl Ahead {
    pub fn start(mut run: Run) -> Self {
        let stop = run.stop();
        let thread = std::thread::spawn(move || {
            let mut show = |command: &mut Command| run.status(command);
            let _ = python::prepare(Versions::Newest, &mut show);
            let _ = browser::prepare(&mut show);
            let _ = python::prepare(Versions::Oldest, &mut show);
        });
        Self { thread, stop }
    }

    pub fn wait(self) {
        let _ = self.thread.join();
    }

    /// Nobody needs it any more.
    pub fn stop(self) {
        self.stop.store(true, Ordering::Relaxed);
        self.wait();
    }
}
