//! The plan of a comparison of methods, read from TOML.

use std::path::{Path, PathBuf};

use serde::Deserialize;
use ssdl::samples::split::Shares;

use super::outside::{self, Outsider};
use super::quick::Quick;

/// Methods on splits of data sets.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Plan {
    /// Always `comparison`.
    #[serde(rename = "kind")]
    _kind: serde::de::IgnoredAny,
    /// Its title.
    pub title: String,
    /// The data sets.
    pub data: Vec<Data>,
    /// Which samples are labelled, unlabelled and held out.
    pub split: Vec<Split>,
    /// The fits, one row of the table each.
    pub run: Vec<Run>,
    /// Numbers of the paper to compare with.
    #[serde(default)]
    pub paper: Vec<Paper>,
    /// Rows made outside the program to compare with.
    pub contenders: Option<Contenders>,
    /// What `--quick` keeps.
    pub quick: Option<Box<Quick>>,
}

/// A data set.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Data {
    /// Its name in the table.
    pub name: String,
    /// Files of samples within the data folder, one after the other.
    pub files: Vec<String>,
    /// Files of labels, one for each file of samples; if omitted, labels are in the sample files.
    #[serde(default)]
    pub labels: Vec<String>,
    /// Files of samples used only for testing; splits then draw from `files`.
    #[serde(default)]
    pub test_files: Vec<String>,
    /// Files of their labels.
    #[serde(default)]
    pub test_labels: Vec<String>,
    /// Format of the files; if omitted, found from their names and first bytes.
    pub format: Option<String>,
    /// Column, or array, that holds the labels.
    pub label_column: Option<String>,
    /// Array that holds the samples.
    pub array: Option<String>,
    /// This range of values is scaled to the range from 0 to 1.
    pub range: Option<[f64; 2]>,
    /// Height and width of a sample that is an image.
    pub image: Option<[usize; 2]>,
    /// Whether pixels run column by column in the file.
    #[serde(default)]
    pub turned: bool,
    /// Use only this many samples of `files`, from the start.
    pub rows: Option<usize>,
    /// Its name in the list of published knobs of a method.
    pub published: Option<String>,
    /// How to get its files, in a sentence, where `ssdl data get` does not know them.
    pub get: Option<String>,
}

/// Which samples are labelled, unlabelled or for testing: index lists from a file, counts per class
/// drawn with a seed, or labels per class with a `test_share`, which keeps the class shares of the
/// data among unlabelled and test samples.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Split {
    /// Its name in the table.
    pub name: String,
    /// The data sets it is for; if omitted, all.
    pub data: Option<Vec<String>>,
    /// File of index lists.
    pub file: Option<String>,
    /// Labelled samples of each class.
    pub labelled: Option<usize>,
    /// Unlabelled samples of each class; if omitted, all others, or none if the others are test
    /// samples.
    pub unlabelled: Option<usize>,
    /// Test samples of each class; if omitted, those of the `test_files`, or all others.
    pub test: Option<usize>,
    /// Share of all samples that are held out, every class by its share; all others are then
    /// unlabelled.
    pub test_share: Option<f64>,
    /// Maximum number of test samples of a `test_share`.
    pub max_test: Option<usize>,
    /// Maximum number of unlabelled samples beside a `test_share`.
    pub max_unlabelled: Option<usize>,
    /// Beside a `test_share`, every other class gets this many times fewer labels; the seed decides
    /// which.
    pub uneven: Option<usize>,
    /// Seeds of the draws; a file has its own.
    #[serde(default)]
    pub seeds: Vec<u64>,
    /// Only so many seeds, from the first: the small version of a plan.
    #[serde(skip)]
    pub(super) first: Option<usize>,
}

/// One fit of a method.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Run {
    /// Its name in the table.
    pub name: String,
    /// Name of the method.
    pub method: String,
    /// Preparation steps.
    #[serde(default)]
    pub prepare: Vec<String>,
    /// Whether to use the knobs of the paper for the data set.
    #[serde(default)]
    pub published: bool,
    /// Whether probabilities are calibrated, which takes three more fits.
    #[serde(default)]
    pub calibrate: bool,
    /// Knobs that override the others.
    #[serde(default)]
    pub knobs: toml::Table,
    /// Maximum number of fits to search better knobs, with the labels of the split alone.
    #[serde(default)]
    pub tune: usize,
    /// The data sets it is for; if omitted, all.
    pub data: Option<Vec<String>>,
}

