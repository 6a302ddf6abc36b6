//! The methods: each is one file that composes the stages, and this list is their register.
//!
//! A method is a set of knobs, a [`Description`] and [`Learner::learn`]; everything around it
//! (checks, preparation, memory, threads, the model) is the same for all. From [`all`] come the
//! program's `methods` and `fit --method`, the generated documentation, the Python classes and the
//! contract tests. To add a method: write its file, add its line.

mod any;
mod auto;
mod fit;
mod forest;
mod graph_sc;
mod hidden;
mod jdl;
mod kernel;
mod ksvd;
mod label_spreading;
mod lc_ksvd;
mod lc_rlsdla;
mod linear_svm;
mod logistic;
mod nearest;
mod ossdl;
mod pssdl;
mod register;
mod ridge;
mod s2d2;
mod self_training;
mod src;
mod src_by_class;
mod ssd_lp;
mod ssdl_ga;
mod ssp_dl;
mod ssr_d;
mod sup_graph_dl;
mod ussdl;

pub use fit::FitOptions;
#[doc(hidden)]
pub use kernel::KernelRidge;
pub use label_spreading::Kernel;
pub use register::{Description, Method, find, registered};
pub use self_training::Base;
pub use ssd_lp::SpreadGraph;

use crate::classifier::SHARPNESS;
use crate::dictionary::AtomCount;
use crate::fit::{FewAtomsKnobs, Given, Learnt, Silent, Sizes, Turns, Watch};
use crate::graph::Connected;
use crate::knobs::Knobbed;
use crate::model::Model;
use crate::{Real, Result, Samples};

/// Makes the types of methods public, and lists them.
macro_rules! register {
    ($($file:ident::$method:ident,)+) => {
        $(pub use $file::$method;)+

        /// Every method, in the order they are shown.
        #[must_use]
        #[inline(never)]
        pub fn all<T: Real>() -> Vec<&'static dyn Method<T>> {
            vec![$(registered::<$method, T>()),+]
        }
    };
}

register! {
    ssdl_ga::SsdlGa,
    auto::Auto,
    ussdl::Ussdl,
    graph_sc::GraphSc,
    s2d2::S2d2,
    ssd_lp::SsdLp,
    ssr_d::SsrD,
    ssp_dl::SspDl,
    pssdl::Pssdl,
    src::Src,
    src_by_class::SrcByClass,
    jdl::Jdl,
    ossdl::Ossdl,
    lc_rlsdla::LcRlsdla,
    ksvd::Ksvd,
    lc_ksvd::LcKsvd,
    sup_graph_dl::SupGraphDl,
    linear_svm::LinearSvm,
    ridge::Ridge,
    nearest::Nearest,
    forest::Forest,
    label_spreading::LabelSpreading,
    self_training::SelfTraining,
}

/// A method: the type holds its knobs, this trait does the rest.
pub trait Learner: Knobbed {
    /// What it is.
    const DESCRIPTION: Description;

    /// Whether features that are zero in every sample play no part: [`learn`](Learner::learn) then does not see them.
    const IGNORES_BLANK: bool = false;

    /// Cuts knobs to what samples of these sizes allow, and reports each reduction.
    fn reduce(&mut self, sizes: &Sizes, notice: &mut dyn FnMut(&str)) {
        let _ = (sizes, notice);
    }

    /// Whether the weights of samples and classes act on the result, with these knobs. Where not, the
    /// user is told.
    fn uses_weights(&self) -> bool {
        false
    }

    /// Whether the samples may lie in several parts ([`Given::crew`]).
    fn can_be_in_parts(&self) -> bool {
        false
    }

    /// Whether [`learn`](Learner::learn) can read the samples from a file ([`Given::held`]), given the graph
    /// of [`connect`](Learner::connect).
    fn can_park(&self, sizes: &Sizes) -> bool {
        let _ = sizes;
        false
    }

    /// The graph between the samples, for a fit that reads them from a file afterwards.
    ///
    /// # Errors
    /// If it cannot be built.
    fn connect<T: Real>(&self, given: &Given<'_, T>) -> Result<Option<Connected<T>>> {
        let _ = given;
        Ok(None)
    }

    /// Peak bytes of a fit of this size, samples included.
    fn bytes(&self, sizes: &Sizes) -> u64;

    /// Learns from prepared samples. Knobs are already checked and reduced, and the fit runs inside
    /// the requested threads.
    ///
    /// # Errors
    /// If the labels or the samples do not allow it, or the observer cancels before there is a result.
    fn learn<T: Real>(&self, given: &Given<'_, T>, turns: &mut Turns<'_>) -> Result<Learnt<T>>;

    /// Bytes that a fit of this size will need at its peak, samples included (features counted after
    /// preparation), without the fits that calibrate its probabilities.
    fn memory_needed<T: Real>(&self, n_features: usize, n_samples: usize, n_classes: usize) -> u64 {
        self.memory_needed_for::<T>((n_features, n_samples, n_classes), false)
    }

    /// As [`memory_needed`](Learner::memory_needed) for these counts of features, samples and classes,
    /// with samples that are in a file once the graph is built, or not.
    fn memory_needed_for<T: Real>(
        &self,
        (n_features, n_samples, n_classes): (usize, usize, usize),
        on_disk: bool,
    ) -> u64 {
        let (n_labelled, scalar) = (n_samples, size_of::<T>());
        let sizes =
            Sizes { n_features, n_samples, n_labelled, n_classes, scalar, are_parked: false };
        let mut knobs = self.clone();
        knobs.reduce(&sizes, &mut |_| {});
        let are_parked = on_disk && knobs.can_park(&sizes);
        knobs.bytes(&Sizes { are_parked, ..sizes })
    }

    /// Fits raw samples with a preparation that suits them, seed 0 and all cores.
    ///
    /// # Errors
    /// If a knob, the labels or the samples do not allow it.
    fn fit<T: Real>(&self, samples: Samples<T>) -> Result<Model<T>> {
        self.fit_with(samples, &FitOptions::default(), &mut Silent)
    }

    /// Fits raw samples with your own options: preparation, seed, threads, graph, observer.
    ///
    /// # Errors
    /// If a knob, the labels or the samples do not allow it, or the memory limit is too low.
    #[inline(never)]
    fn fit_with<T: Real>(
        &self,
        samples: Samples<T>,
        options: &FitOptions<T>,
        watch: &mut dyn Watch,
    ) -> Result<Model<T>> {
        fit::fit(self, samples, options, watch)
    }
}

/// Fixes the number of atoms, at most one per sample, and reports a reduction.
fn cut_atoms(count: &mut AtomCount, sizes: &Sizes, notice: &mut dyn FnMut(&str)) {
    let requested = count.resolve(sizes.n_features, sizes.n_classes);
    let max = sizes.n_samples;
    if requested > max {
        notice(&format!("n_atoms cut from {requested} to {max}, the number of samples"));
    }
    *count = AtomCount::Exactly(requested.min(max));
}

/// Fixes the number of atoms and how many of them a code uses, and reports a reduction.
fn cut_few_atoms(knobs: &mut FewAtomsKnobs, sizes: &Sizes, notice: &mut dyn FnMut(&str)) {
    knobs.resolve_atoms(sizes);
    cut_atoms(&mut knobs.n_atoms, sizes, notice);
    knobs.reduce(sizes, notice);
}

/// Cuts a number of neighbours to `max`, and reports it.
fn cut_neighbours(requested: &mut usize, max: usize, notice: &mut dyn FnMut(&str)) {
    if *requested > max {
        notice(&format!("n_neighbors cut from {requested} to {max}: there are no more"));
        *requested = max;
    }
}
