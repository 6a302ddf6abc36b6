//! Text tables: CSV, TSV and values separated by white space.

use std::path::Path;

use csv::{ReaderBuilder, StringRecord, Terminator};
use ssdl::Matrix;

use crate::error::{listed, shortened};
use crate::labels::interpret;
use crate::read::label_position;
use crate::{Cell, Column, Error, Format, ReadOptions, Result, Row, Table};

/// Names that mark the first line of a file of labels as a header.
const LABEL_HEADERS: [&str; 8] =
    ["label", "labels", "class", "classes", "target", "category", "y", "gnd"];

/// Reads samples.
pub(crate) fn table(
    path: &Path,
    bytes: &[u8],
    format: Format,
    options: &ReadOptions,
) -> Result<Table> {
    let mut rows = Rows::new(path, options);
    for_each_line(path, bytes, format, |line, cells| {
        // A blank line separates nothing; with separators it is a row of empty cells.
        let is_blank = cells.iter().all(|cell| cell.trim().is_empty());
        if is_blank && cells.len() <= 1 { Ok(()) } else { rows.take(line, cells) }
    })?;
    rows.finish()
}

/// Reads labels: the only column, or the one named in the options.
pub(crate) fn labels(
    path: &Path,
    bytes: &[u8],
    format: Format,
    options: &ReadOptions,
) -> Result<Vec<Option<String>>> {
    let mut rows: Vec<(usize, Vec<String>)> = Vec::new();
    for_each_line(path, bytes, format, |line, cells| {
        rows.push((line, cells.iter().map(|cell| cell.trim().to_owned()).collect()));
        Ok(())
    })?;
    let Some((_, first)) = rows.iter().find(|(_, cells)| !cells.is_empty()) else {
        return Err(Error::empty(path, "there are no labels"));
    };
    let width = rows.iter().map(|(_, cells)| cells.len()).max().unwrap_or(0);
    let named = match &options.label_column {
        Some(Column::Name(name)) => first.iter().position(|cell| cell == name),
        _ => None,
    };
    let position = match named {
        Some(position) => position,
        None if width == 1 => 0,
        None => label_position(path, width, 0, options)?.ok_or_else(|| several(path, first))?,
    };
    let mut column: Vec<Option<String>> = Vec::with_capacity(rows.len());
    for (line, mut cells) in rows {
        match cells.len() {
            // A blank line in a file of one column is an unlabelled sample.
            0 if width == 1 => column.push(None),
            0 => {}
            found if found == width => column.push(Some(cells.swap_remove(position))),
            found => {
                let path = path.into();
                return Err(Error::Ragged { path, line, expected: width, found });
            }
        }
    }
    if options.header.unwrap_or_else(|| named.is_some() || starts_with_header(&column)) {
        column.remove(0);
    }
    if column.is_empty() {
        return Err(Error::empty(path, "there is a header but no labels"));
    }
    Ok(interpret(column, options.unlabelled.as_deref()))
}

fn several(path: &Path, first: &[String]) -> Error {
    Error::LabelColumn {
        path: path.into(),
        wanted: "(none was named, but there are several columns)".into(),
        available: listed(first),
    }
}

fn starts_with_header(column: &[Option<String>]) -> bool {
    let mut cells = column.iter().map(|cell| cell.as_deref().unwrap_or_default());
    let Some(first) = cells.next() else { return false };
    let known = LABEL_HEADERS.iter().any(|name| first.eq_ignore_ascii_case(name));
    let mut filled = cells.filter(|cell| !cell.is_empty()).peekable();
    known || (!number_like(first) && filled.peek().is_some() && filled.all(number_like))
}

/// Calls `take` for each line with its number and its cells; a blank line has none.
fn for_each_line(
    path: &Path,
    bytes: &[u8],
    format: Format,
    mut take: impl FnMut(usize, &[&str]) -> Result<()>,
) -> Result<()> {
    let text = str::from_utf8(bytes).map_err(|error| Error::NotText {
        path: path.into(),
        line: newlines(&bytes[..error.valid_up_to()]) + 1,
    })?;
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    if format != Format::Text {
        return for_each_record(path, text, delimiter(text, format), take);
    }
    for (at, line) in text.lines().enumerate() {
        if !line.trim_start().starts_with('#') {
            let cells: Vec<&str> = line.split_whitespace().collect();
            take(at + 1, &cells)?;
        }
    }
    Ok(())
}

