//! The two precisions, as the card knows them.

use cudarc::cublas::{CudaBlas, Gemm};
use cudarc::driver::{DeviceRepr, ValidAsZeroBits};
use ssdl::Real;

use super::card::Argument;

/// A precision that kernels are compiled for.
pub trait Number: Real + DeviceRepr + ValidAsZeroBits {
    /// Its place among the compiled kernels.
    const INDEX: usize;
    /// The type of the kernels' `REAL`.
    const REAL: &'static str;

    /// As an argument of a kernel.
    fn argument(self) -> Argument;
}

impl Number for f32 {
    const INDEX: usize = 0;
    const REAL: &'static str = "float";

    fn argument(self) -> Argument {
        Argument::Single(self)
    }
}

impl Number for f64 {
    const INDEX: usize = 1;
    const REAL: &'static str = "double";

    fn argument(self) -> Argument {
        Argument::Double(self)
    }
}

/// A precision in which cuBLAS multiplies.
pub trait Multiplied: Number {
    /// cuBLAS for this precision.
    fn blas(blas: &CudaBlas) -> &impl Gemm<Self>;
}

impl Multiplied for f32 {
    fn blas(blas: &CudaBlas) -> &impl Gemm<Self> {
        blas
    }
}

impl Multiplied for f64 {
    fn blas(blas: &CudaBlas) -> &impl Gemm<Self> {
        blas
    }
}
