//! Written files read back the same, appear only when complete, and leave nothing else behind.
#![allow(clippy::unwrap_used)]

use ssdl::Matrix;
use ssdl_data::{
    Column, ReadOptions, check_writable, read, write_npy, write_predictions, write_predictions_to,
};

const NO_PROBABILITIES: Option<(&[&str], &Matrix<f64>)> = None;

#[test]
fn predictions_are_quoted_and_exact() {
    let probabilities = Matrix::from_columns(2, 2, vec![0.1, 0.9, 1.0 / 3.0, 1e-300]).unwrap();
    let mut out = Vec::new();
    let classes = ["a,b", "say \"c\""];
    write_predictions_to(&mut out, None, &["a,b", "x"], Some((&classes, &probabilities))).unwrap();
    let text = String::from_utf8(out).unwrap();
    let expected =
        "label,\"a,b\",\"say \"\"c\"\"\"\n\"a,b\",0.1,0.9\nx,0.3333333333333333,1e-300\n";
    assert_eq!(text, expected);
}

#[test]
fn predictions_read_back_the_same() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("out.csv");
    let probabilities = Matrix::from_fn(3, 5, |i, j| 1.0 / (7 * i + 3 * j + 1) as f32);
    let labels = ["b", "a", "c", "a", "b"];
    write_predictions(&path, None, &labels, Some((&["a", "b", "c"], &probabilities))).unwrap();
    let options =
        ReadOptions { label_column: Some(Column::Name("label".into())), ..ReadOptions::default() };
    let table = read(&path, &options).unwrap();
    assert_eq!(table.features.cast::<f32>(), probabilities);
    assert_eq!(table.feature_names.unwrap(), ["a", "b", "c"]);
    assert_eq!(table.labels.unwrap(), labels.map(|label| Some(label.to_owned())));
    write_predictions(&path, None, &labels, NO_PROBABILITIES).unwrap();
    assert_eq!(std::fs::read_to_string(&path).unwrap(), "label\nb\na\nc\na\nb\n");
}

#[test]
fn counts_must_match() {
    let probabilities = Matrix::<f64>::zeros(2, 3);
    let sink = || std::io::sink();
    assert!(
        write_predictions_to(sink(), None, &["a"], Some((&["a", "b"], &probabilities))).is_err()
    );
    assert!(write_predictions_to(sink(), None, &["a"; 3], Some((&["a"], &probabilities))).is_err());
}

#[test]
fn npy_reads_back_in_both_precisions() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("codes.npy");
    let matrix = Matrix::from_fn(3, 70, |i, j| (i * 100 + j) as f32 / 3.0);
    write_npy(&path, &matrix).unwrap();
    assert_eq!(read(&path, &ReadOptions::default()).unwrap().features.cast::<f32>(), matrix);
    let bytes = std::fs::read(&path).unwrap();
    assert_eq!((bytes.len() - 3 * 70 * 4) % 64, 0);
    let wide = matrix.cast::<f64>();
    write_npy(&path, &wide).unwrap();
    assert_eq!(read(&path, &ReadOptions::default()).unwrap().features, wide);
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1);
}

#[test]
fn unwritable_files_are_reported_beforehand() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("out.csv");
    check_writable(&path).unwrap();
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
    std::fs::write(&path, "old").unwrap();
    check_writable(&path).unwrap();
    assert_eq!(std::fs::read_to_string(&path).unwrap(), "old");
    let message = check_writable(folder.path()).unwrap_err().to_string();
    assert!(message.contains("give a file, not a folder"), "{message}");
    let missing = folder.path().join("none").join("out.csv");
    let message = check_writable(&missing).unwrap_err().to_string();
    assert!(message.contains("check the path"), "{message}");
    assert!(write_predictions(&missing, None, &["a"], NO_PROBABILITIES).is_err());
    let mut closed = std::fs::metadata(&path).unwrap().permissions();
    closed.set_readonly(true);
    std::fs::set_permissions(&path, closed).unwrap();
    let message = check_writable(&path).unwrap_err().to_string();
    assert!(message.contains("check the permissions"), "{message}");
    assert!(write_predictions(&path, None, &["a"], NO_PROBABILITIES).is_err());
    assert_eq!(std::fs::read_to_string(&path).unwrap(), "old");
}

#[cfg(unix)]
#[test]
fn links_are_followed_and_devices_stay_devices() {
    use std::os::unix::fs::{FileTypeExt, PermissionsExt};
    let folder = tempfile::tempdir().unwrap();
    let (real, link) = (folder.path().join("real.csv"), folder.path().join("link.csv"));
    std::fs::write(&real, "old").unwrap();
    std::fs::set_permissions(&real, PermissionsExt::from_mode(0o640)).unwrap();
    std::os::unix::fs::symlink(&real, &link).unwrap();
    write_predictions(&link, None, &["a"], NO_PROBABILITIES).unwrap();
    assert!(std::fs::symlink_metadata(&link).unwrap().is_symlink());
    assert_eq!(std::fs::read_to_string(&real).unwrap(), "label\na\n");
    assert_eq!(std::fs::metadata(&real).unwrap().permissions().mode() & 0o777, 0o640);
    check_writable("/dev/null").unwrap();
    write_predictions("/dev/null", None, &["a"], NO_PROBABILITIES).unwrap();
    assert!(std::fs::metadata("/dev/null").unwrap().file_type().is_char_device());
}
