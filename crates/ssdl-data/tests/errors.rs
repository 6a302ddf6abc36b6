//! Each error names the file, the place and a remedy.
#![allow(clippy::unwrap_used)]

use std::io::Write;
use std::path::{Path, PathBuf};

use ssdl_data::{Cell, Column, Error, ReadOptions, Row, read, read_labels};

fn fixture(name: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures").join(name)
}

fn refused(path: &Path, options: &ReadOptions) -> Error {
    let error = read(path, options).unwrap_err();
    let message = error.to_string();
    assert!(message.starts_with(&path.display().to_string()), "{message}");
    assert!(!message.contains('\n'), "{message}");
    error
}

fn refused_bytes(suffix: &str, bytes: &[u8], options: &ReadOptions) -> Error {
    let file = tempfile::Builder::new().suffix(suffix).tempfile().unwrap();
    std::fs::write(file.path(), bytes).unwrap();
    refused(file.path(), options)
}

fn refused_csv(text: &str) -> Error {
    refused_bytes(".csv", text.as_bytes(), &ReadOptions::default())
}

fn packed(bytes: &[u8]) -> Vec<u8> {
    let mut gz = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    gz.write_all(bytes).unwrap();
    gz.finish().unwrap()
}

#[track_caller]
fn assert_says(error: &Error, part: &str) {
    let message = error.to_string();
    assert!(message.contains(part), "`{part}` is not in `{message}`");
}

#[test]
fn missing_files_and_folders() {
    let error = refused(Path::new("no/such/file.csv"), &ReadOptions::default());
    assert_says(&error, "check the path");
    let folder = tempfile::tempdir().unwrap();
    assert_says(&refused(folder.path(), &ReadOptions::default()), "no images in it");
    let error = read_labels(folder.path(), &ReadOptions::default()).unwrap_err();
    assert_says(&error, "give a file, not a folder");
}

#[test]
fn a_quotation_mark_without_a_counterpart_is_named() {
    let open = |text: &str| refused_csv(text).to_string();
    assert!(open("a,b\n1,2\n3,\"4\n5,6\n7,8\n").contains("line 3: a quotation mark"));
    assert!(open("a,b\n\"1\n\"\"\n2\",3\n4,\"5").contains("line 5: a quotation mark"));
    // Marks inside a cell that does not begin with one are text.
    let error = refused_csv("a,b\n1,2 \"big\n3,4\n");
    assert_says(&error, "`2 \"big`, which is not a number");
}

#[test]
fn empty_files() {
    assert_says(&refused_csv(""), "the file is empty");
    assert_says(&refused_csv("\n\n"), "there are no rows");
    assert_says(&refused_csv("a,b\n"), "there is a header but no row of numbers");
    assert_says(
        &refused_bytes(".csv.gz", &packed(b""), &ReadOptions::default()),
        "the file is empty",
    );
    let label = ReadOptions { label_column: Some(Column::Index(0)), ..ReadOptions::default() };
    assert_says(&refused_bytes(".csv", b"x\ny\n", &label), "no feature columns");
}

#[test]
fn ragged_rows() {
    let error = refused_csv("a,b\n1,2\n\n3,4,5\n");
    assert!(matches!(error, Error::Ragged { line: 4, expected: 2, found: 3, .. }), "{error}");
}

#[test]
fn text_among_numbers() {
    let error = refused_csv("a,b\r\n1,2\r\n3,large\r\n");
    let place = Cell { row: Row::Line(3), column: 2, name: Some("b".into()) };
    assert!(matches!(&error, Error::NotANumber { cell, .. } if *cell == place), "{error}");
    assert_says(
        &error,
        "line 3, column 2 (`b`) is `large`, which is not a number; name the column as",
    );
    assert_says(&refused_csv("1,2\n\"3\n\",4\n5,x"), "line 4, column 2 is `x`");
}

#[test]
fn missing_and_infinite_cells() {
    assert_says(&refused_csv("a,b\n1,\n"), "line 2, column 2 (`b`) is empty");
    assert_says(&refused_csv("1,2\n1,nan\n"), "line 2, column 2 is nan");
    assert_says(&refused_csv("1,NA\n"), "line 1, column 2 is NA");
    assert_says(&refused_csv("1,1e999\n"), "line 1, column 2 is 1e999: features must be finite");
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("x.npy");
    let mut matrix = ssdl::Matrix::<f32>::zeros(3, 2);
    matrix.column_mut(1)[2] = f32::INFINITY;
    ssdl_data::write_npy(&path, &matrix).unwrap();
    assert_says(&refused(&path, &ReadOptions::default()), "sample 2, column 3 is inf");
    let label = ReadOptions { label_column: Some(Column::Index(0)), ..ReadOptions::default() };
    assert_says(&refused(&path, &label), "sample 2, column 3 is inf");
}

