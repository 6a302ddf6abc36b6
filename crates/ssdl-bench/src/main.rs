//! `cargo xtask bench`: measurements of the program, beside the Python reference where there is one.

#![allow(clippy::print_stdout, clippy::print_stderr, reason = "a program for the terminal")]

mod beside;
mod digits;
mod files;
mod graphs;
mod growth;
mod images;
mod neighbours;
mod numbers;
mod parity;
mod peers;
mod program;
mod python;
mod reference;
mod variants;

use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

use xtask::outcome::{Outcome, While};
use xtask::workspace;

use crate::reference::Reference;

const HELP: &str = "\
Usage: cargo xtask bench [options]

Measures what is released, a build with the profile `dist`, and prints Markdown tables, also kept in
target/bench/report.md.

Options:
  --set SET         what to measure (default: parity)
                      parity   accuracy, objective and seconds on the published splits of USPS and
                               MNIST, beside the Python reference run in the same sitting
                      growth   memory and seconds for 5,000, 10,000 and 20,000 samples of MNIST
                      threads  one and two threads in turn on 5,000 samples of MNIST
                      variants our own alternatives (coders, updates, active points, precision,
                               USSDL, baselines, preparation of images) on the published splits
                      graphs   the learnt graph, the sharing within a grid, and the SVM beside
                               scikit-learn's
                      neighbours
                               nearest neighbours of 60,000 images, exact and approximate, beside
                               pynndescent
                      peers    the peers beside their prototypes in NumPy, one published list of each data set
                      images   histograms of oriented gradients beside scikit-image's
                      beside   what parity, threads and growth fit, with this build and the one of
                               --beside in turns
                      python   the Python package beside the library, scikit-learn and SPAMS
                      atoms    numbers of atoms on the tables that scikit-learn brings; needs no data
                      all      everything but atoms and beside
  --data DIR        folder with usps/ and mnist/ (default: the variable SSDL_DATA)
  --reference DIR   folder with oracle.py, usps.json and mnist.json (default: DATA/../reference)
  --prototypes DIR  folder with omp/ and block/, the prototypes of --set peers (default: REFERENCE/peers)
  --python          the same as --set python
  --program PROGRAM measure this build of the program instead of building one
  --beside PROGRAM  another build of the program, for --set beside
  --seeds N         only the first N listed seeds of each data set

parity, graphs, neighbours, peers and images make a Python environment in target/oracle-venv the first time; that needs
python3, pip and the network; so does python, in target/python-bench. Run on an idle machine.";

/// Where everything is that a measurement needs.
pub struct Setting {
    /// The program that is measured.
    pub program: PathBuf,
    /// The folder of the data sets.
    pub data: PathBuf,
    /// The folder of the reference and of the published splits.
    pub reference: PathBuf,
    /// The folder of the peers' prototypes.
    pub prototypes: PathBuf,
    /// Where the files of the runs and the report go.
    pub folder: PathBuf,
    /// How many splits of each data set, at most.
    pub seeds: usize,
    /// Another build of the program to compare with.
    pub beside: Option<PathBuf>,
}

#[derive(Debug, PartialEq)]
struct Options {
    set: String,
    data: Option<PathBuf>,
    reference: Option<PathBuf>,
    prototypes: Option<PathBuf>,
    seeds: usize,
    program: Option<PathBuf>,
    beside: Option<PathBuf>,
}

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match run(&arguments) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("bench: {error}");
            ExitCode::FAILURE
        }
    }
}

fn run(arguments: &[String]) -> Outcome<()> {
    let Some(options) = parse(arguments)? else {
        println!("{HELP}");
        return Ok(());
    };
    if options.set == "atoms" {
        print!("{}", python::atoms()?);
        return Ok(());
    }
    let data = options
        .data
        .or_else(|| std::env::var_os("SSDL_DATA").map(PathBuf::from))
        .ok_or("where are the data sets? Give --data DIR or set SSDL_DATA")?;
    let data = data.canonicalize().during(|| data.display().to_string())?;
    let target = workspace::target()?;
    if options.set == "python" {
        print!("{}", python::measure(&target, &data)?);
        return Ok(());
    }
    let reference = options.reference.unwrap_or_else(|| data.join("../reference"));
    let reference = reference.canonicalize().during(|| reference.display().to_string())?;
    let folder = target.join("bench");
    fs::create_dir_all(&folder).during(|| folder.display().to_string())?;
    let Options { seeds, beside, set, prototypes, program, .. } = options;
    let program = program.map_or_else(|| program::build(&target), Ok)?;
    let prototypes = prototypes.unwrap_or_else(|| reference.join("peers"));
    let setting = Setting { program, data, reference, prototypes, folder, seeds, beside };

    let mut report = Report::begin(&setting, arguments)?;
    measure(&setting, &set, &target, &mut report)?;
    println!("kept in {}", report.path.display());
    Ok(())
}

