//! Run-time choice of the widest vector instructions the processor has.

/// Runs `work` compiled for the widest instruction set that this processor offers.
///
/// Plain loops inside (when they are inlined: mark the closure and what it calls
/// `#[inline(always)]`) are vectorised for it, so one binary serves every machine at full width.
#[inline(always)]
pub(crate) fn wide<R>(work: impl FnOnce() -> R) -> R {
    pulp::Arch::new().dispatch(work)
}
