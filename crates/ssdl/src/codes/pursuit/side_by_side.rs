//! The l1 penalty on few atoms: samples side by side in the lanes of a register.
//!
//! With few atoms nearly all of them take part, and a working set costs more than it saves. Here every
//! sweep visits all atoms, for [`LANES`] samples at once: $p^2$ multiply-adds for all of them together.

use super::{Lasso, Pulled};
use crate::codes::working_set::{Effort, Local, Penalty, WorkingSet, gap_scale, soft};
use crate::threads::Loops;
use crate::wide::wide;
use crate::{Matrix, Real};

/// Samples that are swept at once.
const LANES: usize = 16;
/// More atoms than this are coded one sample after the other.
const FEW: usize = 64;
/// Sweeps after which a sample is handed to the search on a working set, which solves for a support
/// directly where sweeps crawl.
const SWEEPS: usize = 60;

/// A number of each sample.
type Lane<T> = [T; LANES];

impl Lasso {
    /// The same codes as [`Pursuit::code`](super::Pursuit::code), to the same distance from the minimum; no
    /// sample influences another. Faster where there are few atoms. Cost per sweep $p^2$ for each sample.
    pub(crate) fn code_side_by_side<T: Real>(&self, problem: Pulled<'_, T>, codes: &mut Matrix<T>) {
        let Pulled { gram, rhs, shifts } = problem;
        let p = gram.rows();
        let shift = shifts.first().copied().unwrap_or(T::zero());
        if p == 0 || p > FEW || shifts.iter().any(|other| *other != shift) {
            return super::Pursuit::code(self, Pulled { gram, rhs, shifts }, codes);
        }
        let penalty = Penalty { sparsity: T::of(self.sparsity), nonnegative: self.nonnegative };
        let local = Local { gram, shift, margin: None, penalty };
        let effort = Effort {
            rounds: self.solver.sweeps + 1,
            sweeps: self.solver.inner_sweeps,
            tolerance: T::of(self.solver.tolerance),
            direct: self.solver.direct,
        };
        let columns = codes.as_mut_slice().chunks_mut(p * LANES);
        columns.zip(rhs.as_slice().chunks(p * LANES)).runs_of(2).each_with(
            || (Lanes::new(gram, shift, penalty), WorkingSet::new()),
            |(lanes, set), (codes, sides)| {
                let done = wide(
                    #[inline(always)]
                    || lanes.improve(sides, codes, effort.tolerance),
                );
                let both = codes.chunks_exact_mut(p).zip(sides.chunks_exact(p));
                for ((code, side), _) in both.zip(done).filter(|(_, done)| !done) {
                    set.solve(local, side, code, effort);
                }
            },
        );
    }
}

/// The sweeps of up to [`LANES`] samples; its arrays are used again for the next.
struct Lanes<'a, T> {
    gram: &'a Matrix<T>,
    shift: T,
    penalty: Penalty<T>,
    /// $1/(G_{kk}+\kappa)$; zero for an atom without length.
    inverse: Vec<T>,
    /// $r-(G+\kappa I)a$ of each atom.
    slopes: Vec<Lane<T>>,
    codes: Vec<Lane<T>>,
}

impl<'a, T: Real> Lanes<'a, T> {
    fn new(gram: &'a Matrix<T>, shift: T, penalty: Penalty<T>) -> Self {
        let p = gram.rows();
        let inverse = (0..p).map(|k| {
            let own = gram.column(k)[k] + shift;
            if own <= T::min_positive_value() { T::zero() } else { T::one() / own }
        });
        let zeros = vec![[T::zero(); LANES]; p];
        Self {
            gram,
            shift,
            penalty,
            inverse: inverse.collect(),
            slopes: zeros.clone(),
            codes: zeros,
        }
    }

    /// Improves the codes of the samples whose right-hand sides are `sides`; returns which of them are
    /// within `tolerance` of the minimum.
    #[inline(always)]
    fn improve(&mut self, sides: &[T], codes: &mut [T], tolerance: T) -> [bool; LANES] {
        let p = self.gram.rows();
        self.load(sides, codes);
        let mut scales = [T::one(); LANES];
        for (scale, side) in scales.iter_mut().zip(sides.chunks_exact(p)) {
            *scale = gap_scale(self.penalty.sparsity, side);
        }
        let mut still = [T::zero(); LANES];
        for lane in 0..LANES {
            still[lane] = T::of(0.125) * tolerance * scales[lane];
        }
        // One where a sample still moves; samples that do not are left alone, so that none depends on
        // those beside it.
        let mut moving = [T::one(); LANES];
        for _ in 0..SWEEPS {
            let moved = self.sweep(moving);
            let mut any = false;
            for lane in 0..LANES {
                let goes_on = moved[lane] > still[lane];
                moving[lane] = if goes_on { moving[lane] } else { T::zero() };
                any |= goes_on;
            }
            if !any {
                break;
            }
        }
        for (lane, code) in codes.chunks_exact_mut(p).enumerate() {
            code.iter_mut().zip(&self.codes).for_each(|(a, lanes)| *a = lanes[lane]);
        }
        let gaps = self.gaps();
        std::array::from_fn(|lane| gaps[lane] + gaps[lane] <= tolerance * scales[lane])
    }

