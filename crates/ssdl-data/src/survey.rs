//! What the columns of a table hold: numbers, words or gaps, by all of their cells.

use std::collections::HashMap;
use std::path::Path;

use ssdl::model::{Cells, SourceColumn};

use crate::cells::{
    Columns, Gather, Refused, is_gap, is_written_otherwise, number, number_like, refused,
};
use crate::rows::Frame;
use crate::{Cell, Error, ReadOptions, Result, Row};

/// Different words of a column, at most: more of them name samples instead of describing them.
const MOST_WORDS: usize = 50;

/// What the columns hold.
pub(crate) struct Survey {
    /// Whether columns may hold words.
    words: bool,
    columns: Vec<Seen>,
}

/// What a column holds.
#[derive(Default)]
struct Seen {
    numbers: Vec<f64>,
    /// Cells that are numbers written otherwise.
    n_otherwise: usize,
    n_words: usize,
    /// The first cell that is no number, and its line.
    first: Option<(usize, String)>,
    /// The first gap.
    first_gap: Option<(usize, String)>,
    /// How often each text occurs, numbers included, up to one more than are allowed.
    texts: HashMap<String, usize>,
}

impl Survey {
    pub fn new(words: bool) -> Self {
        Self { words, columns: Vec::new() }
    }
}

impl Gather for Survey {
    const SKIPS_WEIGHTLESS: bool = true;

    /// Names are no numbers and no gaps: where words are allowed, a first row with one of them is a sample.
    fn looks_like_names(&self, cells: &[&str]) -> bool {
        let mut are_names = cells.iter().map(|cell| !number_like(cell));
        if self.words { are_names.all(|is_name| is_name) } else { are_names.any(|is_name| is_name) }
    }

    fn take(&mut self, place: usize, line: usize, cell: &str) -> std::result::Result<(), Refused> {
        if self.columns.len() <= place {
            self.columns.resize_with(place + 1, Seen::default);
        }
        let column = &mut self.columns[place];
        if is_gap(cell) {
            column.first_gap.get_or_insert_with(|| (line, cell.to_owned()));
            return Ok(());
        }
        match number(cell) {
            Ok(value) => column.numbers.push(value),
            Err(Refused::NotFinite) => return Err(Refused::NotFinite),
            Err(Refused::NotANumber) => {
                let is_otherwise = is_written_otherwise(cell);
                column.n_otherwise += usize::from(is_otherwise);
                column.n_words += usize::from(!is_otherwise);
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

/// What the columns are, by all of their cells, and what they leave open about the first line.
pub(crate) fn surveyed(
    path: &Path,
    frame: Frame<Survey>,
    options: &ReadOptions,
) -> Result<(Vec<SourceColumn>, Option<String>)> {
    let columns = &frame.columns;
    if frame.gather.columns.is_empty() && !columns.places.is_empty() {
        return Err(Error::unsupported(path, "all weights are 0: no sample is left"));
    }
    let decided = frame.gather.columns.into_iter().enumerate().map(|(at, seen)| {
        let name = columns.name(at);
        let is_weight = name.is_some() && name == options.weight_column;
        let refuse = |(line, text): (usize, String), why: Refused| {
            let cell =
                Cell { row: Row::Line(line), column: columns.places[at] + 1, name: name.clone() };
            let may_be_name = columns.names.is_none() && columns.guessed == Some(line);
            Err(refused((path, options), (cell, &text), why, may_be_name))
        };
        let cells = match (seen.first, seen.first_gap) {
            // A word among numbers is a slip, not a word; so is a number written otherwise.
            (Some(first), _)
                if !options.words || seen.numbers.len() + seen.n_otherwise >= seen.n_words =>
            {
                return refuse(first, Refused::NotANumber);
            }
            (Some(_), gap) => words(path, columns, at, seen.texts, gap.is_some())?,
            (None, _) if seen.numbers.is_empty() => {
                let reason = "is empty: ignore it (--ignore-column)";
                return Err(refuse_column(path, columns.shown(at), reason));
            }
            (None, Some(gap)) if !options.fill_gaps || is_weight => {
                return refuse(gap, Refused::NotFinite);
            }
            (None, _) if !options.fill_gaps => Cells::Numbers { gap: None },
            (None, _) => Cells::Numbers { gap: Some(median(seen.numbers)) },
        };
        Ok(SourceColumn { name, cells })
    });
    let known: Vec<SourceColumn> = decided.collect::<Result<_>>()?;
    let said = header_said(columns, &known);
    Ok((known, said))
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_unstable_by(f64::total_cmp);
    let (low, high) = (values[(values.len() - 1) / 2], values[values.len() / 2]);
    // Halves first: their sum has an end.
    if low == high { low } else { low / 2.0 + high / 2.0 }
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
        return Err(refuse_column(path, shown, &reason));
    }
    // In the order of the alphabet, whatever the order of the rows.
    let mut words: Vec<String> = texts.into_keys().collect();
    words.sort_unstable();
    let base = (n_words == 2 && !has_gaps).then(|| words.remove(0));
    Ok(Cells::Words { words, base })
}

fn refuse_column(path: &Path, column: String, reason: &str) -> Error {
    Error::unsupported(path, format!("{column} {reason}"))
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
            "the first line has a number or a gap, so it is read as a sample; if it has the names of the \
             columns, say --header yes",
            has_words.any(|has_words| has_words),
        ),
    };
    (columns.guessed.is_some() && is_open).then(|| told.to_owned())
}
