//! Plans of experiments: those that come with the program, and files.

use std::path::{Path, PathBuf};

use serde::Deserialize;

use crate::{Error, Result, comparison, graphs};

/// Plans that come with the program, in the order they are listed.
pub const KNOWN: [(&str, &str); 10] = [
    ("digits", include_str!("../../../experiments/digits.toml")),
    ("digits-25", include_str!("../../../experiments/digits-25.toml")),
    ("mnist-100", include_str!("../../../experiments/mnist-100.toml")),
    ("preparations", include_str!("../../../experiments/preparations.toml")),
    ("unlabelled-curve", include_str!("../../../experiments/unlabelled-curve.toml")),
    ("faces-yaleb", include_str!("../../../experiments/faces-yaleb.toml")),
    ("faces-ar", include_str!("../../../experiments/faces-ar.toml")),
    ("laplacians", include_str!("../../../experiments/laplacians.toml")),
    ("noise", include_str!("../../../experiments/noise.toml")),
    ("tables", include_str!("../../../experiments/tables.toml")),
];

/// A plan of either kind.
#[derive(Clone, Debug)]
pub enum AnyPlan {
    /// Methods on splits of data sets.
    Comparison(comparison::Plan),
    /// Graphs for sparse coding.
    Graphs(Box<graphs::Plan>),
}

/// A data set that a plan needs.
#[derive(Clone, Debug, PartialEq)]
pub struct Need {
    /// Its name in the plan.
    pub name: String,
    /// Its files, within the data folder.
    pub files: Vec<String>,
    /// How to get them, in a sentence, if the plan says it.
    pub get: Option<String>,
}

#[derive(Deserialize)]
#[serde(rename_all = "kebab-case")]
enum Kind {
    Comparison,
    Graphs,
}

/// The key that decides how the rest is read.
#[derive(Deserialize)]
struct Head {
    kind: Kind,
}

impl AnyPlan {
    /// Finds a plan by its name, or reads it from a file.
    ///
    /// # Errors
    /// If there is none, it has an unknown key, or it cannot be run.
    pub fn find(name: &str) -> Result<Self> {
        if let Some((_, text)) = KNOWN.iter().find(|(known, _)| *known == name) {
            return Self::parse(text, Path::new(name));
        }
        let path = Path::new(name);
        if path.extension().is_none() && !path.exists() {
            let known: Vec<&str> = KNOWN.iter().map(|(name, _)| *name).collect();
            return Err(Error::Unknown { name: name.to_owned(), known: known.join(", ") });
        }
        if std::fs::metadata(path).map_err(Error::io(path))?.is_dir() || !path.is_file() {
            let reason = "not a file; give a plan, a TOML file".to_owned();
            return Err(Error::Plan { path: path.to_owned(), reason });
        }
        let text = std::fs::read_to_string(path).map_err(Error::io(path))?;
        Self::parse(&text, path)
    }

    /// Reads a plan from text; `path` is for messages.
    ///
    /// # Errors
    /// As [`AnyPlan::find`].
    pub fn parse(text: &str, path: &Path) -> Result<Self> {
        let refuse = |reason: String| Error::Plan { path: path.to_owned(), reason };
        let in_one_line = |error: toml::de::Error| {
            let place = error
                .span()
                .map(|span| 1 + text[..span.start.min(text.len())].matches('\n').count());
            let place = place.map_or_else(String::new, |line| format!("line {line}: "));
            refuse(format!("{place}{}", with_nearest(error.message())))
        };
        let table: toml::Table = toml::from_str(text).map_err(in_one_line)?;
        let head: Head = table
            .try_into()
            .map_err(|_| refuse("`kind` must be \"comparison\" or \"graphs\"".into()))?;
        match head.kind {
            Kind::Comparison => {
                let plan: comparison::Plan = toml::from_str(text).map_err(in_one_line)?;
                plan.check().map_err(refuse)?;
                Ok(Self::Comparison(plan))
            }
            Kind::Graphs => {
                let plan: graphs::Plan = toml::from_str(text).map_err(in_one_line)?;
                plan.check().map_err(refuse)?;
                Ok(Self::Graphs(Box::new(plan)))
            }
        }
    }

    /// The files that a run of it reads, those of the data in this folder; they need not exist.
    #[must_use]
    pub fn files(&self, folder: &Path) -> Vec<PathBuf> {
        match self {
            Self::Comparison(plan) => plan.files(folder),
            Self::Graphs(plan) => {
                [&plan.data.train, &plan.data.test].map(|file| folder.join(file)).to_vec()
            }
        }
    }

