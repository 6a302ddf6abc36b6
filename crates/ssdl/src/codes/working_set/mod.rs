//! One sample's code: coordinate descent on a small working set.
//!
//! $$\min_a\;a^\top Ha-2r^\top a+\lambda\lVert a\rVert_1,\qquad
//! H=G+\kappa I+\gamma W\operatorname{diag}(\omega)W^\top.$$
//!
//! Every round takes the full gradient once, gathers the rows of $H$ that matter (the support and
//! the worst violators) into a small dense block, and sweeps there: a changed coordinate then
//! costs the size of the block, not $p$. For an exact code, `direct.rs` finishes what sweeps only
//! approach.

mod direct;
#[cfg(test)]
mod tests;

use crate::Real;
use crate::matrix::{Matrix, axpy};
use crate::sparse::{for_nonzeros, for_some};
use crate::wide::wide;

/// The quadratic of one sample, without its linear part.
#[derive(Clone, Copy)]
pub(crate) struct Local<'a, T> {
    pub gram: &'a Matrix<T>,
    /// κ.
    pub shift: T,
    pub margin: Option<LocalMargin<'a, T>>,
    pub penalty: Penalty<T>,
}

/// $\lambda\lVert a\rVert_1$, over all codes or over those without a negative coefficient.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Penalty<T> {
    /// λ.
    pub sparsity: T,
    pub nonnegative: bool,
}

impl<T: Real> Penalty<T> {
    /// λ/2 for coefficients above zero, and for those below; infinite where those are excluded.
    #[inline(always)]
    pub fn thresholds(&self) -> (T, T) {
        let half = self.sparsity * T::of(0.5);
        (half, if self.nonnegative { T::infinity() } else { half })
    }
}

/// $\gamma W\operatorname{diag}(\omega)W^\top$ for one sample.
#[derive(Clone, Copy)]
pub(crate) struct LocalMargin<'a, T> {
    /// $W$, $p\times C$.
    pub weights: &'a Matrix<T>,
    pub omega: Omega<'a, T>,
}

/// $\gamma\omega$.
#[derive(Clone, Copy)]
pub(crate) enum Omega<'a, T> {
    PerClass {
        strength: T,
        weight: &'a [T],
    },
    /// The same for all classes, already multiplied; $WW^\top$ need only be looked up.
    Shared {
        weight: T,
        cross: &'a Matrix<T>,
    },
}

impl<T: Real> Omega<'_, T> {
    #[inline(always)]
    fn of(&self, class: usize) -> T {
        match self {
            Self::PerClass { strength, weight } => *strength * weight[class],
            Self::Shared { weight, .. } => *weight,
        }
    }
}

impl<T: Real> Local<'_, T> {
    /// $H_{kk}$.
    #[inline(always)]
    fn diagonal(&self, k: usize) -> T {
        let own = self.gram.column(k)[k] + self.shift;
        let Some(margin) = &self.margin else { return own };
        let classes = (0..margin.weights.columns()).map(|c| {
            let w = margin.weights.column(c)[k];
            margin.omega.of(c) * w * w
        });
        own + classes.sum::<T>()
    }
}

/// Gaps of this many roundings of the largest number in the gradient are noise: where λ is tiny a
/// tolerance relative to it may lie below them, and no number of sweeps would reach it.
const ROUNDINGS: f64 = 16.0;

/// Sweeps that may find the support before it is solved for directly. Among atoms that resemble each
/// other sweeps crawl: hundreds for what one small system gives exactly.
const SWEEPS_BEFORE_DIRECT: usize = 12;

/// Rows of up to so many strips change even by a step of zero: that takes less time than a branch that is guessed wrong.
const SHORT: usize = 4;

/// When to stop working on one sample.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Effort<T> {
    /// Maximum number of full gradients.
    pub rounds: usize,
    /// Maximum number of sweeps over a working set.
    pub sweeps: usize,
    /// Optimality gap, relative to λ, below which the sample is left as it is.
    pub tolerance: T,
    /// Whether sweeps that do not converge soon are cut short by solving for the support directly.
    pub direct: bool,
}

/// Numbers that are changed at once: an array of known size is changed without a look at what follows it.
type Strip<T> = [T; STRIP];
const STRIP: usize = 16;

/// Workspace of the solver; reused from sample to sample, never read before it is written.
pub(crate) struct WorkingSet<T> {
    gradient: Vec<T>,
    working: Vec<u32>,
    entering: Vec<u32>,
    /// The block of $H$ in strips, each row filled up with zeros.
    block: Vec<Strip<T>>,
    block_gradient: Vec<Strip<T>>,
    block_code: Vec<T>,
    inverse: Vec<T>,
    scores: Vec<Strip<T>>,
    support: Vec<usize>,
    system: Vec<T>,
}

/// sign(v)·max(|v|−t, 0), where the threshold $t$ may differ above and below zero.
#[inline(always)]
pub(crate) fn soft<T: Real>(v: T, (above, below): (T, T)) -> T {
    (v - above).max(T::zero()) + (v + below).min(T::zero())
}

