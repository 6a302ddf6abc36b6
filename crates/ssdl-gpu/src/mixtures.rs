//! Each sample as an affine mix of its neighbours.

use cudarc::driver::CudaSlice;
use ssdl::Result;
use ssdl::graph::lle::REGULARISATION;

use super::card::{Card, Grid, int, long};
use super::neighbours::References;
use super::number::Multiplied;

/// Features whose differences a warp keeps at once, as the kernel has it.
const STRIP: usize = 32;

/// The weights of the neighbours of each query, `k` for each; without queries, of the samples themselves.
pub(crate) fn weights<T: Multiplied>(
    card: &Card,
    references: &References<T>,
    (queries, count): (Option<&CudaSlice<T>>, usize),
    lists: &CudaSlice<u32>,
    k: usize,
) -> Result<CudaSlice<T>> {
    let out = card.zeros::<T>(count * k)?;
    if k == 0 || count == 0 {
        return Ok(out);
    }
    let shared = (k * (STRIP + 1) + 2 * k * k + k) * size_of::<T>();
    let arguments = [
        int(references.n_features),
        int(k),
        long(count),
        card.at(&references.samples),
        card.at(queries.unwrap_or(&references.samples)),
        card.at(lists),
        T::epsilon().argument(),
        T::min_positive_value().argument(),
        T::of(REGULARISATION).argument(),
        card.at(&out),
    ];
    card.launch::<T>("mixtures", Grid(count, 32, shared), &arguments)?;
    Ok(out)
}
