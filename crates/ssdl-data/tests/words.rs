//! Tables with words and gaps.
#![allow(clippy::unwrap_used)]

use std::path::Path;

use ssdl_data::{Column, Error, Help, ReadOptions, Result, Table, read_bytes};

fn csv(text: &str, options: &ReadOptions) -> Result<Table> {
    read_bytes(Path::new("t.csv"), text.as_bytes().to_vec(), options)
}

fn label(column: impl Into<Column>) -> ReadOptions {
    ReadOptions { label_column: Some(column.into()), ..ReadOptions::default() }
}

const NONE: Help = Help { words: false, fill_gaps: false, header: false };

/// What may read the cell that is refused.
fn help(text: &str, options: &ReadOptions) -> Help {
    match csv(text, options).unwrap_err() {
        Error::NotANumber { help, .. } | Error::NotFinite { help, .. } => help,
        other => panic!("{other}"),
    }
}

/// As a model of this table reads others.
fn known(first: &Table) -> ReadOptions {
    ReadOptions {
        feature_names: first.naming().of_columns(),
        columns: first.columns.clone(),
        n_features: first.columns.as_ref().map(Vec::len),
        label_optional: true,
        ..ReadOptions::default()
    }
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
    assert!(gap.contains("line 5, column 1 (`age`) is ?"), "{gap}");
    let gap = csv("a,b\n1,2\n,x\n", &ReadOptions { fill_gaps: true, ..ReadOptions::default() });
    assert!(gap.unwrap_err().to_string().contains("`x`, which is not a number"));
}

#[test]
fn known_columns_are_read_as_they_were() {
    let first = csv(PEOPLE, &mixed(label("kind"))).unwrap();
    let known = known(&first);
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
    let known = known(&first);
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
    let none = csv("x,c,w\n1,r,0\n,b,0\n", &weights).unwrap_err().to_string();
    assert!(none.contains("all weights are 0"), "{none}");
    let twice = csv("x,w,w\n1,1,2\n,1,3\n", &weights).unwrap_err().to_string();
    assert!(twice.contains("two columns are called `w`"), "{twice}");
}

#[test]
fn a_first_row_with_a_gap_is_a_sample_and_that_is_said() {
    let table =
        csv("?,nurse,x\n45,clerk,y\n31,nurse,x\n28,clerk,y\n", &mixed(label(Column::Index(2))));
    let table = table.unwrap();
    assert_eq!((table.features.columns(), table.feature_names), (4, None));
    assert!(
        table.notes[0].contains("a number or a gap, so it is read as a sample"),
        "{:?}",
        table.notes
    );
    let filled = ReadOptions { fill_gaps: true, ..ReadOptions::default() };
    assert_eq!(csv("?,5\n45,6\n", &filled).unwrap().features.column(0), [45.0, 5.0]);
}

#[test]
fn without_words_gaps_change_nothing_about_headers() {
    let filled = ReadOptions { fill_gaps: true, ..ReadOptions::default() };
    let text = "id,2019,2020\n1,2,3\n2,3,4\n3,,5\n";
    let table = csv(text, &filled).unwrap();
    assert_eq!(table.feature_names.unwrap(), ["id", "2019", "2020"]);
    // Where words are allowed it may be a sample: the error says what to do.
    assert_eq!(help(text, &mixed(ReadOptions::default())), Help { header: true, ..NONE });
}

#[test]
fn a_file_with_semicolons_and_decimal_commas_is_split_at_semicolons() {
    let words = ReadOptions { words: true, ..ReadOptions::default() };
    let wrong = csv("Rom;1,5;2\nRom;1,7;2\nBari;9,5;3\n", &words).unwrap_err().to_string();
    assert!(wrong.contains("line 1, column 2 is `1,5`") && wrong.contains("decimals"), "{wrong}");
    let commas = csv("a;b,1\nc;d,2\na;b,3\n", &words).unwrap();
    assert_eq!(commas.columns.map(|columns| columns.len()), Some(2));
    let quoted = csv("\"a;b\",1\n\"c;d\",2\n\"a;b\",3\n", &words).unwrap();
    assert_eq!(quoted.columns.map(|columns| columns.len()), Some(2));
}

#[test]
fn separators_of_thousands_are_refused() {
    for cells in
        [["\"1.200,00\"", "\"1.300,00\""], ["\"1,234,567\"", "\"1,2\""], ["1 200", "13 500"]]
    {
        let text = format!("x,c\n{},r\n{},b\n{},b\n", cells[0], cells[1], cells[1]);
        for options in [mixed(ReadOptions::default()), ReadOptions::default()] {
            let wrong = csv(&text, &options).unwrap_err().to_string();
            assert!(wrong.contains("line 2, column 1 (`x`)"), "{wrong}");
            assert!(wrong.contains("thousands without separators"), "{wrong}");
        }
    }
    // Ages in groups and codes are words.
    let groups =
        csv("a,b\n18-25,1.2.3\n26-35,1.2.4\n18-25,1.2.3\n", &mixed(ReadOptions::default()));
    assert_eq!(groups.unwrap().features.rows(), 2);
}

