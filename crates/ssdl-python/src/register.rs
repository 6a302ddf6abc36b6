//! The register of methods as Python values, from which `python/generate.py` writes the classes.

use pyo3::prelude::*;
use pyo3::types::PyDict;
use ssdl::fit::DictionaryLearner;
use ssdl::knobs::{Allowed, Knob, Knobbed};
use ssdl::methods::{FitOptions, Method, all};
use ssdl::samples::prepare;

/// Every method: its description, and its knobs with defaults, ranges and sentences.
#[pyfunction]
pub fn methods(py: Python<'_>) -> PyResult<Vec<Bound<'_, PyDict>>> {
    all::<f64>().into_iter().map(|method| described(py, method)).collect()
}

/// The knobs of the dictionary learner.
#[pyfunction]
pub fn learner_knobs(py: Python<'_>) -> PyResult<Vec<Bound<'_, PyDict>>> {
    DictionaryLearner::knobs().iter().map(|knob| explained(py, knob)).collect()
}

/// The known preparation steps: their syntax and what they do.
#[pyfunction]
pub fn preparation_steps() -> Vec<(&'static str, &'static str)> {
    prepare::known().into_iter().map(|step| (step.usage, step.sentence)).collect()
}

/// The default preparation of a fit.
#[pyfunction]
pub fn default_preparation() -> Vec<String> {
    FitOptions::<f64>::default().prepare.iter().map(ToString::to_string).collect()
}

fn described<'py>(
    py: Python<'py>,
    method: &'static dyn Method<f64>,
) -> PyResult<Bound<'py, PyDict>> {
    let about = method.describe();
    let facts = PyDict::new(py);
    for (key, value) in [
        ("name", about.name),
        ("class", about.class),
        ("title", about.title),
        ("reference", about.reference),
        ("link", about.link),
        ("objective", about.objective),
        ("objective_text", about.objective_text),
        ("summary", about.summary),
        ("coding", about.coding),
    ] {
        facts.set_item(key, value)?;
    }
    facts.set_item("semi_supervised", about.semi_supervised)?;
    facts.set_item("inductive", about.inductive)?;
    facts.set_item("uses_graph", about.uses_graph)?;
    let knobs = method.knobs();
    let knobs: PyResult<Vec<_>> = knobs.iter().map(|knob| explained(py, knob)).collect();
    facts.set_item("knobs", knobs?)?;
    Ok(facts)
}

fn explained<'py>(py: Python<'py>, knob: &Knob) -> PyResult<Bound<'py, PyDict>> {
    let facts = PyDict::new(py);
    facts.set_item("name", knob.name)?;
    facts.set_item("symbol", knob.symbol())?;
    facts.set_item("default", &knob.default)?;
    facts.set_item("sentence", knob.sentence)?;
    facts.set_item("allowed", knob.allowed.to_string())?;
    let kind = match knob.allowed {
        Allowed::WholeFrom(least) => {
            facts.set_item("low", least)?;
            "whole_from"
        }
        Allowed::AutoOrFrom(least) => {
            facts.set_item("low", least)?;
            "auto_or_from"
        }
        Allowed::AutoOrNumber(least) => {
            facts.set_item("low", least)?;
            "auto_or_number"
        }
        Allowed::AutoOrAbove(bound) => {
            facts.set_item("low", bound)?;
            "auto_or_above"
        }
        Allowed::From(least) => {
            facts.set_item("low", least)?;
            "from"
        }
        Allowed::Above(bound) => {
            facts.set_item("low", bound)?;
            "above"
        }
        Allowed::SeveralAbove(bound) => {
            facts.set_item("low", bound)?;
            "several_above"
        }
        Allowed::Between(low, high) => {
            facts.set_item("low", low)?;
            facts.set_item("high", high)?;
            "between"
        }
        Allowed::Within(low, high) => {
            facts.set_item("low", low)?;
            facts.set_item("high", high)?;
            "within"
        }
        Allowed::WordOrSeveral(words) => {
            facts.set_item("words", words)?;
            "word_or_several"
        }
        Allowed::Switch => "switch",
        Allowed::OneOf(words) => {
            facts.set_item("words", words)?;
            "one_of"
        }
        _ => "text",
    };
    facts.set_item("kind", kind)?;
    Ok(facts)
}
