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

fn mixed(options: ReadOptions) -> ReadOptions {
    ReadOptions { words: true, fill_gaps: true, ..options }
}

const PEOPLE: &str = "age,job,sex,income,kind\n23,nurse,f,30,yes\n45,teacher,m,,no\n31,nurse,f,42,\n\
                      ?,clerk,m,39,\n29,clerk,m,28,no\n";

#[test]
fn words_become_features_and_gaps_the_median() {
    let table = csv(PEOPLE, &mixed(label("kind"))).unwrap();
    let names = ["age", "job=clerk", "job=nurse", "job=teacher", "sex=m", "income"];
    assert_eq!(table.feature_names.as_deref().unwrap(), names);
    assert_eq!(table.features.column(0), [23.0, 0.0, 1.0, 0.0, 0.0, 30.0]);
    // The medians: of 23, 29, 31, 45 and of 28, 30, 39, 42.
    assert_eq!(table.features.column(1), [45.0, 0.0, 0.0, 1.0, 1.0, 34.5]);
    assert_eq!(table.features.column(3), [30.0, 1.0, 0.0, 0.0, 1.0, 39.0]);
    assert_eq!(table.labels.as_ref().unwrap()[1].as_deref(), Some("no"));
    let said = table.notes.join("\n");
    assert!(said.contains("column `job` (3), column `sex` (1)"), "{said}");
    assert!(said.contains("`age` (1 as the median 30), column `income` (1 as"), "{said}");
    // The order of the rows changes nothing.
    let mut lines: Vec<&str> = PEOPLE.lines().collect();
    lines[1..].reverse();
    let turned = csv(&lines.join("\n"), &mixed(label("kind"))).unwrap();
    assert_eq!(turned.columns, table.columns);
    assert_eq!(turned.features.column(4), table.features.column(0));
    // What is all numbers stays what it is; its gaps are filled only on request.
    let words = ReadOptions { words: true, ..ReadOptions::default() };
    let plain = csv("a,b\n1,2\n3,4\n", &words).unwrap();
    assert_eq!((plain.columns, plain.notes.len()), (None, 0));
    let filled = csv("a,b\n1,2\n3,4\n", &mixed(ReadOptions::default())).unwrap();
    assert_eq!((filled.columns.map(|all| all.len()), filled.notes.len()), (Some(2), 0));
    assert!(csv(PEOPLE, &label("kind")).unwrap_err().to_string().contains("not a number"));
    let gap = csv(PEOPLE, &ReadOptions { words: true, ..label("kind") }).unwrap_err().to_string();
    assert!(gap.contains("line 5, column 1 (`age`) is ?") && gap.contains("--fill-gaps"), "{gap}");
    let gap = csv("a,b\n1,2\n,x\n", &ReadOptions { fill_gaps: true, ..ReadOptions::default() });
    assert!(gap.unwrap_err().to_string().contains("`x`, which is not a number"));
}

#[test]
fn known_columns_are_read_as_they_were() {
    let first = csv(PEOPLE, &mixed(label("kind"))).unwrap();
    let known = ReadOptions {
        feature_names: first.naming().of_columns(),
        columns: first.columns.clone(),
        n_features: Some(4),
        label_optional: true,
        ..ReadOptions::default()
    };
    // In another order, beside another column; with a word that nobody knows, and gaps where none was.
    let text = "sex,income,shop,job,age\nf,30,x,pilot,\n,,y,clerk,33\n";
    let table = csv(text, &known).unwrap();
    assert_eq!(table.features.column(0), [30.0, 0.0, 0.0, 0.0, 0.0, 30.0]);
    // Of two words, a gap is halfway between.
    assert_eq!(table.features.column(1), [33.0, 1.0, 0.0, 0.0, 0.5, 34.5]);
    assert_eq!(table.feature_names, first.feature_names);
    let said = table.notes.join("\n");
    assert!(said.contains("does not know count as no word: column `job` (`pilot`)"), "{said}");
    assert!(!said.contains("become features"), "{said}");
    let by_place = csv("23,nurse,f,30\n", &known).unwrap();
    assert_eq!(by_place.features.column(0), first.features.column(0));
    let wrong = |text: &str| csv(text, &known).unwrap_err().to_string();
    assert!(wrong("sex,income,age\nf,30,3\n").contains("not there: `job`; give"));
    assert!(wrong("1,nurse,f\n").contains("3 columns of features, but the model knows 4"));
    assert!(
        wrong("sex,income,job,age\nf,much,nurse,3\n").contains("column 2 (`income`) is `much`")
    );
}

#[test]
fn where_words_are_allowed_a_first_row_with_a_number_is_a_sample() {
    let text = "23,nurse,x\n45,clerk,y\n31,nurse,\n";
    let table = csv(text, &mixed(label(Column::Index(-1)))).unwrap();
    assert_eq!((table.features.columns(), table.feature_names), (3, None));
    assert_eq!(table.features.column(1), [45.0, 0.0]);
    let named =
        csv("age,job,kind\n23,nurse,x\n45,nurse,y\n", &mixed(label(Column::Index(-1)))).unwrap();
    assert_eq!(named.features.columns(), 2);
}

