//! Tables and curves of rows: mean and spread over the seeds, compared with the paper's numbers.

use std::fmt::Write;

use super::plan::{Data, Paper, Plan, Run, Split};
use super::row::Row;
use crate::curve::{Along, Curve, Point, Series};
use crate::numbers::mean;
use crate::table::{Cell, Number, Table};

/// Maximum number of columns of the overview; beyond it, splits become lines.
const MOST_COLUMNS: usize = 6;
/// Maximum number of runs in a curve: more could not be distinguished.
const MOST_RUNS: usize = 6;

/// Markdown: the overview, then one table per data set and split with a line per run, followed by
/// numbers of the paper for methods that were not run.
#[must_use]
pub fn report(plan: &Plan, rows: &[Row]) -> String {
    let mut text = overview(plan, rows);
    for table in tables(plan, rows).into_iter().skip(1) {
        // Writing to a string cannot fail.
        let _ = writeln!(text, "### {}\n\n{}", table.heading, table.markdown());
    }
    text
}

/// Markdown: one table for the whole plan, test accuracy of each run on each split, the paper's in
/// brackets.
#[must_use]
pub fn overview(plan: &Plan, rows: &[Row]) -> String {
    let table = overview_table(plan, rows);
    format!("{}:\n\n{}\n", table.heading, table.markdown())
}

/// The overview, then one table per data set and split.
#[must_use]
pub fn tables(plan: &Plan, rows: &[Row]) -> Vec<Table> {
    let mut tables = vec![overview_table(plan, rows)];
    for data in &plan.data {
        tables
            .extend(plan.splits_of(data).filter_map(|split| split_table(plan, rows, data, split)));
    }
    tables
}

/// Test accuracy by the number of unlabelled samples, or by the number of labels if those differ;
/// one curve for each data set whose splits have at least three such numbers.
#[must_use]
pub fn curves(plan: &Plan, rows: &[Row]) -> Vec<Curve> {
    plan.data.iter().filter_map(|data| curve(plan, rows, data)).collect()
}

fn rows_of<'a>(rows: &'a [Row], run: &str, data: &Data, split: &Split) -> Vec<&'a Row> {
    let same = |row: &&Row| row.run == run && row.data == data.name && row.split == split.name;
    rows.iter().filter(same).collect()
}

fn accuracies(rows: &[&Row]) -> Vec<f64> {
    rows.iter().map(|row| row.test_accuracy).collect()
}

/// Names of the runs of the plan, then of methods that only the paper has.
fn names(plan: &Plan) -> Vec<&str> {
    let mut names: Vec<&str> = plan.run.iter().map(|run| run.name.as_str()).collect();
    for paper in &plan.paper {
        if !names.contains(&paper.run.as_str()) {
            names.push(&paper.run);
        }
    }
    names
}

fn overview_table(plan: &Plan, rows: &[Row]) -> Table {
    let pairs =
        plan.data.iter().flat_map(|data| plan.splits_of(data).map(move |split| (data, split)));
    let has_rows = |(data, split): &(&Data, &Split)| {
        rows.iter().any(|row| row.data == data.name && row.split == split.name)
    };
    let splits: Vec<(&Data, &Split)> = pairs.filter(has_rows).collect();
    let cell = |run: &str, (data, split): (&Data, &Split)| {
        let found = accuracies(&rows_of(rows, run, data, split));
        let ours = (!found.is_empty()).then(|| mean(&found));
        beside(ours, paper_of(plan, run, data, split).map(|paper| paper.accuracy))
    };
    let has_cells = |run: &&str| splits.iter().any(|split| cell(run, *split) != beside(None, None));
    let runs: Vec<&str> = names(plan).into_iter().filter(has_cells).collect();
    let named = |(data, split): &(&Data, &Split)| format!("{}, {}", data.name, split.name);
    let brackets = if plan.paper.is_empty() { "" } else { " (the paper's in brackets)" };
    let heading = format!("Test accuracy in per cent, mean over the seeds{brackets}");
    if splits.len() <= MOST_COLUMNS {
        let line = |run: &&str| {
            ((*run).to_owned(), splits.iter().map(|split| cell(run, *split)).collect())
        };
        let lines = runs.iter().map(line).collect();
        Table { heading, names: "run".into(), columns: splits.iter().map(named).collect(), lines }
    } else {
        let line = |split: &(&Data, &Split)| {
            (named(split), runs.iter().map(|run| cell(run, *split)).collect())
        };
        let columns = runs.iter().map(|run| (*run).to_owned()).collect();
        Table { heading, names: "split".into(), columns, lines: splits.iter().map(line).collect() }
    }
}

/// Our number, the paper's in brackets, the better one marked.
fn beside(ours: Option<f64>, papers: Option<f64>) -> Cell {
    let shown = |value: f64| format!("{value:.1}");
    // Numbers that look the same when rounded are not marked.
    let ahead = |a: Option<f64>, b: Option<f64>| {
        a.zip(b).is_some_and(|(a, b)| a > b && shown(a) != shown(b))
    };
    let text = ours.map_or_else(|| "–".into(), shown);
    Cell {
        number: Number { text, better: ahead(ours, papers) },
        beside: papers.map(|value| Number { text: shown(value), better: ahead(papers, ours) }),
    }
}

