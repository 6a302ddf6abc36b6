//! Tables and curves of rows: mean and spread over the seeds, compared with the paper's numbers.

use std::fmt::Write;

use super::plan::{Data, Paper, Plan, Run, Split};
use super::row::Row;
use super::summary;
use crate::curve::{Along, Curve, Judged, Point, Series};
use crate::numbers::{deviation, mean, with_spread};
use crate::table::{Cell, Number, Table};

/// Maximum number of columns of the overview; beyond it, splits become lines.
const MOST_COLUMNS: usize = 6;
/// Maximum number of runs in a curve: more could not be distinguished.
const MOST_RUNS: usize = 6;

/// Markdown: the overview, the summary if there are contenders, then one table per data set and
/// split with a line per run, followed by contenders and by numbers of the paper for methods that
/// were not run.
#[must_use]
pub fn report(plan: &Plan, rows: &[Row], contenders: &[Row]) -> String {
    let mut text = overview(plan, rows, contenders);
    for table in split_tables(plan, rows, contenders) {
        // Writing to a string cannot fail.
        let _ = writeln!(text, "### {}\n\n{}", table.heading, table.markdown());
    }
    text
}

/// Markdown: one table for the whole plan, test accuracy of each run on each split, the paper's in
/// brackets; then the summary if there are contenders.
#[must_use]
pub fn overview(plan: &Plan, rows: &[Row], contenders: &[Row]) -> String {
    let mut text = String::new();
    let summary = summary::table(plan, rows, contenders);
    for table in std::iter::once(overview_table(plan, rows, contenders)).chain(summary) {
        let _ = writeln!(text, "{}:\n\n{}", table.heading, table.markdown());
    }
    if let Some(missing) = plan.contenders.as_ref().filter(|_| contenders.is_empty()) {
        let _ = writeln!(text, "no contenders: there are no rows in {}\n", missing.file);
    }
    text
}

/// The overview, the summary if there are contenders, then one table per data set and split.
#[must_use]
pub fn tables(plan: &Plan, rows: &[Row], contenders: &[Row]) -> Vec<Table> {
    let mut tables = vec![overview_table(plan, rows, contenders)];
    tables.extend(summary::table(plan, rows, contenders));
    tables.extend(split_tables(plan, rows, contenders));
    tables
}

fn split_tables(plan: &Plan, rows: &[Row], contenders: &[Row]) -> Vec<Table> {
    let mut tables = Vec::new();
    for data in &plan.data {
        let splits = plan.splits_of(data);
        tables.extend(splits.filter_map(|split| split_table(plan, rows, contenders, data, split)));
    }
    tables
}

/// Test accuracy by the number of unlabelled samples, or by the number of labels if those differ;
/// one curve for each data set whose splits have at least three such numbers. Another shows the
/// unlabelled samples, where the paper does.
#[must_use]
pub fn curves(plan: &Plan, rows: &[Row]) -> Vec<Curve> {
    let of = |data| {
        let has_unlabelled = |paper: &Paper| paper.unlabelled.is_some();
        let both = plan.paper.iter().any(has_unlabelled);
        let samples = [Some(Judged::Test), both.then_some(Judged::Unlabelled)];
        samples.into_iter().flatten().filter_map(move |judged| curve(plan, rows, data, judged))
    };
    plan.data.iter().flat_map(of).collect()
}

fn rows_of<'a>(rows: &'a [Row], run: &str, data: &Data, split: &Split) -> Vec<&'a Row> {
    let same = |row: &&Row| row.run == run && row.data == data.name && row.split == split.name;
    rows.iter().filter(same).collect()
}

fn accuracies(rows: &[&Row]) -> Vec<f64> {
    rows.iter().map(|row| row.test_accuracy).collect()
}

/// Names of the runs of the plan, of the contenders, then of methods that only the paper has.
fn names<'a>(plan: &'a Plan, contenders: &'a [Row]) -> Vec<&'a str> {
    let mut names: Vec<&str> = plan.run.iter().map(|run| run.name.as_str()).collect();
    names.extend(summary::names(contenders));
    for paper in &plan.paper {
        if !names.contains(&paper.run.as_str()) {
            names.push(&paper.run);
        }
    }
    names
}

