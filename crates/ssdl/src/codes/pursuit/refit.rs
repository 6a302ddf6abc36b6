//! The atoms that a code has already, with coefficients that are fitted again.

use crate::matrix::four_products;
use crate::sparse::for_nonzeros;
use crate::threads::Loops;
use crate::wide::wide;
use crate::{Matrix, Real};

/// Numbers of a row that are treated at once.
const LANES: usize = 16;
/// Samples that a thread takes at once.
const CHUNK: usize = 16;
/// An atom that keeps less than this share of its squared length outside the span of those before it depends
/// on them.
pub(super) const DEPENDENT: f64 = 1e-10;

/// $\min_a\;a^\top Ga-2r^\top a$ with $r=D^\top x$ for each sample, over the atoms that its code has: codes never get
/// worse, and their supports stay.
///
/// Only the products of a sample with its own atoms are needed, so this costs a fraction $T/p$ of a pursuit:
/// $nT+T^3$ for each sample.
#[derive(Clone, Copy)]
pub struct Refit<'a, T> {
    /// $D$, $n\times p$.
    pub atoms: &'a Matrix<T>,
    /// $G$, $p\times p$; $D^\top D$ and whatever else is quadratic.
    pub gram: &'a Matrix<T>,
    /// Columns that are added to $r$, and which of them each sample takes.
    pub pulls: Option<(&'a Matrix<T>, &'a [usize])>,
}

impl<T: Real> Refit<'_, T> {
    /// Improves `codes` ($p\times N$) of samples ($n\times N$).
    #[inline(never)]
    pub fn code(&self, samples: &Matrix<T>, codes: &mut Matrix<T>) {
        let p = codes.rows().max(1);
        codes.as_mut_slice().chunks_mut(p * CHUNK).enumerate().each_with(
            || (OnSupport::new(), Vec::new()),
            |(own, rhs), (chunk, codes)| {
                wide(
                    #[inline(always)]
                    || {
                        for (place, code) in codes.chunks_exact_mut(p).enumerate() {
                            let j = chunk * CHUNK + place;
                            own.take(code);
                            self.products(samples.column(j), &own.atoms, rhs);
                            if let Some((pulls, chosen)) = self.pulls {
                                let pull = pulls.column(chosen[j]);
                                let entries = rhs.iter_mut().zip(&own.atoms);
                                entries.for_each(|(r, &k)| *r += pull[k]);
                            }
                            own.solve(self.gram, T::zero(), |at, _| rhs[at]);
                            own.write(code);
                        }
                    },
                );
            },
        );
    }

    /// $d_k^\top x$ of the chosen atoms.
    #[inline(always)]
    fn products(&self, x: &[T], chosen: &[usize], out: &mut Vec<T>) {
        out.clear();
        // Without a group of its own the last atoms are joined by copies of the last one.
        for group in chosen.chunks(4) {
            let of = |at: usize| self.atoms.column(group[at.min(group.len() - 1)]);
            let sums = four_products(x, [of(0), of(1), of(2), of(3)]);
            out.extend_from_slice(&sums[..group.len()]);
        }
    }
}

/// Least squares over the atoms of one code, its arrays used again for the next.
pub(super) struct OnSupport<T> {
    /// The atoms, in order.
    pub atoms: Vec<usize>,
    /// $[G_{II}\;r_I]$ in strips of columns, one after the other.
    rows: Vec<[T; LANES]>,
    factors: Vec<T>,
    coefficients: Vec<T>,
}

impl<T: Real> OnSupport<T> {
    pub fn new() -> Self {
        Self { atoms: Vec::new(), rows: Vec::new(), factors: Vec::new(), coefficients: Vec::new() }
    }

    /// Takes over the atoms of a code.
    #[inline(always)]
    pub fn take(&mut self, code: &[T]) {
        self.atoms.clear();
        for_nonzeros(code, |k, _| self.atoms.push(k));
    }

    /// Finds the coefficients, and returns the value $a^\top Ga-2r^\top a+\kappa\lVert a\rVert^2$ that they reach.
    /// `rhs` gets the place of an atom in the code and its number. An atom that depends on those before it
    /// gets zero: they reach the same.
    ///
    /// Elimination above the diagonal, too: twice the sums, but none waits for the one before.
    #[inline(always)]
    pub fn solve(&mut self, gram: &Matrix<T>, shift: T, rhs: impl Fn(usize, usize) -> T) -> f64 {
        let count = self.atoms.len();
        self.gather(gram, shift, rhs);
        let share = T::of(DEPENDENT).max(T::of(4.0) * T::epsilon());
        let mut value = 0.0;
        self.coefficients.clear();
        for at in 0..count {
            let own = &self.rows[at / LANES * count..][..count];
            let whole = gram.column(self.atoms[at])[self.atoms[at]] + shift;
            let pivot = own[at][at % LANES];
            if pivot.is_nan() || pivot <= share * whole {
                self.coefficients.push(T::zero());
                continue;
            }
            let inverse = T::one() / pivot;
            self.coefficients.push(inverse);
            let along = self.rows[count / LANES * count + at][count % LANES];
            value -= along.wide() * along.wide() * inverse.wide();
            self.factors.clear();
            self.factors.extend(own.iter().map(|row| row[at % LANES] * inverse));
            self.factors[at] = T::zero();
            // Columns before the pivot's are not read again. By value: only then does it stay in registers.
            for strip in self.rows.chunks_exact_mut(count).skip(at / LANES) {
                let pivot = strip[at];
                for (row, &factor) in strip.iter_mut().zip(&self.factors) {
                    for lane in 0..LANES {
                        row[lane] -= factor * pivot[lane];
                    }
                }
            }
        }
        let last = self.rows.chunks_exact(count.max(1)).last().into_iter().flatten();
        for (a, row) in self.coefficients.iter_mut().zip(last) {
            *a *= row[count % LANES];
        }
        value
    }

