//! The plan of a comparison of graphs, read from TOML.

use serde::Deserialize;
use ssdl::graph::{GraphChoice, GraphKnobs, Width};
use ssdl::samples::prepare::StepChoice;

/// A comparison of graphs.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Plan {
    /// Always `graphs`.
    #[serde(rename = "kind")]
    _kind: serde::de::IgnoredAny,
    /// Its title.
    pub title: String,
    /// Numbers of labelled samples, one column of the table each.
    pub labelled: Vec<usize>,
    /// Noise, in mean squared pixels; several only where `labelled` is a single number.
    pub noise: Vec<f64>,
    /// Where the samples come from.
    pub data: Data,
    /// Settings common to all fits.
    pub method: Method,
    /// The knobs that are tried.
    pub grid: Knobs,
    /// What `--quick` tries: minutes instead of an hour.
    pub quick: Knobs,
    /// Errors that the paper reports, by graph; NaN if it has none.
    #[serde(default)]
    pub paper: Paper,
}

/// Where the samples come from.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Data {
    /// Its name; that of its first file, if omitted.
    name: Option<String>,
    /// File to draw labelled samples from, label first, within the data folder.
    pub train: String,
    /// File of test samples.
    pub test: String,
    /// This range of values is scaled to the range from 0 to 1.
    pub range: [f64; 2],
    /// Preparation steps, after the noise.
    pub prepare: Vec<String>,
    /// Height and width of the samples, for steps that work on images.
    #[serde(default)]
    pub image: Option<[usize; 2]>,
    /// Seed of the draw.
    pub draw: u64,
}

/// Settings common to all fits.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Method {
    /// $p$.
    pub n_atoms: usize,
    /// λ.
    pub sparsity: f64,
    /// Box constraints of the SVM.
    pub box_constraints: Vec<f64>,
    /// Folds of its cross-validation.
    pub folds: usize,
    /// Whether heat and threshold graphs count half for new samples, as printed in the paper.
    pub halve_new: bool,
    /// Seeds of the first atoms.
    pub seeds: Vec<u64>,
    /// Whether fits share graphs, anchors and starts; off only to measure the gain.
    #[serde(default = "yes")]
    pub share: bool,
}

fn yes() -> bool {
    true
}

/// The knobs of a grid, as in the file.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Knobs {
    /// The mean distance for which widths and smoothnesses are given.
    pub mean_distance: f64,
    /// β.
    pub manifold: Vec<f64>,
    /// $k$, for lle and heat.
    pub n_neighbors: Vec<usize>,
    /// σ, for heat and threshold.
    pub width: Vec<f64>,
    /// ζ, for threshold.
    pub percentile: Vec<f64>,
    /// $\beta_L$, for learnt.
    pub smoothness: Vec<f64>,
    /// Seeds, if fewer than those of the method.
    pub seeds: Option<Vec<u64>>,
    /// Numbers of labelled samples, if fewer than those of the plan; only for `quick`.
    pub labelled: Option<Vec<usize>>,
    /// Noise, if fewer than that of the plan; only for `quick`.
    pub noise: Option<Vec<f64>>,
}

/// Errors that the paper reports, in per cent.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
#[allow(missing_docs, reason = "the names are those of the graphs")]
pub struct Paper {
    #[serde(default)]
    pub sc: Vec<f64>,
    #[serde(default)]
    pub heat: Vec<f64>,
    #[serde(default)]
    pub threshold: Vec<f64>,
    #[serde(default)]
    pub learnt: Vec<f64>,
    #[serde(default)]
    pub lle: Vec<f64>,
}

/// One column of the table.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Column {
    /// Labelled samples.
    pub labelled: usize,
    /// Noise, in mean squared pixels.
    pub noise: f64,
}

/// What is tried in one column.
#[derive(Clone, Debug)]
pub struct Grid {
    /// The knobs, as in the file.
    pub knobs: Knobs,
    /// Seeds of the first atoms.
    pub seeds: Vec<u64>,
}

