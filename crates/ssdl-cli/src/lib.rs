//! The program `ssdl`: arguments in, files and tables out; the mathematics is in the library.
//!
//! A library of one function, [`run`]: the binary and the Python package are the same program.

mod args;
mod cancel;
mod commands;
mod device;
mod failure;
mod hand_over;
mod input;
mod memory;
mod output;
mod pages;
mod print;
mod progress;

use std::ffi::OsString;
use std::panic::{AssertUnwindSafe, PanicHookInfo, catch_unwind};

use args::{Cli, Command};
use failure::{Failure, Outcome};

/// Runs the program with the words of a command line, its own name first; gives back the exit code.
///
/// It takes over Ctrl-C, the messages of panics and the settings of the allocator: call it once, from a process that
/// does nothing else.
pub fn run(words: Vec<OsString>) -> u8 {
    args::remember(words);
    memory::give_back_what_is_freed();
    std::panic::set_hook(Box::new(ask_for_a_report));
    // The hook has printed the message; only the exit code is left.
    catch_unwind(AssertUnwindSafe(start)).unwrap_or(1)
}

fn start() -> u8 {
    let outcome = match args::parse(args::words()) {
        Ok(cli) => obey(&cli),
        Err(error) => refuse(&error),
    };
    match outcome {
        Ok(()) => 0,
        Err(failure) => {
            print::to_stderr(&format!("ssdl: {failure}"));
            failure.exit_code()
        }
    }
}

fn obey(cli: &Cli) -> Outcome {
    let common = &cli.common;
    match &cli.command {
        Command::Demo(args) => commands::demo::run(args, common),
        Command::Fit(args) => commands::fit::run(args, common),
        Command::Label(args) => commands::label::run(args, common),
        Command::Predict(args) => commands::predict::run(args, common),
        Command::Inspect(args) => commands::inspect::run(args, common),
        Command::Atoms(args) => commands::atoms::run(args, common),
        Command::Graph(args) => commands::graph::run(args, common),
        Command::Methods(args) => commands::methods::run(args, common),
        Command::Experiment(args) => commands::experiment::run(args, common),
        Command::Tune(args) => commands::tune::run(args, common),
        Command::Data(args) => commands::data::run(args, common),
        Command::Licences(args) => commands::licences::run(args, common),
    }
}

/// Prints help and version; any other error of clap is wrong usage, reported in one line.
fn refuse(error: &clap::Error) -> Outcome {
    use clap::error::ErrorKind;
    match error.kind() {
        ErrorKind::DisplayHelp | ErrorKind::DisplayVersion => {
            // Printing fails only if stdout is closed.
            let _ = error.print();
            Ok(())
        }
        ErrorKind::MissingSubcommand | ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand => {
            Err(Failure::Misuse(args::missing_command()))
        }
        _ => Err(Failure::Misuse(args::in_one_line(error))),
    }
}

fn ask_for_a_report(panic: &PanicHookInfo<'_>) {
    let place = panic.location().map(|at| format!(" at {}:{}", at.file(), at.line()));
    let message = panic.payload_as_str().unwrap_or("unknown").replace('\n', " ");
    let message = message + &place.unwrap_or_default();
    print::to_stderr(&request(&message, env!("CARGO_PKG_REPOSITORY")));
}

/// What is said about a bug; packages without an address end the sentence before it.
fn request(message: &str, address: &str) -> String {
    let version = env!("CARGO_PKG_VERSION");
    let place = if address.is_empty() { String::new() } else { format!(" at {address}/issues") };
    format!(
        "ssdl: this is a bug in ssdl {version}: {message}; please report it with the command you \
         ran{place}"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_request_for_a_report_has_an_address_or_none() {
        assert!(request("x", "").ends_with("; please report it with the command you ran"));
        assert!(request("x", "https://a.b/c").ends_with("you ran at https://a.b/c/issues"));
    }
}
