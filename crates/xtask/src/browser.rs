//! `cargo xtask browser`: the report pages in a real browser, and the pictures of the documentation.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use sha2::{Digest, Sha256};
use xtask::environment::{self, PIP, Show};
use xtask::outcome::{Outcome, While};
use xtask::workspace;

use crate::python;
use crate::run::Run;

const HELP: &str = "\
Usage: cargo xtask browser [--pictures]

Makes report pages with the program and tests them in a headless browser: no error, no request, nothing
that scrolls sideways, clicks, keys, print, the dark. So is the page of `ssdl label`, whose server is
killed and started again. Needs Python 3.11 or later and Chromium, found as
`chromium`, `chromium-browser`, `google-chrome` or by the variable CHROMIUM; pip fetches Playwright into
target/browser. Where Chromium is missing and this runs as root on Debian or Ubuntu, apt-get installs it.

Options:
  --pictures   instead of the tests, take the pictures of docs/images; `cargo xtask test` fails if the
               page has changed since they were taken";

/// Where the pictures of the documentation are, and beside them what they were taken of.
const PICTURES: &str = "docs/images";
const TAKEN_OF: &str = "docs/images/taken-of.txt";
/// What the look of a page depends on.
const SOURCES: [&str; 4] = [
    "crates/ssdl-label/page",
    "crates/ssdl-report/templates",
    "crates/ssdl-report/src",
    "browser/screenshots.py",
];
const NAMES: [&str; 4] = ["chromium", "chromium-browser", "google-chrome", "google-chrome-stable"];
const PACKAGES: [&str; 2] = ["chromium", "fonts-dejavu-core"];

pub fn run(arguments: &[String]) -> Outcome<()> {
    let pictures = match arguments {
        [] => false,
        [flag] if flag == "--pictures" => true,
        [flag] if flag == "--help" || flag == "-h" => {
            println!("{HELP}");
            return Ok(());
        }
        _ => return Err(format!("browser does not know these arguments\n\n{HELP}").into()),
    };
    let mut show = |command: &mut Command| -> Outcome<bool> {
        Ok(command.status().during(|| "browser")?.success())
    };
    let prepared = prepare(&mut show)?;
    let mut work = match pictures {
        true => environment::call(&prepared.python, &["browser/screenshots.py", PICTURES]),
        false => tests(&prepared.python),
    };
    prepared.name_programs(&mut work, &mut show)?;
    if !show(&mut work)? {
        return Err("it failed".into());
    }
    if pictures {
        let top = workspace::top();
        std::fs::write(top.join(TAKEN_OF), taken_of()?).during(|| TAKEN_OF)?;
    }
    Ok(())
}

/// The step of `cargo xtask test`; where there is no browser it says how to get one, and passes.
pub fn check(run: &mut Run) -> Outcome<String> {
    let mut show = |command: &mut Command| run.status(command);
    let prepared = match prepare(&mut show) {
        Ok(prepared) => prepared,
        Err(reason) => return Ok(format!("skipped: {reason}")),
    };
    let mut work = tests(&prepared.python);
    prepared.name_programs(&mut work, &mut show)?;
    match show(&mut work)? {
        true => Ok(String::new()),
        false => Err("the tests of the pages failed".into()),
    }
}

fn tests(python: &Path) -> Command {
    let mut command = python::pytest(python);
    command.arg("browser");
    command
}

/// Whether the pictures of the documentation show the page as it is now.
pub fn check_pictures() -> Outcome<()> {
    let before = std::fs::read_to_string(workspace::top().join(TAKEN_OF)).during(|| TAKEN_OF)?;
    match before.trim() == taken_of()?.trim() {
        true => Ok(()),
        false => Err(format!(
            "{PICTURES} shows the page as it was; take the pictures again:\n  \
             cargo xtask browser --pictures"
        )
        .into()),
    }
}

