//! The page of a model that another program fitted, such as a net: what it predicts, and how its fit went.

use ssdl::Matrix;
use ssdl_experiments::{Cell, Table};

use crate::choice::unsure;
use crate::confusion::{Case, Confusion};
use crate::names::{counted, short};
use crate::{Page, plots};

/// A model of another program on some samples.
pub struct Other<'a> {
    /// The class names.
    pub classes: &'a [String],
    /// The predicted class of each sample.
    pub predicted: &'a [usize],
    /// Probabilities, classes by samples.
    pub probabilities: &'a Matrix<f32>,
    /// The labels of the samples, where they are known; may be empty.
    pub truth: &'a [Option<String>],
    /// Whether the fit was given these labels: the samples without are then the least certain.
    pub are_given: bool,
    /// Names of the samples, if any.
    pub names: Option<&'a [String]>,
    /// The objective of every epoch.
    pub objectives: &'a [f64],
}

/// The page of a model of another program: its objective by epoch, mistakes, and the least certain
/// samples.
#[must_use]
pub fn of_other(title: String, lead: String, other: &Other<'_>) -> Page {
    let mut names = other.classes.to_vec();
    let cases = cases(other, &mut names);
    let mut page = Page::new(title, lead);
    if let Some(confusion) = Confusion::new(&cases, &names, other.classes.len()) {
        page.about_tables = confusion.remarks.join(" ");
        page.tables.push(counts(&confusion, other.are_given));
    } else {
        page.missing.push("Mistakes are missing: the samples have no labels.".into());
    }
    page.tables.push(doubtful(other, &cases, &names));
    let fit = plots::epochs(other.objectives);
    page.figures.extend(fit.map(|figure| ("Objective by epoch".to_owned(), figure)));
    page
}

/// Every sample with its prediction and its true class; unknown names are added to `names`.
fn cases(other: &Other<'_>, names: &mut Vec<String>) -> Vec<Case> {
    let mut row_of = |name: &String| {
        names.iter().position(|known| known == name).unwrap_or_else(|| {
            names.push(name.clone());
            names.len() - 1
        })
    };
    let pairs = other.predicted.iter().enumerate();
    let case = |(place, &predicted): (usize, &usize)| Case {
        place,
        truth: other.truth.get(place).and_then(|name| name.as_ref().map(&mut row_of)),
        predicted: Some(predicted),
        lead: ahead(other.probabilities.column(place)),
    };
    pairs.map(case).collect()
}

/// How far the first class is ahead of the second.
fn ahead(shares: &[f32]) -> f64 {
    let (mut first, mut second) = (0.0f32, 0.0f32);
    for &share in shares {
        if share > first {
            (first, second) = (share, first);
        } else {
            second = second.max(share);
        }
    }
    f64::from(first - second)
}

/// Counts by true and predicted class.
fn counts(confusion: &Confusion, are_given: bool) -> Table {
    let line = |line: &crate::confusion::Line| {
        let cell = |cell: &crate::confusion::Count| match cell.count {
            0 => Cell::plain(""),
            count => Cell::marked(count.to_string(), cell.right),
        };
        let mut cells: Vec<Cell> = line.cells.iter().map(cell).collect();
        cells.push(Cell::plain(line.found.clone()));
        (line.heading.short.clone(), cells)
    };
    let mut columns: Vec<String> =
        confusion.columns.iter().map(|heading| heading.short.clone()).collect();
    columns.push("correct".into());
    let (right, judged) = (confusion.right, confusion.judged);
    let samples = match are_given {
        true => "labelled training samples, which the fit has seen",
        false => "samples",
    };
    Table {
        heading: format!(
            "{right} of {judged} {samples}, correct: {:.1} %; by true (lines) and predicted class",
            100.0 * confusion.accuracy()
        ),
        names: "true".into(),
        columns,
        lines: confusion.lines.iter().map(line).collect(),
    }
}

/// The samples whose first two classes are nearest.
fn doubtful(other: &Other<'_>, cases: &[Case], names: &[String]) -> Table {
    let is_labelled = |place: usize| cases[place].truth.is_some();
    let places = unsure(cases, |place| other.are_given && is_labelled(place));
    let line = |&place: &usize| {
        let Case { truth, .. } = cases[place];
        let class = other.predicted[place];
        let share = other.probabilities.column(place)[class];
        let name = match other.names.and_then(|names| names.get(place)) {
            Some(name) => short(name),
            None => place.to_string(),
        };
        let cells = [
            short(&other.classes[class]),
            format!("{:.0} %", 100.0 * share),
            truth.map_or_else(|| "–".into(), |truth| short(&names[truth])),
        ];
        (name, cells.map(Cell::plain).to_vec())
    };
    let lines: Vec<(String, Vec<Cell>)> = places.iter().map(line).collect();
    Table {
        heading: format!(
            "The {}",
            counted(lines.len(), "least certain sample", "least certain samples")
        ),
        names: "sample".into(),
        columns: ["predicted", "probability", "label"].map(str::to_owned).to_vec(),
        lines,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mistakes_doubts_and_the_objective_are_on_the_page() {
        let classes = ["<a>".to_owned(), "b".to_owned()];
        let shares = [0.9, 0.1, 0.45, 0.55, 0.2, 0.8];
        let probabilities = Matrix::from_columns(2, 3, shares.to_vec()).expect("two by three");
        let truth = [Some("<a>".to_owned()), None, Some("c".to_owned())];
        let mut other = Other {
            classes: &classes,
            predicted: &[0, 1, 1],
            probabilities: &probabilities,
            truth: &truth,
            are_given: false,
            names: None,
            objectives: &[3.0, 2.0, 1.5],
        };
        let page = of_other("net".into(), "lead".into(), &other);
        assert!(page.tables[0].heading.starts_with("1 of 2 samples, correct: 50.0 %"));
        let first = &page.tables[1].lines[0];
        assert_eq!((first.0.as_str(), first.1[1].text().as_str()), ("1", "55 %"));
        let html = page.html().expect("rendered");
        assert!(html.contains("Objective by epoch") && html.contains("&#60;a&#62;"), "{html}");
        assert!(!html.contains("<a>"), "names are escaped");

        other.truth = &[];
        other.objectives = &[3.0];
        let page = of_other("net".into(), "lead".into(), &other);
        assert!(page.missing[0].contains("no labels") && page.tables.len() == 1);
        assert!(page.figures.is_empty(), "one epoch is no curve");
    }

    #[test]
    fn given_labels_are_seen_and_not_doubtful() {
        let classes = ["a".to_owned(), "b".to_owned()];
        let probabilities = Matrix::from_fn(2, 2, |_, _| 0.5f32);
        let other = Other {
            classes: &classes,
            predicted: &[0, 0],
            probabilities: &probabilities,
            truth: &[Some("a".into()), None],
            are_given: true,
            names: Some(&["one".into(), "two".into()]),
            objectives: &[],
        };
        let page = of_other("net".into(), String::new(), &other);
        assert!(page.tables[0].heading.contains("which the fit has seen"));
        assert_eq!(page.tables[1].lines.len(), 1);
        assert_eq!(page.tables[1].lines[0].0, "two");
    }
}
