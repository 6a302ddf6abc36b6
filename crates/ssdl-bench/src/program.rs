//! Calls of the program under measurement, and the one place that reads what it prints.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use serde_json::{Map, Value};
use xtask::outcome::{Outcome, While};
use xtask::workspace;

use crate::digits::Digits;
use crate::files;

/// Often enough to see the peak of a fit that takes seconds, seldom enough to cost nothing.
const MEMORY_PERIOD: Duration = Duration::from_millis(20);

/// The profile of what users download; cargo names its folder in the target folder after it.
pub const PROFILE: &str = "dist";

/// Builds the program as users get it and says where it is.
pub fn build(target: &Path) -> Outcome<PathBuf> {
    let status = workspace::cargo(&["build", "--profile", PROFILE, "--package", "ssdl-cli"])
        .status()
        .during(|| "cargo build")?;
    if !status.success() {
        return Err("the program does not build".into());
    }
    let program = target.join(PROFILE).join(format!("ssdl{}", std::env::consts::EXE_SUFFIX));
    if program.exists() { Ok(program) } else { Err(format!("no {}", program.display()).into()) }
}

/// A training problem written to files, ready to be fitted any number of times.
pub struct Problem<'a> {
    program: &'a Path,
    folder: PathBuf,
    knobs: &'a Map<String, Value>,
    arguments: &'a [&'a str],
}

/// One fit: what it reported and what was seen from outside.
pub struct Fit {
    pub report: Report,
    /// Of the whole process, reading and writing files included.
    pub wall_seconds: f64,
    /// The most memory the process held, if the system tells.
    pub peak_bytes: Option<u64>,
}

/// What the program printed about a fit. Every field may be missing.
pub struct Report {
    json: Value,
}

impl<'a> Problem<'a> {
    /// Writes the samples, labelled first, and their labels into `folder`.
    pub fn write(
        program: &'a Path,
        folder: PathBuf,
        knobs: &'a Map<String, Value>,
        digits: &Digits,
        (labelled, unlabelled): (&[usize], &[usize]),
    ) -> Outcome<Self> {
        fs::create_dir_all(&folder).during(|| folder.display().to_string())?;
        let rows: Vec<&[f64]> =
            labelled.iter().chain(unlabelled).map(|&index| digits.row(index)).collect();
        let mut labels: Vec<Option<&str>> =
            labelled.iter().map(|&index| Some(digits.classes[index].as_str())).collect();
        labels.resize(rows.len(), None);
        files::write_array(&folder.join("train.npy"), &rows)?;
        files::write_labels(&folder.join("labels.csv"), &labels)?;
        Ok(Self { program, folder, knobs, arguments: &[] })
    }

    /// A problem whose files are already in `folder`.
    pub fn found(program: &'a Path, folder: PathBuf, knobs: &'a Map<String, Value>) -> Self {
        Self { program, folder, knobs, arguments: &[] }
    }

    /// The same problem, fitted with more arguments; a preparation among them replaces `scale=5`.
    pub fn with_arguments(self, arguments: &'a [&'a str]) -> Self {
        Self { arguments, ..self }
    }

    /// The same problem for another build of the program.
    pub fn with_program<'b>(&'b self, program: &'b Path) -> Problem<'b> {
        let Self { folder, knobs, arguments, .. } = self;
        Problem { program, folder: folder.clone(), knobs, arguments }
    }

    /// Fits and times the whole process, undisturbed.
    pub fn fit(&self, threads: usize) -> Outcome<Fit> {
        let mut command = self.fit_command(threads);
        let start = Instant::now();
        let stdout = call(&mut command)?;
        let wall_seconds = start.elapsed().as_secs_f64();
        Ok(Fit { report: Report::parse(&stdout)?, wall_seconds, peak_bytes: None })
    }

    /// Fits while watching the memory of the process.
    pub fn fit_watched(&self, threads: usize) -> Outcome<Fit> {
        let (out, err) = (self.folder.join("stdout.json"), self.folder.join("stderr.txt"));
        let mut command = self.fit_command(threads);
        // Files and not pipes: a full pipe would stop the program while nobody reads it.
        command.stdout(create(&out)?).stderr(create(&err)?);
        let start = Instant::now();
        let mut child = command.spawn().during(|| describe(&command))?;
        let mut peak_bytes = None;
        let status = loop {
            peak_bytes = peak_of(&child).or(peak_bytes);
            if let Some(status) = child.try_wait().during(|| describe(&command))? {
                break status;
            }
            sleep(MEMORY_PERIOD);
        };
        let wall_seconds = start.elapsed().as_secs_f64();
        if !status.success() {
            let cause = fs::read_to_string(&err).unwrap_or_default();
            return Err(format!("{}: {status}\n{cause}", describe(&command)).into());
        }
        let stdout = fs::read_to_string(&out).during(|| out.display().to_string())?;
        let report = Report::parse(&stdout)?;
        let peak_bytes = peak_bytes.or_else(|| report.peak_bytes());
        Ok(Fit { report, wall_seconds, peak_bytes })
    }

    /// The classes the fitted model gives to samples it has not seen.
    pub fn predict(&self, digits: &Digits, test: &[usize]) -> Outcome<Vec<String>> {
        let rows: Vec<&[f64]> = test.iter().map(|&index| digits.row(index)).collect();
        files::write_array(&self.folder.join("test.npy"), &rows)?;
        self.predict_file()
    }

    /// The classes it gives to the samples of `test.npy`.
    pub fn predict_file(&self) -> Outcome<Vec<String>> {
        let (samples, found) = (self.folder.join("test.npy"), self.folder.join("p.csv"));
        let mut command = Command::new(self.program);
        command.arg("predict").arg(self.folder.join("m")).arg(&samples);
        command.arg("--out").arg(&found).arg("--json");
        call(&mut command)?;
        files::read_labels(&found)
    }

    /// The file of training samples.
    pub fn samples(&self) -> PathBuf {
        self.folder.join("train.npy")
    }

    /// The file of their labels.
    pub fn labels(&self) -> PathBuf {
        self.folder.join("labels.csv")
    }

    fn fit_command(&self, threads: usize) -> Command {
        let mut command = Command::new(self.program);
        command.arg("fit").arg(self.samples()).arg("--labels").arg(self.labels());
        command.arg("--model").arg(self.folder.join("m"));
        if !self.arguments.contains(&"--prepare") {
            command.args(["--prepare", "scale=5"]);
        }
        for (name, value) in self.knobs {
            command.arg("--set").arg(format!("{name}={value}"));
        }
        command.args(self.arguments);
        command.args(["--threads", &threads.to_string(), "--json"]);
        command
    }
}

