//! Folders of images: classes by sub-folder, brightness, sizes, errors.
#![allow(clippy::unwrap_used)]

use std::fs;
use std::path::Path;

use image::{GrayImage, Luma, LumaA, Rgb, RgbImage};
use ssdl_data::{ReadOptions, read};

/// Two classes of grey images, 2 high and 3 wide, and one without a class.
fn classes() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    for (class, name, value) in [
        ("cats", "b.png", 51),
        ("cats", "a.png", 0),
        ("dogs", "c.PGM", 255),
        ("unlabelled", "d.jpg", 102),
    ] {
        let class = folder.path().join(class);
        fs::create_dir_all(&class).unwrap();
        GrayImage::from_pixel(3, 2, Luma([value])).save(class.join(name)).unwrap();
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
    let folder = tempfile::tempdir().unwrap();
    let coloured = RgbImage::from_fn(2, 1, |x, _| Rgb(if x == 0 { [255; 3] } else { [0, 255, 0] }));
    coloured.save(folder.path().join("a.png")).unwrap();
    let deep = image::ImageBuffer::<Luma<u16>, _>::from_fn(2, 1, |x, _| Luma([x as u16 * 13107]));
    deep.save(folder.path().join("b.png")).unwrap();
    let clear =
        image::ImageBuffer::<LumaA<u8>, _>::from_fn(2, 1, |x, _| LumaA([255, 255 * x as u8]));
    clear.save(folder.path().join("c.png")).unwrap();
    let features = read(folder.path(), &ReadOptions::default()).unwrap().features;
    assert_eq!(features.column(0)[0], 1.0);
    assert!((features.column(0)[1] - 0.7152).abs() < 1e-3, "{:?}", features.column(0));
    assert_eq!(features.column(1), [0.0, 0.2]);
    assert_eq!(features.column(2), [0.0, 1.0], "transparent pixels are background");
}

#[test]
fn sizes_must_agree_or_be_given() {
    let folder = classes();
    GrayImage::from_fn(4, 4, |x, _| Luma([if x < 2 { 0 } else { 200 }]))
        .save(folder.path().join("dogs/wide.png"))
        .unwrap();
    let parts = ["wide.png: 4x4 pixels", "a.png has 2x3", "--image HEIGHTxWIDTH"];
    refused(folder.path(), &ReadOptions::default(), &parts);
    let options = ReadOptions { image: Some([2, 2]), ..ReadOptions::default() };
    let table = read(folder.path(), &options).unwrap();
    assert_eq!((table.image, table.features.rows()), (Some([2, 2]), 4));
    let wide = table.features.column(3);
    assert!(wide[0] < 0.2 && wide[1] > 0.6 && wide[0] == wide[2], "{wide:?}");
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
    let mut bytes = Vec::new();
    let encoder = image::codecs::png::PngEncoder::new(&mut bytes);
    GrayImage::new(2, 2).write_with_encoder(encoder).unwrap();
    bytes[16..20].copy_from_slice(&width.to_be_bytes());
    bytes[20..24].copy_from_slice(&height.to_be_bytes());
    let mut sum = flate2::Crc::new();
    sum.update(&bytes[12..29]);
    bytes[29..33].copy_from_slice(&sum.sum().to_be_bytes());
    bytes
}

/// A JPEG whose frame claims other sides.
fn jpeg_claiming(width: u16, height: u16) -> Vec<u8> {
    let mut bytes = Vec::new();
    let encoder = image::codecs::jpeg::JpegEncoder::new(&mut bytes);
    image::RgbImage::new(2, 2).write_with_encoder(encoder).unwrap();
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
    GrayImage::new(6000, 3000).save(folder.path().join("large.png")).unwrap();
    let options = ReadOptions { image: Some([4, 8]), ..ReadOptions::default() };
    assert_eq!(read(folder.path(), &options).unwrap().features.rows(), 32);
}
