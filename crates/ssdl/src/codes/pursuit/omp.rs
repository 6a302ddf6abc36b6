//! At most $T$ atoms for each sample: orthogonal matching pursuit on the Gram matrix.

use super::refit::{DEPENDENT, OnSupport};
use super::{Pulled, Pursuit};
use crate::matrix::{axpy, halve};
use crate::threads::Loops;
use crate::wide::wide;
use crate::{Matrix, Real};

/// Rounding errors, relative to a value, that are no difference.
const TIE: f64 = 64.0;
/// Samples that a thread takes at once.
const CHUNK: usize = 16;
/// Atoms that are treated at once: all sums of a strip stay in registers.
const LANES: usize = 32;

/// $\min_a\;a^\top Ga-2r^\top a+\kappa\lVert a\rVert^2$ with at most $T$ nonzero coefficients, greedily:
/// the atom with the largest correlation for its length joins, then all coefficients are fitted again.
///
/// The Cholesky factor of the chosen atoms grows by a row for each atom. Its row is read from the
/// correlations of all atoms with the orthonormal directions chosen so far, so there is no triangular
/// solve until the end: $O(pT^2)$ for each sample. One pass over the atoms adds a direction, takes it from
/// what is left and finds the next atom. Ties go to the smaller index. A sample stops early
/// when the best atom depends on those chosen, or nothing correlates any more; so codes stay finite on
/// zero and repeated atoms.
///
/// A start with at most $T$ atoms stays where these, their coefficients fitted again, are better than what is found.
#[derive(Clone, Copy, Debug)]
pub struct Omp {
    /// $T$.
    pub n_nonzero: usize,
}

