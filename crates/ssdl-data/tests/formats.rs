//! Every binary format gives the same four samples.
#![allow(clippy::unwrap_used)]

use std::path::PathBuf;

use ssdl_data::{Column, Format, ReadOptions, Table, read, read_blocks, read_labels};

fn fixture(name: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures").join(name)
}

fn opened(name: &str) -> Table {
    read(fixture(name), &ReadOptions::default()).unwrap()
}

fn names(texts: &[&str]) -> Vec<Option<String>> {
    texts.iter().map(|text| (!text.is_empty()).then(|| (*text).to_owned())).collect()
}

/// Four samples of three features, as all small fixtures hold them.
fn assert_samples(table: &Table) {
    assert_eq!((table.features.rows(), table.features.columns()), (3, 4));
    let counted: Vec<f64> = (1..=12).map(f64::from).collect();
    assert_eq!(table.features.as_slice(), counted);
    assert_eq!(table.feature_names, None);
}

/// Three images of two rows and four columns: pixel (r, c) of sample s is 100 s + 10 r + c.
fn assert_images(table: &Table) {
    assert_eq!(table.image, Some([2, 4]));
    assert_eq!((table.features.rows(), table.features.columns()), (8, 3));
    assert_eq!(table.features.column(0), [0.0, 1.0, 2.0, 3.0, 10.0, 11.0, 12.0, 13.0]);
    assert_eq!(table.features.column(2)[4..6], [210.0, 211.0]);
}

#[test]
fn npy_of_every_type_and_order() {
    let types = [
        "little_f8",
        "big_f8",
        "little_f4",
        "big_f4",
        "little_f2",
        "i1",
        "little_i2",
        "big_i2",
        "little_i4",
        "big_i4",
        "little_i8",
        "big_i8",
        "u1",
        "little_u2",
        "little_u4",
        "little_u8",
        "big_u8",
        "fortran",
    ];
    for name in types {
        assert_samples(&opened(&format!("samples_{name}.npy")));
    }
    assert_samples(&opened("version2.npy"));
    let bools = opened("samples_bool.npy");
    assert_eq!(bools.features.as_slice()[..4], [0.0, 1.0, 0.0, 1.0]);
}

#[test]
fn npy_of_other_numbers_of_axes() {
    assert_images(&opened("images.npy"));
    assert_images(&opened("images_fortran.npy"));
    let line = opened("line.npy");
    assert_eq!((line.features.rows(), line.features.columns()), (1, 4));
}

#[test]
fn npy_labels_of_every_kind() {
    let labels = |name: &str| read_labels(fixture(name), &ReadOptions::default()).unwrap();
    assert_eq!(labels("labels.npy"), names(&["0", "1", "", "1"]));
    assert_eq!(labels("labels_float.npy"), names(&["0", "1", "", "1"]));
    assert_eq!(labels("labels_words.npy"), names(&["cat", "dog", "", "zebra é"]));
    assert_eq!(labels("labels_words_big.npy"), names(&["cat", "dog", "", "zebra é"]));
    assert_eq!(labels("labels_bytes.npy"), names(&["cat", "dog", "", "ant"]));
}

#[test]
fn a_given_marker_makes_minus_one_a_class() {
    let options = ReadOptions { unlabelled: Some("0".into()), ..ReadOptions::default() };
    let labels = read_labels(fixture("labels.npy"), &options).unwrap();
    assert_eq!(labels, names(&["", "1", "-1", "1"]));
}

#[test]
fn npy_with_a_label_column() {
    let options = ReadOptions { label_column: Some(Column::Index(-1)), ..ReadOptions::default() };
    let table = read(fixture("samples_big_f4.npy"), &options).unwrap();
    assert_eq!(table.labels, Some(names(&["3", "6", "9", "12"])));
    assert_eq!(table.features.column(1), [4.0, 5.0]);
    let optional = ReadOptions { label_optional: true, n_features: Some(3), ..options };
    assert_samples(&read(fixture("samples_big_f4.npy"), &optional).unwrap());
}

