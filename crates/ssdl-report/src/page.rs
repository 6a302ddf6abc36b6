//! The page itself: one file of HTML, with its style, its script and all it shows inside.

use askama::Template;
use ssdl_experiments::{Along, Curve, Table};

use crate::Result;
use crate::look::Look;
use crate::plots::{self, Figure};
use crate::tiles::Pictures;

/// A name and what is to be said of it.
#[derive(Clone, Debug, PartialEq)]
pub struct Fact {
    /// The name.
    pub name: String,
    /// The text.
    pub text: String,
}

impl Fact {
    /// From both.
    pub fn new(name: impl Into<String>, text: impl Into<String>) -> Self {
        Self { name: name.into(), text: text.into() }
    }
}

/// Everything that a page shows.
pub struct Page {
    /// Its title.
    pub title: String,
    /// What it is about, in a sentence.
    pub lead: String,
    /// What was run.
    pub facts: Vec<Fact>,
    /// Tables, ours beside others'.
    pub tables: Vec<Table>,
    /// What a reader of the tables should know.
    pub about_tables: String,
    /// Accuracy by the number of samples.
    pub curves: Vec<Curve>,
    /// One model from near.
    pub look: Option<Look>,
    /// Which model that is, where the page is about several.
    pub look_name: Option<String>,
    /// What the page would show if it were there, and how to get it.
    pub missing: Vec<String>,
}

#[derive(Template)]
#[template(path = "page.html")]
struct Sheet<'a> {
    page: &'a Page,
    tables_title: &'static str,
    curves_title: &'static str,
    curves: Vec<(&'a str, Figure)>,
    data: String,
    samples: &'a str,
    training: &'a str,
    atoms: &'a str,
    version: &'static str,
    style: &'static str,
    script: &'static str,
}

impl Page {
    /// The page as text.
    ///
    /// # Errors
    /// None that is known; the engine of the templates has one.
    pub fn html(&self) -> Result<String> {
        let look = self.look.as_ref();
        let sheet = Sheet {
            page: self,
            tables_title: match self.look_name.is_none() && look.is_some() {
                true => "Beside other methods",
                false => "Tables",
            },
            curves_title: match self.curves.iter().all(|curve| curve.along == Along::Unlabelled) {
                true => "What unlabelled samples bring",
                false => "What labels bring",
            },
            curves: self.curves.iter().map(|c| (c.heading.as_str(), plots::curve(c))).collect(),
            data: look.map(|look| in_script(&look.inside)).transpose()?.unwrap_or_default(),
            samples: look.map_or("", |look| address(&look.inside.samples)),
            training: look.map_or("", |look| address(&look.inside.training)),
            atoms: look.map_or("", |look| address(&look.inside.atoms)),
            version: env!("CARGO_PKG_VERSION"),
            style: include_str!("../templates/style.css"),
            script: include_str!("../templates/script.js"),
        };
        // Lines of the template without anything in them only cost room.
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

/// JSON that no text inside can end the element of, nor begin another.
fn in_script(inside: &impl serde::Serialize) -> Result<String> {
    let text = serde_json::to_string(inside)?;
    Ok(text.replace('<', "\\u003c").replace('>', "\\u003e").replace('&', "\\u0026"))
}
