//! Ours beside the reference on the published splits: accuracy, objective, seconds.

use xtask::outcome::Outcome;
use xtask::table::Table;

use crate::Setting;
use crate::digits::{Digits, Split, Splits};
use crate::numbers::{accuracy, mean, median};
use crate::program::Problem;
use crate::reference::{Reference, Scored};

/// Our fit is short, so one disturbance weighs more on it than on the reference.
const FITS: usize = 3;

/// What one seed gave; shares and seconds, not percent.
struct Row {
    seed: String,
    test: [Option<f64>; 3],
    unlabelled: [Option<f64>; 3],
    objective: [Option<f64>; 2],
    seconds: [Option<f64>; 2],
    /// The fastest and slowest of our fits.
    spread: Option<(f64, f64)>,
}

/// Measures one data set and returns its section of the report.
pub fn measure(setting: &Setting, reference: &Reference, name: &str) -> Outcome<String> {
    let splits = Splits::load(name, &setting.reference)?;
    let digits = Digits::load(name, &setting.data, splits.rows())?;
    let mut rows = Vec::new();
    let mut versions = String::new();
    for split in splits.runs.iter().take(setting.seeds) {
        println!("{name}, seed {}", split.seed);
        let (row, scored) = one_seed(setting, reference, name, &splits, split, &digits)?;
        rows.push(row);
        versions = scored.versions;
    }
    let average = average(&rows);
    rows.push(average);
    Ok(format!(
        "## Parity: {name}\n\nOne thread each. Seconds: ours is the whole process, median of {FITS} \
         (fastest to slowest); the reference is its fit alone.\nReference: {versions}.\n\n{}",
        render(&rows)
    ))
}

fn one_seed(
    setting: &Setting,
    reference: &Reference,
    name: &str,
    splits: &Splits,
    split: &Split,
    digits: &Digits,
) -> Outcome<(Row, Scored)> {
    let folder = setting.folder.join(format!("{name}-{}", split.seed));
    let parts = (split.labelled.as_slice(), split.unlabelled.as_slice());
    let problem = Problem::write(&setting.program, folder, &splits.knobs, digits, parts)?;

    // The reference runs between two of our fits, so that both meet the same state of the machine.
    let first = problem.fit(1)?;
    let scored = reference.run(name, split.seed)?;
    let mut seconds = vec![first.wall_seconds];
    for _ in 1..FITS {
        seconds.push(problem.fit(1)?.wall_seconds);
    }

    let found = problem.predict(digits, &split.test)?;
    let test = accuracy(&found, &digits.classes_of(&split.test));
    let hidden = digits.classes_of(&split.unlabelled);
    let unlabelled = first.report.transduction().and_then(|found| accuracy(&found, &hidden));
    let row = Row {
        seed: split.seed.to_string(),
        test: [test, Some(scored.test_accuracy), split.listed_test],
        unlabelled: [unlabelled, Some(scored.unlabelled_accuracy), split.listed_unlabelled],
        objective: [first.report.objective(), Some(scored.true_objective)],
        seconds: [Some(median(&seconds)), Some(scored.fit_seconds)],
        spread: Some((
            seconds.iter().copied().fold(f64::INFINITY, f64::min),
            seconds.iter().copied().fold(0.0, f64::max),
        )),
    };
    Ok((row, scored))
}

fn average(rows: &[Row]) -> Row {
    Row {
        seed: "mean".to_owned(),
        test: averages(rows, |row| &row.test),
        unlabelled: averages(rows, |row| &row.unlabelled),
        objective: averages(rows, |row| &row.objective),
        seconds: averages(rows, |row| &row.seconds),
        spread: None,
    }
}

/// The mean of each entry over all rows; missing as soon as one row lacks it.
fn averages<const M: usize>(
    rows: &[Row],
    field: impl Fn(&Row) -> &[Option<f64>; M],
) -> [Option<f64>; M] {
    std::array::from_fn(|entry| {
        let values: Option<Vec<f64>> = rows.iter().map(|row| field(row)[entry]).collect();
        values.filter(|values| !values.is_empty()).map(|values| mean(&values))
    })
}

fn render(rows: &[Row]) -> String {
    let mut table = Table::new(&[
        "seed",
        "test % ours",
        "reference",
        "listed",
        "unlabelled % ours",
        "reference",
        "listed",
        "objective ours",
        "reference (true)",
        "difference %",
        "seconds ours",
        "reference",
        "ratio",
    ]);
    for row in rows {
        let percent = |share: &Option<f64>| show(share.map(|share| 100.0 * share), 2);
        let difference = pair(row.objective).map(|(ours, theirs)| 100.0 * (ours - theirs) / theirs);
        let ratio = pair(row.seconds).map(|(ours, theirs)| theirs / ours);
        let spread =
            row.spread.map_or(String::new(), |(low, high)| format!(" ({low:.3}–{high:.3})"));
        let mut cells = vec![row.seed.clone()];
        cells.extend(row.test.iter().map(percent));
        cells.extend(row.unlabelled.iter().map(percent));
        cells.extend(row.objective.iter().map(|value| show(*value, 2)));
        cells.push(show(difference, 3));
        cells.push(show(row.seconds[0], 3) + &spread);
        cells.push(show(row.seconds[1], 3));
        cells.push(show(ratio, 2));
        table.row(cells);
    }
    table.render()
}

fn pair(values: [Option<f64>; 2]) -> Option<(f64, f64)> {
    values[0].zip(values[1])
}

/// A number with so many decimals, or a dash for one that is missing.
pub fn show(value: Option<f64>, decimals: usize) -> String {
    value.map_or_else(|| "–".to_owned(), |value| format!("{value:.decimals$}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(test: f64, unlabelled: Option<f64>) -> Row {
        Row {
            seed: "0".to_owned(),
            test: [Some(test), Some(0.5), None],
            unlabelled: [unlabelled, Some(0.5), Some(0.5)],
            objective: [Some(99.0), Some(100.0)],
            seconds: [Some(0.5), Some(4.0)],
            spread: Some((0.4, 0.75)),
        }
    }

    #[test]
    fn means_skip_columns_with_gaps() {
        let all = average(&[row(0.5, Some(0.25)), row(1.0, None)]);
        assert_eq!(all.test, [Some(0.75), Some(0.5), None]);
        assert_eq!(all.unlabelled, [None, Some(0.5), Some(0.5)]);
    }

    #[test]
    fn a_row_shows_difference_and_ratio() {
        let text = render(&[row(0.9375, None)]);
        let last = text.lines().last().expect("a row");
        let cells: Vec<&str> = last.split('|').map(str::trim).collect();
        assert_eq!(cells[2..5], ["93.75", "50.00", "–"]);
        assert_eq!(cells[10..14], ["-1.000", "0.500 (0.400–0.750)", "4.000", "8.00"]);
    }
}
