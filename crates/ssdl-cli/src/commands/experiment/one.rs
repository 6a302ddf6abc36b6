//! One plan: its fits, its tables and its page.

use std::path::{Path, PathBuf};

use ssdl::threads;
use ssdl_experiments::comparison::{self, Choice};
use ssdl_experiments::{AnyPlan, Example, KNOWN, Record, RowFile, graphs};
use ssdl_report::{Fact, Judged, Page, Subject, counted};

use super::data::{self, Missing};
use super::rows_name;
use crate::args::{Common, Experiment};
use crate::failure::Outcome;
use crate::progress::FitCounter;
use crate::{cancel, pages, print};

/// A plan, and what it is run with.
pub struct Job<'a> {
    /// Its name, or its file.
    pub name: &'a str,
    /// What is run of it.
    pub plan: AnyPlan,
    /// Where its rows are.
    pub rows: PathBuf,
    /// Which part of a comparison is run.
    pub choice: Choice,
    /// Data sets of the plan that are left out because they are not there.
    pub missing: Vec<Missing>,
}

/// What came of it.
pub struct Ran {
    /// The tables as Markdown.
    pub tables: String,
    /// Rows in the file.
    pub n_rows: usize,
    /// Seconds that all fits of these rows took.
    pub fit_seconds: f64,
    /// The page, if one was requested.
    pub page: Option<Page>,
}

/// Runs the fits that have no rows yet, unless only tables are requested, and shows all rows.
pub fn run(job: &Job<'_>, args: &Experiment, common: &Common) -> Outcome<Ran> {
    let mut page = pages::new_page(job.plan.title().to_owned(), String::new());
    let mut ran = match &job.plan {
        AnyPlan::Graphs(plan) => of_graphs(plan, job, args, common, &mut page)?,
        AnyPlan::Comparison(plan) => of_methods(plan, job, args, common, &mut page)?,
    };
    if args.report.is_some() {
        describe(&mut page, job, args, &ran);
        ran.page = Some(page);
    }
    Ok(ran)
}

fn of_graphs(
    plan: &graphs::Plan,
    job: &Job<'_>,
    args: &Experiment,
    common: &Common,
    page: &mut Page,
) -> Outcome<Ran> {
    let rows = open(args, common, &job.rows)?;
    run_fits(job, args, common, |folder, counter| graphs::run(plan, folder, &rows, counter))?;
    let shown = rows.all();
    page.tables = graphs::tables(plan, &shown);
    page.about_tables = "Errors in per cent; the smaller of ours and the paper's is marked.".into();
    let threads = common.threads.into();
    add_model(page, job, args, common, |folder| graphs::example(plan, threads, folder))?;
    let make = if is_brief(args) { graphs::overview } else { graphs::report };
    Ok(Ran {
        tables: make(plan, &shown),
        n_rows: shown.len(),
        fit_seconds: shown.iter().map(|row| row.seconds).sum(),
        page: None,
    })
}

fn of_methods(
    plan: &comparison::Plan,
    job: &Job<'_>,
    args: &Experiment,
    common: &Common,
    page: &mut Page,
) -> Outcome<Ran> {
    let (choice, contenders) = (&job.choice, comparison::contenders(plan)?);
    let rows = open(args, common, &job.rows)?;
    run_fits(job, args, common, |folder, counter| {
        comparison::run(plan, choice, folder, &rows, counter)
    })?;
    let all = rows.all();
    let mut shown = all.clone();
    shown.retain(|row| choice.wants(&row.run, &row.method));
    page.tables = comparison::tables(plan, &shown, &contenders);
    page.curves = comparison::curves(plan, &shown);
    page.about_tables =
        "Accuracy in per cent; the better of ours and the paper's is marked.".into();
    page.missing.extend(other_programs(plan, job, args, &all));
    add_model(page, job, args, common, |folder| comparison::example(plan, choice, folder))?;
    let make = if is_brief(args) { comparison::overview } else { comparison::report };
    Ok(Ran {
        tables: make(plan, &shown, &contenders),
        n_rows: all.len(),
        fit_seconds: all.iter().map(|row| row.fit_seconds + row.predict_seconds).sum(),
        page: None,
    })
}

