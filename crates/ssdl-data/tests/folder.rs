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
    let options = ReadOptions { max_unpacked: 100, ..ReadOptions::default() };
    refused(classes().path(), &options, &["more than 100 bytes"]);
}
