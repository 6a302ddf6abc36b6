//! Each sample as an affine mix of its neighbours.

use ssdl::Result;
use ssdl::graph::lle::REGULARISATION;

use super::card::{Card, Grid, int, long};
use super::neighbours::Found;
use super::number::Multiplied;

/// Features whose differences a warp keeps at once, as the kernel has it.
const STRIP: usize = 32;

/// The weights of the neighbours of each query, `k` for each.
pub(crate) fn weights<T: Multiplied>(card: &Card, found: &Found<T>, k: usize) -> Result<Vec<T>> {
    let Found { n_features, n_queries, .. } = *found;
    if k == 0 || n_queries == 0 {
        return Ok(Vec::new());
    }
    let out = card.zeros::<T>(n_queries * k)?;
    let shared = (k * (STRIP + 1) + 2 * k * k + k) * size_of::<T>();
    let arguments = [
        int(n_features),
        int(k),
        long(n_queries),
        card.at(&found.samples),
        card.at(found.new.as_ref().unwrap_or(&found.samples)),
        card.at(&found.on_card),
        T::epsilon().argument(),
        T::min_positive_value().argument(),
        T::of(REGULARISATION).argument(),
        card.at(&out),
    ];
    card.launch::<T>("mixtures", Grid(n_queries, 32, shared), &arguments)?;
    card.download(&out)
}