    /// Right-hand sides and codes, a lane for each sample, and the slopes; lanes without one stay zero.
    #[inline(always)]
    fn load(&mut self, sides: &[T], codes: &[T]) {
        let p = self.gram.rows();
        let zeros = [T::zero(); LANES];
        self.slopes.fill(zeros);
        self.codes.fill(zeros);
        for (lane, (side, code)) in sides.chunks_exact(p).zip(codes.chunks_exact(p)).enumerate() {
            for k in 0..p {
                self.slopes[k][lane] = side[k];
                self.codes[k][lane] = code[k];
            }
        }
        for k in 0..p {
            let code = self.codes[k];
            if code.iter().any(|a| *a != T::zero()) {
                self.follow(k, code);
            }
        }
    }

    /// Takes the part of atom `k` that these steps add from all slopes.
    #[inline(always)]
    fn follow(&mut self, k: usize, steps: Lane<T>) {
        for (slopes, &product) in self.slopes.iter_mut().zip(self.gram.column(k)) {
            for lane in 0..LANES {
                slopes[lane] -= product * steps[lane];
            }
        }
        let own = &mut self.slopes[k];
        for lane in 0..LANES {
            own[lane] -= self.shift * steps[lane];
        }
    }

    /// One sweep over all atoms; returns the largest change of a slope of each sample.
    #[inline(always)]
    fn sweep(&mut self, moving: Lane<T>) -> Lane<T> {
        let thresholds = self.penalty.thresholds();
        let mut moved = [T::zero(); LANES];
        for k in 0..self.codes.len() {
            let own = self.gram.column(k)[k] + self.shift;
            let (inverse, slopes, mut code) = (self.inverse[k], self.slopes[k], self.codes[k]);
            let mut steps = [T::zero(); LANES];
            for lane in 0..LANES {
                let new = soft(slopes[lane] + own * code[lane], thresholds) * inverse;
                steps[lane] = (new - code[lane]) * moving[lane];
                code[lane] = if moving[lane] > T::zero() { new } else { code[lane] };
                let change = steps[lane].abs() * own;
                moved[lane] = if change > moved[lane] { change } else { moved[lane] };
            }
            self.codes[k] = code;
            let mut any = false;
            for step in steps {
                any |= step != T::zero();
            }
            if any {
                self.follow(k, steps);
            }
        }
        moved
    }

    /// The largest distance of a slope from what the penalty allows, for each sample.
    #[inline(always)]
    fn gaps(&self) -> Lane<T> {
        let (above, below) = self.penalty.thresholds();
        let mut gaps = [T::zero(); LANES];
        for ((slopes, codes), &inverse) in self.slopes.iter().zip(&self.codes).zip(&self.inverse) {
            for lane in 0..LANES {
                let (u, a) = (slopes[lane], codes[lane]);
                let gap = if a > T::zero() {
                    (u - above).abs()
                } else if a < T::zero() {
                    (u + below).abs()
                } else {
                    (u - above).max(-u - below)
                };
                // An atom without length cannot help.
                if inverse > T::zero() && gap > gaps[lane] {
                    gaps[lane] = gap;
                }
            }
        }
        gaps
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::codes::Pursuit;

    fn problem(n: usize, p: usize, count: usize) -> (Matrix<f64>, Matrix<f64>) {
        let atoms = Matrix::from_fn(n, p, |i, k| ((i * 31 + k * 17 + i * k) as f64).sin() + 0.6);
        let samples = Matrix::from_fn(n, count, |i, j| ((i * 7 + j * 13 + i * j) as f64).cos());
        (atoms.gram(), Matrix::of_product(atoms.transposed(), samples.view()))
    }

    #[test]
    fn samples_side_by_side_get_the_codes_that_they_get_alone() {
        for (n, p, count) in [(12, 5, 3), (30, 20, 37), (8, 20, 16), (9, 1, 1)] {
            let (gram, rhs) = problem(n, p, count);
            for (nonnegative, sparsity, shift) in
                [(false, 0.3, 0.0), (true, 0.3, 0.2), (false, 0.0, 0.1), (false, 50.0, 0.0)]
            {
                let lasso = Lasso { nonnegative, ..Lasso::new(sparsity).exact::<f64>() };
                let start = Matrix::from_fn(p, count, |k, j| ((k + j) % 3) as f64 * 0.1);
                let given = |rhs: &Matrix<f64>| Pulled {
                    gram: &gram,
                    rhs: rhs.clone(),
                    shifts: vec![shift; rhs.columns()],
                };
                let (mut together, mut expected) = (start.clone(), start.clone());
                lasso.code_side_by_side(given(&rhs), &mut together);
                lasso.code(given(&rhs), &mut expected);
                for (a, b) in together.as_slice().iter().zip(expected.as_slice()) {
                    assert!((a - b).abs() < 1e-4 * (1.0 + b.abs()), "{p} {sparsity}: {a} {b}");
                }
                for j in 0..count {
                    let mut alone = start.select_columns(&[j]);
                    lasso.code_side_by_side(given(&rhs.select_columns(&[j])), &mut alone);
                    assert_eq!(alone.column(0), together.column(j), "sample {j} of {count}");
                }
            }
        }
    }

    #[test]
    fn an_atom_without_length_gets_nothing() {
        let gram = Matrix::from_fn(3, 3, |k, l| if k == l && k != 1 { 1.0 } else { 0.0 });
        let rhs = Matrix::from_fn(3, 2, |k, _| if k == 1 { 0.0 } else { 2.0 });
        let mut codes = Matrix::from_fn(3, 2, |_, _| 0.5);
        let lasso = Lasso::new(0.2).exact::<f64>();
        lasso.code_side_by_side(Pulled { gram: &gram, rhs, shifts: Vec::new() }, &mut codes);
        assert!(codes.iter_columns().all(|code| code[1] == 0.0));
        assert!(codes.iter_columns().all(|code| (code[0] - 1.9f64).abs() < 1e-9));
    }
}
