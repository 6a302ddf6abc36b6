//! Words and gaps as numbers, by columns that are known: of a survey of the same table, or of a model.

use std::collections::BTreeMap;
use std::path::Path;

use ssdl::model::{Cells, SourceColumn};

use crate::cells::{Columns, Gather, Refused, features, is_gap, number, number_like};
use crate::error::listed;
use crate::rows::{Frame, SAME_COLUMNS};
use crate::{Error, ReadOptions, Result, Table, table};

/// Words and gaps as numbers, by columns that are known.
pub(crate) struct Mixed<'a> {
    known: &'a [SourceColumn],
    values: Vec<f64>,
    /// What each row says, and the column that is no part of it.
    contents: Vec<Vec<u8>>,
    weight: Option<&'a str>,
    gaps: Vec<usize>,
    /// Words that are none of the column's, and how often they occur.
    strange: BTreeMap<usize, BTreeMap<String, usize>>,
}

impl<'a> Mixed<'a> {
    pub fn new(known: &'a [SourceColumn], options: &'a ReadOptions) -> Self {
        let (values, contents, strange) = (Vec::new(), Vec::new(), BTreeMap::new());
        let (gaps, weight) = (vec![0; known.len()], options.weight_column.as_deref());
        Self { known, values, contents, weight, gaps, strange }
    }
}

impl Gather for Mixed<'_> {
    /// A row of names has nothing that its columns know.
    fn looks_like_names(&self, cells: &[&str]) -> bool {
        let is_known = |(column, cell): (&SourceColumn, &&str)| match &column.cells {
            Cells::Numbers { .. } => number_like(cell) && !is_gap(cell),
            Cells::Words { words, base } => words.iter().chain(base).any(|word| word == cell),
        };
        let has_text = cells.iter().any(|cell| !is_gap(cell));
        has_text && !self.known.iter().zip(cells).any(is_known)
    }

    fn take(&mut self, place: usize, _line: usize, cell: &str) -> std::result::Result<(), Refused> {
        // Columns beyond those that are known are refused at the end.
        let Some(column) = self.known.get(place) else { return Ok(()) };
        if place == 0 {
            self.contents.push(Vec::new());
        }
        let is_weight = column.name.is_some() && column.name.as_deref() == self.weight;
        if let Some(content) = self.contents.last_mut().filter(|_| !is_weight) {
            append(content, cell);
        }
        let is_gap = is_gap(cell);
        match &column.cells {
            Cells::Numbers { gap } => {
                self.values.push(gap.filter(|_| is_gap).map_or_else(|| number(cell), Ok)?);
            }
            Cells::Words { words, base } => {
                let is_known = words.iter().chain(base).any(|word| word == cell);
                // Of two words that share a feature, no word is neither.
                let none = if base.is_some() && !is_known { 0.5 } else { 0.0 };
                let value = |word: &String| if word == cell { 1.0 } else { none };
                self.values.extend(words.iter().map(value));
                if !is_known && !is_gap {
                    let strange = self.strange.entry(place).or_default();
                    *strange.entry(cell.to_owned()).or_default() += 1;
                }
            }
        }
        self.gaps[place] += usize::from(is_gap);
        Ok(())
    }
}

/// Adds a cell to what a row says, whatever other rows make of it: numbers as numbers, gaps alike.
fn append(content: &mut Vec<u8>, cell: &str) {
    match number(cell) {
        Ok(value) => content.extend(table::bytes_of(value)),
        Err(_) => {
            content.extend(if is_gap(cell) { "" } else { cell }.bytes());
            content.push(b'\n');
        }
    }
}

/// The table of what was gathered, with the columns it was read by; those that are new are said.
pub(crate) fn mixed(path: &Path, frame: Frame<Mixed<'_>>, are_new: bool) -> Result<Table> {
    let Frame { gather, columns, labels, n_samples, n_empty } = frame;
    let Mixed { known, values, contents, gaps, strange, .. } = gather;
    let (got, expected) = (columns.places.len(), known.len());
    if got != expected {
        let remedy = match got > expected {
            true => {
                "; name the one with labels (--label-column), and those that are no features (--ignore-column)"
            }
            false => SAME_COLUMNS,
        };
        let reason = format!("{got} columns of features, but the model knows {expected}");
        return Err(Error::unsupported(path, reason + remedy));
    }
    // Names that the model knows would have made it certain.
    if columns.guessed.is_some() && columns.names.is_some() {
        let reason = "the first line has nothing that the model knows: say --header yes if it has the names of \
                      the columns, --header no if it is a sample";
        return Err(Error::unsupported(path, reason));
    }
    let notes = [
        (n_empty > 0).then(|| format!("rows without any value at the end are left out: {n_empty}")),
        words_said(&columns, known).filter(|_| are_new),
        gaps_said(&columns, known, &gaps),
        labels_said(labels.as_deref().unwrap_or_default()).filter(|_| are_new),
        // In a fit only samples of weight zero have such words.
        strange_said(&columns, &strange).filter(|_| !are_new),
    ];
    let names = known.iter().map(SourceColumn::feature_names).collect::<Option<Vec<_>>>();
    Ok(Table {
        labels,
        feature_names: names.map(|names| names.concat()),
        columns: Some(known.to_vec()),
        contents: Some(contents),
        notes: notes.into_iter().flatten().collect(),
        ..Table::of(features(path, values, n_samples)?)
    })
}

fn words_said(columns: &Columns, known: &[SourceColumn]) -> Option<String> {
    let some = known.iter().enumerate().filter_map(|(at, column)| match &column.cells {
        Cells::Words { words, .. } => Some(format!("{} ({})", columns.shown(at), words.len())),
        Cells::Numbers { .. } => None,
    });
    said(some.collect()).map(|some| format!("words become features of 0 and 1: {some}"))
}

fn gaps_said(columns: &Columns, known: &[SourceColumn], gaps: &[usize]) -> Option<String> {
    let some = known.iter().enumerate().filter(|(at, _)| gaps[*at] > 0);
    let some = some.map(|(at, column)| match &column.cells {
        Cells::Numbers { gap } => {
            let median = gap.unwrap_or_default();
            format!("{} ({} as the median {median})", columns.shown(at), gaps[at])
        }
        Cells::Words { .. } => format!("{} ({} as no word)", columns.shown(at), gaps[at]),
    });
    said(some.collect()).map(|some| format!("gaps are filled: {some}"))
}

/// What is a gap among the features, but a class among the labels.
fn labels_said(labels: &[Option<String>]) -> Option<String> {
    let gap = labels.iter().flatten().find(|label| is_gap(label))?;
    Some(format!("the label `{gap}` is a class; if it means unlabelled, say --unlabelled '{gap}'"))
}

fn strange_said(
    columns: &Columns,
    strange: &BTreeMap<usize, BTreeMap<String, usize>>,
) -> Option<String> {
    let some = strange.iter().map(|(&at, words)| {
        let names: Vec<&String> = words.keys().collect();
        format!("{} ({})", columns.shown(at), listed(&names))
    });
    said(some.collect())
        .map(|some| format!("words that the model does not know count as no word: {some}"))
}

/// The first of some, for a note.
fn said(some: Vec<String>) -> Option<String> {
    const SHOWN: usize = 6;
    let rest = some.len().saturating_sub(SHOWN);
    let tail = if rest > 0 { format!(" and {rest} more") } else { String::new() };
    let shown = some.into_iter().take(SHOWN).collect::<Vec<_>>().join(", ");
    (!shown.is_empty()).then(|| shown + &tail)
}
