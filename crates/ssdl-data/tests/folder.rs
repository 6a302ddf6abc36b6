//! Folders of images: classes by sub-folder, brightness, sizes, errors.
#![allow(clippy::unwrap_used)]

use std::fs;
use std::path::Path;

use ssdl_data::{ReadOptions, read};

macro_rules! fixture {
    ($name:literal) => {
        include_bytes!(concat!("fixtures/", $name)).to_vec()
    };
}

/// A grey PNG, pixels row by row.
fn png(width: u32, height: u32, pixels: &[u8]) -> Vec<u8> {
    let mut bytes = Vec::new();
    let mut encoder = png::Encoder::new(&mut bytes, width, height);
    encoder.set_color(png::ColorType::Grayscale);
    encoder.write_header().unwrap().write_image_data(pixels).unwrap();
    bytes
}

/// Reads files as one folder; each column is an image.
#[track_caller]
fn read_files(files: &[(&str, Vec<u8>)]) -> ssdl_data::Table {
    let folder = tempfile::tempdir().unwrap();
    for (name, bytes) in files {
        fs::write(folder.path().join(name), bytes).unwrap();
    }
    read(folder.path(), &ReadOptions::default()).unwrap()
}

/// Two classes of grey images, 2 high and 3 wide, and one without a class.
fn classes() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    for (class, name, bytes) in [
        ("cats", "b.png", png(3, 2, &[51; 6])),
        ("cats", "a.png", png(3, 2, &[0; 6])),
        ("dogs", "c.PGM", b"P5 3 2 255\n\xff\xff\xff\xff\xff\xff".to_vec()),
        ("unlabelled", "d.jpg", fixture!("grey.jpg")),
    ] {
        let class = folder.path().join(class);
        fs::create_dir_all(&class).unwrap();
        fs::write(class.join(name), bytes).unwrap();
    }
    fs::write(folder.path().join("cats/.DS_Store"), "ignored").unwrap();
    fs::write(folder.path().join("Thumbs.db"), "ignored").unwrap();
    folder
}

#[track_caller]
fn refused(path: &Path, options: &ReadOptions, parts: &[&str]) {
    let message = read(path, options).unwrap_err().to_string();
    assert!(!message.contains('\n'), "{message}");
    for part in parts {
        assert!(message.contains(part), "`{part}` is not in `{message}`");
    }
}

#[test]
fn sub_folders_are_classes_in_the_order_of_their_names() {
    let folder = classes();
    let table = read(folder.path(), &ReadOptions::default()).unwrap();
    let names = table.sample_names.unwrap();
    assert_eq!(names, ["cats/a.png", "cats/b.png", "dogs/c.PGM", "unlabelled/d.jpg"]);
    let labels: Vec<_> = table.labels.unwrap();
    assert_eq!(labels, [Some("cats".into()), Some("cats".into()), Some("dogs".into()), None]);
    assert_eq!(table.image, Some([2, 3]));
    assert_eq!(table.features.rows(), 6);
    for (column, value) in table.features.iter_columns().zip([0.0, 0.2, 1.0, 0.4]) {
        assert!(column.iter().all(|v| (v - value).abs() < 1e-6), "{column:?}");
    }
}

#[test]
fn another_folder_name_can_mean_unlabelled() {
    let folder = classes();
    let options = ReadOptions { unlabelled: Some("dogs".into()), ..ReadOptions::default() };
    let labels = read(folder.path(), &options).unwrap().labels.unwrap();
    assert_eq!(labels[2], None);
    assert_eq!(labels[3], Some("unlabelled".into()));
}

#[test]
fn a_plain_folder_has_no_labels() {
    let folder = classes();
    let table = read(folder.path().join("cats"), &ReadOptions::default()).unwrap();
    assert_eq!((table.labels, table.sample_names.unwrap().len()), (None, 2));
}

#[test]
fn pixels_run_row_by_row_and_colours_become_brightness() {
    let features = read_files(&[
        ("a.png", fixture!("colour.png")),
        ("b.png", fixture!("palette.png")),
        ("c.png", fixture!("opaque.png")),
        ("d.ppm", b"P3 2 1 9 9 9 9 0 9 0".to_vec()),
        ("e.png", fixture!("deep.png")),
        ("f.png", fixture!("clear.png")),
        ("g.png", fixture!("bits.png")),
    ])
    .features;
    for column in 0..4 {
        assert_eq!(features.column(column), [1.0, 0.7152], "white and green");
    }
    assert_eq!(features.column(4), [0.0, 0.2]);
    assert_eq!(features.column(5), [0.0, 1.0], "transparent pixels are background");
    assert_eq!(features.column(6), [0.0, 1.0]);
}

#[test]
fn photographs_are_turned_as_the_camera_noted() {
    let turned = [("a.jpg", fixture!("turned.jpg")), ("b.png", fixture!("turned.png"))];
    let table = read_files(&turned);
    assert_eq!(table.image, Some([8, 16]));
    let halves = |image: &[f64], is_dark: fn(usize) -> bool| {
        image
            .iter()
            .enumerate()
            .all(|(i, v)| (v * 255.0 - if is_dark(i) { 20.0 } else { 220.0 }).abs() < 3.0)
    };
    for image in table.features.iter_columns() {
        assert!(halves(image, |i| i % 16 >= 8), "{image:?}");
    }
    let upright = [("a.jpg", fixture!("ink.jpg")), ("b.jpg", fixture!("progressive.jpg"))];
    let table = read_files(&upright);
    assert_eq!(table.image, Some([16, 8]));
    for image in table.features.iter_columns() {
        assert!(halves(image, |i| i / 8 < 8), "{image:?}");
    }
}

