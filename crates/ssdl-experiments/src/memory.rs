//! The most memory that this process held, where the system tells.

/// Lets the system count the peak afresh, where it can.
pub fn forget_peak() {
    // Not every system has this file; then the peak is that of the whole process.
    let _ = std::fs::write("/proc/self/clear_refs", "5");
}

/// The most memory this process has held since it began, or since the peak was forgotten.
#[must_use]
pub fn peak() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    let kibibytes: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    Some(kibibytes * 1024)
}