fn for_each_record(
    path: &Path,
    text: &str,
    delimiter: u8,
    mut take: impl FnMut(usize, &[&str]) -> Result<()>,
) -> Result<()> {
    if let Some(line) = open_quote(text, delimiter) {
        let path = path.into();
        return Err(Error::OpenQuote { path, line });
    }
    // The plain terminator keeps the reader's line count exact; carriage returns are removed when
    // cells are trimmed.
    let mut reader = ReaderBuilder::new()
        .has_headers(false)
        .flexible(true)
        .delimiter(delimiter)
        .terminator(Terminator::Any(b'\n'))
        .from_reader(text.as_bytes());
    let mut record = StringRecord::new();
    let mut next = 1;
    let broken = |error: csv::Error| Error::corrupt(path, "CSV", error.to_string());
    while reader.read_record(&mut record).map_err(broken)? {
        // The reader skips blank lines silently; where this record began follows from where it
        // ended.
        let ended = reader.position().byte() < text.len() as u64 || text.ends_with('\n');
        let inside = newlines(record.as_slice().as_bytes()) + usize::from(ended);
        let line = (reader.position().line() as usize).saturating_sub(inside).max(next);
        (next..line).try_for_each(|blank| take(blank, &[]))?;
        next = line + newlines(record.as_slice().as_bytes()) + 1;
        let cells: Vec<&str> = record.iter().collect();
        let is_blank = matches!(cells[..], ["\r"]);
        take(line, if is_blank { &[] } else { &cells })?;
    }
    let last = text.lines().count();
    (next..=last).try_for_each(|blank| take(blank, &[]))
}

/// The line of a quotation mark that begins a cell and has no counterpart: the reader would take all lines after it for
/// one cell.
fn open_quote(text: &str, delimiter: u8) -> Option<usize> {
    /// Where in a cell a byte is.
    #[derive(PartialEq)]
    enum At {
        Start,
        Plain,
        Quoted,
        /// After a mark inside a quoted cell: its end, or the first of two that stand for one.
        Mark,
    }
    if !text.contains('"') {
        return None;
    }
    let (mut at, mut line, mut opened) = (At::Start, 1, 1);
    for &byte in text.as_bytes() {
        at = match (at, byte) {
            (At::Start, b'"') => {
                opened = line;
                At::Quoted
            }
            (At::Quoted, b'"') => At::Mark,
            (At::Quoted, _) | (At::Mark, b'"') => At::Quoted,
            (_, byte) if byte == delimiter || byte == b'\n' => At::Start,
            _ => At::Plain,
        };
        line += usize::from(byte == b'\n');
    }
    (at == At::Quoted).then_some(opened)
}

fn delimiter(text: &str, format: Format) -> u8 {
    if format == Format::Tsv {
        return b'\t';
    }
    let first = text.lines().find(|line| !line.trim().is_empty()).unwrap_or_default();
    // Every other piece between quotation marks is inside a quoted cell.
    let has = |mark: char| first.split('"').step_by(2).any(|outside| outside.contains(mark));
    if has(';') && !has(',') { b';' } else { b',' }
}

fn newlines(bytes: &[u8]) -> usize {
    bytes.iter().filter(|&&b| b == b'\n').count()
}

/// Whether a cell looks like a value, possibly a missing one, rather than a name.
fn number_like(cell: &str) -> bool {
    let cell = cell.trim();
    cell.is_empty() || cell == "NA" || cell.parse::<f64>().is_ok()
}

/// A table that grows row by row.
struct Rows<'a> {
    path: &'a Path,
    options: &'a ReadOptions,
    /// Known after the first row.
    width: Option<usize>,
    names: Option<Vec<String>>,
    label: Option<usize>,
    /// Places of columns that are no features, rising.
    ignored: Vec<usize>,
    values: Vec<f64>,
    labels: Vec<Option<String>>,
    n_samples: usize,
}

impl<'a> Rows<'a> {
    fn new(path: &'a Path, options: &'a ReadOptions) -> Self {
        Self {
            path,
            options,
            width: None,
            names: None,
            label: None,
            ignored: Vec::new(),
            values: Vec::new(),
            labels: Vec::new(),
            n_samples: 0,
        }
    }

    fn take(&mut self, line: usize, cells: &[&str]) -> Result<()> {
        match self.width {
            None => {
                self.width = Some(cells.len());
                let is_header = self.start(cells)?;
                if is_header { Ok(()) } else { self.push(line, cells) }
            }
            Some(expected) if expected != cells.len() => {
                let (path, found) = (self.path.into(), cells.len());
                Err(Error::Ragged { path, line, expected, found })
            }
            Some(_) => self.push(line, cells),
        }
    }

    /// Finds out from the first row whether it is a header, where the labels are and what is ignored.
    fn start(&mut self, cells: &[&str]) -> Result<bool> {
        let width = cells.len();
        let cells: Vec<String> = cells.iter().map(|cell| cell.trim().to_owned()).collect();
        self.ignored = self.to_ignore(&cells)?;
        let named = match &self.options.label_column {
            Some(Column::Name(name)) => cells.iter().position(|cell| cell == name),
            _ => None,
        };
        let indexed = match &self.options.label_column {
            Some(Column::Index(_)) => self.indexed(&cells)?,
            _ => None,
        };
        let is_feature = |at: usize| Some(at) != indexed && !self.ignored.contains(&at);
        let mut features = cells.iter().enumerate().filter(|(at, _)| is_feature(*at));
        let has_header = self.options.header.unwrap_or_else(|| {
            let known = self.options.feature_names.as_ref();
            named.is_some()
                || self.names_ignored(&cells)
                || known.is_some_and(|names| features.clone().map(|(_, cell)| cell).eq(names))
                || features.any(|(_, cell)| !number_like(cell))
        });
        self.label = if has_header { named.or(indexed) } else { indexed };
        if self.label.is_none() && !self.options.label_optional {
            match &self.options.label_column {
                Some(wanted) if has_header => {
                    return Err(Error::LabelColumn {
                        path: self.path.into(),
                        wanted: wanted.to_string(),
                        available: listed(&cells),
                    });
                }
                _ => {
                    let n_ignored = self.ignored.len();
                    self.label = label_position(self.path, width, n_ignored, self.options)?;
                }
            }
        }
        if let Some(label) = self.label.filter(|label| self.ignored.contains(label)) {
            return Err(self.cannot_ignore(&Column::Index(label as isize), "it has the labels"));
        }
        if has_header {
            self.names = Some(cells);
        }
        Ok(has_header)
    }

