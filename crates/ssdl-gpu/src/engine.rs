//! The steps that the card takes over.

use bytemuck::Pod;
use cudarc::driver::{CudaSlice, DeviceRepr};
use ssdl::codes::Coordinate;
use ssdl::device::{Engine, Found, Individual, NewSamples};
use ssdl::fit::{FirstCodes, Holder, Holding};
use ssdl::{Matrix, Result};

use super::Gpu;
use super::card::{Argument, Card, Grid, NONE};
use super::holder::OnCard;
use super::number::Multiplied;
use super::{mixtures, neighbours, new_samples};

impl<T: Multiplied> Engine<T> for Gpu {
    fn prepare(&self) -> Result<()> {
        self.0.kernels::<T>()?;
        self.0.prepare_copies()
    }

    fn neighbours(
        &self,
        samples: &Matrix<T>,
        new: Option<&Matrix<T>>,
        k: usize,
    ) -> Result<Vec<u32>> {
        let found = neighbours::search(&self.0, samples, new, k)?;
        listed(&self.0, &found.lists, found.n_queries * k)
    }

    fn mixtures(
        &self,
        samples: &Matrix<T>,
        new: Option<&Matrix<T>>,
        k: usize,
    ) -> Result<(Vec<u32>, Vec<T>)> {
        let found = neighbours::search(&self.0, samples, new, k)?;
        let count = found.n_queries;
        let queries = (found.new.as_ref(), count);
        let weights = mixtures::weights(&self.0, &found.references, queries, &found.lists, k)?;
        let weights = listed(&self.0, &weights, count * k)?;
        Ok((listed(&self.0, &found.lists, count * k)?, weights))
    }

    fn code(
        &self,
        solver: Coordinate,
        problem: &Individual<'_, T>,
        codes: &mut Matrix<T>,
    ) -> Result<()> {
        let (card, p, columns) = (&self.0, codes.rows(), codes.columns());
        let gram = card.matrix(problem.gram)?;
        // Blocks, so that any number of samples has room.
        for first in (0..columns).step_by(MANY) {
            let places = first * p..(first + MANY).min(columns) * p;
            let rhs = card.upload(&problem.rhs.as_slice()[places.clone()])?;
            let shifts = match problem.shifts {
                [] => None,
                shifts => Some(card.upload(&shifts[first..(first + MANY).min(columns)])?),
            };
            let block = card.upload(&codes.as_slice()[places.clone()])?;
            let count = places.len() / p;
            let coding = Coding {
                gram: card.pointer(&gram),
                rhs: card.pointer(&rhs),
                shifts: shifts.as_ref().map_or(0, |shifts| card.pointer(shifts)),
                codes: card.pointer(&block),
                sparsity: problem.sparsity,
                nonnegative: i32::from(problem.nonnegative),
                ..Coding::new(p, solver, solver.sweeps + 1)
            };
            visit(card, &coding, None, count)?;
            card.download_into(&block, &mut codes.as_mut_slice()[places])?;
        }
        Ok(())
    }

    fn code_new(
        &self,
        problem: &NewSamples<'_, T>,
        meanwhile: &mut dyn FnMut(&[T]),
    ) -> Result<Found<T>> {
        new_samples::code(&self.0, problem, meanwhile)
    }

    fn hold<'a>(
        &self,
        holding: Holding<'a, T>,
        codes: FirstCodes<'_, T>,
    ) -> Result<Box<dyn Holder<T> + 'a>> {
        Ok(Box::new(OnCard::new(&self.0, holding, codes)?))
    }
}

/// The first entries of an array; one without any has room for one.
fn listed<T: DeviceRepr + Pod>(card: &Card, array: &CudaSlice<T>, count: usize) -> Result<Vec<T>> {
    match count {
        0 => Ok(Vec::new()),
        _ => card.download(&array.slice(..count)),
    }
}

/// Samples coded at once.
const MANY: usize = 1 << 20;

