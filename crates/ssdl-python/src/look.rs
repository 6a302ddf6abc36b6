//! A fitted model looked at: predictions explained, and the report page.

use std::path::PathBuf;

use pyo3::prelude::*;
use pyo3::types::PyDict;
use ssdl::model::Explanation;
use ssdl::{Matrix, Model, each_precision};
use ssdl_report::pages::{self, Names, Test};
use ssdl_report::{Fact, Page};

use crate::arrays::{Precise, Rows, columns, indices, list, rows};
use crate::error::OrRaise;
use crate::model::FittedModel;
use crate::worker;

/// What to explain.
#[derive(FromPyObject)]
pub enum Asked<'py> {
    /// New samples, one per row.
    New(Rows<'py>),
    /// Indices of training samples.
    Training(Vec<usize>),
}

/// Samples that the fit did not see, with their labels where they are known.
type Others<'py> = (Rows<'py>, Vec<Option<String>>);

/// Explains the predictions for new samples, or for some of the training samples.
#[pyfunction]
pub fn explain<'py>(
    py: Python<'py>,
    model: &FittedModel,
    asked: Asked<'py>,
    threads: usize,
) -> PyResult<Vec<Bound<'py, PyDict>>> {
    each_precision!(&model.0, model => {
        let (model, own) = (model.clone(), precise(asked)?);
        let find = move || match own {
            Precisely::New(raw) => model.explain_new(raw),
            Precisely::Training(samples) => model.explain(&samples),
        };
        let found = worker::run(py, None, move |_| ssdl::threads::run(threads, find))?.0;
        found.or_raise(py)?.into_iter().map(|one| described(py, one)).collect()
    })
}

/// [`Asked`] in the precision of the model.
enum Precisely<T> {
    New(Matrix<T>),
    Training(Vec<usize>),
}

fn precise<T: Precise>(asked: Asked<'_>) -> PyResult<Precisely<T>> {
    Ok(match asked {
        Asked::New(samples) => Precisely::New(columns(&T::rows(samples)?)?),
        Asked::Training(samples) => Precisely::Training(samples),
    })
}

fn described<T: Precise>(py: Python<'_>, one: Explanation<T>) -> PyResult<Bound<'_, PyDict>> {
    let facts = PyDict::new(py);
    facts.set_item("class", one.class)?;
    facts.set_item("second", one.second)?;
    facts.set_item("scores", list(py, one.scores))?;
    facts.set_item("probabilities", list(py, one.probabilities))?;
    facts.set_item("parts", indices(py, one.parts.iter().map(|part| part.index)))?;
    facts.set_item("amounts", list(py, one.parts.iter().map(|part| part.amount).collect()))?;
    let n_votes = one.parts.first().map_or(0, |part| part.votes.len());
    let votes: Vec<T> = one.parts.iter().flat_map(|part| part.votes.iter().copied()).collect();
    let votes = Matrix::from_columns(n_votes, one.parts.len(), votes);
    facts.set_item("votes", rows(py, votes.unwrap_or_else(|| Matrix::zeros(n_votes, 0)))?)?;
    facts.set_item("neighbours", indices(py, one.neighbours.iter().map(|near| near.sample)))?;
    let weights = one.neighbours.iter().map(|near| near.weight).collect();
    facts.set_item("weights", list(py, weights))?;
    Ok(facts)
}

/// Writes the report page of a model: of its training samples, or of others with their labels.
#[pyfunction]
pub fn report<'py>(
    py: Python<'py>,
    model: &FittedModel,
    path: PathBuf,
    words: (String, String),
    others: Option<Others<'py>>,
    threads: usize,
) -> PyResult<()> {
    let (title, made_by) = words;
    let html = each_precision!(&model.0, model => {
        let model = model.clone();
        let others = others
            .map(|(samples, truth)| PyResult::Ok((columns(&Precise::rows(samples)?)?, truth)))
            .transpose()?;
        let draw = move || page(title, &model, others).map(|mut page| {
            page.facts = vec![Fact::new("estimator", made_by)];
            page.html()
        });
        worker::run(py, None, move |_| ssdl::threads::run(threads, draw))?.0
    });
    let html = html.and_then(|drawn| drawn).or_raise(py)?;
    py.detach(|| ssdl_data::write_bytes(&path, html.as_bytes())).or_raise(py)
}

fn page<T: Precise>(
    title: String,
    model: &Model<T>,
    others: Option<(Matrix<T>, Vec<Option<String>>)>,
) -> ssdl_report::Result<Page> {
    let Some((raw, truth)) = others else { return pages::of_model(title, model) };
    let (seen, prediction) = pages::see(model, raw.clone())?;
    let features = model.naming().features.clone();
    let names = Names { samples: None, features };
    let predicted = (&seen, &prediction);
    let test = Test { raw: &raw, predicted, truth: &truth, names: &names };
    pages::of_test(title, model, None, &test)
}
