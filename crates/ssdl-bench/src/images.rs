//! Histograms of oriented gradients beside scikit-image's.

use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;
use xtask::outcome::{Outcome, While};
use xtask::table::Table;
use xtask::workspace;

use crate::Setting;
use crate::digits::Digits;
use crate::files;
use crate::numbers::median;
use crate::parity::show;
use crate::program;
use crate::reference::Reference;

/// Images of MNIST that are described.
const IMAGES: usize = 2000;
const SHAPE: &str = "28x28";
/// Orientations, pixels of a cell and cells of a block.
const KNOBS: [&str; 3] = ["9/4/2", "9/4/3", "8/7/2"];

/// Times both on the same images and returns the section of the report.
pub fn measure(setting: &Setting, python: &Reference) -> Outcome<String> {
    let digits = Digits::load("mnist", &setting.data, IMAGES)?;
    let rows: Vec<&[f64]> = (0..IMAGES).map(|index| digits.row(index)).collect();
    let (samples, ours) = (setting.folder.join("images.npy"), setting.folder.join("hog.npy"));
    files::write_array(&samples, &rows)?;
    let timer = build(&setting.program)?;
    let mut table = Table::new(&[
        "gradients",
        "microseconds an image ours",
        "scikit-image",
        "ratio",
        "median gap",
        "images apart",
    ]);
    let mut version = String::new();
    for knobs in KNOBS {
        println!("gradients={knobs}");
        let mut command = Command::new(&timer);
        command.arg(&samples).arg(SHAPE).arg(&ours).arg(format!("gradients={knobs}"));
        let line: Value = serde_json::from_str(program::call(&mut command)?.trim())
            .during(|| "what time_preparation printed")?;
        let runs = line["seconds"].as_array().ok_or("time_preparation printed no seconds")?;
        let seconds = median(&runs.iter().filter_map(Value::as_f64).collect::<Vec<_>>());
        let theirs = python.time_hog(&samples, SHAPE, &ours, knobs)?;
        let each = |seconds: f64| show(Some(1e6 * seconds / IMAGES as f64), 2);
        table.row([
            knobs.to_owned(),
            each(seconds),
            each(theirs.seconds),
            show(Some(theirs.seconds / seconds), 1),
            format!("{:.1e}", theirs.gap),
            theirs.apart.to_string(),
        ]);
        version = theirs.version;
    }
    Ok(format!(
        "## Histograms of oriented gradients\n\n{IMAGES} images of MNIST, one thread each, single \
         precision, files excluded; ours is the median of its runs. Images apart: a gradient on the \
         border of two orientations fell on the other side.\nReference: scikit-image {version}.\n\n{}",
        table.render()
    ))
}

/// Builds the timer beside the program.
fn build(beside: &Path) -> Outcome<PathBuf> {
    let name = "time_preparation";
    let status = workspace::cargo(&["build", "--profile", program::PROFILE])
        .args(["--package", "ssdl-data", "--example", name])
        .status()
        .during(|| "cargo build")?;
    if !status.success() {
        return Err(format!("{name} does not build").into());
    }
    let timer = beside.with_file_name("examples").join(name);
    Ok(timer.with_extension(std::env::consts::EXE_EXTENSION))
}
