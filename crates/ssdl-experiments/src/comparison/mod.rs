//! Methods on splits of data sets: one row per fit, tables compared with the paper's.

mod data;
mod outside;
mod plan;
mod quick;
mod row;
mod summary;
mod table;
mod task;

pub use outside::{
    Known, Outside, Outsider, PROGRAM_OF_NETS, Question, find as outsider, without_rows,
};
pub use plan::{Contenders, Data, Paper, Plan, Run, Split};
pub use quick::Quick;
pub use row::Row;
pub use table::{curves, overview, report, tables};

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use data::Loaded;
use ssdl::samples::split::Split as Parts;
use task::Task;

use crate::rows::RowFile;
use crate::{Error, Example, Monitor, Result};

/// Which part of a plan is run, and how.
#[derive(Clone, Debug, Default)]
pub struct Choice {
    /// Seeds; all, if empty.
    pub seeds: Vec<u64>,
    /// Runs or methods by name; all, if empty.
    pub methods: Vec<String>,
    /// Threads of a fit; 0 is one per core.
    pub threads: usize,
    /// Whether rows that exist are run again.
    pub again: bool,
}

/// Runs the fits of a plan that have no rows yet, on the data in a folder.
///
/// # Errors
/// If the data cannot be read, a fit fails, or the monitor stops it.
pub fn run(
    plan: &Plan,
    choice: &Choice,
    folder: &Path,
    rows: &RowFile<Row>,
    monitor: &dyn Monitor,
) -> Result<()> {
    run_with(None, plan, choice, folder, rows, monitor)
}

/// Runs the fits of a plan whose methods are another program's, by its own means.
///
/// # Errors
/// As [`run`], and if a run asks for what the program does not know.
pub fn run_outside(
    outside: &dyn Outside,
    plan: &Plan,
    choice: &Choice,
    folder: &Path,
    rows: &RowFile<Row>,
    monitor: &dyn Monitor,
) -> Result<()> {
    for run in plan.run.iter().filter(|run| run.outsider().is_some() && is_wanted(choice, run)) {
        outside
            .check(&run.method, &run.knobs())
            .map_err(|reason| Error::Outside { name: run.name.clone(), reason })?;
    }
    run_with(Some(outside), plan, choice, folder, rows, monitor)
}

fn run_with(
    outside: Option<&dyn Outside>,
    plan: &Plan,
    choice: &Choice,
    folder: &Path,
    rows: &RowFile<Row>,
    monitor: &dyn Monitor,
) -> Result<()> {
    choice.check(plan)?;
    rows.check_version()?;
    let is_wanted = |choice: &Choice, run: &Run| {
        is_wanted(choice, run) && run.outsider().is_some() == outside.is_some()
    };
    if outside.is_none() {
        outside::refuse_alone(plan, choice)?;
    }
    let total = count_fits(plan, choice, outside.is_some())?;
    let mut done = 0;
    for data in &plan.data {
        if plan.runs_of(data).all(|run| !is_wanted(choice, run)) {
            continue;
        }
        let loaded = Loaded::read(data, folder)?;
        let splits: Vec<(&Split, Vec<(u64, Parts)>)> = plan
            .splits_of(data)
            .map(|split| Ok((split, loaded.parts(split)?)))
            .collect::<Result<_>>()?;
        let mut tasks = Vec::new();
        for (split, drawn) in &splits {
            let seeds = drawn.iter().filter(|(seed, _)| is_chosen(&choice.seeds, seed));
            for (seed, parts) in seeds {
                let runs = plan.runs_of(data).filter(|run| is_wanted(choice, run));
                tasks.extend(runs.map(|run| Task { data, split, run, seed: *seed, parts }));
            }
        }
        for task in tasks {
            done += 1;
            let Task { data, split, run, seed, .. } = &task;
            let current = format!("{}, {}, {}, seed {seed}", data.name, split.name, run.name);
            monitor.done(done, total, &current);
            let blank = task.blank();
            if !choice.again && rows.has_all(std::slice::from_ref(&blank)) {
                continue;
            }
            if monitor.stop() {
                return Err(Error::Interrupted { path: rows.path().to_owned() });
            }
            let row = match outside {
                Some(outside) => task.ask(outside, blank, &loaded, choice)?,
                None => task.fit(blank, &loaded, choice)?,
            };
            rows.add(&[row])?;
        }
    }
    Ok(())
}

/// The rows of the contenders of a plan on its draws, in the order of their file; none if the plan has
/// no contenders or the file does not exist (relative to the current folder, as rows are).
///
/// # Errors
/// If the file holds something else, or a contender has the name of a run.
pub fn contenders(plan: &Plan) -> Result<Vec<Row>> {
    let path = plan.contenders.as_ref().map(|contenders| Path::new(&contenders.file));
    let Some(path) = path.filter(|path| path.exists()) else { return Ok(Vec::new()) };
    let mut rows: Vec<Row> = crate::rows::read(path)?;
    let mut drawn: HashMap<(&str, &str), Vec<u64>> = HashMap::new();
    for data in &plan.data {
        for split in plan.splits_of(data) {
            drawn.insert((&data.name, &split.name), data::seeds(split)?);
        }
    }
    rows.retain(|row| {
        let seeds = drawn.get(&(row.data.as_str(), row.split.as_str()));
        seeds.is_some_and(|seeds| seeds.contains(&row.seed))
    });
    let own = |row: &&Row| plan.run.iter().any(|run| run.name == row.run);
    match rows.iter().find(own) {
        None => Ok(rows),
        Some(row) => Err(Error::Plan {
            path: path.to_owned(),
            reason: format!("contender `{}` has the name of a [[run]]; rename one", row.run),
        }),
    }
}