#[test]
fn sizes_must_agree_or_be_given() {
    let folder = classes();
    let halves = png(4, 4, &[0, 0, 200, 200].repeat(4));
    fs::write(folder.path().join("dogs/wide.png"), halves).unwrap();
    let parts = ["wide.png: 4x4 pixels", "a.png has 2x3", "--image HEIGHTxWIDTH"];
    refused(folder.path(), &ReadOptions::default(), &parts);
    let options = ReadOptions { image: Some([2, 2]), ..ReadOptions::default() };
    let table = read(folder.path(), &options).unwrap();
    assert_eq!((table.image, table.features.rows()), (Some([2, 2]), 4));
    let wide = table.features.column(3);
    assert!(wide[0] < 0.2 && wide[1] > 0.6 && (wide[0] - wide[2]).abs() < 1e-6, "{wide:?}");
    for image in [[0, 2], [1 << 20, 1]] {
        let options = ReadOptions { image: Some(image), ..ReadOptions::default() };
        refused(folder.path(), &options, &["cannot be resized to"]);
    }
}

#[test]
fn files_that_are_not_images_are_named() {
    let folder = classes();
    let put = |name: &str, bytes: &[u8]| fs::write(folder.path().join(name), bytes).unwrap();
    let refused = |parts: &[&str]| refused(folder.path(), &ReadOptions::default(), parts);
    put("cats/z.png", b"this is text");
    refused(&["cats", "z.png", "not a valid image file"]);
    let whole = fs::read(folder.path().join("cats/a.png")).unwrap();
    put("cats/z.png", &whole[..whole.len() - 20]);
    refused(&["z.png", "not a valid image file"]);
    put("cats/z.png", b"");
    refused(&["z.png", "not a valid image file"]);
    fs::remove_file(folder.path().join("cats/z.png")).unwrap();
    put("cats/notes.txt", b"text");
    refused(&["notes.txt", "not an image file", "remove it"]);
    fs::remove_file(folder.path().join("cats/notes.txt")).unwrap();
    put("stray.png", &whole);
    refused(&["stray.png", "move it into one of them"]);
    fs::remove_file(folder.path().join("stray.png")).unwrap();
    fs::create_dir(folder.path().join("cats/nested")).unwrap();
    refused(&["nested", "directly into its folder"]);
}

#[cfg(unix)]
#[test]
fn links_to_what_has_no_end_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    std::os::unix::fs::symlink("/dev/zero", folder.path().join("x.png")).unwrap();
    refused(folder.path(), &ReadOptions::default(), &["x.png", "not a plain file"]);
}

#[test]
fn folders_without_images_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    refused(folder.path(), &ReadOptions::default(), &["no images in it", "png, jpg"]);
    fs::create_dir(folder.path().join("cats")).unwrap();
    refused(folder.path(), &ReadOptions::default(), &["no images in it"]);
}

#[test]
fn a_folder_too_large_is_refused_before_it_is_read_completely() {
    let options = ReadOptions { max_unpacked: Some(100), ..ReadOptions::default() };
    refused(classes().path(), &options, &["more than the limit of 100", "--image"]);
}

/// A PNG whose header claims other sides; its checksum fits.
fn png_claiming(width: u32, height: u32) -> Vec<u8> {
    let mut bytes = png(2, 2, &[0; 4]);
    bytes[16..20].copy_from_slice(&width.to_be_bytes());
    bytes[20..24].copy_from_slice(&height.to_be_bytes());
    let mut sum = flate2::Crc::new();
    sum.update(&bytes[12..29]);
    bytes[29..33].copy_from_slice(&sum.sum().to_be_bytes());
    bytes
}

/// A JPEG whose frame claims other sides.
fn jpeg_claiming(width: u16, height: u16) -> Vec<u8> {
    let mut bytes = fixture!("grey.jpg");
    let frame = bytes.windows(2).position(|pair| pair == [0xff, 0xc0]).unwrap();
    bytes[frame + 5..frame + 7].copy_from_slice(&height.to_be_bytes());
    bytes[frame + 7..frame + 9].copy_from_slice(&width.to_be_bytes());
    bytes
}

#[test]
fn images_that_would_take_too_much_memory_are_refused_by_their_headers() {
    let cases: [(&str, Vec<u8>); 5] = [
        ("large.ppm", b"P6 60000 60000 255\n".to_vec()),
        ("large.pgm", b"P5 60000 60000 255\n".to_vec()),
        ("large.pbm", b"P4 65536 65536\n".to_vec()),
        ("large.png", png_claiming(12_000, 12_000)),
        ("large.jpg", jpeg_claiming(65_500, 65_500)),
    ];
    for (name, bytes) in cases {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join(name), bytes).unwrap();
        refused(folder.path(), &ReadOptions::default(), &[name, "more than the limit"]);
    }
    let folder = classes();
    let options = ReadOptions { image: Some([60_000, 60_000]), ..ReadOptions::default() };
    refused(folder.path(), &options, &["resized to 60000x60000", "choose a smaller"]);
}

#[test]
fn a_large_image_may_be_read_where_it_becomes_small() {
    let folder = tempfile::tempdir().unwrap();
    let large = png(6000, 3000, &vec![0; 6000 * 3000]);
    fs::write(folder.path().join("large.png"), large).unwrap();
    let options = ReadOptions { image: Some([4, 8]), ..ReadOptions::default() };
    assert_eq!(read(folder.path(), &options).unwrap().features.rows(), 32);
}
