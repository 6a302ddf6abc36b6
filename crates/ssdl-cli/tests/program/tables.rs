//! Tables with words and gaps that leave something open.

use crate::run::Bench;

#[test]
fn a_model_of_a_file_without_a_header_reads_every_row() {
    let bench = Bench::new();
    bench.write("t.csv", "A,1,red\nB,9,blue\nA,2,red\n,8,blue\n".repeat(6));
    let fit = "fit t.csv --label-column 0 --words --fill-gaps --method nearest --model t.ssdl";
    let said = bench.run(fit).stderr;
    assert!(said.contains("read as a sample; if it has the names"), "{said}");
    bench.write("n.csv", "?,red\n9,blue\n1,red\n");
    let found = bench.json("predict t.ssdl n.csv");
    assert_eq!(found["labels"], serde_json::json!(["A", "B", "A"]));
    assert!(found["notices"].as_array().is_some_and(|all| all.len() == 1), "{found}");
    // With a header it is one.
    bench.write("h.csv", "n,c\n9,blue\n1,red\n");
    let found = bench.json("predict t.ssdl h.csv --header yes");
    assert_eq!(found["labels"], serde_json::json!(["B", "A"]));
}

#[test]
fn years_as_names_are_found_in_any_order() {
    let bench = Bench::new();
    let row = |j: usize| match j % 2 {
        0 => format!("f,{},{},A\n", 1 + j % 5, 20 + j % 3),
        _ => format!("m,{},{},B\n", 11 + j % 5, 2 + j % 3),
    };
    let text = "sex,2019,2020,kind\n".to_owned() + &(0..30).map(row).collect::<String>();
    bench.write("y.csv", text);
    bench.done("fit y.csv --label-column kind --words --method nearest --model y.ssdl --quiet");
    bench.write("n.csv", "id,2020,2019,sex\n1,3,12,m\n2,21,2,f\n");
    let found = bench.json("predict y.ssdl n.csv");
    assert_eq!(found["labels"], serde_json::json!(["B", "A"]));
    let ignored = ["`sex` cannot be ignored: the model needs it"];
    bench.refused(1, "predict y.ssdl n.csv --ignore-column sex", &ignored);
}

#[test]
fn an_unclear_first_line_is_refused_with_the_option_that_tells() {
    let bench = Bench::new();
    bench.write("t.csv", "red,1,A\nblue,9,B\nred,2,A\nblue,8,B\n".repeat(5));
    let fit = "fit t.csv --label-column 2 --words --header no --method nearest --model t.ssdl";
    bench.done(&format!("{fit} --quiet"));
    bench.write("n.csv", "colour,size\nblue,9\nred,1\n");
    let unclear =
        ["the first line has nothing that the model knows", "--header yes", "--header no"];
    bench.refused(1, "predict t.ssdl n.csv", &unclear);
    let found = bench.json("predict t.ssdl n.csv --header yes");
    assert_eq!(found["labels"], serde_json::json!(["B", "A"]));
    bench.refused(1, "predict t.ssdl t.csv", &["3 columns", "labels (--label-column)"]);
    // One word is known, so the line is a sample; the other is not a number.
    bench.write("n.csv", "red,size\nblue,9\n");
    bench.refused(1, "predict t.ssdl n.csv", &["column 2 is `size`", "say --header yes"]);
    bench.write("y.csv", "id,2019\n1,2\n2,\n");
    bench.write("l.csv", "A\nB\n");
    let fit = "fit y.csv --labels l.csv --words --fill-gaps --model y.ssdl";
    bench.refused(1, fit, &["line 1, column 1 is `id`", "say --header yes"]);
}

#[test]
fn columns_of_weights_are_checked_before_the_fit() {
    let bench = Bench::new();
    let fit = "fit w.csv --weight-column w --label-column k --fill-gaps --model w.ssdl";
    bench.write("w.csv", "x,w,w,k\n1,1,2,A\n2,1,3,B\n,1,1,B\n");
    bench.refused(1, fit, &["two columns are called `w`"]);
    bench.write("w.csv", "x,w,k\n1,0,A\n2,0,B\n,0,B\n");
    bench.refused(1, fit, &["all weights are 0"]);
    bench.write("w.csv", "x,w,k\n1,1,A\n2,,B\n3,1,B\n");
    let ran = bench.run(fit);
    assert!(ran.stderr.contains("is empty") && !ran.stderr.contains("--fill-gaps"), "{ran:?}");
}