#[test]
fn bytes_that_are_not_text() {
    let error = refused_bytes(".csv", b"a,b\n1,2\n\xff,3\n", &ReadOptions::default());
    assert!(matches!(error, Error::NotText { line: 3, .. }), "{error}");
}

#[test]
fn unknown_formats() {
    let error = refused_bytes(".jpeg", b"\xff\xd8\xff", &ReadOptions::default());
    assert_says(
        &error,
        "known: csv, tsv, text, npy, npz, idx, mat, safetensors (each also with .gz)",
    );
    assert_says(&error, "force one of them");
}

#[test]
fn missing_label_columns() {
    let header: Vec<String> = (0..12).map(|i| format!("c{i}")).collect();
    let text = header.join(",") + "\n" + &["1"; 12].join(",");
    let kind =
        ReadOptions { label_column: Some(Column::Name("kind".into())), ..ReadOptions::default() };
    let error = refused_bytes(".csv", text.as_bytes(), &kind);
    assert_says(&error, "no label column `kind`; available: `c0`, `c1`,");
    assert_says(&error, "`c9` and 2 more");
    let error = refused_bytes(".csv", b"1,2\n3,4\n", &kind);
    assert_says(&error, "0 to 1, by index: the columns have no names");
    assert_says(&refused(&fixture("images.npy"), &kind), "0 to 7, by index");
    let far = ReadOptions { label_column: Some(Column::Index(-3)), ..ReadOptions::default() };
    assert_says(&refused_bytes(".csv", b"1,2\n3,4\n", &far), "no label column -3");
}

#[test]
fn unclear_arrays() {
    let any = ReadOptions::default();
    assert_says(&refused(&fixture("two.npz"), &any), "`x_train`, `x_test`, `y_train`");
    let error = read_labels(fixture("two.npz"), &any).unwrap_err();
    assert_says(&error, "no array has a usual name for labels");
    let named = ReadOptions { features_array: Some("pixels".into()), ..ReadOptions::default() };
    assert_says(
        &refused(&fixture("rows.mat"), &named),
        "no array `pixels`; arrays in the file: `fea`",
    );
    assert_says(&refused(&fixture("unmatched.mat"), &any), "7 labels for samples of shape 4×3");
    let error = read_labels(fixture("images.npy"), &any).unwrap_err();
    assert_says(&error, "labels have shape 3×2×4");
}

#[test]
fn unsupported_content() {
    let any = ReadOptions::default();
    assert_says(&refused_bytes(".mat", b"MATLAB 7.3 MAT-file, \0", &any), "save it again with -v7");
    let mut late = vec![0; 512];
    late.extend(b"\x89HDF\r\n\x1a\n");
    assert_says(&refused_bytes(".mat", &late, &any), "save it again with -v7");
    assert_says(&refused(&fixture("complex.mat"), &any), "`X` is complex");
    assert_says(&refused(&fixture("complex.npy"), &any), "arrays of type '<c16' are not supported");
    assert_says(&refused(&fixture("labels_words.npy"), &any), "the samples are text");
}

#[test]
fn truncated_files() {
    let any = ReadOptions::default();
    let cut = |name: &str, suffix: &str, keep: usize| {
        refused_bytes(suffix, &std::fs::read(fixture(name)).unwrap()[..keep], &any)
    };
    assert_says(
        &cut("samples_little_f8.npy", ".npy", 150),
        "shape 4×3 needs 96 bytes, but there are 22",
    );
    assert_says(&cut("samples_little_f8.npy", ".npy", 40), "ends inside the header");
    assert_says(
        &cut("samples_double.idx", ".idx", 20),
        "shape 4×3 needs 96 bytes, but there are 8",
    );
    assert_says(&cut("rows.mat", ".mat", 190), "ends inside the element at byte 128");
    assert_says(&cut("rows.mat", ".mat", 60), "header of 128 bytes");
    assert_says(&cut("stored.npz", ".npz", 200), "not a valid NPZ file");
    assert_says(&cut("both.safetensors", ".safetensors", 100), "not a valid safetensors file");
    assert_says(&cut("images-idx3-short.gz", ".gz", 40), "not a valid gzip file");
}