/// A coding problem as the kernel `visit` has it.
#[repr(C)]
#[derive(Clone, Copy)]
pub(crate) struct Coding<T> {
    pub p: i32,
    pub n_classes: i32,
    pub gram: u64,
    pub rhs: u64,
    pub shifts: u64,
    pub codes: u64,
    pub form: i32,
    pub beta: T,
    pub starts: u64,
    pub others: u64,
    pub values: u64,
    pub diagonal: u64,
    pub residuals: u64,
    pub gamma: T,
    pub weights: u64,
    pub cross: u64,
    pub shared: u64,
    pub per_class: u64,
    pub sparsity: T,
    pub nonnegative: i32,
    pub direct: i32,
    pub rounds: i32,
    pub sweeps: i32,
    pub tolerance: T,
    pub epsilon: T,
    pub tiny: T,
}

// SAFETY: plain numbers and addresses in the order and size of the kernel's struct.
unsafe impl<T: Multiplied> DeviceRepr for Coding<T> {}

impl<T: Multiplied> Coding<T> {
    /// Nothing to code yet.
    pub fn new(p: usize, solver: Coordinate, rounds: usize) -> Self {
        Self {
            p: p as i32,
            n_classes: 0,
            gram: 0,
            rhs: 0,
            shifts: 0,
            codes: 0,
            form: 0,
            beta: T::zero(),
            starts: 0,
            others: 0,
            values: 0,
            diagonal: 0,
            residuals: 0,
            gamma: T::zero(),
            weights: 0,
            cross: 0,
            shared: 0,
            per_class: 0,
            sparsity: T::zero(),
            nonnegative: 0,
            direct: i32::from(solver.direct),
            rounds: rounds.min(i32::MAX as usize) as i32,
            sweeps: solver.inner_sweeps.min(i32::MAX as usize) as i32,
            tolerance: T::of(solver.tolerance),
            epsilon: T::epsilon(),
            tiny: T::min_positive_value(),
        }
    }
}

/// Coefficients of a block that a lane keeps, and the kernels that have it: each leaves to the next what needs more.
const BLOCKS: [(usize, &str); 3] = [(1, "visit_1"), (2, "visit_2"), (4, "visit_4")];
/// Samples from which on the smallest block pays: fewer do not fill the card anyway.
const MANY_AT_ONCE: usize = 8192;
/// Blocks of a launch that codes what another has left; each takes some of it.
const LEFT_LAUNCH: usize = 4096;

/// Bytes of fast memory that a warp needs.
fn fast_memory<T>(slots: usize, p: usize) -> usize {
    let width = 32 * slots;
    (width * (width + 1) + 2 * p) * size_of::<T>() + (width + p) * size_of::<u16>()
}

/// Codes the chosen samples (places on the card), or `count` samples from the first on; returns where the
/// largest gap will be.
pub(crate) fn visit<T: Multiplied>(
    card: &Card,
    coding: &Coding<T>,
    chosen: Option<Argument>,
    count: usize,
) -> Result<CudaSlice<f32>> {
    let gaps = card.zeros::<f32>(1)?;
    visit_into(card, coding, chosen, count, &gaps)?;
    Ok(gaps)
}

/// As [`visit`], with the largest gap written over a smaller one.
pub(crate) fn visit_into<T: Multiplied>(
    card: &Card,
    coding: &Coding<T>,
    chosen: Option<Argument>,
    count: usize,
    gaps: &CudaSlice<f32>,
) -> Result<()> {
    if count == 0 {
        return Ok(());
    }
    let p = coding.p as usize;
    let blocks = if count < MANY_AT_ONCE { &BLOCKS[1..] } else { &BLOCKS[..] };
    let fits = |slots: usize| fast_memory::<T>(slots, p) <= card.fast_memory;
    let launches = blocks.iter().filter(|(slots, _)| fits(*slots)).count().max(1);
    let mut from = None;
    for (at, (slots, kernel)) in blocks[..launches].iter().enumerate() {
        let left = match at + 1 < launches {
            true => Some(card.zeros::<u32>(count + 1)?),
            false => None,
        };
        let place =
            |list: &Option<CudaSlice<u32>>| list.as_ref().map_or(NONE, |list| card.at(list));
        let arguments = [chosen.unwrap_or(NONE), place(&from), place(&left), card.at(gaps)];
        let many = if from.is_some() { count.min(LEFT_LAUNCH) } else { count };
        let grid = Grid(many, 32, fast_memory::<T>(*slots, p));
        card.launch_with::<T>(kernel, grid, coding, &arguments)?;
        from = left;
    }
    Ok(())
}