impl<T: Real> WorkingSet<T> {
    pub fn new() -> Self {
        Self {
            gradient: Vec::new(),
            working: Vec::new(),
            entering: Vec::new(),
            block: Vec::new(),
            block_gradient: Vec::new(),
            block_code: Vec::new(),
            inverse: Vec::new(),
            scores: Vec::new(),
            support: Vec::new(),
            system: Vec::new(),
        }
    }

    /// Improves `code`; returns the optimality gap it started with, relative to λ.
    pub fn solve(
        &mut self,
        local: Local<'_, T>,
        rhs: &[T],
        code: &mut [T],
        effort: Effort<T>,
    ) -> T {
        wide(
            #[inline(always)]
            || self.rounds(local, rhs, code, effort),
        )
    }

    /// The coefficients that the last round may have changed.
    pub fn touched(&self) -> &[u32] {
        &self.working
    }

    #[inline(always)]
    fn rounds(&mut self, local: Local<'_, T>, rhs: &[T], code: &mut [T], effort: Effort<T>) -> T {
        let thresholds = local.penalty.thresholds();
        let scale = gap_scale(local.penalty.sparsity, rhs);
        let rounding = T::of(ROUNDINGS) * T::epsilon() * largest(rhs);
        let mut at_start = None;
        for _ in 0..effort.rounds {
            self.full_gradient(local, rhs, code);
            let gap = self.choose(local, code, thresholds);
            let gap = if gap <= rounding { T::zero() } else { gap / scale };
            at_start.get_or_insert(gap);
            if gap <= effort.tolerance {
                break;
            }
            self.gather(local, code);
            self.repeat_sweeps(thresholds, effort, effort.tolerance * scale * T::of(0.25));
            for (&k, &value) in self.working.iter().zip(&self.block_code) {
                code[k as usize] = value;
            }
        }
        at_start.unwrap_or(T::zero())
    }

    /// gradient = r − Ha (half the negative gradient).
    #[inline(always)]
    fn full_gradient(&mut self, local: Local<'_, T>, rhs: &[T], code: &[T]) {
        let gradient = &mut self.gradient;
        gradient.clear();
        gradient.extend_from_slice(rhs);
        self.working.clear();
        for_nonzeros(code, |k, a| {
            self.working.push(k as u32);
            axpy(-a, local.gram.column(k), gradient);
            gradient[k] -= local.shift * a;
        });
        let Some(margin) = local.margin else { return };
        let n_classes = margin.weights.columns();
        for c in 0..n_classes {
            let w = margin.weights.column(c);
            let mut score = T::zero();
            for &k in &self.working {
                score += w[k as usize] * code[k as usize];
            }
            let omega = margin.omega.of(c);
            if omega != T::zero() {
                axpy(-omega * score, w, gradient);
            }
        }
    }

    /// Fills the working set: the support, then the worst violators; returns twice their gap.
    #[inline(always)]
    fn choose(&mut self, local: Local<'_, T>, code: &[T], (half, below): (T, T)) -> T {
        let mut worst = T::zero();
        for &k in &self.working {
            let (u, a) = (self.gradient[k as usize], code[k as usize]);
            let gap = (if a > T::zero() { u - half } else { u + half }).abs();
            worst = if gap > worst { gap } else { worst };
        }
        self.entering.clear();
        let violates = |u: T| (u > half) | (-u > below);
        for_some(&self.gradient, violates, |k, u| {
            // A dead atom (no norm, nothing else curved) cannot help: it stays out.
            if code[k] == T::zero() && local.diagonal(k) > T::min_positive_value() {
                worst = worst.max(u.abs() - half);
                self.entering.push(k as u32);
            }
        });
        // A cold start finds nearly every atom in violation, though few survive: growing the set by
        // its own size keeps the block small.
        let limit = self.working.len().max(16);
        if self.entering.len() > limit {
            let gradient = &self.gradient;
            self.entering.select_nth_unstable_by(limit - 1, |&a, &b| {
                let (a, b) = (gradient[a as usize].abs(), gradient[b as usize].abs());
                b.partial_cmp(&a).unwrap_or(std::cmp::Ordering::Equal)
            });
            self.entering.truncate(limit);
            self.entering.sort_unstable();
        }
        self.working.extend_from_slice(&self.entering);
        worst + worst
    }

