//! A separate folder for each test, and calls of the program in it.

use std::ffi::OsStr;
use std::fmt::Write;
use std::path::PathBuf;
use std::process::{Command, Output, Stdio};

use serde_json::Value;
use tempfile::TempDir;

/// A folder in which the program is run; it goes away with the test.
pub struct Bench {
    folder: TempDir,
}

/// What the program did.
#[derive(Debug)]
pub struct Ran {
    pub code: Option<i32>,
    pub stdout: String,
    pub stderr: String,
}

impl Bench {
    pub fn new() -> Self {
        Self { folder: tempfile::tempdir().expect("a folder for the test") }
    }

    /// A folder with `flowers.csv` (three kinds, five labels each) and `test.csv` (all labelled).
    pub fn with_flowers() -> Self {
        let bench = Self::new();
        bench.write("flowers.csv", flowers(60, 15));
        bench.write("test.csv", flowers(30, 30));
        bench
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    pub fn write(&self, name: &str, content: impl AsRef<[u8]>) {
        std::fs::write(self.path(name), content).expect("written");
    }

    pub fn bytes(&self, name: &str) -> Vec<u8> {
        std::fs::read(self.path(name)).unwrap_or_else(|error| panic!("{name}: {error}"))
    }

    pub fn text(&self, name: &str) -> String {
        String::from_utf8(self.bytes(name)).expect("text")
    }

    pub fn exists(&self, name: &str) -> bool {
        self.path(name).exists()
    }

    /// The program in this folder, with its streams in pipes.
    pub fn command<S: AsRef<OsStr>>(&self, arguments: impl IntoIterator<Item = S>) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_ssdl"));
        command.current_dir(self.folder.path()).args(arguments).stdin(Stdio::null());
        command.stdout(Stdio::piped()).stderr(Stdio::piped());
        command
    }

    /// Runs the program with arguments separated by spaces.
    pub fn run(&self, arguments: &str) -> Ran {
        Ran::from(self.command(arguments.split_whitespace()).output().expect("the program starts"))
    }

    /// Runs it and expects success.
    pub fn done(&self, arguments: &str) -> String {
        let ran = self.run(arguments);
        assert_eq!(ran.code, Some(0), "ssdl {arguments}\n{}", ran.stderr);
        ran.stdout
    }

    /// Runs it with `--json` and reads the answer.
    pub fn json(&self, arguments: &str) -> Value {
        let stdout = self.done(&format!("{arguments} --json"));
        serde_json::from_str(&stdout).unwrap_or_else(|error| panic!("{arguments}: {error}"))
    }

    /// Runs it and expects a refusal: the exit code, and one line that holds all the parts.
    pub fn refused(&self, code: i32, arguments: &str, parts: &[&str]) {
        let ran = self.run(&format!("{arguments} --quiet"));
        let stderr = &ran.stderr;
        assert_eq!(ran.code, Some(code), "ssdl {arguments}\n{stderr}");
        assert!(stderr.starts_with("ssdl: ") && stderr.ends_with('\n'), "{arguments}: {stderr}");
        assert_eq!(stderr.lines().count(), 1, "{arguments}: {stderr}");
        for part in parts {
            assert!(stderr.contains(part), "{arguments}: `{part}` is not in {stderr}");
        }
    }
}

impl From<Output> for Ran {
    fn from(output: Output) -> Self {
        Self {
            code: output.status.code(),
            stdout: String::from_utf8(output.stdout).expect("text on stdout"),
            stderr: String::from_utf8(output.stderr).expect("text on stderr"),
        }
    }
}

/// Three clouds in four dimensions; the first `labelled` rows have a kind, the others none.
pub fn flowers(n: usize, labelled: usize) -> String {
    let centres = [[2.0, 1.0, 3.0, 1.0], [1.0, 2.5, 1.0, 3.0], [3.0, 3.0, 1.0, 1.3]];
    let kinds = ["rose", "tulip", "lily of the valley"];
    let mut text = String::from("length,width,height,weight,kind\n");
    for i in 0..n {
        for (j, centre) in centres[i % 3].iter().enumerate() {
            write!(text, "{:.4},", centre + 0.25 * noise(7 * i + j)).expect("a string");
        }
        writeln!(text, "{}", if i < labelled { kinds[i % 3] } else { "" }).expect("a string");
    }
    text
}

/// A number between -1 and 1 that looks random and is the same everywhere.
pub fn noise(at: usize) -> f64 {
    let mixed = (at as u64 + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    let mixed = (mixed ^ (mixed >> 31)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    (mixed >> 40) as f64 / f64::from(1 << 23) - 1.0
}

/// A NumPy array of float64.
pub fn npy(rows: &[Vec<f64>]) -> Vec<u8> {
    let shape = format!("({}, {})", rows.len(), rows[0].len());
    let mut header = format!("{{'descr': '<f8', 'fortran_order': False, 'shape': {shape}, }}");
    header += &" ".repeat((11 + header.len()).next_multiple_of(64) - 11 - header.len());
    header.push('\n');
    let mut bytes = b"\x93NUMPY\x01\x00".to_vec();
    bytes.extend((header.len() as u16).to_le_bytes());
    bytes.extend(header.bytes());
    rows.iter().flatten().for_each(|value| bytes.extend(value.to_le_bytes()));
    bytes
}
