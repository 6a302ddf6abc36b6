//! Terminal output: sheets of facts, tables, JSON; always within 80 columns.

use std::io::{self, IsTerminal, Write};

use serde_json::Value;
use ssdl::shown;
pub use ssdl_report::counted;
use ssdl_report::{cut, short};

use crate::failure::{Failure, Outcome};

/// Maximum width of printed lines.
const WIDTH: usize = 80;
/// Width of the names on a sheet, so that one sheet under another lines up.
const NAMES: usize = 11;
/// A space at which lines are not broken; printed as a plain space.
const FIRM_SPACE: char = '\u{a0}';

/// Writes a text and a newline to stdout, with what a terminal would obey escaped. A closed pipe is
/// not an error: the reader has seen enough.
pub fn to_stdout(text: &str) -> Outcome {
    to_stdout_as_is(&shown::escaped(text))
}

/// Writes the content of a file and a newline to stdout: as it is into a pipe or a file, with what a
/// terminal would obey escaped on a terminal.
pub fn content(text: &str) -> Outcome {
    if io::stdout().is_terminal() { to_stdout(text) } else { to_stdout_as_is(text) }
}

fn to_stdout_as_is(text: &str) -> Outcome {
    let mut stdout = io::stdout().lock();
    let written = writeln!(stdout, "{text}").and_then(|()| stdout.flush());
    match written {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => {
            Err(Failure::Failed(format!("the output cannot be written: {error}")))
        }
        _ => Ok(()),
    }
}

/// Writes a line to stderr; a failure cannot be reported anywhere, so it is ignored.
pub fn to_stderr(line: &str) {
    let _ = writeln!(io::stderr().lock(), "{}", shown::escaped(line));
}

/// One JSON object on stdout.
pub fn json(value: &Value) -> Outcome {
    let text = format!("{value:#}");
    let mut plain = String::with_capacity(text.len());
    for c in text.chars() {
        // Outside texts there is none; inside one, this is the same character.
        if shown::is_obeyed(c) {
            plain += &format!("\\u{:04x}", c as u32);
        } else {
            plain.push(c);
        }
    }
    to_stdout(&plain)
}

/// A word of a command line as a shell takes it.
pub fn quoted(word: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "-_./=:,+@%".contains(c);
    if !word.is_empty() && word.chars().all(is_plain) {
        return word.to_owned();
    }
    format!("'{}'", word.replace('\'', r"'\''"))
}

/// Facts with names: a narrow column of names, a wide one of text that wraps.
#[derive(Default)]
pub struct Sheet {
    rows: Vec<(String, String)>,
}

impl Sheet {
    /// Adds a fact; an empty name continues the one above.
    pub fn row(&mut self, name: &str, text: impl Into<String>) -> &mut Self {
        self.rows.push((name.to_owned(), text.into()));
        self
    }

    /// The sheet as lines.
    pub fn text(&self) -> String {
        let longest = self.rows.iter().map(|(name, _)| length(name)).max().unwrap_or(0);
        let width = longest.max(NAMES) + 2;
        let mut lines = Vec::new();
        for (name, text) in &self.rows {
            let mut name = name.as_str();
            for line in text.split('\n').flat_map(|part| wrap(part, WIDTH - width)) {
                lines.push(format!("{}{line}", padded(name, width)).trim_end().to_owned());
                name = "";
            }
        }
        lines.join("\n")
    }
}

/// A table with a header. The last column wraps; the others keep their width.
pub struct Grid {
    header: Vec<String>,
    rows: Vec<Vec<String>>,
    numeric: Vec<bool>,
}

impl Grid {
    /// A table with these headers; those that start with `>` are of numbers, aligned at the right.
    pub fn new(header: &[&str]) -> Self {
        Self {
            header: header.iter().map(|name| in_a_cell(name.trim_start_matches('>'))).collect(),
            rows: Vec::new(),
            numeric: header.iter().map(|name| name.starts_with('>')).collect(),
        }
    }

    /// Adds a row.
    pub fn row(&mut self, cells: impl IntoIterator<Item = impl Into<String>>) -> &mut Self {
        self.rows.push(cells.into_iter().map(|cell| in_a_cell(&cell.into())).collect());
        self
    }

