//! Where this workspace is, where it builds, and how its cargo is called.

use std::path::{Path, PathBuf};
use std::process::Command;

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
