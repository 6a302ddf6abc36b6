//! Run-time choice of vector instructions: AVX2 where the processor has it; 512-bit ones were slower.

/// Runs `work` compiled for the instruction set that suits this processor.
///
/// Plain loops inside (when they are inlined: mark the closure and what it calls
/// `#[inline(always)]`) are vectorised for it, so one binary serves every machine.
#[inline(always)]
pub(crate) fn wide<R>(work: impl FnOnce() -> R) -> R {
    pulp::Arch::new().dispatch(work)
}
