//! Files of several named arrays: which holds the samples, which the labels.

use std::path::Path;

use crate::array::Array;
use crate::error::listed;
use crate::{Column, Error, ReadOptions, Result};

/// Names under which samples are usually saved.
const FEATURES: [&str; 6] = ["X", "x", "data", "features", "fea", "arr_0"];

/// Names under which labels are usually saved.
const LABELS: [&str; 6] = ["y", "Y", "labels", "label", "target", "gnd"];

/// Whether labels are usually saved under this name.
pub(crate) fn is_label(name: &str) -> bool {
    LABELS.contains(&name)
}

/// A file of named arrays.
pub(crate) trait Container {
    /// The names, in the order of the file if it has one.
    fn names(&self) -> Vec<String>;

    /// One array; `name` is one of [`Container::names`].
    fn array(&mut self, name: &str) -> Result<Array<'_>>;
}

/// Name of the array with the samples.
pub(crate) fn features_name(
    path: &Path,
    names: &[String],
    options: &ReadOptions,
) -> Result<String> {
    if let Some(wanted) = &options.features_array {
        return existing(path, names, wanted);
    }
    let label = label_name(path, names, options).ok().flatten();
    if let Some(name) = usual_name(path, names, &FEATURES, "samples")? {
        return Ok(name);
    }
    let mut rest = names.iter().filter(|&name| Some(name) != label.as_ref());
    match (rest.next(), rest.next()) {
        (Some(only), None) => Ok(only.clone()),
        _ => Err(unclear(path, names, "no array has a usual name for samples".into())),
    }
}

/// Name of the array with the labels, if there is one.
pub(crate) fn label_name(
    path: &Path,
    names: &[String],
    options: &ReadOptions,
) -> Result<Option<String>> {
    match &options.label_column {
        Some(Column::Name(wanted)) if names.contains(wanted) => Ok(Some(wanted.clone())),
        Some(Column::Name(_)) if options.label_optional => Ok(None),
        Some(Column::Name(wanted)) => existing(path, names, wanted).map(Some),
        Some(Column::Index(_)) => Ok(None),
        None => usual_name(path, names, &LABELS, "labels"),
    }
}

/// Name of the label array in a file that is read for its labels alone.
pub(crate) fn only_label_name(
    path: &Path,
    names: &[String],
    options: &ReadOptions,
) -> Result<String> {
    match (label_name(path, names, options)?, names) {
        (Some(name), _) => Ok(name),
        (None, [only]) => Ok(only.clone()),
        (None, _) => Err(unclear(path, names, "no array has a usual name for labels".into())),
    }
}

fn existing(path: &Path, names: &[String], wanted: &str) -> Result<String> {
    if names.iter().any(|name| name == wanted) {
        return Ok(wanted.to_owned());
    }
    Err(unclear(path, names, format!("there is no array `{wanted}`")))
}

fn usual_name(path: &Path, names: &[String], known: &[&str], what: &str) -> Result<Option<String>> {
    let found: Vec<&str> =
        known.iter().copied().filter(|&k| names.iter().any(|n| n == k)).collect();
    match found[..] {
        [] => Ok(None),
        [only] => Ok(Some(only.to_owned())),
        _ => Err(unclear(path, names, format!("{} could all be the {what}", listed(&found)))),
    }
}

fn unclear(path: &Path, names: &[String], reason: String) -> Error {
    Error::Arrays { path: path.into(), reason, available: listed(names) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn chosen(names: &[&str], options: &ReadOptions) -> Result<(String, Option<String>)> {
        let names: Vec<String> = names.iter().map(|&name| name.to_owned()).collect();
        let path = Path::new("file");
        Ok((features_name(path, &names, options)?, label_name(path, &names, options)?))
    }

    #[test]
    fn usual_names_are_found() {
        let options = ReadOptions::default();
        let both = |x: &str, y: &str| (x.to_owned(), Some(y.to_owned()));
        assert_eq!(chosen(&["fea", "gnd", "other"], &options).expect("found"), both("fea", "gnd"));
        assert_eq!(chosen(&["label", "pixels"], &options).expect("found"), both("pixels", "label"));
        assert_eq!(chosen(&["X", "Y"], &options).expect("found"), both("X", "Y"));
        assert_eq!(chosen(&["pixels"], &options).expect("found"), ("pixels".into(), None));
    }

    #[test]
    fn unclear_names_are_listed() {
        let options = ReadOptions::default();
        let message = chosen(&["X", "data"], &options).expect_err("two").to_string();
        assert!(message.contains("`X`, `data` could all be the samples"), "{message}");
        let message = chosen(&["x_train", "x_test"], &options).expect_err("none").to_string();
        assert!(message.contains("arrays in the file: `x_train`, `x_test`"), "{message}");
        let named = ReadOptions {
            features_array: Some("x_test".into()),
            label_column: Some("y_test".into()),
            ..ReadOptions::default()
        };
        assert!(chosen(&["x_train", "x_test", "y_test"], &named).is_ok());
        assert!(chosen(&["x_train", "x_test"], &named).is_err());
        let optional = ReadOptions { label_optional: true, ..named };
        assert_eq!(chosen(&["x_train", "x_test"], &optional).expect("found").1, None);
    }
}
