//! `ssdl licences`: the licences of the program and of the libraries in it.

use serde_json::json;

use crate::args::{Common, Licences};
use crate::failure::Outcome;
use crate::print;

const OWN: [&str; 2] =
    [include_str!("../../../../LICENSE-MIT"), include_str!("../../../../LICENSE-APACHE")];
/// Written by `cargo xtask licences`: a list, then the texts.
const OTHERS: &str = include_str!("../../../../THIRD-PARTY-LICENCES.txt");
/// What begins a text in that file.
const RULE: &str = "\n\n====";

/// Runs the command.
pub fn run(args: &Licences, common: &Common) -> Outcome {
    let list = OTHERS.split(RULE).next().unwrap_or_default();
    if common.json {
        let libraries: Vec<_> = list.lines().filter_map(library).collect();
        return print::json(&json!({ "ssdl": "MIT OR Apache-2.0", "libraries": libraries }));
    }
    if args.full {
        let own = OWN.join("\n\n");
        return print::to_stdout(&format!("{}\n\n{}", own.trim_end(), OTHERS.trim_end()));
    }
    print::to_stdout(&format!(
        "ssdl is licensed under MIT OR Apache-2.0, at your choice.\n\n{list}\n\n\
         `ssdl licences --full` prints the texts."
    ))
}

/// A line of the list: name, version, licence.
fn library(line: &str) -> Option<serde_json::Value> {
    let mut words = line.strip_prefix("  ")?.splitn(3, ' ');
    let (name, version, licence) = (words.next()?, words.next()?, words.next()?);
    Some(json!({ "name": name, "version": version, "licence": licence.trim() }))
}
