//! Running work in a fixed number of threads.

/// Runs `work` with `n_threads` threads (0: those of the pool that the caller is in, else one per
/// core).
///
/// The pool lives only as long as the call, so nothing survives a fork; results do not depend on
/// the number of threads. If the system refuses to start threads, the work runs in the caller's.
pub fn run<R: Send>(n_threads: usize, work: impl FnOnce() -> R + Send) -> R {
    if n_threads == 0 && rayon::current_thread_index().is_some() {
        return work();
    }
    match rayon::ThreadPoolBuilder::new().num_threads(n_threads).build() {
        Ok(pool) => pool.install(work),
        Err(_) => work(),
    }
}
