//! The card: its libraries, its memory, its kernels.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

use bytemuck::{Pod, cast_slice, cast_slice_mut};
use cudarc::cublas::CudaBlas;
use cudarc::cublas::sys::{cublasMath_t, cublasSetMathMode};
use cudarc::driver::sys::CUdevice_attribute;
use cudarc::driver::{
    CudaContext, CudaSlice, CudaStream, DevicePtr, DeviceRepr, DriverError, LaunchArgs,
    LaunchConfig, PushKernelArg, ValidAsZeroBits,
};
use ssdl::{Error, Result};

use super::compiled::{self, Compiled};
use super::copies::Copies;
use super::number::Number;

/// Threads of a block, as the kernels have it.
pub(crate) const BLOCK: usize = 256;
/// Blocks of a kernel that leaves a sum for each of them.
const PARTS: usize = 1024;

/// An open card.
pub(crate) struct Card {
    pub name: String,
    pub stream: Arc<CudaStream>,
    /// For copies to the card while it computes.
    copying: Arc<CudaStream>,
    /// Bytes of fast memory that the threads of a block may share.
    pub fast_memory: usize,
    /// One thread at a time: a handle is not made for several.
    blas: Mutex<CudaBlas>,
    context: Arc<CudaContext>,
    copies: Copies,
    /// Kernels in single and in double precision, compiled at first use.
    kernels: [OnceLock<std::result::Result<Compiled, String>>; 2],
}

/// What a kernel is given.
#[derive(Clone, Copy)]
pub(crate) enum Argument {
    Pointer(u64),
    Int(i32),
    Long(i64),
    Single(f32),
    Double(f64),
}

/// Of a launch: blocks, threads of each, bytes of shared memory.
#[derive(Clone, Copy)]
pub(crate) struct Grid(pub usize, pub usize, pub usize);

impl Grid {
    /// A thread for each of `count` entries.
    pub fn entries(count: usize) -> Self {
        Self(count.div_ceil(BLOCK).max(1), BLOCK, 0)
    }

    /// A warp for each of `count` columns.
    pub fn warps(count: usize) -> Self {
        Self::entries(count.saturating_mul(32))
    }

    /// Blocks that share `count` entries; their number, and so the order of a sum, depends on nothing else.
    pub fn parts(count: usize) -> Self {
        Self(count.div_ceil(BLOCK).clamp(1, PARTS), BLOCK, 0)
    }
}

/// What was looked for and not found.
fn missing(what: &str, names: &str) -> Error {
    Error::Device(format!(
        "{what} was not found (looked for {names}); install it or add its folder to \
         LD_LIBRARY_PATH, or compute on the processor with `device=cpu`"
    ))
}

/// A call that failed, with the card's words.
pub(crate) fn failed(what: &str, error: impl std::fmt::Debug) -> Error {
    Error::Device(format!("{what}: {error:?}"))
}

impl Card {
    pub fn open(ordinal: usize) -> Result<Self> {
        // SAFETY: only loads the library, whose initialisers are the driver's own.
        if !unsafe { cudarc::driver::sys::is_culib_present() } {
            return Err(missing("NVIDIA's driver", "libcuda.so, nvcuda.dll"));
        }
        // SAFETY: as above.
        if !unsafe { cudarc::cublas::sys::is_culib_present() } {
            return Err(missing("cuBLAS", "libcublas.so, .so.13, .so.12"));
        }
        // SAFETY: as above.
        if !unsafe { cudarc::nvrtc::sys::is_culib_present() } {
            return Err(missing("NVRTC", "libnvrtc.so, .so.13, .so.12"));
        }
        // A library of another version may lack a function; its loader then panics.
        let opened = catch_unwind(AssertUnwindSafe(|| Self::connect(ordinal)));
        opened.unwrap_or_else(|_| {
            Err(Error::Device("the driver is too old for this program (CUDA 12 is needed)".into()))
        })
    }