    /// Whether a column to ignore is named by the first row.
    fn names_ignored(&self, cells: &[String]) -> bool {
        let named = |column: &Column| matches!(column, Column::Name(name) if cells.contains(name));
        self.options.ignored_columns.iter().any(named)
    }

    /// Places of the columns to ignore, rising. Samples to predict may come without them.
    fn to_ignore(&self, cells: &[String]) -> Result<Vec<usize>> {
        let ReadOptions { n_features, label_optional: may_lack, .. } = *self.options;
        let mut places = Vec::new();
        for column in &self.options.ignored_columns {
            let place = match column {
                Column::Name(name) => cells.iter().position(|cell| cell == name),
                Column::Index(_) if may_lack && n_features == Some(cells.len()) => None,
                Column::Index(index) => Column::position(*index, cells.len()),
            };
            match place {
                Some(place) => places.push(place),
                None if may_lack => {}
                None => {
                    let reason = format!("the columns are {}", listed(cells));
                    return Err(self.cannot_ignore(column, &reason));
                }
            }
        }
        places.sort_unstable();
        places.dedup();
        Ok(places)
    }

    fn cannot_ignore(&self, column: &Column, reason: &str) -> Error {
        let (path, wanted) = (self.path.into(), column.to_string());
        Error::IgnoredColumn { path, wanted, reason: reason.to_owned() }
    }

    /// Position of a label column given by its index; the error names the columns, if they have names.
    fn indexed(&self, cells: &[String]) -> Result<Option<usize>> {
        let has_names =
            self.options.header.unwrap_or_else(|| cells.iter().any(|cell| !number_like(cell)));
        let (width, n_ignored) = (cells.len(), self.ignored.len());
        label_position(self.path, width, n_ignored, self.options).map_err(|error| match error {
            Error::LabelColumn { path, wanted, .. } if has_names => {
                let last = cells.len() - 1;
                let available = format!("0 to {last}: {}", listed(cells));
                Error::LabelColumn { path, wanted, available }
            }
            other => other,
        })
    }

    fn push(&mut self, line: usize, cells: &[&str]) -> Result<()> {
        for (at, cell) in cells.iter().enumerate() {
            let cell = cell.trim();
            if Some(at) == self.label {
                self.labels.push(Some(cell.to_owned()));
            } else if !self.ignored.contains(&at) {
                match cell.parse::<f64>() {
                    Ok(value) if value.is_finite() => self.values.push(value),
                    parsed => return Err(self.refuse(line, at, cell, parsed.is_ok())),
                }
            }
        }
        self.n_samples += 1;
        Ok(())
    }

    fn refuse(&self, line: usize, at: usize, text: &str, is_number: bool) -> Error {
        let name = self.names.as_ref().map(|names| names[at].clone());
        let cell = Cell { row: Row::Line(line), column: at + 1, name };
        let path = self.path.into();
        match text {
            "" => Error::NotFinite { path, cell, text: "empty".into() },
            "NA" => Error::NotFinite { path, cell, text: "NA".into() },
            _ if is_number => Error::NotFinite { path, cell, text: shortened(text) },
            _ => Error::NotANumber { path, cell, text: shortened(text) },
        }
    }

    fn finish(mut self) -> Result<Table> {
        if self.n_samples == 0 {
            let what = if self.names.is_some() {
                "there is a header but no row of numbers"
            } else {
                "there are no rows"
            };
            return Err(Error::empty(self.path, what));
        }
        if let Some(names) = &mut self.names {
            let mut at = 0..names.len();
            let left_out = |at: usize| Some(at) == self.label || self.ignored.contains(&at);
            names.retain(|_| at.next().is_some_and(|at| !left_out(at)));
        }
        let n_features = self.values.len() / self.n_samples;
        let features = Matrix::from_columns(n_features, self.n_samples, self.values)
            .filter(|features| features.rows() > 0)
            .ok_or_else(|| Error::empty(self.path, "there are no feature columns"))?;
        let marker = self.options.unlabelled.as_deref();
        let labels = self.label.map(|_| interpret(self.labels, marker));
        let (feature_names, sample_names) = (self.names, None);
        Ok(Table { features, labels, weights: None, feature_names, sample_names, image: None })
    }
}
