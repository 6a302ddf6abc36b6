//! Hands a command line over to another program of the project, where it is installed.

use std::io::{Error, ErrorKind};
use std::path::PathBuf;
use std::process::Command;

use crate::args;
use crate::failure::{Failure, Outcome};

/// Runs `program` with the words of this command line: the one beside this program, or the first in PATH.
///
/// # Errors
/// `otherwise` where it is not installed.
pub fn to(program: &str, otherwise: Failure) -> Outcome {
    let file = format!("{program}{}", std::env::consts::EXE_SUFFIX);
    let beside = std::env::current_exe().ok().map(|own| own.with_file_name(file));
    let chosen = beside.filter(|path| path.is_file()).unwrap_or_else(|| PathBuf::from(program));
    let mut command = Command::new(chosen);
    command.args(args::words().iter().skip(1));
    become_it(command).map_err(|error| match error.kind() {
        ErrorKind::NotFound => otherwise,
        _ => Failure::Failed(format!("{program}: {error}")),
    })
}

/// In place of this process, so that Ctrl-C and the exit code are those of the other program.
#[cfg(unix)]
fn become_it(mut command: Command) -> Result<(), Error> {
    Err(std::os::unix::process::CommandExt::exec(&mut command))
}

#[cfg(not(unix))]
fn become_it(mut command: Command) -> Result<(), Error> {
    let status = command.status()?;
    match status.success() {
        true => Ok(()),
        false => Err(Error::other(status.to_string())),
    }
}
