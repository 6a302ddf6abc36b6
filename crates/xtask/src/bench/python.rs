//! The Python package beside the library itself, scikit-learn and SPAMS.

use std::path::Path;
use std::process::Stdio;

use crate::outcome::{Outcome, While};
use crate::python;

/// Installs the release build, measures it, and returns the section of the report.
pub fn measure(target: &Path, data: &Path) -> Outcome<String> {
    let interpreter = python::installed_to_measure()?;
    println!("measuring; this takes some minutes");
    let mut command = python::call(&interpreter, &["python/benchmarks/measure.py"]);
    // Whatever is compared has as many threads as it is told, not as the machine has.
    command.arg(data).env("OMP_NUM_THREADS", "2").stderr(Stdio::inherit());
    let output = command.output().during(|| "python/benchmarks/measure.py")?;
    if !output.status.success() {
        return Err("python/benchmarks/measure.py failed".into());
    }
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let kept = target.join("bench").join("python.md");
    std::fs::create_dir_all(target.join("bench")).during(|| "target/bench")?;
    std::fs::write(&kept, &text).during(|| kept.display().to_string())?;
    Ok(text)
}