/// A number of the paper, in per cent.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Paper {
    /// The run it is compared with, or a method that is not run.
    pub run: String,
    /// Its data set.
    pub data: String,
    /// Its split; if omitted, all of the data set.
    pub split: Option<String>,
    /// Test accuracy.
    pub accuracy: f64,
    /// Standard deviation, if given.
    pub spread: Option<f64>,
    /// Accuracy on the unlabelled samples, if given.
    pub unlabelled: Option<f64>,
    /// Whether the paper measured it in another way: shown with a star, and never called better or worse.
    #[serde(default)]
    pub other_protocol: bool,
}

/// Rows made outside the program, on the draws that `--splits` writes.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Contenders {
    /// Their CSV file, with the columns of a [`Row`](super::Row).
    pub file: String,
    /// The contender whose log-loss is compared.
    pub log_loss: String,
    /// Runs of the plan that no other should fall behind.
    #[serde(default)]
    pub baselines: Vec<String>,
}

impl Plan {
    /// Refuses plans that cannot be run.
    pub(crate) fn check(&self) -> Result<(), String> {
        if self.data.is_empty() || self.split.is_empty() || self.run.is_empty() {
            return Err(
                "a comparison needs at least one [[data]], one [[split]] and one [[run]]".into()
            );
        }
        let names: Vec<&str> = self.data.iter().map(|data| data.name.as_str()).collect();
        unique("data", &names)?;
        for data in &self.data {
            unique("split", &self.splits_of(data).map(|s| s.name.as_str()).collect::<Vec<_>>())?;
        }
        unique("run", &self.run.iter().map(|run| run.name.as_str()).collect::<Vec<_>>())?;
        let chosen = self.split.iter().filter_map(|split| split.data.as_ref());
        let chosen = chosen.chain(self.run.iter().filter_map(|run| run.data.as_ref())).flatten();
        for name in chosen.chain(self.paper.iter().map(|paper| &paper.data)) {
            if !names.contains(&name.as_str()) {
                return Err(format!("there is no data set `{name}`; known: {}", names.join(", ")));
            }
        }
        for data in self.data.iter().filter(|data| !data.test_files.is_empty()) {
            if let Some(split) = self.splits_of(data).find(|split| split.draws_test()) {
                let (split, data) = (&split.name, &data.name);
                return Err(format!(
                    "split `{split}` draws test samples, but data `{data}` has `test_files`; omit \
                     `test` and `test_share`"
                ));
            }
        }
        let baselines = self.contenders.iter().flat_map(|contenders| &contenders.baselines);
        for name in baselines {
            if self.run.iter().all(|run| run.name != *name) {
                return Err(format!("baseline `{name}` is no [[run]]"));
            }
        }
        self.data.iter().try_for_each(Data::check)?;
        self.split.iter().try_for_each(Split::check)?;
        self.run.iter().try_for_each(Run::check)?;
        self.check_quick()
    }

    /// The files that it reads: those of the data in a folder, and index lists.
    pub(crate) fn files(&self, folder: &Path) -> Vec<PathBuf> {
        let of = |data: &Data| data.all_files().into_iter().map(|file| folder.join(file));
        let lists = self.split.iter().filter_map(|split| split.file.as_ref()).map(PathBuf::from);
        self.data.iter().flat_map(of).chain(lists).collect()
    }

    /// The splits of a data set.
    pub(super) fn splits_of<'a>(&'a self, data: &'a Data) -> impl Iterator<Item = &'a Split> {
        self.split.iter().filter(|split| covers(split.data.as_ref(), data))
    }

    /// The runs on a data set.
    pub(super) fn runs_of<'a>(&'a self, data: &'a Data) -> impl Iterator<Item = &'a Run> {
        self.run.iter().filter(|run| covers(run.data.as_ref(), data))
    }
}

fn covers(chosen: Option<&Vec<String>>, data: &Data) -> bool {
    chosen.is_none_or(|names| names.contains(&data.name))
}

fn unique(what: &str, names: &[&str]) -> Result<(), String> {
    let twice = names.iter().enumerate().find(|(at, name)| names[..*at].contains(name));
    twice.map_or(Ok(()), |(_, name)| Err(format!("two [[{what}]] are called `{name}`")))
}

impl Data {
    /// Its files of samples and labels, within the data folder.
    pub(crate) fn all_files(&self) -> Vec<String> {
        let Self { files, labels, test_files, test_labels, .. } = self;
        [files, labels, test_files, test_labels].into_iter().flatten().cloned().collect()
    }

