//! The Python package beside the library itself, scikit-learn and SPAMS.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use xtask::environment::{self, PIP};
use xtask::outcome::{Outcome, While};

use crate::program;

/// Measures the package on the data sets of this folder; the section of the report.
pub fn measure(target: &Path, data: &Path) -> Outcome<String> {
    let text = printed(&["python/benchmarks/measure.py", &data.display().to_string()])?;
    let kept = target.join("bench").join("python.md");
    std::fs::create_dir_all(target.join("bench")).during(|| "target/bench")?;
    std::fs::write(&kept, &text).during(|| kept.display().to_string())?;
    Ok(text)
}

/// Numbers of atoms beside each other, on tables that scikit-learn brings.
pub fn atoms() -> Outcome<String> {
    printed(&["python/benchmarks/atoms.py"])
}

/// Installs the package as it is released and runs a script with it.
fn printed(script: &[&str]) -> Outcome<String> {
    let interpreter = installed()?;
    println!("measuring; this takes some minutes");
    let mut command = environment::call(&interpreter, script);
    // Whatever is compared has as many threads as it is told, not as the machine has.
    command.env("OMP_NUM_THREADS", "2").stderr(Stdio::inherit());
    let output = command.output().during(|| script[0])?;
    if !output.status.success() {
        return Err(format!("{} failed", script[0]).into());
    }
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}

/// Installs the released build and what it is measured against; gives back the interpreter.
fn installed() -> Outcome<PathBuf> {
    let mut show = |command: &mut Command| -> Outcome<bool> {
        Ok(command.status().during(|| "python")?.success())
    };
    let python = environment::made("python-bench", &mut show)?;
    let profile = format!("build-args=--profile={}", program::PROFILE);
    let ours = ["--config-settings", &profile, "--force-reinstall", "--no-deps", "."];
    let theirs = ["--config-settings", &profile, ".", "threadpoolctl"];
    if !show(environment::call(&python, &PIP).args(ours))?
        || !show(environment::call(&python, &PIP).args(theirs))?
    {
        return Err("pip could not install the package".into());
    }
    // There are no wheels of it for every platform; the rest is measured without.
    if !show(environment::call(&python, &PIP).arg("spams-bin"))? {
        println!("SPAMS cannot be installed here and is left out");
    }
    Ok(python)
}
