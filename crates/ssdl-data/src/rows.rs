//! Rows of text become a table: what the header says, which columns are features, where the labels are.

use std::collections::HashMap;
use std::path::Path;

use crate::cells::{Columns, Gather, Refused, is_gap, number_like, refused};
use crate::error::{listed, shortened};
use crate::labels::interpret;
use crate::read::label_position;
use crate::{Cell, Column, Error, ReadOptions, Result, Row};

/// The remedy for columns that a model does not know.
pub(crate) const SAME_COLUMNS: &str = "; give samples with the columns of the training file";

/// The rows of a table, one after the other, and what gathers the cells of its features.
pub(crate) struct Rows<'a, G> {
    path: &'a Path,
    options: &'a ReadOptions,
    gather: G,
    /// Known after the first row.
    width: Option<usize>,
    names: Option<Vec<String>>,
    /// The line of the first row, where its looks alone decided whether it is a header.
    guessed: Option<usize>,
    label: Option<usize>,
    /// The column of weights.
    weight: Option<usize>,
    /// Places of columns that are no features, rising.
    ignored: Vec<usize>,
    /// Places of the features; known with the width.
    features: Vec<usize>,
    labels: Vec<Option<String>>,
    n_samples: usize,
    /// The first row of gaps alone that nothing has followed yet, and how many there are.
    empty: Option<(usize, usize)>,
}

/// A table without its features.
pub(crate) struct Frame<G> {
    pub gather: G,
    /// Where the features are in a row, and their names.
    pub columns: Columns,
    pub labels: Option<Vec<Option<String>>>,
    pub n_samples: usize,
    /// Rows of gaps alone, at the end: they are no samples.
    pub n_empty: usize,
}

/// Whether a row with a word has all these names.
fn has_all(cells: &[&str], names: &[String]) -> bool {
    let has_words = cells.iter().any(|cell| !number_like(cell));
    has_words && !names.is_empty() && names.iter().all(|name| cells.contains(&name.as_str()))
}

impl<'a, G: Gather> Rows<'a, G> {
    pub fn new(path: &'a Path, options: &'a ReadOptions, gather: G) -> Self {
        Self {
            path,
            options,
            gather,
            width: None,
            names: None,
            guessed: None,
            label: None,
            weight: None,
            ignored: Vec::new(),
            features: Vec::new(),
            labels: Vec::new(),
            n_samples: 0,
            empty: None,
        }
    }

