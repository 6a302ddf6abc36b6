//! `cargo xtask licences`: the licences of everything that the program and the wheel are made of.

mod expression;

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;
use std::process::Command;

use serde_json::Value;
use xtask::outcome::{Outcome, While};
use xtask::workspace;

const HELP: &str = "\
Usage: cargo xtask licences [--check]

Writes THIRD-PARTY-LICENCES.txt: every library in the program and in the wheel, its licence, and the
texts of the licences. Fails if a licence is not among those that deny.toml allows. Needs no network.

Options:
  --check   write nothing; fail if the file is not what would be written";

const FILE: &str = "THIRD-PARTY-LICENCES.txt";
/// What is given to users: the program and the Python module.
const GIVEN: [&str; 2] = ["ssdl-cli", "ssdl-python"];
/// The same list on every machine; other systems add only libraries that call theirs.
const PLATFORM: &str = "x86_64-unknown-linux-gnu";

pub fn run(arguments: &[String]) -> Outcome<()> {
    match arguments {
        [] => {
            fs::write(workspace::top().join(FILE), written()?).during(|| FILE)?;
            println!("{FILE}");
            Ok(())
        }
        [flag] if flag == "--check" => check(),
        [flag] if flag == "--help" || flag == "-h" => {
            println!("{HELP}");
            Ok(())
        }
        _ => Err(format!("licences does not know these arguments\n\n{HELP}").into()),
    }
}

/// Fails if a licence is not allowed, or the file is not current.
pub fn check() -> Outcome<()> {
    let kept = fs::read_to_string(workspace::top().join(FILE)).during(|| FILE)?;
    if kept.lines().eq(written()?.lines()) {
        return Ok(());
    }
    Err(format!("{FILE} is out of date; run `cargo xtask licences`").into())
}

/// A library.
struct Library {
    name: String,
    version: String,
    licence: String,
    texts: Vec<String>,
}

fn written() -> Outcome<String> {
    let libraries = libraries()?;
    let allowed = allowed()?;
    let refused = |library: &&Library| !expression::is_allowed(&library.licence, &allowed);
    if let Some(Library { name, licence, .. }) = libraries.iter().find(refused) {
        return Err(format!("{name}: deny.toml does not allow the licence {licence}").into());
    }
    let mut text = String::from("Libraries in the program ssdl and in the Python package:\n\n");
    let mut users: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    for Library { name, version, licence, texts } in &libraries {
        text += &format!("  {name} {version} {licence}\n");
        for text in texts {
            users.entry(text).or_default().insert(name);
        }
    }
    for (licence, names) in users {
        let names: Vec<&str> = names.into_iter().collect();
        let rule = "=".repeat(80);
        text += &format!("\n\n{rule}\n{}\n{rule}\n\n{licence}", names.join(", "));
    }
    text.truncate(text.trim_end().len());
    text.push('\n');
    Ok(text)
}

/// The licences that deny.toml allows.
fn allowed() -> Outcome<Vec<String>> {
    let text = fs::read_to_string(workspace::top().join("deny.toml")).during(|| "deny.toml")?;
    let list = text.split("\nallow = [").nth(1).and_then(|rest| rest.split(']').next());
    let list = list.ok_or("deny.toml has no list of licences")?;
    Ok(list.split('"').skip(1).step_by(2).map(str::to_owned).collect())
}

/// Every library that is compiled into what is given to users, by name.
fn libraries() -> Outcome<Vec<Library>> {
    let metadata = metadata()?;
    let list = |of: &Value, name: &str| of[name].as_array().cloned().unwrap_or_default();
    let packages: BTreeMap<String, Value> =
        list(&metadata, "packages").into_iter().map(|p| (text(&p["id"]), p)).collect();
    let nodes: BTreeMap<String, Value> =
        list(&metadata["resolve"], "nodes").into_iter().map(|n| (text(&n["id"]), n)).collect();
    let is_given = |package: &Value| GIVEN.contains(&text(&package["name"]).as_str());
    let mut open: Vec<String> =
        packages.iter().filter(|(_, p)| is_given(p)).map(|(id, _)| id.clone()).collect();
    let mut seen: BTreeSet<String> = open.iter().cloned().collect();
    while let Some(id) = open.pop() {
        for dependency in nodes.get(&id).map(|node| list(node, "deps")).unwrap_or_default() {
            let is_inside =
                list(&dependency, "dep_kinds").iter().any(|kind| kind["kind"].is_null());
            let id = text(&dependency["pkg"]);
            if is_inside && seen.insert(id.clone()) {
                open.push(id);
            }
        }
    }
    let mut found = Vec::new();
    for package in seen.iter().filter_map(|id| packages.get(id)) {
        // Our own have no source.
        if !package["source"].is_null() {
            found.push(library(package)?);
        }
    }
    found.sort_by(|a, b| (&a.name, &a.version).cmp(&(&b.name, &b.version)));
    Ok(found)
}

fn metadata() -> Outcome<Value> {
    let mut command = Command::new(std::env::var("CARGO").unwrap_or_else(|_| "cargo".into()));
    command.args(["metadata", "--format-version", "1", "--offline", "--locked"]);
    command.args(["--filter-platform", PLATFORM]).current_dir(workspace::top());
    let output = command.output().during(|| "cargo metadata")?;
    if !output.status.success() {
        let cause = String::from_utf8_lossy(&output.stderr);
        return Err(format!("cargo metadata: {cause}").into());
    }
    serde_json::from_slice(&output.stdout).during(|| "cargo metadata")
}

fn library(package: &Value) -> Outcome<Library> {
    let name = text(&package["name"]);
    let folder = text(&package["manifest_path"]);
    let folder = Path::new(&folder).parent().unwrap_or(Path::new("."));
    let mut texts = Vec::new();
    let entries = fs::read_dir(folder).during(|| folder.display().to_string())?;
    let mut paths: Vec<_> = entries.flatten().map(|entry| entry.path()).collect();
    paths.sort();
    for path in paths.iter().filter(|path| path.is_file() && is_licence(path)) {
        texts.push(tidied(&fs::read_to_string(path).during(|| path.display().to_string())?));
    }
    let licence = text(&package["license"]).replace('/', " OR ");
    Ok(Library { name, version: text(&package["version"]), licence, texts })
}

fn text(value: &Value) -> String {
    value.as_str().unwrap_or_default().to_owned()
}

fn is_licence(path: &Path) -> bool {
    let name = path.file_name().unwrap_or_default().to_string_lossy().to_lowercase();
    ["license", "licence", "copying", "unlicense", "notice"].iter().any(|s| name.starts_with(s))
}

/// Without the differences in white space that make one text many.
fn tidied(text: &str) -> String {
    let lines: Vec<&str> = text.trim_start_matches('\u{feff}').lines().map(str::trim_end).collect();
    let blank = lines.iter().take_while(|line| line.is_empty()).count();
    lines[blank..].join("\n").trim_end().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_licences_are_allowed_and_the_texts_are_current() {
        if let Err(error) = check() {
            panic!("{error}");
        }
    }

    #[test]
    fn every_library_comes_with_the_text_of_a_licence_or_shares_one() {
        let libraries = libraries().expect("the sources are there");
        assert!(libraries.len() > 50, "{}", libraries.len());
        // Some packages omit the file: their licence must be one whose text others bring.
        let known = ["MIT", "Apache-2.0", "BSD-3-Clause"];
        for library in libraries.iter().filter(|library| library.texts.is_empty()) {
            let is_known = known.iter().any(|name| library.licence.contains(name));
            assert!(is_known, "{}: {}", library.name, library.licence);
        }
    }
}
