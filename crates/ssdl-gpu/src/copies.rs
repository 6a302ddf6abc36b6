//! Large copies to and from the card.
//!
//! The driver copies ordinary memory by one thread and in small pieces. Here all threads fill one locked buffer
//! while the card reads the other.

use std::sync::{Arc, Mutex, PoisonError};

use cudarc::driver::result::{memcpy_dtoh_async, memcpy_htod_async};
use cudarc::driver::{CudaContext, CudaEvent, CudaStream, DriverError, PinnedHostSlice};
use rayon::prelude::*;

/// Bytes of each of the two buffers.
const BUFFER: usize = 32 << 20;
/// Bytes from which on the buffers are worth it.
const LARGE: usize = 8 << 20;
/// Bytes that a thread copies at once.
const SHARE: usize = 1 << 20;

/// Two locked buffers, made when they are first needed.
#[derive(Default)]
pub(crate) struct Copies(Mutex<Option<[Buffer; 2]>>);

struct Buffer {
    memory: PinnedHostSlice<u8>,
    /// The last copy that uses it.
    used: CudaEvent,
}

impl Buffer {
    fn new(context: &Arc<CudaContext>) -> Result<Self, DriverError> {
        // SAFETY: plain bytes, of which only those are read that were written before.
        let memory = unsafe { context.alloc_pinned_with_flags(BUFFER, 0) }?;
        Ok(Self { memory, used: context.new_event(None)? })
    }

    /// Its first bytes, when nothing uses them any more.
    fn first(&mut self, count: usize) -> Result<&mut [u8], DriverError> {
        self.used.synchronize()?;
        Ok(&mut self.memory.as_mut_slice()?[..count])
    }
}

fn copy(from: &[u8], to: &mut [u8]) {
    let parts = to.par_chunks_mut(SHARE).zip(from.par_chunks(SHARE));
    parts.for_each(|(to, from)| to.copy_from_slice(from));
}

impl Copies {
    /// Whether a copy of this size is made here.
    pub fn are_for(bytes: usize) -> bool {
        bytes >= LARGE
    }

    /// Makes the buffers.
    pub fn prepare(&self, stream: &CudaStream) -> Result<(), DriverError> {
        self.with(stream, |_| Ok(()))
    }

    fn with<R>(
        &self,
        stream: &CudaStream,
        work: impl FnOnce(&mut [Buffer; 2]) -> Result<R, DriverError>,
    ) -> Result<R, DriverError> {
        let mut buffers = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let buffers = match &mut *buffers {
            Some(known) => known,
            none => {
                let context = stream.context();
                none.insert([Buffer::new(context)?, Buffer::new(context)?])
            }
        };
        work(buffers)
    }

    /// Copies bytes to an address on the card, in the order of the stream.
    ///
    /// # Safety
    /// There must be room for them at the address.
    pub unsafe fn send(
        &self,
        stream: &CudaStream,
        bytes: &[u8],
        to: u64,
    ) -> Result<(), DriverError> {
        self.with(stream, |buffers| {
            for (at, part) in bytes.chunks(BUFFER).enumerate() {
                let buffer = &mut buffers[at % 2];
                let place = buffer.first(part.len())?;
                copy(part, place);
                // SAFETY: as the caller says; the buffer is not touched before `used` has come to pass.
                unsafe {
                    memcpy_htod_async(to + (at * BUFFER) as u64, place, stream.cu_stream())?;
                }
                buffer.used.record(stream)?;
            }
            Ok(())
        })
    }

    /// Copies bytes from an address on the card, and waits for them.
    ///
    /// # Safety
    /// As many bytes must be there.
    pub unsafe fn fetch(
        &self,
        stream: &CudaStream,
        from: u64,
        bytes: &mut [u8],
    ) -> Result<(), DriverError> {
        let all = bytes.len();
        let size = |at: usize| BUFFER.min(all - at * BUFFER);
        self.with(stream, |buffers| {
            let ask = |buffers: &mut [Buffer; 2], at: usize| {
                let buffer = &mut buffers[at % 2];
                let place = buffer.first(size(at))?;
                // SAFETY: as the caller says; the buffer is read after `used` only.
                unsafe {
                    memcpy_dtoh_async(place, from + (at * BUFFER) as u64, stream.cu_stream())?;
                }
                buffer.used.record(stream)
            };
            let parts = all.div_ceil(BUFFER);
            (0..parts.min(2)).try_for_each(|at| ask(buffers, at))?;
            for (at, part) in bytes.chunks_mut(BUFFER).enumerate() {
                copy(buffers[at % 2].first(part.len())?, part);
                if at + 2 < parts {
                    ask(buffers, at + 2)?;
                }
            }
            Ok(())
        })
    }
}
