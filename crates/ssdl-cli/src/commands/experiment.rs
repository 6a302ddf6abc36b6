//! `ssdl experiment`: runs a plan of fits and compares its tables with the paper's.

use std::path::{Path, PathBuf};
use std::time::Instant;

use serde_json::json;
use ssdl::threads;
use ssdl_experiments::comparison::{self, Choice, Plan};
use ssdl_experiments::graphs::{self, Scope};
use ssdl_experiments::{AnyPlan, Example, Record, RowFile};
use ssdl_report::{Judged, Page, Subject};

use crate::args::{Common, Experiment};
use crate::failure::{Failure, Outcome};
use crate::progress::FitCounter;
use crate::{cancel, output, pages, print};

/// Runs the command.
pub fn run(args: &Experiment, common: &Common) -> Outcome {
    let plan = AnyPlan::find(&args.name)?;
    let started = Instant::now();
    let path = rows_path(args);
    check_paths(args, &plan, &path)?;
    let mut page = pages::new_page(plan.title().to_owned(), String::new());
    let (tables, count) = match &plan {
        AnyPlan::Graphs(plan) => {
            refuse_comparison_options(args)?;
            let scope = if args.quick { Scope::Quick } else { Scope::Full };
            let rows = open(args, common, &path)?;
            run_fits(args, common, |folder, counter| {
                graphs::run(plan, scope, folder, &rows, counter)
            })?;
            let shown = rows.all();
            page.tables = graphs::tables(plan, &shown);
            page.about_tables =
                "Errors in per cent; the smaller of ours and the paper's is marked.".into();
            let threads = common.threads.into();
            add_model(&mut page, args, common, |folder| graphs::example(plan, threads, folder))?;
            (graphs::report(plan, &shown), shown.len())
        }
        AnyPlan::Comparison(plan) => {
            if args.quick {
                return Err(Failure::Misuse(
                    "this plan has no small grid; use --seeds and --methods instead of --quick"
                        .into(),
                ));
            }
            let choice = Choice {
                seeds: args.seeds.clone().map(|seeds| seeds.collect()).unwrap_or_default(),
                methods: args.methods.clone(),
                threads: common.threads.into(),
                again: args.again,
            };
            choice.check(plan)?;
            if let Some(folder) = &args.splits {
                return write_splits(plan, &choice, args, folder, common);
            }
            let contenders = comparison::contenders(plan)?;
            let rows = open(args, common, &path)?;
            run_fits(args, common, |folder, counter| {
                comparison::run(plan, &choice, folder, &rows, counter)
            })?;
            let mut shown = rows.all();
            shown.retain(|row| choice.wants(&row.run, &row.method));
            page.tables = comparison::tables(plan, &shown, &contenders);
            page.curves = comparison::curves(plan, &shown);
            page.about_tables =
                "Accuracy in per cent; the better of ours and the paper's is marked.".into();
            add_model(&mut page, args, common, |folder| {
                comparison::example(plan, &choice, folder)
            })?;
            let make = if args.brief { comparison::overview } else { comparison::report };
            (make(plan, &shown, &contenders), rows.all().len())
        }
    };
    if let Some(report) = &args.report {
        page.lead = format!("{count} fits; the rows are in {}.", pages::name_of(&path));
        pages::write(report, &page)?;
    }
    if common.json {
        print::json(&json!({
            "title": plan.title(),
            "rows": path.display().to_string(),
            "n_rows": count,
            "seconds": started.elapsed().as_secs_f64(),
            "tables": tables,
            "report": args.report.as_ref().map(|path| path.display().to_string()),
        }))
    } else if args.brief {
        print::to_stdout(tables.trim_end())
    } else {
        let path = path.display();
        print::to_stdout(&format!("## {}\n\n{tables}{count} rows in {path}\n", plan.title()))
    }
}

/// Writes the index lists of a comparison, and runs nothing.
fn write_splits(
    plan: &Plan,
    choice: &Choice,
    args: &Experiment,
    folder: &Path,
    common: &Common,
) -> Outcome {
    let data = data_folder(args)?;
    let count = comparison::write_splits(plan, choice, &data, folder)
        .map_err(|error| with_download_hint(error, &data))?;
    let place = folder.display();
    if common.json {
        return print::json(&json!({ "splits": place.to_string(), "n_files": count }));
    }
    let files = if count == 1 { "file" } else { "files" };
    print::to_stdout(&format!("{count} {files} of index lists in {place}"))
}