    /// The small version of it, which `--quick` runs.
    #[must_use]
    pub fn quick(&self) -> Self {
        match self {
            Self::Comparison(plan) => Self::Comparison(plan.quick()),
            Self::Graphs(plan) => Self::Graphs(Box::new(plan.quick())),
        }
    }

    /// The data sets that it needs.
    #[must_use]
    pub fn needs(&self) -> Vec<Need> {
        match self {
            Self::Comparison(plan) => {
                let need = |data: &comparison::Data| Need {
                    name: data.name.clone(),
                    files: data.all_files(),
                    get: data.get.clone(),
                };
                plan.data.iter().map(need).collect()
            }
            Self::Graphs(plan) => {
                let files = vec![plan.data.train.clone(), plan.data.test.clone()];
                vec![Need { name: plan.data.name().to_owned(), files, get: None }]
            }
        }
    }

    /// What remains of it without some data sets; `None` if nothing does.
    #[must_use]
    pub fn without(&self, names: &[String]) -> Option<Self> {
        match self {
            Self::Comparison(plan) => {
                let plan = plan.without(names);
                (!plan.data.is_empty()).then_some(Self::Comparison(plan))
            }
            Self::Graphs(plan) => {
                names.iter().all(|name| name != plan.data.name()).then(|| self.clone())
            }
        }
    }

    /// Its title.
    #[must_use]
    pub fn title(&self) -> &str {
        match self {
            Self::Comparison(plan) => &plan.title,
            Self::Graphs(plan) => &plan.title,
        }
    }
}

/// Refuses an image with sides that no image has.
pub(crate) fn check_image(image: Option<[usize; 2]>) -> std::result::Result<(), String> {
    match image {
        Some([height, width]) if [height, width].iter().any(|s| !(1..=65_536).contains(s)) => {
            Err(format!("`image` is {height} x {width}; sides must be 1 to 65536"))
        }
        _ => Ok(()),
    }
}

/// An error of the TOML reader in one line; for an unknown key, with the most similar known key.
pub(crate) fn with_nearest(message: &str) -> String {
    let message = message.replace('\n', " ");
    let Some(rest) = message.strip_prefix("unknown field `") else { return message };
    let mut quoted = rest.split('`').step_by(2);
    let Some(unknown) = quoted.next() else { return message };
    let known: Vec<&str> = quoted.filter(|word| !word.is_empty()).collect();
    let hint = ssdl::did_you_mean(unknown, known.iter().copied());
    format!("unknown key `{unknown}`{hint} known: {}", known.join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn plans_that_come_with_the_program_are_valid() {
        for (name, _) in KNOWN {
            let plan = AnyPlan::find(name);
            assert!(plan.is_ok(), "{name}: {plan:?}");
        }
        assert!(
            AnyPlan::find("nothing").is_err_and(|error| error.to_string().contains("laplacians"))
        );
    }

    #[test]
    fn unknown_keys_and_impossible_plans_are_refused() {
        let good = include_str!("../../../experiments/laplacians.toml");
        let refused = |text: String| match AnyPlan::parse(&text, Path::new("plan.toml")) {
            Err(error) => error.to_string(),
            Ok(_) => String::new(),
        };
        let typo = refused(good.replace("sparsity", "sparsety"));
        assert!(
            typo.contains("unknown key `sparsety`; did you mean `sparsity`? known: "),
            "{typo}"
        );
        let unknown = refused(good.replace("sparsity", "zzz"));
        assert!(unknown.contains("unknown key `zzz`; known: "), "{unknown}");
        assert!(refused(good.replace("noise = [0.0]", "noise = [0.0, 1.0]")).contains("not both"));
        assert!(refused(good.replace("noise = [0.0]", "noise = [-1.0]")).contains("noise -1"));
        assert!(refused(good.replace("sc = [19.6, ", "sc = [")).contains("sc has 3"));
        assert!(
            refused(good.replace("manifold = [0.01,", "manifold = [0.0,")).contains("manifold")
        );
        assert!(refused(good.replace("kind = \"graphs\"", "kind = \"graph\"")).contains("kind"));
        assert!(refused(good.replace("labelled = [100,", "labelled = [100")).contains("line"));
        let large = "[data]\nimage = [4294967296, 4294967296]";
        let large = refused(
            good.lines()
                .filter(|line| !line.starts_with("image"))
                .fold(String::new(), |text, line| {
                    text + if line == "[data]" { large } else { line } + "\n"
                }),
        );
        assert!(large.contains("sides must be 1 to 65536"), "{large}");
    }
}
