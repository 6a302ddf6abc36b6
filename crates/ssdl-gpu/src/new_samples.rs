//! Codes of new samples, pulled to those of training samples.

use std::sync::Arc;

use cudarc::driver::CudaSlice;
use ssdl::codes::Pull;
use ssdl::device::NewSamples;
use ssdl::{Matrix, Result};

use super::arrays::{Rows, plain, turned};
use super::card::{Card, Grid, failed, int, long};
use super::engine::{Coding, visit};
use super::number::Multiplied;

/// New samples coded at once.
const BLOCK: usize = 1 << 18;

pub(crate) fn code<T: Multiplied>(
    card: &Arc<Card>,
    problem: &NewSamples<'_, T>,
) -> Result<Matrix<T>> {
    let NewSamples { samples, atoms, sparsity, solver, .. } = *problem;
    let (n, p, count) = (atoms.rows(), atoms.columns(), samples.columns());
    let (on_card, gram) = (card.matrix(atoms)?, card.matrix(&atoms.gram())?);
    let anchors = problem.pull.map(|pull| Anchored::new(card, pull)).transpose()?;
    let mut out = Matrix::zeros(p, count);
    let mut places = out.as_mut_slice().chunks_mut(BLOCK * p);
    for first in (0..count).step_by(BLOCK) {
        let some = BLOCK.min(count - first);
        let block = card.upload(&samples.as_slice()[first * n..(first + some) * n])?;
        let mut rhs = card.zeros::<T>(p * some)?;
        let factors = (turned(&on_card, n, p), plain(&block, n, some));
        card.multiply(T::one(), factors.0, factors.1, T::zero(), &mut rhs)?;
        let codes = card.zeros::<T>(p * some)?;
        let threshold = T::of(0.5 * sparsity);
        let shifts = match &anchors {
            Some(anchors) => Some(anchors.start((first, some), threshold, &codes, &rhs)?),
            None => None,
        };
        let coding = Coding {
            gram: card.pointer(&gram),
            rhs: card.pointer(&rhs),
            shifts: shifts.as_ref().map_or(0, |shifts| card.pointer(shifts)),
            codes: card.pointer(&codes),
            sparsity: T::of(sparsity),
            ..Coding::new(p, solver, solver.sweeps + 1)
        };
        visit(card, &coding, None, some)?;
        if let Some(place) = places.next() {
            let copied = card.stream.memcpy_dtoh(&codes, place);
            copied.map_err(|error| failed("copying from the card", error))?;
        }
        card.wait()?;
    }
    Ok(out)
}

/// The training samples that new ones are tied to, and their codes on the card.
struct Anchored<'a, T> {
    card: &'a Card,
    pull: Pull<'a, T>,
    /// The codes that any new sample is pulled to.
    codes: CudaSlice<T>,
    /// Where each training sample is among them.
    place: Vec<u32>,
}

impl<'a, T: Multiplied> Anchored<'a, T> {
    fn new(card: &'a Card, pull: Pull<'a, T>) -> Result<Self> {
        let mut is_used = vec![false; pull.codes.columns()];
        let (_, others, _) = pull.anchors.weights().parts();
        others.iter().for_each(|&i| is_used[i as usize] = true);
        let used: Vec<usize> = (0..is_used.len()).filter(|&i| is_used[i]).collect();
        let mut place = vec![0; is_used.len()];
        used.iter().enumerate().for_each(|(at, &i)| place[i] = at as u32);
        let codes = match used.is_empty() {
            true => card.zeros(1)?,
            false => card.matrix(&pull.codes.select_columns(&used))?,
        };
        Ok(Self { card, pull, codes, place })
    }

    /// Starts some codes at the means of their anchors, adds these to the right-hand sides, and gives the κ.
    fn start(
        &self,
        (first, some): (usize, usize),
        threshold: T,
        codes: &CudaSlice<T>,
        rhs: &CudaSlice<T>,
    ) -> Result<CudaSlice<T>> {
        let (card, p) = (self.card, self.pull.codes.rows());
        let anchors = self.pull.anchors;
        let (starts, others, values) = anchors.weights().parts();
        let (starts, inside) = (&starts[first..=first + some], starts[first]..starts[first + some]);
        let starts: Vec<i64> = starts.iter().map(|start| (start - inside.start) as i64).collect();
        let others: Vec<u32> =
            others[inside.clone()].iter().map(|i| self.place[*i as usize]).collect();
        let rows = Rows::of_arrays(card, &starts, &others, &values[inside])?;
        let strengths: Vec<T> = (first..first + some)
            .map(|j| T::of(self.pull.manifold) * anchors.strength(j))
            .collect();
        let strengths = card.upload(&strengths)?;
        let [starts, others, values] = rows.arguments(card);
        let arguments =
            [int(p), long(some), starts, others, values, card.at(&self.codes), card.at(codes)];
        card.launch::<T>("combine", Grid::warps(some), &arguments)?;
        let arguments = [
            int(p),
            long(some),
            card.at(&strengths),
            threshold.argument(),
            card.at(codes),
            card.at(rhs),
        ];
        card.launch::<T>("start_at_means", Grid::entries(p * some), &arguments)?;
        Ok(strengths)
    }
}
