//! Where the data sets are kept.

use std::env::var_os;
use std::path::PathBuf;

use etcetera::BaseStrategy;

/// The data folder: the environment variable `SSDL_DATA`, or else `ssdl` in the user's cache. `None`
/// if there is neither the variable nor a home folder.
#[must_use]
pub fn data_folder() -> Option<PathBuf> {
    if let Some(given) = var_os("SSDL_DATA").filter(|given| !given.is_empty()) {
        return Some(PathBuf::from(given));
    }
    let base = etcetera::base_strategy::choose_native_strategy().ok()?;
    Some(base.cache_dir().join("ssdl"))
}