#[test]
fn slips_names_of_samples_and_empty_columns_are_no_words() {
    let wrong =
        |text: &str, options: ReadOptions| csv(text, &mixed(options)).unwrap_err().to_string();
    let plain = ReadOptions::default;
    let slip = wrong("a,b\n1,2\n1O,3\n5,6\n", plain());
    assert!(slip.contains("line 3, column 1 (`a`) is `1O`, which is not a number"), "{slip}");
    let names = wrong("a,id\n1,x\n2,y\n3,z\n", plain());
    assert!(
        names.contains("column `id` has 3 words, each of them once") && names.contains("--ignore")
    );
    let many: String = (0..120).map(|i| format!("{i},w{}\n", i % 60)).collect();
    assert!(wrong(&format!("a,b\n{many}"), plain()).contains("more than 50 different words"));
    assert!(wrong("a,b\n1,\n2,NA\n", plain()).contains("column `b` is empty: ignore it"));
    assert!(wrong("a,b\n1,inf\n2,x\n3,x\n", plain()).contains("must be finite"));
    let weights = ReadOptions { weight_column: Some("b".into()), ..plain() };
    assert!(wrong("a,b\n1,1\n2,\n3,1\n", weights).contains("line 3, column 2 (`b`) is empty"));
}

#[test]
fn what_words_leave_open_about_the_first_line_is_said() {
    let words = |label: isize, header: Option<bool>| ReadOptions {
        words: true,
        label_column: Some(Column::Index(label)),
        header,
        ..ReadOptions::default()
    };
    let text = "red,s,A\nblue,s,B\nred,t,A\nblue,t,B\n";
    let table = csv(text, &words(-1, None)).unwrap();
    assert_eq!(table.features.columns(), 3);
    assert!(table.notes[0].contains("read as the names of the columns"), "{:?}", table.notes);
    let table = csv(text, &words(-1, Some(false))).unwrap();
    assert_eq!((table.features.columns(), table.notes.len()), (4, 1));
    let table = csv("sex,2019,kind\nf,3,A\nm,4,B\nf,4,\nm,5,\n", &words(-1, None));
    assert!(table.unwrap().notes[0].contains("say --header yes"));
    // Known names make a header, in any order and beside others, even if one is a number.
    let first = csv("sex,2019,kind\nf,3,A\nm,4,B\n", &mixed(label("kind"))).unwrap();
    let known = ReadOptions {
        feature_names: first.naming().of_columns(),
        columns: first.columns.clone(),
        label_optional: true,
        ..ReadOptions::default()
    };
    let table = csv("id,2019,sex\n7,3,f\n8,4,m\n", &known).unwrap();
    assert_eq!(table.features.as_slice(), first.features.as_slice());
    // What the model needs cannot be left out, and a name that is there twice does not say which one.
    let ignored = ReadOptions { ignored_columns: vec!["sex".into()], ..known.clone() };
    let wrong = csv("id,2019,sex\n7,3,f\n", &ignored).unwrap_err().to_string();
    assert!(wrong.contains("`sex` cannot be ignored: the model needs it"), "{wrong}");
    let wrong = csv("2019,sex,sex\n7,f,f\n", &known).unwrap_err().to_string();
    assert!(wrong.contains("one name is there twice"), "{wrong}");
}

#[test]
fn decimal_commas_are_no_words_and_weightless_rows_say_nothing() {
    let wrong = csv("town;len\nRom;1,5\nRom;1,7\nBari;9,5\n", &mixed(ReadOptions::default()));
    let wrong = wrong.unwrap_err().to_string();
    assert!(wrong.contains("`1,5`") && wrong.contains("a point instead of a comma"), "{wrong}");
    let weights = ReadOptions { weight_column: Some("w".into()), ..mixed(ReadOptions::default()) };
    let text = "x,c,w\n1,r,1\n2,b,1\n100,odd,0\n100,odd,0\n,r,1\n3,b,2\n";
    let mut table = csv(text, &weights).unwrap();
    assert!(table.split_off_weights("w"));
    assert_eq!(table.features.column(4), [2.0, 1.0]);
    assert_eq!(table.feature_names.as_deref().unwrap(), ["x", "c=r"]);
    assert_eq!(table.columns.as_ref().map(Vec::len), Some(2));
    // A column of words is no weight, whatever its features are called.
    let mut words = csv("x,x=a,z\na,1,1\nb,2,2\na,2,3\n", &mixed(ReadOptions::default())).unwrap();
    assert!(!words.split_off_weights("x"));
    assert!(words.split_off_weights("x=a"));
    assert_eq!(words.weights.unwrap(), [1.0, 2.0, 2.0]);
    // A quoted nothing is a row, a blank line is not.
    let rows = csv("n\n1\n\"\"\n\n9\n", &mixed(ReadOptions::default())).unwrap();
    assert_eq!(rows.features.as_slice(), [1.0, 5.0, 9.0]);
}
