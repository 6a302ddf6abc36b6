//! The kernels that a fit spends its time in, one thread, sizes of the paper's MNIST runs.
//!
//! `RAYON_NUM_THREADS=1 cargo bench -p ssdl --bench hot_paths [-- WORD]`: medians of 20 runs; with a
//! word, only of the kernels whose name has it.

#![allow(clippy::print_stdout, reason = "a bench prints what it measures")]

use std::hint::black_box;
use std::time::{Duration, Instant};

use ssdl::classifier::{Active, ActivePoints, Shares, margin, ridge};
use ssdl::codes::{Coding, Coordinate, Descent, Fista, Margin};
use ssdl::dictionary::{Block, Dual, ProjectedFista, Statistics, Update};
use ssdl::graph::{Graph, Laplacian, Lle, Neighbours, Search};
use ssdl::methods::{FitOptions, SsdlGa};
use ssdl::prelude::*;
use ssdl::random::{Purpose, normal, stream};
use ssdl::samples::Held;
use ssdl::{Labels, Matrix, Samples};

const FEATURES: usize = 784;
const SAMPLES: usize = 1000;
const ATOMS: usize = 200;
const CLASSES: usize = 10;

/// Times of one kernel.
const RUNS: usize = 20;

/// Prints the median time of a kernel, and its rate where `work_in_a_run` counts something.
fn measure<S, R>(
    name: &str,
    work_in_a_run: Option<(f64, &str)>,
    mut prepare: impl FnMut() -> S,
    mut kernel: impl FnMut(&mut S) -> R,
) {
    let words: Vec<String> =
        std::env::args().skip(1).filter(|word| !word.starts_with('-')).collect();
    if !words.is_empty() && !words.iter().any(|word| name.contains(word)) {
        return;
    }
    let mut time = || {
        let mut input = prepare();
        let started = Instant::now();
        black_box(kernel(black_box(&mut input)));
        started.elapsed()
    };
    // The first run warms the caches.
    time();
    let mut times: Vec<Duration> = (0..RUNS).map(|_| time()).collect();
    times.sort_unstable();
    let seconds = times[RUNS / 2].as_secs_f64();
    let rate = work_in_a_run.map(|(count, unit)| format!("{:.4} {unit}/s", count / seconds));
    println!("{name:40} {:>10.4} ms   {}", 1e3 * seconds, rate.unwrap_or_default());
}

/// Non-negative samples around a few prototypes, of length 5: like prepared digits.
fn digits_like(count: usize) -> Matrix<f64> {
    let mut rng = stream(1, Purpose::Split);
    let prototypes: Vec<Vec<f64>> = (0..3 * CLASSES)
        .map(|_| (0..FEATURES).map(|_| (normal(&mut rng) - 0.7).max(0.0)).collect())
        .collect();
    let mut samples = Matrix::from_fn(FEATURES, count, |i, j| {
        (prototypes[j % prototypes.len()][i] + 0.3 * normal(&mut rng)).max(0.0)
    });
    for j in 0..count {
        let norm = ssdl::matrix::squared_norm(samples.column(j)).sqrt();
        samples.column_mut(j).iter_mut().for_each(|x| *x *= 5.0 / norm);
    }
    samples
}

struct Stage {
    samples: Matrix<f64>,
    assigned: Vec<Option<usize>>,
    atoms: Matrix<f64>,
    codes: Matrix<f64>,
    laplacian: Laplacian<f64>,
}

fn labels(count: usize) -> Vec<Option<usize>> {
    (0..count).map(|j| (j < 200).then_some(j % CLASSES)).collect()
}

fn stage() -> Stage {
    let samples = digits_like(SAMPLES);
    let mut atoms = samples.select_columns(&(0..ATOMS).collect::<Vec<_>>());
    atoms.as_mut_slice().iter_mut().for_each(|d| *d /= 5.0);
    let laplacian =
        Lle { n_neighbors: 8, search: Search::Auto }.build(&samples).expect("a graph").laplacian;
    let mut codes = Matrix::zeros(ATOMS, SAMPLES);
    let problem = Coding {
        samples: Held::from(&samples),
        atoms: &atoms,
        gram: &atoms.gram(),
        graph: Some((1.0, &laplacian)),
        margin: None,
        sparsity: 0.5,
    };
    Coordinate { sweeps: 3, inner_sweeps: 5, tolerance: 1e-2, direct: false }
        .code(&problem, &mut codes);
    Stage { samples, assigned: labels(SAMPLES), atoms, codes, laplacian }
}

