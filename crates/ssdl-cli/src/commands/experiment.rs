//! `ssdl experiment`: a plan of fits, its rows, and its tables beside the paper's.

use std::io::IsTerminal;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use serde_json::json;
use ssdl::threads;
use ssdl_experiments::graphs::{self, KNOWN, Plan, Rows, Scope, Watch};

use crate::args::{Common, Experiment};
use crate::failure::{Failure, Outcome};
use crate::{cancel, print};

/// Runs the command.
pub fn run(args: &Experiment, common: &Common) -> Outcome {
    let plan = plan(&args.name)?;
    let scope = if args.quick { Scope::Quick } else { Scope::Full };
    let rows = Rows::open(&out(args))?;
    let started = Instant::now();
    if !args.tables {
        let folder = data(args)?;
        cancel::listen(common.quiet);
        let onlooker = Onlooker::new(common.quiet);
        let done = threads::run(common.threads.into(), || {
            graphs::run(&plan, scope, &folder, &rows, &onlooker)
        });
        onlooker.finish();
        done?;
    }
    let all = rows.all();
    let tables = graphs::report(&plan, &all);
    if common.json {
        print::json(&json!({
            "title": plan.title,
            "rows": rows.path().display().to_string(),
            "n_rows": all.len(),
            "seconds": started.elapsed().as_secs_f64(),
            "tables": tables,
        }))
    } else {
        let path = rows.path().display();
        let count = all.len();
        print::to_stdout(&format!("## {}\n\n{tables}{count} rows in {path}\n", plan.title))
    }
}

/// A plan by name, or a file.
fn plan(name: &str) -> Outcome<Plan> {
    if let Some(plan) = Plan::known(name) {
        return Ok(plan);
    }
    let path = Path::new(name);
    if path.extension().is_none() && !path.exists() {
        let known: Vec<&str> = KNOWN.iter().map(|(name, _)| *name).collect();
        return Err(Failure::Misuse(format!(
            "unknown experiment `{name}`; known: {}, or a file that ends in .toml",
            known.join(", ")
        )));
    }
    Ok(Plan::read(path)?)
}

fn data(args: &Experiment) -> Outcome<PathBuf> {
    args.data.clone().or_else(|| std::env::var_os("SSDL_DATA").map(PathBuf::from)).ok_or_else(
        || {
            Failure::Misuse(
                "where are the data sets? Give --data FOLDER or set the variable SSDL_DATA".into(),
            )
        },
    )
}

fn out(args: &Experiment) -> PathBuf {
    args.out.clone().unwrap_or_else(|| {
        let stem = Path::new(&args.name).file_stem().unwrap_or_default().to_string_lossy();
        let quick = if args.quick { "-quick" } else { "" };
        PathBuf::from("results").join(format!("{stem}{quick}.csv"))
    })
}

/// A bar with the time left on a terminal, a line now and then in a pipe.
enum Onlooker {
    Bar(ProgressBar),
    Lines(std::sync::Mutex<Instant>),
    Nothing,
}

impl Onlooker {
    fn new(quiet: bool) -> Self {
        if quiet {
            return Self::Nothing;
        }
        if !std::io::stderr().is_terminal() {
            return Self::Lines(std::sync::Mutex::new(Instant::now()));
        }
        let bar = ProgressBar::with_draw_target(None, ProgressDrawTarget::stderr());
        let template = "{spinner} [{bar:20}] {pos}/{len} fits {wide_msg} {elapsed}, {eta} left";
        if let Ok(style) = ProgressStyle::with_template(template) {
            bar.set_style(style.progress_chars("=> "));
        }
        bar.enable_steady_tick(Duration::from_millis(200));
        Self::Bar(bar)
    }

    fn finish(&self) {
        if let Self::Bar(bar) = self {
            bar.finish_and_clear();
        }
    }
}

impl Watch for Onlooker {
    fn done(&self, fits: usize, of: usize, column: &str) {
        match self {
            Self::Bar(bar) => {
                bar.set_length(of as u64);
                bar.set_position(fits as u64);
                bar.set_message(column.to_owned());
            }
            Self::Lines(last) => {
                let Ok(mut last) = last.lock() else { return };
                if last.elapsed() > Duration::from_secs(20) || fits == of {
                    print::to_stderr(&format!("{fits} of {of} fits, {column}"));
                    *last = Instant::now();
                }
            }
            Self::Nothing => {}
        }
    }

    fn stop(&self) -> bool {
        cancel::asked()
    }
}
