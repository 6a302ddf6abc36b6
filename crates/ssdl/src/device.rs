//! A device that heavy steps run on, lent to the work of one thread.
//!
//! The library itself computes on the processor. Another crate may offer a [`Device`], such as a graphics
//! card; while it is lent, neighbours are searched, samples coded and the loop's samples held there.

use std::cell::RefCell;
use std::sync::Arc;

use crate::codes::{Coordinate, Pull};
use crate::fit::{FirstCodes, Holder, Holding};
use crate::{Error, Matrix, Real, Result};

/// A device, in both precisions.
pub trait Device: Send + Sync {
    /// What it calls itself.
    fn name(&self) -> String;

    /// Its steps in single precision.
    fn single(&self) -> &dyn Engine<f32>;

    /// Its steps in double precision.
    fn double(&self) -> &dyn Engine<f64>;
}

/// The steps that a device takes over.
pub trait Engine<T: Real> {
    /// Does now what the first step would have to wait for.
    ///
    /// # Errors
    /// If the device fails.
    fn prepare(&self) -> Result<()>;

    /// The places of the `k` nearest of `samples`, nearest first and ties by index, for every column of `new`;
    /// `None` searches among the samples themselves, without the sample itself.
    ///
    /// # Errors
    /// If the device has no room or fails.
    fn neighbours(
        &self,
        samples: &Matrix<T>,
        new: Option<&Matrix<T>>,
        k: usize,
    ) -> Result<Vec<u32>>;

    /// The neighbours, and the weights with which each column is mixed from them, as
    /// [`barycentres`](crate::graph::lle::barycentres).
    ///
    /// # Errors
    /// If the device has no room or fails.
    fn mixtures(
        &self,
        samples: &Matrix<T>,
        new: Option<&Matrix<T>>,
        k: usize,
    ) -> Result<(Vec<u32>, Vec<T>)>;

    /// Codes samples one by one from their present codes, as [`Coordinate::minimise`] without graph and
    /// classes.
    ///
    /// # Errors
    /// If the device has no room or fails.
    fn code(
        &self,
        solver: Coordinate,
        problem: &Individual<'_, T>,
        codes: &mut Matrix<T>,
    ) -> Result<()>;

    /// Codes new samples on known atoms; no sample influences another. Calls `meanwhile` with the codes of one block
    /// of samples after the other, in their order, while the device codes the next ones.
    ///
    /// # Errors
    /// If the device has no room or fails.
    fn code_new(
        &self,
        problem: &NewSamples<'_, T>,
        meanwhile: &mut dyn FnMut(&[T]),
    ) -> Result<Found<T>>;

    /// Takes samples over for a fit.
    ///
    /// # Errors
    /// If the device has no room, fails, or does not have the solver that is chosen.
    fn hold<'a>(
        &self,
        holding: Holding<'a, T>,
        codes: FirstCodes<'_, T>,
    ) -> Result<Box<dyn Holder<T> + 'a>>;
}

/// A plain lasso for each sample: $\min_a\;a^\top(G+\kappa_jI)a-2r_j^\top a+\lambda\lVert a\rVert_1$.
#[derive(Clone, Copy)]
pub struct Individual<'a, T> {
    /// $G$, $p\times p$.
    pub gram: &'a Matrix<T>,
    /// $r$, $p\times N$.
    pub rhs: &'a Matrix<T>,
    /// κ of each sample; empty where there is none.
    pub shifts: &'a [T],
    /// λ.
    pub sparsity: T,
    /// Whether codes have no negative coefficient.
    pub nonnegative: bool,
}

/// New samples to be coded by a lasso, pulled to the codes of training samples.
#[derive(Clone, Copy)]
pub struct NewSamples<'a, T> {
    /// $X$, $n\times M$.
    pub samples: &'a Matrix<T>,
    /// $D$, $n\times p$.
    pub atoms: &'a Matrix<T>,
    /// λ.
    pub sparsity: f64,
    /// How far each code is minimised.
    pub solver: Coordinate,
    /// The pull of the graph.
    pub ties: Ties<'a, T>,
}

/// What pulls the codes of new samples.
#[derive(Clone, Copy)]
pub enum Ties<'a, T> {
    /// Nothing.
    None,
    /// Known training samples.
    Known(Pull<'a, T>),
    /// Training samples that are still to be found.
    Mixture(Mixture<'a, T>),
}

/// A pull to the mixture of the nearest training samples that a new one resembles most.
#[derive(Clone, Copy)]
pub struct Mixture<'a, T> {
    /// The training samples to choose among, $n\times N$.
    pub training: &'a Matrix<T>,
    /// Their codes, $p\times N$.
    pub codes: &'a Matrix<T>,
    /// How many are mixed.
    pub n_neighbors: usize,
    /// κ.
    pub strength: T,
    /// Whether the caller wants to know which they were.
    pub is_told: bool,
}

/// New samples, coded.
#[derive(Clone, Debug)]
pub struct Found<T> {
    /// $A$, $p\times M$.
    pub codes: Matrix<T>,
    /// The training samples of each mixture and their weights, where they were asked for.
    pub mixtures: Option<(Vec<u32>, Vec<T>)>,
}

thread_local! {
    static LENT: RefCell<Option<Arc<dyn Device>>> = const { RefCell::new(None) };
    static FAILED: RefCell<Option<Error>> = const { RefCell::new(None) };
}

/// The device that is lent to this thread.
pub(crate) fn lent() -> Option<Arc<dyn Device>> {
    LENT.with_borrow(Clone::clone)
}

/// Runs work that may use the device; `None` computes on the processor.
pub fn lend<R>(device: Option<Arc<dyn Device>>, work: impl FnOnce() -> R) -> R {
    /// Puts back what was there before, after a panic too.
    struct Restore(Option<Arc<dyn Device>>);
    impl Drop for Restore {
        fn drop(&mut self) {
            LENT.set(self.0.take());
        }
    }
    let _restore = Restore(LENT.replace(device));
    work()
}

/// Samples from which on a device is worth the way there.
const MANY: usize = 1024;

/// Whether a device is lent, and worth the way for this many samples.
pub(crate) fn is_lent(n_samples: usize) -> bool {
    n_samples >= MANY && LENT.with_borrow(Option::is_some)
}

/// What the lent device finds for this many samples; `None` without a device, and for few samples. A
/// failure is remembered for [`check`], and the caller goes on by itself.
pub(crate) fn attempt_large<T: Real, R>(
    n_samples: usize,
    step: impl FnOnce(&dyn Engine<T>) -> Result<R>,
) -> Option<R> {
    if !is_lent(n_samples) {
        return None;
    }
    let device = lent()?;
    match step(T::engine(&*device)) {
        Ok(found) => Some(found),
        Err(error) => {
            FAILED.with_borrow_mut(|failed| {
                failed.get_or_insert(error);
            });
            LENT.set(None);
            None
        }
    }
}

/// Whether the device has done all that it was asked for since the last call.
///
/// # Errors
/// The first failure.
pub fn check() -> Result<()> {
    FAILED.take().map_or(Ok(()), Err)
}
