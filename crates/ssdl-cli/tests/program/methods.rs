//! `ssdl methods` and the help texts.

use crate::run::Bench;

#[test]
fn the_register_is_shown_in_every_form() {
    let bench = Bench::new();
    let (table, markdown) = (bench.done("methods"), bench.done("methods --markdown"));
    assert!(markdown.starts_with("# Methods\n"));
    for method in bench.json("methods")["methods"].as_array().expect("a list") {
        let name = method["name"].as_str().expect("a name");
        assert!(table.contains(name), "{name}");
        assert!(markdown.contains(&format!("\n## {name}\n")), "{name}");
        let objective = method["objective"].as_str().expect("a formula");
        assert!(markdown.contains(&format!("$$\n{objective}\n$$")), "{name}");
        let page = bench.done(&format!("methods {name}"));
        assert!(page.contains(method["reference"].as_str().expect("a reference")), "{page}");
        assert!(page.contains(method["link"].as_str().expect("a link")), "{page}");
        assert!(page.lines().all(|line| line.chars().count() <= 80), "{page}");
        for knob in method["knobs"].as_array().expect("a list") {
            let knob = knob["name"].as_str().expect("a name");
            assert!(page.contains(knob), "{name}: {knob}");
            assert!(markdown.contains(&format!("| `{knob}` |")), "{name}: {knob}");
        }
        assert_eq!(&bench.json(&format!("methods {name}")), method);
    }
    assert!(bench.done("methods ssdl-ga").contains("Extended YaleB"));
    // The text without line breaks.
    let page = bench.done("methods graph-sc");
    let page = page.split_whitespace().collect::<Vec<_>>().join(" ");
    for part in ["manifold tr(A L A')", "lle, heat, threshold, learnt", "0.1,1,10", "β_L", "0.5x"]
    {
        assert!(page.contains(part), "`{part}` is not in\n{page}");
    }
    assert!(!bench.done("methods linear-svm").contains("Published"));
}

#[test]
fn help_has_an_example_and_80_columns() {
    let bench = Bench::new();
    for command in ["", "demo", "fit", "predict", "inspect", "graph", "methods"] {
        let help = bench.done(&format!("{command} --help"));
        assert!(help.contains("Example") && help.contains("  ssdl "), "{help}");
        assert!(help.lines().all(|line| line.chars().count() <= 80), "{help}");
        for option in ["--json", "--threads", "--seed", "--quiet"] {
            assert!(help.contains(option), "{command}: {option}");
        }
    }
    assert!(bench.done("--version").starts_with("ssdl "));
}
