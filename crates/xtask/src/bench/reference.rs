//! The Python reference: its environment, and one run of it on one split.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde_json::Value;

use super::program;
use crate::outcome::{Outcome, While};
use crate::workspace;

const PACKAGES: [&str; 4] = ["numpy", "scipy", "scikit-learn", "scikit-image"];
const IMPORTS: &str = "import numpy, scipy, sklearn, skimage";

/// A Python that can run the reference, and the folders it reads.
pub struct Reference<'a> {
    python: PathBuf,
    folder: &'a Path,
    data: &'a Path,
}

/// What the reference scored on one split.
pub struct Scored {
    pub fit_seconds: f64,
    pub test_accuracy: f64,
    pub unlabelled_accuracy: f64,
    /// With the squared hinge itself and memberships taken at the final scores.
    pub true_objective: f64,
    pub versions: String,
}

/// What scikit-image needed to describe images, and how far ours was from it.
pub struct Described {
    pub seconds: f64,
    /// Median over the images of the largest difference.
    pub gap: f64,
    /// Images with a difference of more than 1e-3.
    pub apart: u64,
    pub version: String,
}

impl<'a> Reference<'a> {
    /// Makes the virtual environment under the target folder unless it is there already.
    pub fn prepare(target: &Path, folder: &'a Path, data: &'a Path) -> Outcome<Self> {
        let venv = target.join("oracle-venv");
        let python = if cfg!(windows) {
            venv.join("Scripts").join("python.exe")
        } else {
            venv.join("bin").join("python")
        };
        if !works(&python, IMPORTS) {
            println!("making the environment of the reference in {}", venv.display());
            make(&venv, &python)?;
        }
        Ok(Self { python, folder, data })
    }

    /// Fits and scores one split with one thread.
    pub fn run(&self, dataset: &str, seed: i64) -> Outcome<Scored> {
        let driver = workspace::top().join("crates/xtask/oracle/run_reference.py");
        let mut command = Command::new(&self.python);
        // The coder of scikit-learn warns at its sweep limit; the reference was scored like that.
        command.args(["-B", "-W", "ignore"]).arg(driver).arg(dataset);
        command.arg("--reference").arg(self.folder).arg("--data").arg(self.data);
        command.args(["--seeds", &seed.to_string()]);
        Scored::parse(&program::call(on_one_thread(&mut command))?)
    }

    /// Seconds and objective of scikit-learn's linear SVM on these files, one thread.
    pub fn time_svm(
        &self,
        samples: &Path,
        labels: &Path,
        box_constraint: &str,
    ) -> Outcome<(f64, f64)> {
        let script = workspace::top().join("crates/xtask/oracle/time_svm.py");
        let mut command = Command::new(&self.python);
        // It warns where its epochs run out; so do ours.
        command.args(["-B", "-W", "ignore"]).arg(script);
        command.arg(samples).arg(labels).arg(box_constraint);
        let line: Value = serde_json::from_str(program::call(on_one_thread(&mut command))?.trim())
            .during(|| "what scikit-learn's timing printed")?;
        let number = |key: &str| line[key].as_f64().ok_or_else(|| format!("no {key} was printed"));
        Ok((number("seconds")?, number("objective")?))
    }

    /// Seconds of scikit-image's histograms of oriented gradients, one thread, compared with `ours`.
    pub fn time_hog(
        &self,
        samples: &Path,
        shape: &str,
        ours: &Path,
        knobs: &str,
    ) -> Outcome<Described> {
        let script = workspace::top().join("crates/xtask/oracle/time_hog.py");
        let mut command = Command::new(&self.python);
        command.arg("-B").arg(script).arg(samples).arg(shape).arg(ours).arg(knobs);
        let line: Value = serde_json::from_str(program::call(on_one_thread(&mut command))?.trim())
            .during(|| "what scikit-image's timing printed")?;
        let number = |key: &str| line[key].as_f64().ok_or_else(|| format!("no {key} was printed"));
        Ok(Described {
            seconds: number("seconds")?,
            gap: number("gap")?,
            apart: line["apart"].as_u64().ok_or("no count of images apart was printed")?,
            version: line["version"].as_str().unwrap_or("unknown").to_owned(),
        })
    }
}

fn on_one_thread(command: &mut Command) -> &mut Command {
    for variable in ["OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"] {
        command.env(variable, "1");
    }
    command
}

impl Scored {
    fn parse(stdout: &str) -> Outcome<Self> {
        let line: Value =
            serde_json::from_str(stdout.trim()).during(|| "what the reference printed")?;
        let number = |key: &str| {
            line[key].as_f64().ok_or_else(|| format!("the reference did not print {key}"))
        };
        Ok(Self {
            fit_seconds: number("fit_seconds")?,
            test_accuracy: number("test_accuracy")?,
            unlabelled_accuracy: number("unlabelled_accuracy")?,
            true_objective: number("true_objective")?,
            versions: line["versions"].as_str().unwrap_or("unknown").to_owned(),
        })
    }
}

fn works(python: &Path, code: &str) -> bool {
    let quiet = Command::new(python)
        .args(["-c", code])
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status();
    quiet.is_ok_and(|status| status.success())
}

fn make(venv: &Path, python: &Path) -> Outcome<()> {
    if !works(Path::new("python3"), "") {
        return Err("python3 is not on the path; the reference needs Python 3.10 or later".into());
    }
    if !works(Path::new("python3"), "import venv, ensurepip") {
        return Err("python3 lacks venv or pip (on Debian: apt install python3-venv)".into());
    }
    program::call(Command::new("python3").args(["-m", "venv"]).arg(venv))?;
    let mut install = Command::new(python);
    install.args(["-m", "pip", "install", "--quiet"]).args(PACKAGES);
    program::call(&mut install)
        .during(|| format!("pip could not install {}", PACKAGES.join(", ")))
        .map(|_| ())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_of_the_reference_is_read_and_a_gap_is_named() {
        let line = r#"{"seed": 0, "fit_seconds": 4.5, "test_accuracy": 0.93,
            "unlabelled_accuracy": 0.95, "true_objective": 2339.0}"#;
        let scored = Scored::parse(line).expect("complete");
        assert_eq!((scored.fit_seconds, scored.true_objective), (4.5, 2339.0));
        let error = Scored::parse(r#"{"fit_seconds": 1}"#).err().expect("incomplete");
        assert!(error.to_string().contains("test_accuracy"));
    }
}
