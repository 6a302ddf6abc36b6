//! `ssdl label`: a page on which people label while a model learns.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde_json::json;
use ssdl::methods::{self, FitOptions};
use ssdl::{Model, Samples};
use ssdl_data::{Column, Images, ReadOptions};
use ssdl_experiments::hidden::{self, Trial};
use ssdl_label::leave::Report;
use ssdl_label::{Material, Options, Server, journal_beside};

use crate::args::{Answer, Common, Label};
use crate::failure::{Failure, Outcome};
use crate::pages::{self, Names};
use crate::print::{self, quoted};
use crate::progress::FitCounter;
use crate::{cancel, input, output};

/// Runs the command.
pub fn run(args: &Label, common: &Common) -> Outcome {
    let labels = labels_path(args);
    check_paths(args, &labels)?;
    let material = material(args, &labels, common.quiet)?;
    let command = command(args, &labels, &material, common);
    let mut classes = args.classes.clone();
    if args.demo && classes.is_empty() {
        classes = (0..10).map(|digit| digit.to_string()).collect();
    }
    let people = if args.people.is_empty() { vec![user()] } else { args.people.clone() };
    let options = Options {
        labels: labels.clone(),
        model: args.model.clone(),
        classes,
        people,
        listen: args.listen.clone(),
        overlap: args.overlap,
        seed: common.seed,
        threads: common.threads.into(),
        command,
        report: Some(report(material.path.clone(), material.feature_names(), common)),
        stop: cancel::signal(),
    };
    let server = Server::start(material, options)?;
    cancel::listen(common.quiet);
    announce(&server, &labels, common)?;
    if !args.no_browser
        && let Some((_, address)) = server.addresses().first()
    {
        open_browser(address);
    }
    server.run()?;
    if common.json {
        return Ok(());
    }
    print::to_stdout(&format!("Labels are in {}.", labels.display()))
}

fn labels_path(args: &Label) -> PathBuf {
    let usual = if args.demo { "digits-labels.csv" } else { "labels.csv" };
    args.labels.clone().unwrap_or_else(|| usual.into())
}

fn check_paths(args: &Label, labels: &Path) -> Outcome {
    let journal = journal_beside(labels);
    let outputs = [Some(labels), Some(&journal), args.model.as_deref()];
    match args.data.as_deref() {
        // None of them can be an image, so that links of a large folder need not be followed.
        Some(folder) if folder.is_dir() => {
            outputs.iter().flatten().try_for_each(|path| output::check_outside(path, folder))?;
            output::check(&outputs, &[])
        }
        data => output::check(&outputs, &data.into_iter().collect::<Vec<_>>()),
    }
}

/// Who labels, where nobody is named.
fn user() -> String {
    let known = ["USER", "USERNAME"].iter().find_map(|name| std::env::var(name).ok());
    known.filter(|name| !name.trim().is_empty()).unwrap_or_else(|| "me".into())
}

/// What is labelled. The demo hides its labels, and leaves its samples beside them for `ssdl fit`.
fn material(args: &Label, labels: &Path, quiet: bool) -> Outcome<Material> {
    let Some(path) = args.data.as_deref() else {
        let mut table = ssdl_data::digits();
        table.labels = None;
        ssdl_data::write_npy(demo_samples(labels), &table.features.cast::<f32>())?;
        let image = table.image;
        return Ok(Material::of_table(Path::new("digits"), table, image));
    };
    let options = ReadOptions {
        image: args.image,
        format: args.format,
        header: args.header.map(|answer| answer == Answer::Yes),
        label_column: args.label_column.clone(),
        ignored_columns: args.ignore_column.clone(),
        features_array: args.array.clone(),
        words: args.words,
        fill_gaps: args.fill_gaps,
        ..ReadOptions::default()
    };
    input::refuse_file_options(path, &options)?;
    if path.is_dir() {
        let images = Images::list(path, &options)?;
        return Ok(Material::of_images(path, images, args.image)?);
    }
    let table = ssdl_data::read(path, &options).map_err(Failure::of_table)?;
    input::say(&table.notes, quiet);
    let image = input::image(path, args.image, table.features.rows(), table.image)?;
    Ok(Material::of_table(path, table, image))
}