impl Report {
    fn parse(stdout: &str) -> Outcome<Self> {
        let json =
            serde_json::from_str(stdout.trim()).during(|| "what `ssdl fit --json` printed")?;
        Ok(Self { json })
    }

    /// The objective with all its terms, at the end of the fit.
    pub fn objective(&self) -> Option<f64> {
        self.json["objective"]["total"].as_f64()
    }

    /// Outer iterations done.
    pub fn iterations(&self) -> Option<f64> {
        self.json["iterations"].as_f64()
    }

    /// Seconds of the fit alone, files excluded.
    pub fn seconds(&self) -> Option<f64> {
        self.json["seconds"].as_f64()
    }

    /// Seconds spent looking for neighbours, by the first of the step's likely names.
    pub fn neighbour_seconds(&self) -> Option<f64> {
        let steps = &self.json["seconds_by_step"];
        ["neighbours", "neighbors", "graph"].iter().find_map(|name| steps[name].as_f64())
    }

    /// Mean seconds of an outer iteration.
    pub fn iteration_seconds(&self) -> Option<f64> {
        if let Some(each) = self.json["seconds_by_iteration"].as_array() {
            let sum: f64 = each.iter().filter_map(Value::as_f64).sum();
            return (!each.is_empty()).then(|| sum / each.len() as f64);
        }
        let rest = self.seconds()? - self.neighbour_seconds().unwrap_or(0.0);
        self.iterations().filter(|&count| count > 0.0).map(|count| rest / count)
    }

    /// The classes given to the unlabelled training samples, in their order.
    pub fn transduction(&self) -> Option<Vec<String>> {
        let names = self.json["transduction"]["unlabelled"].as_array()?;
        let text = |name: &Value| name.as_str().map_or_else(|| name.to_string(), str::to_owned);
        Some(names.iter().map(text).collect())
    }

    fn peak_bytes(&self) -> Option<u64> {
        self.json["peak_memory_bytes"].as_u64()
    }
}

fn create(path: &Path) -> Outcome<File> {
    File::create(path).during(|| path.display().to_string())
}

/// Runs a program to its end and returns what it printed.
pub fn call(command: &mut Command) -> Outcome<String> {
    let output = command.stdin(Stdio::null()).output().during(|| describe(command))?;
    if !output.status.success() {
        let cause = String::from_utf8_lossy(&output.stderr);
        return Err(format!("{}: {}\n{cause}", describe(command), output.status).into());
    }
    String::from_utf8(output.stdout).during(|| describe(command))
}

fn describe(command: &Command) -> String {
    let words = std::iter::once(command.get_program()).chain(command.get_args());
    words.map(|word| word.to_string_lossy()).collect::<Vec<_>>().join(" ")
}

/// The kernel's own high-water mark: a poll may come late, but misses no peak before it.
fn peak_of(child: &Child) -> Option<u64> {
    let status = fs::read_to_string(format!("/proc/{}/status", child.id())).ok()?;
    high_water_mark(&status)
}

fn high_water_mark(status: &str) -> Option<u64> {
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    let kibibytes: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    Some(kibibytes * 1024)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_full_report_is_read() {
        let report = Report::parse(
            r#"{"objective": {"total": 12.5}, "seconds": 5.0, "iterations": 4,
                "seconds_by_step": {"neighbours": 1.0},
                "transduction": {"unlabelled": ["3", 7]}}"#,
        )
        .expect("the text is whole");
        assert_eq!(report.objective(), Some(12.5));
        assert_eq!(report.iteration_seconds(), Some(1.0));
        assert_eq!(report.transduction(), Some(vec!["3".to_owned(), "7".to_owned()]));
    }

    #[test]
    fn missing_fields_are_missing_and_not_errors() {
        let report = Report::parse("{}").expect("an object");
        assert_eq!(report.objective(), None);
        assert_eq!(report.iteration_seconds(), None);
        assert_eq!(report.transduction(), None);
        assert!(Report::parse("fitted in 3 s").is_err());
    }

    #[test]
    fn iterations_listed_one_by_one_are_preferred() {
        let text = r#"{"seconds": 9.0, "iterations": 3, "seconds_by_iteration": [1.0, 2.0]}"#;
        assert_eq!(Report::parse(text).expect("json").iteration_seconds(), Some(1.5));
    }

    #[test]
    fn the_high_water_mark_is_read_in_bytes() {
        let status = "Name:\tssdl\nVmPeak:\t  900 kB\nVmHWM:\t    1024 kB\n";
        assert_eq!(high_water_mark(status), Some(1024 * 1024));
        assert_eq!(high_water_mark("Name:\tssdl\n"), None);
    }
}
