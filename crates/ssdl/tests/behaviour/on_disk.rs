//! Fits whose samples are in a file once the graph is built: the same model, in less memory.

use crate::common::{clouds, fit_with, label_first, options};
use ssdl::fit::{Flow, Progress, Silent, Watch};
use ssdl::methods::{self, FitOptions, Method};
use ssdl::{Real, Samples};

/// More samples than a block has.
const MANY: usize = 4500;

fn samples<T: Real>(count: usize) -> Samples<T> {
    let (features, truth) = clouds::<T>(3, 6, count, 4);
    Samples::new(features, label_first(&truth, 3, 10)).unwrap()
}

fn on_disk<T: Real>(options: FitOptions<T>) -> FitOptions<T> {
    FitOptions { scratch: Some(std::env::temp_dir()), ..options }
}

/// The notices of a fit.
#[derive(Default)]
struct Notices(Vec<String>);

impl Watch for Notices {
    fn step(&mut self, _: &Progress<'_>) -> Flow {
        Flow::Continue
    }

    fn notice(&mut self, sentence: &str) {
        self.0.push(sentence.to_owned());
    }
}

fn model<T: Real>(
    method: &dyn Method<T>,
    knobs: &[(&str, &str)],
    count: usize,
    options: &FitOptions<T>,
) -> (Vec<u8>, Vec<String>) {
    let mut notices = Notices::default();
    let model = fit_with(method, knobs, samples(count), options, &mut notices).unwrap();
    (model.to_bytes().unwrap(), notices.0)
}

#[test]
fn every_method_gives_the_same_model_with_its_samples_on_disk() {
    let not_parked = "the samples stay in memory";
    let mut parked = Vec::new();
    for method in crate::common::every_method::<f32>() {
        let name = method.describe().name;
        let (plain, _) = model(method, &[], 90, &options());
        let (disk, notices) = model(method, &[], 90, &on_disk(options()));
        assert!(plain == disk, "{name}");
        if !notices.iter().any(|notice| notice.contains(not_parked)) {
            parked.push(name);
        }
    }
    assert_eq!(parked, ["ssdl-ga", "ussdl", "graph-sc"]);
}

#[test]
fn several_blocks_give_the_bits_of_one_matrix() {
    let coordinate = &[("max_iterations", "3"), ("sparsity", "1")][..];
    let batches = &[("max_iterations", "1"), ("coder", "batches"), ("sparsity", "4")][..];
    let fista = &[("max_iterations", "1"), ("coder", "fista"), ("sparsity", "1")][..];
    let kept = &[("max_iterations", "1"), ("kept_samples", "half"), ("sparsity", "1")][..];
    let cases = [
        ("ssdl-ga", coordinate),
        ("ssdl-ga", batches),
        ("ssdl-ga", fista),
        ("ssdl-ga", kept),
        ("ussdl", coordinate),
        ("graph-sc", coordinate),
    ];
    for (name, knobs) in cases {
        let method = methods::find::<f32>(name).unwrap();
        for threads in [1, 2] {
            let options = FitOptions { threads, ..options() };
            let (plain, _) = model(method, knobs, MANY, &options);
            let (disk, _) = model(method, knobs, MANY, &on_disk(options));
            assert!(plain == disk, "{name} {knobs:?}, {threads} threads");
        }
    }
}

/// Dense codes: sums over several blocks are taken in another order than over one matrix.
#[test]
fn dense_codes_give_the_same_objective_to_rounding() {
    let method = methods::find::<f64>("ssdl-ga").unwrap();
    let knobs = &[("max_iterations", "3"), ("sparsity", "0.01")];
    let objective = |options: &FitOptions<f64>| {
        let model = fit_with(method, knobs, samples(MANY), options, &mut Silent).unwrap();
        let codes = model.codes().as_slice();
        let nonzero = codes.iter().filter(|code| **code != 0.0).count();
        assert!(nonzero * 2 > codes.len(), "{nonzero} of {}", codes.len());
        model.report().objective.total()
    };
    let (plain, disk) = (objective(&options()), objective(&on_disk(options())));
    assert!((plain - disk).abs() < 1e-6 * plain, "{plain} {disk}");
}

#[test]
fn less_memory_is_needed_and_the_limit_counts_it() {
    let method = methods::find::<f32>("ssdl-ga").unwrap();
    let knobs: Vec<(String, String)> = Vec::new();
    let counts = (784, 1_000_000, 10);
    let plain = method.memory_needed(&knobs, counts.0, counts.1, counts.2).unwrap();
    let disk = method.memory_needed_on_disk(&knobs, counts).unwrap();
    assert!(disk < 6_000_000_000 && disk + 1_000_000_000 < plain, "{disk} of {plain}");
    let other = methods::find::<f32>("ridge").unwrap();
    let same = other.memory_needed(&knobs, 50, 100, 3).unwrap();
    assert_eq!(other.memory_needed_on_disk(&knobs, (50, 100, 3)).unwrap(), same);
}

#[test]
fn reconstructions_and_missing_folders() {
    let method = methods::find::<f32>("ssdl-ga").unwrap();
    let (_, notices) = model(method, &[("denoise", "2")], 90, &on_disk(options()));
    assert!(notices.iter().any(|notice| notice.contains("stay in memory")), "{notices:?}");
    let missing = std::env::temp_dir().join("no such folder");
    let options = FitOptions { scratch: Some(missing), ..options() };
    let error = fit_with(method, &[], samples(90), &options, &mut Silent).unwrap_err();
    assert!(error.to_string().contains("no such folder"), "{error}");
}
