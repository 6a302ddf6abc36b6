//! Rows into tables, beside the paper's.

use std::collections::BTreeMap;
use std::fmt::Write;

use super::plan::{Column, GRAPHS, Plan};
use super::row::Row;
use crate::numbers::mean;

/// Markdown: the error of the best setting as the paper chose it (on the test samples, best of the
/// seeds), and the error of the setting that cross-validation on the labelled samples chooses (mean
/// over the seeds).
#[must_use]
pub fn report(plan: &Plan, rows: &[Row]) -> String {
    let columns = plan.columns();
    let mut text = String::new();
    let heading = "Chosen on the test samples, best seed, as the paper did: ours (paper's)";
    table(&mut text, heading, &columns, |graph, at| {
        let best = best_on_test(&of(rows, graph, columns[at]))?;
        Some(match plan.paper(graph).get(at).filter(|v| v.is_finite()) {
            Some(paper) => format!("{:.2} ({paper})", best.test_error),
            None => format!("{:.2} (–)", best.test_error),
        })
    });
    let heading = "Chosen by cross-validation on the labelled samples, mean over the seeds";
    table(&mut text, heading, &columns, |graph, at| {
        let (_, seeds) = by_validation(&of(rows, graph, columns[at]))?;
        let errors: Vec<f64> = seeds.iter().map(|row| row.test_error).collect();
        Some(format!("{:.2}", mean(&errors)))
    });
    let heading = "The settings behind both, test / cross-validation";
    table(&mut text, heading, &columns, |graph, at| {
        let rows = of(rows, graph, columns[at]);
        let (best, (_, chosen)) = (best_on_test(&rows)?, by_validation(&rows)?);
        let words = |row: &Row| match row.knobs.as_str() {
            "" => format!("box={}", row.box_constraint),
            knobs => format!("{knobs} manifold={}", row.manifold),
        };
        Some(format!("{} / {}", words(best), words(chosen.first()?)))
    });
    text
}

fn table(
    text: &mut String,
    heading: &str,
    columns: &[Column],
    cell: impl Fn(&str, usize) -> Option<String>,
) {
    // Writing to a string cannot fail.
    let _ = write!(text, "{heading}:\n\n| graph |");
    for column in columns {
        let _ = write!(text, " {} |", column.name());
    }
    let _ = write!(text, "\n| --- |{}\n", " --- |".repeat(columns.len()));
    for graph in GRAPHS {
        let _ = write!(text, "| {graph} |");
        for at in 0..columns.len() {
            let _ = write!(text, " {} |", cell(graph, at).unwrap_or_else(|| "not run".into()));
        }
        text.push('\n');
    }
    text.push('\n');
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
