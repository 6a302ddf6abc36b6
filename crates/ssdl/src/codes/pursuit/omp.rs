//! At most $T$ atoms for each sample: orthogonal matching pursuit on the Gram matrix.

use rayon::prelude::*;

use super::{Pulled, Pursuit};
use crate::matrix::axpy;
use crate::wide::wide;
use crate::{Matrix, Real};

/// Samples that a thread takes at once.
const CHUNK: usize = 16;
/// An atom that keeps less than this share of its squared length outside the span of the chosen atoms
/// depends on them.
const DEPENDENT: f64 = 1e-10;

/// $\min_a\;a^\top Ga-2r^\top a+\kappa\lVert a\rVert^2$ with at most $T$ nonzero coefficients, greedily:
/// the atom with the largest correlation for its length joins, then all coefficients are fitted again.
///
/// The Cholesky factor of the chosen atoms grows by a row for each atom. Its row is read from the
/// correlations of all atoms with the orthonormal directions chosen so far, so there is no triangular
/// solve until the end: $O(pT^2)$ for each sample. Ties go to the smaller index. A sample stops early
/// when the best atom depends on those chosen, or nothing correlates any more; so codes stay finite on
/// zero and repeated atoms.
///
/// A start with at most $T$ nonzero coefficients that is better than what is found stays.
#[derive(Clone, Copy, Debug)]
pub struct Omp {
    /// $T$.
    pub n_nonzero: usize,
}

impl<T: Real> Pursuit<T> for Omp {
    #[inline(never)]
    fn code(&self, problem: Pulled<'_, T>, codes: &mut Matrix<T>) {
        let Pulled { gram, mut rhs, shifts } = problem;
        let p = gram.rows();
        if p == 0 {
            return;
        }
        let limit = self.n_nonzero.min(p);
        let columns = codes.as_mut_slice().par_chunks_mut(p * CHUNK);
        let sides = rhs.as_mut_slice().par_chunks_mut(p * CHUNK);
        columns.zip(sides).enumerate().for_each_init(
            || Search::new(gram, limit),
            |search, (chunk, (codes, sides))| {
                let both = codes.chunks_exact_mut(p).zip(sides.chunks_exact_mut(p));
                for (place, (code, side)) in both.enumerate() {
                    let shift = shifts.get(chunk * CHUNK + place).copied().unwrap_or(T::zero());
                    let old = search.value_of(code, side, shift);
                    let found = wide(
                        #[inline(always)]
                        || search.run(side, shift),
                    );
                    if old.is_none_or(|old| found <= old) {
                        search.write(code);
                    }
                }
            },
        );
    }

    /// Zero; infinite where a code has more than $T$ nonzero coefficients.
    fn size(&self, codes: &Matrix<T>) -> f64 {
        let count = |code: &[T]| code.iter().filter(|a| **a != T::zero()).count();
        let allowed = codes.iter_columns().all(|code| count(code) <= self.n_nonzero);
        if allowed { 0.0 } else { f64::INFINITY }
    }
}

/// The search for the code of one sample; its arrays are used again for the next.
struct Search<'a, T> {
    gram: &'a Matrix<T>,
    limit: usize,
    /// $1/\sqrt{G_{kk}+\kappa}$ of the last shift; zero where an atom is zero.
    weights: Vec<T>,
    shift: Option<T>,
    /// Atoms chosen, in order.
    chosen: Vec<usize>,
    /// Whether an atom may still be chosen: one or zero.
    free: Vec<T>,
    /// Row $t$ of the Cholesky factor, its pivot included, `limit` entries each.
    factor: Vec<T>,
    /// Correlations of all atoms with each orthonormal direction, $p\times T$.
    directions: Matrix<T>,
    /// The sample along each direction.
    along: Vec<T>,
}

impl<'a, T: Real> Search<'a, T> {
    fn new(gram: &'a Matrix<T>, limit: usize) -> Self {
        let p = gram.rows();
        Self {
            gram,
            limit,
            weights: Vec::with_capacity(p),
            shift: None,
            chosen: Vec::with_capacity(limit),
            free: Vec::with_capacity(p),
            factor: vec![T::zero(); limit * limit],
            directions: Matrix::zeros(p, limit),
            along: Vec::with_capacity(limit),
        }
    }

    /// The value of a code to start from; `None` where it is zero or has too many coefficients.
    fn value_of(&self, code: &[T], rhs: &[T], shift: T) -> Option<f64> {
        let support: Vec<usize> = (0..code.len()).filter(|&k| code[k] != T::zero()).collect();
        if support.is_empty() || support.len() > self.limit {
            return None;
        }
        let mut value = 0.0;
        for &k in &support {
            let column = self.gram.column(k);
            let image: f64 = support.iter().map(|&l| column[l].wide() * code[l].wide()).sum();
            let own = code[k].wide();
            value += own * (image + shift.wide() * own - 2.0 * rhs[k].wide());
        }
        Some(value)
    }

