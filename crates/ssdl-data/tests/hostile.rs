//! Damaged binary files give an error or a table, never a panic.
#![allow(clippy::unwrap_used)]

use std::fs::File;
use std::io::Write;
use std::path::{Path, PathBuf};

use proptest::prelude::*;
use ssdl_data::{Format, ReadOptions, read, read_labels};

/// One file of each structure; the other fixtures differ in element types alone.
const FILES: [(&str, Format); 14] = [
    ("samples_little_f8.npy", Format::Npy),
    ("samples_fortran.npy", Format::Npy),
    ("labels_words.npy", Format::Npy),
    ("version2.npy", Format::Npy),
    ("stored.npz", Format::Npz),
    ("packed.npz", Format::Npz),
    ("images-idx3-ubyte", Format::Idx),
    ("images-idx3-short.gz", Format::Idx),
    ("rows.mat", Format::Mat),
    ("rows_packed.mat", Format::Mat),
    ("images.mat", Format::Mat),
    ("big_endian.mat", Format::Mat),
    ("both.safetensors", Format::Safetensors),
    ("half.safetensors", Format::Safetensors),
];

fn fixtures() -> Vec<(Vec<u8>, Format)> {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures");
    FILES
        .iter()
        .map(|(name, format)| (std::fs::read(folder.join(name)).unwrap(), *format))
        .collect()
}

fn survives(path: &Path, bytes: &[u8], format: Format) {
    // Overwriting in place: some file systems flush a file that is emptied and written again.
    let mut file = File::options().write(true).open(path).unwrap();
    file.write_all(bytes).unwrap();
    file.set_len(bytes.len() as u64).unwrap();
    // Little memory is allowed, so that a corrupted size is noticed.
    let options =
        ReadOptions { format: Some(format), max_unpacked: Some(1 << 20), ..ReadOptions::default() };
    let _ = read(path, &options).map(|table| table.samples::<f32>().is_ok());
    let _ = read_labels(path, &options);
}

#[test]
fn every_truncation() {
    let file = tempfile::NamedTempFile::new().unwrap();
    for (bytes, format) in fixtures() {
        for keep in 0..bytes.len() {
            survives(file.path(), &bytes[..keep], format);
        }
    }
}

#[test]
fn every_byte_at_its_largest() {
    let file = tempfile::NamedTempFile::new().unwrap();
    for (bytes, format) in fixtures() {
        for at in 0..bytes.len() {
            let mut bytes = bytes.clone();
            bytes[at] = 0xff;
            survives(file.path(), &bytes, format);
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn random_flips(flips in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..6)) {
        let file = tempfile::NamedTempFile::new().unwrap();
        for (mut bytes, format) in fixtures() {
            for (at, mask) in &flips {
                let at = at.index(bytes.len());
                bytes[at] ^= mask;
            }
            survives(file.path(), &bytes, format);
        }
    }

    #[test]
    fn random_bytes(bytes in prop::collection::vec(any::<u8>(), 1..400)) {
        let file = tempfile::NamedTempFile::new().unwrap();
        for format in Format::ALL {
            survives(file.path(), &bytes, format);
        }
    }

    #[test]
    fn random_text(text in "[0-9a,; \"\\r\\n.\t-]{1,80}") {
        let file = tempfile::NamedTempFile::new().unwrap();
        for format in [Format::Csv, Format::Tsv, Format::Text] {
            survives(file.path(), text.as_bytes(), format);
        }
    }
}
