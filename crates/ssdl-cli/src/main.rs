//! The binary `ssdl`.

use std::process::ExitCode;

fn main() -> ExitCode {
    ssdl_cli::run(std::env::args_os().collect()).into()
}
