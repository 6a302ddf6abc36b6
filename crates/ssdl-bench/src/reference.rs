//! The Python reference: its environment, and one run of it on one split.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde_json::Value;
use xtask::environment::{self, PIP};
use xtask::outcome::{Outcome, While};
use xtask::workspace;

use crate::program;

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
    /// Makes the environment in the target folder unless it is there already.
    pub fn prepare(folder: &'a Path, data: &'a Path) -> Outcome<Self> {
        let mut show = |command: &mut Command| program::call(command).map(|_| true);
        let python = environment::made("oracle-venv", &mut show)?;
        if !works(&python, IMPORTS) {
            println!("installing {} for the reference", PACKAGES.join(", "));
            program::call(environment::call(&python, &PIP).args(PACKAGES))
                .during(|| "the packages of the reference; is the network there?")?;
        }
        Ok(Self { python, folder, data })
    }

    /// Fits and scores one split with one thread.
    pub fn run(&self, dataset: &str, seed: i64) -> Outcome<Scored> {
        let driver = workspace::top().join("crates/ssdl-bench/oracle/run_reference.py");
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
        let script = workspace::top().join("crates/ssdl-bench/oracle/time_svm.py");
        let mut command = Command::new(&self.python);
        // It warns where its epochs run out; so do ours.
        command.args(["-B", "-W", "ignore"]).arg(script);
        command.arg(samples).arg(labels).arg(box_constraint);
        let line: Value = serde_json::from_str(program::call(on_one_thread(&mut command))?.trim())
            .during(|| "what scikit-learn's timing printed")?;
        let number = |key: &str| line[key].as_f64().ok_or_else(|| format!("no {key} was printed"));
        Ok((number("seconds")?, number("objective")?))
    }

    /// Seconds and test accuracy of a peer's prototype, one thread; its samples are left in `folder`.
    pub fn time_peer(
        &self,
        prototypes: &Path,
        (prototype, data): (&str, &str),
        folder: &Path,
    ) -> Outcome<(f64, f64)> {
        let script = workspace::top().join("crates/ssdl-bench/oracle/time_peers.py");
        let mut command = Command::new(&self.python);
        command.args(["-B", "-W", "ignore"]).arg(script).arg(prototypes);
        command.arg(prototype).arg(data).arg(folder);
        let line: Value = serde_json::from_str(program::call(on_one_thread(&mut command))?.trim())
            .during(|| "what the prototype's timing printed")?;
        let number = |key: &str| line[key].as_f64().ok_or_else(|| format!("no {key} was printed"));
        Ok((number("seconds")?, number("accuracy")?))
    }

    /// Seconds and recall of pynndescent on images in an IDX file, one thread; installed on first use.
    pub fn time_neighbours(
        &self,
        images: &Path,
        (count, k): (usize, usize),
        length: usize,
    ) -> Outcome<Value> {
        if !works(&self.python, "import pynndescent") {
            println!("installing pynndescent");
            program::call(environment::call(&self.python, &PIP).arg("pynndescent"))
                .during(|| "pynndescent; is the network there?")?;
        }
        let script = workspace::top().join("crates/ssdl-bench/oracle/time_neighbours.py");
        let mut command = Command::new(&self.python);
        command.args(["-B", "-W", "ignore"]).arg(script).arg(images);
        command.args([count, k, length].map(|number| number.to_string()));
        command.env("NUMBA_NUM_THREADS", "1");
        serde_json::from_str(program::call(on_one_thread(&mut command))?.trim())
            .during(|| "what pynndescent's timing printed")
    }

    /// Seconds of scikit-image's histograms of oriented gradients, one thread, compared with `ours`.
    pub fn time_hog(
        &self,
        samples: &Path,
        shape: &str,
        ours: &Path,
        knobs: &str,
    ) -> Outcome<Described> {
        let script = workspace::top().join("crates/ssdl-bench/oracle/time_hog.py");
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
