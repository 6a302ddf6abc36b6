//! Pages, pictures and explanations: what is in them, what is missing, what is refused.

use crate::run::Bench;

const FIT: &str = "fit flowers.csv --label-column kind --model m.ssdl --set max_iterations=3";

/// A page is self-contained: it names no outside address.
fn assert_self_contained(page: &str) {
    assert!(page.starts_with("<!doctype html>") && page.trim_end().ends_with("</html>"));
    for outside in ["http://", "https://", "//cdn", "@import", "src=\"", "<link"] {
        let found = page.match_indices(outside).map(|(at, _)| &page[at..(at + 60).min(page.len())]);
        // The namespace of SVG is a name, not an address.
        let requested: Vec<&str> = found.filter(|text| !text.contains("w3.org/2000/svg")).collect();
        assert!(requested.is_empty(), "{requested:?}");
    }
}

#[test]
fn a_fit_has_a_page_that_compares_on_hidden_labels() {
    let bench = Bench::with_flowers();
    let printed = bench.done(&format!("{FIT} --report page.html --quiet"));
    assert!(printed.contains("page.html; open it in a browser"), "{printed}");
    let page = bench.text("page.html");
    assert_self_contained(&page);
    for part in [
        "ssdl-ga on flowers.csv",
        "Cross-validation on 15 labels",
        "<th scope=\"row\">nearest</th>",
        "<th scope=\"row\">linear-svm</th>",
        "of 15 correct",
        "lily of the valley",
        "fit flowers.csv --label-column kind",
        "id=\"objective\"",
        "id=\"sparsity\"",
        "data-atom=\"0\"",
    ] {
        assert!(page.contains(part), "{part}");
    }
    let answer = bench.json(&format!("{FIT} --report page.html --quiet"));
    assert_eq!(answer["report"], "page.html");
}

#[test]
fn every_method_has_a_page_of_its_fit_its_model_and_other_samples() {
    let bench = Bench::with_flowers();
    let register = bench.json("methods");
    for method in register["methods"].as_array().expect("a list") {
        let name = method["name"].as_str().expect("a name");
        let fit = "fit flowers.csv --label-column kind --model m.ssdl --report fit.html --quiet";
        bench.done(&format!("{fit} --method {name}"));
        bench.done("inspect m.ssdl --report model.html");
        bench.done("predict m.ssdl test.csv --label-column kind --out p.csv --report test.html");
        for page in ["fit.html", "model.html", "test.html"] {
            let page = bench.text(page);
            assert_self_contained(&page);
            assert!(page.contains(name), "{name}");
        }
        assert!(bench.text("test.html").contains("of 30 correct"), "{name}");
        let keeps = !bench.text("model.html").contains("does not keep its training samples");
        // Without a graph, samples are coded on the atoms alone; class residuals need the samples.
        let by_residuals = ["s2d2", "ssd-lp", "src", "src-by-class"].contains(&name);
        assert_eq!(keeps, method["coding"] != "individual" || by_residuals, "{name}");
        let explained = bench.json("inspect m.ssdl --sample 3");
        assert_eq!(explained["label"], "rose", "{name}");
        let printed = bench.done("inspect m.ssdl --sample 3 --svg s.svg");
        assert!(printed.lines().all(|line| line.chars().count() <= 80), "{printed}");
        assert!(bench.text("s.svg").starts_with("<svg") && bench.text("s.svg").contains("rose"));
    }
}

#[test]
fn an_explanation_adds_up() {
    let bench = Bench::with_flowers();
    bench.done(&format!("{FIT} --quiet"));
    let explained = bench.json("inspect m.ssdl --sample 40");
    assert_eq!(explained["label"], serde_json::Value::Null);
    let shares = explained["probabilities"].as_object().expect("shares");
    let sum: f64 = shares.values().filter_map(serde_json::Value::as_f64).sum();
    assert!((sum - 1.0).abs() < 1e-6);
    let class = explained["class"].as_str().expect("a class");
    let best = shares.values().filter_map(serde_json::Value::as_f64).fold(0.0, f64::max);
    assert_eq!(shares[class].as_f64(), Some(best));
    let near = explained["neighbours"].as_array().expect("a list");
    let weights: f64 = near.iter().filter_map(|one| one["weight"].as_f64()).sum();
    assert!((weights - 1.0).abs() < 1e-4 && near.iter().all(|one| one["sample"] != 40));
    assert!(explained["atoms"].as_array().is_some_and(|atoms| !atoms.is_empty()));
    bench.refused(1, "inspect m.ssdl --sample 60", &["m.ssdl", "no training sample 60", "60"]);
    bench.refused(2, "inspect m.ssdl --svg s.svg", &["--sample"]);
    bench.refused(2, "inspect m.ssdl --sample 1 --report r.html", &["--sample", "--report"]);
}

#[test]
fn names_are_always_escaped() {
    let bench = Bench::with_flowers();
    let long = "x".repeat(500);
    let swap = |name: &str| {
        let text = bench.text(name).replace("rose", "<script>alert(1)</script>");
        text.replace("tulip", &long).replace("height", "<b>height</b>")
    };
    for name in ["flowers.csv", "test.csv"] {
        bench.write(name, swap(name));
    }
    let printed = bench.done(&format!("{FIT} --report page.html --quiet"));
    assert!(printed.lines().all(|line| line.chars().count() <= 80), "{printed}");
    bench.done("predict m.ssdl test.csv --label-column kind --out p.csv --report test.html");
    bench.done("inspect m.ssdl --sample 0 --svg s.svg");
    bench.done("atoms m.ssdl --svg a.svg");
    for name in ["page.html", "test.html", "s.svg", "a.svg"] {
        let text = bench.text(name);
        assert!(!text.contains("<script>alert") && !text.contains("<b>height"), "{name}");
        assert!(text.len() < 300_000, "{name}: {}", text.len());
    }
    assert!(bench.text("page.html").contains("script&#62;alert(1)"));
    assert!(bench.text("s.svg").contains("&lt;script&gt;alert(1)"));
}

