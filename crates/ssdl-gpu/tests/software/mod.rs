//! A card in software, for machines without one: driver, cuBLAS and NVRTC as far as this crate calls them.
//!
//! Three small libraries under the names that the crate looks for, compiled by the system's C++ compiler. Kernels are
//! the crate's own, compiled for the processor: a lane is a fiber, so that warps, votes and barriers work as on a card
//! (`kernel.h`). Arrays end at a page that nobody may touch. It is slow: tests there have few samples.

use std::ffi::CString;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::{Path, PathBuf};
use std::process::Command;

/// Set in a process that has the card in software.
const MARK: &str = "SSDL_SOFTWARE_CARD";

/// Libraries by what they are compiled from.
const LIBRARIES: [(&str, &str, &str); 3] = [
    ("driver", "libcuda.so", include_str!("driver.cpp")),
    ("blas", "libcublas.so", include_str!("blas.cpp")),
    ("compiler", "libnvrtc.so", include_str!("compiler.cpp")),
];

/// What they include.
const HEADERS: [(&str, &str); 2] =
    [("kernel.h", include_str!("kernel.h")), ("half.h", include_str!("half.h"))];

/// Whether this process has it.
pub fn is_here() -> bool {
    std::env::var_os(MARK).is_some()
}

/// Runs all tests of this program once more where a card in software is found. Gives the reason where there is none.
///
/// # Panics
/// If they fail.
pub fn run_tests_again() -> Result<(), String> {
    if is_here() {
        return Ok(());
    }
    if !cfg!(target_os = "linux") {
        return Err("no card in software for this system".into());
    }
    let folder = built()?;
    let program = std::env::current_exe().map_err(|error| error.to_string())?;
    // The card uses all cores by itself.
    let found = Command::new(program)
        .args(["--test-threads=1"])
        .env("LD_LIBRARY_PATH", &folder)
        .env("XDG_CACHE_HOME", &folder)
        .env("SSDL_GPU_TESTS", "required")
        .env(MARK, "yes")
        .output()
        .map_err(|error| error.to_string())?;
    let text =
        [found.stdout, found.stderr].map(|bytes| String::from_utf8_lossy(&bytes).into_owned());
    assert!(found.status.success(), "on a card in software:\n{}\n{}", text[0], text[1]);
    Ok(())
}

/// The folder with the libraries, compiled if they are not there.
fn built() -> Result<PathBuf, String> {
    let mut hasher = DefaultHasher::new();
    (LIBRARIES, HEADERS).hash(&mut hasher);
    let root = std::env::temp_dir().join(format!("ssdl-software-card-{:016x}", hasher.finish()));
    if root.join("libnvrtc.so").exists() {
        return Ok(root);
    }
    let beside = root.with_extension(std::process::id().to_string());
    let told = |error: std::io::Error| format!("{}: {error}", beside.display());
    std::fs::create_dir_all(&beside).map_err(told)?;
    for (name, text) in HEADERS {
        std::fs::write(beside.join(name), text).map_err(told)?;
    }
    for (source, library, text) in LIBRARIES {
        compile(&beside, &root, (source, library, text))?;
    }
    match std::fs::rename(&beside, &root) {
        Err(_) if root.exists() => Ok(()),
        moved => moved.map_err(told),
    }?;
    Ok(root)
}

/// Compiles a library in `folder`, which will be called `last`.
fn compile(
    folder: &Path,
    last: &Path,
    (source, library, text): (&str, &str, &str),
) -> Result<(), String> {
    let file = folder.join(source).with_extension("cpp");
    std::fs::write(&file, text).map_err(|error| error.to_string())?;
    let compiler = std::env::var_os("CXX").unwrap_or_else(|| "c++".into());
    let found = Command::new(&compiler)
        .args(["-std=c++17", "-O3", "-fPIC", "-shared", "-o"])
        .arg(folder.join(library))
        .arg(format!("-DFOLDER=\"{}\"", last.display()))
        .arg(&file)
        .args(["-ldl", "-lpthread"])
        .output()
        .map_err(|error| format!("{} is needed: {error}", compiler.display()))?;
    let message = String::from_utf8_lossy(&found.stderr);
    assert!(found.status.success(), "{source}.cpp: {message}");
    Ok(())
}

/// What tests can do to the card in software; `None` on a real one.
pub struct Controls(libloading::Library);

impl Controls {
    pub fn get() -> Option<Self> {
        if !is_here() {
            return None;
        }
        // SAFETY: the library that the crate itself has opened.
        unsafe { libloading::Library::new("libcuda.so") }.ok().map(Self)
    }

    /// Bytes of its memory.
    pub fn set_room(&self, bytes: usize) {
        // SAFETY: driver.cpp has this function.
        unsafe {
            let call = self.0.get::<unsafe extern "C" fn(usize)>(b"software_card_room\0");
            call.expect("a function of driver.cpp")(bytes);
        }
    }

    /// Bytes that are in use.
    pub fn used(&self) -> usize {
        // SAFETY: driver.cpp has this function.
        unsafe {
            let call = self.0.get::<unsafe extern "C" fn() -> usize>(b"software_card_used\0");
            call.expect("a function of driver.cpp")()
        }
    }

    /// Makes a kernel, `allocate`, `copy`, `lock` or `launch` fail once, after so many calls.
    pub fn fail(&self, what: &str, after: i32) {
        let what = CString::new(what).expect("a name");
        // SAFETY: driver.cpp has this function, which copies the name.
        unsafe {
            let call = self.0.get::<unsafe extern "C" fn(*const i8, i32)>(b"software_card_fail\0");
            call.expect("a function of driver.cpp")(what.as_ptr().cast(), after);
        }
    }

    /// Whether the lanes of a warp take turns from the last to the first.
    pub fn set_backwards(&self, backwards: bool) {
        // SAFETY: driver.cpp has this function.
        unsafe {
            let call = self.0.get::<unsafe extern "C" fn(i32)>(b"software_card_order\0");
            call.expect("a function of driver.cpp")(if backwards { -1 } else { 1 });
        }
    }
}
