//! Peak memory of this process, if the system reports it.

/// Resets the peak, if the system supports it.
pub fn reset_peak() {
    // Not every system has this file; then the peak is that of the whole process.
    let _ = std::fs::write("/proc/self/clear_refs", "5");
}

/// Peak memory in bytes since the process started, or since the peak was reset.
#[must_use]
pub fn peak() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    let kibibytes: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    Some(kibibytes * 1024)
}
