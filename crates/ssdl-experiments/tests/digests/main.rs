//! Every method gives the bits it gave: predictions and objective traces beside a kept table.
//!
//! A change of the code's shape must not change a number. `digests.csv` holds, for each case, a digest
//! of the bits of everything a fit gives, and beside it rounded numbers. Bits depend on the processor
//! (vector width, cache sizes), so they are compared only on a processor that the table names; on any
//! other the rounded numbers are compared.
//!
//! `SSDL_DIGESTS=write cargo test -p ssdl-experiments --test digests` writes the table for this
//! processor: only after a change that is meant to change numbers. The case on USPS needs the folder of
//! the data sets in `SSDL_DATA` and is left out without it.

#![allow(clippy::unwrap_used, clippy::print_stderr)]

mod cases;
mod table;

use std::sync::Mutex;

use cases::{digits, usps};
use table::{Row, Table, processor};

/// Relative difference of an objective that another processor may make.
const ROUNDING: f64 = 2e-2;
/// Difference of an accuracy, in points, that another processor may make.
const POINTS: f64 = 3.0;

/// The tests run side by side and may all write the table.
static WRITING: Mutex<()> = Mutex::new(());

fn compare(found: &[Row], set: &str) {
    let _alone = WRITING.lock();
    let table = Table::read();
    if std::env::var("SSDL_DIGESTS").is_ok_and(|value| value == "write") {
        table.with(found, set).write();
        return;
    }
    let own = processor();
    let same_processor = table.rows.iter().any(|row| row.processor == own && row.set == set);
    let mut wrong = Vec::new();
    for row in found {
        let mut kept = table.rows.iter().filter(|kept| kept.is_same_case(row));
        if same_processor {
            let kept = kept.find(|kept| kept.processor == own);
            match kept {
                None => wrong.push(format!("{}: not in the table", row.name())),
                Some(kept) if kept.predictions != row.predictions => {
                    wrong.push(format!("{}: other predictions", row.name()));
                }
                Some(kept) if kept.trace != row.trace => {
                    wrong.push(format!("{}: another trace", row.name()));
                }
                Some(_) => {}
            }
        } else if let Some(kept) = kept.next() {
            let change = (kept.objective - row.objective).abs();
            if change > ROUNDING * kept.objective.abs() {
                wrong.push(format!("{}: objective {}", row.name(), row.objective));
            }
            if (kept.accuracy - row.accuracy).abs() > POINTS {
                wrong.push(format!("{}: accuracy {}", row.name(), row.accuracy));
            }
        }
    }
    assert!(
        wrong.is_empty(),
        "{} of {} cases changed:\n{}",
        wrong.len(),
        found.len(),
        wrong.join("\n")
    );
}

#[test]
fn every_method_gives_the_same_bits_on_the_digits_in_single_precision() {
    compare(&digits::<f32>(), "digits-f32");
}

#[test]
fn every_method_gives_the_same_bits_on_the_digits_in_double_precision() {
    compare(&digits::<f64>(), "digits-f64");
}

#[test]
fn every_method_gives_the_same_bits_on_a_published_split_of_usps() {
    match std::env::var_os("SSDL_DATA") {
        Some(folder) => compare(&usps(folder.as_ref()), "usps"),
        None => eprintln!("left out: SSDL_DATA does not name the folder of the data sets"),
    }
}

#[test]
fn every_method_has_a_case() {
    for method in ssdl::methods::all::<f64>() {
        let name = method.describe().name;
        assert!(cases::VARIANTS.iter().any(|(method, _)| *method == name), "{name}");
    }
}
