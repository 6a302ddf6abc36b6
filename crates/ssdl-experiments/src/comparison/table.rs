//! Rows into tables: mean and spread over the seeds, the paper's numbers beside.

use std::fmt::Write;

use super::plan::{Data, Paper, Plan, Split};
use super::row::Row;
use crate::numbers::mean;

/// Widest overview, in data sets and splits; beyond it they become lines.
const MOST_COLUMNS: usize = 6;

/// Markdown: the overview, then one table per data set and split, a line per run, with the paper's
/// numbers that have no run of their own at its end.
#[must_use]
pub fn report(plan: &Plan, rows: &[Row]) -> String {
    let mut text = overview(plan, rows);
    for data in &plan.data {
        for split in plan.splits_of(data) {
            table(&mut text, plan, rows, data, split);
        }
    }
    text
}

/// Markdown: one table for the whole plan, test accuracy of each run on each split, the paper's in
/// brackets.
#[must_use]
pub fn overview(plan: &Plan, rows: &[Row]) -> String {
    let pairs =
        plan.data.iter().flat_map(|data| plan.splits_of(data).map(move |split| (data, split)));
    let has_rows = |(data, split): &(&Data, &Split)| {
        rows.iter().any(|row| row.data == data.name && row.split == split.name)
    };
    let splits: Vec<(&Data, &Split)> = pairs.filter(has_rows).collect();
    let mut runs: Vec<&str> = plan.run.iter().map(|run| run.name.as_str()).collect();
    for paper in &plan.paper {
        if !runs.contains(&paper.run.as_str()) {
            runs.push(&paper.run);
        }
    }
    let cell = |run: &str, (data, split): (&Data, &Split)| {
        let found = rows
            .iter()
            .filter(|row| row.run == run && row.data == data.name && row.split == split.name);
        let found: Vec<f64> = found.map(|row| row.test_accuracy).collect();
        let ours = if found.is_empty() { "–".into() } else { format!("{:.1}", mean(&found)) };
        match paper_of(plan, run, data, split) {
            Some(paper) => format!("{ours} ({:.1})", paper.accuracy),
            None => ours,
        }
    };
    let has_cells = |run: &&str| splits.iter().any(|split| cell(run, *split) != "–");
    let runs: Vec<&str> = runs.iter().copied().filter(has_cells).collect();
    let named = |(data, split): &(&Data, &Split)| format!("{}, {}", data.name, split.name);
    let names: Vec<String> = splits.iter().map(named).collect();
    let beside = if plan.paper.is_empty() { "" } else { " (the paper's in brackets)" };
    let mut text = format!("Test accuracy in per cent, mean over the seeds{beside}:\n\n");
    if splits.len() <= MOST_COLUMNS {
        header(&mut text, "run", &names);
        for run in &runs {
            let cells: Vec<String> = splits.iter().map(|split| cell(run, *split)).collect();
            line(&mut text, run, &cells);
        }
    } else {
        header(&mut text, "split", &runs);
        for (name, split) in names.iter().zip(&splits) {
            let cells: Vec<String> = runs.iter().map(|run| cell(run, *split)).collect();
            line(&mut text, name, &cells);
        }
    }
    text.push('\n');
    text
}

fn header<S: AsRef<str>>(text: &mut String, first: &str, others: &[S]) {
    line(text, first, others);
    line(text, "---", &vec!["---:"; others.len()]);
}

fn line<S: AsRef<str>>(text: &mut String, first: &str, others: &[S]) {
    let others: Vec<&str> = others.iter().map(AsRef::as_ref).collect();
    text.push_str(&format!("| {first} | {} |\n", others.join(" | ")));
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

fn paper_of<'a>(plan: &'a Plan, run: &str, data: &Data, split: &Split) -> Option<&'a Paper> {
    plan.paper.iter().find(|paper| {
        paper.run == run && paper.data == data.name && is_of(paper.split.as_ref(), split)
    })
}

fn paper(plan: &Plan, run: &str, data: &Data, split: &Split) -> Option<String> {
    let found = paper_of(plan, run, data, split)?;
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
