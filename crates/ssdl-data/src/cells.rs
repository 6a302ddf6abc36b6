//! Cells of features become numbers: at once where all are numbers, else in two more passes. The first of
//! them looks at every column, the second one writes words and gaps as numbers.

use std::collections::{BTreeMap, HashMap};
use std::path::Path;

use ssdl::Matrix;
use ssdl::model::{Cells, SourceColumn};

use crate::delimited::number_like;
use crate::error::{listed, shortened};
use crate::rows::{Frame, SAME_COLUMNS};
use crate::{Cell, Error, ReadOptions, Result, Row, Table};

/// Different words of a column, at most: more of them name samples instead of describing them.
const MOST_WORDS: usize = 50;
/// What stands for a gap, besides nothing; in any case.
const GAPS: [&str; 5] = ["na", "n/a", "nan", "null", "?"];

/// Takes the cells of the features, row by row.
pub(crate) trait Gather {
    /// Whether rows of weight zero do not matter.
    const SKIPS_WEIGHTLESS: bool = false;

    /// Whether the cells of the first row are names of columns.
    fn looks_like_names(cells: &[&str]) -> bool;

    /// The cell of a feature column, in this line.
    fn take(&mut self, place: usize, line: usize, cell: &str) -> std::result::Result<(), Refused>;
}

/// Why a cell cannot be taken.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Refused {
    NotANumber,
    NotFinite,
}

/// The columns of the features: their names, if there is a header, and their places in a row.
pub(crate) struct Columns {
    pub names: Option<Vec<String>>,
    pub places: Vec<usize>,
    /// Whether the looks of the first row alone decided if it is a header.
    pub is_guess: bool,
}

impl Columns {
    fn name(&self, at: usize) -> Option<String> {
        self.names.as_ref().map(|names| names[at].clone())
    }

    /// As messages call it.
    fn shown(&self, at: usize) -> String {
        match self.name(at) {
            Some(name) => format!("column `{}`", shortened(&name)),
            None => format!("column {}", self.places[at] + 1),
        }
    }
}

fn number(cell: &str) -> std::result::Result<f64, Refused> {
    match cell.parse::<f64>() {
        Ok(value) if value.is_finite() => Ok(value),
        Ok(_) => Err(Refused::NotFinite),
        Err(_) if is_gap(cell) => Err(Refused::NotFinite),
        Err(_) => Err(Refused::NotANumber),
    }
}

fn is_gap(cell: &str) -> bool {
    cell.is_empty() || GAPS.iter().any(|gap| cell.eq_ignore_ascii_case(gap))
}

/// Numbers, and nothing else.
#[derive(Default)]
pub(crate) struct Plain(Vec<f64>);

impl Gather for Plain {
    fn looks_like_names(cells: &[&str]) -> bool {
        cells.iter().any(|cell| !number_like(cell))
    }

    fn take(
        &mut self,
        _place: usize,
        _line: usize,
        cell: &str,
    ) -> std::result::Result<(), Refused> {
        self.0.push(number(cell)?);
        Ok(())
    }
}

/// The table of what was gathered; columns are as they are in the file.
pub(crate) fn plain(path: &Path, frame: Frame<Plain>) -> Result<Table> {
    let Frame { gather: Plain(values), columns, labels, n_samples } = frame;
    let features = features(path, values, n_samples)?;
    Ok(Table { labels, feature_names: columns.names, ..Table::of(features) })
}

fn features(path: &Path, values: Vec<f64>, n_samples: usize) -> Result<Matrix<f64>> {
    Matrix::from_columns(values.len() / n_samples, n_samples, values)
        .filter(|features| features.rows() > 0)
        .ok_or_else(|| Error::empty(path, "there are no feature columns"))
}

/// Names are no numbers: where words are allowed, a first row with a number is a sample.
fn are_names_among_words(cells: &[&str]) -> bool {
    cells.iter().all(|cell| number(cell).is_err()) && cells.iter().any(|cell| !is_gap(cell))
}

/// What the columns hold.
#[derive(Default)]
pub(crate) struct Survey(Vec<Seen>);

