//! The peers that code with few atoms, beside their prototypes in NumPy.

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

/// The prototype, its data set, the method, and the knobs that are not its defaults.
const PEERS: &[(&str, &str, &str, &[&str])] = &[
    ("ossdl", "usps", "ossdl", &["n_atoms=200"]),
    ("jdl", "usps", "jdl", &["n_atoms=200", "tolerance=0"]),
    ("lcrlsdla", "usps", "lc-rlsdla", &["n_atoms=200"]),
    ("ossdl", "mnist", "ossdl", &["n_atoms=200"]),
    ("jdl", "mnist", "jdl", &["n_atoms=200", "tolerance=0"]),
    ("lcrlsdla", "mnist", "lc-rlsdla", &["n_atoms=200"]),
    (
        "lcksvd",
        "ar",
        "lc-ksvd",
        &[
            "n_atoms=495",
            "n_nonzero=20",
            "consistency=0.04",
            "discrimination=0.04",
            "ridge=4",
            "tolerance=0",
        ],
    ),
    ("supgraphdl", "ar", "sup-graph-dl", GRAPHS),
    ("supgraphdl-l", "ar", "sup-graph-dl", GRAPHS_LEARNT),
];

const GRAPHS: &[&str] = &[
    "n_atoms=297",
    "n_nonzero=20",
    "feature_manifold=0.4",
    "manifold=1",
    "discrimination=0.04",
    "ridge=400",
    "refit_ridge=0.4",
    "tolerance=0",
];

const GRAPHS_LEARNT: &[&str] = &[
    "n_atoms=297",
    "n_nonzero=20",
    "feature_manifold=0.4",
    "manifold=1",
    "discrimination=0.04",
    "ridge=400",
    "refit_ridge=0.4",
    "tolerance=0",
    "learn_features=true",
];

/// Fits each prototype once and the method on the same samples, and returns the section of the report.
pub fn measure(setting: &Setting, python: &Reference<'_>) -> Outcome<String> {
    let mut table = Table::new(&[
        "method",
        "data",
        "prototype's test %",
        "ours",
        "prototype's seconds",
        "ours",
        "factor",
    ]);
    let knobs = Map::new();
    for &(prototype, data, method, chosen) in PEERS {
        println!("{prototype} on {data}");
        let folder = setting.folder.join(format!("peer-{prototype}-{data}"));
        let (theirs, their_accuracy) = python.time_peer(prototype, data, &folder)?;
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
        table.row([
            if prototype.ends_with("-l") { format!("{method}, learnt") } else { method.to_owned() },
            data.to_owned(),
            show(Some(100.0 * their_accuracy), 1),
            show(found.map(|share| 100.0 * share), 1),
            show(Some(theirs), 2),
            show(Some(ours), 3),
            show(Some(theirs / ours), 0),
        ]);
    }
    Ok(format!(
        "## Peers beside their prototypes\n\nSeconds of the fit alone, one thread, ours in single precision \
         and the median of {TURNS}; samples and knobs are the same.\n\n{}",
        table.render()
    ))
}