/// A graph of the grid, with knobs as in the file.
#[derive(Clone, Copy, Debug)]
pub enum GridGraph {
    /// No graph.
    None,
    /// LLE.
    Lle(usize),
    /// Heat: $k$, σ.
    Heat(usize, f64),
    /// Threshold: ζ, σ.
    Threshold(f64, f64),
    /// Learnt: $\beta_L$.
    Learnt(f64),
}

/// The graphs of a table, in order; `sc` means no graph.
pub const GRAPHS: [&str; 5] = ["sc", "heat", "threshold", "learnt", "lle"];

impl Plan {
    /// Refuses plans that cannot be run.
    pub(crate) fn check(&self) -> std::result::Result<(), String> {
        if self.labelled.is_empty() || self.noise.is_empty() {
            return Err("`labelled` and `noise` need at least one number each".into());
        }
        if self.labelled.len() > 1 && self.noise.len() > 1 {
            return Err("either `labelled` or `noise` may have several numbers, not both".into());
        }
        if let Some(bad) = self.noise.iter().find(|v| !(v.is_finite() && **v >= 0.0)) {
            return Err(format!("noise {bad} is negative; it must be 0 or more"));
        }
        crate::plan::check_image(self.data.image)?;
        if self.data.range[1] <= self.data.range[0] {
            return Err("`range` must go from a smaller to a larger number".into());
        }
        for (name, knobs) in [("grid", &self.grid), ("quick", &self.quick)] {
            let empty = knobs.manifold.is_empty() || knobs.mean_distance <= 0.0;
            if empty || knobs.manifold.iter().any(|v| v.is_nan() || *v <= 0.0) {
                return Err(format!(
                    "[{name}] needs a `mean_distance` and at least one `manifold`, all above 0"
                ));
            }
        }
        self.check_quick()?;
        for graph in GRAPHS {
            let n = self.paper(graph).len();
            if n != 0 && n != self.columns().len() {
                return Err(format!(
                    "[paper] {graph} has {n} numbers for {} columns",
                    self.columns().len()
                ));
            }
        }
        Ok(())
    }

    /// Refuses columns of `quick` that the plan does not have.
    fn check_quick(&self) -> std::result::Result<(), String> {
        if self.grid.labelled.is_some() || self.grid.noise.is_some() {
            return Err("[grid] takes `labelled` and `noise` from the plan; omit them there".into());
        }
        let small = self.quick();
        let known = self.columns();
        match small.columns().into_iter().find(|column| !known.contains(column)) {
            Some(column) => Err(format!(
                "[quick] has a column `{}` that the plan has not; keep some of its numbers",
                column.name()
            )),
            None if small.columns().is_empty() => Err("[quick] leaves nothing to run".into()),
            None => Ok(()),
        }
    }

    /// The plan that `--quick` runs: fewer settings, and fewer columns where `quick` names them.
    #[must_use]
    pub fn quick(&self) -> Self {
        let mut plan = Self { grid: self.quick.clone(), ..self.clone() };
        plan.labelled = plan.grid.labelled.take().unwrap_or(plan.labelled);
        plan.noise = plan.grid.noise.take().unwrap_or(plan.noise);
        let (all, kept) = (self.columns(), plan.columns());
        let of_kept = |numbers: &[f64]| -> Vec<f64> {
            let pairs = all.iter().zip(numbers).filter(|(column, _)| kept.contains(column));
            pairs.map(|(_, number)| *number).collect()
        };
        let Paper { sc, heat, threshold, learnt, lle } = &self.paper;
        plan.paper = Paper {
            sc: of_kept(sc),
            heat: of_kept(heat),
            threshold: of_kept(threshold),
            learnt: of_kept(learnt),
            lle: of_kept(lle),
        };
        plan
    }

    /// The columns of the table.
    #[must_use]
    pub fn columns(&self) -> Vec<Column> {
        let noises =
            |labelled: usize| self.noise.iter().map(move |&noise| Column { labelled, noise });
        self.labelled.iter().flat_map(|&labelled| noises(labelled)).collect()
    }

