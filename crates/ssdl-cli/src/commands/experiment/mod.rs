//! `ssdl experiment`: runs a plan of fits, or all of them, and compares their tables with the paper's.

mod all;
mod data;
mod one;

use std::path::{Path, PathBuf};
use std::time::Instant;

use serde_json::json;
use ssdl_experiments::AnyPlan;
use ssdl_experiments::comparison::{self, Choice, Plan};

use crate::args::{Common, Experiment};
use crate::failure::{Failure, Outcome};
use crate::{output, pages, print};
use one::Job;

/// The name that stands for every plan that comes with the program.
pub const ALL: &str = "all";

/// Runs the command.
pub fn run(args: &Experiment, common: &Common) -> Outcome {
    if args.name == ALL {
        return all::run(args, common);
    }
    let plan = AnyPlan::find(&args.name)?;
    let started = Instant::now();
    let job = Job {
        name: &args.name,
        plan: if args.quick { plan.quick() } else { plan },
        rows: rows_path(args, &args.name, Path::new("results")),
        choice: choice(args, common),
        missing: Vec::new(),
    };
    check_paths(args, &job)?;
    match &job.plan {
        AnyPlan::Graphs(_) => refuse_comparison_options(args)?,
        AnyPlan::Comparison(plan) => {
            job.choice.check(plan)?;
            if let Some(folder) = &args.splits {
                return write_splits(plan, &job, args, folder, common);
            }
        }
    }
    let ran = one::run(&job, args, common)?;
    if let Some((report, page)) = args.report.as_ref().zip(ran.page) {
        pages::write(report, &page)?;
    }
    let (title, path) = (job.plan.title(), job.rows.display());
    if common.json {
        print::json(&json!({
            "title": title,
            "rows": path.to_string(),
            "n_rows": ran.n_rows,
            "quick": args.quick,
            "seconds": started.elapsed().as_secs_f64(),
            "tables": ran.tables,
            "report": args.report.as_ref().map(|path| path.display().to_string()),
        }))
    } else if args.brief {
        print::to_stdout(ran.tables.trim_end())
    } else {
        let (tables, n_rows) = (ran.tables, ran.n_rows);
        let small = if args.quick { SMALL } else { "" };
        print::to_stdout(&format!("## {title}\n\n{small}{tables}{n_rows} rows in {path}\n"))
    }
}

/// What stands above the tables of a small version.
const SMALL: &str = "The small version of the plan (--quick): too few fits to rely on.\n\n";

/// The options that choose a part of a comparison.
fn choice(args: &Experiment, common: &Common) -> Choice {
    Choice {
        seeds: args.seeds.clone().map(|seeds| seeds.collect()).unwrap_or_default(),
        methods: args.methods.clone(),
        threads: common.threads.into(),
        again: args.again,
    }
}

/// Where the rows of a plan are: full and small versions never share a file.
fn rows_path(args: &Experiment, name: &str, folder: &Path) -> PathBuf {
    args.out.clone().unwrap_or_else(|| folder.join(rows_name(name, args.quick)))
}

fn rows_name(name: &str, quick: bool) -> String {
    let stem = Path::new(name).file_stem().unwrap_or_default().to_string_lossy();
    format!("{stem}{}.csv", if quick { "-quick" } else { "" })
}

/// Writes the index lists of a comparison, and runs nothing.
fn write_splits(
    plan: &Plan,
    job: &Job<'_>,
    args: &Experiment,
    folder: &Path,
    common: &Common,
) -> Outcome {
    let data = data::folder(args)?;
    let count = comparison::write_splits(plan, &job.choice, &data, folder)
        .map_err(|error| data::with_remedy(error, &job.plan, &data))?;
    let place = folder.display();
    if common.json {
        return print::json(&json!({ "splits": place.to_string(), "n_files": count }));
    }
    let files = if count == 1 { "file" } else { "files" };
    print::to_stdout(&format!("{count} {files} of index lists in {place}"))
}

/// Refuses outputs that are files of the plan; the rows are read and added to.
fn check_paths(args: &Experiment, job: &Job<'_>) -> Outcome {
    let folder = args.data.clone().or_else(|| super::data::folder().ok()).unwrap_or_default();
    let mut inputs = job.plan.files(&folder);
    inputs.push(PathBuf::from(job.name));
    let mut inputs: Vec<&Path> = inputs.iter().map(PathBuf::as_path).collect();
    let lists = match (&job.plan, &args.splits) {
        (AnyPlan::Comparison(plan), Some(folder)) => comparison::split_files(plan, folder),
        _ => Vec::new(),
    };
    // Their folders may be made later.
    for output in lists.iter().map(PathBuf::as_path).chain([job.rows.as_path()]) {
        if let Some(input) = inputs.iter().find(|input| ssdl::files::same(output, input)) {
            return Err(Failure::Misuse(format!(
                "{}: is an input file and would be replaced; choose another name",
                input.display()
            )));
        }
    }
    inputs.push(&job.rows);
    output::check(&[args.report.as_deref()], &inputs)
}

fn refuse_comparison_options(args: &Experiment) -> Outcome {
    let asked = args.seeds.is_some() || !args.methods.is_empty() || args.splits.is_some();
    if asked || args.again {
        return Err(Failure::Misuse(
            "--seeds, --methods, --again and --splits are for comparisons of methods; this plan \
             compares graphs"
                .into(),
        ));
    }
    Ok(())
}
