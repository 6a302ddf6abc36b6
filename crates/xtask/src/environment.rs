//! Environments for Python in the target folder, and the interpreter they are made with.

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::outcome::Outcome;
use crate::workspace;

/// Runs a command with its output where it belongs; whether it succeeded.
pub type Show<'a> = &'a mut dyn FnMut(&mut Command) -> Outcome<bool>;

/// Arguments of an interpreter that make it install what follows them.
pub const PIP: [&str; 5] = ["-m", "pip", "--disable-pip-version-check", "install", "--quiet"];

const OLDEST: (u32, u32) = (3, 11);

/// The interpreter of an environment in the target folder, made if it is not there.
pub fn made(name: &str, show: Show<'_>) -> Outcome<PathBuf> {
    let folder = workspace::target()?.join(name);
    let python = if cfg!(windows) {
        folder.join("Scripts").join("python.exe")
    } else {
        folder.join("bin").join("python")
    };
    // The interpreter that an old environment points to may be gone.
    if !python.exists() || version(&python).is_none() {
        let system = find()?;
        let place = folder.display().to_string();
        if !show(&mut call(&system, &["-m", "venv", "--clear", &place]))? {
            return Err(format!(
                "{} -m venv {place} failed; on Debian and Ubuntu it needs: apt-get install \
                 python3-venv",
                system.display()
            )
            .into());
        }
    }
    Ok(python)
}

/// An interpreter that is new enough.
pub fn find() -> Outcome<PathBuf> {
    let given = std::env::var_os("PYTHON").map(PathBuf::from);
    let names = match given {
        Some(path) => vec![path],
        None => ["python3", "python"].map(PathBuf::from).to_vec(),
    };
    let mut seen = Vec::new();
    for name in names {
        match version(&name) {
            Some(found) if found >= OLDEST => return Ok(name),
            Some((major, minor)) => seen.push(format!("{} is {major}.{minor}", name.display())),
            None => seen.push(format!("{} does not run", name.display())),
        }
    }
    let (major, minor) = OLDEST;
    Err(format!(
        "Python {major}.{minor} or later is needed for the Python package ({}); install it, or set \
         PYTHON to its path",
        seen.join(", ")
    )
    .into())
}

/// The version of an interpreter; `None` if it does not run.
fn version(python: &Path) -> Option<(u32, u32)> {
    let script = "import sys; print(sys.version_info[0], sys.version_info[1])";
    let output = Command::new(python).args(["-c", script]).output().ok()?;
    let text = String::from_utf8(output.stdout).ok()?;
    let mut numbers = text.split_whitespace().map(|number| number.parse().ok());
    Some((numbers.next()??, numbers.next()??))
}

/// A call of an interpreter in the workspace's folder.
pub fn call(python: &Path, arguments: &[&str]) -> Command {
    let mut command = Command::new(python);
    command.args(arguments).current_dir(workspace::top());
    command
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_interpreter_that_is_not_there_has_no_version() {
        assert_eq!(version(Path::new("no-such-python")), None);
    }
}
