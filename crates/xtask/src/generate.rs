//! `cargo xtask generate`: files that the program itself prints, and the check that they are current.

use std::fs;
use std::process::Command;
use std::time::Duration;

use xtask::outcome::{Outcome, While};
use xtask::workspace;

use crate::{browser, processes};

const HELP: &str = "\
Usage: cargo xtask generate
       cargo xtask tables

Writes what is printed by the program, so that it cannot drift from it:
  docs/methods.md              from `ssdl methods --markdown`
  docs/results.md, README.md   their tables, from the rows in results/; `tables` writes these alone

A table stands between a line such as `<!-- ssdl experiment digits --tables -->`, which holds the
command, and a line `<!-- end -->`. `cargo xtask test` fails if a file differs.";

/// A file that is printed whole, and the arguments that make the program print it.
const WHOLE: (&str, &[&str]) = ("docs/methods.md", &["methods", "--markdown"]);
/// Files with parts that are printed.
const WITH_PARTS: [&str; 2] = ["docs/results.md", "README.md"];

const BEGIN: &str = "<!-- ssdl ";
const END: &str = "<!-- end -->";

/// The program only prints what it knows.
const LIMIT: Duration = Duration::from_secs(60);

pub fn run(arguments: &[String]) -> Outcome<()> {
    write(arguments, true)
}

/// `cargo xtask tables`: only what comes from rows.
pub fn tables(arguments: &[String]) -> Outcome<()> {
    write(arguments, false)
}

fn write(arguments: &[String], whole: bool) -> Outcome<()> {
    match arguments {
        [] => {}
        [flag] if flag == "--help" || flag == "-h" => {
            println!("{HELP}");
            return Ok(());
        }
        _ => return Err(format!("there are no arguments\n\n{HELP}").into()),
    }
    for path in WITH_PARTS {
        save(path, &with_parts(path)?.0)?;
    }
    if whole {
        save(WHOLE.0, &printed(WHOLE.1)?)?;
    }
    Ok(())
}

fn save(path: &str, text: &str) -> Outcome<()> {
    fs::write(workspace::top().join(path), text).during(|| path)?;
    println!("{path}");
    Ok(())
}

/// Compares every generated file with what the program prints now; says how many parts there are.
pub fn check() -> Outcome<String> {
    compare(WHOLE.0, &printed(WHOLE.1)?)?;
    let mut parts = 1;
    for path in WITH_PARTS {
        let (text, count) = with_parts(path)?;
        compare(path, &text)?;
        parts += count;
    }
    browser::check_pictures()?;
    Ok(format!("{parts} parts, and the pictures"))
}

fn compare(path: &str, current: &str) -> Outcome<()> {
    match first_difference(&read(path)?, current) {
        None => Ok(()),
        Some(line) => Err(format!("{path} is out of date from line {line} on").into()),
    }
}

fn read(path: &str) -> Outcome<String> {
    fs::read_to_string(workspace::top().join(path)).during(|| path)
}

/// The file with all its parts as they should be now, and how many there are.
fn with_parts(path: &str) -> Outcome<(String, usize)> {
    let mut text = read(path)?;
    let commands: Vec<String> = commands(&text).map(str::to_owned).collect();
    for command in &commands {
        let arguments: Vec<&str> = command.split_whitespace().collect();
        let begin = format!("{BEGIN}{command} -->\n");
        text = replaced(&text, &begin, without_title(&printed(&arguments)?))
            .ok_or_else(|| format!("{path}: no line {END} after {begin}"))?;
    }
    Ok((text, commands.len()))
}

/// The file has headings of its own.
fn without_title(part: &str) -> &str {
    match part.split_once('\n') {
        Some((title, rest)) if title.starts_with("## ") => rest,
        _ => part,
    }
}

/// The arguments of the parts of a text.
fn commands(text: &str) -> impl Iterator<Item = &str> {
    text.lines().filter_map(|line| line.strip_prefix(BEGIN)?.strip_suffix(" -->"))
}

/// The text with another part between `begin` and [`END`].
fn replaced(text: &str, begin: &str, part: &str) -> Option<String> {
    let start = text.find(begin)? + begin.len();
    let end = start + text[start..].find(END)?;
    Some(format!("{}\n{}\n\n{}", &text[..start], part.trim(), &text[end..]))
}

fn printed(arguments: &[&str]) -> Outcome<String> {
    let said = || format!("ssdl {}", arguments.join(" "));
    let build = |command: &mut Command| Ok(command.status().during(said)?.success());
    let mut command = Command::new(workspace::program(build)?);
    command.args(arguments).current_dir(workspace::top());
    let output = processes::output(&mut command, LIMIT).during(said)?;
    if !output.status.success() {
        let cause = String::from_utf8_lossy(&output.stderr);
        return Err(format!("{}: {cause}", said()).into());
    }
    let text = String::from_utf8(output.stdout).during(said)?;
    if text.trim().is_empty() {
        return Err(format!("{} printed nothing", said()).into());
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
    fn a_title_is_left_to_the_file() {
        assert_eq!(without_title("## Digits\n\n| a |"), "\n| a |");
        assert_eq!(without_title("### Part\nb"), "### Part\nb");
    }

    #[test]
    fn parts_are_found_by_their_commands() {
        let text = format!("a\n{BEGIN}experiment digits --tables -->\n{END}\n{BEGIN}methods -->\n");
        assert_eq!(commands(&text).collect::<Vec<_>>(), ["experiment digits --tables", "methods"]);
    }

    #[test]
    fn texts_differ_at_the_first_line_that_does() {
        assert_eq!(first_difference("a\nb\n", "a\r\nb\r\n"), None);
        assert_eq!(first_difference("a\nb\n", "a\nc\n"), Some(2));
        assert_eq!(first_difference("a\n", "a\nb\n"), Some(2));
    }
}