/// What a column holds.
#[derive(Default)]
struct Seen {
    numbers: Vec<f64>,
    n_words: usize,
    /// Cells that are numbers with a comma for the point.
    n_decimals: usize,
    /// The first cell that is no number, and its line.
    first: Option<(usize, String)>,
    /// The first gap.
    first_gap: Option<(usize, String)>,
    /// How often each text occurs, numbers included, up to one more than are allowed.
    texts: HashMap<String, usize>,
}

impl Gather for Survey {
    const SKIPS_WEIGHTLESS: bool = true;

    fn looks_like_names(cells: &[&str]) -> bool {
        are_names_among_words(cells)
    }

    fn take(&mut self, place: usize, line: usize, cell: &str) -> std::result::Result<(), Refused> {
        if self.0.len() <= place {
            self.0.resize_with(place + 1, Seen::default);
        }
        let column = &mut self.0[place];
        if is_gap(cell) {
            column.first_gap.get_or_insert_with(|| (line, cell.to_owned()));
            return Ok(());
        }
        match number(cell) {
            Ok(value) => column.numbers.push(value),
            Err(Refused::NotFinite) => return Err(Refused::NotFinite),
            Err(Refused::NotANumber) => {
                column.n_words += 1;
                column.n_decimals += usize::from(number(&cell.replacen(',', ".", 1)).is_ok());
                column.first.get_or_insert_with(|| (line, cell.to_owned()));
            }
        }
        if let Some(count) = column.texts.get_mut(cell) {
            *count += 1;
        } else if column.texts.len() <= MOST_WORDS {
            column.texts.insert(cell.to_owned(), 1);
        }
        Ok(())
    }
}

/// What the columns are, by all of their cells.
pub(crate) fn surveyed(
    path: &Path,
    frame: Frame<Survey>,
    options: &ReadOptions,
) -> Result<Vec<SourceColumn>> {
    let columns = &frame.columns;
    let decided = frame.gather.0.into_iter().enumerate().map(|(at, seen)| {
        let name = columns.name(at);
        let refuse = |(line, text): (usize, String), why: Refused| {
            let place = (Row::Line(line), columns.places[at] + 1, name.clone());
            Err(refused(path, place, &text, why))
        };
        let cells = match (seen.first, seen.first_gap) {
            // A word among numbers is a slip, not a word; so is a number with a comma.
            (Some(first), _)
                if !options.words
                    || seen.numbers.len() >= seen.n_words
                    || 2 * seen.n_decimals >= seen.n_words =>
            {
                return refuse(first, Refused::NotANumber);
            }
            (Some(_), gap) => words(path, columns, at, seen.texts, gap.is_some())?,
            (None, Some(gap)) if !options.fill_gaps || is_weight(name.as_deref(), options) => {
                return refuse(gap, Refused::NotFinite);
            }
            (None, _) if !options.fill_gaps => Cells::Numbers { gap: None },
            (None, _) => numbers(path, columns, (at, seen.numbers))?,
        };
        Ok(SourceColumn { name, cells })
    });
    decided.collect()
}

fn is_weight(name: Option<&str>, options: &ReadOptions) -> bool {
    name.is_some() && name == options.weight_column.as_deref()
}

/// The error for a cell of a row, column (counted from 1) and name.
pub(crate) fn refused(
    path: &Path,
    (row, column, name): (Row, usize, Option<String>),
    text: &str,
    why: Refused,
) -> Error {
    let (path, cell) = (path.into(), Cell { row, column, name });
    match (text, why) {
        ("", _) => Error::NotFinite { path, cell, text: "empty".into() },
        (_, Refused::NotFinite) => Error::NotFinite { path, cell, text: shortened(text) },
        (_, Refused::NotANumber) => Error::NotANumber { path, cell, text: shortened(text) },
    }
}

fn numbers(path: &Path, columns: &Columns, (at, mut values): (usize, Vec<f64>)) -> Result<Cells> {
    if values.is_empty() {
        return Err(refuse(path, columns.shown(at), "is empty: ignore it (--ignore-column)"));
    }
    values.sort_unstable_by(f64::total_cmp);
    let (low, high) = (values[(values.len() - 1) / 2], values[values.len() / 2]);
    // Halves first: their sum has an end.
    Ok(Cells::Numbers { gap: Some(if low == high { low } else { low / 2.0 + high / 2.0 }) })
}