#[test]
fn npz_by_usual_names_and_by_given_names() {
    let table = opened("stored.npz");
    assert_samples(&table);
    assert_eq!(table.labels, Some(names(&["0", "1", "", "1"])));
    let table = opened("packed.npz");
    assert_samples(&table);
    assert_eq!(table.labels, Some(names(&["cat", "dog", "", "zebra é"])));
    assert_samples(&opened("unnamed.npz"));
    let options = ReadOptions {
        features_array: Some("x_test".into()),
        label_column: Some(Column::Name("y_train".into())),
        ..ReadOptions::default()
    };
    let table = read(fixture("two.npz"), &options).unwrap();
    assert_samples(&table);
    assert!(table.labels.is_some());
    let labels = read_labels(fixture("packed.npz"), &ReadOptions::default()).unwrap();
    assert_eq!(labels.len(), 4);
}

#[test]
fn idx_of_every_type_by_magic_bytes_and_unpacked() {
    for name in ["byte", "int", "float", "double"] {
        assert_samples(&opened(&format!("samples_{name}.idx")));
    }
    assert_images(&opened("images-idx3-short.gz"));
    let table = opened("images-idx3-ubyte");
    assert_eq!((table.image, table.features.columns()), (Some([2, 4]), 3));
    let labels = read_labels(fixture("labels-idx1-ubyte.gz"), &ReadOptions::default()).unwrap();
    assert_eq!(labels, names(&["7", "0", "9"]));
}

#[test]
fn mat_with_samples_in_rows_columns_and_images() {
    for name in ["rows.mat", "rows_packed.mat", "columns.mat"] {
        let table = opened(name);
        assert_samples(&table);
        assert_eq!(table.labels, Some(names(&["0", "1", "", "1"])), "{name}");
    }
    assert_samples(&opened("big_endian.mat"));
    let table = opened("images.mat");
    assert_images(&table);
    assert_eq!(table.labels, Some(names(&["5", "6", "7"])));
    let labels = read_labels(fixture("rows_packed.mat"), &ReadOptions::default()).unwrap();
    assert_eq!(labels, names(&["0", "1", "", "1"]));
}

#[test]
fn safetensors_with_and_without_labels() {
    let table = opened("both.safetensors");
    assert_samples(&table);
    assert_eq!(table.labels, Some(names(&["0", "1", "", "1"])));
    let table = opened("half.safetensors");
    assert_samples(&table);
    assert_eq!(table.labels, None);
}

#[test]
fn a_forced_format_wins_over_the_name() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("samples.csv");
    std::fs::copy(fixture("samples_i1.npy"), &path).unwrap();
    let options = ReadOptions { format: Some(Format::Npy), ..ReadOptions::default() };
    assert_samples(&read(&path, &options).unwrap());
}

#[test]
fn gzip_is_unpacked_whatever_is_inside() {
    use std::io::Write;
    let folder = tempfile::tempdir().unwrap();
    for name in ["samples_fortran.npy", "stored.npz", "rows.mat", "both.safetensors"] {
        let path = folder.path().join(format!("{name}.gz"));
        let file = std::fs::File::create(&path).unwrap();
        let mut gz = flate2::write::GzEncoder::new(file, flate2::Compression::fast());
        gz.write_all(&std::fs::read(fixture(name)).unwrap()).unwrap();
        gz.finish().unwrap();
        assert_samples(&read(&path, &ReadOptions::default()).unwrap());
    }
}

/// Whatever is read in blocks is what is read at once; what cannot be is left to the other reader.
#[test]
fn blocks_are_what_is_read_at_once() {
    let options = ReadOptions::default();
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures");
    let mut in_blocks = 0;
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let Some(block) = read_blocks::<f64>(&path, &options) else { continue };
        let table = read(&path, &options).unwrap();
        assert_eq!(block.features, table.features, "{}", path.display());
        assert_eq!(block.image, table.image, "{}", path.display());
        let single = read_blocks::<f32>(&path, &options).unwrap();
        assert_eq!(single.features, table.features.cast::<f32>(), "{}", path.display());
        in_blocks += 1;
    }
    assert!(in_blocks >= 10, "{in_blocks}");
    let labelled = ReadOptions { label_column: Some(Column::Index(0)), ..options };
    assert!(read_blocks::<f32>(fixture("samples_little_f8.npy"), &labelled).is_none());
}