    pub fn take(&mut self, line: usize, cells: &[&str]) -> Result<()> {
        match self.width {
            None => {
                self.width = Some(cells.len());
                let is_header = self.start(line, cells)?;
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
    fn start(&mut self, line: usize, cells: &[&str]) -> Result<bool> {
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
        let features = cells.iter().enumerate().filter(|(at, _)| is_feature(*at));
        let features: Vec<&str> = features.map(|(_, cell)| cell.as_str()).collect();
        let known = self.options.feature_names.as_ref();
        let is_certain = named.is_some()
            || self.names_ignored(&cells)
            || known.is_some_and(|names| features == *names || has_all(&features, names));
        let is_guess = self.options.header.is_none() && !is_certain;
        self.guessed = is_guess.then_some(line);
        let has_header = self
            .options
            .header
            .unwrap_or_else(|| is_certain || self.gather.looks_like_names(&features));
        self.weight = self
            .options
            .weight_column
            .as_ref()
            .filter(|_| has_header)
            .and_then(|name| cells.iter().position(|cell| cell == name));
        self.label = if has_header { named.or(indexed) } else { indexed };
        self.check_name(&cells, named.filter(|_| has_header))?;
        self.check_weight(&cells)?;
        if self.label.is_none() && !self.options.label_optional {
            self.label = self.label_without_name(&cells, has_header)?;
        }
        if let Some(label) = self.label.filter(|label| self.ignored.contains(label)) {
            return Err(self.cannot_ignore(&Column::Index(label as isize), "it has the labels"));
        }
        let expected = has_header.then(|| self.expected(&cells)).flatten();
        if expected.is_none() && has_header {
            self.check_known(&cells)?;
        }
        self.features =
            expected.unwrap_or_else(|| (0..width).filter(|at| !self.is_left_out(*at)).collect());
        if has_header {
            self.names = Some(cells);
        }
        Ok(has_header)
    }

    /// Refuses the name of a label column that another one has, too.
    fn check_name(&self, cells: &[String], label: Option<usize>) -> Result<()> {
        let Some(label) = label else { return Ok(()) };
        match (label + 1..cells.len()).find(|&at| cells[at] == cells[label]) {
            None => Ok(()),
            Some(other) => {
                let (path, name, places) = (self.path.into(), cells[label].clone(), [label, other]);
                Err(Error::RepeatedColumn { path, name, places })
            }
        }
    }

    /// Refuses the name of a column of weights that another one has, too.
    fn check_weight(&self, cells: &[String]) -> Result<()> {
        let is_twice = |at: usize| cells[at + 1..].contains(&cells[at]);
        let Some(at) = self.weight.filter(|&at| is_twice(at)) else { return Ok(()) };
        let name = shortened(&cells[at]);
        let reason = format!("two columns are called `{name}`; rename the one without the weights");
        Err(Error::unsupported(self.path, reason))
    }

    /// The place of labels that no name in the header led to.
    fn label_without_name(&self, cells: &[String], has_header: bool) -> Result<Option<usize>> {
        match &self.options.label_column {
            Some(wanted) if has_header => Err(Error::LabelColumn {
                path: self.path.into(),
                wanted: wanted.to_string(),
                available: listed(cells),
            }),
            _ => label_position(self.path, cells.len(), self.ignored.len(), self.options),
        }
    }

    fn is_left_out(&self, at: usize) -> bool {
        Some(at) == self.label || self.ignored.contains(&at)
    }

    /// Places of the features that are expected by their names, in this order; what else there is is left out. `None`
    /// where one of them is missing or there twice.
    fn expected(&self, cells: &[String]) -> Option<Vec<usize>> {
        let names = self.options.feature_names.as_ref()?;
        let mut places: HashMap<&String, Option<usize>> = HashMap::new();
        for (at, cell) in cells.iter().enumerate() {
            let place = (!self.is_left_out(at)).then_some(at);
            places.entry(cell).and_modify(|place| *place = None).or_insert(place);
        }
        // Taken, not read: two features of one name have no column each.
        names.iter().map(|name| places.get_mut(name)?.take()).collect()
    }

    /// Refuses a header in which the columns that a model needs cannot be found by their names: one of them is ignored, or,
    /// where the model reads words and gaps by column, missing or there twice.
    fn check_known(&self, cells: &[String]) -> Result<()> {
        let Some(names) = &self.options.feature_names else { return Ok(()) };
        let features: Vec<usize> = (0..cells.len()).filter(|at| !self.is_left_out(*at)).collect();
        let is_there = |name: &String| features.iter().any(|&at| cells[at] == *name);
        let left_out = names.iter().find(|name| !is_there(name) && cells.contains(name));
        if let Some(name) = left_out {
            return Err(self.cannot_ignore(&Column::Name(name.clone()), "the model needs it"));
        }
        if self.options.columns.is_none() || features.iter().map(|&at| &cells[at]).eq(names) {
            return Ok(());
        }
        let missing: Vec<&String> = names.iter().filter(|name| !cells.contains(name)).collect();
        let reason = match &missing[..] {
            [] => {
                "its columns are not those of the training file, or one name is there twice".into()
            }
            some => format!("the model needs columns that are not there: {}", listed(some)),
        };
        let or_sample = match self.guessed {
            Some(_) => ", or say --header no if the first line is a sample",
            None => "",
        };
        Err(Error::unsupported(self.path, reason + SAME_COLUMNS + or_sample))
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
            let before = places.len();
            match column {
                Column::Name(name) => {
                    places.extend((0..cells.len()).filter(|&at| cells[at] == *name));
                }
                Column::Index(_) if may_lack && n_features == Some(cells.len()) => {}
                Column::Index(index) => places.extend(Column::position(*index, cells.len())),
            }
            if places.len() == before && !may_lack {
                let reason = format!("the columns are {}", listed(cells));
                return Err(self.cannot_ignore(column, &reason));
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
        if G::SKIPS_EMPTY && cells.iter().all(|cell| is_gap(cell.trim())) {
            let (first, count) = self.empty.unwrap_or((line, 0));
            self.empty = Some((first, count + 1));
            return Ok(());
        }
        // Left out between others, it would shift what follows against labels and predictions.
        if let Some((empty, _)) = self.empty {
            let reason = format!("line {empty} has no value in any column; remove it");
            return Err(Error::unsupported(self.path, reason));
        }
        let is_weightless = self.weight.is_some_and(|at| cells[at].trim().parse() == Ok(0.0));
        if G::SKIPS_WEIGHTLESS && is_weightless {
            self.n_samples += 1;
            return Ok(());
        }
        self.labels.extend(self.label.map(|at| Some(cells[at].trim().to_owned())));
        for (place, &at) in self.features.iter().enumerate() {
            let cell = cells[at].trim();
            if let Err(why) = self.gather.take(place, line, cell) {
                return Err(self.refuse(line, at, cell, why));
            }
        }
        self.n_samples += 1;
        Ok(())
    }

    fn refuse(&self, line: usize, at: usize, text: &str, why: Refused) -> Error {
        let name = self.names.as_ref().map(|names| names[at].clone());
        let may_be_name = self.names.is_none() && self.guessed == Some(line);
        let cell = Cell { row: Row::Line(line), column: at + 1, name };
        refused((self.path, self.options), (cell, text), why, may_be_name)
    }

    pub fn finish(mut self) -> Result<Frame<G>> {
        if self.n_samples == 0 {
            let what = if self.names.is_some() {
                "there is a header but no row of numbers"
            } else {
                "there are no rows"
            };
            return Err(Error::empty(self.path, what));
        }
        let names = self.names.take();
        let names = names.map(|names| self.features.iter().map(|&at| names[at].clone()).collect());
        let marker = self.options.unlabelled.as_deref();
        Ok(Frame {
            gather: self.gather,
            columns: Columns { names, places: self.features, guessed: self.guessed },
            labels: self.label.map(|_| interpret(self.labels, marker)),
            n_samples: self.n_samples,
            n_empty: self.empty.map_or(0, |(_, count)| count),
        })
    }
}
