//! `cargo xtask python`: the Python package, built once, installed into environments of its own and
//! tested there as users would have it.

use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use xtask::environment::{self, PIP, Show};
use xtask::outcome::{Outcome, While};
use xtask::workspace;

use crate::run::Run;

const HELP: &str = "\
Usage: cargo xtask python [--oldest | --generate]

Builds the package with pip, installs it into target/python, with the newest versions of what it needs,
and runs python/tests there, on all cores. Needs Python 3.11 or later, found as `python3` or `python`, or
by the variable PYTHON; pip fetches what the tests need.

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
    /// The name of the step.
    pub fn name(self) -> &'static str {
        match self {
            Self::Newest => "python",
            Self::Oldest => "python, oldest versions",
        }
    }

    /// What repeats the step.
    pub fn command(self) -> &'static str {
        match self {
            Self::Newest => "cargo xtask python",
            Self::Oldest => "cargo xtask python --oldest",
        }
    }

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

    /// What the tests are told: once is enough for what is the same with all versions, and one method of each kind
    /// for what is not.
    fn options(self) -> &'static [&'static str] {
        match self {
            Self::Newest => &[],
            Self::Oldest => &["--other-versions"],
        }
    }

    /// The extras of the package that its tests need: types are checked with the newest versions.
    fn extras(self) -> &'static [&'static str] {
        match self {
            Self::Newest => &["test", "checks"],
            Self::Oldest => &["test"],
        }
    }
}

/// Optimised like a release where it matters, and mostly compiled by the tests already.
const PROFILE: &str = "build-args=--profile=dev";
/// Prints what the package and the extras named after it need, one requirement a line.
const REQUIREMENTS: &str = "\
import sys, tomllib
project = tomllib.load(open('pyproject.toml', 'rb'))['project']
extras = [each for name in sys.argv[1:] for each in project['optional-dependencies'][name]]
print(*project['dependencies'], *extras, sep='\\n')";

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
    let wheel = wheel(&mut show)?;
    let python = installed(versions, &wheel, &mut show)?;
    let mut work = match generate {
        true => environment::call(&python, &["python/generate.py"]),
        false => tests(versions, &python),
    };
    if show(&mut work)? { Ok(()) } else { Err("it failed".into()) }
}

/// A step of `cargo xtask test`: the wheel; `None` without a Python, as the rest of the workspace
/// needs none.
pub fn wheel_if_possible(run: &mut Run) -> Outcome<Option<PathBuf>> {
    match environment::find() {
        Ok(_) => wheel(&mut |command| run.status(command)).map(Some),
        Err(_) => Ok(None),
    }
}

/// A step of `cargo xtask test`: the tests of the package in this wheel. Without a Python it says so
/// and passes.
pub fn check(versions: Versions, wheel: Option<&Path>, run: &mut Run) -> Outcome<String> {
    if let Err(reason) = environment::find() {
        return Ok(format!("skipped: {reason}"));
    }
    let mut show = |command: &mut Command| run.status(command);
    let python = installed(versions, wheel.ok_or("there is no wheel")?, &mut show)?;
    match show(&mut tests(versions, &python))? {
        true => Ok(String::new()),
        false => Err("the tests of the package failed".into()),
    }
}

/// The tests of the package.
fn tests(versions: Versions, python: &Path) -> Command {
    let mut command = pytest(python);
    command.args(versions.options());
    command
}

/// A call of pytest on all cores; tests of one group run one after another.
pub fn pytest(python: &Path) -> Command {
    let cores = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
    let mut command = environment::call(python, &["-m", "pytest", "--quiet"]);
    command.args(["--numprocesses", &cores.to_string(), "--dist", "loadgroup"]);
    command
}

/// Builds the package as it is now, as `pip install .` does; gives back the wheel, which fits every
/// environment.
fn wheel(show: Show<'_>) -> Outcome<PathBuf> {
    // Always the same interpreter: with another one cargo would compile it again.
    let python = environment::made(Versions::Newest.folder(), show)?;
    let folder = workspace::target()?.join("xtask").join("wheel");
    let _ = fs::remove_dir_all(&folder);
    let place = folder.display().to_string();
    let pip = ["-m", "pip", "--disable-pip-version-check", "wheel", "--quiet", "--no-deps"];
    let package = ["--config-settings", PROFILE, "--wheel-dir", &place, "."];
    if !show(environment::call(&python, &pip).args(package))? {
        return Err("pip could not build the package".into());
    }
    let inside = fs::read_dir(&folder).during(|| place.clone())?;
    let found = inside.flatten().map(|entry| entry.path());
    let mut wheels = found.filter(|path| path.extension() == Some(OsStr::new("whl")));
    wheels.next().ok_or_else(|| format!("pip left no wheel in {place}").into())
}

/// Makes the environment and installs everything but the package itself.
pub fn prepare(versions: Versions, show: Show<'_>) -> Outcome<PathBuf> {
    let python = environment::made(versions.folder(), show)?;
    let mut asked = environment::call(&python, &["-c", REQUIREMENTS]);
    let printed = asked.args(versions.extras()).output();
    let printed = printed.during(|| "pyproject.toml")?.stdout;
    let requirements = String::from_utf8_lossy(&printed);
    let mut install = environment::call(&python, &PIP);
    match show(install.args(versions.constraints()).args(requirements.lines()))? {
        true => Ok(python),
        false => Err("pip could not install what the package needs".into()),
    }
}

/// Installs the package; gives back the interpreter of its environment.
fn installed(versions: Versions, wheel: &Path, show: Show<'_>) -> Outcome<PathBuf> {
    let python = environment::made(versions.folder(), show)?;
    let wheel = wheel.display().to_string();
    // Its version says nothing of what has changed.
    let anew = ["--force-reinstall", "--no-deps", &wheel];
    let needs = format!("{wheel}[{}]", versions.extras().join(","));
    let done = show(environment::call(&python, &PIP).args(anew))?
        && show(environment::call(&python, &PIP).args(versions.constraints()).arg(needs))?;
    if done { Ok(python) } else { Err("pip could not install the package".into()) }
}
