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