    fn connect(ordinal: usize) -> Result<Self> {
        let count = CudaContext::device_count().map_err(|error| failed("no card", error))?;
        if ordinal >= usize::try_from(count).unwrap_or(0) {
            return Err(Error::Device(format!(
                "there is no card {ordinal}; the driver sees {count}"
            )));
        }
        let context = CudaContext::new(ordinal).map_err(|error| failed("the card", error))?;
        // SAFETY: all work is on one stream, so no array is read before it is written; who copies on the other
        // one waits for it.
        unsafe { context.disable_event_tracking() };
        let stream = context.new_stream().map_err(|error| failed("the card", error))?;
        let copying = context.new_stream().map_err(|error| failed("the card", error))?;
        let blas = CudaBlas::new(stream.clone()).map_err(|error| failed("cuBLAS", error))?;
        // A product whose sums are taken in several parts would otherwise round each of them to the precision of the
        // result, which the error bound of the neighbours does not know.
        let exact_sums = cublasMath_t::CUBLAS_MATH_DISALLOW_REDUCED_PRECISION_REDUCTION;
        // SAFETY: the handle is alive.
        unsafe { cublasSetMathMode(*blas.handle(), exact_sums) }
            .result()
            .map_err(|error| failed("cuBLAS", error))?;
        let most = CUdevice_attribute::CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN;
        let fast_memory = context.attribute(most).map_err(|error| failed("the card", error))?;
        let name = context.name().map_err(|error| failed("the card", error))?;
        Ok(Self {
            name,
            stream,
            copying,
            fast_memory: usize::try_from(fast_memory).unwrap_or(0),
            blas: Mutex::new(blas),
            context,
            copies: Copies::default(),
            kernels: [const { OnceLock::new() }; 2],
        })
    }

    /// cuBLAS, for one thread at a time.
    pub fn blas(&self) -> MutexGuard<'_, CudaBlas> {
        self.blas.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Bytes that are free.
    pub fn free(&self) -> Result<usize> {
        self.context.mem_get_info().map(|(free, _)| free).map_err(|e| failed("the card", e))
    }

    /// The kernels in this precision.
    pub fn kernels<T: Number>(&self) -> Result<&Compiled> {
        let kernels = self.kernels[T::INDEX]
            .get_or_init(|| compiled::compile(&self.context, T::REAL).map_err(|e| e.to_string()));
        kernels.as_ref().map_err(|message| Error::Device(message.clone()))
    }

    /// Makes the buffers of large copies, which takes a while: their memory is locked.
    pub fn prepare_copies(&self) -> Result<()> {
        self.copies.prepare(&self.stream).map_err(|error| failed("locking memory", error))
    }

    /// Copies an array to the card.
    pub fn upload<T: DeviceRepr + Pod>(&self, host: &[T]) -> Result<CudaSlice<T>> {
        let bytes = size_of_val(host);
        if !Copies::are_for(bytes) {
            return self.stream.clone_htod(host).map_err(|error| self.no_room(bytes, error));
        }
        // SAFETY: written in full below, before anything else on this stream.
        let out = unsafe { self.stream.alloc::<T>(host.len()) };
        let out = out.map_err(|error| self.no_room(bytes, error))?;
        let to = self.pointer(&out);
        // SAFETY: the array has the size of the slice.
        let sent = unsafe { self.copies.send(&self.stream, cast_slice(host), to) };
        sent.map_err(|error| failed("copying to the card", error))?;
        Ok(out)
    }

    /// Overwrites the beginning of an array while other arrays are computed with, and waits for the copy. Nothing that
    /// is still to be done may use the array.
    pub fn overwrite<T: DeviceRepr + Pod>(
        &self,
        host: &[T],
        array: &mut CudaSlice<T>,
    ) -> Result<()> {
        if host.len() > array.len() {
            return Err(Error::Device("an array has another size than it should".into()));
        }
        let sent = if Copies::are_for(size_of_val(host)) {
            // SAFETY: the array has room for the slice.
            unsafe { self.copies.send(&self.copying, cast_slice(host), self.pointer(array)) }
        } else {
            self.copying.memcpy_htod(host, &mut array.slice_mut(..host.len()))
        };
        let done = sent.and_then(|()| self.copying.synchronize());
        done.map_err(|error| failed("copying to the card", error))
    }

    /// An array of zeros on the card.
    pub fn zeros<T: DeviceRepr + ValidAsZeroBits>(&self, count: usize) -> Result<CudaSlice<T>> {
        let bytes = count * size_of::<T>();
        self.stream.alloc_zeros(count.max(1)).map_err(|error| self.no_room(bytes, error))
    }

    /// Copies an array from the card, and waits for it.
    pub fn download<T: DeviceRepr + Pod>(&self, from: &impl DevicePtr<T>) -> Result<Vec<T>> {
        let mut out = vec![T::zeroed(); from.len()];
        self.download_into(from, &mut out)?;
        Ok(out)
    }

    /// The same into a slice of the same length.
    pub fn download_into<T: DeviceRepr + Pod>(
        &self,
        from: &impl DevicePtr<T>,
        out: &mut [T],
    ) -> Result<()> {
        if from.len() != out.len() {
            return Err(Error::Device("an array has another size than it should".into()));
        }
        let copied = if Copies::are_for(size_of_val(out)) {
            // SAFETY: the lengths are the same.
            unsafe { self.copies.fetch(&self.stream, self.pointer(from), cast_slice_mut(out)) }
        } else {
            self.stream.memcpy_dtoh(from, out).and_then(|()| self.stream.synchronize())
        };
        copied.map_err(|error| failed("copying from the card", error))
    }

