//! The methods by name.

use std::marker::PhantomData;

use super::{FitOptions, Learner, all};
use crate::fit::Watch;
use crate::knobs::{Knob, Knobbed};
use crate::model::Model;
use crate::{Error, Real, Result, Samples};

/// The method of this name.
///
/// # Errors
/// If there is none; the error lists the names.
#[inline(never)]
pub fn find<T: Real>(name: &str) -> Result<&'static dyn Method<T>> {
    all::<T>().into_iter().find(|method| method.describe().name == name).ok_or_else(|| {
        let known: Vec<&str> = all::<T>().iter().map(|method| method.describe().name).collect();
        Error::Unknown { what: "method", got: name.to_owned(), known: known.join(", ") }
    })
}

/// A method as programs see it: described, with knobs by name, ready to fit.
pub trait Method<T: Real>: Sync {
    /// What it is.
    fn describe(&self) -> &'static Description;

    /// Its knobs, with defaults and ranges.
    fn knobs(&self) -> Vec<Knob>;

    /// Checks knobs given as (name, value) text without fitting.
    ///
    /// # Errors
    /// If a name is unknown or a value out of range.
    fn check(&self, knobs: &[(String, String)]) -> Result<()>;

    /// Bytes that a fit of this size will need at its peak, samples included (features counted
    /// after preparation).
    ///
    /// # Errors
    /// If a knob's name is unknown or its value out of range.
    fn memory_needed(
        &self,
        knobs: &[(String, String)],
        n_features: usize,
        n_samples: usize,
        n_classes: usize,
    ) -> Result<u64>;

    /// The same where the samples are on disk once the graph is built ([`FitOptions::scratch`]); features,
    /// samples and classes are counted.
    ///
    /// # Errors
    /// As [`memory_needed`](Method::memory_needed).
    fn memory_needed_on_disk(
        &self,
        knobs: &[(String, String)],
        counts: (usize, usize, usize),
    ) -> Result<u64>;

    /// Fits a model to raw samples.
    ///
    /// # Errors
    /// If a knob, the labels or the samples do not allow it.
    fn fit(
        &self,
        knobs: &[(String, String)],
        samples: Samples<T>,
        options: &FitOptions<T>,
        watch: &mut dyn Watch,
    ) -> Result<Model<T>>;
}

/// The register's view of a method; also of one that is not in [`all`].
#[must_use]
pub fn registered<K: Learner, T: Real>() -> &'static dyn Method<T> {
    const { &Registered::<K>(PhantomData) }
}

struct Registered<K>(PhantomData<fn() -> K>);

impl<T: Real, K: Learner> Method<T> for Registered<K> {
    fn describe(&self) -> &'static Description {
        const { &K::DESCRIPTION }
    }

    fn knobs(&self) -> Vec<Knob> {
        <K as Knobbed>::knobs()
    }

    fn check(&self, knobs: &[(String, String)]) -> Result<()> {
        K::from_pairs(knobs).map(drop)
    }

    fn memory_needed(
        &self,
        knobs: &[(String, String)],
        n_features: usize,
        n_samples: usize,
        n_classes: usize,
    ) -> Result<u64> {
        Ok(K::from_pairs(knobs)?.memory_needed::<T>(n_features, n_samples, n_classes))
    }

    fn memory_needed_on_disk(
        &self,
        knobs: &[(String, String)],
        counts: (usize, usize, usize),
    ) -> Result<u64> {
        Ok(K::from_pairs(knobs)?.memory_needed_for::<T>(counts, true))
    }

    fn fit(
        &self,
        knobs: &[(String, String)],
        samples: Samples<T>,
        options: &FitOptions<T>,
        watch: &mut dyn Watch,
    ) -> Result<Model<T>> {
        K::from_pairs(knobs)?.fit_with(samples, options, watch)
    }
}

/// What is known about a method before it runs; the documentation is made from this.
#[derive(Clone, Copy, Debug)]
pub struct Description {
    /// Name on the command line.
    pub name: &'static str,
    /// Name of its class in Python.
    pub class: &'static str,
    /// The acronym spelt out.
    pub title: &'static str,
    /// Who published it, and where.
    pub reference: &'static str,
    /// Where to read it.
    pub link: &'static str,
    /// The objective, in KaTeX.
    pub objective: &'static str,
    /// The objective, in plain text for terminals.
    pub objective_text: &'static str,
    /// One paragraph: what it does and when to use it.
    pub summary: &'static str,
    /// Whether unlabelled samples are used.
    pub semi_supervised: bool,
    /// Whether new samples can be classified after the fit.
    pub inductive: bool,
    /// Whether it uses a graph between the samples; if so, users may give their own.
    pub uses_graph: bool,
    /// Whether codes pull on each other (`group`) or are found one by one (`individual`); `none`
    /// without atoms.
    pub coding: &'static str,
    /// Knobs used in the paper's experiments: data set, then (knob, value).
    pub published: &'static [(&'static str, &'static [(&'static str, &'static str)])],
}
