//! Terminal output.

use std::io::{self, Write};

use super::Outcome;

/// Writes a text and a newline to stdout, with what a terminal would obey escaped. A closed pipe is not
/// an error: the reader has seen enough.
pub fn to_stdout(text: &str) -> Outcome {
    let mut stdout = io::stdout().lock();
    let written = writeln!(stdout, "{}", ssdl::shown::escaped(text)).and_then(|()| stdout.flush());
    match written {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => Err(error.into()),
        _ => Ok(()),
    }
}

/// Writes a line to stderr; a failure cannot be reported anywhere, so it is ignored.
pub fn to_stderr(line: &str) {
    let _ = writeln!(io::stderr().lock(), "{}", ssdl::shown::escaped(line));
}
