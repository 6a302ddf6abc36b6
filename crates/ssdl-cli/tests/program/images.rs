//! Samples that are images: preparation on the command line, in the model and in pictures.

use serde_json::json;

use crate::run::{Bench, noise, npy};

const SIDE: usize = 8;

/// Upright and level strokes, half of the samples labelled.
fn strokes() -> Bench {
    let bench = Bench::new();
    let rows: Vec<Vec<f64>> = (0..40)
        .map(|i| {
            let pixel = |at: usize| {
                let place = if i % 2 == 0 { at % SIDE } else { at / SIDE };
                f64::from(u8::from(place / 2 == 1)) + 0.1 * noise(64 * i + at).abs()
            };
            (0..SIDE * SIDE).map(pixel).collect()
        })
        .collect();
    bench.write("x.npy", npy(&rows));
    let labels: Vec<&str> =
        (0..40).map(|i| if i < 20 { ["upright", "level"][i % 2] } else { "?" }).collect();
    bench.write("y.csv", labels.join("\n"));
    bench
}

const FIT: &str = "fit x.npy --labels y.csv --unlabelled ? --model m --set n_atoms=10";

#[test]
fn image_steps_are_fitted_saved_and_applied() {
    let bench = strokes();
    let steps = ["resize=12x12", "join=[gradients=4/3/2|contrast,pca=3]", "scale=5"];
    let prepare: Vec<String> = steps.iter().map(|step| format!("--prepare {step}")).collect();
    bench.done(&format!("{FIT} --image 8x8 {}", prepare.join(" ")));
    let inspected = bench.json("inspect m");
    assert_eq!(inspected["prepare"], json!(steps));
    assert_eq!(inspected["n_prepared"], 3 * 3 * 16 + 3);
    let predicted = bench.json("predict m x.npy");
    assert_eq!(
        (&predicted["labels"][30], &predicted["labels"][31]),
        (&json!("upright"), &json!("level"))
    );
    bench.refused(1, "inspect m --atoms a.png", &["`join=", "leaves the pixels behind"]);
    let graph = "graph x.npy --prepare deskew --prepare gradients=4/4/1";
    assert_eq!(bench.json(&format!("{graph} --image 8x8"))["nodes"], 40);
    bench.refused(1, graph, &["`deskew`", "--image HEIGHTxWIDTH"]);
    bench.refused(2, &format!("{graph} --image 8x9"), &["72 pixels", "64 features"]);
}

#[test]
fn atoms_are_drawn_as_long_as_they_are_images() {
    let bench = strokes();
    let steps = "--prepare logarithm --prepare resize=4x6 --prepare standardise";
    bench.done(&format!("{FIT} --image 8x8 {steps}"));
    bench.done("inspect m --atoms a.png");
    assert!(bench.bytes("a.png").starts_with(b"\x89PNG"));
}

#[test]
fn wrong_image_steps_are_named_with_the_remedy() {
    let bench = strokes();
    bench.refused(
        1,
        &format!("{FIT} --prepare gradients"),
        &["`gradients`", "--image HEIGHTxWIDTH"],
    );
    let cases: [(&str, &[&str]); 5] = [
        ("gradients=0/0/0", &["`gradients` is 0/0/0", "such as 9/4/2"]),
        ("gradients=9/40/2", &["8x8 pixels hold 0x0 cells of 40"]),
        ("resize=0x5", &["`resize` is 0x5", "such as 16x16"]),
        ("join=[]", &["character 2", "write none"]),
        ("join=[deskew|whiten]", &["character 9", "unknown preparation step `whiten`"]),
    ];
    for (step, said) in cases {
        bench.refused(2, &format!("{FIT} --image 8x8 --prepare {step}"), said);
    }
}

#[test]
fn preparation_is_explained() {
    let bench = Bench::new();
    let (table, markdown) = (bench.done("methods"), bench.done("methods --markdown"));
    assert!(table.lines().all(|line| line.chars().count() <= 80), "{table}");
    let help = bench.done("fit --help");
    for step in bench.json("methods")["preparation"].as_array().expect("a list") {
        let name = step["name"].as_str().expect("a name");
        assert!(help.contains(name) && table.contains(name), "{name}");
        assert!(markdown.contains(&format!("| `{name}")), "{name}");
    }
}