    /// Fills the rows.
    #[inline(always)]
    fn gather(&mut self, gram: &Matrix<T>, shift: T, rhs: impl Fn(usize, usize) -> T) {
        let count = self.atoms.len();
        let strips = (count + 1).div_ceil(LANES);
        self.rows.clear();
        self.rows.resize(count * strips, [T::zero(); LANES]);
        for (at, &k) in self.atoms.iter().enumerate() {
            let column = gram.column(k);
            for (strip, others) in self.atoms.chunks(LANES).enumerate() {
                let row = &mut self.rows[strip * count + at];
                row.iter_mut().zip(others).for_each(|(entry, &l)| *entry = column[l]);
            }
            self.rows[at / LANES * count + at][at % LANES] += shift;
            self.rows[count / LANES * count + at][count % LANES] = rhs(at, k);
        }
    }

    /// Writes the coefficients into the code that the atoms are from.
    #[inline(always)]
    pub fn write(&self, code: &mut [T]) {
        for (&k, &a) in self.atoms.iter().zip(&self.coefficients) {
            code[k] = a;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Atoms of which the last is twice the second, and samples.
    fn problem(n: usize, p: usize) -> (Matrix<f64>, Matrix<f64>) {
        let mut atoms = Matrix::from_fn(n, p, |i, k| ((i * 7 + k * 5) % 11) as f64 * 0.3 - 1.3);
        let twice: Vec<f64> = atoms.column(1).iter().map(|d| 2.0 * d).collect();
        atoms.column_mut(p - 1).copy_from_slice(&twice);
        (atoms, Matrix::from_fn(n, 5, |i, j| ((i * 3 + j * 4) % 7) as f64 - 2.5))
    }

    fn left(atoms: &Matrix<f64>, samples: &Matrix<f64>, codes: &Matrix<f64>) -> Matrix<f64> {
        let mut left = samples.clone();
        left.add_product(-1.0, atoms.view(), codes.view());
        left
    }

    #[test]
    fn what_is_left_is_orthogonal_to_the_atoms_of_a_code() {
        for (n, p) in [(9, 7), (40, 30)] {
            let (atoms, samples) = problem(n, p);
            // With few atoms, with many, with two that depend on each other; the last code is empty.
            let start = Matrix::from_fn(p, 5, |k, j| {
                let chosen = [k < 2, k % 2 == 1, k < p / 2, k == 1 || k + 1 == p, false][j];
                f64::from(u8::from(chosen))
            });
            let mut codes = start.clone();
            let gram = atoms.gram();
            Refit { atoms: &atoms, gram: &gram, pulls: None }.code(&samples, &mut codes);
            let rest =
                Matrix::of_product(atoms.transposed(), left(&atoms, &samples, &codes).view());
            for j in 0..5 {
                for k in 0..p {
                    let (old, new) = (start.column(j)[k], codes.column(j)[k]);
                    assert!(old != 0.0 || new == 0.0, "supports stay");
                    assert!(old == 0.0 || rest.column(j)[k].abs() < 1e-7, "{n} {p} {j} {k}");
                }
            }
            assert!(codes.column(3)[p - 1] == 0.0, "the other atom of two reaches the same");
        }
    }

    #[test]
    fn pulls_are_part_of_the_right_hand_side() {
        let (atoms, samples) = problem(9, 7);
        let mut gram = atoms.gram();
        (0..7).for_each(|k| gram.column_mut(k)[k] += 0.5);
        let pulls = Matrix::from_fn(7, 2, |k, c| (k + c) as f64);
        let chosen = [1, 0, 1, 1, 0];
        let mut codes = Matrix::from_fn(7, 5, |_, _| 1.0);
        Refit { atoms: &atoms, gram: &gram, pulls: Some((&pulls, &chosen)) }
            .code(&samples, &mut codes);
        let mut slopes = Matrix::of_product(gram.view(), codes.view());
        slopes.add_product(-1.0, atoms.transposed(), samples.view());
        for (j, &c) in chosen.iter().enumerate() {
            for (slope, pull) in slopes.column(j).iter().zip(pulls.column(c)) {
                assert!((slope - pull).abs() < 1e-7, "{slope} {pull}");
            }
        }
    }
}
