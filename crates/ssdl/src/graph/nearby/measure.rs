//! Which pairs of a small set are near: sketches first, then the few that may count in full.

use super::sketch::Sketches;
use crate::Real;
use crate::matrix::{Matrix, View};
use crate::wide::wide;

/// Slack of an estimate, as a share of the lengths that cancel in it.
const ROUNDING: f32 = 1e-5;

/// What pairs are measured with.
pub(super) struct Measure<'a, T> {
    samples: &'a Matrix<T>,
    pub sketches: &'a Sketches,
    /// Whether sketches are all there is of the samples.
    is_whole: bool,
    scale: T,
    /// $\lVert B^\top x\rVert^2+q\rho_x$.
    own: Vec<f32>,
}

/// What a search keeps about the set of samples at hand, by their places in it.
pub(super) trait Keeper {
    /// The distance below which a pair of this sample counts.
    fn limit(&self, at: usize) -> f32;
    /// Whether the pair was measured before.
    fn knows(&self, a: usize, b: usize) -> bool;
    /// A pair that may count, with its distance.
    fn found(&mut self, a: usize, b: usize, distance: f32);
}

/// Room for the sketches of a set and their products, used again for every set.
#[derive(Default)]
pub(super) struct Work {
    pub chosen: Vec<u32>,
    panel: Vec<f32>,
    own: Vec<f32>,
    /// Places of those that may be near the one at hand.
    near: Vec<usize>,
    products: Option<Matrix<f32>>,
}

impl<'a, T: Real> Measure<'a, T> {
    /// With `share` for $q$: 0 is a lower bound.
    pub fn new(
        samples: &'a Matrix<T>,
        sketches: &'a Sketches,
        (is_whole, scale): (bool, f64),
        share: f32,
    ) -> Self {
        let parts = sketches.length.iter().zip(&sketches.rest);
        let own = parts.map(|(length, rest)| length + share * rest).collect();
        Self { samples, sketches, is_whole, scale: T::of(scale), own }
    }

    /// The squared distance of two samples, by differences; the same bits in either order.
    #[inline(always)]
    pub fn distance(&self, a: u32, b: u32) -> f32 {
        let (a, b) = (a as usize, b as usize);
        if self.is_whole {
            let values = &self.sketches.values;
            squared(values.column(a), values.column(b), 1.0)
        } else {
            squared(self.samples.column(a), self.samples.column(b), self.scale)
        }
    }

    #[inline(always)]
    fn distances(&self, a: u32, others: [u32; 4]) -> [f32; 4] {
        let a = a as usize;
        if self.is_whole {
            let values = &self.sketches.values;
            let others = others.map(|b| values.column(b as usize));
            squared_to(values.column(a), others, 1.0)
        } else {
            let others = others.map(|b| self.samples.column(b as usize));
            squared_to(self.samples.column(a), others, self.scale)
        }
    }

    /// The share of $\rho_x+\rho_y$ that a pair of samples has between them.
    pub fn share(&self, a: u32, b: u32) -> Option<f32> {
        let Sketches { values, rest, .. } = self.sketches;
        let (i, j) = (a as usize, b as usize);
        let known = squared(values.column(i), values.column(j), 1.0);
        let between = (self.distance(a, b) - known).max(0.0) / (rest[i] + rest[j]);
        between.is_finite().then_some(between)
    }

    /// Measures the pairs of `work.chosen`, of which the first `fresh` are paired with all after them,
    /// that may be nearer than either end's limit.
    pub fn pairs(&self, work: &mut Work, fresh: usize, keeper: &mut impl Keeper) {
        let m = self.sketches.values.rows();
        let Work { chosen, panel, own, near, products } = work;
        let count = chosen.len();
        if fresh == 0 || count < 2 {
            return;
        }
        panel.clear();
        own.clear();
        for &i in chosen.iter() {
            panel.extend_from_slice(self.sketches.values.column(i as usize));
            own.push(self.own[i as usize]);
        }
        let products = products.get_or_insert_with(|| Matrix::zeros(0, 0));
        products.reshape(count, fresh);
        let all = View::of_columns(panel, m, count);
        let first = View::of_columns(&panel[..m * fresh], m, fresh);
        products.set_product_here(all.flip(), first);
        wide(
            #[inline(always)]
            || {
                for a in 0..fresh {
                    let row = &products.column(a)[..count];
                    let limit = keeper.limit(a);
                    near.clear();
                    for b in a + 1..count {
                        let sum = own[a] + own[b];
                        let least = sum - 2.0 * row[b] - ROUNDING * sum;
                        if least <= limit.max(keeper.limit(b))
                            && chosen[a] != chosen[b]
                            && !keeper.knows(a, b)
                        {
                            near.push(b);
                        }
                    }

                    for part in near.chunks(4) {
                        // Four at once: one waits for memory while another is summed.
                        let at = |which: usize| part[which.min(part.len() - 1)];
                        let others = [at(0), at(1), at(2), at(3)];
                        let distances = self.distances(chosen[a], others.map(|b| chosen[b]));
                        for which in 0..part.len() {
                            keeper.found(a, others[which], distances[which]);
                        }
                    }
                }
            },
        );
    }
}

/// $s^2\lVert x-y\rVert^2$ by differences.
#[inline(always)]
pub(super) fn squared<T: Real>(x: &[T], y: &[T], scale: T) -> f32 {
    squared_to(x, [y], scale)[0]
}

/// $s^2\lVert x-y\rVert^2$ by differences, for some others.
#[inline(always)]
fn squared_to<T: Real, const N: usize>(x: &[T], ys: [&[T]; N], scale: T) -> [f32; N] {
    const LANES: usize = 16;
    let mut lanes = [[0.0f32; LANES]; N];
    let ys = ys.map(|y| &y[..x.len()]);
    let whole = x.len() / LANES * LANES;
    let mut at = 0;
    while at < whole {
        let a = &x[at..at + LANES];
        for other in 0..N {
            let b = &ys[other][at..at + LANES];
            for lane in 0..LANES {
                let difference = ((a[lane] - b[lane]) * scale).wide() as f32;
                lanes[other][lane] += difference * difference;
            }
        }
        at += LANES;
    }
    for other in 0..N {
        for at in whole..x.len() {
            let difference = ((x[at] - ys[other][at]) * scale).wide() as f32;
            lanes[other][at - whole] += difference * difference;
        }
    }
    lanes.map(|mut lanes| {
        for width in [8, 4, 2, 1] {
            for lane in 0..width {
                lanes[lane] += lanes[lane + width];
            }
        }
        lanes[0]
    })
}
