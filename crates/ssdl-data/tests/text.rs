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
fn a_first_row_with_the_names_of_the_features_is_a_header() {
    let known = ReadOptions {
        feature_names: Some(vec!["2001".into(), "2002".into()]),
        ..ReadOptions::default()
    };
    let table = csv("2001,2002\n1,2\n3,4\n", &known).unwrap();
    assert_eq!(table.features.as_slice(), [1.0, 2.0, 3.0, 4.0]);
    assert_eq!(csv("2001,2003\n1,2\n", &known).unwrap().features.columns(), 2);
}

#[test]
fn features_that_are_known_are_found_by_their_names() {
    let known = |label: Option<&str>| ReadOptions {
        feature_names: Some(vec!["a".into(), "b".into()]),
        n_features: Some(2),
        label_optional: true,
        label_column: label.map(Column::from),
        ..ReadOptions::default()
    };
    // In another order, beside labels that nobody asked for and text.
    let text = "note,b,kind,a\nred,2,p,1\n,4,q,3\n";
    let table = csv(text, &known(None)).unwrap();
    assert_eq!(table.features.as_slice(), [1.0, 2.0, 3.0, 4.0]);
    assert_eq!(table.feature_names.unwrap(), ["a", "b"]);
    assert_eq!(table.labels, None);
    assert_eq!(csv(text, &known(Some("kind"))).unwrap().labels, Some(names(&["p", "q"])));
    let wrong = csv("note,b,kind,a\nred,2,p,x\n", &known(None)).unwrap_err().to_string();
    assert!(wrong.contains("line 2, column 4 (`a`) is `x`"), "{wrong}");
    // Without one of the names, or where one is there twice, columns go by their place.
    for header in ["a,c", "a,a"] {
        let table = csv(&format!("{header}\n1,2\n"), &known(None)).unwrap();
        assert_eq!(table.features.as_slice(), [1.0, 2.0], "{header}");
    }
    // A row of numbers is no header, even if it has the names in another order.
    let numbers =
        ReadOptions { feature_names: Some(vec!["1".into(), "2".into()]), ..ReadOptions::default() };
    assert_eq!(csv("2,1\n3,4\n", &numbers).unwrap().features.columns(), 2);
}

#[test]
fn a_label_column_needs_a_name_of_its_own() {
    let wrong = csv("kind,a,kind\np,1,2\n", &label("kind")).unwrap_err().to_string();
    assert!(wrong.contains("two columns are called `kind`") && wrong.contains("0 or 2"), "{wrong}");
    let by_place = csv("kind,a,kind\np,1,2\n", &label(Column::Index(0))).unwrap();
    assert_eq!(by_place.features.as_slice(), [1.0, 2.0]);
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

#[test]
fn columns_that_are_no_features_are_ignored() {
    let ignoring = |columns: &[Column], options: ReadOptions| ReadOptions {
        ignored_columns: columns.to_vec(),
        ..options
    };
    let (id, first) = (Column::from("id"), Column::Index(0));
    let text = "id,a,note,kind,b\nx1,1,red,p,2\nx2,3,,q,4\n";
    for number in [id.clone(), first.clone()] {
        let options = ignoring(&[number, "note".into()], label("kind"));
        let table = csv(text, &options).unwrap();
        assert_eq!(table.features.as_slice(), [1.0, 2.0, 3.0, 4.0]);
        assert_eq!(table.feature_names.unwrap(), ["a", "b"]);
        assert_eq!(table.labels, Some(names(&["p", "q"])));
    }
    // Positions count the columns of the file; text that is ignored makes no header.
    let options = ignoring(&[first.clone(), first.clone()], label(Column::Index(1)));
    let table = csv("x1,p,2\nx2,q,4\n", &options).unwrap();
    assert_eq!((table.features.as_slice(), table.feature_names), (&[2.0, 4.0][..], None));
    assert_eq!(table.labels, Some(names(&["p", "q"])));
    // Numbers under a name that is ignored are still under a header.
    let table =
        csv("id,1,2\n7,3,4\n", &ignoring(std::slice::from_ref(&id), ReadOptions::default()))
            .unwrap();
    assert_eq!(table.features.as_slice(), [3.0, 4.0]);

    let new = ReadOptions { label_optional: true, n_features: Some(2), ..label(Column::Index(-1)) };
    for text in ["x1,3,4\n", "x1,3,4,p\n", "3,4\n"] {
        let table = csv(text, &ignoring(std::slice::from_ref(&first), new.clone())).unwrap();
        assert_eq!(table.features.as_slice(), [3.0, 4.0], "{text}");
    }
    let table = csv("a,b\n3,4\n", &ignoring(std::slice::from_ref(&id), new)).unwrap();
    assert_eq!(table.features.as_slice(), [3.0, 4.0], "samples to predict may come without it");

    for (columns, part) in [
        ([Column::from("ID")], "column `ID` cannot be ignored: the columns are `id`, `a`, `note`"),
        ([Column::Index(9)], "column 9 cannot be ignored: the columns are `id`, `a`, `note`"),
        ([Column::from("kind")], "cannot be ignored: it has the labels"),
    ] {
        let error = csv(text, &ignoring(&columns, label("kind"))).unwrap_err().to_string();
        assert!(error.contains(part), "{error}");
    }
    let all = ignoring(&["a".into(), "b".into()], ReadOptions::default());
    assert!(csv("a,b\n1,2\n", &all).unwrap_err().to_string().contains("no feature columns"));
    let fixtures = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures");
    let array = read(fixtures.join("images.npy"), &ignoring(&[first], ReadOptions::default()));
    let error = array.unwrap_err();
    assert!(error.to_string().contains("only tables of text have columns to ignore"), "{error}");
}
