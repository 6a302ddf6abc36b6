//! Pages to look at, from what the commands have.

use std::path::Path;

use ssdl::model::Seen;
use ssdl::{Matrix, Model, Prediction, Real, Samples, threads};
use ssdl_experiments::hidden::{self, Hidden};
use ssdl_report::{Fact, Judged, Look, Page, Subject};

use crate::failure::Outcome;
use crate::output;
use crate::print::counted;

/// What the user typed, so that the page can be made again.
fn command() -> Fact {
    let plain = |word: &str| {
        word.chars().all(|c| c.is_ascii_alphanumeric() || "-_./=:,+@%".contains(c))
            && !word.is_empty()
    };
    let quoted = |word: String| {
        if plain(&word) { word } else { format!("'{}'", word.replace('\'', r"'\''")) }
    };
    let words = std::env::args_os().skip(1).map(|word| quoted(word.to_string_lossy().into_owned()));
    Fact::new("command", format!("ssdl {}", words.collect::<Vec<_>>().join(" ")))
}

/// Writes a page, whole or not at all.
pub fn write(path: &Path, page: &Page) -> Outcome {
    output::write(path, page.html()?.as_bytes())
}

/// A page with what was typed, and nothing else yet.
pub fn begun(title: String, lead: String) -> Page {
    Page {
        title,
        lead,
        facts: vec![command()],
        tables: Vec::new(),
        about_tables: String::new(),
        curves: Vec::new(),
        look: None,
        look_name: None,
        missing: Vec::new(),
    }
}

/// The part of a page about one model, made with so many threads.
pub fn look<T: Real>(subject: &Subject<'_, T>, n_threads: usize) -> Outcome<Look> {
    Ok(threads::run(n_threads, || Look::new(subject))?)
}

/// What was learnt from what, in a sentence.
fn lead<T: Real>(model: &Model<T>) -> String {
    let labels = model.training_labels();
    let free = labels.len() - labels.n_labelled();
    format!(
        "{} learnt from {} and {}.",
        counted(model.classes().len(), "class", "classes"),
        counted(labels.n_labelled(), "label", "labels"),
        counted(free, "unlabelled sample", "unlabelled samples")
    )
}

/// The last part of a path, for a title.
pub fn name_of(path: &Path) -> String {
    path.file_name().unwrap_or(path.as_os_str()).to_string_lossy().into_owned()
}

/// Names of samples and features, where a file has some.
#[derive(Default)]
pub struct Names {
    pub samples: Option<Vec<String>>,
    pub features: Option<Vec<String>>,
}

/// The page of a fit: the methods beside it on labels that were hidden in turn, and the training
/// samples from near. Without `found` the comparison was stopped.
pub fn of_fit<T: Real>(
    data: &Path,
    model: &Model<T>,
    samples: &Samples<T>,
    names: &Names,
    found: Option<&[Hidden]>,
    n_threads: usize,
) -> Outcome<Page> {
    let title = format!("{} on {}", model.method(), name_of(data));
    let mut page = begun(title, lead(model));
    // Where no label could be hidden, nobody was asked.
    let nobody = vec![None; samples.n_samples()];
    let hidden = match found {
        Some([own, ..]) => Some(own.said.as_slice()),
        Some([]) => Some(nobody.as_slice()),
        None => None,
    };
    if let Some(found @ [_, ..]) = found {
        page.tables.push(hidden::table(found, samples.labels()));
        page.about_tables = "Part of the labels was hidden in turn; each method was fitted to the \
             rest and asked for those that were hidden. The best is marked; with few labels a point \
             or two is luck. The others ran with their own defaults."
            .into();
    }
    if found.is_none() {
        page.missing.push("The comparison is missing: the program was stopped before it.".into());
    }
    let subject = Subject {
        model,
        training: Some(samples.features()),
        training_names: names.samples.as_deref(),
        feature_names: names.features.as_deref(),
        judged: Judged::Training { hidden },
    };
    page.look = Some(look(&subject, n_threads)?);
    Ok(page)
}

/// The page of a model alone: what its file holds.
pub fn of_model<T: Real>(path: &Path, model: &Model<T>, n_threads: usize) -> Outcome<Page> {
    let title = format!("{} in {}", model.method(), name_of(path));
    let mut page = begun(title, lead(model));
    let subject = Subject {
        model,
        training: None,
        training_names: None,
        feature_names: None,
        judged: Judged::Training { hidden: None },
    };
    page.look = Some(look(&subject, n_threads)?);
    Ok(page)
}

/// What a model sees in raw samples and predicts for them: a page shows it, and explains some.
pub fn see<T: Real>(
    model: &Model<T>,
    raw: Matrix<T>,
    n_threads: usize,
) -> ssdl::Result<(Seen<T>, Prediction<T>)> {
    threads::run(n_threads, || {
        let seen = model.see(raw)?;
        let prediction = model.judge(&seen)?;
        Ok((seen, prediction))
    })
}

/// Samples that the fit did not see, and what is known of them.
pub struct Test<'a, T> {
    pub raw: &'a Matrix<T>,
    /// What the model sees in them, and predicts.
    pub judged: (&'a Seen<T>, &'a Prediction<T>),
    pub truth: &'a [Option<String>],
    pub names: &'a Names,
}

/// The page of a model on other samples.
pub fn of_test<T: Real>(
    title: String,
    model: &Model<T>,
    training: Option<&Matrix<T>>,
    test: &Test<'_, T>,
    n_threads: usize,
) -> Outcome<Page> {
    let others = counted(test.raw.columns(), "other sample", "other samples");
    let mut page = begun(title, format!("{} Judged on {others}.", lead(model)));
    let subject = Subject {
        model,
        training,
        training_names: None,
        feature_names: test.names.features.as_deref(),
        judged: Judged::Others {
            raw: test.raw,
            seen: test.judged.0,
            prediction: test.judged.1,
            truth: test.truth,
            names: test.names.samples.as_deref(),
        },
    };
    page.look = Some(look(&subject, n_threads)?);
    Ok(page)
}
