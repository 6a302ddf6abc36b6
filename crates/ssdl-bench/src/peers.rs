//! The peers beside their prototypes in NumPy.

use std::fs;

use serde_json::Map;
use xtask::outcome::{Outcome, While};
use xtask::table::Table;

use crate::Setting;
use crate::numbers::{accuracy, median};
use crate::parity::show;
use crate::program::Problem;
use crate::reference::Reference;

/// Fits of ours; the median counts.
const TURNS: usize = 3;

/// The prototype, its data sets, the method, and the knobs that are not its defaults.
type Peer =
    (&'static str, &'static [&'static str], &'static str, &'static [&'static [&'static str]]);

const PEERS: &[Peer] = &[
    ("jdl", DIGITS, "jdl", &[&["n_atoms=200"], WHOLE]),
    ("ossdl", DIGITS, "ossdl", &[&["n_atoms=200"], WHOLE]),
    ("lcrlsdla", DIGITS, "lc-rlsdla", &[&["n_atoms=200"], WHOLE]),
    ("s2d2", DIGITS, "s2d2", &[&["atoms_per_class=20", "sparsity=0.5"], WHOLE]),
    ("ssdlp", &["usps"], "ssd-lp", &[&["sparsity=0.25"], WHOLE]),
    ("ssdlp", &["mnist"], "ssd-lp", &[&["sparsity=0.5"], WHOLE]),
    ("ssrd", DIGITS, "ssr-d", &[&["n_atoms=200", "sparsity=0.1"], WHOLE]),
    ("sspdl", DIGITS, "ssp-dl", &[&["n_atoms=200"], WHOLE]),
    ("pssdl", DIGITS, "pssdl", &[&["n_atoms=200"], WHOLE]),
    ("lcksvd", &["ar"], "lc-ksvd", &[CONSISTENT, WHOLE]),
    ("supgraphdl", &["ar"], "sup-graph-dl", &[GRAPHS, WHOLE]),
    ("supgraphdl-l", &["ar"], "sup-graph-dl", &[GRAPHS, &["learn_features=true"], WHOLE]),
];

const DIGITS: &[&str] = &["usps", "mnist"];
/// The prototypes have no test for convergence: all iterations of the default, too.
const WHOLE: &[&str] = &["tolerance=0"];

const CONSISTENT: &[&str] =
    &["n_atoms=495", "n_nonzero=20", "consistency=0.04", "discrimination=0.04", "ridge=4"];

const GRAPHS: &[&str] = &[
    "n_atoms=297",
    "n_nonzero=20",
    "feature_manifold=0.4",
    "manifold=1",
    "discrimination=0.04",
    "ridge=400",
    "refit_ridge=0.4",
];

/// Fits each prototype once and the method on the same samples, and returns the section of the report.
///
/// The controls `src` and `src-by-class` are not among them: their fit is a copy of the samples.
pub fn measure(setting: &Setting, python: &Reference<'_>) -> Outcome<String> {
    if !setting.prototypes.join("omp").is_dir() || !setting.prototypes.join("block").is_dir() {
        return Err(format!(
            "no folders omp and block with the prototypes in {}; name theirs with --prototypes DIR",
            setting.prototypes.display()
        )
        .into());
    }
    let mut table = Table::new(&[
        "method",
        "data",
        "prototype's test %",
        "ours",
        "prototype's seconds",
        "ours",
        "factor",
    ]);
    for &(prototype, names, method, chosen) in PEERS {
        for data in names {
            println!("{prototype} on {data}");
            table.row(row(setting, python, (prototype, data, method), &chosen.concat())?);
        }
    }
    Ok(format!(
        "## Peers beside their prototypes\n\nSeconds of the fit alone, one thread, ours in single precision \
         and the median of {TURNS}; samples and knobs are the same.\n\n{}",
        table.render()
    ))
}

fn row(
    setting: &Setting,
    python: &Reference<'_>,
    (prototype, data, method): (&str, &str, &str),
    chosen: &[&str],
) -> Outcome<[String; 7]> {
    let knobs = Map::new();
    let folder = setting.folder.join(format!("peer-{prototype}-{data}"));
    let (theirs, their_accuracy) =
        python.time_peer(&setting.prototypes, (prototype, data), &folder)?;
    let mut arguments = vec!["--method", method, "--prepare", "none"];
    arguments.extend(chosen.iter().flat_map(|knob| ["--set", knob]));
    let problem = Problem::found(&setting.program, folder.clone(), &knobs);
    let problem = problem.with_arguments(&arguments);
    let mut seconds = Vec::new();
    for _ in 0..TURNS {
        seconds.extend(problem.fit(1)?.report.seconds());
    }
    let truth = folder.join("truth.csv");
    let truth = fs::read_to_string(&truth).during(|| truth.display().to_string())?;
    let truth: Vec<String> = truth.lines().skip(1).map(str::to_owned).collect();
    let ours = median(&seconds);
    let found = accuracy(&problem.predict_file()?, &truth);
    Ok([
        if prototype.ends_with("-l") { format!("{method}, learnt") } else { method.to_owned() },
        data.to_owned(),
        show(Some(100.0 * their_accuracy), 1),
        show(found.map(|share| 100.0 * share), 1),
        show(Some(theirs), 2),
        show(Some(ours), 3),
        show(Some(theirs / ours), 1),
    ])
}
