//! Parsers for the values of arguments, and their help texts.

use clap::builder::{PossibleValuesParser, TypedValueParser};
use ssdl::samples::prepare;
use ssdl_data::{Column, Format};

/// The formats of files, by name.
pub(super) fn formats() -> impl TypedValueParser<Value = Format> {
    PossibleValuesParser::new(Format::ALL.map(Format::name)).try_map(|name| name.parse::<Format>())
}

/// The help of `--prepare`.
pub(super) fn prepare_help() -> String {
    let known: Vec<&str> = prepare::known().iter().map(|step| step.name).collect();
    format!(
        "Preparation step; may be given several times, in order: {} or none; see `ssdl methods` \
         [default: auto]",
        known.join(", ")
    )
}

/// The help of the name of an experiment.
pub(super) fn plans_help() -> String {
    let known: Vec<&str> = ssdl_experiments::KNOWN.iter().map(|(name, _)| *name).collect();
    format!("One of {}; all of them: all; or your own plan, a TOML file", known.join(", "))
}

/// `name=value`.
pub(super) fn knob(text: &str) -> Result<(String, String), String> {
    match text.split_once('=') {
        Some((name, value)) if !name.trim().is_empty() => {
            Ok((name.trim().to_owned(), value.trim().to_owned()))
        }
        _ => Err("write it as knob=value, such as sparsity=0.3".into()),
    }
}

/// `FROM..TO`, `FROM..=TO` or one seed.
pub(super) fn seeds(text: &str) -> Result<std::ops::Range<u64>, String> {
    let (from, to, more) = match text.split_once("..=") {
        Some((from, to)) => (from, to, 1),
        None => text.split_once("..").map_or((text, text, 1), |(from, to)| (from, to, 0)),
    };
    let bounds = from.trim().parse::<u64>().ok().zip(to.trim().parse::<u64>().ok());
    let seeds = bounds
        .map(|(from, to)| from..to.saturating_add(more))
        .filter(|range| !range.is_empty())
        .ok_or("write it as FROM..TO, such as 0..5, or as one seed")?;
    if seeds.end - seeds.start > MOST_SEEDS {
        return Err(format!("at most {MOST_SEEDS} seeds at a time"));
    }
    Ok(seeds)
}

/// Maximum number of seeds of an experiment.
const MOST_SEEDS: u64 = 10_000;

/// A seed.
pub(super) fn seed(text: &str) -> Result<u64, String> {
    text.trim().parse().map_err(|_| format!("write a whole number from 0 to {}", u64::MAX))
}

/// A count.
pub(super) fn count(text: &str) -> Result<usize, String> {
    text.trim().parse().map_err(|_| "write a whole number, 0 or more".into())
}

/// A column by its name or position.
// The signature is that of a parser of values.
#[allow(clippy::unnecessary_wraps)]
pub(super) fn column(text: &str) -> Result<Column, String> {
    Ok(Column::from(text))
}

/// `HEIGHTxWIDTH`.
pub(super) fn image(text: &str) -> Result<[usize; 2], String> {
    let sides = text.split_once(['x', '×']).and_then(|(height, width)| {
        Some([height.trim().parse().ok()?, width.trim().parse().ok()?])
    });
    sides
        .filter(|sides: &[usize; 2]| sides.iter().all(|side| (1..=65_536).contains(side)))
        .ok_or_else(|| "write it as height x width, such as 28x28".into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn knobs_and_images_are_read() {
        assert_eq!(knob("sparsity = 0.3"), Ok(("sparsity".into(), "0.3".into())));
        assert!(knob("sparsity").is_err() && knob("=3").is_err());
        assert_eq!(seeds("0..5"), Ok(0..5));
        assert_eq!((seeds("2..=2"), seeds("7")), (Ok(2..3), Ok(7..8)));
        assert!(seeds("5..2").is_err() && seeds("a").is_err());
        for many in ["0..=18446744073709551615", "0..99999999999999", "0..10001"] {
            assert!(seeds(many).is_err_and(|text| text.contains("at most")), "{many}");
        }
        assert!(seed("-1").is_err_and(|text| text.contains("whole number")));
        assert_eq!(image("28x14"), Ok([28, 14]));
        assert!(image("28").is_err() && image("0x3").is_err() && image("axb").is_err());
    }
}
