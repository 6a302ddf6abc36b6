//! The graph between the samples, on the card.

use cudarc::driver::CudaSlice;
use ssdl::graph::Laplacian;
use ssdl::{Error, Result};

use super::arrays::Rows;
use super::card::{Argument, Card, Grid, int, long};
use super::groups;
use super::number::Multiplied;

/// Samples from which on the card finds the groups. Those of the processor are more even and take a moment for
/// fewer samples; a fit then visits samples in the same order.
const MANY: usize = 50_000;

/// The graph on the card.
pub(crate) struct Tied<T> {
    /// Rows of $M$; `None` for affinities.
    pub factor: Option<Rows<T>>,
    /// Rows of $M^\top$, or of the affinities.
    pub rows: Rows<T>,
    pub diagonal: CudaSlice<T>,
    /// $E=AM^\top$.
    pub residuals: CudaSlice<T>,
    /// Samples that do not act on each other, group after group.
    pub order: CudaSlice<u32>,
    pub groups: Vec<usize>,
}

impl<T: Multiplied> Tied<T> {
    pub fn new(card: &Card, laplacian: &Laplacian<T>, p: usize) -> Result<Self> {
        let (factor, rows) = match (laplacian.factor(), laplacian.affinities()) {
            (Some((factor, transposed)), _) => (Some(factor), transposed),
            (None, Some(weights)) => (None, weights),
            (None, None) => return Err(Error::Device("a graph without rows".into())),
        };
        let factor = factor.map(|factor| Rows::new(card, factor)).transpose()?;
        let rows = Rows::new(card, rows)?;
        let (order, groups) = match &factor {
            Some(factor) if rows.count >= MANY => groups::independent(card, factor, &rows)?,
            _ => {
                let groups = laplacian.independent_groups();
                (groups.concat(), groups.iter().map(Vec::len).collect())
            }
        };
        let n_residuals = factor.as_ref().map_or(0, |factor| factor.count);
        Ok(Self {
            factor,
            rows,
            diagonal: card.upload(laplacian.diagonal())?,
            residuals: card.zeros(p * n_residuals)?,
            order: card.upload(&order)?,
            groups,
        })
    }

    /// Residuals of the codes, anew.
    pub fn refresh(&self, card: &Card, p: usize, codes: &CudaSlice<T>) -> Result<()> {
        let Some(factor) = &self.factor else { return Ok(()) };
        let [starts, others, values] = factor.arguments(card);
        let arguments = [
            int(p),
            long(factor.count),
            starts,
            others,
            values,
            card.at(codes),
            card.at(&self.residuals),
        ];
        card.launch::<T>("combine", Grid::warps(factor.count), &arguments)
    }

    /// $\operatorname{tr}(ALA^\top)$; the residuals are those of the codes.
    pub fn energy(&self, card: &Card, p: usize, codes: &CudaSlice<T>) -> Result<f64> {
        if let Some(factor) = &self.factor {
            let entries = p * factor.count;
            let residuals = card.at(&self.residuals);
            let arguments = |parts| vec![Argument::Int(1), residuals, long(entries), parts];
            return Ok(card.sums::<T>("entry_sums", (1, entries), arguments)?[0]);
        }
        let [starts, others, values] = self.rows.arguments(card);
        let fixed = [
            int(p),
            long(self.rows.count),
            starts,
            others,
            values,
            card.at(&self.diagonal),
            card.at(codes),
        ];
        let size = (1, p * self.rows.count);
        let arguments = |parts| [&fixed[..], &[parts]].concat();
        let sums = card.sums::<T>("affinity_energy", size, arguments)?;
        Ok(sums[0].max(0.0))
    }
}
