//! The heat-kernel graph of all pairs within a radius.

use super::distances::{each_query, of_pairs};
use super::width::Width;
use super::{Attachment, Connected, Graph, Laplacian, Rule, heat};
use crate::knobs::{Allowed, check};
use crate::{Matrix, Real, Result};

/// $W_{ij}=e^{-\lVert x_i-x_j\rVert^2/2\sigma^2}$ where $\lVert x_i-x_j\rVert<\kappa$, the ζ-percentile
/// of all distances; $L=\operatorname{diag}(W1)-W$.
///
/// About $\zeta N^2/2$ edges: time and memory grow with the square of $N$. Where there are more than
/// 4,096 samples the percentile is that of the pairs among 4,096 evenly spaced ones.
#[derive(Clone, Copy, Debug)]
pub struct Threshold {
    /// ζ, between 0 and 1.
    pub percentile: f64,
    /// σ.
    pub width: Width,
}

impl<T: Real> Graph<T> for Threshold {
    #[inline(never)]
    fn build(&self, samples: &Matrix<T>) -> Result<Connected<T>> {
        check("percentile", self.percentile, Allowed::Between(0.0, 1.0))?;
        check("width", self.width, Allowed::Above(0.0))?;
        let width = self.width.resolve(samples);
        let radius = percentile(of_pairs(samples), self.percentile);
        let pairs = each_query(samples, samples, |i, squared| {
            let earlier = squared[..i].iter().copied().enumerate();
            // By the same root as the radius, so that pairs at exactly the radius are out.
            earlier.filter(|(_, z)| z.sqrt() < radius).collect::<Vec<_>>()
        });
        let (weights, shift) = heat::of_pairs(&pairs, width);
        Ok(Connected {
            laplacian: Laplacian::from_affinities(weights),
            attachment: Attachment::new(Rule::Threshold { radius, width, shift }),
        })
    }
}

/// The value below which a share of the values lies; 0 if there are none.
fn percentile(mut values: Vec<f64>, share: f64) -> f64 {
    if values.is_empty() {
        return 0.0;
    }
    let at = ((share * values.len() as f64) as usize).min(values.len() - 1);
    *values.select_nth_unstable_by(at, f64::total_cmp).1
}
