//! `ssdl experiment all`: every plan that comes with the program, and a page for each.

use std::path::{Path, PathBuf};
use std::time::Instant;

use serde_json::{Value, json};
use ssdl_experiments::{AnyPlan, KNOWN};
use ssdl_report::{Entry, Link, Page, counted};

use super::data::{self, Missing};
use super::one::{self, Job, Ran};
use super::{SMALL, choice, rows_name};
use crate::args::{Common, Experiment};
use crate::failure::{Failure, Outcome};
use crate::{cancel, output, pages, print};

/// The page that leads to the others.
const INDEX: &str = "index.html";
/// Most numbers of a table that the index shows.
const MOST_NUMBERS: usize = 4;

/// What became of a plan.
struct Done {
    name: &'static str,
    title: String,
    rows: PathBuf,
    missing: Vec<Missing>,
    /// Its results; the reason where there are none.
    ran: Result<Ran, String>,
    /// A sentence about them.
    summary: String,
}

/// Runs the command. A plan whose data are missing, or that fails, does not keep the others from running.
pub fn run(args: &Experiment, common: &Common) -> Outcome {
    refuse_options(args)?;
    let rows = args.out.clone().unwrap_or_else(|| PathBuf::from("results"));
    if let Some(folder) = &args.report {
        prepare(folder, &rows, args)?;
    }
    let started = Instant::now();
    let mut done: Vec<Done> = Vec::new();
    for (name, _) in KNOWN {
        let mut plan = of_plan(name, &rows, args, common)?;
        if !common.json {
            print::to_stdout(&text(&plan, args))?;
        }
        write_page(&mut plan, args)?;
        done.push(plan);
        if let Some(folder) = &args.report {
            pages::write(&folder.join(INDEX), &index(&done, args))?;
        }
    }
    let seconds = started.elapsed().as_secs_f64();
    if common.json {
        print::json(&answer(&done, args, seconds))?;
    } else {
        print::to_stdout(&ending(&done, args, &rows, seconds))?;
    }
    verdict(&done)
}

/// Runs one of the plans on the data that are there.
fn of_plan(name: &'static str, rows: &Path, args: &Experiment, common: &Common) -> Outcome<Done> {
    let plan = AnyPlan::find(name)?;
    let plan = if args.quick { plan.quick() } else { plan };
    // Tables need rows, not data.
    let missing = match args.tables {
        true => Vec::new(),
        false => data::missing(&plan, &data::folder(args)?),
    };
    let (title, rows) = (plan.title().to_owned(), rows.join(rows_name(name, args.quick)));
    let names: Vec<String> = missing.iter().map(|lost| lost.name.clone()).collect();
    let Some(plan) = plan.without(&names) else {
        let (ran, summary) = (Err("its data are missing".to_owned()), String::new());
        return Ok(Done { name, title, rows, missing, ran, summary });
    };
    let job = Job { name, plan, rows: rows.clone(), choice: choice(args, common), missing };
    let ran = one::run(&job, args, common);
    // Whoever presses Ctrl-C wants all of it to end.
    if cancel::is_requested() {
        return Err(ran.err().unwrap_or_else(|| {
            let rows = rows.display();
            Failure::Failed(format!(
                "interrupted; the rows so far are in {rows} and beside it, and the same command \
                 continues from there"
            ))
        }));
    }
    let summary = ran.as_ref().map_or_else(|_| String::new(), |ran| one::summary(&job, ran));
    let ran = ran.map_err(|failure| failure.to_string());
    Ok(Done { name, title, rows, missing: job.missing, ran, summary })
}

/// Refuses options that make sense for one plan only.
fn refuse_options(args: &Experiment) -> Outcome {
    let asked = args.seeds.is_some() || !args.methods.is_empty() || args.splits.is_some();
    if asked || args.again {
        return Err(Failure::Misuse(
            "--seeds, --methods, --again and --splits are for one plan; `all` runs every one"
                .into(),
        ));
    }
    for (option, path, ending) in [("--out", &args.out, "csv"), ("--report", &args.report, "html")]
    {
        let is_file = |path: &PathBuf| {
            path.is_file() || path.extension().is_some_and(|found| found == ending)
        };
        if let Some(path) = path.as_ref().filter(|path| is_file(path)) {
            return Err(Failure::Misuse(format!(
                "{option} {}: every plan has a file of its own; give a folder",
                path.display()
            )));
        }
    }
    Ok(())
}

/// Makes the folder of the pages, and refuses what would be replaced.
fn prepare(folder: &Path, rows: &Path, args: &Experiment) -> Outcome {
    std::fs::create_dir_all(folder)
        .map_err(|error| Failure::Failed(format!("{}: {error}", folder.display())))?;
    let names = KNOWN.iter().map(|(name, _)| page_name(name));
    let pages: Vec<PathBuf> = names.chain([INDEX.into()]).map(|name| folder.join(name)).collect();
    let inputs: Vec<PathBuf> =
        KNOWN.iter().map(|(name, _)| rows.join(rows_name(name, args.quick))).collect();
    let pages: Vec<Option<&Path>> = pages.iter().map(|page| Some(page.as_path())).collect();
    output::check(&pages, &inputs.iter().map(PathBuf::as_path).collect::<Vec<_>>())
}

fn page_name(plan: &str) -> String {
    format!("{plan}.html")
}

