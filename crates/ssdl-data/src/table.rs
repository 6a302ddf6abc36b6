//! A file's content before it becomes samples.

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
    /// Names of the feature columns, if the file has a header.
    pub feature_names: Option<Vec<String>>,
    /// Names of the samples, if they have any: the files of a folder.
    pub sample_names: Option<Vec<String>>,
    /// Height and width, if the samples are images; pixels run row by row.
    pub image: Option<[usize; 2]>,
}

impl Table {
    /// Takes a column out of the features, by its name: how much each sample counts. Whether it is there.
    pub fn split_off_weights(&mut self, name: &str) -> bool {
        let names = self.feature_names.as_deref().unwrap_or_default();
        let Some(at) = names.iter().position(|own| own == name) else { return false };
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
        self.labels = self.labels.take().map(|all| kept.iter().map(|&j| all[j].clone()).collect());
        self.sample_names =
            self.sample_names.take().map(|all| kept.iter().map(|&j| all[j].clone()).collect());
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn labels_must_match_the_samples() {
        let features = Matrix::zeros(2, 3);
        let labels = Some(vec![Some("a".to_owned()), None]);
        let mut table = Table {
            features,
            labels,
            weights: None,
            feature_names: None,
            sample_names: None,
            image: None,
        };
        assert!(table.samples::<f32>().is_err());
        table.labels = None;
        assert_eq!(table.samples::<f64>().expect("no labels needed").labels().n_labelled(), 0);
    }
}