    fn no_room(&self, bytes: usize, error: DriverError) -> Error {
        let free = self.free().unwrap_or(0);
        if bytes <= free {
            return failed("the card", error);
        }
        Error::Device(format!(
            "{} has no room: {bytes} bytes are needed, {free} are free; take fewer samples or atoms, or \
             `device=cpu`",
            self.name
        ))
    }

    /// Runs a kernel.
    pub fn launch<T: Number>(
        &self,
        kernel: &str,
        grid: Grid,
        arguments: &[Argument],
    ) -> Result<()> {
        let function = self.kernels::<T>()?.get(kernel, grid.2)?;
        run(self.stream.launch_builder(&function), kernel, grid, arguments)
    }

    /// Runs a kernel whose first argument is a struct.
    pub fn launch_with<T: Number>(
        &self,
        kernel: &str,
        grid: Grid,
        first: &impl DeviceRepr,
        arguments: &[Argument],
    ) -> Result<()> {
        let function = self.kernels::<T>()?.get(kernel, grid.2)?;
        let mut builder = self.stream.launch_builder(&function);
        builder.arg(first);
        run(builder, kernel, grid, arguments)
    }

    /// The sum of what a kernel leaves for each of its blocks, `rows` numbers each.
    pub fn sums<T: Number>(
        &self,
        kernel: &str,
        (rows, count): (usize, usize),
        arguments: impl FnOnce(Argument) -> Vec<Argument>,
    ) -> Result<Vec<f64>> {
        self.sums_by((rows, count), |grid, parts| self.launch::<T>(kernel, grid, &arguments(parts)))
    }

    /// The same by a launch of this grid that is given where to leave the numbers.
    pub fn sums_by(
        &self,
        (rows, count): (usize, usize),
        launch: impl FnOnce(Grid, Argument) -> Result<()>,
    ) -> Result<Vec<f64>> {
        let grid = Grid::parts(count);
        let parts = self.zeros::<f64>(grid.0 * rows)?;
        launch(grid, self.at(&parts))?;
        let parts = self.download(&parts)?;
        let mut sums = vec![0.0; rows];
        for part in parts.chunks(rows) {
            sums.iter_mut().zip(part).for_each(|(sum, part)| *sum += part);
        }
        Ok(sums)
    }

    /// The address of an array.
    pub fn pointer<T>(&self, array: &impl DevicePtr<T>) -> u64 {
        array.device_ptr(&self.stream).0
    }

    /// An array as an argument.
    pub fn at<T>(&self, array: &impl DevicePtr<T>) -> Argument {
        Argument::Pointer(self.pointer(array))
    }

    /// An array that a kernel writes.
    pub fn at_mut<T>(&self, array: &mut CudaSlice<T>) -> Argument {
        self.at(array)
    }

    /// Waits until all is done.
    pub fn wait(&self) -> Result<()> {
        self.stream.synchronize().map_err(|error| failed("the card", error))
    }
}

/// Adds the arguments and launches.
fn run<'a>(
    mut builder: LaunchArgs<'a>,
    kernel: &str,
    Grid(blocks, threads, shared): Grid,
    arguments: &'a [Argument],
) -> Result<()> {
    let blocks = u32::try_from(blocks)
        .ok()
        .filter(|blocks| *blocks < 1 << 31)
        .ok_or_else(|| Error::Device("too many samples for one launch".into()))?;
    for argument in arguments {
        match argument {
            Argument::Pointer(value) => builder.arg(value),
            Argument::Int(value) => builder.arg(value),
            Argument::Long(value) => builder.arg(value),
            Argument::Single(value) => builder.arg(value),
            Argument::Double(value) => builder.arg(value),
        };
    }
    let config = LaunchConfig {
        grid_dim: (blocks, 1, 1),
        block_dim: (threads as u32, 1, 1),
        shared_mem_bytes: shared as u32,
    };
    // SAFETY: every kernel checks its indices against the counts among its arguments, which are those of
    // the arrays it is given; arrays live until the stream is done, because freeing is queued, too.
    unsafe { builder.launch(config) }.map(|_| ()).map_err(|error| failed(kernel, error))
}

/// No array.
pub(crate) const NONE: Argument = Argument::Pointer(0);

/// A count for a kernel.
pub(crate) fn int(count: usize) -> Argument {
    Argument::Int(count as i32)
}

/// A count that may be large.
pub(crate) fn long(count: usize) -> Argument {
    Argument::Long(count as i64)
}