    /// The table as lines.
    pub fn text(&self) -> String {
        let all = || std::iter::once(&self.header).chain(&self.rows);
        let last = self.header.len().saturating_sub(1);
        let widths: Vec<usize> = (0..last)
            .map(|at| all().filter_map(|row| row.get(at)).map(|c| length(c)).max().unwrap_or(0))
            .collect();
        let before: usize = widths.iter().map(|width| width + 2).sum();
        let natural = all().filter_map(|row| row.get(last)).map(|c| length(c)).max().unwrap_or(0);
        let tail_width = natural.min(WIDTH.saturating_sub(before).max(20));
        let mut lines = Vec::new();
        for row in all() {
            let mut line = String::new();
            for (at, (cell, &width)) in row.iter().zip(&widths).enumerate() {
                line += &self.aligned(at, cell, width);
                line += "  ";
            }
            let tail = row.get(last).map(String::as_str).unwrap_or_default();
            for part in wrap(tail, tail_width) {
                let part = self.aligned(last, &part, tail_width);
                lines.push(format!("{}{part}", padded(&line, before)).trim_end().to_owned());
                line.clear();
            }
        }
        lines.join("\n")
    }

    fn aligned(&self, column: usize, cell: &str, width: usize) -> String {
        if self.numeric.get(column) == Some(&true) {
            " ".repeat(width.saturating_sub(length(cell))) + cell
        } else {
            padded(cell, width)
        }
    }
}

/// Text in one line of a table, as wide as it will be shown: names of classes may hold anything.
fn in_a_cell(text: &str) -> String {
    cut(text, usize::MAX)
}

/// Breaks a text at spaces into lines of at most `width` characters; longer words stay whole.
pub fn wrap(text: &str, width: usize) -> Vec<String> {
    let mut lines = Vec::new();
    let mut words = text.split(' ');
    let mut line = words.next().unwrap_or_default().to_owned();
    for word in words {
        if length(&line) + 1 + length(word) > width {
            lines.push(std::mem::take(&mut line));
        } else {
            line.push(' ');
        }
        line.push_str(word);
    }
    lines.push(line);
    lines.iter().map(|line| line.replace(FIRM_SPACE, " ")).collect()
}

/// A text broken to the width of the screen.
pub fn paragraph(text: &str) -> String {
    text.split('\n').flat_map(|line| wrap(line, WIDTH)).collect::<Vec<_>>().join("\n")
}

fn length(text: &str) -> usize {
    text.chars().count()
}

fn padded(text: &str, width: usize) -> String {
    text.to_owned() + &" ".repeat(width.saturating_sub(length(text)))
}

/// A number with about five significant digits.
pub fn number(value: f64) -> String {
    match value.abs() {
        size if size != 0.0 && !(1e-3..1e9).contains(&size) => format!("{value:.3e}"),
        size if size >= 1000.0 => format!("{value:.1}"),
        size if size >= 10.0 => format!("{value:.2}"),
        _ => format!("{value:.4}"),
    }
}

/// A duration.
pub fn seconds(value: f64) -> String {
    if value < 10.0 { format!("{value:.3} s") } else { format!("{value:.1} s") }
}

/// A share of one, in per cent.
pub fn percent(share: f64) -> String {
    format!("{:.1} %", 100.0 * share)
}

/// Names with counts; at most `most` of them.
pub fn tally<S: AsRef<str>>(names: &[S], counts: &[usize], most: usize) -> String {
    let shown = names.iter().zip(counts).take(most);
    let mut text: Vec<String> = shown
        .map(|(name, count)| format!("{}{FIRM_SPACE}({count})", short(name.as_ref())))
        .collect();
    if names.len() > most {
        text.push(format!("and {} more", names.len() - most));
    }
    text.join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_wrap_at_words() {
        assert_eq!(wrap("one two three", 7), ["one two", "three"]);
        assert_eq!(wrap("unbreakable", 3), ["unbreakable"]);
        assert_eq!(wrap("", 3), [""]);
        assert_eq!(wrap(&tally(&["a", "b"], &[1, 2], 9), 8), ["a (1),", "b (2)"]);
    }

    #[test]
    fn words_are_quoted_only_where_a_shell_needs_it() {
        assert_eq!(quoted("a/b-1.csv"), "a/b-1.csv");
        assert_eq!(quoted("it's $HOME"), r"'it'\''s $HOME'");
        assert_eq!(quoted(""), "''");
    }

    #[test]
    fn sheets_align_and_wrap_within_the_width() {
        let mut sheet = Sheet::default();
        sheet.row("long name", "word ".repeat(40)).row("x", "y");
        let text = sheet.text();
        assert!(text.lines().all(|line| length(line) <= WIDTH), "{text}");
        assert!(text.lines().nth(1).is_some_and(|line| line.starts_with("             word")));
    }

    #[test]
    fn grids_align_numbers_at_the_right() {
        let mut grid = Grid::new(&["name", ">count"]);
        grid.row(["a", "1"]).row(["bcdef", "100"]);
        assert_eq!(grid.text(), "name   count\na          1\nbcdef    100");
    }

    #[test]
    fn numbers_keep_their_significant_digits() {
        assert_eq!(number(12345.678), "12345.7");
        assert_eq!(number(0.0), "0.0000");
        assert_eq!(number(1e-7), "1.000e-7");
    }
}
