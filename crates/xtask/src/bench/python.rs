//! The Python package beside the library itself, scikit-learn and SPAMS.

use std::path::Path;
use std::process::Stdio;

use crate::outcome::{Outcome, While};
use crate::python;

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

/// Installs the release build and runs a script with it.
fn printed(script: &[&str]) -> Outcome<String> {
    let interpreter = python::installed_to_measure()?;
    println!("measuring; this takes some minutes");
    let mut command = python::call(&interpreter, script);
    // Whatever is compared has as many threads as it is told, not as the machine has.
    command.env("OMP_NUM_THREADS", "2").stderr(Stdio::inherit());
    let output = command.output().during(|| script[0])?;
    if !output.status.success() {
        return Err(format!("{} failed", script[0]).into());
    }
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}
