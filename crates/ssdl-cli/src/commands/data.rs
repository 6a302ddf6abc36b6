//! `ssdl data`: lists and downloads the known data sets.

use std::path::PathBuf;

use serde_json::{Value, json};
use ssdl_data::known::{KNOWN, Known, data_folder, fetch, known_set};

use crate::args::{Common, DataAction, DataSets};
use crate::failure::{Failure, Outcome};
use crate::print::{self, Grid};
use crate::progress::ByteCounter;

/// Runs the command.
pub fn run(args: &DataSets, common: &Common) -> Outcome {
    match &args.action {
        DataAction::List => list(common),
        DataAction::Get { names } => get(names, common),
        DataAction::Path { name } => path(name.as_deref(), common),
    }
}

/// The folder of all data sets, whether it exists or not.
pub fn folder() -> Outcome<PathBuf> {
    data_folder().ok_or_else(|| {
        Failure::Misuse(
            "no home folder to keep data sets in; set the environment variable SSDL_DATA to a folder"
                .into(),
        )
    })
}

/// Number of files of the set that are downloaded.
fn downloaded(set: &Known, folder: &std::path::Path) -> usize {
    set.files.iter().filter(|file| folder.join(file.path).is_file()).count()
}

fn list(common: &Common) -> Outcome {
    let folder = folder()?;
    if common.json {
        let sets: Vec<Value> = KNOWN
            .iter()
            .map(|set| {
                let files = set.files.iter().map(|file| {
                    json!({
                        "path": folder.join(file.path).display().to_string(),
                        "address": file.address,
                        "bytes": file.bytes,
                        "sha256": file.sha256,
                        "there": folder.join(file.path).is_file(),
                    })
                });
                json!({
                    "name": set.name,
                    "title": set.title,
                    "source": set.source,
                    "licence": set.licence,
                    "files": files.collect::<Vec<_>>(),
                })
            })
            .collect();
        return print::json(&json!({ "folder": folder.display().to_string(), "sets": sets }));
    }
    let mut table = Grid::new(&["name", ">size", "downloaded"]);
    for set in KNOWN {
        let state = match set.files.len() {
            0 => "comes with the program".to_owned(),
            all => format!("{} of {all}", downloaded(set, &folder)),
        };
        table.row([set.name.to_owned(), megabytes(set.bytes()), state]);
    }
    let mut lines = vec![table.text()];
    for set in KNOWN {
        lines.push(String::new());
        lines.push(print::paragraph(&format!("{}: {}.", set.name, set.title)));
        let Known { source, licence, .. } = set;
        lines.push(print::paragraph(&format!("From {source}. Licence: {licence}.")));
    }
    lines.push(format!("\nfolder: {}", folder.display()));
    let text = lines.join("\n");
    print::to_stdout(&text)
}

fn get(names: &[String], common: &Common) -> Outcome {
    let folder = folder()?;
    // All names are checked before the first download.
    let sets = names.iter().map(|name| known_set(name)).collect::<Result<Vec<_>, _>>()?;
    let mut answer = Vec::new();
    for set in sets {
        let counter = ByteCounter::new(common.quiet);
        let got = fetch(set, &folder, &mut |file, done, total| counter.show(file, done, total));
        counter.finish();
        for file in got? {
            answer.push((set.name, file));
        }
        if set.files.is_empty() && !common.json {
            print::to_stdout(&format!(
                "{}: comes with the program; nothing to download",
                set.name
            ))?;
        }
    }
    if common.json {
        let files = answer.iter().map(|(name, file)| {
            let path = file.path.display().to_string();
            json!({ "set": name, "path": path, "downloaded": file.downloaded })
        });
        return print::json(&json!({ "files": files.collect::<Vec<_>>() }));
    }
    let lines = answer.iter().map(|(_, file)| {
        let how = if file.downloaded > 0 { "downloaded" } else { "exists" };
        format!("{how}, SHA-256 matches: {}", file.path.display())
    });
    let lines: Vec<String> = lines.collect();
    if lines.is_empty() { Ok(()) } else { print::to_stdout(&lines.join("\n")) }
}

fn path(name: Option<&str>, common: &Common) -> Outcome {
    let folder = folder()?;
    let path = match name {
        None => folder,
        Some(name) => folder.join(known_set(name)?.name),
    };
    if common.json {
        return print::json(&json!({ "path": path.display().to_string() }));
    }
    print::to_stdout(&path.display().to_string())
}

fn megabytes(bytes: u64) -> String {
    if bytes == 0 { "-".to_owned() } else { format!("{:.1} MB", bytes as f64 / 1e6) }
}
