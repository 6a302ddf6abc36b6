//! Numbers of half precision: what a model keeps of its training samples where they are many.

use crate::Real;
use crate::threads::Loops;

/// Numbers that a thread looks at, at least.
const PART: usize = 1 << 14;

/// The nearest numbers of half precision.
pub(crate) fn to_halves<T: Real>(values: &[T]) -> Vec<u16> {
    let mut halves = vec![0; values.len()];
    halves.chunks_mut(PART).zip(values.chunks(PART)).each(|(halves, values)| {
        for (half, value) in halves.iter_mut().zip(values) {
            *half = to_half(value.wide() as f32);
        }
    });
    halves
}

/// Back to numbers that can be computed with; no digit is lost.
pub(crate) fn from_halves<T: Real>(halves: &[u16]) -> Vec<T> {
    let mut values = vec![T::zero(); halves.len()];
    values.chunks_mut(PART).zip(halves.chunks(PART)).each(|(values, halves)| {
        for (value, &half) in values.iter_mut().zip(halves) {
            *value = T::of(f64::from(from_half(half)));
        }
    });
    values
}

/// Rounds to numbers of half precision.
pub(crate) fn round<T: Real>(values: &mut [T]) {
    let round = |v: &mut T| *v = T::of(f64::from(from_half(to_half(v.wide() as f32))));
    values.chunks_mut(PART).each(|part| part.iter_mut().for_each(round));
}

/// Whether all of them are finite.
pub(crate) fn all_finite(halves: &[u16]) -> bool {
    // Without an early end within a part these are a few vector instructions.
    let is_bad = |part: &[u16]| part.iter().fold(false, |bad, h| bad | (h & 0x7c00 == 0x7c00));
    !halves.chunks(PART).gather(is_bad).contains(&true)
}

/// The nearest number of half precision, ties to even; the largest where it would be infinite.
fn to_half(value: f32) -> u16 {
    let bits = value.to_bits();
    let sign = ((bits >> 16) & 0x8000) as u16;
    let size = value.abs();
    if size.is_nan() {
        return sign | 0x7e00;
    }
    if size >= 65_504.0 {
        return sign | 0x7bff;
    }
    // Below the normal range numbers are multiples of 2⁻²⁴, which rounds by itself.
    if size < 6.103_515_6e-5 {
        return sign | (size * 16_777_216.0).round_ties_even() as u16;
    }
    let bits = size.to_bits();
    let odd = (bits >> 13) & 1;
    sign | (((bits + 0xfff + odd) >> 13) - (112 << 10)) as u16
}

#[inline(always)]
fn from_half(half: u16) -> f32 {
    /// $2^{112}$, between the exponents of the two formats.
    const SHIFT: f32 = f32::from_bits((127 + 112) << 23);
    let bits = u32::from(half);
    // Below the normal range, too, the product is exact.
    let size = f32::from_bits((bits & 0x7fff) << 13) * SHIFT;
    let size = if bits & 0x7c00 == 0x7c00 {
        f32::from_bits(0x7f80_0000 | (bits & 0x3ff) << 13)
    } else {
        size
    };
    f32::from_bits(size.to_bits() | (bits & 0x8000) << 16)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn halves_come_back_and_the_nearest_is_taken() {
        for half in 0..=u16::MAX {
            let value = from_half(half);
            if value.is_finite() {
                assert_eq!(from_half(to_half(value)).to_bits(), value.to_bits(), "{half:04x}");
            }
        }
        assert_eq!(from_half(to_half(1.0 + 1.0 / 2048.0)), 1.0);
        assert_eq!(from_half(to_half(1.0 + 3.0 / 2048.0)), 1.0 + 2.0 / 1024.0);
        assert_eq!(from_half(to_half(0.1)), 0.099_975_586);
        assert_eq!(from_half(to_half(-7e4)), -65_504.0);
        assert_eq!(from_half(to_half(3e-8)), 1.0 / 16_777_216.0);
        assert!(from_half(to_half(f32::NAN)).is_nan());
        assert_eq!(from_half(0xfc00), f32::NEG_INFINITY);
        for half in 0..=u16::MAX {
            assert_eq!(all_finite(&[0x3c00, half]), from_half(half).is_finite(), "{half:04x}");
        }
    }
}
