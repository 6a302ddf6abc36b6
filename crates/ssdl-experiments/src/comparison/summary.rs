//! The summary of a comparison with contenders: what every run is worth over all data sets and splits.

use super::Row;
use super::plan::Plan;
use crate::numbers::mean;
use crate::table::{Cell, Table};

/// The rows of one data set and split.
struct Place<'a> {
    name: String,
    rows: Vec<&'a Row>,
    contenders: Vec<&'a Row>,
}

/// A difference over all places: its mean, and the place where it is least.
struct Difference {
    mean: f64,
    least: f64,
    place: String,
}

/// A line for each run and contender; `None` if the plan has no contenders, or there are no rows.
/// Every number is a mean over data sets and splits, of means over the seeds that the run has.
pub(super) fn table(plan: &Plan, rows: &[Row], contenders: &[Row]) -> Option<Table> {
    let rules = plan.contenders.as_ref()?;
    let places = places(plan, rows, contenders);
    let others = names(contenders);
    let columns = [
        "to the best contender",
        "at worst",
        "to the best baseline, at worst",
        "calibration error",
        "if perfect",
        "log-loss",
    ];
    let mut columns: Vec<String> = columns.map(str::to_owned).to_vec();
    columns.push(format!("less that of {}", rules.log_loss));
    let runs = plan.run.iter().map(|run| run.name.as_str());
    let baselines: Vec<&str> = rules.baselines.iter().map(String::as_str).collect();
    let mut lines = Vec::new();
    for name in runs.chain(others.iter().copied()) {
        let own: Vec<(&Place<'_>, Vec<&Row>)> = places
            .iter()
            .map(|place| (place, place.of(name)))
            .filter(|(_, rows)| !rows.is_empty())
            .collect();
        if own.is_empty() {
            continue;
        }
        let to_best = |names: &[&str], pick: Pick| differences(&own, names, pick);
        let ahead = to_best(&others, |row| Some(row.test_accuracy));
        let baseline = to_best(&baselines, |row| Some(row.test_accuracy));
        let loss = to_best(&[&rules.log_loss], |row| row.log_loss);
        let over_places = |pick: Pick| {
            let means: Vec<f64> = own.iter().filter_map(|(_, rows)| mean_of(rows, pick)).collect();
            (!means.is_empty()).then(|| mean(&means))
        };
        let number = |value: Option<f64>| value.map_or_else(|| "–".into(), |v| format!("{v:.3}"));
        let worst = |found: &Option<Difference>| {
            found.as_ref().map_or_else(dash, |d| format!("{:+.1} ({})", d.least, d.place))
        };
        let cells = [
            ahead.as_ref().map_or_else(dash, |d| format!("{:+.1}", d.mean)),
            worst(&ahead),
            worst(&baseline),
            number(over_places(|row| row.calibration_error)),
            number(over_places(|row| row.calibration_floor)),
            number(over_places(|row| row.log_loss)),
            loss.map_or_else(dash, |d| format!("{:+.3}", d.mean)),
        ];
        lines.push((name.to_owned(), cells.map(Cell::plain).to_vec()));
    }
    (!lines.is_empty()).then(|| Table {
        heading:
            "Test accuracy less that of the best contender and baseline, in points, and what the \
                  probabilities are worth; means over all data sets and splits"
                .into(),
        names: "run".into(),
        columns,
        lines,
    })
}

type Pick = fn(&Row) -> Option<f64>;

fn dash() -> String {
    "–".into()
}

/// The names of the runs in some rows, in the order in which they first appear.
pub(super) fn names(rows: &[Row]) -> Vec<&str> {
    let mut names = Vec::new();
    for row in rows {
        if !names.contains(&row.run.as_str()) {
            names.push(row.run.as_str());
        }
    }
    names
}

fn places<'a>(plan: &Plan, rows: &'a [Row], contenders: &'a [Row]) -> Vec<Place<'a>> {
    let mut places = Vec::new();
    for data in &plan.data {
        for split in plan.splits_of(data) {
            let here = |row: &&Row| row.data == data.name && row.split == split.name;
            places.push(Place {
                name: format!("{}, {}", data.name, split.name),
                rows: rows.iter().filter(here).collect(),
                contenders: contenders.iter().filter(here).collect(),
            });
        }
    }
    places
}

impl<'a> Place<'a> {
    /// The rows of a run or a contender.
    fn of(&self, name: &str) -> Vec<&'a Row> {
        let all = self.rows.iter().chain(&self.contenders);
        all.filter(|row| row.run == name).copied().collect()
    }
}

fn mean_of(rows: &[&Row], pick: Pick) -> Option<f64> {
    let values: Option<Vec<f64>> = rows.iter().map(|row| pick(row)).collect();
    values.filter(|values| !values.is_empty()).map(|values| mean(&values))
}

/// How far the rows of a run are ahead of the best of some others at each place, on the seeds of the
/// run; others that lack one of these seeds do not count.
fn differences(own: &[(&Place<'_>, Vec<&Row>)], others: &[&str], pick: Pick) -> Option<Difference> {
    let mut found: Vec<(f64, &str)> = Vec::new();
    for (place, rows) in own {
        let on_same_seeds = |name: &&str| {
            let same = place.of(name);
            let paired: Option<Vec<&Row>> = rows
                .iter()
                .map(|row| same.iter().find(|other| other.seed == row.seed).copied())
                .collect();
            mean_of(&paired?, pick)
        };
        let theirs = others.iter().filter_map(on_same_seeds).reduce(f64::max);
        if let Some((ours, theirs)) = mean_of(rows, pick).zip(theirs) {
            found.push((ours - theirs, &place.name));
        }
    }
    let (least, place) = found.iter().min_by(|a, b| a.0.total_cmp(&b.0)).copied()?;
    let all: Vec<f64> = found.iter().map(|(value, _)| *value).collect();
    Some(Difference { mean: mean(&all), least, place: place.to_owned() })
}
