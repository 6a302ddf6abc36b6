//! Text tables: CSV, TSV and values separated by white space.

use std::path::Path;

use csv::{ReaderBuilder, StringRecord, Terminator};

use crate::cells::{self, Gather, Plain, is_written_otherwise, number_like};
use crate::error::listed;
use crate::labels::interpret;
use crate::mixed::{Mixed, mixed};
use crate::read::label_position;
use crate::rows::{Frame, Rows};
use crate::survey::{Survey, surveyed};
use crate::{Column, Error, Format, ReadOptions, Result, Table};

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
    let file = (path, bytes, format);
    if let Some(known) = &options.columns {
        return mixed(path, gathered(file, options, Mixed::new(known, options))?, false);
    }
    let survey = || {
        let frame = gathered(file, options, Survey::new(options.words))?;
        let header = Some(frame.columns.names.is_some());
        let (known, said) = surveyed(path, frame, options)?;
        // Both passes take the same first line for a header.
        let options = ReadOptions { header, ..options.clone() };
        let mut table = mixed(path, gathered(file, &options, Mixed::new(&known, &options))?, true)?;
        table.notes.splice(0..0, said);
        Ok(table)
    };
    if options.fill_gaps {
        return survey();
    }
    let plain = gathered(file, options, Plain::default());
    match plain.and_then(|frame| cells::plain(path, frame)) {
        Err(Error::NotANumber { .. } | Error::NotFinite { .. }) if options.words => survey(),
        other => other,
    }
}

/// All rows, by what gathers their features.
fn gathered<G: Gather>(
    (path, bytes, format): (&Path, &[u8], Format),
    options: &ReadOptions,
    gather: G,
) -> Result<Frame<G>> {
    let mut rows = Rows::new(path, options, gather);
    for_each_line(path, bytes, format, |line, cells| {
        // A blank line separates nothing; with separators, or in quotation marks, it is a row of empty cells.
        let is_blank = match cells {
            [] => true,
            [only] => !only.is_empty() && only.trim().is_empty(),
            _ => false,
        };
        if is_blank { Ok(()) } else { rows.take(line, cells) }
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
    let outside: String = first.split('"').step_by(2).collect();
    // Where semicolons separate, commas are inside numbers.
    let is_whole = |cell: &str| !cell.contains(',') || is_written_otherwise(cell.trim());
    if outside.contains(';') && outside.split(';').all(is_whole) { b';' } else { b',' }
}

fn newlines(bytes: &[u8]) -> usize {
    bytes.iter().filter(|&&b| b == b'\n').count()
}