fn neighbours() {
    for count in [1000, 4000] {
        let samples = digits_like(count);
        let operations = (2 * FEATURES * count * count) as f64 / 1e9;
        let name = format!("neighbours/k8_n784_N{count}");
        measure(&name, Some((operations, "GFLOP")), || (), |()| Neighbours::within(&samples, 8));
    }
}

fn coding() {
    let stage = stage();
    let gram = stage.atoms.gram();
    let labelled: Vec<usize> = (0..200).collect();
    let classes: Vec<usize> = stage.assigned.iter().flatten().copied().collect();
    let classifier = ridge(
        &stage.codes.select_columns(&labelled),
        &classes,
        &vec![1.0; classes.len()],
        CLASSES,
        2.0,
    )
    .expect("definite");
    let scores = classifier.scores(&stage.codes);
    let shares = Shares::new(&scores, &stage.assigned, 2.0);
    let cross = Matrix::of_product(classifier.weights.view(), classifier.weights.transposed());
    for kind in [ActivePoints::Majorised, ActivePoints::Frozen] {
        let active = Active::new(kind, &scores, &shares);
        let problem = Coding {
            samples: Held::from(&stage.samples),
            atoms: &stage.atoms,
            gram: &gram,
            graph: Some((1.0, &stage.laplacian)),
            margin: Some(Margin {
                discrimination: 1.0,
                weights: &classifier.weights,
                bias: &classifier.bias,
                cross: &cross,
                weight: &active.weight,
                target: &active.target,
            }),
            sparsity: 0.5,
        };
        let quadratic = problem.quadratic();
        let run = |name: &str, work: &dyn Fn(&mut Matrix<f64>)| {
            measure(&format!("coding/{name}_{kind:?}"), None, || stage.codes.clone(), work);
        };
        run("coordinate_sweep", &|codes| {
            Coordinate { sweeps: 1, inner_sweeps: 3, tolerance: 0.0, direct: false }
                .minimise(&quadratic, codes);
        });
        run("fista_10_iterations", &|codes| {
            Fista { iterations: 10, tolerance: 0.0 }.minimise(&quadratic, codes);
        });
    }
    let problem = Coding {
        samples: Held::from(&stage.samples),
        atoms: &stage.atoms,
        gram: &gram,
        graph: None,
        margin: None,
        sparsity: 0.5,
    };
    measure("coding/right_hand_side", None, || (), |()| drop(black_box(problem.quadratic())));
    for kind in [ActivePoints::Majorised, ActivePoints::Frozen] {
        let active = Active::new(kind, &scores, &shares);
        let name = format!("classifier/update_{kind:?}");
        measure(
            &name,
            None,
            || classifier.clone(),
            |own| margin::update(own, &stage.codes, (kind, &active, &shares), 2.0.into(), 8),
        );
    }
}

fn dictionary() {
    let stage = stage();
    let statistics = Statistics::of(&stage.samples, &stage.codes, stage.samples.squared_norm());
    measure(
        "dictionary/statistics",
        None,
        || (),
        |()| Statistics::of(black_box(&stage.samples), &stage.codes, 1.0),
    );
    let updates: [(&str, &dyn Update<f64>); 3] = [
        ("block_2_sweeps", &Block { sweeps: 2, tolerance: 0.0, nonnegative: false }),
        ("fista_10_iterations", &ProjectedFista { iterations: 10, tolerance: 0.0 }),
        ("dual", &Dual { iterations: 50, tolerance: 1e-6 }),
    ];
    for (name, update) in updates {
        measure(
            &format!("dictionary/{name}"),
            None,
            || stage.atoms.clone(),
            |atoms| update.update(atoms, &statistics, 1.0),
        );
    }
}

fn out_of_sample() {
    let names = (0..CLASSES).map(|c| c.to_string()).collect();
    let known = Labels::new(names, labels(SAMPLES)).expect("labels");
    let samples = Samples::new(digits_like(SAMPLES), known).expect("samples");
    let options = FitOptions { threads: 1, calibrate: false, ..FitOptions::default() };
    let model = SsdlGa::new()
        .max_iterations(2)
        .fit_with(samples, &options, &mut ssdl::fit::Silent)
        .expect("a model");
    let fresh =
        digits_like(SAMPLES + 500).select_columns(&(SAMPLES..SAMPLES + 500).collect::<Vec<_>>());
    let thousands = Some((0.5, "thousand samples"));
    measure(
        "out_of_sample/predict_500_samples",
        thousands,
        || fresh.clone(),
        |fresh| model.predict(std::mem::replace(fresh, Matrix::zeros(0, 0))),
    );
}

fn main() {
    for bench in [neighbours, coding, dictionary, out_of_sample] {
        bench();
    }
}