impl<T: Real> Pursuit<T> for Omp {
    #[inline(never)]
    fn code(&self, problem: Pulled<'_, T>, codes: &mut Matrix<T>) {
        let Pulled { gram, rhs, shifts } = problem;
        let p = gram.rows();
        if p == 0 {
            return;
        }
        let limit = self.n_nonzero.min(p);
        let columns = codes.as_mut_slice().chunks_mut(p * CHUNK);
        let sides = rhs.as_slice().chunks(p * CHUNK);
        columns.zip(sides).enumerate().each_with(
            || Search::new(gram, limit),
            |search, (chunk, (codes, sides))| {
                let both = codes.chunks_exact_mut(p).zip(sides.chunks_exact(p));
                for (place, (code, side)) in both.enumerate() {
                    let shift = shifts.get(chunk * CHUNK + place).copied().unwrap_or(T::zero());
                    wide(
                        #[inline(always)]
                        || search.improve(side, shift, code),
                    );
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

/// The search for the code of one sample; its arrays are used again for the next. Those with an entry for
/// each atom come in strips, the last filled up with zeros.
struct Search<'a, T> {
    gram: &'a Matrix<T>,
    limit: usize,
    /// $G_{kk}$, and the largest of them.
    diagonal: Vec<T>,
    longest: T,
    /// $1/\sqrt{G_{kk}+\kappa}$ of the last shift; zero where an atom is zero.
    weights: Vec<[T; LANES]>,
    shift: Option<T>,
    /// Atoms chosen, in order.
    chosen: Vec<usize>,
    /// The weights of the atoms that may still be chosen; zero for the others.
    free: Vec<[T; LANES]>,
    /// Correlations with what is left of the sample; of no meaning for chosen atoms.
    left: Vec<[T; LANES]>,
    /// Row $t$ of the Cholesky factor, its pivot included, `limit` entries each.
    factor: Vec<T>,
    /// Correlations of all atoms with each orthonormal direction: for each strip of atoms all directions.
    directions: Vec<[T; LANES]>,
    /// The sample along each direction.
    along: Vec<T>,
    /// The atoms of the code to start from.
    start: OnSupport<T>,
}

impl<'a, T: Real> Search<'a, T> {
    fn new(gram: &'a Matrix<T>, limit: usize) -> Self {
        let strips = gram.rows().div_ceil(LANES);
        let diagonal: Vec<T> = (0..gram.rows()).map(|k| gram.column(k)[k]).collect();
        let zeros = vec![[T::zero(); LANES]; strips];
        Self {
            gram,
            limit,
            longest: diagonal.iter().fold(T::zero(), |top, &square| top.max(square)),
            diagonal,
            weights: zeros.clone(),
            shift: None,
            chosen: Vec::with_capacity(limit),
            free: zeros.clone(),
            left: zeros,
            factor: vec![T::zero(); limit * limit],
            directions: vec![[T::zero(); LANES]; strips * limit],
            along: Vec::with_capacity(limit),
            start: OnSupport::new(),
        }
    }

    /// Searches, and writes the code where it is no worse than the atoms to start from.
    #[inline(always)]
    fn improve(&mut self, rhs: &[T], shift: T, code: &mut [T]) {
        let found = self.run(rhs, shift);
        // Both may explain the sample fully: rounding, and with it the order of the atoms, must not choose.
        let better = found * (1.0 + TIE * T::epsilon().wide());
        self.start.take(code);
        let can_stay = (1..=self.limit).contains(&self.start.atoms.len());
        if can_stay && self.start.solve(self.gram, shift, |_, k| rhs[k]) < better {
            self.start.write(code);
        } else {
            self.write(code);
        }
    }

    /// Chooses atoms; returns the value that is reached.
    #[inline(always)]
    fn run(&mut self, rhs: &[T], shift: T) -> f64 {
        self.weigh(shift);
        self.chosen.clear();
        self.along.clear();
        self.free.copy_from_slice(&self.weights);
        self.left.as_flattened_mut()[..rhs.len()].copy_from_slice(rhs);
        let (mut k, mut best) = largest(&self.left, &self.free);
        let (mut value, mut first) = (0.0, T::zero());
        for step in 0..self.limit {
            first = first.max(best);
            // Rounding alone leaves about this much of the first correlation.
            if best <= T::of(16.0) * T::epsilon() * first {
                break;
            }
            let Some(length) = self.extend(k, step, shift) else { break };
            let along = self.left[k / LANES][k % LANES] / length;
            self.free[k / LANES][k % LANES] = T::zero();
            self.chosen.push(k);
            self.along.push(along);
            value -= along.wide() * along.wide();
            // Nobody asks what the last atom leaves.
            if step + 1 < self.limit {
                (k, best) = self.follow(k, step, (along, T::one() / length));
            }
        }
        value
    }

    /// The weights of the selection for this shift.
    #[inline(always)]
    fn weigh(&mut self, shift: T) {
        if self.shift == Some(shift) {
            return;
        }
        let floor = T::of(1e-24) * (self.longest + shift);
        for (weight, &own) in self.weights.as_flattened_mut().iter_mut().zip(&self.diagonal) {
            let square = own + shift;
            *weight = if square > floor { T::one() / square.sqrt() } else { T::zero() };
        }
        self.shift = Some(shift);
    }

    /// The row that atom `k` adds to the factor; returns its pivot, the length of the atom outside the span
    /// of those chosen, or `None` where it depends on them.
    #[inline(always)]
    fn extend(&mut self, k: usize, step: usize, shift: T) -> Option<T> {
        let row = &mut self.factor[step * self.limit..][..=step];
        let strip = &self.directions[k / LANES * self.limit..][..step];
        let square = self.diagonal[k] + shift;
        let mut pivot = square;
        for (entry, direction) in row.iter_mut().zip(strip) {
            *entry = direction[k % LANES];
            pivot -= *entry * *entry;
        }
        let share = T::of(DEPENDENT).max(T::of(4.0) * T::epsilon());
        if pivot.is_nan() || pivot <= share * square {
            return None;
        }
        row[step] = pivot.sqrt();
        Some(row[step])
    }

    /// Adds the direction of atom `k`, takes it from what is left, and finds the free atom with the largest
    /// correlation. A shift acts on atom `k` alone, which is not free any more.
    #[inline(always)]
    fn follow(&mut self, k: usize, step: usize, scales: (T, T)) -> (usize, T) {
        let (whole, rest) = self.gram.column(k).as_chunks::<LANES>();
        let row = &self.factor[step * self.limit..][..step];
        let mut best = Best::new();
        let directions = self.directions.chunks_exact_mut(self.limit);
        let mut strips = directions.zip(&mut self.left).zip(&self.free);
        for (products, ((directions, left), free)) in whole.iter().zip(&mut strips) {
            let rest = advance(*products, (directions, row), left, scales);
            best.compare(rest, free);
        }
        if let Some(((directions, left), free)) = strips.next() {
            let mut products = [T::zero(); LANES];
            products[..rest.len()].copy_from_slice(rest);
            let rest = advance(products, (directions, row), left, scales);
            best.compare(rest, free);
        }
        best.place()
    }

    /// Solves for the coefficients of the chosen atoms and writes the code.
    #[inline(always)]
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

/// A strip of the new direction from the products with the new atom; returns what it leaves of `left`, whose
/// strip was just stored and would be slow to read.
#[inline(always)]
fn advance<T: Real>(
    products: [T; LANES],
    (directions, row): (&mut [[T; LANES]], &[T]),
    left: &mut [T; LANES],
    (along, inverse): (T, T),
) -> [T; LANES] {
    let (before, own) = directions.split_at_mut(row.len());
    let mut new = minus(products, before, row);
    let mut rest = *left;
    for lane in 0..LANES {
        new[lane] *= inverse;
        rest[lane] -= along * new[lane];
    }
    own[0] = new;
    *left = rest;
    rest
}

/// `new` less the rows of `before`, weighted. By value: only then do all sums stay in registers.
#[inline(always)]
fn minus<T: Real>(mut new: [T; LANES], before: &[[T; LANES]], weights: &[T]) -> [T; LANES] {
    for (direction, &weight) in before.iter().zip(weights) {
        for lane in 0..LANES {
            new[lane] -= weight * direction[lane];
        }
    }
    new
}

/// The largest weighted absolute value of each lane so far, and the strip it is in.
struct Best<T> {
    values: [T; LANES],
    /// As numbers of the same width: one comparison then chooses both.
    strips: [T; LANES],
    /// The next strip.
    strip: T,
}

impl<T: Real> Best<T> {
    #[inline(always)]
    fn new() -> Self {
        let zeros = [T::zero(); LANES];
        Self { values: zeros, strips: zeros, strip: T::zero() }
    }

    #[inline(always)]
    fn compare(&mut self, values: [T; LANES], weights: &[T; LANES]) {
        for lane in 0..LANES {
            let value = values[lane].abs() * weights[lane];
            let strip = if value > self.values[lane] { self.strip } else { T::zero() };
            self.values[lane] = larger(value, self.values[lane]);
            // Strips come in order, so the last chosen is the largest. A choice between both would be
            // made lane by lane; their maximum is one instruction for all.
            self.strips[lane] = larger(strip, self.strips[lane]);
        }
        self.strip += T::one();
    }

    /// The place and size of the largest, the first of equals.
    #[inline(always)]
    fn place(&self) -> (usize, T) {
        let top = halve(self.values, larger);
        let mut places = [T::infinity(); LANES];
        for (lane, place) in places.iter_mut().enumerate() {
            let own = self.strips[lane] * T::of(LANES as f64) + T::of(lane as f64);
            *place = if self.values[lane] == top { own } else { *place };
        }
        let first = halve(places, |a, b| if a < b { a } else { b });
        (first.wide() as usize, top)
    }
}

/// The place and size of the largest weighted absolute value, the first of equals.
#[inline(always)]
fn largest<T: Real>(values: &[[T; LANES]], weights: &[[T; LANES]]) -> (usize, T) {
    let mut best = Best::new();
    // A loop: what `for_each` calls is not inlined here, and then not vectorised.
    for (values, weights) in values.iter().zip(weights) {
        best.compare(*values, weights);
    }
    best.place()
}

/// The larger of two, the second where the first is not a number: one instruction.
#[inline(always)]
fn larger<T: Real>(a: T, b: T) -> T {
    if a > b { a } else { b }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_largest_is_the_first_of_equals_wherever_it_lies() {
        for n in [1, 2, 3, 10] {
            let weights = vec![[1.0; LANES]; n];
            for at in [0, 7, n * LANES / 2, n * LANES - 1] {
                let mut values = vec![[0.5f64; LANES]; n];
                values[at / LANES][at % LANES] = -2.0;
                values[n - 1][LANES - 1] = 2.0;
                assert_eq!(largest(&values, &weights), (at, 2.0));
            }
        }
        let mut values = [[0.0; LANES]];
        (values[0][0], values[0][1]) = (f64::NAN, 1.0);
        assert_eq!(largest(&values, &[[0.0; LANES]]).1, 0.0, "nothing can be chosen");
    }
}