fn words(
    path: &Path,
    columns: &Columns,
    at: usize,
    texts: HashMap<String, usize>,
    has_gaps: bool,
) -> Result<Cells> {
    let (n_words, shown) = (texts.len(), columns.shown(at));
    if n_words > MOST_WORDS || n_words > 2 && texts.values().all(|&count| count == 1) {
        let what = match n_words > MOST_WORDS {
            true => format!("has more than {MOST_WORDS} different words"),
            false => format!("has {n_words} words, each of them once"),
        };
        let reason = format!(
            "{what}, so it names samples instead of describing them: ignore it (--ignore-column), or write it \
             as numbers"
        );
        return Err(refuse(path, shown, &reason));
    }
    // In the order of the alphabet, whatever the order of the rows.
    let mut words: Vec<String> = texts.into_keys().collect();
    words.sort_unstable();
    let base = (n_words == 2 && !has_gaps).then(|| words.remove(0));
    Ok(Cells::Words { words, base })
}

fn refuse(path: &Path, column: String, reason: &str) -> Error {
    Error::unsupported(path, format!("{column} {reason}"))
}

/// Words and gaps as numbers, by columns that are known.
pub(crate) struct Mixed<'a> {
    known: &'a [SourceColumn],
    values: Vec<f64>,
    gaps: Vec<usize>,
    /// Words that are none of the column's, and how often they occur.
    strange: BTreeMap<usize, BTreeMap<String, usize>>,
}

impl<'a> Mixed<'a> {
    pub fn new(known: &'a [SourceColumn]) -> Self {
        Self { known, values: Vec::new(), gaps: vec![0; known.len()], strange: BTreeMap::new() }
    }
}

impl Gather for Mixed<'_> {
    fn looks_like_names(cells: &[&str]) -> bool {
        are_names_among_words(cells)
    }

    fn take(&mut self, place: usize, _line: usize, cell: &str) -> std::result::Result<(), Refused> {
        // Columns beyond those that are known are refused at the end.
        let Some(column) = self.known.get(place) else { return Ok(()) };
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

/// The table of what was gathered, with the columns it was read by; those that are new are said.
pub(crate) fn mixed(path: &Path, frame: Frame<Mixed<'_>>, are_new: bool) -> Result<Table> {
    let Frame { gather: Mixed { known, values, gaps, strange }, columns, labels, n_samples } =
        frame;
    let (got, expected) = (columns.places.len(), known.len());
    if got != expected {
        let reason = format!("{got} columns of features, but the model knows {expected}");
        return Err(Error::unsupported(path, reason + SAME_COLUMNS));
    }
    let notes = [
        header_said(&columns, known).filter(|_| are_new),
        words_said(&columns, known).filter(|_| are_new),
        gaps_said(&columns, known, &gaps),
        // In a fit only samples of weight zero have such words.
        strange_said(&columns, &strange).filter(|_| !are_new),
    ];
    let names = known.iter().map(SourceColumn::feature_names).collect::<Option<Vec<_>>>();
    Ok(Table {
        labels,
        feature_names: names.map(|names| names.concat()),
        columns: Some(known.to_vec()),
        notes: notes.into_iter().flatten().collect(),
        ..Table::of(features(path, values, n_samples)?)
    })
}

/// Where words leave it open whether the first line is a header.
fn header_said(columns: &Columns, known: &[SourceColumn]) -> Option<String> {
    let mut has_words = known.iter().map(|column| matches!(column.cells, Cells::Words { .. }));
    let (told, is_open) = match columns.names {
        Some(_) => (
            "the first line has no number, so it is read as the names of the columns; if it is a sample, \
             say --header no",
            has_words.all(|has_words| has_words),
        ),
        None => (
            "the first line has numbers, so it is read as a sample; if it has the names of the columns, \
             say --header yes",
            has_words.any(|has_words| has_words),
        ),
    };
    (columns.is_guess && is_open).then(|| told.to_owned())
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
