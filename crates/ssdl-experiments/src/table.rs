//! Tables that mark the better of two numbers, independent of the output format.

use std::fmt::Write;

/// A number as it is shown.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Number {
    /// The digits.
    pub text: String,
    /// Whether it is the better of the numbers compared.
    pub better: bool,
}

/// A cell: a number, and possibly another in brackets.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Cell {
    /// Ours.
    pub number: Number,
    /// The number it is compared with.
    pub beside: Option<Number>,
}

/// Lines of cells under a header.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Table {
    /// What it shows.
    pub heading: String,
    /// Heading of the names of the lines.
    pub names: String,
    /// Headings of the columns.
    pub columns: Vec<String>,
    /// Names and cells.
    pub lines: Vec<(String, Vec<Cell>)>,
}

impl Cell {
    /// A cell without a comparison.
    pub fn plain(text: impl Into<String>) -> Self {
        Self { number: Number { text: text.into(), better: false }, beside: None }
    }

    /// A cell without a comparison, marked if `better`.
    pub fn marked(text: impl Into<String>, better: bool) -> Self {
        Self { number: Number { text: text.into(), better }, beside: None }
    }
}

impl Table {
    /// The table as Markdown, numbers aligned right; without the heading.
    #[must_use]
    pub fn markdown(&self) -> String {
        let mut text = String::new();
        line(&mut text, &self.names, self.columns.iter().cloned());
        line(&mut text, "---", self.columns.iter().map(|_| "---:".to_owned()));
        for (name, cells) in &self.lines {
            line(&mut text, name, cells.iter().map(|cell| cell.text()));
        }
        text
    }
}

impl Cell {
    /// The cell as text, the other number in brackets.
    #[must_use]
    pub fn text(&self) -> String {
        match &self.beside {
            Some(beside) => format!("{} ({})", self.number.text, beside.text),
            None => self.number.text.clone(),
        }
    }
}

fn line(text: &mut String, first: &str, others: impl Iterator<Item = String>) {
    // Writing to a string cannot fail.
    let _ = write!(text, "| {first} |");
    for other in others {
        let _ = write!(text, " {other} |");
    }
    text.push('\n');
}
