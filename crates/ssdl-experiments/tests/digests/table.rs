//! The kept table.

use std::path::PathBuf;

/// FNV-1a: enough to see a change, and nothing to depend on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Digest(u64);

impl Digest {
    pub fn new() -> Self {
        Self(0xcbf2_9ce4_8422_2325)
    }

    pub fn add(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.0 = (self.0 ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3);
        }
    }
}

/// One case on one processor.
#[derive(Clone, Debug)]
pub struct Row {
    pub set: String,
    pub method: String,
    pub knobs: String,
    pub predictions: Digest,
    pub trace: Digest,
    /// Of new samples, in per cent.
    pub accuracy: f64,
    pub objective: f64,
    pub processor: String,
}

impl Row {
    pub fn name(&self) -> String {
        format!("{} {} {}", self.set, self.method, self.knobs)
    }

    pub fn is_same_case(&self, other: &Self) -> bool {
        (&self.set, &self.method, &self.knobs) == (&other.set, &other.method, &other.knobs)
    }

    fn read(line: &csv::StringRecord) -> Self {
        let digest = |at: usize| Digest(u64::from_str_radix(&line[at], 16).unwrap());
        Self {
            set: line[0].to_owned(),
            method: line[1].to_owned(),
            knobs: line[2].to_owned(),
            predictions: digest(3),
            trace: digest(4),
            accuracy: line[5].parse().unwrap(),
            objective: line[6].parse().unwrap(),
            processor: line[7].to_owned(),
        }
    }

    fn fields(&self) -> [String; 8] {
        [
            self.set.clone(),
            self.method.clone(),
            self.knobs.clone(),
            format!("{:016x}", self.predictions.0),
            format!("{:016x}", self.trace.0),
            format!("{:.2}", self.accuracy),
            format!("{:.4}", self.objective),
            self.processor.clone(),
        ]
    }
}

const COLUMNS: [&str; 8] =
    ["set", "method", "knobs", "predictions", "trace", "accuracy", "objective", "processor"];

pub struct Table {
    pub rows: Vec<Row>,
}

impl Table {
    fn path() -> PathBuf {
        PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/digests/digests.csv")
    }

    pub fn read() -> Self {
        let Ok(mut reader) = csv::Reader::from_path(Self::path()) else {
            return Self { rows: Vec::new() };
        };
        Self { rows: reader.records().map(|line| Row::read(&line.unwrap())).collect() }
    }

    /// With these rows in place of those that this processor had of the set.
    pub fn with(mut self, found: &[Row], set: &str) -> Self {
        let own = processor();
        self.rows.retain(|row| row.set != set || row.processor != own);
        self.rows.extend_from_slice(found);
        self
    }

    pub fn write(&self) {
        let mut writer = csv::Writer::from_path(Self::path()).unwrap();
        writer.write_record(COLUMNS).unwrap();
        self.rows.iter().for_each(|row| writer.write_record(row.fields()).unwrap());
        writer.flush().unwrap();
    }
}

/// What the bits depend on: the name of the processor, its vectors and its caches.
pub fn processor() -> String {
    let facts = std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let fact = |name: &str| {
        let line = facts.lines().find(|line| line.starts_with(name));
        line.and_then(|line| line.split_once(':')).map_or("unknown", |(_, value)| value.trim())
    };
    let [family, model] = ["cpu family", "model\t"].map(fact);
    let cache = |level: usize| {
        let path = format!("/sys/devices/system/cpu/cpu0/cache/index{level}/size");
        std::fs::read_to_string(path)
            .map_or_else(|_| "unknown".to_owned(), |size| size.trim().into())
    };
    let caches = [0, 2, 3].map(cache).join("/");
    format!(
        "{} {} family {family} model {model} caches {caches}",
        std::env::consts::ARCH,
        fact("vendor_id")
    )
}
