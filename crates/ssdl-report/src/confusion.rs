//! Who was taken for whom: a table of counts, each of which can be opened.

use crate::names::short;

/// Most classes of a table; of more, those with most mistakes are shown.
const MOST_CLASSES: usize = 30;
/// Most classes that are named in a remark.
const MOST_NAMED: usize = 8;

/// A sample that was judged.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Case {
    /// Which of the judged samples.
    pub place: usize,
    /// Its true class, where known; one past the classes of the model is a name it never saw.
    pub truth: Option<usize>,
    /// The class it was put in, to be compared with the truth; `None` if nobody asked.
    pub said: Option<usize>,
    /// How far the first class is ahead of the second, from 0 to 1.
    pub lead: f64,
}

impl Case {
    /// True class and the class it was put in.
    pub fn pair(&self) -> Option<(usize, usize)> {
        self.truth.zip(self.said)
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
    /// What a reader should know beside the counts.
    pub remarks: Vec<String>,
}

impl Confusion {
    /// Counts the cases whose truth is known; `None` if there are none. `names` are the classes of
    /// the model (so many) and after them names it never saw.
    pub fn new(cases: &[Case], names: &[String], n_classes: usize) -> Option<Self> {
        let pairs: Vec<(usize, usize)> = cases.iter().filter_map(Case::pair).collect();
        if pairs.is_empty() {
            return None;
        }
        let mut counts = vec![vec![0usize; n_classes]; names.len()];
        pairs.iter().for_each(|&(truth, said)| counts[truth][said] += 1);
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
        remarks.extend(never_said(&counts, names, n_classes));
        Some(Self {
            columns: columns.iter().map(|&class| heading(class)).collect(),
            lines,
            judged: pairs.len(),
            right: pairs.iter().filter(|(truth, said)| truth == said).count(),
            remarks,
        })
    }

    /// Share that was right.
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
            .filter(|(said, _)| *said != class)
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
        "The {MOST_CLASSES} of {n_names} classes with most mistakes are shown; mistakes between the \
         others and them are counted in the totals."
    );
    (order, vec![remark])
}

/// A class that has samples but is never the answer.
fn never_said(counts: &[Vec<usize>], names: &[String], n_classes: usize) -> Option<String> {
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
    Some(format!("Never predicted: {named}{more}. More labels of such a class help most."))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cases(pairs: &[(usize, usize)]) -> Vec<Case> {
        let case = |(place, &(truth, said)): (usize, &(usize, usize))| Case {
            place,
            truth: Some(truth),
            said: Some(said),
            lead: 0.5,
        };
        pairs.iter().enumerate().map(case).collect()
    }

    fn names(count: usize) -> Vec<String> {
        (0..count).map(|class| format!("class {class}")).collect()
    }

    #[test]
    fn counts_shares_and_the_class_that_is_never_said() {
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
    fn of_many_classes_those_with_most_mistakes_are_shown() {
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
        let case = Case { place: 0, truth: None, said: Some(0), lead: 1.0 };
        assert!(Confusion::new(&[case], &names(2), 2).is_none());
    }
}
