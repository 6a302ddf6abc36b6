//! Times a fit on the card and on the processor: `measure SAMPLES FEATURES ATOMS [card|processor|both|exact]`.
//!
//! `exact` is both, with exact neighbours on the processor, too, which searches approximately among more than 20,000
//! samples. Samples are noisy points on curved sheets, a sheet for each of ten classes, so that neighbours mean
//! something at any size. What is timed on the card is done three times; the fit with the middle time is shown.
#![allow(clippy::print_stdout)]

use std::sync::Arc;
use std::time::Instant;

use ssdl::device::{self, Device};
use ssdl::fit::Silent;
use ssdl::graph::Search;
use ssdl::methods::{FitOptions, SsdlGa};
use ssdl::prelude::*;
use ssdl::{Labels, Matrix, Model, Result, Samples};

const CLASSES: usize = 10;
/// How often what happens on the card is timed.
const TIMES: usize = 3;
/// Numbers of the new samples that are predicted at once, at most.
const NEW: usize = 100_000_000;

/// A number between -1 and 1 that looks random.
fn noise(mut key: u64) -> f32 {
    key = (key ^ (key >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    key = (key ^ (key >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    ((key ^ (key >> 31)) >> 40) as f32 / (1u64 << 23) as f32 - 1.0
}

fn sheets(n: usize, count: usize, seed: u64) -> Matrix<f32> {
    let mut out = Matrix::zeros(n, count);
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    let share = count.div_ceil(threads).max(1);
    std::thread::scope(|scope| {
        for (part, columns) in out.as_mut_slice().chunks_mut(share * n).enumerate() {
            scope.spawn(move || {
                for (at, column) in columns.chunks_mut(n).enumerate() {
                    let key = (part * share + at) as u64 + (seed << 40);
                    let class = (key as usize % CLASSES) as f32;
                    let place: [f32; 4] = std::array::from_fn(|d| noise(key * 8 + d as u64));
                    for (i, x) in column.iter_mut().enumerate() {
                        let turn = i as f32 * 0.37 + class * 1.9;
                        let sheet: f32 = place
                            .iter()
                            .enumerate()
                            .map(|(d, u)| (turn * (d + 1) as f32 + 1.5 * u).sin())
                            .sum();
                        *x = (0.6 * sheet + 0.15 * noise(key * 4099 + i as u64 + 977)) * 5.0
                            / (n as f32).sqrt();
                    }
                }
            });
        }
    });
    out
}

fn labels(count: usize) -> Result<Labels> {
    let names = (0..CLASSES).map(|c| c.to_string()).collect();
    Labels::new(names, (0..count).map(|j| (j < 100 * CLASSES).then_some(j % CLASSES)).collect())
}

/// A model and the seconds of its fit, without those that copy the samples for it.
fn fit(
    samples: &Matrix<f32>,
    (n_atoms, search): (usize, Search),
    device: Option<Arc<dyn Device>>,
) -> Result<(Model<f32>, f64)> {
    let options =
        FitOptions { calibrate: false, prepare: Vec::new(), device, ..FitOptions::default() };
    let method = SsdlGa::new().n_atoms(n_atoms).n_neighbors(10).neighbours(search);
    let method = method.max_iterations(10).tolerance(0.0);
    let copy = samples.clone();
    let started = Instant::now();
    let samples = Samples::new(copy, labels(samples.columns())?)?;
    let model = method.fit_with(samples, &options, &mut Silent)?;
    Ok((model, started.elapsed().as_secs_f64()))
}

/// The fit with the middle time.
fn median(mut fits: Vec<(Model<f32>, f64)>) -> (Model<f32>, f64) {
    fits.sort_by(|a, b| a.1.total_cmp(&b.1));
    fits.swap_remove(fits.len() / 2)
}

fn tell(what: &str, model: &Model<f32>, seconds: f64) {
    let report = model.report();
    println!("{what}: fit {seconds:.2} s, objective {:.6e}", report.objective.total());
    let mut sums: Vec<(String, f64)> = Vec::new();
    for row in &report.trace {
        let name = format!("{:?}", row.step);
        match sums.iter_mut().find(|(known, _)| *known == name) {
            Some((_, sum)) => *sum += row.seconds,
            None => sums.push((name, row.seconds)),
        }
    }
    println!("  graph {:.3} s, all {:.3} s", report.graph_seconds, report.seconds);
    sums.iter().for_each(|(name, sum)| println!("  {name} {sum:.3} s"));
}

fn main() -> Result<()> {
    let words: Vec<String> = std::env::args().collect();
    let number = |at: usize, default| words.get(at).and_then(|w| w.parse().ok()).unwrap_or(default);
    let (count, n, p) = (number(1, 100_000), number(2, 784), number(3, 200));
    let which = words.get(4).map_or("card", String::as_str);
    let samples = sheets(n, count, 0);
    let new = sheets(n, count.min(NEW / n), 1);
    println!("{count} x {n}, {p} atoms");
    let mut models = Vec::new();
    if which != "processor" {
        let started = Instant::now();
        let card = ssdl_gpu::open(0)?;
        println!("{}: opened in {:.2} s", card.name(), started.elapsed().as_secs_f64());
        let small = sheets(n, 2000, 5);
        let started = Instant::now();
        card.single().mixtures(&small, None, 10)?;
        println!("first use {:.2} s", started.elapsed().as_secs_f64());
        for _ in 0..TIMES {
            let started = Instant::now();
            card.single().mixtures(&samples, None, 10)?;
            println!("neighbours and mixtures {:.3} s", started.elapsed().as_secs_f64());
        }
        let fits = (0..TIMES).map(|_| fit(&samples, (p, Search::Auto), Some(card.clone())));
        let (model, seconds) = median(fits.collect::<Result<_>>()?);
        tell("card", &model, seconds);
        for _ in 0..TIMES {
            let raw = new.clone();
            let started = Instant::now();
            let predicted = device::lend(Some(card.clone()), || model.predict(raw))?;
            device::check()?;
            let rate = predicted.labels.len() as f64 / started.elapsed().as_secs_f64();
            println!("predict {rate:.0} samples a second, {} at once", predicted.labels.len());
        }
        models.push(model);
    }
    if which != "card" {
        let search = if which == "exact" { Search::Exact } else { Search::Auto };
        let (model, seconds) = fit(&samples, (p, search), None)?;
        tell("processor", &model, seconds);
        models.push(model);
    }
    if let [a, b] = &models[..] {
        let some = sheets(n, 20_000, 1);
        let (a, b) = (a.predict(some.clone())?, b.predict(some)?);
        let same = a.labels.iter().zip(&b.labels).filter(|(a, b)| a == b).count();
        println!("{:.2} % of 20,000 predictions are the same", same as f64 / 200.0);
    }
    Ok(())
}
