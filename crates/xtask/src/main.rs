//! `cargo xtask`: the tests, the generated files and the measurements of this workspace.

#![allow(clippy::print_stdout, clippy::print_stderr, reason = "a program for the terminal")]

mod bench;
mod browser;
mod fuzz;
mod generate;
mod gpu;
mod licences;
mod neural;
mod processes;
mod python;
mod run;
mod test;

use std::process::ExitCode;

use xtask::outcome::Outcome;

const HELP: &str = "\
Usage: cargo xtask <command> [options]

Commands:
  test       format, lints, documentation, all tests, generated files, the Python package, the pages
  generate   write the generated files
  tables     write the tables of docs/results.md and README.md from the rows in results/
  python     the tests of the Python package alone, or its generated classes
  browser    the tests of the report pages alone, or the pictures of the documentation
  licences   write THIRD-PARTY-LICENCES.txt, or check it and all licences
  gpu        tests of the graphics card, where there is one; what a fit takes there
  neural     lints and tests of the nets, which are a workspace of their own
  fuzz       damaged and made-up inputs for everything that reads
  bench      accuracy, objective, time and memory, beside the reference

cargo xtask <command> --help explains a command.";

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match run(&arguments) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("xtask: {error}");
            ExitCode::FAILURE
        }
    }
}

fn run(arguments: &[String]) -> Outcome<()> {
    let Some((command, rest)) = arguments.split_first() else {
        println!("{HELP}");
        return Ok(());
    };
    match command.as_str() {
        "test" => test::run(rest),
        "generate" => generate::run(rest),
        "tables" => generate::tables(rest),
        "python" => python::run(rest),
        "browser" => browser::run(rest),
        "licences" => licences::run(rest),
        "gpu" => gpu::run(rest),
        "neural" => neural::run(rest),
        "fuzz" => fuzz::run(rest),
        "bench" => bench::run(rest),
        "help" | "--help" | "-h" => {
            println!("{HELP}");
            Ok(())
        }
        other => Err(format!("there is no command '{other}'\n\n{HELP}").into()),
    }
}