#[test]
fn rows_without_any_value_are_no_samples() {
    let table = csv("x,y,k\n1,2,a\n,3,b\n3,4,\n,,\nNA,,?\n", &mixed(label("k"))).unwrap();
    assert_eq!(table.features.as_slice(), [1.0, 2.0, 2.0, 3.0, 3.0, 4.0]);
    assert!(table.notes[0].contains("at the end are left out: 2"), "{:?}", table.notes);
    let between = csv("x,y,k\n1,2,a\n,,\n3,4,\n", &mixed(label("k"))).unwrap_err().to_string();
    assert!(between.contains("line 3 has no value in any column; remove it"), "{between}");
    // A row with a label is one, a blank line is nothing.
    let labelled = csv("x,k\n1,a\n\"\",b\n\n9,a\n", &mixed(label("k"))).unwrap();
    assert_eq!(labelled.features.as_slice(), [1.0, 5.0, 9.0]);
}

#[test]
fn refusals_say_what_would_read_the_cell() {
    let (plain, weights) = (ReadOptions::default(), Some("w".to_owned()));
    assert_eq!(help("a,b\n1,x\n", &plain), Help { words: true, ..NONE });
    assert_eq!(help("a,b\n1,\n", &plain), Help { fill_gaps: true, ..NONE });
    assert_eq!(help("a,b\n1,inf\n", &plain), NONE);
    assert_eq!(help("a,b\n1,\"1,5\"\n", &plain), NONE);
    assert_eq!(help("a,b\n1,2\n1,3\nx,2\n", &mixed(plain.clone())), NONE);
    for options in [plain.clone(), mixed(plain)] {
        let options = ReadOptions { weight_column: weights.clone(), ..options };
        assert_eq!(help("a,w\n1,\n2,1\n", &options), NONE);
    }
    let numbers = known(&csv("a,b\n1,2\n3,4\n", &mixed(ReadOptions::default())).unwrap());
    assert_eq!(help("a,b\n1,x\n", &numbers), NONE);
}

#[test]
fn a_model_tells_names_from_samples_by_what_its_columns_hold() {
    let options = ReadOptions { words: true, header: Some(false), ..ReadOptions::default() };
    let nameless = known(&csv("red,1\nblue,2\nred,3\n", &options).unwrap());
    let wrong = csv("colour,size\nred,1\n", &nameless).unwrap_err().to_string();
    assert!(wrong.contains("nothing that the model knows: say --header yes"), "{wrong}");
    let yes = ReadOptions { header: Some(true), ..nameless.clone() };
    assert_eq!(csv("colour,size\nred,1\n", &yes).unwrap().features.columns(), 1);
    assert_eq!(csv("green,1\nred,1\n", &nameless).unwrap().features.columns(), 2);
    assert_eq!(
        help("colour,size\nred,1\n", &ReadOptions { header: Some(false), ..nameless }),
        NONE
    );
    let named = known(&csv("c,s\nred,x\nblue,y\nred,x\n", &mixed(ReadOptions::default())).unwrap());
    assert_eq!(csv("blue,x\nred,y\n", &named).unwrap().features.columns(), 2);
    let wrong = csv("Blue,X\nred,y\n", &named).unwrap_err().to_string();
    assert!(wrong.contains("not there: `c`, `s`") && wrong.contains("--header no"), "{wrong}");
    let wider = csv("red,x,A\n", &named).unwrap_err().to_string();
    assert!(wider.contains("3 columns") && wider.contains("--label-column"), "{wider}");
}

#[test]
fn what_a_row_says_depends_on_no_other_row() {
    let few =
        csv("age,job\n20,nurse\n?,clerk\n40,nurse\n", &mixed(ReadOptions::default())).unwrap();
    let text = "age,job\n20.0,nurse\nNA,clerk\n40,nurse\n90,pilot\n,clerk\n";
    let more = csv(text, &mixed(ReadOptions::default())).unwrap();
    assert_ne!(few.features.column(1), more.features.column(1));
    for sample in 0..3 {
        assert_eq!(few.content(sample), more.content(sample));
    }
    // Numbers alone are what they are in a table of numbers, weights no part of it.
    let plain = csv("a,b\n1,-0\n2,3\n", &ReadOptions::default()).unwrap();
    let weights = ReadOptions { weight_column: Some("w".into()), ..mixed(ReadOptions::default()) };
    let mut gap = csv("a,b,w\n1,0,1\n2,3,0\n5,,2\n", &weights).unwrap();
    assert!(gap.split_off_weights("w"));
    assert_eq!((gap.content(0), gap.content(1)), (plain.content(0), plain.content(1)));
    gap.drop_weightless();
    assert_ne!(gap.content(1), plain.content(1));
}

#[test]
fn what_is_empty_is_said_and_a_label_that_looks_like_a_gap_is_a_class() {
    let table = csv("a,b,k\n1,r,?\n2,g,x\n3,r,\n", &mixed(label("k"))).unwrap();
    assert!(table.notes.join("\n").contains("say --unlabelled '?'"), "{:?}", table.notes);
    // A column without a value has no median: no option reads it. Where it has no name, its place is said.
    for options in [mixed(label("k")), ReadOptions { words: true, ..label("k") }] {
        let wrong = csv("a,k,\n1,x,\n2,y,\n", &options).unwrap_err().to_string();
        assert!(wrong.contains("column 3 is empty: ignore it"), "{wrong}");
    }
}
