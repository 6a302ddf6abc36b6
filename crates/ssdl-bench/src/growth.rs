//! How memory and time grow with the number of samples, and what a second thread brings.

use xtask::outcome::Outcome;
use xtask::table::Table;

use crate::Setting;
use crate::digits::{Digits, Splits, first_of_each_class};
use crate::numbers::{exponent, median};
use crate::parity::show;
use crate::program::Problem;

pub const SIZES: [usize; 3] = [5_000, 10_000, 20_000];
const LABELLED_PER_CLASS: usize = 20;
const TURNS: usize = 9;

/// Fits growing parts of MNIST with one thread and returns the section of the report.
pub fn measure(setting: &Setting) -> Outcome<String> {
    let splits = Splits::load("mnist", &setting.reference)?;
    let mut table = Table::new(&[
        "N",
        "peak MiB",
        "seconds per iteration",
        "neighbour seconds",
        "wall seconds",
    ]);
    let (mut memory, mut time) = (Vec::new(), Vec::new());
    for n in SIZES {
        println!("growth, {n} samples");
        let problem = first_samples(setting, &splits, n)?;
        let fit = problem.fit_watched(1)?;
        let peak = fit.peak_bytes.map(|bytes| bytes as f64 / (1024.0 * 1024.0));
        let each = fit.report.iteration_seconds();
        memory.extend(peak.map(|peak| (n as f64, peak)));
        time.extend(each.map(|each| (n as f64, each)));
        table.row([
            n.to_string(),
            show(peak, 1),
            show(each, 3),
            show(fit.report.neighbour_seconds(), 3),
            show(Some(fit.wall_seconds), 2),
        ]);
    }
    Ok(format!(
        "## Growth: first samples of MNIST, one thread\n\n{}\nExponent of memory: {}. \
         Exponent of seconds per iteration: {}.\n",
        table.render(),
        show(law(&memory), 2),
        show(law(&time), 2)
    ))
}

/// Fits the smallest part with one and with two threads in turn.
pub fn threads(setting: &Setting) -> Outcome<String> {
    let splits = Splits::load("mnist", &setting.reference)?;
    let problem = first_samples(setting, &splits, SIZES[0])?;
    let mut seconds = [Vec::new(), Vec::new()];
    for turn in 0..TURNS {
        println!("threads, turn {} of {TURNS}", turn + 1);
        for (slot, threads) in [(0, 1), (1, 2)] {
            seconds[slot].push(problem.fit(threads)?.wall_seconds);
        }
    }
    let mut table = Table::new(&["threads", "median seconds", "all turns"]);
    for (slot, values) in seconds.iter().enumerate() {
        let all: Vec<String> = values.iter().map(|value| format!("{value:.2}")).collect();
        table.row([(slot + 1).to_string(), show(Some(median(values)), 3), all.join(" ")]);
    }
    Ok(format!(
        "## Threads: first {} samples of MNIST\n\n{}\nTwo threads are {:.2} times as fast as one.\n",
        SIZES[0],
        table.render(),
        median(&seconds[0]) / median(&seconds[1])
    ))
}

pub fn first_samples<'a>(
    setting: &'a Setting,
    splits: &'a Splits,
    n: usize,
) -> Outcome<Problem<'a>> {
    let digits = Digits::load("mnist", &setting.data, n)?;
    let (labelled, unlabelled) = first_of_each_class(&digits.classes, n, LABELLED_PER_CLASS);
    let folder = setting.folder.join(format!("growth-{n}"));
    Problem::write(&setting.program, folder, &splits.knobs, &digits, (&labelled, &unlabelled))
}

/// A line through fewer than all points would be read as the law of all of them.
fn law(points: &[(f64, f64)]) -> Option<f64> {
    (points.len() == SIZES.len()).then(|| exponent(points))
}