#[test]
fn a_page_names_what_it_cannot_show() {
    let bench = Bench::with_flowers();
    // One label a class: none can be hidden.
    let few: Vec<String> = bench
        .text("flowers.csv")
        .lines()
        .enumerate()
        .map(|(at, line)| match at {
            0..=3 => line.to_owned(),
            _ => format!("{},", line.rsplit_once(',').expect("cells").0),
        })
        .collect();
    bench.write("few.csv", few.join("\n"));
    bench.done("fit few.csv --label-column kind --model f.ssdl --report few.html --quiet");
    let page = bench.text("few.html");
    assert!(page.contains("none can be hidden") && !page.contains("Cross-validation on"));
    bench.done("predict f.ssdl flowers.csv --label-column kind --out p.csv --report p.html");
    assert!(bench.text("p.html").contains("of 15 correct"));
    // Samples without any label, then with labels that the model has never seen.
    let bare = bench.text("test.csv").replace("rose", "").replace("tulip", "");
    let bare = bare.replace("lily of the valley", "");
    bench.write("bare.csv", bare);
    bench.done("predict f.ssdl bare.csv --label-column kind --out p.csv --report p.html");
    assert!(bench.text("p.html").contains("no label of these samples is known"));
    bench.write("unknown.csv", bench.text("test.csv").replace("rose", "dandelion"));
    bench.done("predict f.ssdl unknown.csv --label-column kind --out p.csv --report p.html");
    assert!(bench.text("p.html").contains("dandelion"));
}

#[test]
fn atoms_are_drawn_with_the_names_of_the_classes() {
    let bench = Bench::with_flowers();
    bench.done(&format!("{FIT} --quiet"));
    let answer = bench.json("atoms m.ssdl --png a.png --svg a.svg");
    assert_eq!((&answer["png"], &answer["svg"]), (&"a.png".into(), &"a.svg".into()));
    assert!(bench.bytes("a.png").starts_with(b"\x89PNG"));
    let drawing = bench.text("a.svg");
    for name in ["rose", "tulip", "lily of the valley"] {
        assert!(drawing.contains(&format!(">{name}</text>")), "{name}");
    }
    bench.refused(2, "atoms m.ssdl", &["--png", "--svg"]);
    bench.refused(2, "atoms m.ssdl --png a --svg a", &["two results"]);
}

#[cfg(unix)]
#[test]
fn a_full_disk_damages_neither_the_model_nor_an_older_page() {
    let bench = Bench::with_flowers();
    bench.done(&format!("{FIT} --report page.html --quiet"));
    let (page, model) = (bench.bytes("page.html"), bench.bytes("m.ssdl"));
    // A file may not grow beyond eight blocks of 1,024 bytes: enough for the table of labels, not
    // for a page.
    let script = format!(
        "ulimit -f 8; trap '' XFSZ; exec {} predict m.ssdl test.csv --label-column kind \
         --out p.csv --report page.html --quiet",
        env!("CARGO_BIN_EXE_ssdl")
    );
    let mut shell = std::process::Command::new("bash");
    let ran = shell.current_dir(bench.path(".")).args(["-c", &script]).output().expect("bash");
    let printed = String::from_utf8_lossy(&ran.stderr);
    assert_eq!(ran.status.code(), Some(1), "{printed}");
    assert!(printed.contains("page.html") && printed.lines().count() == 1, "{printed}");
    assert_eq!((bench.bytes("page.html"), bench.bytes("m.ssdl")), (page, model));
    assert_eq!(bench.text("p.csv").lines().count(), 31);
    let left = std::fs::read_dir(bench.path(".")).expect("a folder").count();
    assert_eq!(left, 5, "no incomplete file is left");
}

#[test]
fn experiments_have_a_page_with_their_tables_and_one_model_in_detail() {
    let bench = Bench::with_flowers();
    bench.write("plan.toml", crate::experiments::PLAN);
    let run = "experiment plan.toml --data . --report page.html --quiet";
    bench.done(run);
    let page = bench.text("page.html");
    assert_self_contained(&page);
    for part in
        ["<h1>Flowers</h1>", "One model in detail: svm on flowers, few, seed 0", "of 12 correct"]
    {
        assert!(page.contains(part), "{part}");
    }
    bench.done(&format!("{run} --methods ssdl-ga"));
    assert!(bench.text("page.html").contains("One model in detail: ours on flowers"));
    bench.done("experiment plan.toml --tables --report tables.html");
    let page = bench.text("tables.html");
    assert!(page.contains("--tables runs none") && page.contains("<th scope=\"row\">ours</th>"));
    bench.refused(1, "experiment plan.toml --data . --report no/p.html", &["no/p.html"]);
    bench.refused(
        2,
        "experiment plan.toml --out rows.csv --data . --report rows.csv",
        &["another"],
    );
}
