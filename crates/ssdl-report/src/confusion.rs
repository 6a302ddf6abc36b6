//! The confusion matrix: a table of counts, each of which can be opened.

use crate::names::short;

/// Maximum number of classes in the table; those with most mistakes are shown.
const MOST_CLASSES: usize = 30;
/// Maximum number of classes named in a remark.
const MOST_NAMED: usize = 8;

/// A sample with a prediction.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Case {
    /// Its index among the samples.
    pub place: usize,
    /// Its true class, if known; an index beyond the classes of the model is an unknown name.
    pub truth: Option<usize>,
    /// The prediction to compare with the true class; `None` if there is none.
    pub predicted: Option<usize>,
    /// How far the first class is ahead of the second, from 0 to 1.
    pub lead: f64,
}

impl Case {
    /// True and predicted class.
    pub fn pair(&self) -> Option<(usize, usize)> {
        self.truth.zip(self.predicted)
    }
}

pub(crate) struct Heading {
    pub name: String,
    pub short: String,
}

pub(crate) struct Count {
    pub row: usize,
    pub column: usize,
    pub count: usize,
    pub right: bool,
    /// Share of the row, in per cent.
    pub share: usize,
}

pub(crate) struct Line {
    pub heading: Heading,
    pub cells: Vec<Count>,
    pub total: usize,
    pub found: String,
}

/// The table of a page.
pub(crate) struct Confusion {
    pub columns: Vec<Heading>,
    pub lines: Vec<Line>,
    pub judged: usize,
    pub right: usize,
    /// Remarks on the counts.
    pub remarks: Vec<String>,
}

impl Confusion {
    /// Counts the cases whose true class is known; `None` if there are none. `names` are the
    /// `n_classes` classes of the model, followed by names unknown to it.
    pub fn new(cases: &[Case], names: &[String], n_classes: usize) -> Option<Self> {
        let pairs: Vec<(usize, usize)> = cases.iter().filter_map(Case::pair).collect();
        if pairs.is_empty() {
            return None;
        }
        let mut counts = vec![vec![0usize; n_classes]; names.len()];
        pairs.iter().for_each(|&(truth, predicted)| counts[truth][predicted] += 1);
        let (shown, mut remarks) = shown(&counts, names.len(), n_classes);
        let heading =
            |class: usize| Heading { name: names[class].clone(), short: short(&names[class]) };
        let columns: Vec<usize> =
            shown.iter().copied().filter(|&class| class < n_classes).collect();
        let line = |&row: &usize| {
            let total: usize = counts[row].iter().sum();
            let cell = |&column: &usize| {
                let count = counts[row][column];
                let share = 100 * count / total.max(1);
                Count { row, column, count, right: row == column, share }
            };
            let right = counts[row].get(row).copied().unwrap_or(0);
            Line {
                heading: heading(row),
                cells: columns.iter().map(cell).collect(),
                total,
                found: format!("{:.0} %", 100.0 * right as f64 / total.max(1) as f64),
            }
        };
        let rows = shown.iter().filter(|&&row| counts[row].iter().any(|count| *count > 0));
        let lines = rows.map(line).collect();
        remarks.extend(never_predicted(&counts, names, n_classes));
        Some(Self {
            columns: columns.iter().map(|&class| heading(class)).collect(),
            lines,
            judged: pairs.len(),
            right: pairs.iter().filter(|(truth, predicted)| truth == predicted).count(),
            remarks,
        })
    }

    /// Share of correct predictions.
    pub fn accuracy(&self) -> f64 {
        self.right as f64 / self.judged as f64
    }
}

/// The classes that are shown, in their order.
fn shown(counts: &[Vec<usize>], n_names: usize, n_classes: usize) -> (Vec<usize>, Vec<String>) {
    if n_names <= MOST_CLASSES {
        return ((0..n_names).collect(), Vec::new());
    }
    let mistakes = |class: usize| {
        let missed: usize = counts[class]
            .iter()
            .enumerate()
            .filter(|(predicted, _)| *predicted != class)
            .map(|(_, n)| n)
            .sum();
        let taken =
            counts.iter().enumerate().filter(|(truth, _)| *truth != class && class < n_classes);
        missed + taken.map(|(_, row)| row[class]).sum::<usize>()
    };
    let mut order: Vec<usize> = (0..n_names).collect();
    order.sort_by_key(|&class| (std::cmp::Reverse(mistakes(class)), class));
    order.truncate(MOST_CLASSES);
    order.sort_unstable();
    let remark = format!(
        "The table shows the {MOST_CLASSES} of {n_names} classes with most mistakes; the totals \
         count all classes."
    );
    (order, vec![remark])
}

/// A remark on classes that have samples but are never predicted.
fn never_predicted(counts: &[Vec<usize>], names: &[String], n_classes: usize) -> Option<String> {
    let never = |&class: &usize| {
        counts[class].iter().any(|n| *n > 0) && counts.iter().all(|row| row[class] == 0)
    };
    let missing: Vec<String> =
        (0..n_classes).filter(never).map(|class| format!("“{}”", short(&names[class]))).collect();
    if missing.is_empty() {
        return None;
    }
    let more = match missing.len().saturating_sub(MOST_NAMED) {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    let named = missing[..missing.len().min(MOST_NAMED)].join(", ");
    Some(format!("Never predicted: {named}{more}. More labels of these classes would help most."))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cases(pairs: &[(usize, usize)]) -> Vec<Case> {
        let case = |(place, &(truth, predicted)): (usize, &(usize, usize))| Case {
            place,
            truth: Some(truth),
            predicted: Some(predicted),
            lead: 0.5,
        };
        pairs.iter().enumerate().map(case).collect()
    }

    fn names(count: usize) -> Vec<String> {
        (0..count).map(|class| format!("class {class}")).collect()
    }

    #[test]
    fn counts_shares_and_the_class_that_is_never_predicted() {
        let cases = cases(&[(0, 0), (0, 0), (0, 1), (1, 1), (2, 0), (3, 1)]);
        let table = Confusion::new(&cases, &names(4), 3).expect("counted");
        assert_eq!((table.judged, table.right), (6, 3));
        assert_eq!((table.columns.len(), table.lines.len()), (3, 4));
        let first = &table.lines[0];
        assert_eq!((first.total, first.found.as_str()), (3, "67 %"));
        assert_eq!(
            (first.cells[1].count, first.cells[1].share, first.cells[1].right),
            (1, 33, false)
        );
        assert!(table.remarks.iter().any(|remark| remark.contains("Never predicted: “class 2”")));
    }

    #[test]
    fn the_classes_with_most_mistakes_are_shown() {
        let mut pairs: Vec<(usize, usize)> = (0..60).map(|class| (class, class)).collect();
        pairs.extend([(58, 59), (59, 58), (57, 3)]);
        let table = Confusion::new(&cases(&pairs), &names(60), 60).expect("counted");
        assert_eq!(table.lines.len(), MOST_CLASSES);
        let shown: Vec<&str> = table.columns.iter().map(|heading| heading.name.as_str()).collect();
        for name in ["class 3", "class 57", "class 58", "class 59"] {
            assert!(shown.contains(&name), "{name}");
        }
    }

    #[test]
    fn without_truth_there_is_no_table() {
        let case = Case { place: 0, truth: None, predicted: Some(0), lead: 1.0 };
        assert!(Confusion::new(&[case], &names(2), 2).is_none());
    }
}
