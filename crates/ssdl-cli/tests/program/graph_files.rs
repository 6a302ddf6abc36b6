//! Graphs that the user brings in a file: edge lists, square arrays, and damaged ones.

use std::fmt::Write;

use crate::run::{Bench, npy};

const FIT: &str = "fit flowers.csv --label-column kind --model m.ssdl --set n_atoms=20";
const GRAPH: &str = "graph flowers.csv --label-column kind";

/// Each flower tied to the next two of its kind: three chains.
fn chains() -> Vec<(usize, usize, f64)> {
    let steps = (0..60).flat_map(|i| [(i, i + 3, 1.0), (i, i + 6, 0.5)]);
    steps.filter(|(_, j, _)| *j < 60).collect()
}

fn lines(edges: &[(usize, usize, f64)]) -> String {
    edges.iter().fold(String::new(), |mut text, (i, j, w)| {
        writeln!(text, "{i},{j},{w}").expect("a string");
        text
    })
}

fn square(edges: &[(usize, usize, f64)]) -> Vec<Vec<f64>> {
    let mut rows = vec![vec![0.0; 60]; 60];
    for &(i, j, w) in edges {
        rows[i][j] = w;
        rows[j][i] = w;
    }
    rows
}

fn csv(rows: &[Vec<f64>]) -> String {
    let line = |row: &Vec<f64>| row.iter().map(f64::to_string).collect::<Vec<_>>().join(",");
    rows.iter().map(line).collect::<Vec<_>>().join("\n")
}

/// The same graph in every form a file can have.
fn bench_with_graphs() -> Bench {
    let bench = Bench::with_flowers();
    bench.write("edges.csv", lines(&chains()));
    bench.write("headed.csv", format!("from,to,weight\n{}", lines(&chains())));
    bench.write("square.npy", npy(&square(&chains())));
    bench.write("square.csv", csv(&square(&chains())));
    bench
}

#[test]
fn edge_lists_and_square_arrays_are_the_same_graph() {
    let bench = bench_with_graphs();
    let mut first = None;
    for file in ["edges.csv", "headed.csv", "square.npy", "square.csv"] {
        let printed = bench.done(&format!("{GRAPH} --graph {file}"));
        assert!(printed.starts_with("graph") && printed.contains("given"), "{printed}");
        assert!(printed.lines().all(|line| line.chars().count() <= 80), "{printed}");
        let mut answer = bench.json(&format!("{GRAPH} --graph {file}"));
        answer["seconds"] = 0.into();
        assert_eq!(answer["components"], serde_json::json!([20, 20, 20]), "{file}");
        assert_eq!((&answer["edges"], &answer["same_class"]), (&111.into(), &1.0.into()));
        assert_eq!(&answer, first.get_or_insert(answer.clone()), "{file}");
    }
}

#[test]
fn a_fit_uses_the_graph_it_is_given() {
    let bench = bench_with_graphs();
    let own = bench.json(FIT);
    let mut manifolds = vec![own["objective"]["manifold"].clone()];
    for file in ["edges.csv", "square.npy"] {
        for precision in ["single", "double"] {
            let fit = bench.json(&format!("{FIT} --graph {file} --precision {precision}"));
            assert_eq!(fit["notices"], serde_json::json!([]), "{file}");
            let manifold = fit["objective"]["manifold"].clone();
            assert!(!manifolds[..1].contains(&manifold), "{file}: the graph counts");
            manifolds.push(manifold);
            let answer = bench.json("predict m.ssdl test.csv --label-column kind");
            assert_eq!(answer["accuracy"], 1.0, "{file}");
        }
    }
    assert_eq!(manifolds[1], manifolds[3], "a list and an array, single precision");
    assert_eq!(manifolds[2], manifolds[4], "a list and an array, double precision");
    let plain = FIT.trim_end_matches(" --set n_atoms=20");
    let unused = bench.json(&format!("{plain} --method linear-svm --graph edges.csv"));
    let notices = unused["notices"].to_string();
    assert!(notices.contains("not used"), "{notices}");
}

#[test]
fn edges_without_weights_count_one_and_few_edges_give_a_notice() {
    let bench = Bench::with_flowers();
    bench.write("pairs.csv", "0,3\n3,6\n");
    let answer = bench.json(&format!("{GRAPH} --graph pairs.csv"));
    assert_eq!((&answer["edges"], &answer["isolated"]), (&2.into(), &57.into()));
    assert_eq!(answer["trace"], 4.0);
    let fit = bench.json(&format!("{FIT} --graph pairs.csv"));
    assert!(fit["notices"].to_string().contains("57 of 60 samples have no neighbour"), "{fit}");
}

#[test]
fn bad_graphs_are_refused_in_one_line_that_names_the_file() {
    let bench = Bench::with_flowers();
    let mut lopsided = square(&chains());
    lopsided[0][3] = 2.0;
    let mut negative = square(&chains());
    (negative[4][7], negative[7][4]) = (-1.0, -1.0);
    let mut fewer = square(&chains());
    fewer.truncate(59);
    fewer.iter_mut().for_each(|row| row.truncate(59));
    let cases: &[(&str, String, &[&str])] = &[
        ("count.csv", csv(&fewer), &["59 rows and 59 columns", "60 x 60"]),
        ("wide.csv", csv(&square(&chains())[..59]), &["59 rows and 60 columns"]),
        ("lopsided.csv", csv(&lopsided), &["symmetric", "sample 0 to 3", "back"]),
        ("negative.csv", csv(&negative), &["weight -1 of samples 4 and 7"]),
        ("unknown.csv", "0,1,1\n0,60,1\n".into(), &["edge 2", "sample 60, but there are only 60"]),
        ("minus.csv", "0,-1,1\n".into(), &["edge 1", "`-1` is not a sample number"]),
        ("between.csv", "0,1,1\n0,1.5,1\n".into(), &["edge 2", "`1.5`"]),
        ("twice.csv", "0,1,1\n1,2,1\n0,1,1\n".into(), &["edge 3", "twice"]),
        ("two-ways.csv", "0,1,1\n1,0,2\n".into(), &["symmetric"]),
        ("below.csv", "0,1,-2\n".into(), &["negative"]),
        ("nan.csv", "0,1,nan\n".into(), &["line 1, column 3"]),
        ("text.csv", "0,1,1\n0,rose,1\n".into(), &["line 2, column 2"]),
        ("empty.csv", String::new(), &["the file is empty"]),
    ];
    for (name, content, parts) in cases {
        bench.write(name, content);
        let mut parts = parts.to_vec();
        parts.push(name);
        bench.refused(1, &format!("{FIT} --graph {name}"), &parts);
        bench.refused(1, &format!("{GRAPH} --graph {name}"), &parts);
    }
    for call in [FIT, GRAPH] {
        bench.refused(
            1,
            &format!("{call} --graph nowhere.csv"),
            &["nowhere.csv", "check the path"],
        );
    }
    bench.write("huge.csv", "0,1,1e300\n");
    bench.refused(1, &format!("{FIT} --graph huge.csv"), &["huge.csv", "edge 1", "inf"]);
    assert!(!bench.exists("m.ssdl"));
}

#[test]
fn a_model_never_replaces_the_graph_it_was_made_with() {
    let bench = Bench::with_flowers();
    bench.write("m.ssdl", "0,1,1\n");
    bench.refused(2, &format!("{FIT} --graph m.ssdl"), &["m.ssdl", "another name"]);
    assert_eq!(bench.text("m.ssdl"), "0,1,1\n");
}