fn demo_samples(labels: &Path) -> PathBuf {
    labels.with_file_name("digits-samples.npy")
}

/// The command that fits the model again.
fn command(args: &Label, labels: &Path, material: &Material, common: &Common) -> String {
    let data = args.data.clone().unwrap_or_else(|| demo_samples(labels));
    let mut words = vec!["ssdl".to_owned(), "fit".into(), data.display().to_string()];
    if let Some([height, width]) = material.image {
        words.extend(["--image".into(), format!("{height}x{width}")]);
    }
    if let Some(format) = args.format {
        words.extend(["--format".into(), format.to_string()]);
    }
    let of_table = [("--words", args.words), ("--fill-gaps", args.fill_gaps)];
    words.extend(of_table.iter().filter(|(_, given)| *given).map(|(name, _)| (*name).to_owned()));
    if let Some(answer) = args.header {
        words.extend(["--header".into(), if answer == Answer::Yes { "yes" } else { "no" }.into()]);
    }
    let labels = args.label_column.iter().map(|column| ("--label-column", column));
    let ignored = args.ignore_column.iter().map(|column| ("--ignore-column", column));
    for (option, column) in labels.chain(ignored) {
        let column = match column {
            Column::Name(name) => name.clone(),
            Column::Index(index) => index.to_string(),
        };
        words.extend([option.into(), column]);
    }
    if let Some(array) = &args.array {
        words.extend(["--array".into(), array.clone()]);
    }
    if common.seed != 0 {
        words.extend(["--seed".into(), common.seed.to_string()]);
    }
    words.iter().map(|word| quoted(word)).collect::<Vec<_>>().join(" ")
}

/// Makes the report page of the last fit, compared with other methods by hidden labels.
fn report(path: PathBuf, feature_names: Option<&[String]>, common: &Common) -> Report {
    let features = feature_names.map(<[String]>::to_vec);
    let (seed, threads) = (common.seed, usize::from(common.threads));
    Box::new(move |model: &Model<f32>, samples: &Samples<f32>, names| {
        let make = || -> Outcome<String> {
            let method = methods::find::<f32>(model.method())?;
            let preparation = Some(model.preparation().clone());
            let image = model.image();
            let options = FitOptions { seed, threads, image, preparation, ..FitOptions::default() };
            let trial = Trial { method, knobs: &[], options: &options };
            let found = hidden::cross_validate(&trial, samples, &FitCounter::new(true))?;
            let names = Names { samples: names, features: features.clone() };
            let page = pages::fit_page(&path, model, samples, &names, Some(&found), threads)?;
            Ok(page.html()?)
        };
        make().map_err(|failure| failure.to_string())
    })
}

fn announce(server: &Server, labels: &Path, common: &Common) -> Outcome {
    let journal = journal_beside(labels);
    if common.json {
        let people = server.addresses().iter();
        let addresses: Vec<_> = people
            .map(|(person, address)| json!({ "person": person, "address": address }))
            .collect();
        return print::json(&json!({
            "addresses": addresses,
            "labels": labels.display().to_string(),
            "journal": journal.display().to_string(),
        }));
    }
    // An address that is broken into lines cannot be copied.
    let line = |(person, address): &(String, String)| match server.addresses().len() {
        1 => format!("Label at {address}"),
        _ => format!("{person}: {address}"),
    };
    let lines: Vec<String> = server.addresses().iter().map(line).collect();
    print::to_stdout(&lines.join("\n"))?;
    print::to_stdout(&format!("Every answer is kept in {}.", journal.display()))?;
    print::to_stdout("Ctrl-C ends and writes the labels.")
}

/// Opens the page where there is a browser; where there is none, the address is printed already.
fn open_browser(address: &str) {
    let has_screen = |name: &str| std::env::var_os(name).is_some_and(|value| !value.is_empty());
    let (program, before): (&str, &[&str]) = if cfg!(target_os = "macos") {
        ("open", &[])
    } else if cfg!(windows) {
        ("rundll32", &["url.dll,FileProtocolHandler"])
    } else if has_screen("DISPLAY") || has_screen("WAYLAND_DISPLAY") {
        ("xdg-open", &[])
    } else {
        return;
    };
    let mut command = Command::new(program);
    command.args(before).arg(address);
    let _ = command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).spawn();
}