    /// The settings to try.
    #[must_use]
    pub fn grid(&self) -> Grid {
        let mut knobs = self.grid.clone();
        // Each strength starts from the one before.
        knobs.manifold.sort_by(f64::total_cmp);
        let seeds = knobs.seeds.clone().unwrap_or_else(|| self.method.seeds.clone());
        Grid { knobs, seeds }
    }

    /// What the paper reports for a graph.
    #[must_use]
    pub fn paper(&self, graph: &str) -> &[f64] {
        match graph {
            "sc" => &self.paper.sc,
            "heat" => &self.paper.heat,
            "threshold" => &self.paper.threshold,
            "learnt" => &self.paper.learnt,
            _ => &self.paper.lle,
        }
    }
}

impl Data {
    /// Its name.
    #[must_use]
    pub fn name(&self) -> &str {
        self.name.as_deref().unwrap_or(&self.train)
    }

    /// The preparation.
    pub(super) fn steps(&self) -> ssdl::Result<Vec<StepChoice>> {
        self.prepare.iter().map(|step| step.parse()).collect()
    }
}

impl Column {
    /// Its heading in the table.
    #[must_use]
    pub fn name(&self) -> String {
        if self.noise > 0.0 {
            format!("{} labelled, noise {}", self.labelled, self.noise)
        } else {
            format!("{} labelled", self.labelled)
        }
    }
}

impl Grid {
    /// Every graph, slow ones first so that the last to finish are fast.
    #[must_use]
    pub fn settings(&self) -> Vec<GridGraph> {
        let knobs = &self.knobs;
        let mut all = Vec::new();
        all.extend(knobs.smoothness.iter().map(|&smoothness| GridGraph::Learnt(smoothness)));
        for &percentile in knobs.percentile.iter().rev() {
            all.extend(knobs.width.iter().map(|&width| GridGraph::Threshold(percentile, width)));
        }
        for &k in &knobs.n_neighbors {
            all.extend(knobs.width.iter().map(|&width| GridGraph::Heat(k, width)));
        }
        all.extend(knobs.n_neighbors.iter().map(|&k| GridGraph::Lle(k)));
        all
    }

    /// Fits of one column.
    #[must_use]
    pub fn fits(&self) -> usize {
        self.seeds.len() * (1 + self.settings().len() * self.knobs.manifold.len())
    }
}

impl GridGraph {
    /// Name of the graph.
    #[must_use]
    pub fn graph(self) -> &'static str {
        match self {
            Self::None => "sc",
            Self::Lle(_) => "lle",
            Self::Heat(..) => "heat",
            Self::Threshold(..) => "threshold",
            Self::Learnt(_) => "learnt",
        }
    }

    /// The knobs, as in the plan.
    #[must_use]
    pub fn text(self) -> String {
        match self {
            Self::None => String::new(),
            Self::Lle(k) => format!("n_neighbors={k}"),
            Self::Heat(k, width) => format!("n_neighbors={k} width={width}"),
            Self::Threshold(percentile, width) => format!("percentile={percentile} width={width}"),
            Self::Learnt(smoothness) => format!("smoothness={smoothness}"),
        }
    }

    /// The knobs for samples whose mean distance is `scale` times the one of the plan.
    #[must_use]
    pub fn knobs(self, scale: f64) -> GraphKnobs {
        let knobs = GraphKnobs::new().normalise_trace(true);
        let wide = |width: f64| Width::Absolute(width * scale);
        match self {
            Self::None => knobs,
            Self::Lle(k) => knobs.graph(GraphChoice::Lle).n_neighbors(k),
            Self::Heat(k, width) => {
                knobs.graph(GraphChoice::Heat).n_neighbors(k).width(wide(width))
            }
            Self::Threshold(percentile, width) => {
                knobs.graph(GraphChoice::Threshold).percentile(percentile).width(wide(width))
            }
            Self::Learnt(smoothness) => {
                knobs.graph(GraphChoice::Learnt).smoothness(smoothness * scale * scale)
            }
        }
    }
}
