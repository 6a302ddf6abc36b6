//! Our own alternatives on the published splits, so that each default is a measured choice.

use xtask::outcome::Outcome;
use xtask::table::Table;

use crate::Setting;
use crate::digits::{Digits, Splits};
use crate::numbers::{accuracy, mean};
use crate::parity::show;
use crate::program::Problem;

/// What differs from the defaults, and the arguments of `ssdl fit` that ask for it.
const VARIANTS: &[(&str, &[&str])] = &[
    ("the defaults", &[]),
    ("active_points=frozen", &["--set", "active_points=frozen"]),
    ("coder=fista", &["--set", "coder=fista"]),
    ("coder=batches", &["--set", "coder=batches"]),
    ("dictionary_update=fista", &["--set", "dictionary_update=fista"]),
    ("dictionary_update=dual", &["--set", "dictionary_update=dual"]),
    ("precision double", &["--precision", "double"]),
    ("method ussdl", &["--method", "ussdl"]),
    ("method linear-svm", &["--method", "linear-svm"]),
    ("method ridge", &["--method", "ridge"]),
    ("method nearest", &["--method", "nearest"]),
    ("method label-spreading", &["--method", "label-spreading"]),
    ("method self-training", &["--method", "self-training"]),
    ("method self-training, base=ridge", &["--method", "self-training", "--set", "base=ridge"]),
];

/// Preparations of the samples as images, and what `--prepare` asks for, one step after another.
const PREPARATIONS: &[(&str, &[&str])] = &[
    ("deskewed", &["deskew", "scale=5"]),
    ("gradients 9/4/2", &["gradients=9/4/2", "scale=5"]),
    ("deskewed, 9/4/2", &["deskew", "gradients=9/4/2", "scale=5"]),
    ("deskewed, 8/3/2", &["deskew", "gradients=8/3/2", "scale=5"]),
    ("deskewed, 9/4/3", &["deskew", "gradients=9/4/3", "scale=5"]),
    (
        "deskewed, 9/4/2 + 8/3/2 + pixels",
        &["deskew", "join=[gradients=9/4/2 | gradients=8/3/2 | none]", "scale=5"],
    ),
    (
        "deskewed, 9/4/2 + 8/7/2 + pixels",
        &["deskew", "join=[gradients=9/4/2 | gradients=8/7/2 | none]", "scale=5"],
    ),
];

/// Knobs that the graph-free method does not have.
const OF_THE_GRAPH: &[&str] = &["manifold", "n_neighbors"];

/// Measures one data set and returns its section of the report.
pub fn measure(setting: &Setting, name: &str) -> Outcome<String> {
    let splits = Splits::load(name, &setting.reference)?;
    let digits = Digits::load(name, &setting.data, splits.rows())?;
    let mut table =
        Table::new(&["variant", "test %", "unlabelled %", "objective", "iterations", "seconds"]);
    let shape = digits.shape();
    let preparations = PREPARATIONS.iter().map(|(variant, steps)| {
        let steps = steps.iter().flat_map(|&step| ["--prepare", step]);
        (*variant, ["--image", shape.as_str()].into_iter().chain(steps).collect::<Vec<_>>())
    });
    let variants = VARIANTS.iter().map(|(variant, arguments)| (*variant, arguments.to_vec()));
    for (variant, arguments) in variants.chain(preparations) {
        println!("{name}, {variant}");
        let mut knobs = splits.knobs.clone();
        match arguments[..] {
            ["--method", "ussdl", ..] => {
                OF_THE_GRAPH.iter().for_each(|knob| drop(knobs.remove(*knob)));
            }
            // Methods without a dictionary have nothing of the published settings.
            ["--method", ..] => knobs.clear(),
            _ => {}
        }
        let mut columns: [Vec<Option<f64>>; 5] = Default::default();
        for split in splits.runs.iter().take(setting.seeds) {
            let folder = setting.folder.join(format!("{name}-{}", split.seed));
            let parts = (split.labelled.as_slice(), split.unlabelled.as_slice());
            let problem = Problem::write(&setting.program, folder, &knobs, &digits, parts)?
                .with_arguments(&arguments);
            let fit = problem.fit(1)?;
            let found = problem.predict(&digits, &split.test)?;
            let hidden = digits.classes_of(&split.unlabelled);
            let said = fit.report.transduction();
            columns[0].push(accuracy(&found, &digits.classes_of(&split.test)));
            columns[1].push(said.and_then(|said| accuracy(&said, &hidden)));
            columns[2].push(fit.report.objective());
            columns[3].push(fit.report.iterations());
            columns[4].push(Some(fit.wall_seconds));
        }
        let means = columns.map(|column| {
            let values: Option<Vec<f64>> = column.into_iter().collect();
            values.filter(|values| !values.is_empty()).map(|values| mean(&values))
        });
        let percent = |share: Option<f64>| show(share.map(|share| 100.0 * share), 2);
        table.row(vec![
            variant.to_owned(),
            percent(means[0]),
            percent(means[1]),
            show(means[2], 1),
            show(means[3], 1),
            show(means[4], 3),
        ]);
    }
    Ok(format!(
        "## Variants: {name}\n\nOne thread, single precision, means over the published splits; seconds \
         of the whole process.\n\n{}",
        table.render()
    ))
}
