//! A file's content before it becomes samples.

use ssdl::{Labels, Matrix, Real, Samples};

/// What a file holds: samples, and what it says about them.
#[derive(Clone, Debug, PartialEq)]
pub struct Table {
    /// The samples as columns (`n_features × n_samples`), all finite.
    pub features: Matrix<f64>,
    /// One label per sample, `None` if it is unlabelled; no vector if the file has no labels.
    pub labels: Option<Vec<Option<String>>>,
    /// Names of the feature columns, if the file has a header.
    pub feature_names: Option<Vec<String>>,
    /// Names of the samples, if they have any: the files of a folder.
    pub sample_names: Option<Vec<String>>,
    /// Height and width, if the samples are images; pixels run row by row.
    pub image: Option<[usize; 2]>,
}

impl Table {
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
        let mut table =
            Table { features, labels, feature_names: None, sample_names: None, image: None };
        assert!(table.samples::<f32>().is_err());
        table.labels = None;
        assert_eq!(table.samples::<f64>().expect("no labels needed").labels().n_labelled(), 0);
    }
}