fn overview_table(plan: &Plan, rows: &[Row], contenders: &[Row]) -> Table {
    let names = names(plan, contenders);
    let rows = &[rows, contenders].concat();
    let pairs =
        plan.data.iter().flat_map(|data| plan.splits_of(data).map(move |split| (data, split)));
    let has_rows = |(data, split): &(&Data, &Split)| {
        rows.iter().any(|row| row.data == data.name && row.split == split.name)
    };
    let splits: Vec<(&Data, &Split)> = pairs.filter(has_rows).collect();
    let cell = |run: &str, (data, split): (&Data, &Split)| {
        let found = accuracies(&rows_of(rows, run, data, split));
        let ours = (!found.is_empty()).then(|| mean(&found));
        beside(ours, paper_of(plan, run, data, split))
    };
    let has_cells = |run: &&str| splits.iter().any(|split| cell(run, *split) != beside(None, None));
    let runs: Vec<&str> = names.into_iter().filter(has_cells).collect();
    let named = |(data, split): &(&Data, &Split)| format!("{}, {}", data.name, split.name);
    let brackets = if plan.paper.is_empty() { "" } else { " (the paper's in brackets)" };
    let stars = splits
        .iter()
        .flat_map(|(data, split)| runs.iter().filter_map(|run| paper_of(plan, run, data, split)));
    let stars = star_note(stars);
    let heading = format!("Test accuracy in per cent, mean over the seeds{brackets}{stars}");
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
fn beside(ours: Option<f64>, paper: Option<&Paper>) -> Cell {
    let shown = |value: f64| format!("{value:.1}");
    // Numbers that look the same when rounded are not marked, nor those of another protocol.
    let papers = paper.filter(|paper| !paper.other_protocol).map(|paper| paper.accuracy);
    let ahead = |a: Option<f64>, b: Option<f64>| {
        a.zip(b).is_some_and(|(a, b)| a > b && shown(a) != shown(b))
    };
    let text = ours.map_or_else(|| "–".into(), shown);
    Cell {
        number: Number { text, better: ahead(ours, papers) },
        beside: paper.map(|paper| Number {
            text: shown(paper.accuracy) + star(paper),
            better: ahead(papers, ours),
        }),
    }
}

/// The mark of a number that was measured in another way.
fn star(paper: &Paper) -> &'static str {
    if paper.other_protocol { "*" } else { "" }
}

/// What the star means, if there is one.
fn star_note<'a>(mut papers: impl Iterator<Item = &'a Paper>) -> &'static str {
    if papers.any(|paper| paper.other_protocol) {
        "; * by another protocol, not comparable"
    } else {
        ""
    }
}

fn split_table(
    plan: &Plan,
    rows: &[Row],
    contenders: &[Row],
    data: &Data,
    split: &Split,
) -> Option<Table> {
    let here = |row: &&Row| row.data == data.name && row.split == split.name;
    let first = rows.iter().find(here)?;
    let columns = columns(plan, data, split, rows.iter().chain(contenders).filter(here));
    let mut lines = Vec::new();
    let runs = plan.runs_of(data).map(|run| (run.name.as_str(), rows));
    let beside = summary::names(contenders).into_iter().map(|name| (name, contenders));
    for (run, rows) in runs.chain(beside) {
        let rows = rows_of(rows, run, data, split);
        if !rows.is_empty() {
            let papers = paper_of(plan, run, data, split);
            let cells = columns.iter().map(|column| column.cell(&rows, papers)).collect();
            lines.push((run.to_owned(), cells));
        }
    }
    let others = plan.paper.iter().filter(|paper| {
        let known = plan.run.iter().any(|run| run.name == paper.run);
        !known && paper.data == data.name && is_of(paper.split.as_ref(), split)
    });
    for other in others {
        let cells = columns.iter().map(|column| match column {
            Column::Paper => Cell::plain(paper_text(other)),
            _ => Cell::default(),
        });
        lines.push((format!("{} (paper)", other.run), cells.collect()));
    }
    let stars = papers_of(plan, data, split).any(|paper| paper.other_protocol);
    let named = |column: &Column| match column {
        Column::Paper if stars => format!("{} (* another protocol)", column.name()),
        _ => column.name().to_owned(),
    };
    Some(Table {
        heading: format!(
            "{}, {} ({} labelled, {} unlabelled, {} test)",
            data.name, split.name, first.n_labelled, first.n_unlabelled, first.n_test
        ),
        names: "run".into(),
        columns: columns.iter().map(named).collect(),
        lines,
    })
}

/// A column of the table of a split.
#[derive(Clone, Copy, PartialEq)]
enum Column {
    Test,
    Balanced,
    LogLoss,
    Calibration,
    Unlabelled,
    Paper,
    PaperUnlabelled,
    Fit,
    Predict,
    Seeds,
}

/// The columns that a table needs: measures that some row has, and the paper unless there are only
/// contenders to compare with.
fn columns<'a>(
    plan: &Plan,
    data: &Data,
    split: &Split,
    rows: impl Iterator<Item = &'a Row>,
) -> Vec<Column> {
    let mut columns = vec![Column::Test];
    // Rows of earlier versions have none.
    if rows.into_iter().all(|row| row.log_loss.is_some()) {
        columns.extend([Column::Balanced, Column::LogLoss, Column::Calibration]);
    }
    columns.push(Column::Unlabelled);
    if plan.contenders.is_none() || !plan.paper.is_empty() {
        columns.push(Column::Paper);
    }
    if papers_of(plan, data, split).any(|paper| paper.unlabelled.is_some()) {
        columns.push(Column::PaperUnlabelled);
    }
    columns.extend([Column::Fit, Column::Predict, Column::Seeds]);
    columns
}

