//! From files to samples and splits.

use std::path::Path;

use serde::Deserialize;
use ssdl::samples::split::{self, Split as Parts};
use ssdl::{Labels, Matrix};
use ssdl_data::{Column, Options};

use super::plan::{Data, Split};
use crate::{Error, Result};

/// Splits that come with the program, by the name their plans use.
const KNOWN: [(&str, &str); 2] = [
    ("splits/usps.json", include_str!("../../../../experiments/splits/usps.json")),
    ("splits/mnist.json", include_str!("../../../../experiments/splits/mnist.json")),
];

/// A data set in memory, every sample with its class.
pub struct Loaded {
    pub features: Matrix<f32>,
    pub labels: Labels,
    pub image: Option<[usize; 2]>,
}

impl Loaded {
    /// Reads a data set from its folder.
    pub fn read(data: &Data, folder: &Path) -> Result<Self> {
        let mut values: Vec<f32> = Vec::new();
        let mut names = Vec::new();
        let (mut rows, mut image) = (0, data.image);
        for (at, file) in data.files.iter().enumerate() {
            let path = folder.join(file);
            let options = Options {
                label_column: data.label_column.as_deref().map(Column::from),
                features_array: data.array.clone(),
                ..Options::default()
            };
            let table = ssdl_data::read(&path, &options)?;
            let refuse = |reason: String| Error::Plan { path: path.clone(), reason };
            if at > 0 && table.features.rows() != rows {
                return Err(refuse(format!(
                    "{} features, the files before it have {rows}",
                    table.features.rows()
                )));
            }
            rows = table.features.rows();
            image = image.or(table.image);
            let labels = match data.labels.get(at) {
                Some(labels) => ssdl_data::read_labels(folder.join(labels), &Options::default())?,
                None => table.labels.unwrap_or_default(),
            };
            let known = labels.iter().flatten().count();
            if known != table.features.columns() {
                return Err(refuse(format!(
                    "{known} labels for {} samples; an experiment needs them all",
                    table.features.columns()
                )));
            }
            values.extend(table.features.as_slice().iter().map(|v| *v as f32));
            names.extend(labels);
        }
        let count = data.rows.map_or(names.len(), |rows| rows.min(names.len()));
        names.truncate(count);
        values.truncate(count * rows);
        let mut features = Matrix::from_columns(rows, count, values)
            .ok_or_else(|| Error::Fit(ssdl::Error::Samples("no samples".into())))?;
        tidy(&mut features, data)?;
        Ok(Self { features, labels: Labels::from_names(&names), image })
    }

    /// The parts of every seed of a split.
    pub fn parts(&self, split: &Split) -> Result<Vec<(u64, Parts)>> {
        if let Some(file) = &split.file {
            return self.listed(file);
        }
        let draw = |&seed: &u64| {
            let labelled = split.labelled.unwrap_or(1);
            let unlabelled = split.unlabelled.unwrap_or(0);
            let test = split.test.unwrap_or(0);
            let mut parts = split::per_class(&self.labels, labelled, Some(unlabelled), test, seed)?;
            if split.test.is_none() {
                let used: std::collections::HashSet<usize> =
                    parts.labelled.iter().chain(&parts.unlabelled).copied().collect();
                parts.test = (0..self.labels.len()).filter(|j| !used.contains(j)).collect();
            }
            Ok((seed, parts))
        };
        split.seeds.iter().map(draw).collect()
    }

    fn listed(&self, file: &str) -> Result<Vec<(u64, Parts)>> {
        let path = Path::new(file);
        let refuse = |reason: String| Error::Plan { path: path.to_owned(), reason };
        let text = match KNOWN.iter().find(|(known, _)| *known == file) {
            Some((_, text)) => (*text).to_owned(),
            None => std::fs::read_to_string(path).map_err(Error::io(path))?,
        };
        let lists: Lists = serde_json::from_str(&text)
            .map_err(|error| refuse(format!("not index lists: {error}")))?;
        lists.runs.into_iter().map(|run| self.checked(run).map_err(refuse)).collect()
    }

    /// No index beyond the samples, and no sample in two parts.
    fn checked(&self, run: Listed) -> std::result::Result<(u64, Parts), String> {
        let mut seen = vec![false; self.labels.len()];
        for &j in run.labelled.iter().chain(&run.unlabelled).chain(&run.test) {
            match seen.get_mut(j) {
                None => {
                    return Err(format!("seed {}: sample {j} of {}", run.seed, self.labels.len()));
                }
                Some(seen) if *seen => {
                    return Err(format!("seed {}: sample {j} stands in two lists", run.seed));
                }
                Some(seen) => *seen = true,
            }
        }
        let parts = Parts { labelled: run.labelled, unlabelled: run.unlabelled, test: run.test };
        Ok((run.seed, parts))
    }
}

#[derive(Deserialize)]
struct Lists {
    runs: Vec<Listed>,
}

#[derive(Deserialize)]
struct Listed {
    seed: u64,
    labelled: Vec<usize>,
    unlabelled: Vec<usize>,
    test: Vec<usize>,
}

/// Brings values into range and pixels into row order.
fn tidy(features: &mut Matrix<f32>, data: &Data) -> Result<()> {
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
