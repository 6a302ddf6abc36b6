//! `ssdl experiment`: a plan of fits, its rows, and its tables beside the paper's.

use std::io::IsTerminal;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use serde_json::json;
use ssdl::threads;
use ssdl_experiments::comparison::{self, Choice};
use ssdl_experiments::graphs::{self, Scope};
use ssdl_experiments::{Plan, Rows, Watch};

use crate::args::{Common, Experiment};
use crate::failure::{Failure, Outcome};
use crate::{cancel, print};

/// Runs the command.
pub fn run(args: &Experiment, common: &Common) -> Outcome {
    let plan = Plan::find(&args.name)?;
    let started = Instant::now();
    let path = out(args);
    let (tables, count) = match &plan {
        Plan::Graphs(plan) => {
            refuse_of_comparisons(args)?;
            let scope = if args.quick { Scope::Quick } else { Scope::Full };
            let rows = Rows::open(&path)?;
            watched(args, common, |folder, onlooker| {
                graphs::run(plan, scope, folder, &rows, onlooker)
            })?;
            (graphs::report(plan, &rows.all()), rows.all().len())
        }
        Plan::Comparison(plan) => {
            if args.quick {
                return Err(Failure::Misuse(
                    "this plan has no small grid; choose with --seeds and --methods".into(),
                ));
            }
            let choice = Choice {
                seeds: args.seeds.clone().map(|seeds| seeds.collect()).unwrap_or_default(),
                methods: args.methods.clone(),
                threads: common.threads.into(),
                again: args.again,
            };
            let rows = Rows::open(&path)?;
            watched(args, common, |folder, onlooker| {
                comparison::run(plan, &choice, folder, &rows, onlooker)
            })?;
            (comparison::report(plan, &rows.all()), rows.all().len())
        }
    };
    if common.json {
        print::json(&json!({
            "title": plan.title(),
            "rows": path.display().to_string(),
            "n_rows": count,
            "seconds": started.elapsed().as_secs_f64(),
            "tables": tables,
        }))
    } else {
        let path = path.display();
        print::to_stdout(&format!("## {}\n\n{tables}{count} rows in {path}\n", plan.title()))
    }
}

/// Runs the fits, unless only tables are wanted.
fn watched(
    args: &Experiment,
    common: &Common,
    fits: impl FnOnce(&Path, &Onlooker) -> ssdl_experiments::Result<()> + Send,
) -> Outcome {
    if args.tables {
        return Ok(());
    }
    let folder = data(args)?;
    cancel::listen(common.quiet);
    let onlooker = Onlooker::new(common.quiet);
    let done = threads::run(common.threads.into(), || fits(&folder, &onlooker));
    onlooker.finish();
    Ok(done?)
}

fn refuse_of_comparisons(args: &Experiment) -> Outcome {
    if args.seeds.is_some() || !args.methods.is_empty() || args.again {
        return Err(Failure::Misuse(
            "--seeds, --methods and --again are for comparisons of methods; this plan compares \
             graphs over its grid"
                .into(),
        ));
    }
    Ok(())
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
pub enum Onlooker {
    Bar(ProgressBar),
    Lines(std::sync::Mutex<Instant>),
    Nothing,
}

impl Onlooker {
    /// Chooses the view by where stderr goes.
    pub fn new(quiet: bool) -> Self {
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

    /// Clears the bar.
    pub fn finish(&self) {
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
