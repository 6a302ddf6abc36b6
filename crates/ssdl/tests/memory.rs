//! The estimated memory of a fit against what it takes.
//!
//! Each measurement runs in a process of its own, because the peak that the system keeps belongs to
//! a process; that peak is read from Linux, so the tests are silent elsewhere.

#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used)]

#[path = "common/mod.rs"]
mod common;

use std::process::Command;

use common::{clouds, label_first};
use ssdl::Model;
use ssdl::fit::Silent;
use ssdl::methods::{FitOptions, SsdlGa};
use ssdl::prelude::*;
use ssdl::{Real, Samples};

const REQUEST: &str = "SSDL_TEST_MEASURE";
const N_FEATURES: usize = 64;

fn knobs(coder: &str, graph: bool) -> SsdlGa {
    // The peak does not depend on how long the coder runs, and sparse codes are found sooner.
    let mut knobs = SsdlGa::new().n_atoms(64).max_iterations(1).coder_steps(1).sparsity(3.0);
    knobs.set("coder", coder).unwrap();
    if graph { knobs } else { knobs.manifold(0.0) }
}

/// A line of `/proc/self/status`, in bytes.
fn status(field: &str) -> u64 {
    let text = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = text.lines().find(|line| line.starts_with(field)).unwrap();
    line.split_whitespace().nth(1).unwrap().parse::<u64>().unwrap() * 1024
}

/// Fits and prints how far the peak is above the memory before the samples.
fn fit_and_print<T: Real>(knobs: SsdlGa, n_samples: usize) {
    // Whatever a first fit sets up for good (threads, buffers of the libraries) is not counted.
    let small = |count| {
        let (features, truth) = clouds::<T>(4, N_FEATURES, count, 1);
        Samples::new(features, label_first(&truth, 4, 5)).unwrap()
    };
    let options = FitOptions { threads: 1, calibrate: false, ..FitOptions::default() };
    knobs.fit_with(small(100), &options, &mut Silent).unwrap();
    let before = status("VmRSS");
    let model = knobs.fit_with(small(n_samples), &options, &mut Silent).unwrap();
    let peak = status("VmHWM");
    assert_eq!(model.codes().columns(), n_samples);
    #[allow(clippy::print_stdout)]
    {
        println!("measured={}", peak - before);
    }
}

/// Loads a model and prints how far the peak is above the memory before.
fn load_and_print(folder: &std::path::Path) {
    // As above: what stays for good is not counted.
    Model::<f32>::load(&folder.join("small")).unwrap();
    let before = status("VmRSS");
    let model = Model::<f32>::load(&folder.join("large")).unwrap();
    let peak = status("VmHWM");
    assert!(model.uses_of_atoms().iter().any(|&uses| uses > 0));
    #[allow(clippy::print_stdout)]
    {
        println!("measured={}", peak - before);
    }
}

/// Not a test of its own: what the other tests start as a process.
#[test]
fn one_measurement_on_request() {
    let Ok(request) = std::env::var(REQUEST) else { return };
    if let Some(folder) = request.strip_prefix("load ") {
        return load_and_print(std::path::Path::new(folder));
    }
    let words: Vec<&str> = request.split(' ').collect();
    let knobs = knobs(words[0], words[1] == "graph");
    let n_samples = words[2].parse().unwrap();
    if words[3] == "f32" {
        fit_and_print::<f32>(knobs, n_samples);
    } else {
        fit_and_print::<f64>(knobs, n_samples);
    }
}

fn measure(coder: &str, graph: bool, n_samples: usize, precision: &str) -> u64 {
    let graph = if graph { "graph" } else { "free" };
    measure_request(&format!("{coder} {graph} {n_samples} {precision}"))
}

fn measure_request(request: &str) -> u64 {
    let output = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "one_measurement_on_request", "--nocapture", "--test-threads=1"])
        .env(REQUEST, request)
        // Large blocks go back to the system at once, so that the peak is what is in use.
        .env("MALLOC_MMAP_THRESHOLD_", "65536")
        .env("MALLOC_TRIM_THRESHOLD_", "65536")
        .env("MALLOC_ARENA_MAX", "1")
        .output()
        .unwrap();
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let line = text.split_whitespace().find_map(|word| word.strip_prefix("measured="));
    line.unwrap_or_else(|| panic!("{text}{}", String::from_utf8_lossy(&output.stderr)))
        .parse()
        .unwrap()
}

fn check(coder: &str, graph: bool, precision: &str) {
    let measured = measure(coder, graph, 4000, precision) as f64;
    let knobs = knobs(coder, graph);
    let estimate = if precision == "f32" {
        knobs.memory_needed::<f32>(N_FEATURES, 4000, 4)
    } else {
        knobs.memory_needed::<f64>(N_FEATURES, 4000, 4)
    } as f64;
    let ratio = estimate / measured;
    assert!(
        (0.8..1.25).contains(&ratio),
        "{coder}, graph {graph}, {precision}: estimated {estimate}, measured {measured}, ratio {ratio:.2}"
    );
}

#[test]
fn the_estimate_is_right_for_coordinate_descent() {
    check("coordinate", true, "f64");
    check("coordinate", true, "f32");
}

#[test]
fn the_estimate_is_right_for_accelerated_gradients() {
    check("fista", true, "f64");
}

#[test]
fn the_estimate_is_right_for_batches() {
    check("batches", true, "f64");
}

#[test]
fn the_estimate_is_right_without_a_graph() {
    let coders = ["coordinate", "fista", "batches"];
    coders.iter().for_each(|coder| check(coder, false, "f64"));
}

/// Nothing of size N×N: twice the samples take about twice the memory.
fn check_growth(coder: &str) {
    let (half, whole) = (measure(coder, true, 4000, "f64"), measure(coder, true, 8000, "f64"));
    let ratio = whole as f64 / half as f64;
    assert!(ratio < 2.3, "{coder}: {half} at 4000 samples, {whole} at 8000, ratio {ratio:.2}");
}

#[test]
fn memory_grows_with_the_samples_and_not_with_their_square_in_coordinate_descent() {
    check_growth("coordinate");
}

#[test]
fn memory_grows_with_the_samples_and_not_with_their_square_in_accelerated_gradients() {
    check_growth("fista");
}

#[test]
fn memory_grows_with_the_samples_and_not_with_their_square_in_batches() {
    check_growth("batches");
}

#[test]
fn a_model_takes_the_size_of_its_file_when_it_is_loaded() {
    let folder = tempfile::tempdir().unwrap();
    // With its samples in half precision and its codes without zeros.
    let mut knobs = knobs("coordinate", true);
    knobs.set("kept_samples", "half").unwrap();
    let options = FitOptions { threads: 1, calibrate: false, ..FitOptions::default() };
    for (name, n_samples) in [("small", 100), ("large", 30_000)] {
        let (features, truth) = clouds::<f32>(4, N_FEATURES, n_samples, 1);
        let samples = Samples::new(features, label_first(&truth, 4, 5)).unwrap();
        let model = knobs.fit_with(samples, &options, &mut Silent).unwrap();
        model.save(&folder.path().join(name)).unwrap();
    }
    let size = std::fs::metadata(folder.path().join("large")).unwrap().len();
    let measured = measure_request(&format!("load {}", folder.path().display()));
    let ratio = measured as f64 / size as f64;
    assert!(ratio < 1.25, "a file of {size} bytes takes {measured}, ratio {ratio:.2}");
}
