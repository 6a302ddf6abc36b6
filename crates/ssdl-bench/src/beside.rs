//! Two builds of the program in turns: what a change costs or gains.

use std::path::Path;

use xtask::outcome::Outcome;
use xtask::table::Table;

use crate::Setting;
use crate::digits::{Digits, Splits};
use crate::growth::{SIZES, first_samples};
use crate::numbers::median;
use crate::parity::show;
use crate::program::Problem;

/// Fits of each build; the two take turns.
const TURNS: usize = 5;

/// Fits what `parity`, `threads` and `growth` fit with both builds, and returns the section of the
/// report.
pub fn measure(setting: &Setting, other: &Path) -> Outcome<String> {
    let mut table = Table::new(&[
        "fit",
        "threads",
        "seconds, other",
        "seconds, this",
        "this / other",
        "same objective",
    ]);
    for name in ["usps", "mnist"] {
        let splits = Splits::load(name, &setting.reference)?;
        let digits = Digits::load(name, &setting.data, splits.rows())?;
        let Some(split) = splits.runs.first() else { continue };
        let folder = setting.folder.join(format!("{name}-{}", split.seed));
        let parts = (split.labelled.as_slice(), split.unlabelled.as_slice());
        let problem = Problem::write(&setting.program, folder, &splits.knobs, &digits, parts)?;
        table.row(compare(&problem, other, name, 1)?);
    }
    let splits = Splits::load("mnist", &setting.reference)?;
    for n in SIZES {
        let problem = first_samples(setting, &splits, n)?;
        let threads: &[usize] = if n == SIZES[0] { &[1, 2] } else { &[1] };
        for &threads in threads {
            table.row(compare(&problem, other, &format!("mnist, {n}"), threads)?);
        }
    }
    Ok(format!(
        "## Beside another build\n\nMedian seconds of the fit alone in {TURNS} turns.\n\n{}",
        table.render()
    ))
}

fn compare(
    problem: &Problem<'_>,
    other: &Path,
    name: &str,
    threads: usize,
) -> Outcome<[String; 6]> {
    println!("beside, {name}, {threads} threads");
    let mut seconds = [Vec::new(), Vec::new()];
    let mut objectives = [None, None];
    for _ in 0..TURNS {
        for (slot, program) in [Some(other), None].into_iter().enumerate() {
            let report = match program {
                Some(other) => problem.with_program(other).fit(threads)?.report,
                None => problem.fit(threads)?.report,
            };
            seconds[slot].extend(report.seconds());
            objectives[slot] = report.objective();
        }
    }
    let [before, after] = seconds.map(|all| median(&all));
    let same = objectives[0] == objectives[1];
    Ok([
        name.to_owned(),
        threads.to_string(),
        show(Some(before), 3),
        show(Some(after), 3),
        show(Some(after / before), 2),
        if same { "yes" } else { "no" }.to_owned(),
    ])
}
