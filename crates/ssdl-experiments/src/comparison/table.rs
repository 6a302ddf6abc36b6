//! Rows into tables: mean and spread over the seeds, the paper's numbers beside.

use std::fmt::Write;

use super::plan::{Data, Plan, Split};
use super::row::Row;
use crate::numbers::mean;

/// Markdown: one table per data set and split, a line per run, then the paper's numbers that have no
/// run of their own.
#[must_use]
pub fn report(plan: &Plan, rows: &[Row]) -> String {
    let mut text = String::new();
    for data in &plan.data {
        for split in plan.splits_of(data) {
            table(&mut text, plan, rows, data, split);
        }
    }
    text
}

fn table(text: &mut String, plan: &Plan, rows: &[Row], data: &Data, split: &Split) {
    let of_split: Vec<&Row> =
        rows.iter().filter(|row| row.data == data.name && row.split == split.name).collect();
    let Some(first) = of_split.first() else { return };
    // Writing to a string cannot fail.
    let _ = writeln!(
        text,
        "### {}, {} ({} labelled, {} unlabelled, {} test)\n\n\
         | run | test % | unlabelled % | paper's test % | seconds to fit | to predict | seeds |\n\
         | --- | ---: | ---: | ---: | ---: | ---: | ---: |",
        data.name, split.name, first.n_labelled, first.n_unlabelled, first.n_test
    );
    for run in plan.runs_of(data) {
        let rows: Vec<&&Row> = of_split.iter().filter(|row| row.run == run.name).collect();
        if rows.is_empty() {
            continue;
        }
        let over = |pick: fn(&Row) -> f64| rows.iter().map(|row| pick(row)).collect::<Vec<f64>>();
        let _ = writeln!(
            text,
            "| {} | {} | {} | {} | {:.3} | {:.3} | {} |",
            run.name,
            spread(&over(|row| row.test_accuracy)),
            spread(&over(|row| row.unlabelled_accuracy)),
            paper(plan, &run.name, data, split).unwrap_or_else(|| "–".into()),
            mean(&over(|row| row.fit_seconds)),
            mean(&over(|row| row.predict_seconds)),
            rows.len()
        );
    }
    let others = plan.paper.iter().filter(|paper| {
        let known = plan.run.iter().any(|run| run.name == paper.run);
        !known && paper.data == data.name && is_of(paper.split.as_ref(), split)
    });
    for other in others {
        let number = paper(plan, &other.run, data, split).unwrap_or_default();
        let _ = writeln!(text, "| {} (paper) | | | {number} | | | |", other.run);
    }
    text.push('\n');
}

fn is_of(named: Option<&String>, split: &Split) -> bool {
    named.is_none_or(|name| *name == split.name)
}

fn paper(plan: &Plan, run: &str, data: &Data, split: &Split) -> Option<String> {
    let found = plan.paper.iter().find(|paper| {
        paper.run == run && paper.data == data.name && is_of(paper.split.as_ref(), split)
    })?;
    Some(match found.spread {
        Some(spread) => format!("{} ± {spread}", found.accuracy),
        None => found.accuracy.to_string(),
    })
}

/// Mean and standard deviation; a dash where there is nothing to take the mean of.
fn spread(values: &[f64]) -> String {
    let mean = mean(values);
    if mean.is_nan() {
        return "–".into();
    }
    let variance = values.iter().map(|v| (v - mean).powi(2)).sum::<f64>() / values.len() as f64;
    format!("{mean:.2} ± {:.2}", variance.sqrt())
}
