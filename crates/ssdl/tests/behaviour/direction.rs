//! The stages depend one way along the path of the data, as ARCHITECTURE.md says.

use std::fs;
use std::path::{Path, PathBuf};

/// The path; each stage may use those before it, never one after it.
const PATH: [&str; 8] =
    ["samples", "graph", "codes", "dictionary", "classifier", "fit", "model", "methods"];

fn source() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("src")
}

fn files(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            found.extend(files(&path));
        } else if path.extension().is_some_and(|end| end == "rs") {
            found.push(path);
        }
    }
    found.sort();
    found
}

/// The stages that code names as `crate::stage`, in `use` lines and elsewhere; comments are passed
/// over.
fn stages_named(text: &str) -> Vec<&'static str> {
    let code: String = text
        .lines()
        .filter(|line| !line.trim_start().starts_with("//"))
        .map(|line| format!("{line} "))
        .collect();
    let mut named = Vec::new();
    for (at, _) in code.match_indices("crate::") {
        if code[..at].ends_with('$') {
            continue;
        }
        let rest = &code[at + "crate::".len()..];
        // `crate::{a::B, c}` names the first word of each entry at its own depth.
        let group = rest.strip_prefix('{').map(|group| top_level(group));
        let entries = group.unwrap_or_else(|| vec![rest]);
        for entry in entries {
            let word: String =
                entry.trim().chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect();
            named.extend(PATH.into_iter().filter(|stage| *stage == word));
        }
    }
    named
}

fn top_level(group: &str) -> Vec<&str> {
    let (mut depth, mut start, mut entries) = (0, 0, Vec::new());
    for (at, c) in group.char_indices() {
        match c {
            '{' => depth += 1,
            '}' if depth == 0 => {
                entries.push(&group[start..at]);
                break;
            }
            '}' => depth -= 1,
            ',' if depth == 0 => {
                entries.push(&group[start..at]);
                start = at + 1;
            }
            _ => {}
        }
    }
    entries
}

#[test]
fn no_stage_uses_one_after_it() {
    let mut wrong = Vec::new();
    for (place, stage) in PATH.iter().enumerate() {
        for file in files(&source().join(stage)) {
            for named in stages_named(&fs::read_to_string(&file).unwrap()) {
                if PATH.iter().position(|other| *other == named).unwrap() > place {
                    let file = file.strip_prefix(source()).unwrap().display();
                    wrong.push(format!("{file} uses `{named}`, which comes after `{stage}`"));
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn the_test_sees_every_way_to_name_a_stage() {
    let text = "use crate::{Error, model::Model, graph::{A, fit::B}};\nlet x = crate::methods::all();\n\
                // use crate::samples;\n$crate::codes";
    assert_eq!(stages_named(text), ["model", "graph", "methods"]);
}

/// ARCHITECTURE.md names files that exist, and every file of a stage.
#[test]
fn the_architecture_page_is_true_to_the_tree() {
    let root = source().join("../../..");
    let page = fs::read_to_string(root.join("ARCHITECTURE.md")).unwrap();
    let mut wrong = Vec::new();
    for word in page.split(|c: char| c.is_whitespace() || "`(),;".contains(c)) {
        let word = word.trim_end_matches('.').trim_end_matches(':');
        let is_file = [".rs", ".toml", ".py", ".md", ".html"].iter().any(|end| word.ends_with(end));
        if !is_file || word.contains(['<', '*']) {
            continue;
        }
        // Files are named from the root, from the library's sources, or by their own name in the tree.
        let exists = root.join(word).exists() || source().join(word).exists();
        let name = Path::new(word).file_name().unwrap().to_string_lossy().into_owned();
        let ending = format!("/{word}");
        let somewhere = || {
            everything(&root).iter().any(|file| file.to_string_lossy().ends_with(&ending))
                && !name.is_empty()
        };
        if !exists && !somewhere() {
            wrong.push(format!("ARCHITECTURE.md names `{word}`, which is not there"));
        }
    }
    for stage in PATH {
        for file in files(&source().join(stage)) {
            let name = file.file_name().unwrap().to_string_lossy().into_owned();
            let folder = file.parent().unwrap().file_name().unwrap().to_string_lossy().into_owned();
            let known =
                page.contains(&name) || (name == "mod.rs" && page.contains(&format!("{folder}/")));
            if !known {
                wrong.push(format!("ARCHITECTURE.md does not name {}", file.display()));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Every file that is ours.
fn everything(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).unwrap().flatten() {
        let path = entry.path();
        let name = entry.file_name().to_string_lossy().into_owned();
        if path.is_dir() {
            if !name.starts_with('.') && !name.starts_with("target") {
                found.extend(everything(&path));
            }
        } else {
            found.push(path);
        }
    }
    found
}
