//! Sizes in bytes: reading, printing, and the peak of this process; what is freed goes back to the system.

pub use ssdl_experiments::memory::peak;

/// What the allocator of glibc does with arrays that were freed. Left to itself it takes each as a sign that more of
/// that size will come, up to 32 MB, and keeps them: a fit then holds a fifth more than it needs. But the system
/// clears every page that it gives, which takes up to a third of the time of fits of a thousand samples.
struct Keeping {
    /// Arrays of at least so many bytes go back to the system as soon as they are freed.
    large: i32,
    /// Bytes at the end of the heap, where smaller arrays are, that are kept for the next ones.
    rest: i32,
}

/// Where little is needed, all of it is used again and again.
const ALL: Keeping = Keeping { large: 32 << 20, rest: 256 << 20 };
/// In between, and before it is known how much is needed.
const SMALL: Keeping = Keeping { large: 2 << 20, rest: 4 << 20 };
/// Where much is needed, what is freed goes back.
const NOTHING: Keeping = Keeping { large: 256 << 10, rest: 256 << 10 };

/// Fits that need fewer bytes keep all that they free.
const LITTLE: u64 = 32 << 20;
/// Fits that need more bytes keep nothing.
const MUCH: u64 = 256 << 20;

impl Keeping {
    fn for_a_fit_of(needed: u64) -> Self {
        match needed {
            0..LITTLE => ALL,
            LITTLE..MUCH => SMALL,
            MUCH.. => NOTHING,
        }
    }

    #[cfg(all(target_os = "linux", target_env = "gnu"))]
    #[allow(unsafe_code)]
    fn begin(&self) {
        // SAFETY: a call takes two numbers, no pointer, and sets a number that the allocator reads at its next call;
        // it may be made at any time. Where it fails, the allocator stays as it was.
        unsafe {
            libc::mallopt(libc::M_MMAP_THRESHOLD, self.large);
            libc::mallopt(libc::M_TRIM_THRESHOLD, self.rest);
        }
    }

    /// Other systems give back by themselves.
    #[cfg(not(all(target_os = "linux", target_env = "gnu")))]
    fn begin(&self) {
        let Self { large: _, rest: _ } = self;
    }
}

/// Makes the allocator give freed arrays back, except small ones.
pub fn give_back_what_is_freed() {
    SMALL.begin();
}

/// Makes the allocator keep what suits a fit that needs so many bytes.
pub fn suit_a_fit_of(needed: u64) {
    Keeping::for_a_fit_of(needed).begin();
}

/// Reads `2GB`, `500 MiB` or plain bytes.
pub fn parse(text: &str) -> Result<u64, String> {
    let text = text.trim();
    let digits = text.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(text.len());
    let (number, unit) = text.split_at(digits);
    let factor: u64 = match unit.trim().to_ascii_lowercase().as_str() {
        "" | "b" => 1,
        "k" | "kb" => 1_000,
        "m" | "mb" => 1_000_000,
        "g" | "gb" => 1_000_000_000,
        "t" | "tb" => 1_000_000_000_000,
        "kib" => 1 << 10,
        "mib" => 1 << 20,
        "gib" => 1 << 30,
        "tib" => 1 << 40,
        _ => return Err("write it like 2GB, 500MB, 1.5GiB or 1000000".into()),
    };
    match number.parse::<f64>() {
        Ok(number) if number > 0.0 => Ok((number * factor as f64) as u64),
        _ => Err("write a number above 0 and a unit, like 2GB".into()),
    }
}

/// A size with a readable unit.
pub fn text(bytes: u64) -> String {
    let mut value = bytes as f64;
    for unit in ["bytes", "kB", "MB", "GB"] {
        if value < 999.5 {
            let digits = if value < 9.95 && unit != "bytes" { 1 } else { 0 };
            return format!("{value:.digits$} {unit}");
        }
        value /= 1000.0;
    }
    format!("{value:.1} TB")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_read_with_their_units() {
        assert_eq!(parse("2GB"), Ok(2_000_000_000));
        assert_eq!(parse("1.5 GiB"), Ok(1_610_612_736));
        assert_eq!(parse("1000"), Ok(1000));
        for wrong in ["", "GB", "-1GB", "2 lemons", "0", "1.2.3"] {
            assert!(parse(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn sizes_are_printed_with_few_digits() {
        assert_eq!(text(12), "12 bytes");
        assert_eq!(text(1_234), "1.2 kB");
        assert_eq!(text(123_456_789), "123 MB");
        assert_eq!(text(999_999), "1.0 MB");
    }
}
