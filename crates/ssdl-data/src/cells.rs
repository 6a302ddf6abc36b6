//! What a cell of a feature is, and features that are all numbers. Where some are words or gaps, the table is read
//! twice more: [`survey`](crate::survey) looks at every column, [`mixed`](crate::mixed) writes words and gaps as numbers.

use std::path::Path;

use ssdl::Matrix;

use crate::error::shortened;
use crate::rows::Frame;
use crate::{Cell, Error, Help, ReadOptions, Result, Table};

/// What stands for a gap, besides nothing; in any case.
const GAPS: [&str; 5] = ["na", "n/a", "nan", "null", "?"];

/// Takes the cells of the features, row by row.
pub(crate) trait Gather {
    /// Whether rows of weight zero do not matter.
    const SKIPS_WEIGHTLESS: bool = false;
    /// Whether a row may be nothing but gaps: then it is no sample.
    const SKIPS_EMPTY: bool = true;

    /// Whether the cells of the first row are names of columns.
    fn looks_like_names(&self, cells: &[&str]) -> bool;

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
    /// The first line with cells, where its looks alone decided whether it is a header.
    pub guessed: Option<usize>,
}

impl Columns {
    pub fn name(&self, at: usize) -> Option<String> {
        self.names.as_ref().map(|names| names[at].clone())
    }

    /// As messages call it.
    pub fn shown(&self, at: usize) -> String {
        match self.name(at) {
            Some(name) if !name.is_empty() => format!("column `{}`", shortened(&name)),
            _ => format!("column {}", self.places[at] + 1),
        }
    }
}

pub(crate) fn number(cell: &str) -> std::result::Result<f64, Refused> {
    match cell.parse::<f64>() {
        Ok(value) if value.is_finite() => Ok(value),
        Ok(_) => Err(Refused::NotFinite),
        Err(_) if is_gap(cell) => Err(Refused::NotFinite),
        Err(_) => Err(Refused::NotANumber),
    }
}

pub(crate) fn is_gap(cell: &str) -> bool {
    cell.is_empty() || GAPS.iter().any(|gap| cell.eq_ignore_ascii_case(gap))
}

/// Whether a number has a comma for the point, or separators of thousands: `1,5`, `1.200,00`, `1 200`.
pub(crate) fn is_written_otherwise(cell: &str) -> bool {
    const BETWEEN_THOUSANDS: [char; 7] = [',', '.', ' ', '\'', '’', '\u{a0}', '\u{202f}'];
    if cell.contains(',') && cell.replacen(',', ".", 1).parse::<f64>().is_ok() {
        return true;
    }
    let digits = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    let cell = cell.strip_prefix(['+', '-']).unwrap_or(cell);
    let (whole, decimals) = cell.rsplit_once([',', '.']).unwrap_or((cell, "0"));
    match whole.split_once(BETWEEN_THOUSANDS) {
        Some((first, rest)) => {
            let mut rest = rest.split(BETWEEN_THOUSANDS);
            first.len() <= 3
                && [first, decimals].into_iter().all(digits)
                && rest.all(|group| group.len() == 3 && digits(group))
        }
        None => false,
    }
}

/// Whether a cell looks like a value, possibly a missing one, rather than a name.
pub(crate) fn number_like(cell: &str) -> bool {
    let cell = cell.trim();
    is_gap(cell) || cell.parse::<f64>().is_ok() || is_written_otherwise(cell)
}

/// The error for a cell; `may_be_name` where its line may be a header after all.
pub(crate) fn refused(
    (path, options): (&Path, &ReadOptions),
    (cell, text): (Cell, &str),
    why: Refused,
    may_be_name: bool,
) -> Error {
    let is_weight = cell.name.is_some() && cell.name == options.weight_column;
    let is_word = why == Refused::NotANumber && !is_written_otherwise(text);
    let is_of_fit = options.n_features.is_none();
    let help = Help {
        words: is_word && !options.words && is_of_fit,
        fill_gaps: is_gap(text) && !options.fill_gaps && !is_weight,
        header: may_be_name && (is_word || is_gap(text)),
    };
    let path = path.into();
    match (text, why) {
        ("", _) => Error::NotFinite { path, cell, text: "empty".into(), help },
        (_, Refused::NotFinite) => Error::NotFinite { path, cell, text: shortened(text), help },
        (_, Refused::NotANumber) => Error::NotANumber { path, cell, text: shortened(text), help },
    }
}

/// Numbers, and nothing else.
#[derive(Default)]
pub(crate) struct Plain(Vec<f64>);

impl Gather for Plain {
    const SKIPS_EMPTY: bool = false;

    fn looks_like_names(&self, cells: &[&str]) -> bool {
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
    let Frame { gather: Plain(values), columns, labels, n_samples, .. } = frame;
    let features = features(path, values, n_samples)?;
    Ok(Table { labels, feature_names: columns.names, ..Table::of(features) })
}

pub(crate) fn features(path: &Path, values: Vec<f64>, n_samples: usize) -> Result<Matrix<f64>> {
    Matrix::from_columns(values.len() / n_samples, n_samples, values)
        .filter(|features| features.rows() > 0)
        .ok_or_else(|| Error::empty(path, "there are no feature columns"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_written_otherwise_are_told_from_words() {
        let numbers =
            ["1,5", ",5", "-1,5e3", "1,200", "1,234,567", "1.200,00", "1 200", "-12'345.6"];
        for number in numbers.into_iter().chain(["1\u{a0}234\u{a0}567,8", "1.234.567"]) {
            assert!(is_written_otherwise(number), "{number}");
        }
        for word in [
            "1",
            "1.5",
            "1.2.3",
            "12.05.2024",
            "2024-05-12",
            "18-25",
            "1,2,3",
            "a,b",
            ",",
            "1 2",
            "",
        ] {
            assert!(!is_written_otherwise(word), "{word}");
        }
    }
}
