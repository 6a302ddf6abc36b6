//! Report pages of the commands.

use std::path::Path;
use std::sync::Arc;

use ssdl::device::{self, Device};
use ssdl::model::Seen;
use ssdl::{Matrix, Model, Prediction, Real, Samples, threads};
use ssdl_experiments::hidden::{self, Hidden};
use ssdl_report::pages::{self, lead};
pub use ssdl_report::pages::{Names, Test};
use ssdl_report::{Fact, Judged, Look, Page, Subject};

use crate::args;
use crate::failure::Outcome;
use crate::output;
use crate::print::quoted;

/// The command line, so that the page can be made again.
fn command() -> Fact {
    let words = args::words().iter().skip(1).map(|word| quoted(&word.to_string_lossy()));
    Fact::new("command", format!("ssdl {}", words.collect::<Vec<_>>().join(" ")))
}

/// Writes a page, completely or not at all.
pub fn write(path: &Path, page: &Page) -> Outcome {
    output::write(path, page.html()?.as_bytes())
}

/// A page with the command line and nothing else yet.
pub fn new_page(title: String, lead: String) -> Page {
    with_command(Page::new(title, lead))
}

fn with_command(mut page: Page) -> Page {
    page.facts = vec![command()];
    page
}

/// The part of a page about one model, computed with the given number of threads.
pub fn look<T: Real>(subject: &Subject<'_, T>, n_threads: usize) -> Outcome<Look> {
    Ok(threads::run(n_threads, || Look::new(subject))?)
}

/// The last part of a path, for a title.
pub fn name_of(path: &Path) -> String {
    path.file_name().unwrap_or(path.as_os_str()).to_string_lossy().into_owned()
}

/// The page of a fit: cross-validation on the labels, compared with other methods, and the training
/// samples in detail. `found` is `None` if the comparison was stopped.
pub fn fit_page<T: Real>(
    data: &Path,
    model: &Model<T>,
    samples: &Samples<T>,
    names: &Names,
    found: Option<&[Hidden]>,
    n_threads: usize,
) -> Outcome<Page> {
    let title = format!("{} on {}", model.method(), name_of(data));
    let mut page = new_page(title, lead(model));
    // If no label can be hidden, there are no predictions.
    let none = vec![None; samples.n_samples()];
    let hidden = match found {
        Some([own, ..]) => Some(own.predicted.as_slice()),
        Some([]) => Some(none.as_slice()),
        None => None,
    };
    if let Some(found @ [_, ..]) = found {
        page.tables.push(hidden::table(found, samples.labels()));
        page.about_tables = "The labels of one fold at a time were hidden, and each method \
             predicted them from the rest. The best is marked; with few labels, a point or two is \
             chance. The other methods used their defaults. Log-loss and calibration error measure the \
             probabilities: the lower, the more they can be trusted."
            .into();
    }
    if let Some(doubt) = found.and_then(|found| hidden::doubt(found, samples.labels())) {
        page.about_tables = format!("{} {doubt}", page.about_tables);
    }
    if found.is_none() {
        page.missing
            .push("The comparison is missing: the program was stopped before it finished.".into());
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

/// The page of a model file alone.
pub fn model_page<T: Real>(path: &Path, model: &Model<T>, n_threads: usize) -> Outcome<Page> {
    let title = format!("{} in {}", model.method(), name_of(path));
    Ok(with_command(threads::run(n_threads, || pages::of_model(title, model))?))
}

/// Raw samples as the model sees them, and its predictions.
pub fn see<T: Real>(
    model: &Model<T>,
    raw: Matrix<T>,
    n_threads: usize,
    device: Option<Arc<dyn Device>>,
) -> ssdl::Result<(Seen<T>, Prediction<T>)> {
    threads::run(n_threads, || {
        device::lend(device, || {
            let seen = pages::see(model, raw);
            device::check().and(seen)
        })
    })
}

/// The page of a model on other samples.
pub fn test_page<T: Real>(
    title: String,
    model: &Model<T>,
    training: Option<&Matrix<T>>,
    test: &Test<'_, T>,
    n_threads: usize,
) -> Outcome<Page> {
    let page = threads::run(n_threads, || pages::of_test(title, model, training, test))?;
    Ok(with_command(page))
}
