//! Reads the samples and splits of a comparison.

use std::collections::HashSet;
use std::path::Path;

use serde::{Deserialize, Serialize};
use ssdl::samples::split::{self, Split as Parts};
use ssdl::{Labels, Matrix};
use ssdl_data::{Column, ReadOptions};

use super::plan::{Data, Split};
use crate::{Error, Result};

/// Splits that come with the program, by the name their plans use.
const KNOWN: [(&str, &str); 2] = [
    ("splits/usps.json", include_str!("../../../../experiments/splits/usps.json")),
    ("splits/mnist.json", include_str!("../../../../experiments/splits/mnist.json")),
];

/// A data set in memory, all samples labelled; samples used only for testing come last.
pub struct Loaded {
    pub features: Matrix<f32>,
    pub labels: Labels,
    pub image: Option<[usize; 2]>,
    n_training: usize,
}

/// Samples of several files, one after the other.
#[derive(Default)]
struct Stack {
    values: Vec<f32>,
    names: Vec<Option<String>>,
    n_features: usize,
    image: Option<[usize; 2]>,
}

impl Stack {
    fn add(
        &mut self,
        data: &Data,
        folder: &Path,
        files: &[String],
        labels: &[String],
    ) -> Result<()> {
        for (at, file) in files.iter().enumerate() {
            let path = folder.join(file);
            let options = ReadOptions {
                format: data.format.as_deref().map(str::parse).transpose()?,
                label_column: data.label_column.as_deref().map(Column::from),
                features_array: data.array.clone(),
                image: data.image,
                ..ReadOptions::default()
            };
            let table = ssdl_data::read(&path, &options)?;
            let refuse = |reason: String| Error::Plan { path: path.clone(), reason };
            let n_features = table.features.rows();
            if !self.names.is_empty() && n_features != self.n_features {
                let before = self.n_features;
                return Err(refuse(format!(
                    "{n_features} features, but the files before it have {before}"
                )));
            }
            self.n_features = n_features;
            self.image = self.image.or(table.image);
            let labels = match labels.get(at) {
                Some(labels) => {
                    ssdl_data::read_labels(folder.join(labels), &ReadOptions::default())?
                }
                None => table.labels.unwrap_or_default(),
            };
            let known = labels.iter().flatten().count();
            if known != table.features.columns() {
                return Err(refuse(format!(
                    "{known} labels for {} samples; an experiment needs a label for each",
                    table.features.columns()
                )));
            }
            self.values.extend(table.features.as_slice().iter().map(|v| *v as f32));
            self.names.extend(labels);
        }
        Ok(())
    }
}

impl Loaded {
    /// Reads a data set from its folder.
    pub fn read(data: &Data, folder: &Path) -> Result<Self> {
        let mut stack = Stack { image: data.image, ..Stack::default() };
        stack.add(data, folder, &data.files, &data.labels)?;
        let n_training = data.rows.map_or(stack.names.len(), |rows| rows.min(stack.names.len()));
        stack.names.truncate(n_training);
        stack.values.truncate(n_training * stack.n_features);
        stack.add(data, folder, &data.test_files, &data.test_labels)?;
        let Stack { values, names, n_features, image } = stack;
        let mut features = Matrix::from_columns(n_features, names.len(), values)
            .ok_or_else(|| Error::Fit(ssdl::Error::Samples("no samples".into())))?;
        normalise(&mut features, data)?;
        Ok(Self { features, labels: Labels::from_names(&names), image, n_training })
    }

    /// The classes of some samples; every sample has one.
    pub fn classes_of(&self, samples: &[usize]) -> Vec<usize> {
        samples.iter().filter_map(|&j| self.labels.assigned()[j]).collect()
    }

    /// The parts of every seed of a split.
    pub fn parts(&self, split: &Split) -> Result<Vec<(u64, Parts)>> {
        let first = split.first.unwrap_or(usize::MAX);
        match &split.file {
            Some(file) => self.listed(file, first),
            None => {
                let seeds = split.seeds.iter().take(first);
                seeds.map(|&seed| Ok((seed, self.drawn(split, seed)?))).collect()
            }
        }
    }

    fn drawn(&self, split: &Split, seed: u64) -> Result<Parts> {
        let (labelled, n) = (split.labelled.unwrap_or(1), self.labels.len());
        if self.n_training < n {
            let (classes, assigned) = (self.labels.classes(), self.labels.assigned());
            let training = Labels::new(classes.to_vec(), assigned[..self.n_training].to_vec())?;
            let parts = split::per_class(&training, labelled, split.unlabelled, 0, seed)?;
            return Ok(Parts { test: (self.n_training..n).collect(), ..parts });
        }
        if let Some(shares) = split.shares() {
            return Ok(split::by_shares(&self.labels, &shares, seed)?);
        }
        if let Some(test) = split.test {
            return Ok(split::per_class(&self.labels, labelled, split.unlabelled, test, seed)?);
        }
        let unlabelled = Some(split.unlabelled.unwrap_or(0));
        let mut parts = split::per_class(&self.labels, labelled, unlabelled, 0, seed)?;
        let used: HashSet<usize> =
            parts.labelled.iter().chain(&parts.unlabelled).copied().collect();
        parts.test = (0..n).filter(|j| !used.contains(j)).collect();
        Ok(parts)
    }