/// Writes the page of a plan, with a link to the index.
fn write_page(done: &mut Done, args: &Experiment) -> Outcome {
    let page = done.ran.as_mut().ok().and_then(|ran| ran.page.as_mut());
    let Some((page, folder)) = page.zip(args.report.as_ref()) else { return Ok(()) };
    page.index = Some(Link { text: "All experiments".into(), address: INDEX.into() });
    pages::write(&folder.join(page_name(done.name)), page)?;
    // Samples and pictures of ten plans need not stay in memory.
    page.look = None;
    Ok(())
}

/// What is printed about a plan.
fn text(done: &Done, args: &Experiment) -> String {
    let mut text = format!("## {}\n\n", done.title);
    match &done.ran {
        Ok(ran) => {
            let (small, n_rows) = (if args.quick { SMALL } else { "" }, ran.n_rows);
            text += &format!("{small}{}{n_rows} rows in {}\n", ran.tables, done.rows.display());
        }
        Err(reason) => text += &format!("not run: {reason}\n"),
    }
    for Missing { name, file, remedy } in &done.missing {
        text += &format!("missing: {name} ({}); {remedy}\n", file.display());
    }
    text
}

/// The page that leads to those of the plans.
fn index(done: &[Done], args: &Experiment) -> Page {
    let (title, lead) = match args.quick {
        true => (
            "All experiments, small versions",
            "Few fits of each plan (--quick): too few to rely on.",
        ),
        false => {
            ("All experiments", "The tables of the paper and more, each on a page of its own.")
        }
    };
    let mut page = pages::new_page(title.into(), lead.into());
    page.entries = done.iter().map(entry).collect();
    page
}

fn entry(done: &Done) -> Entry {
    let mut missing: Vec<String> = done
        .missing
        .iter()
        .map(|lost| format!("{} is missing: {}.", lost.name, lost.remedy))
        .collect();
    let page = done.ran.as_ref().ok().and_then(|ran| ran.page.as_ref());
    let mut sentences = Vec::new();
    match &done.ran {
        Ok(_) => sentences.push(done.summary.clone()),
        Err(reason) => missing.push(format!("Not run: {reason}.")),
    }
    sentences.extend(page.and_then(headline));
    Entry {
        title: done.title.clone(),
        address: page.map(|_| page_name(done.name)),
        sentences,
        missing,
    }
}

/// The first numbers of the first table.
fn headline(page: &Page) -> Option<String> {
    let table = page.tables.first()?;
    let (name, cells) = table.lines.first()?;
    let numbers = table.columns.iter().zip(cells).take(MOST_NUMBERS);
    let numbers: Vec<String> =
        numbers.map(|(column, cell)| format!("{column}: {}", cell.text())).collect();
    Some(format!("{name}: {}.", numbers.join("; ")))
}

fn answer(done: &[Done], args: &Experiment, seconds: f64) -> Value {
    let plan = |done: &Done| {
        let missing = done.missing.iter().map(|lost| {
            json!({ "data": lost.name, "file": lost.file.display().to_string(), "remedy": lost.remedy })
        });
        let ran = done.ran.as_ref().ok();
        let has_page = ran.is_some_and(|ran| ran.page.is_some());
        let report = args.report.as_ref().filter(|_| has_page);
        json!({
            "name": done.name,
            "title": done.title,
            "rows": done.rows.display().to_string(),
            "n_rows": ran.map(|ran| ran.n_rows),
            "fit_seconds": ran.map(|ran| ran.fit_seconds),
            "tables": ran.map(|ran| ran.tables.as_str()),
            "report": report.map(|folder| folder.join(page_name(done.name)).display().to_string()),
            "missing": missing.collect::<Vec<_>>(),
            "error": done.ran.as_ref().err(),
        })
    };
    json!({
        "quick": args.quick,
        "plans": done.iter().map(plan).collect::<Vec<_>>(),
        "seconds": seconds,
        "report": args.report.as_ref().map(|folder| folder.join(INDEX).display().to_string()),
    })
}

fn ending(done: &[Done], args: &Experiment, rows: &Path, seconds: f64) -> String {
    let fits: usize = done.iter().filter_map(|done| Some(done.ran.as_ref().ok()?.n_rows)).sum();
    let ran = done.iter().filter(|done| done.ran.is_ok()).count();
    let rows = rows.join(rows_name("NAME", args.quick));
    let apart = if args.quick { ", apart from those of full runs" } else { "" };
    let mut text = format!(
        "{ran} of {}: {} in {}{apart}; {seconds:.0} s",
        counted(done.len(), "plan", "plans"),
        counted(fits, "row", "rows"),
        rows.display(),
    );
    if let Some(folder) = &args.report {
        text += &format!("\nreport: {}; open it in a browser", folder.join(INDEX).display());
    }
    text
}

/// A failure that names the plans that are not whole.
fn verdict(done: &[Done]) -> Outcome {
    let mut reasons: Vec<String> = Vec::new();
    let mut names: Vec<&str> = Vec::new();
    for done in done.iter().filter(|done| done.ran.is_err() || !done.missing.is_empty()) {
        names.push(done.name);
        let lost = done.missing.iter().map(|lost| format!("{}: {}", lost.name, lost.remedy));
        reasons.extend(lost);
        if done.missing.is_empty() {
            reasons.extend(done.ran.as_ref().err().cloned());
        }
    }
    if names.is_empty() {
        return Ok(());
    }
    let mut known: Vec<String> = Vec::new();
    reasons.retain(|reason| {
        let is_new = !known.contains(reason);
        known.push(reason.clone());
        is_new
    });
    Err(Failure::Failed(format!(
        "{} of {} plans are not whole ({}): {}",
        names.len(),
        done.len(),
        names.join(", "),
        reasons.join("; ")
    )))
}
