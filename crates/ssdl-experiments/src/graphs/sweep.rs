//! All fits of one column.

use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Instant;

use rayon::prelude::*;
use ssdl::Matrix;
use ssdl::classifier::svm::LinearSvm;
use ssdl::classifier::{ActivePoints, best};
use ssdl::codes::Coordinate;
use ssdl::dictionary::Block;
use ssdl::fit::{Fitted, Recipe, Silent, Start, Weights, alternate};
use ssdl::graph::{Anchors, Laplacian};
use ssdl::model::{Pull, code_new};

use super::data::Problem;
use super::plan::{Grid, Plan, Setting};
use super::row::Row;
use crate::numbers::round;
use crate::rows::Rows;
use crate::{Error, Result, Watch};

/// Outer iterations at the most, and the relative change that ends them sooner.
const MAX_ITERATIONS: usize = 20;
const TOLERANCE: f64 = 1e-3;

/// Where this column stands among all fits.
#[derive(Clone, Copy)]
pub struct Place {
    pub before: usize,
    pub total: usize,
}

/// Runs what is missing of a column: first without a graph, then every graph, side by side.
pub fn run(
    plan: &Plan,
    grid: &Grid,
    problem: &Problem,
    rows: &Rows<Row>,
    place: Place,
    watch: &dyn Watch,
) -> Result<()> {
    let sweep = Sweep { plan, grid, problem, rows };
    let name = problem.column.name();
    let done = AtomicUsize::new(place.before);
    let tell = |fits: usize| {
        let now = done.fetch_add(fits, Ordering::Relaxed) + fits;
        watch.done(now, place.total, &name);
    };
    let missing: Vec<Setting> =
        grid.settings().into_iter().filter(|setting| !sweep.is_done(*setting)).collect();
    let per_setting = grid.seeds.len() * grid.knobs.manifold.len();
    tell(per_setting * (grid.settings().len() - missing.len()));
    if missing.is_empty() && sweep.is_done(Setting::None) {
        tell(grid.seeds.len());
        return Ok(());
    }
    let plain: Vec<Start<f32>> =
        grid.seeds.par_iter().map(|&seed| sweep.without_graph(seed)).collect::<Result<_>>()?;
    tell(grid.seeds.len());
    let failed = Mutex::new(None);
    missing.par_iter().with_max_len(1).for_each(|&setting| {
        let stopped = failed.lock().map_or(true, |failed| failed.is_some());
        if stopped || watch.stop() {
            return;
        }
        match sweep.with_graph(setting, &plain) {
            Ok(()) => tell(per_setting),
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
    if watch.stop() {
        return Err(Error::Interrupted { path: rows.path().to_owned() });
    }
    Ok(())
}

struct Sweep<'a> {
    plan: &'a Plan,
    grid: &'a Grid,
    problem: &'a Problem,
    rows: &'a Rows<Row>,
}

/// A graph over the training samples and the ties of the test samples to it.
struct Connection {
    laplacian: Laplacian<f32>,
    anchors: Anchors<f32>,
}

impl Sweep<'_> {
    /// The rows that a setting will have, without their results.
    fn wanted(&self, setting: Setting) -> Vec<Row> {
        let strengths: &[f64] = match setting {
            Setting::None => &[0.0],
            _ => &self.grid.knobs.manifold,
        };
        let mut rows = Vec::new();
        for &seed in &self.grid.seeds {
            rows.extend(strengths.iter().map(|&manifold| self.blank(setting, seed, manifold)));
        }
        rows
    }

    fn is_done(&self, setting: Setting) -> bool {
        self.rows.has_all(&self.wanted(setting))
    }

    fn blank(&self, setting: Setting, seed: u64, manifold: f64) -> Row {
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

    /// The fit without a graph, where all others of this seed start.
    fn without_graph(&self, seed: u64) -> Result<Start<f32>> {
        let started = Instant::now();
        let fitted = self.fit(None, 0.0, seed, None)?;
        if !self.is_done(Setting::None) {
            let row = self.blank(Setting::None, seed, 0.0);
            self.rows.add(&[self.judge(row, &fitted, None, started)?])?;
        }
        Ok(Start { atoms: fitted.atoms, codes: fitted.codes })
    }

    /// One graph: all seeds, each along growing strength.
    fn with_graph(&self, setting: Setting, plain: &[Start<f32>]) -> Result<()> {
        let connection = self.connect(setting)?;
        let chains: Result<Vec<Vec<Row>>> = self
            .grid
            .seeds
            .par_iter()
            .zip(plain)
            .map(|(&seed, start)| self.chain(setting, &connection, seed, start.clone()))
            .collect();
        self.rows.add(&chains?.concat())
    }

    fn connect(&self, setting: Setting) -> Result<Connection> {
        let scale = self.problem.mean_distance / self.grid.knobs.mean_distance;
        let built = setting.knobs(scale).build(&self.problem.train)?;
        let attachment = built.attachment.for_new_samples(self.plan.method.halve_new);
        let anchors = attachment.anchor(&self.problem.train, &self.problem.test)?;
        Ok(Connection { laplacian: built.laplacian, anchors })
    }

    fn chain(
        &self,
        setting: Setting,
        connection: &Connection,
        seed: u64,
        mut start: Start<f32>,
    ) -> Result<Vec<Row>> {
        let mut rows = Vec::new();
        for &manifold in &self.grid.knobs.manifold {
            let started = Instant::now();
            let share = self.plan.method.share;
            let again = if share { None } else { Some(self.connect(setting)?) };
            let connection = again.as_ref().unwrap_or(connection);
            let from = share.then_some(start);
            let fitted = self.fit(Some(&connection.laplacian), manifold, seed, from)?;
            let row = self.blank(setting, seed, manifold);
            rows.push(self.judge(row, &fitted, Some(&connection.anchors), started)?);
            start = Start { atoms: fitted.atoms, codes: fitted.codes };
        }
        Ok(rows)
    }

    fn fit(
        &self,
        laplacian: Option<&Laplacian<f32>>,
        manifold: f64,
        seed: u64,
        start: Option<Start<f32>>,
    ) -> Result<Fitted<f32>> {
        let method = &self.plan.method;
        let recipe = Recipe {
            laplacian,
            coder: &Coordinate { sweeps: 1, inner_sweeps: 4, tolerance: 0.01, direct: false },
            update: &Block { sweeps: 2, tolerance: 1e-3, nonnegative: false },
            active_points: ActivePoints::Majorised,
            weights: Weights {
                sparsity: method.sparsity,
                manifold,
                discrimination: 0.0,
                ridge: 0.0,
            },
            sharpness: 1.0,
            n_atoms: method.n_atoms,
            fill_atoms: true,
            atom_norm: 1.0,
            revive: true,
            max_iterations: MAX_ITERATIONS,
            tolerance: TOLERANCE,
            seed,
            start,
        };
        Ok(alternate(&self.problem.train, &self.problem.labels, &recipe, &mut Silent)?)
    }

    /// Trains the SVM on the codes and counts its errors on the test samples.
    fn judge(
        &self,
        blank: Row,
        fitted: &Fitted<f32>,
        anchors: Option<&Anchors<f32>>,
        started: Instant,
    ) -> Result<Row> {
        let (problem, method) = (self.problem, &self.plan.method);
        let n_classes = problem.labels.classes().len();
        let pull =
            anchors.map(|anchors| Pull { manifold: blank.manifold, anchors, codes: &fitted.codes });
        let codes = code_new(&problem.test, &fitted.atoms, method.sparsity, pull);
        let svm = LinearSvm { seed: blank.seed, ..LinearSvm::default() };
        let (known, classes) = (&fitted.codes, &problem.classes);
        let chosen =
            svm.choose_box(known, classes, n_classes, &method.box_constraints, method.folds)?;
        let trained = svm.fit(known, classes, n_classes, chosen.box_constraint)?;
        let scores: Matrix<f32> = trained.classifier.scores(&codes);
        let found = scores.iter_columns().map(best).zip(&problem.test_classes);
        let wrong = found.filter(|(found, class)| found != *class).count();
        let right = chosen.accuracy.iter().copied().fold(0.0, f64::max);
        let non_zeros = fitted.codes.as_slice().iter().filter(|a| **a != 0.0).count();
        Ok(Row {
            box_constraint: chosen.box_constraint,
            validation_error: round(100.0 * (1.0 - right), 4),
            test_error: round(100.0 * wrong as f64 / problem.test_classes.len() as f64, 4),
            objective: round(fitted.trace.last().map_or(0.0, |row| row.objective.total()), 2),
            iterations: fitted.iterations,
            non_zeros: round(non_zeros as f64 / fitted.codes.columns() as f64, 2),
            seconds: round(started.elapsed().as_secs_f64(), 3),
            ..blank
        })
    }
}