/// A digest of everything that the look of a page depends on; line ends do not count.
fn taken_of() -> Outcome<String> {
    let mut files = Vec::new();
    for source in SOURCES {
        let path = workspace::top().join(source);
        match path.is_dir() {
            true => {
                let inside = std::fs::read_dir(&path).during(|| source)?;
                for file in inside {
                    files.push(file.during(|| source)?.path());
                }
            }
            false => files.push(path),
        }
    }
    files.sort();
    let mut digest = Sha256::new();
    for file in files {
        let text = std::fs::read_to_string(&file).during(|| file.display().to_string())?;
        text.lines().for_each(|line| digest.update(format!("{line}\n")));
    }
    let bytes = digest.finalize();
    Ok(bytes.iter().map(|byte| format!("{byte:02x}")).collect::<String>() + "\n")
}

/// A browser, and an interpreter that can drive it.
pub struct Prepared {
    chromium: PathBuf,
    python: PathBuf,
}

/// Installs what the tests and the pictures need.
pub fn prepare(show: Show<'_>) -> Outcome<Prepared> {
    let chromium = installed(show)?;
    let python = environment::made("browser", show)?;
    let packages =
        ["pillow", "playwright", "pytest>=8", "pytest-timeout>=2.2", "pytest-xdist>=3.5"];
    match show(environment::call(&python, &PIP).args(packages))? {
        true => Ok(Prepared { chromium, python }),
        false => Err("pip could not install Playwright".into()),
    }
}

impl Prepared {
    /// Names the browser, and the program that makes the pages.
    fn name_programs(&self, work: &mut Command, show: Show<'_>) -> Outcome<()> {
        let program = workspace::program(show)?;
        work.env("SSDL_PROGRAM", program).env("CHROMIUM", &self.chromium);
        Ok(())
    }
}

/// A browser; where there is none and nobody need be asked, it is installed.
fn installed(show: Show<'_>) -> Outcome<PathBuf> {
    if let Some(found) = find() {
        return Ok(found);
    }
    let packages = PACKAGES.join(" ");
    // Whoever names a browser wants that one.
    if std::env::var_os("CHROMIUM").is_none() && is_root_with_apt() {
        let apt = |arguments: &[&str]| {
            let mut command = Command::new("apt-get");
            command.args(arguments).env("DEBIAN_FRONTEND", "noninteractive");
            command
        };
        let install = ["install", "--yes", "--quiet", "--no-install-recommends"];
        // Where the lists are current, the first is not needed; where it fails, the second tells why.
        let _ = show(&mut apt(&["update", "--quiet"]));
        let _ = show(apt(&install).args(PACKAGES));
    }
    find().ok_or_else(|| {
        format!(
            "no Chromium is found; install it (on Debian and Ubuntu: apt-get install {packages}), or \
             set CHROMIUM to its path"
        )
        .into()
    })
}

fn find() -> Option<PathBuf> {
    let given = std::env::var_os("CHROMIUM").map(PathBuf::from);
    let names = given.map_or_else(|| NAMES.map(PathBuf::from).to_vec(), |path| vec![path]);
    names.into_iter().find_map(|name| {
        let mut call = Command::new(&name);
        let ran = call.arg("--version").stdout(Stdio::null()).stderr(Stdio::null()).status();
        ran.is_ok_and(|status| status.success()).then(|| on_the_path(&name).unwrap_or(name))
    })
}

/// The whole path of a program that was found by its name: Playwright wants it.
fn on_the_path(name: &Path) -> Option<PathBuf> {
    let folders = std::env::var_os("PATH")?;
    std::env::split_paths(&folders).map(|folder| folder.join(name)).find(|path| path.is_file())
}

fn is_root_with_apt() -> bool {
    let said = |program: &str, argument: &str| Command::new(program).arg(argument).output().ok();
    let root = said("id", "-u").is_some_and(|output| output.stdout.trim_ascii() == b"0");
    root && said("apt-get", "--version").is_some()
}
