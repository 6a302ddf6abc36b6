//! Where this workspace is, where it builds, and how its cargo is called.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicBool, Ordering};

use crate::outcome::{Outcome, While};

/// The folder of the workspace's `Cargo.toml`.
pub fn top() -> PathBuf {
    let manifest = std::env::var_os("CARGO_MANIFEST_DIR")
        .map_or_else(|| PathBuf::from(env!("CARGO_MANIFEST_DIR")), PathBuf::from);
    manifest.ancestors().nth(2).map_or_else(|| manifest.clone(), Path::to_path_buf)
}

/// A call of the cargo that started this program, in the workspace's folder.
pub fn cargo(arguments: &[&str]) -> Command {
    let program = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let mut command = Command::new(program);
    command.args(arguments).current_dir(top());
    command
}

/// Set once the tests have built the program: as a part of the whole workspace it has other features
/// of what it depends on than alone, and building both takes minutes.
static BUILT: AtomicBool = AtomicBool::new(false);

/// Says that the tests have just built the program.
pub fn program_is_built() {
    BUILT.store(true, Ordering::Relaxed);
}

/// The program: the one that the tests have built, or else one that `build` builds.
pub fn program(build: impl FnOnce(&mut Command) -> Outcome<bool>) -> Outcome<PathBuf> {
    let path = target()?.join("debug").join("ssdl");
    let path = path.with_extension(std::env::consts::EXE_EXTENSION);
    if BUILT.load(Ordering::Relaxed) && path.exists() {
        return Ok(path);
    }
    match build(&mut cargo(&["build", "--quiet", "--package", "ssdl-cli"]))? {
        true => Ok(path),
        false => Err("the program does not build".into()),
    }
}

/// The folder cargo builds into, which a variable or a configuration file may have moved.
pub fn target() -> Outcome<PathBuf> {
    let output = cargo(&["metadata", "--no-deps", "--format-version", "1"])
        .output()
        .during(|| "cargo metadata")?;
    if !output.status.success() {
        return Err(format!("cargo metadata: {}", String::from_utf8_lossy(&output.stderr)).into());
    }
    let facts: serde_json::Value =
        serde_json::from_slice(&output.stdout).during(|| "cargo metadata")?;
    let folder = facts["target_directory"].as_str();
    Ok(PathBuf::from(folder.ok_or("cargo metadata does not name the target folder")?))
}
