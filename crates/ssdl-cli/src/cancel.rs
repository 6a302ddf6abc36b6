//! Ctrl-C: the first one asks the fit to stop after its current step, the second ends the program.

use std::sync::atomic::{AtomicBool, Ordering};

use crate::print;

static ASKED: AtomicBool = AtomicBool::new(false);

/// Starts to listen. Without it Ctrl-C ends the program at once, which suits commands that write
/// nothing before their end.
pub fn listen(quiet: bool) {
    // A system that refuses the handler still ends the program on Ctrl-C; nothing is lost.
    let _ = ctrlc::set_handler(move || on_interrupt(quiet));
}

/// Whether somebody asked to stop.
pub fn asked() -> bool {
    ASKED.load(Ordering::SeqCst)
}

#[allow(clippy::exit, reason = "the second Ctrl-C means now")]
fn on_interrupt(quiet: bool) {
    if ASKED.swap(true, Ordering::SeqCst) {
        print::to_stderr("ssdl: interrupted");
        std::process::exit(1);
    }
    if !quiet {
        print::to_stderr("stopping after this step; Ctrl-C again ends at once");
    }
}
