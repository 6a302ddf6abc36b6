//! The program `ssdl-neural`: arguments and printing.

mod program;

use std::process::ExitCode;

use clap::Parser;

fn main() -> ExitCode {
    match program::run(&program::args::Cli::parse()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            program::print::to_stderr(&format!("ssdl-neural: {error}"));
            ExitCode::FAILURE
        }
    }
}
