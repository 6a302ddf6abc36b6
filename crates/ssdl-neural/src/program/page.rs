//! The report page of a net: made by `ssdl-report`, as the pages of models are.

use std::path::Path;

use ssdl_neural::{Judged, Net, Shape};
use ssdl_report::{Fact, Other, Page, counted, of_other};

use super::Outcome;

/// The samples that a page shows.
pub struct Shown<'a> {
    /// What the net found for them.
    pub found: &'a Judged,
    /// Their labels, where they are known.
    pub truth: &'a [Option<String>],
    /// Whether the fit was given these labels.
    pub are_given: bool,
    /// Their names, if any.
    pub names: Option<&'a [String]>,
}

/// Writes the page of a net on some samples, completely or not at all.
pub fn write(path: &Path, data: &Path, net: &Net, shown: &Shown<'_>) -> Outcome {
    let html = page(data, net, shown).html()?;
    Ok(ssdl_data::write_bytes(path, html.as_bytes())?)
}

fn page(data: &Path, net: &Net, shown: &Shown<'_>) -> Page {
    let Shown { found, truth, are_given, names } = *shown;
    let other = Other {
        classes: net.classes(),
        predicted: &found.classes,
        probabilities: &found.probabilities,
        truth,
        are_given,
        names,
        objectives: &net.report().objectives,
    };
    let report = net.report();
    let name = data.file_name().unwrap_or(data.as_os_str()).to_string_lossy();
    let free = report.n_samples - report.n_labelled.min(report.n_samples);
    let lead = format!(
        "{} learnt from {} and {} in {}.",
        counted(net.classes().len(), "class", "classes"),
        counted(report.n_labelled, "label", "labels"),
        counted(free, "unlabelled sample", "unlabelled samples"),
        counted(report.epochs, "epoch", "epochs"),
    );
    let mut page = of_other(format!("{} on {name}", net.method()), lead, &other);
    page.facts = facts(net);
    page
}

fn facts(net: &Net) -> Vec<Fact> {
    let words = std::env::args().skip(1).collect::<Vec<_>>().join(" ");
    let knobs: Vec<String> = net.knobs().iter().map(|(k, v)| format!("{k}={v}")).collect();
    let report = net.report();
    vec![
        Fact::new("command", format!("ssdl-neural {words}")),
        Fact::new("net", shape(net.shape())),
        Fact::new("weights", net.n_weights().to_string()),
        Fact::new("knobs", knobs.join(" ")),
        Fact::new("seed", net.seed().to_string()),
        Fact::new("stopped", format!("{}, objective {:.4}", report.stop, report.objective)),
    ]
}

/// The net in words.
fn shape(shape: &Shape) -> String {
    let widths =
        |widths: &[usize]| widths.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ");
    match shape {
        Shape::Cnn(cnn) => {
            let [height, width] = cnn.image;
            let maps: Vec<usize> = cnn.blocks.iter().flatten().copied().collect();
            format!(
                "convolutions of 3 x 3 with {} maps on {height} x {width} pixels, {} hidden units",
                widths(&maps),
                cnn.hidden
            )
        }
        Shape::Ladder(ladder) => format!("layers of {} units", widths(&ladder.widths)),
        _ => String::new(),
    }
}