/// Refuses outputs that are files of the plan; the rows are read and added to.
fn check_paths(args: &Experiment, plan: &AnyPlan, rows: &Path) -> Outcome {
    let folder = args.data.clone().or_else(|| super::data::folder().ok()).unwrap_or_default();
    let mut inputs = plan.files(&folder);
    inputs.push(PathBuf::from(&args.name));
    let mut inputs: Vec<&Path> = inputs.iter().map(PathBuf::as_path).collect();
    let lists = match (plan, &args.splits) {
        (AnyPlan::Comparison(plan), Some(folder)) => comparison::split_files(plan, folder),
        _ => Vec::new(),
    };
    // Their folders may be made later.
    for output in lists.iter().map(PathBuf::as_path).chain([rows]) {
        if let Some(input) = inputs.iter().find(|input| ssdl::files::same(output, input)) {
            return Err(Failure::Misuse(format!(
                "{}: is an input file and would be replaced; choose another name",
                input.display()
            )));
        }
    }
    inputs.push(rows);
    output::check(&[args.report.as_deref()], &inputs)
}

/// The rows, to be added to unless only tables are requested.
fn open<R: Record>(args: &Experiment, common: &Common, path: &Path) -> Outcome<RowFile<R>> {
    let rows = if args.tables { RowFile::read(path)? } else { RowFile::open(path)? };
    if let Some(note) = rows.note().filter(|_| !common.quiet) {
        print::to_stderr(&format!("note: {}: {note}", path.display()));
    }
    Ok(rows)
}

/// Adds one model of the plan in detail, if a report is requested.
fn add_model(
    page: &mut Page,
    args: &Experiment,
    common: &Common,
    example: impl FnOnce(&Path) -> ssdl_experiments::Result<Option<Example>>,
) -> Outcome {
    if args.report.is_none() {
        return Ok(());
    }
    if args.tables {
        page.missing
            .push("The model in detail is missing: it needs a fit, and --tables runs none.".into());
        return Ok(());
    }
    let folder = data_folder(args)?;
    let Some(example) = example(&folder).map_err(|error| with_download_hint(error, &folder))?
    else {
        return Ok(());
    };
    let model = &example.model;
    let (seen, prediction) = pages::see(model, example.test.clone(), common.threads.into(), None)?;
    let subject = Subject {
        model,
        training: Some(&example.training),
        training_names: None,
        feature_names: None,
        judged: Judged::Others {
            raw: &example.test,
            seen: &seen,
            prediction: &prediction,
            truth: &example.truth,
            names: None,
        },
    };
    page.look = Some(pages::look(&subject, common.threads.into())?);
    page.look_name = Some(example.name);
    Ok(())
}

/// Runs the fits, unless only tables are requested.
fn run_fits(
    args: &Experiment,
    common: &Common,
    fits: impl FnOnce(&Path, &FitCounter) -> ssdl_experiments::Result<()> + Send,
) -> Outcome {
    if args.tables {
        return Ok(());
    }
    let folder = data_folder(args)?;
    cancel::listen(common.quiet);
    let counter = FitCounter::new(common.quiet);
    let done = threads::run(common.threads.into(), || fits(&folder, &counter));
    counter.finish();
    done.map_err(|error| with_download_hint(error, &folder))
}

fn refuse_comparison_options(args: &Experiment) -> Outcome {
    let asked = args.seeds.is_some() || !args.methods.is_empty() || args.splits.is_some();
    if asked || args.again || args.brief {
        return Err(Failure::Misuse(
            "--seeds, --methods, --again, --splits and --brief are for comparisons of methods; this \
             plan compares graphs"
                .into(),
        ));
    }
    Ok(())
}

fn data_folder(args: &Experiment) -> Outcome<PathBuf> {
    match &args.data {
        Some(folder) => Ok(folder.clone()),
        None => super::data::folder(),
    }
}

/// For a missing file of a known data set, names the command that downloads it.
fn with_download_hint(error: ssdl_experiments::Error, folder: &Path) -> Failure {
    use ssdl_data::Error::Read;
    use ssdl_experiments::Error::Data;
    let Data(Read { path, source }) = &error else { return error.into() };
    let name = path.strip_prefix(folder).ok().and_then(Path::to_str).map(|p| p.replace('\\', "/"));
    let owner = name.as_deref().and_then(ssdl_data::known::owner_of);
    match owner.filter(|_| source.kind() == std::io::ErrorKind::NotFound) {
        Some(set) => Failure::Failed(format!(
            "{}: missing; get it with `ssdl data get {}`, or name its folder with --data",
            path.display(),
            set.name
        )),
        None => error.into(),
    }
}

fn rows_path(args: &Experiment) -> PathBuf {
    args.out.clone().unwrap_or_else(|| {
        let stem = Path::new(&args.name).file_stem().unwrap_or_default().to_string_lossy();
        let quick = if args.quick { "-quick" } else { "" };
        PathBuf::from("results").join(format!("{stem}{quick}.csv"))
    })
}
