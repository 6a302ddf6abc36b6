//! Each published method is one file that composes the stages; this list is their register.
//!
//! From [`all`] come the program's `methods` and `fit --method`, the generated documentation and
//! the contract tests. To add a method: write its file, add its line.

mod compose;
mod connect;
mod graph_sc;
mod label_spreading;
mod linear_svm;
mod nearest;
mod request;
mod ridge;
mod self_training;
mod ssdl_ga;
mod ussdl;

pub use compose::{Coder, DictionaryUpdate};
pub use connect::{GraphChoice, GraphKnobs};
pub use graph_sc::GraphSc;
pub use label_spreading::{Kernel, LabelSpreading};
pub use linear_svm::LinearSvm;
pub use nearest::Nearest;
pub use request::Options;
pub use ridge::Ridge;
pub use self_training::{Base, SelfTraining};
pub use ssdl_ga::SsdlGa;
pub use ussdl::Ussdl;

use std::marker::PhantomData;

use crate::fit::Watch;
use crate::knobs::{Knob, Knobbed};
use crate::model::Model;
use crate::{Error, Real, Result, Samples};

/// Every method, in the order they are shown.
#[must_use]
pub fn all<T: Real>() -> Vec<&'static dyn Method<T>> {
    vec![
        &Registered::<SsdlGa>::NEW,
        &Registered::<Ussdl>::NEW,
        &Registered::<GraphSc>::NEW,
        &Registered::<LinearSvm>::NEW,
        &Registered::<Ridge>::NEW,
        &Registered::<Nearest>::NEW,
        &Registered::<LabelSpreading>::NEW,
        &Registered::<SelfTraining>::NEW,
    ]
}

/// The method of this name.
///
/// # Errors
/// If there is none; the error lists the names.
pub fn find<T: Real>(name: &str) -> Result<&'static dyn Method<T>> {
    all::<T>().into_iter().find(|method| method.describe().name == name).ok_or_else(|| {
        let known: Vec<&str> = all::<T>().iter().map(|method| method.describe().name).collect();
        Error::Unknown { what: "method", got: name.to_owned(), known: known.join(", ") }
    })
}

/// A method as the register sees it: described, with knobs by name, ready to fit.
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

    /// Fits a model to raw samples.
    ///
    /// # Errors
    /// If a knob, the labels or the samples do not allow it.
    fn fit(
        &self,
        knobs: &[(String, String)],
        samples: Samples<T>,
        options: &Options<T>,
        watch: &mut dyn Watch,
    ) -> Result<Model<T>>;
}

/// What a method's knobs must offer to stand in the register.
trait Register: Knobbed + 'static {
    const DESCRIPTION: Description;

    fn bytes<T: Real>(&self, n_features: usize, n_samples: usize, n_classes: usize) -> u64;
    fn run<T: Real>(
        &self,
        samples: Samples<T>,
        options: &Options<T>,
        watch: &mut dyn Watch,
    ) -> Result<Model<T>>;
}

/// Puts a type of knobs into the register by its own `memory_needed` and `fit_with`; the file it is
/// called in has the `DESCRIPTION`.
macro_rules! register {
    ($Knobs:ty) => {
        impl $crate::methods::Register for $Knobs {
            const DESCRIPTION: $crate::methods::Description = DESCRIPTION;

            fn bytes<T: $crate::Real>(
                &self,
                features: usize,
                samples: usize,
                classes: usize,
            ) -> u64 {
                self.memory_needed::<T>(features, samples, classes)
            }

            fn run<T: $crate::Real>(
                &self,
                samples: $crate::Samples<T>,
                options: &$crate::methods::Options<T>,
                watch: &mut dyn $crate::fit::Watch,
            ) -> $crate::Result<$crate::Model<T>> {
                self.fit_with(samples, options, watch)
            }
        }
    };
}
use register;

/// The register's view of a method.
struct Registered<K>(PhantomData<fn() -> K>);

impl<K> Registered<K> {
    const NEW: Self = Self(PhantomData);
}

impl<T: Real, K: Register> Method<T> for Registered<K> {
    fn describe(&self) -> &'static Description {
        const { &K::DESCRIPTION }
    }

    fn knobs(&self) -> Vec<Knob> {
        K::list()
    }

    fn check(&self, knobs: &[(String, String)]) -> Result<()> {
        K::read(knobs).map(drop)
    }

    fn memory_needed(
        &self,
        knobs: &[(String, String)],
        n_features: usize,
        n_samples: usize,
        n_classes: usize,
    ) -> Result<u64> {
        Ok(K::read(knobs)?.bytes::<T>(n_features, n_samples, n_classes))
    }

    fn fit(
        &self,
        knobs: &[(String, String)],
        samples: Samples<T>,
        options: &Options<T>,
        watch: &mut dyn Watch,
    ) -> Result<Model<T>> {
        K::read(knobs)?.run(samples, options, watch)
    }
}

/// What is known of a method before it runs; documentation is made from this.
#[derive(Clone, Copy, Debug)]
pub struct Description {
    /// Name on the command line.
    pub name: &'static str,
    /// The acronym spelt out.
    pub title: &'static str,
    /// Who published it, and where.
    pub reference: &'static str,
    /// Where it can be read.
    pub link: &'static str,
    /// The objective, in KaTeX.
    pub objective: &'static str,
    /// The objective, in plain text for terminals.
    pub objective_text: &'static str,
    /// One paragraph: what it does and when to take it.
    pub summary: &'static str,
    /// Whether unlabelled samples are used.
    pub semi_supervised: bool,
    /// Whether new samples can be classified after the fit.
    pub inductive: bool,
    /// Whether a graph between the samples takes part; if so, users may bring their own.
    pub uses_graph: bool,
    /// Whether codes pull on each other (`group`) or are found one by one (`individual`); `none`
    /// without atoms.
    pub coding: &'static str,
    /// Knobs used in the paper's experiments: data set, then (knob, value).
    pub published: &'static [(&'static str, &'static [(&'static str, &'static str)])],
}
