//! `cargo xtask generate`: files that the program itself prints, and the check that they are current.

use std::fs;

use crate::outcome::{Outcome, While};
use crate::workspace;

const HELP: &str = "\
Usage: cargo xtask generate

Writes the files that are printed by the program, so that they cannot drift from it:
  docs/methods.md   from `ssdl methods --markdown`

`cargo xtask test` fails if such a file exists and differs.";

/// One file of the repository and the arguments that make the program print it.
struct Generated {
    path: &'static str,
    arguments: &'static [&'static str],
}

const FILES: &[Generated] =
    &[Generated { path: "docs/methods.md", arguments: &["methods", "--markdown"] }];

pub fn run(arguments: &[String]) -> Outcome<()> {
    match arguments {
        [] => {}
        [flag] if flag == "--help" || flag == "-h" => {
            println!("{HELP}");
            return Ok(());
        }
        _ => return Err(format!("generate takes no arguments\n\n{HELP}").into()),
    }
    for file in FILES {
        let path = workspace::top().join(file.path);
        let text = printed(file)?;
        if let Some(folder) = path.parent() {
            fs::create_dir_all(folder).during(|| folder.display().to_string())?;
        }
        fs::write(&path, text).during(|| file.path)?;
        println!("{}", file.path);
    }
    Ok(())
}

/// Compares every generated file that exists with what the program prints now; says how many.
pub fn check() -> Outcome<String> {
    let mut current = 0;
    for file in FILES {
        let path = workspace::top().join(file.path);
        if !path.exists() {
            continue;
        }
        let stored = fs::read_to_string(&path).during(|| file.path)?;
        if let Some(line) = first_difference(&stored, &printed(file)?) {
            return Err(format!("{} is out of date from line {line} on", file.path).into());
        }
        current += 1;
    }
    Ok(format!("{current} of {} present", FILES.len()))
}

fn printed(file: &Generated) -> Outcome<String> {
    let mut command = workspace::cargo(&["run", "--quiet", "--package", "ssdl-cli", "--"]);
    let output = command.args(file.arguments).output().during(|| file.path)?;
    if !output.status.success() {
        let cause = String::from_utf8_lossy(&output.stderr);
        return Err(format!("ssdl {}: {cause}", file.arguments.join(" ")).into());
    }
    let text = String::from_utf8(output.stdout).during(|| file.path)?;
    if text.trim().is_empty() {
        return Err(format!("ssdl {} printed nothing", file.arguments.join(" ")).into());
    }
    Ok(text)
}

/// The first line, counted from one, where two texts differ. Line endings do not count: a checkout
/// may have changed them.
fn first_difference(left: &str, right: &str) -> Option<usize> {
    let (mut left, mut right) = (left.lines(), right.lines());
    let mut line = 0;
    loop {
        line += 1;
        match (left.next(), right.next()) {
            (None, None) => return None,
            (one, other) if one == other => {}
            _ => return Some(line),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_differ_at_the_first_line_that_does() {
        assert_eq!(first_difference("a\nb\n", "a\r\nb\r\n"), None);
        assert_eq!(first_difference("a\nb\n", "a\nc\n"), Some(2));
        assert_eq!(first_difference("a\n", "a\nb\n"), Some(2));
    }
}