fn split_table(plan: &Plan, rows: &[Row], data: &Data, split: &Split) -> Option<Table> {
    let any = |row: &&Row| row.data == data.name && row.split == split.name;
    let first = rows.iter().find(any)?;
    let mut lines = Vec::new();
    for run in plan.runs_of(data) {
        let rows = rows_of(rows, &run.name, data, split);
        if rows.is_empty() {
            continue;
        }
        let over = |pick: fn(&Row) -> f64| rows.iter().map(|row| pick(row)).collect::<Vec<f64>>();
        let test = accuracies(&rows);
        let papers = paper_of(plan, &run.name, data, split);
        let ours_better = papers.is_some_and(|paper| mean(&test) > paper.accuracy);
        let papers_better = papers.is_some_and(|paper| paper.accuracy > mean(&test));
        let cells = vec![
            Cell::marked(with_spread(&test), ours_better),
            Cell::plain(with_spread(&over(|row| row.unlabelled_accuracy))),
            Cell::marked(papers.map_or_else(|| "–".into(), paper_text), papers_better),
            Cell::plain(format!("{:.3}", mean(&over(|row| row.fit_seconds)))),
            Cell::plain(format!("{:.3}", mean(&over(|row| row.predict_seconds)))),
            Cell::plain(rows.len().to_string()),
        ];
        lines.push((run.name.clone(), cells));
    }
    let others = plan.paper.iter().filter(|paper| {
        let known = plan.run.iter().any(|run| run.name == paper.run);
        !known && paper.data == data.name && is_of(paper.split.as_ref(), split)
    });
    for other in others {
        let mut cells = vec![Cell::default(); 6];
        cells[2] = Cell::plain(paper_text(other));
        lines.push((format!("{} (paper)", other.run), cells));
    }
    let columns =
        ["test %", "unlabelled %", "paper's test %", "seconds to fit", "to predict", "seeds"];
    Some(Table {
        heading: format!(
            "{}, {} ({} labelled, {} unlabelled, {} test)",
            data.name, split.name, first.n_labelled, first.n_unlabelled, first.n_test
        ),
        names: "run".into(),
        columns: columns.map(str::to_owned).to_vec(),
        lines,
    })
}

fn curve(plan: &Plan, rows: &[Row], data: &Data) -> Option<Curve> {
    let row_of =
        |split: &Split| rows.iter().find(|row| row.data == data.name && row.split == split.name);
    let splits: Vec<(&Row, &Split)> =
        plan.splits_of(data).filter_map(|split| Some((row_of(split)?, split))).collect();
    let first = splits.first()?.0.n_labelled;
    let by_labels = splits.iter().any(|(row, _)| row.n_labelled != first);
    let size = |row: &Row| if by_labels { row.n_labelled } else { row.n_unlabelled };
    let mut sizes: Vec<(usize, &Split)> =
        splits.iter().map(|(row, split)| (size(row), *split)).collect();
    sizes.sort_by_key(|(size, _)| *size);
    if sizes.len() < 3 || sizes.windows(2).any(|pair| pair[0].0 == pair[1].0) {
        return None;
    }
    let mut series = Vec::new();
    let has_rows = |run: &&Run| rows.iter().any(|row| row.data == data.name && row.run == run.name);
    for run in plan.runs_of(data).filter(has_rows).take(MOST_RUNS) {
        let ours = sizes.iter().filter_map(|(size, split)| {
            let found = accuracies(&rows_of(rows, &run.name, data, split));
            let y = (!found.is_empty()).then(|| mean(&found))?;
            Some(Point { x: *size as f64, y, spread: deviation(&found) })
        });
        let papers = sizes.iter().filter_map(|(size, split)| {
            let paper = paper_of(plan, &run.name, data, split)?;
            Some(Point { x: *size as f64, y: paper.accuracy, spread: 0.0 })
        });
        let (ours, papers): (Vec<Point>, Vec<Point>) = (ours.collect(), papers.collect());
        series.push(Series { name: run.name.clone(), points: ours, dashed: false });
        if !papers.is_empty() {
            let name = format!("{}, the paper's", run.name);
            series.push(Series { name, points: papers, dashed: true });
        }
    }
    let along = if by_labels { Along::Labelled } else { Along::Unlabelled };
    let runs = plan.runs_of(data).filter(has_rows).count();
    let heading = if runs > MOST_RUNS {
        format!("{}, the first {MOST_RUNS} of {runs} runs", data.name)
    } else {
        data.name.clone()
    };
    (!series.is_empty()).then_some(Curve { heading, along, series })
}

fn is_of(named: Option<&String>, split: &Split) -> bool {
    named.is_none_or(|name| *name == split.name)
}

fn paper_of<'a>(plan: &'a Plan, run: &str, data: &Data, split: &Split) -> Option<&'a Paper> {
    plan.paper.iter().find(|paper| {
        paper.run == run && paper.data == data.name && is_of(paper.split.as_ref(), split)
    })
}

/// A number of the paper as printed there.
fn paper_text(paper: &Paper) -> String {
    match paper.spread {
        Some(spread) => format!("{} ± {spread}", paper.accuracy),
        None => paper.accuracy.to_string(),
    }
}

/// Mean and standard deviation; a dash if there are no values.
fn with_spread(values: &[f64]) -> String {
    let mean = mean(values);
    if mean.is_nan() {
        return "–".into();
    }
    format!("{mean:.2} ± {:.2}", deviation(values))
}

fn deviation(values: &[f64]) -> f64 {
    let mean = mean(values);
    let variance = values.iter().map(|v| (v - mean).powi(2)).sum::<f64>() / values.len() as f64;
    variance.sqrt()
}
