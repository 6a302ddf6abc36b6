//! `cargo xtask python`: the Python package, installed into an environment of its own and tested
//! there as users would have it.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::outcome::{Outcome, While};
use crate::workspace;

const HELP: &str = "\
Usage: cargo xtask python [--oldest | --generate]

Installs the package with pip into target/python, with the newest versions of what it needs, and runs
python/tests there. Needs Python 3.11 or later, found as `python3` or `python`, or by the variable
PYTHON; pip fetches what the tests need.

Options:
  --oldest     the same with the oldest versions that are supported, in target/python-oldest
  --generate   instead of the tests, write python/ssdl/_methods.py from the register of methods";

/// Where the package is tested: the newest versions of what it needs, and the oldest.
#[derive(Clone, Copy, PartialEq)]
pub enum Versions {
    Newest,
    Oldest,
}

impl Versions {
    /// The environment in the target folder.
    fn folder(self) -> &'static str {
        match self {
            Self::Newest => "python",
            Self::Oldest => "python-oldest",
        }
    }

    fn constraints(self) -> &'static [&'static str] {
        match self {
            Self::Newest => &[],
            Self::Oldest => &["--constraint", "python/oldest.txt"],
        }
    }
}

const OLDEST: (u32, u32) = (3, 11);
/// Optimised like a release where it matters, and mostly compiled by the tests already.
const PROFILE: &str = "build-args=--profile=dev";

pub fn run(arguments: &[String]) -> Outcome<()> {
    let (generate, versions) = match arguments {
        [] => (false, Versions::Newest),
        [flag] if flag == "--oldest" => (false, Versions::Oldest),
        [flag] if flag == "--generate" => (true, Versions::Newest),
        [flag] if flag == "--help" || flag == "-h" => {
            println!("{HELP}");
            return Ok(());
        }
        _ => return Err(format!("python does not know these arguments\n\n{HELP}").into()),
    };
    let mut show = |command: &mut Command| -> Outcome<bool> {
        Ok(command.status().during(|| "python")?.success())
    };
    let python = installed(versions, &mut show)?;
    let mut work = match generate {
        true => call(&python, &["python/generate.py"]),
        false => tests(&python, &mut show)?,
    };
    if show(&mut work)? { Ok(()) } else { Err("it failed".into()) }
}

/// The tests, which also want the program: both read each other's files.
fn tests(python: &Path, show: Show<'_>) -> Outcome<Command> {
    let program = workspace::program(show)?;
    let mut command = call(python, &["-m", "pytest", "--quiet"]);
    command.env("SSDL_PROGRAM", program);
    Ok(command)
}

/// The step of `cargo xtask test`: output goes to the log; says how many tests there are. Without a
/// Python it says so and passes: the rest of the workspace needs none.
pub fn check(versions: Versions, log: &Path) -> Outcome<String> {
    logged(log, "", |show| {
        let python = installed(versions, show)?;
        tests(&python, show)
    })
}

/// Runs tests that `prepare` makes ready, with all output in a log; says how many there are. Without a
/// Python it says so and passes, and so it does where `prepare` fails and `lacking` has words for it.
pub fn logged(
    log: &Path,
    lacking: &str,
    prepare: impl FnOnce(Show<'_>) -> Outcome<Command>,
) -> Outcome<String> {
    if let Err(reason) = find() {
        return Ok(format!("skipped: {reason}"));
    }
    fs::write(log, "").during(|| log.display().to_string())?;
    let mut into_log = |command: &mut Command| -> Outcome<bool> {
        let file = fs::OpenOptions::new().append(true).open(log).during(|| "log")?;
        let both = file.try_clone().during(|| "log")?;
        command.stdin(Stdio::null()).stdout(file).stderr(both);
        Ok(command.status().during(|| "python")?.success())
    };
    let ready = prepare(&mut into_log);
    if let (Err(error), false) = (&ready, lacking.is_empty()) {
        return Ok(format!("{lacking}{error}"));
    }
    let passed = ready.and_then(|mut tests| into_log(&mut tests));
    let bytes = fs::read(log).during(|| log.display().to_string())?;
    let text = String::from_utf8_lossy(&bytes);
    match passed {
        Ok(true) => Ok(summary(&text).to_owned()),
        Ok(false) => Err(text.into_owned().into()),
        Err(error) => Err(format!("{text}{error}").into()),
    }
}

/// Runs a command with its output where it belongs; whether it succeeded.
pub type Show<'a> = &'a mut dyn FnMut(&mut Command) -> Outcome<bool>;

/// Installs the package as it is now; gives back the interpreter of its environment.
fn installed(versions: Versions, show: Show<'_>) -> Outcome<PathBuf> {
    let python = environment(versions.folder(), show)?;
    let package = ["--config-settings", PROFILE, ".[test]"];
    if show(call(&python, &PIP).args(package).args(versions.constraints()))? {
        Ok(python)
    } else {
        Err("pip could not install the package".into())
    }
}

/// Installs the release build and what it is measured against; gives back the interpreter.
pub fn installed_to_measure() -> Outcome<PathBuf> {
    let mut show = |command: &mut Command| -> Outcome<bool> {
        Ok(command.status().during(|| "python")?.success())
    };
    let python = environment("python-bench", &mut show)?;
    if !show(call(&python, &PIP).args(["--force-reinstall", "--no-deps", "."]))?
        || !show(call(&python, &PIP).args([".", "threadpoolctl"]))?
    {
        return Err("pip could not install the package".into());
    }
    // There are no wheels of it for every platform; the rest is measured without.
    if !show(call(&python, &PIP).arg("spams-bin"))? {
        println!("SPAMS cannot be installed here and is left out");
    }
    Ok(python)
}

pub const PIP: [&str; 5] = ["-m", "pip", "--disable-pip-version-check", "install", "--quiet"];

/// The interpreter of an environment in the target folder, made if it is not there.
pub fn environment(name: &str, show: Show<'_>) -> Outcome<PathBuf> {
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
            return Err(format!("{} -m venv {place} failed", system.display()).into());
        }
    }
    Ok(python)
}

/// An interpreter that is new enough.
fn find() -> Outcome<PathBuf> {
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

pub fn call(python: &Path, arguments: &[&str]) -> Command {
    let mut command = Command::new(python);
    command.args(arguments).current_dir(workspace::top());
    command
}

/// The last line of pytest, without its time.
fn summary(text: &str) -> &str {
    let last = text.lines().rev().find(|line| line.contains(" passed")).unwrap_or_default();
    last.split(" in ").next().unwrap_or(last)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_summary_of_pytest_is_its_last_line() {
        let text = "....\n805 passed, 8 skipped, 6 warnings in 38.44s\n";
        assert_eq!(summary(text), "805 passed, 8 skipped, 6 warnings");
        assert_eq!(summary("nothing ran\n"), "");
    }

    #[test]
    fn an_interpreter_that_is_not_there_has_no_version() {
        assert_eq!(version(Path::new("no-such-python")), None);
    }
}
