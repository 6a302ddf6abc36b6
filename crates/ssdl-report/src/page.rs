//! The page: one HTML file that contains its style, its script and its data.

use askama::Template;
use ssdl_experiments::{Along, Curve, Table};

use crate::Result;
use crate::look::Look;
use crate::plots::{self, Figure};
use crate::tiles::Pictures;

/// A named text.
#[derive(Clone, Debug, PartialEq)]
pub struct Fact {
    /// The name.
    pub name: String,
    /// The text.
    pub text: String,
}

impl Fact {
    /// Creates a fact.
    pub fn new(name: impl Into<String>, text: impl Into<String>) -> Self {
        Self { name: name.into(), text: text.into() }
    }
}

/// A page beside this one.
#[derive(Clone, Debug, PartialEq)]
pub struct Link {
    /// What it is called.
    pub text: String,
    /// Its address, relative to this page.
    pub address: String,
}

/// One of the pages that an index leads to.
#[derive(Clone, Debug, PartialEq)]
pub struct Entry {
    /// Its title.
    pub title: String,
    /// Its address, relative to the index; `None` if there is no page.
    pub address: Option<String>,
    /// What it is about, sentence by sentence.
    pub sentences: Vec<String>,
    /// What is missing, and how to get it.
    pub missing: Vec<String>,
}

/// The contents of a page.
pub struct Page {
    /// Its title.
    pub title: String,
    /// A sentence that introduces it.
    pub lead: String,
    /// The index that leads to it.
    pub index: Option<Link>,
    /// The pages that it leads to, if it is an index.
    pub entries: Vec<Entry>,
    /// What was run.
    pub facts: Vec<Fact>,
    /// Tables of results.
    pub tables: Vec<Table>,
    /// A sentence about the tables.
    pub about_tables: String,
    /// Accuracy by the number of samples.
    pub curves: Vec<Curve>,
    /// Other plots, with their headings.
    pub(crate) figures: Vec<(String, Figure)>,
    /// One model in detail.
    pub look: Option<Look>,
    /// Name of that model, if the page is about several.
    pub look_name: Option<String>,
    /// What the page cannot show, and how to get it.
    pub missing: Vec<String>,
}

#[derive(Template)]
#[template(path = "page.html")]
struct Sheet<'a> {
    page: &'a Page,
    tables_title: &'static str,
    curves_title: &'static str,
    curves: Vec<(&'a str, &'a Figure)>,
    data: String,
    samples: &'a str,
    training: &'a str,
    atoms: &'a str,
    version: &'static str,
    style: &'static str,
    script: &'static str,
}

impl Page {
    /// A page with nothing on it yet.
    pub fn new(title: String, lead: String) -> Self {
        Self {
            title,
            lead,
            index: None,
            entries: Vec::new(),
            facts: Vec::new(),
            tables: Vec::new(),
            about_tables: String::new(),
            curves: Vec::new(),
            figures: Vec::new(),
            look: None,
            look_name: None,
            missing: Vec::new(),
        }
    }

    /// The page as text.
    ///
    /// # Errors
    /// If the template cannot be rendered; this is not expected.
    pub fn html(&self) -> Result<String> {
        let look = self.look.as_ref();
        let drawn: Vec<(&str, Figure)> =
            self.curves.iter().map(|c| (c.heading.as_str(), plots::curve(c))).collect();
        let curves = drawn.iter().map(|(heading, figure)| (*heading, figure));
        let figures = self.figures.iter().map(|(heading, figure)| (heading.as_str(), figure));
        let sheet = Sheet {
            page: self,
            tables_title: if self.look_name.is_none() && look.is_some() {
                "Compared with other methods"
            } else {
                "Tables"
            },
            curves_title: if self.curves.is_empty() {
                "The fit"
            } else if self.curves.iter().all(|curve| curve.along == Along::Unlabelled) {
                "Effect of unlabelled samples"
            } else {
                "Effect of labels"
            },
            curves: curves.chain(figures).collect(),
            data: look.map(|look| json_for_script(&look.inside)).transpose()?.unwrap_or_default(),
            samples: look.map_or("", |look| address(&look.inside.samples)),
            training: look.map_or("", |look| address(&look.inside.training)),
            atoms: look.map_or("", |look| address(&look.inside.atoms)),
            version: env!("CARGO_PKG_VERSION"),
            style: include_str!("../templates/style.css"),
            script: include_str!("../templates/script.js"),
        };
        // Empty lines of the template are not needed in the page.
        let text = sheet.render()?;
        Ok(text.lines().map(str::trim_end).filter(|line| !line.is_empty()).fold(
            String::with_capacity(text.len()),
            |mut page, line| {
                page.push_str(line);
                page.push('\n');
                page
            },
        ))
    }
}

fn address(pictures: &Pictures) -> &str {
    match pictures {
        Pictures::Image { sheet, .. } => sheet,
        Pictures::Bars { .. } | Pictures::None => "",
    }
}

/// JSON in which no text can end the script element or start another.
fn json_for_script(inside: &impl serde::Serialize) -> Result<String> {
    let text = serde_json::to_string(inside)?;
    Ok(text.replace('<', "\\u003c").replace('>', "\\u003e").replace('&', "\\u0026"))
}
