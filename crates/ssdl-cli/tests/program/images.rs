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
    // What is left of the images is drawn as bars.
    assert_eq!(bench.json("atoms m --png a.png")["image"], json!(null));
    let graph = "graph x.npy --prepare deskew --prepare gradients=4/4/1";
    assert_eq!(bench.json(&format!("{graph} --image 8x8"))["nodes"], 40);
    bench.refused(1, graph, &["`deskew`", "--image HEIGHTxWIDTH"]);
    bench.refused(2, &format!("{graph} --image 8x9"), &["72 pixels", "64 features"]);
}

#[test]
fn atoms_are_drawn_as_images_if_they_are_images() {
    let bench = strokes();
    let steps = "--prepare logarithm --prepare resize=4x6 --prepare standardise";
    bench.done(&format!("{FIT} --image 8x8 {steps}"));
    bench.done("atoms m --png a.png --svg a.svg");
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
    for (step, parts) in cases {
        bench.refused(2, &format!("{FIT} --image 8x8 --prepare {step}"), parts);
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

/// A grey picture as plain text, 8 pixels wide.
fn picture(bench: &Bench, name: &str, upright: bool, seed: usize) {
    let pixel = |at: usize| {
        let place = if upright { at % SIDE } else { at / SIDE };
        let value =
            200.0 * f64::from(u8::from(place / 2 == 1)) + 40.0 * noise(64 * seed + at).abs();
        (value as u8).to_string()
    };
    let pixels: Vec<String> = (0..SIDE * SIDE).map(pixel).collect();
    std::fs::create_dir_all(bench.path(name).parent().expect("a folder")).expect("made");
    bench.write(name, format!("P2 8 8 255\n{}\n", pixels.join("\n")));
}

#[test]
fn a_folder_of_images_is_fitted_and_predicted_by_name() {
    let bench = Bench::new();
    for i in 0..10 {
        picture(&bench, &format!("images/upright/{i}.pgm"), true, i);
        picture(&bench, &format!("images/level/{i}.pgm"), false, 100 + i);
        picture(&bench, &format!("images/unlabelled/{i}.pgm"), i % 2 == 0, 200 + i);
        picture(&bench, &format!("new/{i}.pgm"), i < 5, 300 + i);
    }
    let fitted = bench.json("fit images --model m --set n_atoms=10");
    assert_eq!((&fitted["n_samples"], &fitted["n_labelled"]), (&json!(30), &json!(20)));
    let lines: Vec<String> =
        bench.done("predict m new --quiet").lines().map(str::to_owned).collect();
    assert_eq!((lines[0].as_str(), lines[1].as_str()), ("sample,label", "0.pgm,upright"));
    assert_eq!(lines[10], "9.pgm,level");
    // A requested size, and images of another size at predict.
    bench.done("fit images --model m --set n_atoms=10 --image 6x6 --prepare gradients=4/3/1");
    assert_eq!(bench.json("predict m images")["accuracy"], json!(1.0));
    // A plain folder has no labels to learn from.
    bench.refused(2, "fit new --model m", &["where are the labels", "sub-folder"]);
    bench.write("images/level/0.pgm", "P2 2 2 255\n0 1 2 3\n");
    bench.refused(1, "fit images --model m", &["1.pgm", "8x8", "0.pgm has 2x2", "--image"]);
}