/// Writes the index lists of every data set and split into a folder, a JSON file each, for programs
/// that are to be compared on the same draws; returns how many. A plan reads such a file, too.
///
/// # Errors
/// If the data cannot be read, a split cannot be drawn, or a file cannot be written.
pub fn write_splits(plan: &Plan, choice: &Choice, data: &Path, folder: &Path) -> Result<usize> {
    std::fs::create_dir_all(folder).map_err(Error::io(folder))?;
    let mut count = 0;
    for set in &plan.data {
        let loaded = Loaded::read(set, data)?;
        for (at, split) in plan.splits_of(set).enumerate() {
            let mut drawn = loaded.parts(split)?;
            drawn.retain(|(seed, _)| is_chosen(&choice.seeds, seed));
            data::write_lists(&list_file(folder, set, at), set, split, drawn)?;
            count += 1;
        }
    }
    Ok(count)
}

/// The files that [`write_splits`] would write into this folder.
pub fn split_files(plan: &Plan, folder: &Path) -> Vec<PathBuf> {
    let of = |set| (0..plan.splits_of(set).count()).map(move |at| list_file(folder, set, at));
    plan.data.iter().flat_map(of).collect()
}

/// The file of the split at this place among those of a data set.
fn list_file(folder: &Path, set: &Data, at: usize) -> PathBuf {
    folder.join(format!("{}-{at}.json", set.name.replace(['/', '\\', ' '], "-")))
}

/// Fits the first chosen run, on its first data set and the split with most unlabelled samples, to
/// be shown in detail.
///
/// # Errors
/// If the data cannot be read or the fit fails.
pub fn example(plan: &Plan, choice: &Choice, folder: &Path) -> Result<Option<Example>> {
    choice.check(plan)?;
    for data in &plan.data {
        let mut own = plan.runs_of(data).filter(|run| run.outsider().is_none());
        let Some(run) = own.find(|run| is_wanted(choice, run)) else { continue };
        let loaded = Loaded::read(data, folder)?;
        let mut tasks = Vec::new();
        for split in plan.splits_of(data) {
            let mut drawn = loaded.parts(split)?.into_iter();
            let first = drawn.find(|(seed, _)| is_chosen(&choice.seeds, seed));
            tasks.extend(first.map(|(seed, parts)| (split, seed, parts)));
        }
        // On ties, the first.
        let most = tasks.iter().rev().max_by_key(|(_, _, parts)| parts.unlabelled.len());
        if let Some((split, seed, parts)) = most {
            let task = Task { data, split, run, seed: *seed, parts };
            return task.example(&loaded, choice).map(Some);
        }
    }
    Ok(None)
}

/// Number of all chosen fits of the plan, including those already done.
fn count_fits(plan: &Plan, choice: &Choice, outside: bool) -> Result<usize> {
    let mut total = 0;
    for data in &plan.data {
        let runs = plan.runs_of(data).filter(|run| run.outsider().is_some() == outside);
        let runs = runs.filter(|run| is_wanted(choice, run)).count();
        for split in plan.splits_of(data) {
            let seeds = data::seeds(split)?;
            total += runs * seeds.iter().filter(|seed| is_chosen(&choice.seeds, seed)).count();
        }
    }
    Ok(total)
}

fn is_chosen(chosen: &[u64], seed: &u64) -> bool {
    chosen.is_empty() || chosen.contains(seed)
}

fn is_wanted(choice: &Choice, run: &Run) -> bool {
    choice.wants(&run.name, &run.method)
}

impl Choice {
    /// Refuses names that the plan does not have.
    ///
    /// # Errors
    /// If there is one; the error lists the runs.
    pub fn check(&self, plan: &Plan) -> Result<()> {
        let is_known =
            |name: &str| plan.run.iter().any(|run| run.name == name || run.method == name);
        match self.methods.iter().find(|name| !is_known(name)) {
            None => Ok(()),
            Some(got) => {
                let known: Vec<&str> = plan.run.iter().map(|run| run.name.as_str()).collect();
                let (what, got) = ("run or method of this plan", got.clone());
                Err(Error::Fit(ssdl::Error::Unknown { what, got, known: known.join(", ") }))
            }
        }
    }

    /// Whether a run of this name and method is chosen.
    #[must_use]
    pub fn wants(&self, run: &str, method: &str) -> bool {
        self.methods.is_empty() || self.methods.iter().any(|name| name == run || name == method)
    }
}
