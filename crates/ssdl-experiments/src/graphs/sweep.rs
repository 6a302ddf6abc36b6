//! All fits of one column.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, OnceLock};
use std::time::Instant;

use rayon::prelude::*;
use ssdl::classifier::svm::SvmKnobs;
use ssdl::fit::{Silent, Start};
use ssdl::graph::Connected;
use ssdl::knobs;
use ssdl::methods::{FitOptions, GraphSc};
use ssdl::model::Seen;
use ssdl::prelude::*;
use ssdl::{Model, Samples};

use super::data::Problem;
use super::plan::{Grid, GridGraph, Plan};
use super::row::Row;
use crate::numbers::round;
use crate::rows::RowFile;
use crate::{Error, Monitor, Result};

/// Position of this column among all fits.
#[derive(Clone, Copy)]
pub struct Place {
    pub before: usize,
    pub total: usize,
}

/// Runs the fits of a column without rows: first without a graph, then all graphs in parallel.
pub fn run(
    plan: &Plan,
    grid: &Grid,
    problem: &Problem,
    rows: &RowFile<Row>,
    place: Place,
    monitor: &dyn Monitor,
) -> Result<()> {
    let sweep = Sweep { plan, grid, problem, rows };
    let name = problem.column.name();
    let done = AtomicUsize::new(place.before);
    let report = |fits: usize| {
        let count = done.fetch_add(fits, Ordering::Relaxed) + fits;
        monitor.done(count, place.total, &name);
    };
    let missing: Vec<GridGraph> =
        grid.settings().into_iter().filter(|setting| !sweep.is_done(*setting)).collect();
    let per_setting = grid.seeds.len() * grid.knobs.manifold.len();
    report(per_setting * (grid.settings().len() - missing.len()));
    if missing.is_empty() && sweep.is_done(GridGraph::None) {
        report(grid.seeds.len());
        return Ok(());
    }
    let plain: Vec<Option<Start<f32>>> =
        grid.seeds.par_iter().map(|&seed| sweep.without_graph(seed)).collect::<Result<_>>()?;
    report(grid.seeds.len());
    let failed = Mutex::new(None);
    missing.par_iter().with_max_len(1).for_each(|&setting| {
        let stopped = failed.lock().map_or(true, |failed| failed.is_some());
        if stopped || monitor.stop() {
            return;
        }
        match sweep.with_graph(setting, &plain) {
            Ok(()) => report(per_setting),
            Err(error) => {
                if let Ok(mut failed) = failed.lock() {
                    failed.get_or_insert(error);
                }
            }
        }
    });
    if let Ok(Some(error)) = failed.into_inner() {
        return Err(error);
    }
    if monitor.stop() {
        return Err(Error::Interrupted { path: rows.path().to_owned() });
    }
    Ok(())
}

struct Sweep<'a> {
    plan: &'a Plan,
    grid: &'a Grid,
    problem: &'a Problem,
    rows: &'a RowFile<Row>,
}

/// What the fits of one graph share: the graph, and the test samples as they join it.
struct Shared {
    graph: Arc<Connected<f32>>,
    test: OnceLock<Seen<f32>>,
}

