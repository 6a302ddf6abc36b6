//! The commands.

pub mod args;
mod cancel;
mod device;
mod experiment;
mod fit;
mod methods;
mod page;
mod predict;
pub mod print;
mod progress;

use args::{Cli, Command};

/// What every command returns; the error is a sentence for the user.
pub type Outcome<T = ()> = Result<T, Box<dyn std::error::Error>>;

/// Runs a command.
pub fn run(cli: &Cli) -> Outcome {
    match &cli.command {
        Command::Fit(args) => fit::run(args, &cli.common),
        Command::Predict(args) => predict::run(args, &cli.common),
        Command::Experiment(args) => experiment::run(args, &cli.common),
        Command::Methods => methods::run(),
    }
}
