//! The number type everything is generic over: `f32` or `f64`.

use std::fmt::{Debug, Display};
use std::iter::Sum;

use crate::device::{Device, Engine};

/// A floating-point number that the whole library can compute with.
///
/// Implemented for `f32` and `f64`; sums that feed an objective are always accumulated in `f64`.
pub trait Real:
    num_traits::Float
    + num_traits::NumAssign
    + faer::traits::RealField
    + bytemuck::Pod
    + Sum
    + Default
    + Debug
    + Display
    + Send
    + Sync
    + 'static
{
    /// The name of the type in model files: `f32` or `f64`.
    const NAME: &'static str;

    /// Nearest value of this type.
    fn of(value: f64) -> Self;

    /// The value as `f64`, exactly.
    fn wide(self) -> f64;

    /// The steps of a device in this precision.
    #[doc(hidden)]
    fn engine(device: &dyn Device) -> &dyn Engine<Self>;
}

impl Real for f32 {
    const NAME: &'static str = "f32";

    #[inline(always)]
    fn of(value: f64) -> Self {
        value as f32
    }

    #[inline(always)]
    fn wide(self) -> f64 {
        f64::from(self)
    }

    fn engine(device: &dyn Device) -> &dyn Engine<Self> {
        device.single()
    }
}

impl Real for f64 {
    const NAME: &'static str = "f64";

    #[inline(always)]
    fn of(value: f64) -> Self {
        value
    }

    #[inline(always)]
    fn wide(self) -> f64 {
        self
    }

    fn engine(device: &dyn Device) -> &dyn Engine<Self> {
        device.double()
    }
}