#[test]
fn absurd_sizes_allocate_no_memory() {
    let any = ReadOptions::default();
    let mut idx = vec![0, 0, 0x0e, 3];
    idx.extend([0xff; 12]);
    assert_says(&refused_bytes(".idx", &idx, &any), "impossibly large");
    let mut idx = vec![0, 0, 0x08, 2];
    idx.extend([0, 0x0f, 0, 0, 0, 0, 0xff, 0xff]);
    assert_says(&refused_bytes(".idx", &idx, &any), "but there are 0");
    assert_says(&refused_bytes(".idx.gz", &packed(&idx), &any), "but there are 0");
    let mut npy = b"\x93NUMPY\x02\x00\xff\xff\xff\xff".to_vec();
    npy.extend(b"{'descr'");
    assert_says(&refused_bytes(".npy", &npy, &any), "ends inside the header");
    let mut tensors = u64::MAX.to_le_bytes().to_vec();
    tensors.extend(b"{}");
    assert_says(&refused_bytes(".safetensors", &tensors, &any), "not a valid safetensors file");
}

#[test]
fn decompression_bombs_are_not_unpacked_completely() {
    let little = ReadOptions { max_unpacked: Some(100_000), ..ReadOptions::default() };
    let bomb = packed(&vec![b'1'; 10_000_000]);
    assert!(matches!(refused_bytes(".csv.gz", &bomb, &little), Error::TooLarge { .. }));
    // A header that declares a small size ends the unpacking, whatever the limit is.
    let mut idx = vec![0, 0, 0x08, 1, 0, 0, 0, 5];
    idx.resize(10_000_000, 0);
    let error = refused_bytes(".gz", &packed(&idx), &ReadOptions::default());
    assert_says(&error, "shape 5 needs 5 bytes, but");
}

/// The limit grows with the file: 64 MiB are plenty for a hundred kilobytes.
#[test]
fn the_limit_of_unpacking_is_in_proportion_to_the_file() {
    let mut gz = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::best());
    gz.write_all(&vec![b'1'; 80 << 20]).unwrap();
    let bomb = gz.finish().unwrap();
    assert!(bomb.len() < 1 << 17);
    let any = ReadOptions::default();
    let error = refused_bytes(".csv.gz", &bomb, &any);
    assert!(matches!(error, Error::TooLarge { limit: 0x400_0000, .. }), "{error}");
    assert_says(&error, "raise the limit");
    let more = ReadOptions { max_unpacked: Some(1 << 30), ..ReadOptions::default() };
    let error = refused_bytes(".csv.gz", &bomb, &more);
    assert!(matches!(error, Error::NotFinite { .. }), "one number of many digits: {error}");
}

#[cfg(unix)]
#[test]
fn devices_are_refused_before_they_are_read() {
    for device in ["/dev/zero", "/dev/null"] {
        let error = read(device, &ReadOptions::default()).unwrap_err();
        assert_says(&error, "a device, not a file");
    }
}

#[test]
fn decimal_commas_are_refused_with_the_remedy() {
    let remedy = "write decimals with a point";
    assert_says(&refused_csv("a;b\n1,5;2,5\n"), remedy);
    assert_says(&refused_csv("1,5;2,5\n2,5;3,5\n"), remedy);
    assert_says(&refused_csv("a,b\n\"1,5\",2\n"), remedy);
    assert_says(&refused_csv("a,b\nfoo,2\n"), "name the column as the label column");
}

#[test]
fn a_column_that_does_not_exist_is_refused_with_the_names_of_the_others() {
    let options = ReadOptions { label_column: Some(Column::Index(99)), ..ReadOptions::default() };
    let error = refused_bytes(".csv", b"a,b,kind\n1,2,x\n", &options);
    assert_says(&error, "available: 0 to 2: `a`, `b`, `kind`");
    let error = refused_bytes(".csv", b"1,2,3\n4,5,6\n", &options);
    assert_says(&error, "the columns have no names");
}

#[test]
fn errors_of_the_library_are_passed_on() {
    let error = Error::from(ssdl::Error::Cancelled);
    assert_eq!(error.to_string(), ssdl::Error::Cancelled.to_string());
}
