//! What graphs cost: the learnt one, the sharing within a grid, and the SVM on the codes.

use std::fs;
use std::time::Instant;

use serde_json::Map;
use xtask::outcome::{Outcome, While};
use xtask::table::Table;
use xtask::workspace;

use crate::Setting;
use crate::digits::{Digits, first_of_each_class};
use crate::parity::show;
use crate::program::{self, Problem};
use crate::reference::Reference;

/// Training and test samples of USPS.
const TRAIN: usize = 7291;
const ALL: usize = 9298;

/// Learning the graph and joining all test samples to it, by size and smoothness.
pub fn learnt(setting: &Setting) -> Outcome<String> {
    let digits = Digits::load("usps", &setting.data, ALL)?;
    let test: Vec<usize> = (TRAIN..ALL).collect();
    let mut table = Table::new(&[
        "N",
        "smoothness",
        "seconds to learn",
        "seconds to predict 2,007, two threads",
    ]);
    let knobs = Map::new();
    for n in [500, 2000] {
        for smoothness in ["0.1", "1", "10"] {
            println!("learnt graph, {n} samples, smoothness {smoothness}");
            let problem = usps(setting, &digits, n, &knobs)?;
            let knob = format!("smoothness={smoothness}");
            let arguments = ["--method", "graph-sc", "--set", "graph=learnt", "--set", &knob];
            let problem = problem.with_arguments(&arguments);
            let fit = problem.fit(2)?;
            let started = Instant::now();
            problem.predict(&digits, &test)?;
            table.row([
                n.to_string(),
                smoothness.to_owned(),
                show(fit.report.neighbour_seconds(), 3),
                show(Some(started.elapsed().as_secs_f64()), 2),
            ]);
        }
    }
    Ok(format!("## The learnt graph on USPS\n\n{}", table.render()))
}

/// The quick grid at 500 labelled samples with everything shared and with nothing shared.
pub fn sharing(setting: &Setting) -> Outcome<String> {
    let plan = workspace::top().join("experiments/laplacians.toml");
    let plan = fs::read_to_string(&plan).during(|| plan.display().to_string())?;
    let plan = plan.replace("labelled = [100, 500, 1000, 2000]", "labelled = [500]");
    let plan = plan.split("[paper]").next().unwrap_or_default().to_owned();
    let mut table = Table::new(&["fits share", "seconds for 40 fits, one thread"]);
    let mut seconds = Vec::new();
    for (name, share) in [("graphs, anchors and starts", "true"), ("nothing", "false")] {
        println!("grid that shares {name}");
        let path = setting.folder.join(format!("share-{share}.toml"));
        let rows = path.with_extension("csv");
        let text = plan.replace("halve_new", &format!("share = {share}\nhalve_new"));
        fs::write(&path, text).during(|| path.display().to_string())?;
        let _ = fs::remove_file(&rows);
        let mut command = std::process::Command::new(&setting.program);
        command.arg("experiment").arg(&path).arg("--quick").arg("--data").arg(&setting.data);
        command.arg("--out").arg(&rows).args(["--threads", "1", "--json", "--quiet"]);
        let started = Instant::now();
        program::call(&mut command)?;
        seconds.push(started.elapsed().as_secs_f64());
        table.row([name.to_owned(), show(seconds.last().copied(), 2)]);
    }
    let gain = seconds[1] / seconds[0];
    Ok(format!(
        "## Sharing within a grid\n\n{}\nSharing gains a factor {gain:.2}.\n",
        table.render()
    ))
}

/// Our SVM against LIBLINEAR as scikit-learn has it, on 2,000 samples of USPS.
pub fn svm(setting: &Setting, python: &Reference<'_>) -> Outcome<String> {
    let digits = Digits::load("usps", &setting.data, ALL)?;
    let mut table = Table::new(&[
        "box constraint",
        "seconds ours (whole process)",
        "scikit-learn (fit alone)",
        "objective ours",
        "scikit-learn",
    ]);
    let knobs = Map::new();
    for value in ["0.1", "1", "10"] {
        println!("svm, box constraint {value}");
        let problem = usps(setting, &digits, 2000, &knobs)?;
        let knob = format!("box_constraints={value}");
        let arguments = ["--method", "linear-svm", "--precision", "double", "--set", &knob];
        let problem = problem.with_arguments(&arguments);
        let fit = problem.fit(1)?;
        let (seconds, objective) = python.time_svm(&problem.samples(), &problem.labels(), value)?;
        table.row([
            value.to_owned(),
            show(Some(fit.wall_seconds), 3),
            show(Some(seconds), 3),
            show(fit.report.objective(), 3),
            show(Some(objective), 3),
        ]);
    }
    Ok(format!(
        "## The linear SVM on 2,000 samples of USPS, hinge, one thread\n\n{}",
        table.render()
    ))
}

/// The first samples of USPS, the same number of each class, all labelled.
fn usps<'a>(
    setting: &'a Setting,
    digits: &Digits,
    n: usize,
    knobs: &'a Map<String, serde_json::Value>,
) -> Outcome<Problem<'a>> {
    let (labelled, _) = first_of_each_class(&digits.classes, TRAIN, n / 10);
    let folder = setting.folder.join(format!("graphs-{n}"));
    Problem::write(&setting.program, folder, knobs, digits, (&labelled, &[]))
}
