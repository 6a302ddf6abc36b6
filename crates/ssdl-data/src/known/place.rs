//! Where the data sets are kept.

use std::env::var_os;
use std::path::PathBuf;

use etcetera::BaseStrategy;

/// The folder of all data sets: the variable `SSDL_DATA`, or `ssdl` in the cache of the user. `None`
/// if there is neither a variable nor a home.
#[must_use]
pub fn data_folder() -> Option<PathBuf> {
    if let Some(given) = var_os("SSDL_DATA").filter(|given| !given.is_empty()) {
        return Some(PathBuf::from(given));
    }
    let base = etcetera::base_strategy::choose_native_strategy().ok()?;
    Some(base.cache_dir().join("ssdl"))
}