    /// Chooses atoms; `left` holds the correlations with what is left of the sample. Returns the value.
    #[inline(always)]
    fn run(&mut self, left: &mut [T], shift: T) -> f64 {
        self.weigh(shift);
        self.chosen.clear();
        self.along.clear();
        self.free.clear();
        self.free.extend_from_slice(&self.weights);
        let mut value = 0.0;
        let mut first = T::zero();
        for step in 0..self.limit {
            let (k, best) = largest(left, &self.free);
            first = first.max(best);
            // Rounding alone leaves about this much of the first correlation.
            if best <= T::of(16.0) * T::epsilon() * first {
                break;
            }
            let Some(length) = self.add(k, step, shift) else { break };
            let along = left[k] / length;
            axpy(-along, self.directions.column(step), left);
            self.free[k] = T::zero();
            self.chosen.push(k);
            self.along.push(along);
            value -= along.wide() * along.wide();
        }
        value
    }

    /// The weights of the selection for this shift.
    #[inline(always)]
    fn weigh(&mut self, shift: T) {
        if self.shift == Some(shift) {
            return;
        }
        let gram = self.gram;
        let largest = (0..gram.rows()).fold(T::zero(), |top, k| top.max(gram.column(k)[k]));
        let floor = T::of(1e-24) * (largest + shift);
        self.weights.clear();
        self.weights.extend((0..gram.rows()).map(|k| {
            let square = gram.column(k)[k] + shift;
            if square > floor { T::one() / square.sqrt() } else { T::zero() }
        }));
        self.shift = Some(shift);
    }

    /// The direction that atom `k` adds to those chosen, as correlations with all atoms; returns its
    /// length, or `None` where the atom depends on those chosen.
    #[inline(always)]
    fn add(&mut self, k: usize, step: usize, shift: T) -> Option<T> {
        let p = self.gram.rows();
        let (before, new) = self.directions.as_mut_slice().split_at_mut(step * p);
        let new = &mut new[..p];
        let row = &mut self.factor[step * self.limit..][..=step];
        let square = self.gram.column(k)[k] + shift;
        let mut pivot = square;
        for (entry, direction) in row.iter_mut().zip(before.chunks_exact(p)) {
            *entry = direction[k];
            pivot -= *entry * *entry;
        }
        let share = T::of(DEPENDENT).max(T::of(4.0) * T::epsilon());
        if pivot.is_nan() || pivot <= share * square {
            return None;
        }
        let length = pivot.sqrt();
        row[step] = length;
        new.copy_from_slice(self.gram.column(k));
        new[k] += shift;
        subtract(before, &row[..step], new);
        let inverse = T::one() / length;
        new.iter_mut().for_each(|c| *c *= inverse);
        Some(length)
    }

    /// Solves for the coefficients of the chosen atoms and writes the code.
    fn write(&mut self, code: &mut [T]) {
        code.fill(T::zero());
        for t in (0..self.chosen.len()).rev() {
            let row = &self.factor[t * self.limit..][..=t];
            let value = self.along[t] / row[t];
            axpy(-value, &row[..t], &mut self.along[..t]);
            code[self.chosen[t]] = value;
        }
    }
}

/// Entries that are compared at once.
const LANES: usize = 16;

/// The place and size of the largest weighted absolute value, the first of equals.
#[inline(always)]
fn largest<T: Real>(values: &[T], weights: &[T]) -> (usize, T) {
    let size = |(value, weight): (&T, &T)| value.abs() * *weight;
    let mut best = [T::zero(); LANES];
    let (whole, weighted) = (values.chunks_exact(LANES), weights.chunks_exact(LANES));
    let rest = whole.remainder().iter().zip(weighted.remainder());
    let mut top = rest.map(size).fold(T::zero(), |top, v| if v > top { v } else { top });
    for (values, weights) in whole.zip(weighted) {
        for lane in 0..LANES {
            let value = values[lane].abs() * weights[lane];
            best[lane] = if value > best[lane] { value } else { best[lane] };
        }
    }
    top = best.iter().fold(top, |top, &v| if v > top { v } else { top });
    // The place is looked for in a second pass: the first then has no branch.
    let place = values.iter().zip(weights).position(|pair| size(pair) == top);
    (place.unwrap_or(0), top)
}

/// `new -= before · row`, four columns at a time: each pass over `new` then does four times the work.
#[inline(always)]
fn subtract<T: Real>(before: &[T], row: &[T], new: &mut [T]) {
    let p = new.len();
    let whole = row.len() / 4 * 4;
    for (columns, factors) in before.chunks_exact(4 * p).zip(row.chunks_exact(4)) {
        let (left, right) = columns.split_at(2 * p);
        let (a, b) = left.split_at(p);
        let (c, d) = right.split_at(p);
        // Iterators of equal length need no check in the loop, which is then vectorised.
        let entries = new.iter_mut().zip(a).zip(b).zip(c).zip(d);
        for ((((new, &a), &b), &c), &d) in entries {
            *new -= (factors[0] * a + factors[1] * b) + (factors[2] * c + factors[3] * d);
        }
    }
    for (column, &factor) in before.chunks_exact(p).zip(row).skip(whole) {
        axpy(-factor, column, new);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_largest_is_the_first_of_equals_wherever_it_lies() {
        for n in [1, 15, 16, 17, 40] {
            for at in [0, n / 2, n - 1] {
                let mut values = vec![0.5f64; n];
                values[at] = -2.0;
                *values.last_mut().expect("not empty") = 2.0;
                let expected = at.min(n - 1);
                assert_eq!(largest(&values, &vec![1.0; n]), (expected, 2.0));
            }
        }
        assert_eq!(largest(&[f64::NAN, 1.0], &[1.0, 0.0]).1, 0.0, "nothing can be chosen");
    }
}