/// Whether only overviews are printed; those of all plans together are long enough.
fn is_brief(args: &Experiment) -> bool {
    args.brief || args.name == super::ALL
}

/// Says which chosen runs have no rows because another program fits them.
fn other_programs(
    plan: &comparison::Plan,
    job: &Job<'_>,
    args: &Experiment,
    rows: &[comparison::Row],
) -> Option<String> {
    let mut lost = comparison::without_rows(plan, rows);
    lost.retain(|(run, outsider)| job.choice.wants(run, outsider.method));
    let program = lost.first()?.1.program;
    let runs: Vec<&str> = lost.iter().map(|(run, _)| *run).collect();
    let (name, quick) = (job.name, if args.quick { " --quick" } else { "" });
    Some(format!(
        "No rows yet of {}: another program runs them, `{program} experiment {name}{quick}`.",
        runs.join(", ")
    ))
}

/// Adds to the page what was run, on which data, and what is missing.
fn describe(page: &mut Page, job: &Job<'_>, args: &Experiment, ran: &Ran) {
    let rows = pages::name_of(&job.rows);
    let small = match args.quick {
        true => " A small version of the plan (--quick): too few fits to rely on.",
        false => "",
    };
    page.lead = format!("{} fits; the rows are in {rows}.{small}", ran.n_rows);
    for Missing { name, remedy, .. } in &job.missing {
        page.missing.push(format!("{name} is missing: {remedy}, then run it again."));
    }
    let quick = if args.quick { " --quick" } else { "" };
    if args.name == super::ALL {
        let alone = format!("ssdl experiment {}{quick} --data DATA", job.name);
        page.facts.push(Fact::new("this plan alone", alone));
    }
    if KNOWN.iter().any(|(name, _)| *name == job.name) {
        page.facts.push(Fact::new("plan", format!("experiments/{}.toml", job.name)));
    }
    for need in job.plan.needs() {
        let files = need.files.join(", ");
        let text = match data::source(&need) {
            Some(source) => format!("{files} ({source})"),
            None => files,
        };
        page.facts.push(Fact::new(format!("data, {}", need.name), text));
    }
    page.facts.push(Fact::new("rows", job.rows.display().to_string()));
    page.facts.push(Fact::new("seconds of all fits", format!("{:.1}", ran.fit_seconds)));
    if args.quick {
        let full = rows_name(job.name, false);
        let text = format!("as [quick] in the plan says; its rows never go into {full}");
        page.facts.push(Fact::new("small version", text));
    }
}

/// A sentence for an index: how many fits, of which data, in which time.
pub fn summary(job: &Job<'_>, ran: &Ran) -> String {
    let data: Vec<String> = job.plan.needs().into_iter().map(|need| need.name).collect();
    format!(
        "{} in {:.0} s; {}.",
        counted(ran.n_rows, "fit", "fits"),
        ran.fit_seconds,
        data.join(", ")
    )
}

/// The rows, to be added to unless only tables are requested.
fn open<R: Record>(args: &Experiment, common: &Common, path: &Path) -> Outcome<RowFile<R>> {
    let rows = if args.tables { RowFile::read(path)? } else { RowFile::open(path)? };
    if let Some(note) = rows.note().filter(|_| !common.quiet) {
        print::to_stderr(&format!("note: {}: {note}", path.display()));
    }
    Ok(rows)
}

/// Runs the fits, unless only tables are requested.
fn run_fits(
    job: &Job<'_>,
    args: &Experiment,
    common: &Common,
    fits: impl FnOnce(&Path, &FitCounter) -> ssdl_experiments::Result<()> + Send,
) -> Outcome {
    if args.tables {
        return Ok(());
    }
    let folder = data::folder(args)?;
    cancel::listen(common.quiet);
    let counter = FitCounter::new(common.quiet);
    let done = threads::run(common.threads.into(), || fits(&folder, &counter));
    counter.finish();
    done.map_err(|error| data::with_remedy(error, &job.plan, &folder))
}

/// Adds one model of the plan in detail, if a report is requested.
fn add_model(
    page: &mut Page,
    job: &Job<'_>,
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
    let folder = data::folder(args)?;
    let found = example(&folder).map_err(|error| data::with_remedy(error, &job.plan, &folder))?;
    let Some(example) = found else { return Ok(()) };
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
