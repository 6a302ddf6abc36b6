//! How many labels it takes: somebody who knows the labels answers in the order of the page, and in a
//! random order.
//!
//! ```sh
//! cargo run --release -p ssdl-label --example simulate -- digits usps mnist
//! ```
//!
//! Sets other than the bundled digits are read from the folder `SSDL_DATA` (`ssdl data get usps mnist`).

use std::collections::HashSet;
use std::path::PathBuf;
use std::process::ExitCode;

use ssdl::fit::Silent;
use ssdl::model::Naming;
use ssdl::{Matrix, Model};
use ssdl_data::{Column, ReadOptions, Table, read, read_labels};
use ssdl_label::learn::{BATCH, Learner, ONE_AT_RANDOM, drawn};

/// Samples to label, and samples that nobody labels.
const POOL: usize = 1200;
const TEST: usize = 597;
/// The accuracy to reach.
const ENOUGH: f64 = 0.95;
/// Labels after which somebody gives up.
const MOST: usize = 400;
const SEEDS: u64 = 3;

type Outcome<T> = Result<T, Box<dyn std::error::Error>>;

#[allow(clippy::print_stderr, reason = "there is nobody else to tell")]
fn main() -> ExitCode {
    let names: Vec<String> = std::env::args().skip(1).collect();
    for name in &names {
        if let Err(error) = run(name) {
            eprintln!("{name}: {error}");
            return ExitCode::FAILURE;
        }
    }
    ExitCode::SUCCESS
}

#[allow(clippy::print_stdout, reason = "this is what the example is for")]
fn run(name: &str) -> Outcome<()> {
    let table = samples(name)?;
    for (order, by_page) in [("page", true), ("random", false)] {
        let mut needed = Vec::new();
        for seed in 0..SEEDS {
            let curve = label(&table, by_page, seed)?;
            let line: Vec<String> =
                curve.iter().map(|(n, share)| format!("{n}:{:.1}", 100.0 * share)).collect();
            println!("{name} {order} seed {seed}: {}", line.join(" "));
            needed.push(curve.iter().find(|(_, share)| *share >= ENOUGH).map(|(n, _)| *n));
        }
        let shown = |n: &Option<usize>| n.map_or_else(|| format!("over {MOST}"), |n| n.to_string());
        let shown: Vec<String> = needed.iter().map(shown).collect();
        println!("{name} {order}: labels for {:.0} %: {}", 100.0 * ENOUGH, shown.join(", "));
    }
    Ok(())
}

fn samples(name: &str) -> Outcome<Table> {
    if name == "digits" {
        return Ok(ssdl_data::digits());
    }
    let folder = PathBuf::from(std::env::var_os("SSDL_DATA").ok_or("set SSDL_DATA")?);
    match name {
        "usps" => {
            let options =
                ReadOptions { label_column: Some(Column::Index(0)), ..ReadOptions::default() };
            let mut table = read(folder.join("usps/zip.train.gz"), &options)?;
            table.image = Some([16, 16]);
            Ok(table)
        }
        "mnist" => {
            let options = ReadOptions::default();
            let mut table = read(folder.join("mnist/t10k-images-idx3-ubyte.gz"), &options)?;
            let labels = read_labels(folder.join("mnist/t10k-labels-idx1-ubyte.gz"), &options)?;
            table.labels = Some(labels);
            Ok(table)
        }
        _ => Err("not a known set: digits, usps or mnist".into()),
    }
}

/// Labels and accuracy on samples that nobody labels, after every refit.
fn label(table: &Table, by_page: bool, seed: u64) -> Outcome<Vec<(usize, f64)>> {
    let order = drawn(table.features.columns(), 100 + seed);
    let (pool, test) = (&order[..POOL], &order[POOL..POOL + TEST]);
    let truth = table.labels.as_ref().ok_or("there are no labels")?;
    let features: Matrix<f32> = table.features.cast();
    let raw = features.select_columns(pool);
    let held_out = features.select_columns(test);
    let mut learner =
        Learner::new((0..POOL).collect(), raw, table.image, Naming::default(), seed, 0);
    let mut wanted = learner.first(&learner.prepared()?)?;
    let at_random = drawn(POOL, seed);
    let mut answered: HashSet<usize> = HashSet::new();
    let mut labels: Vec<Option<String>> = vec![None; POOL];
    let mut curve = Vec::new();
    while answered.len() < MOST {
        for _ in 0..BATCH {
            let random = !by_page || (answered.len() + 1).is_multiple_of(ONE_AT_RANDOM);
            let mut next: Box<dyn Iterator<Item = &usize>> = match random {
                true => Box::new(at_random.iter()),
                false => Box::new(wanted.iter().chain(&at_random)),
            };
            let sample = *next.find(|sample| !answered.contains(sample)).ok_or("none is left")?;
            answered.insert(sample);
            labels[sample].clone_from(&truth[pool[sample]]);
        }
        let found = learner.fit(&labels, &mut Silent)?;
        let right = right(&found.model, &held_out, test, truth)?;
        curve.push((answered.len(), right));
        if right >= ENOUGH {
            break;
        }
        wanted = found.order;
    }
    Ok(curve)
}

fn right(
    model: &Model<f32>,
    features: &Matrix<f32>,
    test: &[usize],
    truth: &[Option<String>],
) -> Outcome<f64> {
    let predicted = model.predict(features.clone())?.labels;
    let hits =
        test.iter().zip(&predicted).filter(|(at, label)| truth[**at].as_ref() == Some(label));
    Ok(hits.count() as f64 / test.len() as f64)
}
