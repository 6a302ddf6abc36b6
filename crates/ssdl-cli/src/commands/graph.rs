//! `ssdl graph`: describes the graph between samples.

use std::time::Instant;

use serde_json::{Map, Value, json};
use ssdl::graph::{Connected, Graph as _, GraphKnobs, Portrait};
use ssdl::knobs::Knobbed;
use ssdl::methods::FitOptions;
use ssdl::samples::prepare::Pipeline;
use ssdl::{Labels, threads};

use super::summary::typed;
use crate::args::{Common, Graph};
use crate::failure::{Failure, Outcome};
use crate::print::{Sheet, counted, number, percent, seconds};
use crate::{input, print};

/// Maximum number of hubs and parts in a list.
const LISTED: usize = 8;

/// Edges between labelled samples from which their share says something.
const ENOUGH: usize = 30;
/// Below this share of edges within a class, a graph misleads more than it helps.
const PURE: f64 = 0.6;

/// Runs the command.
pub fn run(args: &Graph, common: &Common) -> Outcome {
    input::check_set_once(&args.set)?;
    let knobs = GraphKnobs::from_pairs(&args.set)?;
    let plans = input::plans(&args.prepare)?.unwrap_or(FitOptions::<f64>::default().prepare);
    let table = input::read(&args.data, args.image)?;
    input::say(&table.notes, common.quiet);
    let n_samples = table.features.columns();
    let image = input::image(&args.data.data, args.image, table.features.rows(), table.image)?;
    let labels = match &table.labels {
        Some(names) => Labels::from_names(names),
        None => Labels::from_names::<&str>(&vec![None; n_samples]),
    };
    let given = match &args.graph {
        Some(path) => Some(input::graph::<f64>(path, n_samples)?),
        None => None,
    };
    let about = |error| Failure::about(&args.data.data, error);
    let started = Instant::now();
    let built = threads::run(common.threads.into(), || -> ssdl::Result<Connected<f64>> {
        let (_, samples) = Pipeline::fit(&plans, table.features, image, common.seed)?;
        match given {
            Some(given) => Ok(given.build(&samples)?.at_strength(knobs.normalise_trace)),
            None => knobs.build(&samples),
        }
    });
    let built = built.map_err(about)?;
    let elapsed = started.elapsed().as_secs_f64();
    let recall = built.attachment.recall;
    let portrait = Portrait::of(&built.laplacian, labels.assigned());
    let name = if args.graph.is_some() { "given" } else { knobs.graph.name() };
    if common.json {
        print::json(&answer(name, &knobs, (&portrait, recall), elapsed))
    } else {
        print::to_stdout(&text(name, (&portrait, recall), elapsed))
    }
}

fn text(name: &str, (portrait, recall): (&Portrait, Option<f64>), elapsed: f64) -> String {
    let mut sheet = Sheet::default();
    sheet.row("graph", format!("{name}, built in {}", seconds(elapsed)));
    if let Some(recall) = recall {
        let found = percent(recall);
        sheet.row("search", format!("approximate, found {found} (estimated on 200 samples)"));
    }
    sheet.row("nodes", portrait.nodes.to_string());
    sheet.row("edges", portrait.edges.to_string());
    let degrees = portrait.degrees;
    sheet.row(
        "neighbours",
        format!(
            "mean {:.1}, median {}, from {} to {}",
            degrees.mean, degrees.median, degrees.least, degrees.most
        ),
    );
    sheet.row("isolated", counted(portrait.isolated, "sample", "samples"));
    let sizes: Vec<String> =
        portrait.components.iter().take(LISTED).map(ToString::to_string).collect();
    let more = if portrait.components.len() > LISTED { ", …" } else { "" };
    let parts = counted(portrait.components.len(), "connected part", "connected parts");
    sheet.row("parts", format!("{parts}, of {}{more}", sizes.join(", ")));
    let listed = portrait.hubs.iter().take(LISTED);
    let hubs: Vec<String> = listed.map(|(j, count)| format!("sample {j} ({count})")).collect();
    let hubs = match portrait.hubs.len() {
        0 => "none with three times the mean number of neighbours".to_owned(),
        count if count > LISTED => format!("{count}: {}, …", hubs.join(", ")),
        count => format!("{count}: {}", hubs.join(", ")),
    };
    sheet.row("hubs", hubs);
    sheet.row("trace", number(portrait.trace));
    sheet.row(
        "spectrum",
        format!(
            "largest eigenvalue about {}, at most {}",
            number(portrait.largest_eigenvalue),
            number(portrait.spectral_bound)
        ),
    );
    sheet.row("same class", purity(portrait));
    sheet.text()
}

/// The share of edges within a class, and whether there are enough of them to tell.
fn purity(portrait: &Portrait) -> String {
    let count = portrait.labelled_edges;
    match portrait.same_class {
        None => "unknown: no edge joins two labelled samples".into(),
        Some(share) if count < ENOUGH => {
            let edges = counted(count, "edge joins", "edges join");
            format!("too few to tell: {edges} labelled samples ({} same)", percent(share))
        }
        Some(share) => {
            let doubt = if share < PURE { "; impure: lower `manifold`" } else { "" };
            format!("{} of the edges, {count} with labels{doubt}", percent(share))
        }
    }
}

fn answer(
    name: &str,
    knobs: &GraphKnobs,
    (portrait, recall): (&Portrait, Option<f64>),
    elapsed: f64,
) -> Value {
    let values = knobs.values().into_iter();
    let knobs: Map<String, Value> =
        values.map(|(name, value)| (name.to_owned(), typed(&value))).collect();
    let degrees = portrait.degrees;
    let hubs = portrait.hubs.iter().map(|(j, count)| json!({"sample": j, "neighbours": count}));
    json!({
        "graph": name,
        "knobs": knobs,
        "neighbour_recall": recall,
        "nodes": portrait.nodes,
        "edges": portrait.edges,
        "neighbours": {
            "least": degrees.least,
            "median": degrees.median,
            "mean": degrees.mean,
            "most": degrees.most,
        },
        "isolated": portrait.isolated,
        "components": portrait.components,
        "hubs": hubs.collect::<Vec<_>>(),
        "trace": portrait.trace,
        "largest_eigenvalue": portrait.largest_eigenvalue,
        "spectral_bound": portrait.spectral_bound,
        "same_class": portrait.same_class,
        "labelled_edges": portrait.labelled_edges,
        "seconds": elapsed,
    })
}