impl Column {
    fn name(self) -> &'static str {
        match self {
            Self::Test => "test %",
            Self::Balanced => "balanced %",
            Self::LogLoss => "log-loss",
            Self::Calibration => "calibration error",
            Self::Unlabelled => "unlabelled %",
            Self::Paper => "paper's test %",
            Self::PaperUnlabelled => "paper's unlabelled %",
            Self::Fit => "seconds to fit",
            Self::Predict => "to predict",
            Self::Seeds => "seeds",
        }
    }

    fn cell(self, rows: &[&Row], paper: Option<&Paper>) -> Cell {
        let over = |pick: fn(&Row) -> f64| rows.iter().map(|row| pick(row)).collect::<Vec<f64>>();
        let measure = |pick: fn(&Row) -> Option<f64>| {
            let values: Option<Vec<f64>> = rows.iter().map(|row| pick(row)).collect();
            Cell::plain(values.map_or_else(|| "–".into(), |v| format!("{:.3}", mean(&v))))
        };
        let test = mean(&accuracies(rows));
        let comparable = paper.filter(|paper| !paper.other_protocol);
        match self {
            Self::Test => Cell::marked(
                with_spread(&accuracies(rows)),
                comparable.is_some_and(|paper| test > paper.accuracy),
            ),
            Self::Balanced => {
                Cell::plain(with_spread(&over(|row| row.balanced_accuracy.unwrap_or(f64::NAN))))
            }
            Self::LogLoss => measure(|row| row.log_loss),
            Self::Calibration => measure(|row| row.calibration_error),
            Self::Unlabelled => Cell::plain(with_spread(&over(|row| row.unlabelled_accuracy))),
            Self::Paper => Cell::marked(
                paper.map_or_else(|| "–".into(), paper_text),
                comparable.is_some_and(|paper| paper.accuracy > test),
            ),
            Self::PaperUnlabelled => Cell::plain(
                paper
                    .and_then(|paper| paper.unlabelled)
                    .map_or_else(|| "–".into(), |value| value.to_string()),
            ),
            Self::Fit => Cell::plain(format!("{:.3}", mean(&over(|row| row.fit_seconds)))),
            Self::Predict => Cell::plain(format!("{:.3}", mean(&over(|row| row.predict_seconds)))),
            Self::Seeds => Cell::plain(rows.len().to_string()),
        }
    }
}

fn curve(plan: &Plan, rows: &[Row], data: &Data, judged: Judged) -> Option<Curve> {
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
            let rows = rows_of(rows, &run.name, data, split);
            let found: Vec<f64> = match judged {
                Judged::Test => accuracies(&rows),
                Judged::Unlabelled => rows.iter().map(|row| row.unlabelled_accuracy).collect(),
            };
            // Without unlabelled samples there is no accuracy on them.
            let y = (!found.is_empty()).then(|| mean(&found)).filter(|mean| !mean.is_nan())?;
            Some(Point { x: *size as f64, y, spread: deviation(&found) })
        });
        let papers = sizes.iter().filter_map(|(size, split)| {
            let paper = paper_of(plan, &run.name, data, split)?;
            let y = match judged {
                Judged::Test => Some(paper.accuracy),
                Judged::Unlabelled => paper.unlabelled,
            };
            Some(Point { x: *size as f64, y: y?, spread: 0.0 })
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
    let samples = match judged {
        Judged::Test => "",
        Judged::Unlabelled => ", unlabelled samples",
    };
    let some = match runs > MOST_RUNS {
        true => format!(", the first {MOST_RUNS} of {runs} runs"),
        false => String::new(),
    };
    let heading = format!("{}{samples}{some}", data.name);
    (!series.is_empty()).then_some(Curve { heading, along, judged, series })
}

fn is_of(named: Option<&String>, split: &Split) -> bool {
    named.is_none_or(|name| *name == split.name)
}

/// The numbers of the paper for a data set and split.
fn papers_of<'a>(
    plan: &'a Plan,
    data: &'a Data,
    split: &'a Split,
) -> impl Iterator<Item = &'a Paper> {
    let here = |paper: &&Paper| paper.data == data.name && is_of(paper.split.as_ref(), split);
    plan.paper.iter().filter(here)
}

fn paper_of<'a>(plan: &'a Plan, run: &str, data: &'a Data, split: &'a Split) -> Option<&'a Paper> {
    papers_of(plan, data, split).find(|paper| paper.run == run)
}

/// A number of the paper as printed there.
fn paper_text(paper: &Paper) -> String {
    let star = star(paper);
    match paper.spread {
        Some(spread) => format!("{} ± {spread}{star}", paper.accuracy),
        None => format!("{}{star}", paper.accuracy),
    }
}