    fn check(&self) -> Result<(), String> {
        let name = &self.name;
        if self.files.is_empty() {
            return Err(format!("data `{name}` has no `files`"));
        }
        if !self.labels.is_empty() && self.labels.len() != self.files.len() {
            return Err(format!("data `{name}`: give as many `labels` as `files`, or none"));
        }
        if !self.test_labels.is_empty() && self.test_labels.len() != self.test_files.len() {
            return Err(format!(
                "data `{name}`: give as many `test_labels` as `test_files`, or none"
            ));
        }
        if let Some(format) = &self.format {
            let known = format.parse::<ssdl_data::Format>();
            known.map_err(|error| format!("data `{name}`: {error}"))?;
        }
        if self.range.is_some_and(|[low, high]| high <= low || high.is_nan() || low.is_nan()) {
            return Err(format!(
                "data `{name}`: `range` must go from a smaller to a larger number"
            ));
        }
        crate::plan::check_image(self.image)
            .map_err(|reason| format!("data `{name}`: {reason}"))?;
        if self.turned && self.image.is_none() {
            return Err(format!("data `{name}`: `turned` needs `image`"));
        }
        Ok(())
    }
}

impl Split {
    fn check(&self) -> Result<(), String> {
        let name = &self.name;
        let counts = self.labelled.is_some() || self.unlabelled.is_some() || self.draws_test();
        match (&self.file, counts) {
            (Some(_), true) => Err(format!("split `{name}`: either a `file` or counts, not both")),
            (None, _) if self.labelled.is_none_or(|count| count == 0) => {
                Err(format!("split `{name}`: give a `file`, or `labelled` of at least 1"))
            }
            (None, _) if self.seeds.is_empty() => {
                Err(format!("split `{name}`: counts need `seeds`"))
            }
            _ => self.check_shares(),
        }
    }

    fn check_shares(&self) -> Result<(), String> {
        let name = &self.name;
        let Some(share) = self.test_share else {
            let needy = [
                ("uneven", self.uneven),
                ("max_test", self.max_test),
                ("max_unlabelled", self.max_unlabelled),
            ];
            let lost = needy.iter().find(|(_, value)| value.is_some());
            return lost.map_or(Ok(()), |(key, _)| {
                Err(format!("split `{name}`: `{key}` needs a `test_share`"))
            });
        };
        if self.unlabelled.is_some() || self.test.is_some() {
            return Err(format!(
                "split `{name}`: `test_share` keeps the class shares; omit `unlabelled` and `test`, \
                 which count by the class"
            ));
        }
        if !(share > 0.0 && share < 1.0) {
            return Err(format!("split `{name}`: `test_share` must be between 0 and 1"));
        }
        if self.uneven.is_some_and(|times| times < 2) {
            return Err(format!("split `{name}`: `uneven` must be at least 2"));
        }
        Ok(())
    }

    /// Whether it draws test samples, rather than to take those of separate files or the rest.
    fn draws_test(&self) -> bool {
        self.test.is_some() || self.test_share.is_some()
    }

    /// The sizes of a draw that keeps the class shares, if this is one.
    pub(super) fn shares(&self) -> Option<Shares> {
        Some(Shares {
            labelled: self.labelled.unwrap_or(1),
            uneven: self.uneven.unwrap_or(1),
            test: self.test_share?,
            max_test: self.max_test.unwrap_or(usize::MAX),
            max_unlabelled: self.max_unlabelled.unwrap_or(usize::MAX),
        })
    }
}

impl Run {
    fn check(&self) -> Result<(), String> {
        let about = |error: ssdl::Error| format!("run `{}`: {error}", self.name);
        // Its own program checks the knobs of another's method.
        if self.outsider().is_none() {
            let method = ssdl::methods::find::<f32>(&self.method).map_err(about)?;
            method.check(&self.knobs()).map_err(about)?;
        }
        let steps: ssdl::Result<Vec<ssdl::samples::prepare::StepChoice>> =
            self.prepare.iter().map(|step| step.parse()).collect();
        steps.map(drop).map_err(about)
    }

    /// The program that has its method, where that is not this one.
    pub(super) fn outsider(&self) -> Option<&'static Outsider> {
        outside::find(&self.method)
    }

    /// The knobs of this run by name and value.
    pub(super) fn knobs(&self) -> Vec<(String, String)> {
        crate::tune::pairs(&self.knobs)
    }
}
