//! `cargo xtask generate`: files that the program itself prints, and the check that they are current.

use std::fs;

use crate::outcome::{Outcome, While};
use crate::workspace;

const HELP: &str = "\
Usage: cargo xtask generate

Writes what is printed by the program, so that it cannot drift from it:
  docs/methods.md   from `ssdl methods --markdown`
  docs/results.md   its tables, from the rows in results/

`cargo xtask test` fails if such a file exists and differs.";

/// A file of the repository, or a part of one, and the arguments that make the program print it.
struct Generated {
    path: &'static str,
    arguments: &'static [&'static str],
    extent: Extent,
}

enum Extent {
    Whole,
    /// What stands between a line with the command in a comment and [`END`].
    Part,
}

const END: &str = "<!-- end -->";

const FILES: &[Generated] = &[
    Generated {
        path: "docs/methods.md",
        arguments: &["methods", "--markdown"],
        extent: Extent::Whole,
    },
    Generated {
        path: "docs/results.md",
        arguments: &["experiment", "laplacians", "--tables"],
        extent: Extent::Part,
    },
    Generated {
        path: "docs/results.md",
        arguments: &["experiment", "noise", "--tables"],
        extent: Extent::Part,
    },
];

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
        let text = current(file)?;
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
    let mut present = 0;
    for file in FILES {
        let path = workspace::top().join(file.path);
        if !path.exists() {
            continue;
        }
        let stored = fs::read_to_string(&path).during(|| file.path)?;
        if let Some(line) = first_difference(&stored, &current(file)?) {
            return Err(format!("{} is out of date from line {line} on", file.path).into());
        }
        present += 1;
    }
    Ok(format!("{present} of {} present", FILES.len()))
}

/// The text that the file should have now.
fn current(file: &Generated) -> Outcome<String> {
    let printed = printed(file)?;
    match file.extent {
        Extent::Whole => Ok(printed),
        Extent::Part => {
            let path = workspace::top().join(file.path);
            let stored = fs::read_to_string(&path).during(|| file.path)?;
            let begin = format!("<!-- ssdl {} -->\n", file.arguments.join(" "));
            replaced(&stored, &begin, &printed)
                .ok_or_else(|| format!("{}: no line {begin}before a line {END}", file.path).into())
        }
    }
}

/// The text with another part between `begin` and [`END`].
fn replaced(text: &str, begin: &str, part: &str) -> Option<String> {
    let start = text.find(begin)? + begin.len();
    let end = start + text[start..].find(END)?;
    Some(format!("{}\n{}\n\n{}", &text[..start], part.trim(), &text[end..]))
}

fn printed(file: &Generated) -> Outcome<String> {
    let mut command = workspace::cargo(&["run", "--quiet", "--package", "ssdl-cli", "--"]);
    let output =
        command.args(file.arguments).current_dir(workspace::top()).output().during(|| file.path)?;
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
    fn a_part_is_replaced_between_its_lines() {
        let text = format!("a\n<!-- x -->\nold\n{END}\nb\n");
        let new = replaced(&text, "<!-- x -->\n", "new\n").expect("both lines are there");
        assert_eq!(new, format!("a\n<!-- x -->\n\nnew\n\n{END}\nb\n"));
        assert_eq!(replaced(&new, "<!-- x -->\n", "new"), Some(new.clone()));
        assert_eq!(replaced(&text, "<!-- y -->\n", "new"), None);
    }

    #[test]
    fn texts_differ_at_the_first_line_that_does() {
        assert_eq!(first_difference("a\nb\n", "a\r\nb\r\n"), None);
        assert_eq!(first_difference("a\nb\n", "a\nc\n"), Some(2));
        assert_eq!(first_difference("a\n", "a\nb\n"), Some(2));
    }
}
