//! Tables of rows, compared with the paper's.

use std::collections::BTreeMap;

use super::plan::{Column, GRAPHS, Plan};
use super::row::Row;
use crate::numbers::{mean, with_spread};
use crate::table::{Cell, Number, Table};

/// Markdown of [`tables`].
#[must_use]
pub fn report(plan: &Plan, rows: &[Row]) -> String {
    tables(plan, rows).iter().map(text).collect()
}

/// Markdown of the first of [`tables`].
#[must_use]
pub fn overview(plan: &Plan, rows: &[Row]) -> String {
    tables(plan, rows).iter().take(1).map(text).collect()
}

fn text(table: &Table) -> String {
    format!("{}:\n\n{}\n", table.heading, table.markdown())
}

/// The error of the best setting as the paper chose it (on the test samples, best of the seeds), the
/// error of the setting that cross-validation on the labelled samples chooses (mean and standard
/// deviation over the seeds), the settings behind both, and the seconds of a fit.
#[must_use]
pub fn tables(plan: &Plan, rows: &[Row]) -> Vec<Table> {
    let columns = plan.columns();
    let heading = "Chosen on the test samples, best seed, as the paper did: ours (paper's)";
    let on_test = table(heading, &columns, |graph, at| {
        let best = best_on_test(&of(rows, graph, columns[at]))?.test_error;
        let papers = plan.paper(graph).get(at).copied().filter(|v| v.is_finite());
        // These are errors: smaller is better.
        let number =
            Number { text: format!("{best:.2}"), better: papers.is_some_and(|p| best < p) };
        let beside = match papers {
            Some(paper) => Number { text: paper.to_string(), better: paper < best },
            None => Number { text: "–".into(), better: false },
        };
        Some(Cell { number, beside: Some(beside) })
    });
    let heading = "Chosen by cross-validation on the labelled samples, mean over the seeds";
    let validated = table(heading, &columns, |graph, at| {
        let (_, seeds) = by_validation(&of(rows, graph, columns[at]))?;
        let errors: Vec<f64> = seeds.iter().map(|row| row.test_error).collect();
        Some(Cell::plain(with_spread(&errors)))
    });
    let heading = "The settings behind both, test / cross-validation";
    let settings = table(heading, &columns, |graph, at| {
        let rows = of(rows, graph, columns[at]);
        let (best, (_, chosen)) = (best_on_test(&rows)?, by_validation(&rows)?);
        let words = |row: &Row| match row.knobs.as_str() {
            "" => format!("box={}", row.box_constraint),
            knobs => format!("{knobs} manifold={}", row.manifold),
        };
        Some(Cell::plain(format!("{} / {}", words(best), words(chosen.first()?))))
    });
    let heading = "Seconds for a fit, its test codes and its SVM, mean over all settings";
    let seconds = table(heading, &columns, |graph, at| {
        let seconds: Vec<f64> =
            of(rows, graph, columns[at]).iter().map(|row| row.seconds).collect();
        (!seconds.is_empty()).then(|| Cell::plain(format!("{:.3}", mean(&seconds))))
    });
    vec![on_test, validated, settings, seconds]
}

fn table(heading: &str, columns: &[Column], cell: impl Fn(&str, usize) -> Option<Cell>) -> Table {
    let line = |graph: &&str| {
        let cells = (0..columns.len()).map(|at| cell(graph, at));
        let cells = cells.map(|cell| cell.unwrap_or_else(|| Cell::plain("not run")));
        ((*graph).to_owned(), cells.collect())
    };
    Table {
        heading: heading.to_owned(),
        names: "graph".into(),
        columns: columns.iter().map(Column::name).collect(),
        lines: GRAPHS.iter().map(line).collect(),
    }
}

fn of<'a>(rows: &'a [Row], graph: &str, column: Column) -> Vec<&'a Row> {
    rows.iter().filter(|row| row.graph == graph && row.is_of(column)).collect()
}

fn best_on_test<'a>(rows: &[&'a Row]) -> Option<&'a Row> {
    rows.iter().copied().min_by(|a, b| a.test_error.total_cmp(&b.test_error))
}

/// The setting with the lowest mean validation error, and its rows; the first on ties.
fn by_validation<'a>(rows: &[&'a Row]) -> Option<(f64, Vec<&'a Row>)> {
    let mut settings: BTreeMap<(String, u64), Vec<&Row>> = BTreeMap::new();
    for row in rows {
        let key = (row.knobs.clone(), row.manifold.to_bits());
        settings.entry(key).or_default().push(row);
    }
    let scored = settings.into_values().map(|rows| {
        let errors: Vec<f64> = rows.iter().map(|row| row.validation_error).collect();
        (mean(&errors), rows)
    });
    scored.min_by(|a, b| a.0.total_cmp(&b.0))
}