#[test]
fn a_damaged_file_is_left_to_the_reader_that_names_the_damage() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("images.idx");
    // More samples than one block converts: 1,100 of 4,096 bytes.
    let mut bytes = vec![0, 0, 8, 2];
    bytes.extend(1100u32.to_be_bytes());
    bytes.extend(4096u32.to_be_bytes());
    bytes.extend((0..1100 * 4096).map(|at: usize| (at % 251) as u8));
    std::fs::write(&path, &bytes).unwrap();
    let options = ReadOptions::default();
    let whole = read_blocks::<f32>(&path, &options).unwrap();
    assert_eq!(whole.features, read(&path, &options).unwrap().features.cast::<f32>());
    for damaged in [&bytes[..bytes.len() - 1], &[&bytes[..], &[0]].concat(), &bytes[..9]] {
        std::fs::write(&path, damaged).unwrap();
        assert!(read_blocks::<f32>(&path, &options).is_none());
        assert!(read(&path, &options).is_err());
    }
    // Not a number, in the last sample.
    let header = "{'descr': '<f4', 'fortran_order': False, 'shape': (3, 2), }";
    let mut npy = b"\x93NUMPY\x01\x00".to_vec();
    npy.extend((header.len() as u16).to_le_bytes());
    npy.extend(header.as_bytes());
    npy.extend([1.0f32, 2.0, 3.0, 4.0, 5.0, f32::NAN].iter().flat_map(|v| v.to_le_bytes()));
    let path = folder.path().join("x.npy");
    std::fs::write(&path, npy).unwrap();
    assert!(read_blocks::<f32>(&path, &options).is_none());
    assert!(read(&path, &options).unwrap_err().to_string().contains("sample 3"));
}

#[test]
fn a_single_tensor_is_read_in_blocks() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("x.safetensors");
    let numbers: Vec<f32> = (0..3000 * 700).map(|at| (at % 977) as f32 * 0.25).collect();
    let data: Vec<u8> = numbers.iter().flat_map(|value| value.to_le_bytes()).collect();
    let options = ReadOptions::default();
    let tensor = |shape: &str, end: usize| {
        format!(r#"{{"dtype":"F32","shape":{shape},"data_offsets":[0,{end}]}}"#)
    };
    let write = |header: String, data: &[u8]| {
        let bytes = [&(header.len() as u64).to_le_bytes(), header.as_bytes(), data].concat();
        std::fs::write(&path, bytes).unwrap();
    };
    let whole = tensor("[3000,700]", data.len());
    for header in [
        format!(r#"{{"__metadata__":{{"by":"hand"}},"X":{whole}}}"#),
        format!(r#"{{"anything":{}}}   "#, tensor("[3000,70,10]", data.len())),
    ] {
        write(header, &data);
        let (block, table) = (read_blocks::<f32>(&path, &options).unwrap(), read(&path, &options));
        let table = table.unwrap();
        assert_eq!((block.features, block.image), (table.features.cast(), table.image));
        let named = ReadOptions { features_array: Some("X".into()), ..ReadOptions::default() };
        assert!(read_blocks::<f32>(&path, &named).is_none());
    }
    let short = &data[..data.len() - 4];
    for (header, data) in [
        (format!(r#"{{"y":{whole}}}"#), &data[..]),
        (format!(r#"{{"X":{whole}}}"#), short),
        (format!(r#"{{"X":{}}}"#, tensor("[3000,700]", short.len())), short),
        (format!(r#"{{"X":{}}}"#, tensor("[3000,700]", short.len())), &data[..]),
        (format!(r#"{{"X":{}}}"#, tensor("[0,700]", 0)), &[]),
        ("{}".to_owned(), &[]),
        ("[]".to_owned(), &[]),
        ("{".to_owned(), &data[..]),
    ] {
        write(header.clone(), data);
        assert!(read_blocks::<f32>(&path, &options).is_none(), "{header}");
        assert!(read(&path, &options).is_err(), "{header}");
    }
    std::fs::write(&path, u64::MAX.to_le_bytes()).unwrap();
    assert!(read_blocks::<f32>(&path, &options).is_none());
}