/// Adds the tables of one set, or of all.
fn measure(setting: &Setting, set: &str, target: &Path, report: &mut Report) -> Outcome<()> {
    let wanted = |name: &str| set == name || set == "all";
    let reference = || Reference::prepare(&setting.reference, &setting.data);
    if wanted("parity") {
        let python = reference()?;
        for name in ["usps", "mnist"] {
            report.add(&parity::measure(setting, &python, name)?)?;
        }
    }
    if wanted("growth") {
        report.add(&growth::measure(setting)?)?;
    }
    if wanted("threads") {
        report.add(&growth::threads(setting)?)?;
    }
    if set == "beside" {
        let other =
            setting.beside.as_deref().ok_or("name the other build with --beside PROGRAM")?;
        report.add(&beside::measure(setting, other)?)?;
    }
    if wanted("variants") {
        for name in ["usps", "mnist"] {
            report.add(&variants::measure(setting, name)?)?;
        }
    }
    if wanted("graphs") {
        let python = reference()?;
        report.add(&graphs::learnt(setting)?)?;
        report.add(&graphs::sharing(setting)?)?;
        report.add(&graphs::svm(setting, &python)?)?;
    }
    if wanted("neighbours") {
        report.add(&neighbours::measure(setting, &reference()?)?)?;
    }
    if wanted("peers") {
        report.add(&peers::measure(setting, &reference()?)?)?;
    }
    if wanted("images") {
        report.add(&images::measure(setting, &reference()?)?)?;
    }
    if wanted("python") {
        report.add(&python::measure(target, &setting.data)?)?;
    }
    Ok(())
}

/// `None` asks for the help text.
fn parse(arguments: &[String]) -> Outcome<Option<Options>> {
    let mut options = Options {
        set: "parity".to_owned(),
        data: None,
        reference: None,
        prototypes: None,
        seeds: usize::MAX,
        program: None,
        beside: None,
    };
    let mut rest = arguments.iter();
    while let Some(flag) = rest.next() {
        if flag == "--help" || flag == "-h" {
            return Ok(None);
        }
        let mut value = || rest.next().ok_or_else(|| format!("{flag} needs a value\n\n{HELP}"));
        match flag.as_str() {
            "--set" => options.set = value()?.clone(),
            "--python" => options.set = "python".to_owned(),
            "--data" => options.data = Some(value()?.into()),
            "--reference" => options.reference = Some(value()?.into()),
            "--prototypes" => options.prototypes = Some(value()?.into()),
            "--program" => options.program = Some(value()?.into()),
            "--beside" => options.beside = Some(value()?.into()),
            "--seeds" => {
                let text = value()?;
                options.seeds = text.parse().during(|| format!("--seeds {text}"))?;
            }
            other => return Err(format!("bench does not know '{other}'\n\n{HELP}").into()),
        }
    }
    const SETS: [&str; 12] = [
        "parity",
        "growth",
        "threads",
        "beside",
        "variants",
        "graphs",
        "neighbours",
        "peers",
        "images",
        "python",
        "atoms",
        "all",
    ];
    if !SETS.contains(&options.set.as_str()) {
        return Err(format!("there is no set '{}'\n\n{HELP}", options.set).into());
    }
    Ok(Some(options))
}

/// The measured tables, written after each one so that an interrupted run keeps what it has.
struct Report {
    path: PathBuf,
    text: String,
}

impl Report {
    fn begin(setting: &Setting, arguments: &[String]) -> Outcome<Self> {
        let mut text = String::from("# Measurements\n\n```text\n");
        let cores = std::thread::available_parallelism().map_or(0, std::num::NonZero::get);
        let (system, machine) = (std::env::consts::OS, std::env::consts::ARCH);
        let commit = printed_by(Command::new("git").args(["describe", "--always", "--dirty"]));
        let rustc = printed_by(Command::new("rustc").arg("--version"));
        writeln!(text, "Machine:  {}, {cores} cores, {}", processor(), memory())?;
        writeln!(text, "System:   {system}, {machine}")?;
        writeln!(text, "Versions: ssdl {commit}, {rustc}")?;
        writeln!(text, "Command:  cargo xtask bench {}", arguments.join(" "))?;
        text += "```\n";
        let report = Self { path: setting.folder.join("report.md"), text };
        println!("{}", report.text);
        Ok(report)
    }

    fn add(&mut self, section: &str) -> Outcome<()> {
        println!("\n{section}");
        write!(self.text, "\n{section}")?;
        fs::write(&self.path, &self.text).during(|| self.path.display().to_string())
    }
}

fn printed_by(command: &mut Command) -> String {
    let output = command.current_dir(workspace::top()).output();
    output.ok().filter(|output| output.status.success()).map_or_else(
        || "unknown".to_owned(),
        |output| String::from_utf8_lossy(&output.stdout).trim().to_owned(),
    )
}

fn processor() -> String {
    system_fact("/proc/cpuinfo", "model name").unwrap_or_else(|| "unknown processor".to_owned())
}

fn memory() -> String {
    let fact = system_fact("/proc/meminfo", "MemTotal");
    fact.map_or_else(|| "unknown memory".to_owned(), |size| format!("{size} memory"))
}

fn system_fact(path: &str, name: &str) -> Option<String> {
    let text = fs::read_to_string(path).ok()?;
    let line = text.lines().find(|line| line.starts_with(name))?;
    line.split_once(':').map(|(_, value)| value.trim().to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(text: &str) -> Vec<String> {
        text.split_whitespace().map(str::to_owned).collect()
    }

    #[test]
    fn options_are_read_and_help_wins() {
        let options =
            parse(&words("--set all --seeds 2 --data d")).expect("valid").expect("no help");
        assert_eq!((options.set.as_str(), options.seeds), ("all", 2));
        assert_eq!(options.data, Some(PathBuf::from("d")));
        assert_eq!(parse(&words("--help")).expect("valid"), None);
    }

    #[test]
    fn wrong_options_are_named() {
        for text in ["--set speed", "--seeds two", "--seeds", "--fast"] {
            let error = parse(&words(text)).expect_err(text).to_string();
            assert!(error.contains(text.split(' ').next_back().expect("a word")), "{error}");
        }
    }
}
