//! The kernels that a fit spends its time in, one thread, sizes of the paper's MNIST runs.
//!
//! `cargo bench -p ssdl --bench hot_paths`; where a rate is shown, an element is a floating-point
//! operation, so Gelem/s reads as GFLOP/s.

#![allow(missing_docs, reason = "criterion's macros make an undocumented function")]

use std::hint::black_box;

use criterion::{BatchSize, Criterion, Throughput, criterion_group, criterion_main};
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

fn neighbours(c: &mut Criterion) {
    let mut group = c.benchmark_group("neighbours");
    for count in [1000, 4000] {
        let samples = digits_like(count);
        group.throughput(Throughput::Elements((2 * FEATURES * count * count) as u64));
        group.bench_function(format!("k8_n784_N{count}"), |b| {
            b.iter(|| Neighbours::within(black_box(&samples), 8));
        });
    }
    group.finish();
}

fn coding(c: &mut Criterion) {
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
    let mut group = c.benchmark_group("coding");
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
        let mut run = |name: &str, work: &dyn Fn(&mut Matrix<f64>)| {
            group.bench_function(format!("{name}_{kind:?}"), |b| {
                b.iter_batched_ref(
                    || stage.codes.clone(),
                    |codes| work(codes),
                    BatchSize::LargeInput,
                );
            });
        };
        run("coordinate_sweep", &|codes| {
            Coordinate { sweeps: 1, inner_sweeps: 3, tolerance: 0.0, direct: false }
                .minimise(&quadratic, codes);
        });
        run("fista_10_iterations", &|codes| {
            Fista { iterations: 10, tolerance: 0.0 }.minimise(&quadratic, codes);
        });
    }
    group.bench_function("right_hand_side", |b| {
        let problem = Coding {
            samples: Held::from(&stage.samples),
            atoms: &stage.atoms,
            gram: &gram,
            graph: None,
            margin: None,
            sparsity: 0.5,
        };
        b.iter(|| problem.quadratic());
    });
    group.finish();

    let mut group = c.benchmark_group("classifier");
    for kind in [ActivePoints::Majorised, ActivePoints::Frozen] {
        let active = Active::new(kind, &scores, &shares);
        group.bench_function(format!("update_{kind:?}"), |b| {
            b.iter_batched_ref(
                || classifier.clone(),
                |own| margin::update(own, &stage.codes, (kind, &active, &shares), 2.0, 8),
                BatchSize::LargeInput,
            );
        });
    }
    group.finish();
}

fn dictionary(c: &mut Criterion) {
    let stage = stage();
    let statistics = Statistics::of(&stage.samples, &stage.codes, stage.samples.squared_norm());
    let mut group = c.benchmark_group("dictionary");
    group.bench_function("statistics", |b| {
        b.iter(|| Statistics::of(black_box(&stage.samples), &stage.codes, 1.0));
    });
    let updates: [(&str, &dyn Update<f64>); 3] = [
        ("block_2_sweeps", &Block { sweeps: 2, tolerance: 0.0, nonnegative: false }),
        ("fista_10_iterations", &ProjectedFista { iterations: 10, tolerance: 0.0 }),
        ("dual", &Dual { iterations: 50, tolerance: 1e-6 }),
    ];
    for (name, update) in updates {
        group.bench_function(name, |b| {
            b.iter_batched_ref(
                || stage.atoms.clone(),
                |atoms| update.update(atoms, &statistics, 1.0),
                BatchSize::LargeInput,
            );
        });
    }
    group.finish();
}

fn out_of_sample(c: &mut Criterion) {
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
    let mut group = c.benchmark_group("out_of_sample");
    group.throughput(Throughput::Elements(500));
    group.bench_function("predict_500_samples", |b| {
        b.iter_batched(|| fresh.clone(), |fresh| model.predict(fresh), BatchSize::LargeInput);
    });
    group.finish();
}

fn in_one_thread(c: &mut Criterion) {
    for bench in [neighbours, coding, dictionary, out_of_sample] {
        // Criterion is not `Send`; a pool of one thread that is this one keeps products serial.
        bench(c);
    }
}

criterion_group! {
    name = hot_paths;
    config = Criterion::default().sample_size(20);
    targets = in_one_thread
}
criterion_main!(hot_paths);
