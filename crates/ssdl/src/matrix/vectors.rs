//! Sums over slices: each is taken in one fixed order, whatever the number of threads.

use std::ops::Range;

use super::Matrix;
use crate::Real;
use crate::threads::Loops;
use crate::wide::wide;

/// Numbers of each of several products that are summed at once.
const WIDE: usize = 16;
/// Terms of a long sum that one thread adds at once.
const PART: usize = 1 << 15;

/// $\sum_i x_i^2$ in `f64`.
#[must_use]
pub fn squared_norm<T: Real>(x: &[T]) -> f64 {
    inner(x, x)
}

/// $\sum_i x_i y_i$ in `f64`, for objectives.
#[must_use]
pub fn inner<T: Real>(x: &[T], y: &[T]) -> f64 {
    in_parts(x.len(), PART, |part| {
        wide(
            #[inline(always)]
            || {
                let mut lanes = [0.0f64; 16];
                let (xs, ys) = (x[part.clone()].chunks_exact(16), y[part].chunks_exact(16));
                let rest = xs.remainder().iter().zip(ys.remainder());
                let tail: f64 = rest.map(|(a, b)| a.wide() * b.wide()).sum();
                for (a, b) in xs.zip(ys) {
                    for lane in 0..16 {
                        lanes[lane] += a[lane].wide() * b[lane].wide();
                    }
                }
                lanes.iter().sum::<f64>() + tail
            },
        )
    })
}

/// $\lVert x-y\rVert^2$ by differences, in `f64`.
#[inline(always)]
pub(crate) fn squared_distance<T: Real>(x: &[T], y: &[T]) -> f64 {
    let mut lanes = [0.0f64; 8];
    let (xs, x_tail) = x.as_chunks::<8>();
    let (ys, y_tail) = y.as_chunks::<8>();
    let mut tail = 0.0f64;
    for at in 0..x_tail.len().min(y_tail.len()) {
        let d = x_tail[at].wide() - y_tail[at].wide();
        tail += d * d;
    }
    for at in 0..xs.len().min(ys.len()) {
        for lane in 0..8 {
            let d = xs[at][lane].wide() - ys[at][lane].wide();
            lanes[lane] += d * d;
        }
    }
    lanes.iter().sum::<f64>() + tail
}

/// $\sum_i|x_i|$ in `f64`, for objectives.
#[must_use]
pub fn absolute_sum<T: Real>(x: &[T]) -> f64 {
    in_parts(x.len(), PART, |part| x[part].iter().map(|a| a.abs().wide()).sum())
}

/// Where the first number is that is not finite.
#[must_use]
#[inline(never)]
pub fn first_not_finite<T: Real>(x: &[T]) -> Option<usize> {
    let find = |(part, values): (usize, &[T])| {
        // A part is looked through in one sweep without a way out, which vector instructions can do.
        let bad = values.iter().fold(false, |bad, value| bad | !value.is_finite());
        let at = || values.iter().position(|value| !value.is_finite());
        bad.then(at).flatten().map(|at| part * PART + at)
    };
    if x.len() <= PART {
        return find((0, x));
    }
    x.chunks(PART).enumerate().gather(find).into_iter().flatten().next()
}

/// A sum over parts of a fixed size, added in order: the same bits for any number of threads.
pub(crate) fn in_parts(len: usize, size: usize, sum: impl Fn(Range<usize>) -> f64 + Sync) -> f64 {
    if len <= size {
        return sum(0..len);
    }
    let parts = 0..len.div_ceil(size);
    let sums = parts.gather(|part| sum(part * size..((part + 1) * size).min(len)));
    sums.iter().sum()
}

/// $\sum_i x_i y_i$ in the type's own precision, for kernels.
#[inline(always)]
#[must_use]
pub fn dot<T: Real>(x: &[T], y: &[T]) -> T {
    let mut lanes = [T::zero(); 8];
    let (xs, ys) = (x.chunks_exact(8), y.chunks_exact(8));
    let mut tail = T::zero();
    for (&a, &b) in xs.remainder().iter().zip(ys.remainder()) {
        tail += a * b;
    }
    for (a, b) in xs.zip(ys) {
        for lane in 0..8 {
            lanes[lane] += a[lane] * b[lane];
        }
    }
    for lane in lanes {
        tail += lane;
    }
    tail
}

/// All lanes (a power of two) by a rule for two of them, half of them in each step: one after the other they
/// would wait for each other.
#[inline(always)]
pub(crate) fn halve<T: Real, const LANES: usize>(
    mut lanes: [T; LANES],
    rule: impl Fn(T, T) -> T,
) -> T {
    let mut half = LANES / 2;
    while half > 0 {
        for lane in 0..half {
            lanes[lane] = rule(lanes[lane], lanes[lane + half]);
        }
        half /= 2;
    }
    lanes[0]
}

/// `y += c·x`.
#[inline(always)]
pub fn axpy<T: Real>(c: T, x: &[T], y: &mut [T]) {
    for (y, &x) in y.iter_mut().zip(x) {
        *y += c * x;
    }
}

/// $\sum_iw_im_i$ over the chosen columns, four at a time: a sum that is stored after each would wait for itself.
#[inline(always)]
pub(crate) fn weighted_sum<T: Real>(matrix: &Matrix<T>, chosen: &[u32], weights: &[T]) -> Vec<T> {
    let mut sum = vec![T::zero(); matrix.rows()];
    let (fours, rest) = chosen.as_chunks::<4>();
    let (by_fours, last) = weights.as_chunks::<4>();
    for (chosen, weights) in fours.iter().zip(by_fours) {
        let [a, b, c, d] = chosen.map(|j| matrix.column(j as usize));
        let columns = a.iter().zip(b).zip(c.iter().zip(d));
        for (sum, ((&a, &b), (&c, &d))) in sum.iter_mut().zip(columns) {
            *sum += (weights[0] * a + weights[1] * b) + (weights[2] * c + weights[3] * d);
        }
    }
    rest.iter().zip(last).for_each(|(&j, &w)| axpy(w, matrix.column(j as usize), &mut sum));
    sum
}

/// The products of a vector with four others: one after the other would wait for its own sums.
#[inline(always)]
pub(crate) fn four_products<T: Real>(x: &[T], others: [&[T]; 4]) -> [T; 4] {
    let mut sums = [[T::zero(); WIDE]; 4];
    let (whole, rest) = x.as_chunks::<WIDE>();
    let [a, b, c, d] = others.map(|other| other.as_chunks::<WIDE>());
    for ((((x, a), b), c), d) in whole.iter().zip(a.0).zip(b.0).zip(c.0).zip(d.0) {
        for lane in 0..WIDE {
            sums[0][lane] += x[lane] * a[lane];
            sums[1][lane] += x[lane] * b[lane];
            sums[2][lane] += x[lane] * c[lane];
            sums[3][lane] += x[lane] * d[lane];
        }
    }
    let tails = [a.1, b.1, c.1, d.1];
    let mut totals = [T::zero(); 4];
    for (total, (sums, tail)) in totals.iter_mut().zip(sums.iter().zip(tails)) {
        let tail = rest.iter().zip(tail).map(|(&x, &d)| x * d);
        *total = halve(*sums, |a, b| a + b) + tail.sum::<T>();
    }
    totals
}
