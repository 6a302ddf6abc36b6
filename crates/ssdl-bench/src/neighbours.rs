//! The search for nearest neighbours, exact and approximate, beside pynndescent.

use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;
use xtask::outcome::{Outcome, While};
use xtask::table::Table;
use xtask::workspace;

use crate::Setting;
use crate::parity::show;
use crate::program;
use crate::reference::Reference;

const N_NEIGHBOURS: usize = 10;
const SAMPLES: usize = 60_000;
/// Entries of pynndescent's lists: longer lists find more and take longer.
const LENGTHS: [usize; 3] = [11, 15, 20];

/// Times all on the images of MNIST and returns the section of the report.
pub fn measure(setting: &Setting, python: &Reference) -> Outcome<String> {
    let images = setting.data.join("mnist/train-images-idx3-ubyte.gz");
    let timer = build(&setting.program)?;
    let mut table = Table::new(&["search", "threads", "processor seconds", "seconds", "recall"]);
    for (search, threads) in [("approximate", 1), ("approximate", 2), ("exact", 1)] {
        println!("neighbours, {search}, {threads} threads");
        let mut command = Command::new(&timer);
        command.arg(&images).arg(N_NEIGHBOURS.to_string());
        command.arg(threads.to_string()).arg(search);
        let line: Value = serde_json::from_str(program::call(&mut command)?.trim())
            .during(|| "what time_neighbours printed")?;
        row(&mut table, format!("{search}, ours"), threads, &line);
    }
    let mut version = String::new();
    for length in LENGTHS {
        println!("neighbours, pynndescent with lists of {length}");
        let line = python.time_neighbours(&images, (SAMPLES, N_NEIGHBOURS), length)?;
        row(&mut table, format!("pynndescent, lists of {length}"), 1, &line);
        version = line["version"].as_str().unwrap_or("unknown").to_owned();
    }
    Ok(format!(
        "## Nearest neighbours\n\nThe {N_NEIGHBOURS} nearest of each of {SAMPLES} images of MNIST (784 \
         pixels), single precision, files and compilation excluded; recall on 200 samples.\n\
         Reference: pynndescent {version}.\n\n{}",
        table.render()
    ))
}

fn row(table: &mut Table, search: String, threads: usize, line: &Value) {
    let number = |key: &str, digits| show(line[key].as_f64(), digits);
    let (seconds, wall) = (number("seconds", 1), number("wall", 1));
    table.row([search, threads.to_string(), seconds, wall, number("recall", 4)]);
}

/// Builds the timer beside the program.
fn build(beside: &Path) -> Outcome<PathBuf> {
    let name = "time_neighbours";
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
