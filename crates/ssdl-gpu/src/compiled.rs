//! Kernels: compiled for the card at first use, then kept in a file.

use std::collections::HashMap;
use std::ffi::CString;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::PathBuf;
use std::sync::{Arc, Mutex};

use cudarc::driver::sys::CUfunction_attribute;
use cudarc::driver::{CudaContext, CudaFunction, CudaModule};
use cudarc::nvrtc::Ptx;
use ssdl::{Error, Result};

use super::card::failed;

/// All kernels, in the order in which they refer to each other.
const SOURCE: &str = concat!(
    include_str!("kernels/common.cu"),
    include_str!("kernels/coding.cu"),
    include_str!("kernels/sums.cu"),
    include_str!("kernels/votes.cu"),
    include_str!("kernels/neighbours.cu"),
    include_str!("kernels/groups.cu"),
);

/// Shared memory that a launch has without asking.
const USUAL_SHARED: usize = 48 * 1024;

/// The kernels of one precision.
pub(crate) struct Compiled {
    module: Arc<CudaModule>,
    functions: Mutex<HashMap<String, CudaFunction>>,
}

impl Compiled {
    /// A kernel that may use this much shared memory.
    pub fn get(&self, name: &str, shared: usize) -> Result<CudaFunction> {
        let mut functions =
            self.functions.lock().map_err(|_| Error::Device("an earlier kernel failed".into()))?;
        let function = match functions.get(name) {
            Some(known) => known.clone(),
            None => {
                let found = self.module.load_function(name).map_err(|e| failed(name, e))?;
                functions.insert(name.to_owned(), found.clone());
                found
            }
        };
        if shared > USUAL_SHARED {
            let most = CUfunction_attribute::CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES;
            function.set_attribute(most, shared as i32).map_err(|_| {
                Error::Device(format!(
                    "`{name}` needs {shared} bytes of the card's fast memory, more than it has; take \
                     fewer atoms, or `device=cpu`"
                ))
            })?;
        }
        Ok(function)
    }
}

/// Loads the kernels, from the cache if this card has compiled them before.
pub(crate) fn compile(context: &Arc<CudaContext>, real: &str) -> Result<Compiled> {
    let (major, minor) = context.compute_capability().map_err(|e| failed("the card", e))?;
    let options = [
        format!("-DREAL={real}"),
        format!("--gpu-architecture=sm_{major}{minor}"),
        "--std=c++17".into(),
    ];
    let file = cache_file(&options);
    let cached = file.as_ref().and_then(|file| std::fs::read(file).ok());
    let loaded = cached.and_then(|image| context.load_module(Ptx::from_binary(image)).ok());
    let module = match loaded {
        Some(module) => module,
        None => {
            let image = image(&options)?;
            if let Some(file) = &file {
                // A cache that cannot be written costs seconds, nothing else.
                let _ = keep(file, &image);
            }
            let loaded = context.load_module(Ptx::from_binary(image));
            loaded.map_err(|error| failed("loading the kernels", error))?
        }
    };
    Ok(Compiled { module, functions: Mutex::default() })
}

/// Machine code for the card.
fn image(options: &[String]) -> Result<Vec<u8>> {
    use cudarc::nvrtc::result;
    let source = CString::new(SOURCE).map_err(|e| failed("the kernels' source", e))?;
    let program = result::create_program(&source, None).map_err(|e| failed("NVRTC", e))?;
    // SAFETY: the program was created above and is destroyed below, once.
    unsafe {
        let compiled = result::compile_program(program, options);
        let image = compiled.and_then(|()| cubin(program));
        let message = result::get_program_log(program)
            .map(|log| log.iter().map(|c| *c as u8 as char).collect::<String>());
        let _ = result::destroy_program(program);
        image.map_err(|error| {
            failed(&format!("compiling the kernels: {}", message.unwrap_or_default()), error)
        })
    }
}

/// # Safety
/// The program must exist and be compiled.
unsafe fn cubin(
    program: cudarc::nvrtc::sys::nvrtcProgram,
) -> std::result::Result<Vec<u8>, cudarc::nvrtc::result::NvrtcError> {
    use cudarc::nvrtc::sys;
    let mut size = 0;
    // SAFETY: as the caller says; the buffer has the size that NVRTC asks for.
    unsafe {
        sys::nvrtcGetCUBINSize(program, &mut size).result()?;
        let mut image = vec![0u8; size];
        sys::nvrtcGetCUBIN(program, image.as_mut_ptr().cast()).result()?;
        Ok(image)
    }
}

fn cache_file(options: &[String]) -> Option<PathBuf> {
    let mut hasher = DefaultHasher::new();
    (SOURCE, options).hash(&mut hasher);
    let root = std::env::var_os("XDG_CACHE_HOME")
        .map(PathBuf::from)
        .or_else(|| std::env::var_os("HOME").map(|home| PathBuf::from(home).join(".cache")))?;
    Some(root.join("ssdl").join(format!("kernels-{:016x}.cubin", hasher.finish())))
}

/// Writes the file whole or not at all.
fn keep(file: &std::path::Path, image: &[u8]) -> std::io::Result<()> {
    let Some(folder) = file.parent() else { return Ok(()) };
    std::fs::create_dir_all(folder)?;
    let beside = file.with_extension(format!("{}", std::process::id()));
    std::fs::write(&beside, image)?;
    std::fs::rename(&beside, file)
}