    fn listed(&self, file: &str, first: usize) -> Result<Vec<(u64, Parts)>> {
        let refuse = |reason: String| Error::Plan { path: file.into(), reason };
        let lists = lists(file)?.into_iter().take(first);
        lists.map(|run| self.checked(run).map_err(refuse)).collect()
    }

    /// Checks that every index is a sample, and that no sample is in two parts.
    fn checked(&self, run: Listed) -> std::result::Result<(u64, Parts), String> {
        let mut seen = vec![false; self.labels.len()];
        for &j in run.labelled.iter().chain(&run.unlabelled).chain(&run.test) {
            match seen.get_mut(j) {
                None => {
                    return Err(format!("seed {}: sample {j} of {}", run.seed, self.labels.len()));
                }
                Some(seen) if *seen => {
                    return Err(format!("seed {}: sample {j} is in two lists", run.seed));
                }
                Some(seen) => *seen = true,
            }
        }
        let parts = Parts { labelled: run.labelled, unlabelled: run.unlabelled, test: run.test };
        Ok((run.seed, parts))
    }
}

/// The seeds of a split, without its data.
pub fn seeds(split: &Split) -> Result<Vec<u64>> {
    let mut seeds = match &split.file {
        Some(file) => lists(file)?.into_iter().map(|run| run.seed).collect(),
        None => split.seeds.clone(),
    };
    seeds.truncate(split.first.unwrap_or(usize::MAX));
    Ok(seeds)
}

fn lists(file: &str) -> Result<Vec<Listed>> {
    let path = Path::new(file);
    let text = match KNOWN.iter().find(|(known, _)| *known == file) {
        Some((_, text)) => (*text).to_owned(),
        None => std::fs::read_to_string(path).map_err(Error::io(path))?,
    };
    let lists: Lists = serde_json::from_str(&text).map_err(|error| Error::Plan {
        path: path.to_owned(),
        reason: format!("not a file of index lists: {error}"),
    })?;
    Ok(lists.runs)
}

/// Writes the index lists of a split, as a plan reads them, with the files that they count through.
pub fn write_lists(
    path: &Path,
    data: &Data,
    split: &Split,
    drawn: Vec<(u64, Parts)>,
) -> Result<()> {
    let listed = |(seed, parts): (u64, Parts)| Listed {
        seed,
        labelled: parts.labelled,
        unlabelled: parts.unlabelled,
        test: parts.test,
    };
    let lists = NamedLists {
        data: &data.name,
        split: &split.name,
        files: &data.files,
        label_column: data.label_column.as_deref(),
        runs: drawn.into_iter().map(listed).collect(),
    };
    let text = serde_json::to_string(&lists)
        .map_err(|error| Error::Plan { path: path.to_owned(), reason: error.to_string() })?;
    std::fs::write(path, text).map_err(Error::io(path))
}

#[derive(Serialize)]
struct NamedLists<'a> {
    data: &'a str,
    split: &'a str,
    files: &'a [String],
    label_column: Option<&'a str>,
    runs: Vec<Listed>,
}

#[derive(Deserialize)]
struct Lists {
    runs: Vec<Listed>,
}

#[derive(Serialize, Deserialize)]
struct Listed {
    seed: u64,
    labelled: Vec<usize>,
    unlabelled: Vec<usize>,
    test: Vec<usize>,
}

/// Scales values to the range from 0 to 1, and puts pixels into row order.
fn normalise(features: &mut Matrix<f32>, data: &Data) -> Result<()> {
    if let Some([low, high]) = data.range {
        let factor = 1.0 / (high - low);
        for value in features.as_mut_slice() {
            *value = ((f64::from(*value) - low) * factor) as f32;
        }
    }
    let Some([height, width]) = data.image else { return Ok(()) };
    if height * width != features.rows() {
        return Err(Error::Fit(ssdl::Error::Shape {
            what: format!("pixels of `{}`, {height} x {width}", data.name),
            expected: height * width,
            got: features.rows(),
        }));
    }
    if data.turned {
        for j in 0..features.columns() {
            let turned = features.column(j).to_vec();
            for (at, value) in features.column_mut(j).iter_mut().enumerate() {
                *value = turned[(at % width) * height + at / width];
            }
        }
    }
    Ok(())
}
