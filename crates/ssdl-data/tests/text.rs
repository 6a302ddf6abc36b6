//! Text tables: headers, label columns, quoting, blank lines.
#![allow(clippy::unwrap_used)]

use ssdl_data::{Column, Format, ReadOptions, Result, Table, read, read_labels};

fn written(text: &str) -> tempfile::NamedTempFile {
    let file = tempfile::Builder::new().suffix(".csv").tempfile().unwrap();
    std::fs::write(file.path(), text).unwrap();
    file
}

fn csv(text: &str, options: &ReadOptions) -> Result<Table> {
    read(written(text).path(), options)
}

fn labels(text: &str, options: &ReadOptions) -> Result<Vec<Option<String>>> {
    read_labels(written(text).path(), options)
}

fn label(column: impl Into<Column>) -> ReadOptions {
    ReadOptions { label_column: Some(column.into()), ..ReadOptions::default() }
}

fn names(texts: &[&str]) -> Vec<Option<String>> {
    texts.iter().map(|text| (!text.is_empty()).then(|| (*text).to_owned())).collect()
}

#[test]
fn a_header_is_detected_and_its_names_are_kept() {
    let table = csv("a, b ,kind\n1,2,x\n3,4e1,\n", &label("kind")).unwrap();
    assert_eq!(table.features.as_slice(), [1.0, 2.0, 3.0, 40.0]);
    assert_eq!(table.feature_names.unwrap(), ["a", "b"]);
    assert_eq!(table.labels, Some(names(&["x", ""])));
}

#[test]
fn without_a_header_columns_are_numbered() {
    let text = "1,2,x\n3,4,y\n";
    let table = csv(text, &label(Column::Index(-1))).unwrap();
    assert_eq!((table.features.columns(), table.feature_names), (2, None));
    assert_eq!(table.labels, Some(names(&["x", "y"])));
    let table = csv("x,1,2\ny,3,4", &label(Column::Index(0))).unwrap();
    assert_eq!(table.features.as_slice(), [1.0, 2.0, 3.0, 4.0]);
    let table = csv("1,2\n3,4\n", &ReadOptions::default()).unwrap();
    assert_eq!((table.features.columns(), table.labels), (2, None));
}

#[test]
fn the_header_can_be_forced_either_way() {
    let headed = ReadOptions { header: Some(true), ..ReadOptions::default() };
    assert_eq!(csv("1,2\n3,4\n", &headed).unwrap().features.columns(), 1);
    let bare = ReadOptions { header: Some(false), ..ReadOptions::default() };
    assert!(csv("a,b\n3,4\n", &bare).unwrap_err().to_string().contains("line 1, column 1 is `a`"));
}

#[test]
fn quotes_byte_order_marks_line_ends_and_separators() {
    let text = "\u{feff}\"a,b\";\"kind\"\r\n1.5;\"big; \"\"red\"\"\"\r\n\r\n2;\"two\nlines\"\r\n";
    let table = csv(text, &label("kind")).unwrap();
    assert_eq!(table.feature_names.unwrap(), ["a,b"]);
    assert_eq!(table.labels, Some(names(&["big; \"red\"", "two\nlines"])));
    assert_eq!(table.features.as_slice(), [1.5, 2.0]);
}

#[test]
fn tabs_and_white_space() {
    let tsv = ReadOptions { format: Some(Format::Tsv), ..label("k") };
    let table = csv("a b\tk\n1\tone two\n", &tsv).unwrap();
    assert_eq!(table.labels, Some(names(&["one two"])));
    let text = ReadOptions { format: Some(Format::Text), ..label(Column::Index(0)) };
    let table = csv("# made by hand\n6.0000 -1.0  0.5 \n\n  5.0000\t1 2\n", &text).unwrap();
    assert_eq!(table.features.as_slice(), [-1.0, 0.5, 1.0, 2.0]);
    assert_eq!(table.labels, Some(names(&["6", "5"])));
}

#[test]
fn an_optional_label_column_is_dropped_if_it_is_there() {
    let by_name = ReadOptions { label_optional: true, ..label("kind") };
    assert_eq!(csv("a,kind\n1,x\n", &by_name).unwrap().features.rows(), 1);
    assert_eq!(csv("a,b\n1,2\n", &by_name).unwrap().features.rows(), 2);
    assert_eq!(csv("1,2\n3,4\n", &by_name).unwrap().features.columns(), 2);
    let by_index =
        ReadOptions { label_optional: true, n_features: Some(2), ..label(Column::Index(0)) };
    assert_eq!(csv("x,1,2\n", &by_index).unwrap().features.as_slice(), [1.0, 2.0]);
    assert_eq!(csv("1,2\n", &by_index).unwrap().features.as_slice(), [1.0, 2.0]);
}

#[test]
fn files_of_labels() {
    let any = ReadOptions::default();
    assert_eq!(labels("label\ncat\n\ndog\n", &any).unwrap(), names(&["cat", "", "dog"]));
    assert_eq!(labels("cat\r\n\r\ndog\r\n", &any).unwrap(), names(&["cat", "", "dog"]));
    assert_eq!(labels("cat\n\"\"\n\n", &any).unwrap(), names(&["cat", "", ""]));
    assert_eq!(labels("\"a\nb\"\n\nc", &any).unwrap(), names(&["a\nb", "", "c"]));
    assert_eq!(labels("number\n3.0\n-1\n3\n", &any).unwrap(), names(&["3", "", "3"]));
    assert_eq!(labels("a,1\nb,2\n", &label(Column::Index(0))).unwrap(), names(&["a", "b"]));
    assert_eq!(labels("id,k\n1,x\n2,\n", &label("k")).unwrap(), names(&["x", ""]));
    let bare = ReadOptions { header: Some(false), ..ReadOptions::default() };
    assert_eq!(labels("label\nx\n", &bare).unwrap(), names(&["label", "x"]));
    let message = labels("a,1\nb,2\n", &any).unwrap_err().to_string();
    assert!(message.contains("several columns"), "{message}");
}

#[test]
fn samples_are_given_in_either_precision() {
    let table = csv("1,10\n2,9\n3,\n", &label(Column::Index(1))).unwrap();
    let samples = table.samples::<f32>().unwrap();
    assert_eq!(samples.labels().classes(), ["9", "10"]);
    assert_eq!(samples.labels().assigned(), [Some(1), Some(0), None]);
}
