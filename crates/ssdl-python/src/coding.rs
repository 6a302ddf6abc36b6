//! Sparse codes on given atoms, and atoms learnt without labels.

use numpy::PyReadonlyArray2;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use ssdl::codes::{Coder, Encoder};
use ssdl::dictionary::Statistics;
use ssdl::fit::{DictionaryLearner, LearntAtoms, Objective, Stop};
use ssdl::knobs::Knobbed;
use ssdl::{Error, threads};

use crate::arrays::{Parts, Precise, Rows, columns, each_rows, rows};
use crate::codes::{Codes, Collected};
use crate::error::OrRaise;
use crate::worker::{self, Place};

/// Codes of samples on atoms (one per row), dense or as three arrays of a sparse matrix. The penalty is the
/// weight of the l1 norm and, where it is not 0, the number of atoms allowed instead.
#[pyfunction]
pub fn encode<'py>(
    py: Python<'py>,
    samples: Rows<'py>,
    atoms: Rows<'py>,
    penalty: (f64, usize),
    nonnegative: bool,
    sparse: bool,
    n_threads: usize,
) -> PyResult<Codes<'py>> {
    each_rows!(samples, own => encode_in(
        py, &own, atoms, (penalty, nonnegative, sparse), n_threads
    ))
}

fn encode_in<'py, T: Precise>(
    py: Python<'py>,
    samples: &PyReadonlyArray2<'py, T>,
    atoms: Rows<'py>,
    ((sparsity, n_nonzero), nonnegative, sparse): ((f64, usize), bool, bool),
    n_threads: usize,
) -> PyResult<Codes<'py>> {
    let (parts, atoms) = (Parts::new(samples), columns(&T::rows(atoms)?)?);
    let collected = Collected::new(atoms.columns(), parts.n_samples(), sparse);
    let work = move |part, codes: &mut Collected<T>| {
        codes.add(if n_nonzero > 0 {
            Coder::Omp { n_nonzero }.code(&part, &atoms, None)
        } else {
            Encoder::new(&atoms, sparsity).nonnegative(nonnegative).encode(&part)
        });
        Ok(())
    };
    worker::part_by_part(py, parts, Place::here(n_threads), collected, work)?.give(py)
}

/// Settings for learning atoms and the state of an earlier batch; a dictionary in Python.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub struct Learning<'py> {
    knobs: Vec<(String, String)>,
    seed: u64,
    threads: usize,
    /// Whether this is one batch of a stream.
    stream: bool,
    before: Option<Before<'py>>,
}

/// The state of a stream.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub struct Before<'py> {
    atoms: Rows<'py>,
    moments: Rows<'py>,
    correlations: Rows<'py>,
    energy: f64,
    n_batches: u64,
    iterations: usize,
    revived: usize,
}

impl Before<'_> {
    fn read<T: Precise>(self) -> PyResult<LearntAtoms<T>> {
        Ok(LearntAtoms {
            atoms: columns(&T::rows(self.atoms)?)?,
            statistics: Statistics {
                moments: columns(&T::rows(self.moments)?)?,
                correlations: columns(&T::rows(self.correlations)?)?,
                energy: self.energy,
            },
            n_batches: self.n_batches,
            iterations: self.iterations,
            objective: Objective::default(),
            stop: Stop::Limit,
            revived_atoms: self.revived,
        })
    }
}

/// Learns atoms; returns a dictionary of the results, and the notices.
#[pyfunction]
pub fn learn_atoms<'py>(
    py: Python<'py>,
    samples: Rows<'py>,
    learning: Learning<'py>,
    report: Option<Bound<'py, PyAny>>,
) -> PyResult<(Bound<'py, PyDict>, Vec<String>)> {
    each_rows!(samples, own => learn_in(py, &own, learning, report.as_ref()))
}

fn learn_in<'py, T: Precise>(
    py: Python<'py>,
    samples: &PyReadonlyArray2<'py, T>,
    learning: Learning<'py>,
    report: Option<&Bound<'py, PyAny>>,
) -> PyResult<(Bound<'py, PyDict>, Vec<String>)> {
    let Learning { knobs, seed, threads: n_threads, stream, before } = learning;
    let learner = DictionaryLearner::from_pairs(&knobs).or_raise(py)?;
    let before = before.map(Before::read::<T>).transpose()?;
    let samples = columns(samples)?;
    let (learnt, notices) = worker::run(py, report, move |watch| {
        threads::run(n_threads, || {
            if stream {
                learner.learn_more(before, &samples, seed, watch)
            } else {
                learner.fit(&samples, seed, watch)
            }
        })
    })?;
    Ok((described(py, learnt)?, notices))
}

fn described<T: Precise>(
    py: Python<'_>,
    learnt: Result<LearntAtoms<T>, Error>,
) -> PyResult<Bound<'_, PyDict>> {
    let learnt = learnt.or_raise(py)?;
    let facts = PyDict::new(py);
    facts.set_item("atoms", rows(py, learnt.atoms)?)?;
    facts.set_item("moments", rows(py, learnt.statistics.moments)?)?;
    facts.set_item("correlations", rows(py, learnt.statistics.correlations)?)?;
    facts.set_item("energy", learnt.statistics.energy)?;
    facts.set_item("n_batches", learnt.n_batches)?;
    facts.set_item("iterations", learnt.iterations)?;
    facts.set_item("revived", learnt.revived_atoms)?;
    for name in ["reconstruction", "sparsity"] {
        facts.set_item(name, learnt.objective.term(name))?;
    }
    facts.set_item("stop", learnt.stop.to_string())?;
    Ok(facts)
}
