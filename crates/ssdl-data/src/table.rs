//! A file's content before it becomes samples.

use ssdl::model::{Cells, Naming, SourceColumn};
use ssdl::{Labels, Matrix, Real, Samples};

/// What a file holds: samples, and what it says about them.
#[derive(Clone, Debug, PartialEq)]
pub struct Table {
    /// The samples as columns (`n_features × n_samples`), all finite.
    pub features: Matrix<f64>,
    /// One label per sample, `None` if it is unlabelled; no vector if the file has no labels.
    pub labels: Option<Vec<Option<String>>>,
    /// How much each sample counts, where a column says so.
    pub weights: Option<Vec<f64>>,
    /// Names of the features, if the file has a header.
    pub feature_names: Option<Vec<String>>,
    /// The columns that became the features, where some hold words or have gaps; `None` where each is a feature.
    pub columns: Option<Vec<SourceColumn>>,
    /// What each row says, in bytes that depend on no other row, where some of `columns` hold words or have gaps.
    pub contents: Option<Vec<Vec<u8>>>,
    /// What a reader of the file should know, a sentence each.
    pub notes: Vec<String>,
    /// Names of the samples, if they have any: the files of a folder.
    pub sample_names: Option<Vec<String>>,
    /// Height and width, if the samples are images; pixels run row by row.
    pub image: Option<[usize; 2]>,
}

impl Table {
    /// Samples of which nothing else is known.
    #[must_use]
    pub fn of(features: Matrix<f64>) -> Self {
        Self {
            features,
            labels: None,
            weights: None,
            feature_names: None,
            columns: None,
            contents: None,
            notes: Vec::new(),
            sample_names: None,
            image: None,
        }
    }

    /// What a model should know of the columns and their names.
    #[must_use]
    pub fn naming(&self) -> Naming {
        Naming {
            features: self.feature_names.clone(),
            columns: self.columns.clone(),
            label_type: None,
        }
    }

    /// Takes a column out of the features, by its name: how much each sample counts. Whether it is there.
    pub fn split_off_weights(&mut self, name: &str) -> bool {
        let names = self.feature_names.as_deref().unwrap_or_default();
        let found = match &mut self.columns {
            Some(columns) => take_numbers(columns, name),
            None => names.iter().position(|own| own == name),
        };
        let Some(at) = found else { return false };
        let rest: Vec<usize> = (0..self.features.rows()).filter(|&row| row != at).collect();
        let column = |j: usize| self.features.column(j);
        let n_samples = self.features.columns();
        self.weights = Some((0..n_samples).map(|j| column(j)[at]).collect());
        self.features = Matrix::from_fn(rest.len(), n_samples, |i, j| column(j)[rest[i]]);
        self.feature_names.iter_mut().for_each(|names| drop(names.remove(at)));
        true
    }

    /// Leaves out the samples of weight zero.
    pub fn drop_weightless(&mut self) {
        let Some(weights) = &self.weights else { return };
        let kept: Vec<usize> = (0..weights.len()).filter(|&j| weights[j] != 0.0).collect();
        if kept.len() == weights.len() {
            return;
        }
        self.features = self.features.select_columns(&kept);
        self.weights = Some(kept.iter().map(|&j| weights[j]).collect());
        self.contents =
            self.contents.take().map(|all| kept.iter().map(|&j| all[j].clone()).collect());
        self.labels = self.labels.take().map(|all| kept.iter().map(|&j| all[j].clone()).collect());
        self.sample_names =
            self.sample_names.take().map(|all| kept.iter().map(|&j| all[j].clone()).collect());
    }

    /// What a sample is, in bytes that depend on no other sample: its numbers, and where the file has words or gaps, their
    /// text.
    #[must_use]
    pub fn content(&self, sample: usize) -> Vec<u8> {
        match &self.contents {
            Some(contents) => contents[sample].clone(),
            None => {
                self.features.column(sample).iter().flat_map(|&value| bytes_of(value)).collect()
            }
        }
    }

    /// The samples as the library takes them, in the requested precision.
    ///
    /// # Errors
    /// If the numbers of labels and samples differ, there are no samples, or a value is too large
    /// for the precision.
    pub fn samples<T: Real>(&self) -> ssdl::Result<Samples<T>> {
        let labels = match &self.labels {
            Some(names) => Labels::from_names(names),
            None => Labels::none(self.features.columns()),
        };
        Samples::new(self.features.cast(), labels)
    }
}

/// A number in [`Table::content`].
pub(crate) fn bytes_of(value: f64) -> [u8; 8] {
    // Adding zero turns −0 into 0.
    (value + 0.0).to_le_bytes()
}

/// Takes out the column of numbers with this name, and gives its feature.
fn take_numbers(columns: &mut Vec<SourceColumn>, name: &str) -> Option<usize> {
    let at = columns.iter().position(|column| column.name.as_deref() == Some(name))?;
    let is_number = matches!(columns[at].cells, Cells::Numbers { .. });
    is_number.then(|| {
        columns.remove(at);
        columns[..at].iter().map(SourceColumn::n_features).sum()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn labels_must_match_the_samples() {
        let features = Matrix::zeros(2, 3);
        let labels = Some(vec![Some("a".to_owned()), None]);
        let mut table = Table { labels, ..Table::of(features) };
        assert!(table.samples::<f32>().is_err());
        table.labels = None;
        assert_eq!(table.samples::<f64>().expect("no labels needed").labels().n_labelled(), 0);
    }
}