impl Sweep<'_> {
    /// The rows of a setting, without their results.
    fn wanted(&self, setting: GridGraph) -> Vec<Row> {
        let strengths: &[f64] = match setting {
            GridGraph::None => &[0.0],
            _ => &self.grid.knobs.manifold,
        };
        let mut rows = Vec::new();
        for &seed in &self.grid.seeds {
            rows.extend(strengths.iter().map(|&manifold| self.blank(setting, seed, manifold)));
        }
        rows
    }

    fn is_done(&self, setting: GridGraph) -> bool {
        self.rows.has_all(&self.wanted(setting))
    }

    fn blank(&self, setting: GridGraph, seed: u64, manifold: f64) -> Row {
        Row {
            graph: setting.graph().to_owned(),
            n_labelled: self.problem.column.labelled,
            noise: self.problem.column.noise,
            seed,
            knobs: setting.text(),
            manifold,
            box_constraint: 0.0,
            validation_error: 0.0,
            test_error: 0.0,
            objective: 0.0,
            iterations: 0,
            non_zeros: 0.0,
            seconds: 0.0,
            version: env!("CARGO_PKG_VERSION").to_owned(),
        }
    }

    /// The fit without a graph, from which all others of this seed start.
    fn without_graph(&self, seed: u64) -> Result<Option<Start<f32>>> {
        let started = Instant::now();
        let model = self.fit(GridGraph::None, 0.0, seed, (None, None))?;
        if !self.is_done(GridGraph::None) {
            let row = self.blank(GridGraph::None, seed, 0.0);
            self.rows.add(&[self.evaluate(row, &model, None, started)?])?;
        }
        Ok(model.start(&self.problem.train)?)
    }

    /// One graph: all seeds, each with increasing strength.
    fn with_graph(&self, setting: GridGraph, plain: &[Option<Start<f32>>]) -> Result<()> {
        let graph = Arc::new(self.knobs(setting).choose().build(&self.problem.train)?);
        let shared = Shared { graph, test: OnceLock::new() };
        let chains: Result<Vec<Vec<Row>>> = self
            .grid
            .seeds
            .par_iter()
            .zip(plain)
            .map(|(&seed, start)| self.chain(setting, &shared, seed, start.clone()))
            .collect();
        self.rows.add(&chains?.concat())
    }

    fn knobs(&self, setting: GridGraph) -> ssdl::graph::GraphKnobs {
        setting.knobs(self.problem.mean_distance / self.grid.knobs.mean_distance)
    }

    /// Increasing strengths, each started from the solution of the previous one.
    fn chain(
        &self,
        setting: GridGraph,
        shared: &Shared,
        seed: u64,
        mut start: Option<Start<f32>>,
    ) -> Result<Vec<Row>> {
        let mut rows = Vec::new();
        for &manifold in &self.grid.knobs.manifold {
            let started = Instant::now();
            let shared = Some(shared).filter(|_| self.plan.method.share);
            let from = start.filter(|_| shared.is_some());
            let model = self.fit(setting, manifold, seed, (shared, from))?;
            let row = self.blank(setting, seed, manifold);
            rows.push(self.evaluate(row, &model, shared, started)?);
            start = model.start(&self.problem.train)?;
        }
        Ok(rows)
    }

    fn fit(
        &self,
        setting: GridGraph,
        manifold: f64,
        seed: u64,
        (shared, start): (Option<&Shared>, Option<Start<f32>>),
    ) -> Result<Model<f32>> {
        let method = &self.plan.method;
        let boxes = knobs::Grid::new(&method.box_constraints).ok_or_else(|| {
            let name = "box_constraints".to_owned();
            let (got, allowed) =
                (format!("{:?}", method.box_constraints), "one to 16 numbers".into());
            Error::Fit(ssdl::Error::Knob { name, got, allowed })
        })?;
        let learner = GraphSc {
            graph: self.knobs(setting),
            svm: SvmKnobs { box_constraints: boxes, folds: method.folds, ..SvmKnobs::new() },
            ..GraphSc::new()
        };
        let learner = learner.n_atoms(method.n_atoms).sparsity(method.sparsity);
        let learner = learner.manifold(manifold).halve_new(method.halve_new);
        let graph = shared.map(|shared| shared.graph.clone() as _);
        // The samples of a column are prepared only once.
        let options =
            FitOptions { seed, prepare: Vec::new(), graph, start, ..FitOptions::default() };
        let samples = Samples::new(self.problem.train.clone(), self.problem.labels.clone())?;
        Ok(learner.fit_with(samples, &options, &mut Silent)?)
    }

    /// Counts the errors on the test samples.
    fn evaluate(
        &self,
        blank: Row,
        model: &Model<f32>,
        shared: Option<&Shared>,
        started: Instant,
    ) -> Result<Row> {
        let seen = match shared.and_then(|shared| shared.test.get()) {
            Some(test) => model.see_again(test)?,
            None => model.see(self.problem.test.clone())?,
        };
        let found = model.judge(&seen)?.classes;
        // The first fit computes what the others reuse.
        if let Some(shared) = shared {
            let _ = shared.test.set(seen);
        }
        let truth = &self.problem.test_classes;
        let wrong = found.iter().zip(truth).filter(|(found, class)| found != class).count();
        let (report, codes) = (model.report(), model.codes());
        let right = report.selection.and_then(|chosen| chosen.accuracy).unwrap_or(0.0);
        let non_zeros = codes.as_slice().iter().filter(|a| **a != 0.0).count();
        Ok(Row {
            box_constraint: report.selection.map_or(0.0, |chosen| chosen.box_constraint),
            validation_error: round(100.0 * (1.0 - right), 4),
            test_error: round(100.0 * wrong as f64 / truth.len() as f64, 4),
            objective: round(report.objective.total(), 2),
            iterations: report.iterations,
            non_zeros: round(non_zeros as f64 / codes.columns() as f64, 2),
            seconds: round(started.elapsed().as_secs_f64(), 3),
            ..blank
        })
    }
}
