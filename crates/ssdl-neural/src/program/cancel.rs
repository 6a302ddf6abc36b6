//! Ctrl-C: the first one stops the fit, the second ends the program.

use std::sync::LazyLock;
use std::sync::atomic::Ordering;

use ssdl::Signal;

use super::print;

static REQUESTED: LazyLock<Signal> = LazyLock::new(Signal::default);

/// Installs the handler.
pub fn listen(quiet: bool) {
    // A system that refuses the handler still ends the program on Ctrl-C; nothing is lost.
    let _ = ctrlc::set_handler(move || on_interrupt(quiet));
}

/// Whether Ctrl-C has been pressed.
pub fn is_requested() -> bool {
    REQUESTED.load(Ordering::SeqCst)
}

/// What Ctrl-C sets.
pub fn signal() -> Signal {
    REQUESTED.clone()
}

#[allow(clippy::exit, reason = "the second Ctrl-C ends the program at once")]
fn on_interrupt(quiet: bool) {
    if REQUESTED.swap(true, Ordering::SeqCst) {
        print::to_stderr("ssdl-neural: interrupted");
        std::process::exit(1);
    }
    if !quiet {
        print::to_stderr("stopping; press Ctrl-C again to quit at once");
    }
}