    /// Copies the block of $H$, the gradient and the code of the working set side by side.
    #[inline(always)]
    fn gather(&mut self, local: Local<'_, T>, code: &[T]) {
        let size = self.working.len();
        let strips = size.div_ceil(STRIP);
        let stride = strips * STRIP;
        self.block.clear();
        self.block.resize(size * strips, [T::zero(); STRIP]);
        self.block_gradient.clear();
        self.block_gradient.resize(strips, [T::zero(); STRIP]);
        let block = self.block.as_flattened_mut();
        let gradient = self.block_gradient.as_flattened_mut();
        self.block_code.clear();
        self.inverse.clear();
        for (h, &k) in self.working.iter().enumerate() {
            let k = k as usize;
            // Half of the symmetric block: the columns come from a cache far away, the mirror image
            // below from the nearest.
            let row = &mut block[h * stride..][..=h];
            let gram = local.gram.column(k);
            match local.margin.map(|margin| margin.omega) {
                Some(Omega::Shared { weight, cross }) => {
                    let cross = cross.column(k);
                    for (value, &i) in row.iter_mut().zip(&self.working) {
                        *value = gram[i as usize] + weight * cross[i as usize];
                    }
                }
                _ => {
                    for (value, &i) in row.iter_mut().zip(&self.working) {
                        *value = gram[i as usize];
                    }
                }
            }
            row[h] += local.shift;
            gradient[h] = self.gradient[k];
            self.block_code.push(code[k]);
        }
        for h in 1..size {
            let (above, row) = block.split_at_mut(h * stride);
            for (i, &value) in row[..h].iter().enumerate() {
                above[i * stride + h] = value;
            }
        }
        if let Some(margin @ LocalMargin { omega: Omega::PerClass { .. }, .. }) = local.margin {
            self.add_classes(margin, strips);
        }
        let block = self.block.as_flattened();
        for h in 0..size {
            let diagonal = block[h * stride + h];
            // Nothing supports the coefficient of a dead atom: it becomes zero.
            let dead = diagonal <= T::min_positive_value();
            self.inverse.push(if dead { T::zero() } else { T::one() / diagonal });
        }
    }

    /// block += γ Σ_c ω_c w_c w_cᵀ on the working set.
    #[inline(always)]
    fn add_classes(&mut self, margin: LocalMargin<'_, T>, strips: usize) {
        for c in 0..margin.weights.columns() {
            let omega = margin.omega.of(c);
            if omega == T::zero() {
                continue;
            }
            let w = margin.weights.column(c);
            self.scores.clear();
            self.scores.resize(strips, [T::zero(); STRIP]);
            let scores = self.scores.as_flattened_mut();
            scores.iter_mut().zip(&self.working).for_each(|(score, &k)| *score = w[k as usize]);
            for (h, row) in self.block.chunks_exact_mut(strips).enumerate() {
                add(omega * self.scores[h / STRIP][h % STRIP], &self.scores, row);
            }
        }
    }

    /// Cyclic sweeps until no coordinate moves its gradient by more than `still`.
    #[inline(always)]
    fn repeat_sweeps(&mut self, thresholds: (T, T), effort: Effort<T>, still: T) {
        for sweep in 1..=effort.sweeps {
            if self.sweep(thresholds) <= still {
                break;
            }
            if effort.direct && sweep.is_multiple_of(SWEEPS_BEFORE_DIRECT) {
                self.jump(thresholds.0);
            }
        }
    }

    /// One sweep; returns twice the largest change of a gradient.
    ///
    /// Each coordinate waits for the step of the one before. Its gradient is therefore not read back from the
    /// row that this step has changed, but changed by itself: the same sum, half the way.
    #[inline(always)]
    fn sweep(&mut self, thresholds: (T, T)) -> T {
        let Self { block, block_gradient: gradient, block_code, inverse, .. } = self;
        let strips = gradient.len();
        let is_short = strips <= SHORT;
        let mut moved = T::zero();
        let mut next = gradient.first().map_or(T::zero(), |strip| strip[0]);
        let rows = block.chunks_exact(strips.max(1));
        for (h, ((code, &inverse), row)) in
            block_code.iter_mut().zip(&*inverse).zip(rows).enumerate()
        {
            let old = *code;
            let (own, beside) = (row.as_flattened()[h], row.as_flattened().get(h + 1));
            let new = soft(next + own * old, thresholds) * inverse;
            let step = new - old;
            // Nothing reads what would follow the last coordinate.
            if let (Some(&u), Some(&product)) = (gradient.as_flattened().get(h + 1), beside) {
                next = u + -step * product;
            }
            if is_short || step != T::zero() {
                *code = new;
                add(-step, row, gradient);
                let change = step.abs() * own;
                moved = if change > moved { change } else { moved };
            }
        }
        moved + moved
    }
}

/// `y += c·x` in strips.
#[inline(always)]
fn add<T: Real>(c: T, x: &[Strip<T>], y: &mut [Strip<T>]) {
    for (y, x) in y.iter_mut().zip(x) {
        let mut sum = *y;
        for lane in 0..STRIP {
            sum[lane] += c * x[lane];
        }
        *y = sum;
    }
}

/// What optimality gaps are measured against: λ, or the size of the problem where λ is zero.
pub(crate) fn gap_scale<T: Real>(sparsity: T, rhs: &[T]) -> T {
    if sparsity > T::zero() {
        return sparsity;
    }
    let largest = largest(rhs);
    (largest + largest).max(T::min_positive_value())
}

#[inline(always)]
fn largest<T: Real>(rhs: &[T]) -> T {
    const LANES: usize = 16;
    let larger = |top: T, r: T| if r.abs() > top { r.abs() } else { top };
    let mut lanes = [T::zero(); LANES];
    let (strips, rest) = rhs.as_chunks::<LANES>();
    for strip in strips {
        for lane in 0..LANES {
            lanes[lane] = larger(lanes[lane], strip[lane]);
        }
    }
    lanes.iter().chain(rest).fold(T::zero(), |top, &r| larger(top, r))
}
